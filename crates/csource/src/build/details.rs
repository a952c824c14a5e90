//! Reads the [`Details`](crate::detail::Details) that executing a program needs beyond the tree.

use super::{
    FunctionBuilder, UnitBuilder,
    expressions::{cast_kind, is_expression},
};
use crate::{
    detail::{Declaration, Declared, Detail, FileInitializer, Priority},
    raw::Node,
    tree::{CastKind, ExprId, ExprKind, VarId},
    types::{FloatKind, LayoutNotes, TypeId, TypeKind},
};

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
        let (_, rest) = patchwright_ctext::first_word(text);
        let Some(argument) = rest.trim_start().strip_prefix('(') else {
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
        let Some(value) = node.inner.iter().find(|n| is_expression(n)) else {
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
                if cast_kind(&node.cast_kind) == CastKind::Other =>
            {
                Detail::Operator(node.cast_kind.clone())
            }
            "TypeTraitExpr" => Detail::Answer(self.unit.are_compatible(&node.inner)?),
            "AtomicExpr" => Detail::Operator(node.name.clone()),
            _ => return None,
        })
    }

    /// Reads an initialiser list.
    pub(crate) fn initializer_list(&mut self, node: &Node) -> ExprKind {
        let nodes: &[Node] = match node.array_filler.is_empty() {
            true => &node.inner,
            // The filler itself comes first.
            false => &node.array_filler[1..],
        };
        let mut elements = Vec::with_capacity(nodes.len());
        for child in nodes {
            if child.kind == "ImplicitValueInitExpr" || !is_expression(child) {
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
            if is_expression(child) {
                children.push(self.unevaluated(child));
            } else if child.selected {
                let value = child.inner.iter().find(|n| is_expression(n));
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
