//! The compiler's JSON dump of its syntax tree, as it comes.

use serde::{Deserialize, Deserializer, de};

/// A declaration's, statement's or type's address in the compiler: its identity in the dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RawId(pub u64);

impl<'de> Deserialize<'de> for RawId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = RawId;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a hexadecimal address")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<RawId, E> {
                u64::from_str_radix(text.trim_start_matches("0x"), 16)
                    .map(RawId)
                    .map_err(|_| E::custom(format!("`{text}` is no address")))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// A position without macros.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct BareLocation {
    pub offset: Option<u32>,
    /// Printed only when it differs from the position printed before.
    pub file: Option<String>,
    /// Set by `locate::resolve_files`.
    #[serde(skip)]
    pub file_id: Option<u32>,
    #[serde(rename = "tokLen", default)]
    pub token_length: u32,
    /// Printed only when it differs from the one printed before, like the file; set by
    /// `locate::resolve_files`, with the column as it is printed.
    #[serde(default)]
    pub line: u32,
    #[serde(rename = "col", default)]
    pub column: u32,
}

/// A position; with macros, where the token is spelled and where the outermost invocation stands.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Location {
    pub offset: Option<u32>,
    /// Printed only when it differs from the position printed before.
    pub file: Option<String>,
    /// Set by `locate::resolve_files`.
    #[serde(skip)]
    pub file_id: Option<u32>,
    #[serde(rename = "tokLen", default)]
    pub token_length: u32,
    /// Printed only when it differs from the one printed before; set by `locate::resolve_files`.
    #[serde(default)]
    pub line: u32,
    #[serde(rename = "col", default)]
    pub column: u32,
    #[serde(rename = "spellingLoc")]
    pub spelling: Option<BareLocation>,
    #[serde(rename = "expansionLoc")]
    pub expansion: Option<BareLocation>,
}

/// The range of a node: where it begins, and where its last token begins.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Range {
    #[serde(default)]
    pub begin: Location,
    #[serde(default)]
    pub end: Location,
}

/// A type as clang spells it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct QualType {
    #[serde(rename = "qualType")]
    pub spelled: String,
    #[serde(rename = "desugaredQualType")]
    pub desugared: Option<String>,
    /// The typedef that it is, if it is one.
    #[serde(rename = "typeAliasDeclId")]
    pub alias: Option<RawId>,
}

/// A node that another node refers to, such as the declaration of a name.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Reference {
    #[serde(default)]
    pub id: RawId,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub name: String,
}

/// A literal's value: numbers and strings both occur.
#[derive(Clone, Debug)]
pub(crate) struct Literal(pub String);

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Literal(
            match serde_json::Value::deserialize(deserializer)? {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            },
        ))
    }
}

/// A node of the dump.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Node {
    #[serde(default)]
    pub id: RawId,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub loc: Option<Location>,
    #[serde(default)]
    pub range: Option<Range>,
    #[serde(rename = "isImplicit", default)]
    pub is_implicit: bool,
    #[serde(rename = "isInvalid", default)]
    pub is_invalid: bool,
    #[serde(default)]
    pub name: String,
    #[serde(rename = "type", default)]
    pub ty: Option<QualType>,
    #[serde(rename = "valueCategory", default)]
    pub value_category: String,
    #[serde(rename = "castKind", default)]
    pub cast_kind: String,
    #[serde(default)]
    pub opcode: String,
    #[serde(default)]
    pub value: Option<Literal>,
    #[serde(rename = "isArrow", default)]
    pub is_arrow: bool,
    #[serde(rename = "isBitfield", default)]
    pub is_bit_field: bool,
    #[serde(rename = "referencedMemberDecl", default)]
    pub referenced_member: RawId,
    #[serde(rename = "referencedDecl", default)]
    pub referenced: Option<Reference>,
    #[serde(default)]
    pub decl: Option<Reference>,
    #[serde(rename = "storageClass", default)]
    pub storage_class: String,
    #[serde(rename = "inline", default)]
    pub is_inline: bool,
    #[serde(default)]
    pub tls: Option<String>,
    #[serde(rename = "tagUsed", default)]
    pub tag_used: String,
    /// An earlier declaration of the same thing.
    #[serde(rename = "previousDecl", default)]
    pub previous: RawId,
    /// Elements of the array type that a node is.
    #[serde(default)]
    pub size: Option<u64>,
    /// The qualifiers that a node adds to a type.
    #[serde(default)]
    pub qualifiers: String,
    #[serde(rename = "completeDefinition", default)]
    pub complete_definition: bool,
    #[serde(rename = "targetLabelDeclId", default)]
    pub target_label: RawId,
    #[serde(rename = "declId", default)]
    pub label_decl: RawId,
    /// The label whose address an expression is.
    #[serde(rename = "labelDeclId", default)]
    pub address_of_label: RawId,
    /// The function that an attribute names.
    #[serde(rename = "cleanup_function", default)]
    pub cleanup: Option<Reference>,
    #[serde(rename = "isPostfix", default)]
    pub is_postfix: bool,
    #[serde(rename = "argType", default)]
    pub arg_type: Option<QualType>,
    #[serde(rename = "computeLHSType", default)]
    pub compute_left: Option<QualType>,
    #[serde(rename = "computeResultType", default)]
    pub compute_result: Option<QualType>,
    /// The member of a union that an initialiser list initialises.
    #[serde(default)]
    pub field: Option<Reference>,
    /// Of the associations of a `_Generic`, the selected one.
    #[serde(default)]
    pub selected: bool,
    #[serde(default)]
    pub variadic: bool,
    /// Its name in object files.
    #[serde(rename = "mangledName", default)]
    pub mangled: String,
    /// What an `AliasAttr` names.
    #[serde(default)]
    pub aliasee: String,
    /// Present when a variable has an initialiser.
    #[serde(default)]
    pub init: String,
    /// Elements of an initialiser list that has a filler.
    #[serde(default)]
    pub array_filler: Vec<Node>,
    /// The position of an `offsetof` among all of them; set by `locate::resolve_files`.
    #[serde(skip)]
    pub offset_of: Option<u32>,
    #[serde(default)]
    pub inner: Vec<Node>,
}
