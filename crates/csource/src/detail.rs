//! What executing a program needs to know beyond the tree: contents of strings, initialiser
//! lists, operands of `sizeof`, labels of cases, lines, attributes, declarations of functions.
//!
//! It stands beside the tree, by the numbers of its nodes, so that the tree stays what editing
//! needs.

use rustc_hash::FxHashMap;

use crate::types::LayoutNotes;
use crate::{
    build::{FunctionBuilder, UnitBuilder},
    raw::Node,
    tree::{CastKind, ExprId, ExprKind, Function, StmtId, VarId},
    types::{FloatKind, LengthId, RecordId, TypeId, TypeKind},
};

/// More about an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// `++x`, `x++`, `--x`, `x--`
    Step {
        /// `++`
        increment: bool,
        /// The operator stands before the operand.
        prefix: bool,
    },
    /// A compound assignment: the types that its left operand is converted to and that the
    /// result of its operator has.
    Compute {
        /// Of the left operand.
        left: TypeId,
        /// Of the result, before it is converted to the target's type.
        result: TypeId,
    },
    /// A string literal: its characters, without the terminator.
    String(Vec<u32>),
    /// A floating constant, as decimal digits that determine it.
    Float(String),
    /// An initialiser list in the order of the elements or members; `None` is zero. Elements
    /// after the last one are zero, too.
    List {
        /// The elements.
        elements: Vec<Option<ExprId>>,
        /// The member of a union that is initialised.
        member: Option<usize>,
    },
    /// A member: its record and position there.
    Member {
        /// The record.
        record: RecordId,
        /// Index in its fields.
        index: usize,
    },
    /// A member of a record that is defined where its type is named, in a cast: where it is, in bytes.
    MemberAt(u64),
    /// `sizeof` of this type, or of an expression of it.
    SizeOf(TypeId),
    /// `_Alignof` of this type.
    AlignOf(TypeId),
    /// `_Alignof` of an expression whose declaration says more than its type.
    Alignment(u64),
    /// `offsetof`.
    OffsetOf {
        /// Its position among all of them in the unit.
        number: u32,
        /// Bytes, without what the indices add; known in what [`crate::parse`] gives.
        value: Option<u64>,
        /// Indices that are no constants, and the size of what each counts.
        indices: Vec<(ExprId, u64)>,
    },
    /// Evaluates this expression: what a `_Generic` selects.
    Same(ExprId),
    /// The operator of an expression that the tree has no operator for.
    Operator(String),
    /// What a question about types (`__builtin_types_compatible_p`) answers.
    Answer(bool),
    /// The address of the label of this name.
    Label(String),
}

/// More about a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Of its expressions.
    pub of: FxHashMap<ExprId, Detail>,
    /// The labels of `case`: the value, or the first and last one.
    pub cases: FxHashMap<StmtId, (ExprId, Option<ExprId>)>,
    /// File and line (counted from 1) of each expression; the file indexes
    /// [`crate::TranslationUnit::files`].
    pub expr_lines: Vec<(u32, u32)>,
    /// File and line of each statement.
    pub stmt_lines: Vec<(u32, u32)>,
    /// How it is declared.
    pub declaration: Declaration,
    /// Lengths of arrays that are computed at run time; those that are not understood are missing.
    pub lengths: FxHashMap<LengthId, ExprId>,
    /// The lengths that are computed where a variable is declared, in order.
    pub declared_lengths: FxHashMap<VarId, Vec<LengthId>>,
    /// Those that are computed when an expression is evaluated: of the type that it names.
    pub named_lengths: FxHashMap<ExprId, Vec<LengthId>>,
    /// Those of the typedefs of a declaration.
    pub typedef_lengths: FxHashMap<StmtId, Vec<LengthId>>,
    /// Inline assembly that has no instructions.
    pub assembly: FxHashMap<StmtId, Assembly>,
    /// What is evaluated when the function is entered: lengths in parameters that become pointers, where they have effects. `None` is one
    /// that is not understood.
    pub parameter_effects: Vec<(VarId, Option<ExprId>)>,
    /// Locals that a function is called for when they go out of scope, and its name: `cleanup`. Empty where the compiler does not
    /// tell it.
    pub cleanups: FxHashMap<VarId, String>,
    /// The labels whose addresses are taken, in order.
    pub label_addresses: Vec<String>,
    /// The place of its definition among the declarations of the file, as in [`Declaration::order`].
    pub position: u32,
}

/// How a function is declared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// What it returns; `None` when the spelling of the type does not tell.
    pub result: Option<TypeId>,
    /// The types of its parameters.
    pub parameters: Vec<TypeId>,
    /// `...`
    pub variadic: bool,
    /// The declaration has a prototype.
    pub prototyped: bool,
    /// `static`
    pub internal: bool,
    /// `inline`
    pub inline: bool,
    /// `weak`
    pub weak: bool,
    /// The alignment that declarations ask for, in bytes.
    pub align: Option<u64>,
    /// It never returns.
    pub no_return: bool,
    /// It is called before `main`.
    pub constructor: Option<Priority>,
    /// It is called when the program ends.
    pub destructor: Option<Priority>,
    /// The compiler made it up: the source declares no such function.
    pub implicit: bool,
    /// A declaration gives it another name in object files (`__asm__("name")`).
    pub renamed: bool,
    /// Some declaration of it stands in a file of the system.
    pub in_system_header: bool,
    /// Its place among the declarations of the file, the first one if there are several: a function can name those
    /// that come before its own definition.
    pub order: u32,
}

/// What inline assembly without instructions does.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// Evaluated first.
    pub inputs: Vec<ExprId>,
    /// What is written, and the input whose value it gets; without one it keeps its own.
    pub outputs: Vec<(ExprId, Option<ExprId>)>,
}

/// The order in which functions are called before `main`, and the other way round when the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// After all that have a number, before `main`.
    Last,
    /// The attribute says so.
    Number(u32),
    /// It is written where it cannot be read.
    Unknown,
}

/// How a variable is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Declared {
    /// `static`
    pub internal: bool,
    /// `extern` without an initialiser
    pub is_extern: bool,
    /// An `_Alignas` or `aligned` of so many bytes.
    pub align: Option<u64>,
    /// `weak`
    pub weak: bool,
}

/// The initialiser of a variable at file scope, with an arena of its own.
#[derive(Clone, Debug)]
pub struct FileInitializer {
    /// The variable.
    pub variable: VarId,
    /// The value, in `arena`.
    pub value: ExprId,
    /// Holds the expressions; it has no body.
    pub arena: Function,
}

/// The bytes of an `AlignedAttr`; without a value it means the largest useful alignment.
pub(crate) fn aligned(node: &Node) -> Option<u64> {
    let attribute = node.inner.iter().filter(|n| n.kind == "AlignedAttr");
    attribute
        .map(|n| {
            let value = n.inner.iter().find_map(|n| n.value.as_ref());
            value.and_then(|v| v.0.parse().ok()).unwrap_or(16)
        })
        .max()
}

fn has(node: &Node, kind: &str) -> bool {
    node.inner.iter().any(|n| n.kind == kind)
}

/// The attributes of a record's definition.
pub(crate) fn layout_notes(node: &Node) -> LayoutNotes {
    LayoutNotes {
        packed: has(node, "PackedAttr"),
        align: aligned(node),
        unknown: has(node, "MaxFieldAlignmentAttr"),
        pack: None,
        fields: node
            .inner
            .iter()
            .filter(|n| n.kind == "FieldDecl")
            .map(|n| (has(n, "PackedAttr"), aligned(n)))
            .collect(),
        typedefs: Vec::new(),
        refused: has(node, "MSStructAttr"),
    }
}

/// The storage class and attributes of a variable.
pub(crate) fn declared(node: &Node) -> Declared {
    Declared {
        internal: node.storage_class == "static",
        is_extern: node.storage_class == "extern" && node.init.is_empty(),
        align: aligned(node),
        weak: has(node, "WeakAttr"),
    }
}

/// The result's spelling in a function type's: what stands before the parameters. Parameters
/// never begin with `*`; what does is the declarator of a result that points to a function or an
/// array, for which this gives `None`.
fn result_spelling(text: &str) -> Option<&str> {
    let text = text.split(" __attribute__").next()?;
    let open = text.find('(')?;
    let plain = !text[open + 1..].starts_with('*') && text.ends_with(')');
    plain.then(|| text[..open].trim())
}

impl UnitBuilder<'_> {
    /// How a function is declared.
    pub(crate) fn function_declaration(&mut self, node: &Node) -> Declaration {
        let (spelled, here) = crate::build::function_spelling(node);
        let result = match result_spelling(&spelled) {
            Some(result) => {
                let result = result.to_owned();
                let id = match here {
                    true => self.types.parse_here(&result),
                    false => self.types.parse(&result),
                };
                (!matches!(self.types.kind(id), TypeKind::Other(_))).then_some(id)
            }
            // `int (*(int))(char)`
            None if spelled.contains("(*") => {
                let function = self.types.plain(TypeKind::Function);
                Some(self.types.plain(TypeKind::Pointer(function)))
            }
            None => None,
        };
        let passed = crate::build::parameter_spellings(&spelled);
        let parameters: Vec<TypeId> = node
            .inner
            .iter()
            .filter(|n| n.kind == "ParmVarDecl")
            .enumerate()
            .map(|(index, n)| {
                let own = self.written(n);
                self.passed(own, passed.get(index).copied())
            })
            .collect();
        // They are those of a declaration that is not executed.
        self.types.take_lengths();
        Declaration {
            name: node.name.clone(),
            result,
            prototyped: !spelled
                .split(" __attribute__")
                .next()
                .unwrap_or("")
                .ends_with("()"),
            parameters,
            variadic: node.variadic,
            internal: node.storage_class == "static",
            inline: node.is_inline,
            weak: has(node, "WeakAttr"),
            align: aligned(node),
            no_return: has(node, "C11NoReturnAttr")
                || has(node, "NoReturnAttr")
                || spelled.contains("noreturn"),
            constructor: self.priority(node, "ConstructorAttr"),
            destructor: self.priority(node, "DestructorAttr"),
            implicit: node.is_implicit,
            renamed: has(node, "AsmLabelAttr"),
            in_system_header: false,
            order: self.position,
        }
    }

    /// The type that a parameter is passed as: in the type of an old-style definition the compiler has it promoted.
    fn passed(&mut self, own: TypeId, spelled: Option<&str>) -> TypeId {
        let promoted = match self.types.kind(own) {
            TypeKind::Float(FloatKind::Float) => "double",
            _ if self
                .types
                .integer_kind(own)
                .is_some_and(|kind| kind.size() < 4) =>
            {
                "int"
            }
            _ => return own,
        };
        match spelled == Some(promoted) {
            true => self.types.parse(promoted),
            false => own,
        }
    }

    /// The priority that an attribute gives a function, if it has one. The dump has the attribute, and not its number.
    fn priority(&self, node: &Node, kind: &str) -> Option<Priority> {
        let attribute = node.inner.iter().find(|n| n.kind == kind)?;
        let range = attribute.range.as_ref();
        let text = range.and_then(|range| self.text_at(&range.begin));
        let Some(text) = text else {
            return Some(Priority::Unknown);
        };
        let word = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let rest = text[word.unwrap_or(text.len())..].trim_start();
        let Some(argument) = rest.strip_prefix('(') else {
            return Some(Priority::Last);
        };
        let number = argument.split(')').next().unwrap_or_default();
        Some(match number.trim().parse() {
            Ok(number) => Priority::Number(number),
            Err(_) => Priority::Unknown,
        })
    }

    /// Converts the initialiser of a variable at file scope.
    pub(crate) fn file_initializer(&mut self, variable: VarId, node: &Node) {
        let Some(value) = node.inner.iter().find(|n| crate::build::is_expression(n)) else {
            return;
        };
        let ty = self.variables[variable.0 as usize].ty;
        let (value, arena) = FunctionBuilder::initializer(self, ty, value);
        self.settle(variable, node, arena.expr(value));
        self.initializers.push(FileInitializer {
            variable,
            value,
            arena,
        });
    }
}

impl FunctionBuilder<'_, '_> {
    /// More about the expression that `node` is, apart from what is noted when children are
    /// converted.
    pub(crate) fn detail(&mut self, node: &Node) -> Option<Detail> {
        Some(match node.kind.as_str() {
            "UnaryOperator" => match node.opcode.as_str() {
                "++" | "--" => Detail::Step {
                    increment: node.opcode == "++",
                    prefix: !node.is_postfix,
                },
                "__real" | "__imag" => Detail::Operator(node.opcode.clone()),
                _ => return None,
            },
            "CompoundAssignOperator" => Detail::Compute {
                left: self.unit.spelled_type(node.compute_left.as_ref()?, false),
                result: self.unit.spelled_type(node.compute_result.as_ref()?, false),
            },
            "StringLiteral" => Detail::String(unescape(&node.value.as_ref()?.0)?),
            "PredefinedExpr" => {
                let literal = node.inner.iter().find(|n| n.kind == "StringLiteral")?;
                Detail::String(unescape(&literal.value.as_ref()?.0)?)
            }
            "FloatingLiteral" => Detail::Float(node.value.as_ref()?.0.clone()),
            "MemberExpr" => {
                let (record, index) = *self.unit.fields.get(&node.referenced_member)?;
                Detail::Member { record, index }
            }
            "ImplicitCastExpr" | "CStyleCastExpr"
                if crate::build::cast_kind(&node.cast_kind) == CastKind::Other =>
            {
                Detail::Operator(node.cast_kind.clone())
            }
            "TypeTraitExpr" => Detail::Answer(self.unit.are_compatible(&node.inner)?),
            "AtomicExpr" => Detail::Operator(node.name.clone()),
            _ => return None,
        })
    }

    /// An initialiser list.
    pub(crate) fn initializer_list(&mut self, node: &Node) -> ExprKind {
        let nodes: &[Node] = match node.array_filler.is_empty() {
            true => &node.inner,
            // The filler itself comes first.
            false => &node.array_filler[1..],
        };
        let mut elements = Vec::with_capacity(nodes.len());
        for child in nodes {
            if child.kind == "ImplicitValueInitExpr" || !crate::build::is_expression(child) {
                elements.push(None);
            } else {
                elements.push(Some(self.expr(child)));
            }
        }
        let member = node.field.as_ref().and_then(|field| {
            let (_, index) = self.unit.fields.get(&field.id)?;
            Some(*index)
        });
        let children = elements.iter().copied().flatten().collect();
        self.noted = Some(Detail::List { elements, member });
        ExprKind::Other {
            kind: node.kind.clone(),
            children,
            body: None,
            evaluated: self.evaluated,
        }
    }

    /// A `_Generic`: its operands are not evaluated, and of the others one is.
    pub(crate) fn generic(&mut self, node: &Node) -> ExprKind {
        let mut children = Vec::new();
        let mut selected = None;
        for child in &node.inner {
            if crate::build::is_expression(child) {
                children.push(self.unevaluated(child));
            } else if child.selected {
                let value = child.inner.iter().find(|n| crate::build::is_expression(n));
                selected = value.map(|value| self.unevaluated(value));
            }
        }
        self.noted = selected.map(Detail::Same);
        ExprKind::Other {
            kind: node.kind.clone(),
            children,
            body: None,
            evaluated: false,
        }
    }

    /// The alignment of an expression: declarations may ask for more or less than the type.
    fn alignment(&self, operand: ExprId, ty: TypeId) -> Option<Detail> {
        if let ExprKind::Function(name) = &self.exprs[operand.0 as usize].kind {
            let asked = self.unit.declarations.get(name)?.align;
            return Some(Detail::Alignment(asked.unwrap_or(1)));
        }
        let (_, natural) = self.unit.types.size_and_align(ty)?;
        match &self.exprs[operand.0 as usize].kind {
            ExprKind::Paren(inner) => self.alignment(*inner, ty),
            ExprKind::Variable(variable) => {
                let asked = self.unit.declared[variable.0 as usize].align;
                Some(Detail::Alignment(natural.max(asked.unwrap_or(1))))
            }
            ExprKind::Member { .. } => match self.details.of.get(&operand) {
                Some(&Detail::Member { record, index }) => {
                    let asked = self.unit.types.member_align(record, index)?;
                    Some(Detail::Alignment(natural.max(asked.unwrap_or(1))))
                }
                _ => None,
            },
            _ => Some(Detail::AlignOf(ty)),
        }
    }

    /// `sizeof` and the like: the type they ask about.
    pub(crate) fn note_size(&mut self, node: &Node, operands: Vec<ExprId>) {
        let operand = operands.last().copied();
        if let Some(number) = node.offset_of {
            self.noted = Some(Detail::OffsetOf {
                number,
                value: None,
                indices: operands.into_iter().map(|index| (index, 0)).collect(),
            });
            return;
        }
        let ty = match (&node.arg_type, operand) {
            (Some(ty), _) => self.unit.spelled_type(ty, true),
            (None, Some(operand)) => self.exprs[operand.0 as usize].ty,
            (None, None) => return,
        };
        self.noted = match node.name.as_str() {
            "sizeof" => Some(Detail::SizeOf(ty)),
            "alignof" | "_Alignof" | "__alignof" => match (&node.arg_type, operand) {
                (None, Some(operand)) => self.alignment(operand, ty),
                _ => Some(Detail::AlignOf(ty)),
            },
            _ => None,
        };
    }
}

/// The characters of a string literal as the compiler prints it: one or several quoted parts,
/// with a prefix.
fn unescape(text: &str) -> Option<Vec<u32>> {
    let wide = !text.starts_with('"');
    let text = text
        .trim_start_matches("u8")
        .trim_start_matches(['L', 'u', 'U']);
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(c) = chars.next() {
        if c == '"' {
            inside = !inside;
            continue;
        }
        if !inside {
            continue;
        }
        if c != '\\' {
            if wide || c.is_ascii() {
                found.push(c as u32);
            } else {
                let mut buffer = [0; 4];
                found.extend(c.encode_utf8(&mut buffer).bytes().map(u32::from));
            }
            continue;
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix, most| {
            let mut value = 0u32;
            for _ in 0..most {
                match chars.peek().and_then(|c| c.to_digit(radix)) {
                    Some(digit) => {
                        value = value.wrapping_mul(radix).wrapping_add(digit);
                        chars.next();
                    }
                    None => break,
                }
            }
            value
        };
        found.push(match chars.next()? {
            'a' => 7,
            'b' => 8,
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            'x' => number(&mut chars, 16, 8),
            'u' => number(&mut chars, 16, 4),
            'U' => number(&mut chars, 16, 8),
            digit @ '0'..='7' => {
                let first = digit.to_digit(8)?;
                let mut value = first;
                for _ in 0..2 {
                    match chars.peek().and_then(|c| c.to_digit(8)) {
                        Some(digit) => {
                            value = value * 8 + digit;
                            chars.next();
                        }
                        None => break,
                    }
                }
                value
            }
            other => other as u32,
        });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_literals_are_read_with_their_escapes() {
        let bytes = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        assert_eq!(unescape("\"ab\\000c\""), Some(bytes("ab\0c")));
        assert_eq!(unescape("\"\\351\\n\\\"\""), Some(vec![0o351, 10, 34]));
        assert_eq!(unescape("\"é\""), Some(bytes("é")));
        assert_eq!(unescape("L\"\\x20AC\""), Some(vec![0x20ac]));
    }
}
