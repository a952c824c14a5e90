//! Types by declaration: what a node's type is, where the names in the compiler's spelling of it do not tell.

use super::{FunctionBuilder, UnitBuilder, ordinary::Ordinary};
use crate::{
    detail::Detail,
    raw::{Node, QualType, RawId},
    tree::*,
    types::{Field, Qualifiers, TypeId, TypeKind},
};

impl UnitBuilder<'_> {
    /// Returns the type that the compiler spells so. With `here`, tags have the meaning of the current scope, else of any declaration.
    pub(crate) fn spelled_type(&mut self, ty: &QualType, here: bool) -> TypeId {
        if let Some(&target) = ty.alias.and_then(|alias| self.typedefs.get(&alias))
            && let Some(qualifiers) = qualifiers_of_name(&ty.spelled)
        {
            return self.types.with_qualifiers(target, qualifiers);
        }
        let id = match here {
            true => self.types.parse_here(&ty.spelled),
            false => self.types.parse(&ty.spelled),
        };
        if !self.types.is_known(id)
            && let Some(desugared) = &ty.desugared
        {
            let other = self.types.parse(desugared);
            if self.types.is_known(other) || matches!(self.types.kind(id), TypeKind::Other(_)) {
                return other;
            }
        }
        id
    }

    /// Returns the type of a declaration, as it is written there.
    pub(crate) fn written(&mut self, node: &Node) -> TypeId {
        match &node.ty {
            Some(ty) => self.spelled_type(ty, true),
            None => self.types.plain(TypeKind::Void),
        }
    }

    /// Gives a variable declared by `__auto_type` or `typeof` the type of its initialiser.
    pub(crate) fn settle(&mut self, variable: VarId, node: &Node, value: &Expr) {
        let Some(ty) = &node.ty else { return };
        let anywhere = self.types.parse(&ty.spelled);
        let is_list = matches!(&value.kind, ExprKind::Other { kind, .. } if kind == "InitListExpr");
        if self.types.is_known(anywhere) || is_list || !self.types.is_known(value.ty) {
            return;
        }
        if matches!(
            self.types.kind(value.ty),
            TypeKind::Array(..) | TypeKind::Void | TypeKind::Function
        ) {
            return;
        }
        let declared = self.variables[variable.0 as usize].ty;
        let known = self.spelled_type(ty, false);
        if self.types.is_known(known) {
            return;
        }
        let mut qualifiers = self.types.qualifiers(declared);
        if !self.types.is_known(declared) {
            qualifiers.is_const |= ty.spelled.starts_with("const ");
            qualifiers.is_volatile |= ty.spelled.contains("volatile");
        }
        let plain = self.types.unqualified(value.ty);
        let settled = self.types.with_qualifiers(plain, qualifiers);
        self.variables[variable.0 as usize].ty = settled;
    }

    /// The type that a node of the dump stands for, by the declarations that it names.
    fn type_node(&mut self, node: &Node) -> Option<TypeId> {
        let declared = node.decl.as_ref().map(|decl| decl.id);
        match node.kind.as_str() {
            "RecordType" => {
                let id = *self.records.get(&declared?)?;
                Some(self.types.plain(TypeKind::Record(id)))
            }
            "EnumType" => self.enums.get(&declared?).copied(),
            "TypedefType" => self.typedefs.get(&declared?).copied(),
            "BuiltinType" => {
                let id = self.types.parse(&node.ty.as_ref()?.spelled);
                self.types.is_known(id).then_some(id)
            }
            "PointerType" => {
                let to = self.type_node(node.inner.first()?)?;
                Some(self.types.plain(TypeKind::Pointer(to)))
            }
            "ConstantArrayType" | "IncompleteArrayType" => {
                let of = self.type_node(node.inner.first()?)?;
                Some(self.types.plain(TypeKind::Array(of, node.size)))
            }
            "FunctionProtoType" | "FunctionNoProtoType" => {
                Some(self.types.plain(TypeKind::Function))
            }
            "QualType" => {
                let of = self.type_node(node.inner.first()?)?;
                let has = |word: &str| node.qualifiers.split(' ').any(|one| one == word);
                let qualifiers = Qualifiers {
                    is_const: has("const"),
                    is_volatile: has("volatile"),
                    is_atomic: false,
                    is_restrict: has("restrict") || has("__restrict"),
                };
                Some(self.types.with_qualifiers(of, qualifiers))
            }
            "ElaboratedType" | "ParenType" | "AttributedType" | "TypeOfExprType" | "TypeOfType" => {
                let mut types = node.inner.iter().filter(|n| n.kind.ends_with("Type"));
                self.type_node(types.next_back()?)
            }
            _ => None,
        }
    }

    /// Whether two type nodes are compatible types; `None` where the table cannot tell.
    pub(crate) fn are_compatible(&mut self, nodes: &[Node]) -> Option<bool> {
        let [a, b] = nodes else { return None };
        let [a, b] = [a, b].map(|node| {
            // The type of an expression has only what it is spelled as.
            let known = self.type_node(node);
            known.or_else(|| Some(self.spelled_type(node.ty.as_ref()?, false)))
        });
        let (a, b) = (self.types.unqualified(a?), self.types.unqualified(b?));
        if self.types.is_plain(a) && self.types.is_plain(b) {
            return Some(a == b);
        }
        let is_array = |id| matches!(self.types.kind(id), TypeKind::Array(..));
        let is_other = |id| {
            matches!(
                self.types.kind(id),
                TypeKind::Pointer(_)
                    | TypeKind::Integer(_)
                    | TypeKind::Float(_)
                    | TypeKind::Record(_)
            )
        };
        match (is_array(a) && is_other(b)) || (is_other(a) && is_array(b)) {
            true => Some(false),
            false => None,
        }
    }

    /// Notes the type that a `typedef` names.
    pub(super) fn typedef(&mut self, node: &Node) {
        let Some(ty) = &node.ty else { return };
        let target = match node.inner.first().and_then(|n| self.type_node(n)) {
            Some(target) => target,
            None => self.spelled_type(ty, true),
        };
        // What has no tag takes the typedef's name.
        if let Some(tag) = node.inner.first().and_then(tag_below) {
            if let Some(&record) = self.records.get(&tag)
                && self.types.record(record).name.starts_with('(')
            {
                self.types.alias_record(&node.name, record);
            } else if let Some(&id) = self.enums.get(&tag)
                && matches!(self.types.kind(id), TypeKind::Enum { name } if name.starts_with('('))
            {
                self.types.alias_enum(&node.name, id);
            }
        }
        if let Some(align) = super::details::aligned(node) {
            self.typedef_alignments.insert(node.id, align);
        } else if let Some(align) = ty
            .alias
            .and_then(|alias| self.typedef_alignments.get(&alias).copied())
        {
            self.typedef_alignments.insert(node.id, align);
        }
        self.typedefs.insert(node.id, target);
        self.declare_ordinary(&node.name, Ordinary::Typedef);
        self.types.declare_typedef(&node.name, target);
    }
}

impl FunctionBuilder<'_, '_> {
    /// The type of an expression of this kind.
    pub(super) fn type_of(&mut self, node: &Node, kind: &ExprKind) -> TypeId {
        let is_written = matches!(
            node.kind.as_str(),
            "CStyleCastExpr" | "CompoundLiteralExpr" | "VAArgExpr"
        );
        let spelled = match &node.ty {
            Some(ty) => self.unit.spelled_type(ty, is_written),
            None => self.unit.types.plain(TypeKind::Void),
        };
        if self.unit.types.is_known(spelled) {
            if let ExprKind::Other { kind, children, .. } = kind
                && kind == "CompoundLiteralExpr"
                && let [list] = children[..]
            {
                self.tell(list, spelled);
            }
            return spelled;
        }
        match self.derived(kind) {
            Some(derived) if self.unit.types.is_known(derived) => derived,
            _ => spelled,
        }
    }

    fn ty(&self, id: ExprId) -> TypeId {
        self.exprs[id.0 as usize].ty
    }

    /// The type of an expression as its parts tell it.
    fn derived(&mut self, kind: &ExprKind) -> Option<TypeId> {
        let types = &mut self.unit.types;
        let of = |id: &ExprId| self.exprs[id.0 as usize].ty;
        Some(match kind {
            ExprKind::Variable(variable) => self.unit.variables[variable.0 as usize].ty,
            ExprKind::Subscript { base, .. } => types.element(of(base))?,
            ExprKind::Unary { operator, operand } => match operator {
                UnaryOperator::Dereference => types.element(of(operand))?,
                UnaryOperator::AddressOf => types.plain(TypeKind::Pointer(of(operand))),
                UnaryOperator::Extension | UnaryOperator::Plus => of(operand),
                UnaryOperator::Step => types.unqualified(of(operand)),
                _ => return None,
            },
            ExprKind::Binary {
                operator,
                left,
                right,
            } => match operator {
                BinaryOperator::Comma => of(right),
                BinaryOperator::Add | BinaryOperator::Sub => {
                    let pointer = [left, right]
                        .into_iter()
                        .find(|id| types.element(of(id)).is_some())?;
                    types.unqualified(of(pointer))
                }
                _ => return None,
            },
            ExprKind::Assign { target, .. } => types.unqualified(of(target)),
            ExprKind::Conditional {
                then, otherwise, ..
            } => match types.is_known(of(then)) {
                true => of(then),
                false => of(otherwise),
            },
            ExprKind::Paren(inner) => of(inner),
            ExprKind::Cast {
                operand,
                implicit: true,
                cast: CastKind::LValueToRValue | CastKind::NoOp,
            } => types.unqualified(of(operand)),
            ExprKind::Cast {
                operand,
                cast: CastKind::ArrayToPointer,
                ..
            } => {
                let element = types.element(of(operand))?;
                types.plain(TypeKind::Pointer(element))
            }
            ExprKind::Call { callee, .. } => {
                let ExprKind::Function(name) = &self.exprs[self.stripped(*callee).0 as usize].kind
                else {
                    return None;
                };
                self.unit.declarations.get(name)?.result?
            }
            ExprKind::Member { .. } => self.member_type?,
            ExprKind::Other {
                kind,
                children,
                body,
                ..
            } => match (kind.as_str(), children.as_slice(), body) {
                ("StmtExpr", _, Some(body)) => {
                    let StmtKind::Compound(inner) = &self.stmts[body.0 as usize].kind else {
                        return None;
                    };
                    match self.stmts[inner.last()?.0 as usize].kind {
                        StmtKind::Expression(last) => of(&last),
                        _ => return None,
                    }
                }
                ("ConstantExpr", [inner], _) => of(inner),
                ("BinaryConditionalOperator", [first, second], _) => {
                    match types.is_known(of(first)) {
                        true => of(first),
                        false => of(second),
                    }
                }
                ("GenericSelectionExpr", _, _) => match self.noted {
                    Some(Detail::Same(selected)) => of(&selected),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The expression before a member is of the record that has it.
    pub(super) fn tell_record(&mut self, base: ExprId, arrow: bool, member: RawId) {
        self.member_type = None;
        let Some(&(record, index)) = self.unit.fields.get(&member) else {
            return;
        };
        let mut told = self.unit.types.plain(TypeKind::Record(record));
        if arrow {
            told = self.unit.types.plain(TypeKind::Pointer(told));
        }
        self.tell(base, told);
        let base = self.ty(base);
        let types = &mut self.unit.types;
        let object = match arrow {
            true => types.element(base),
            false => Some(base),
        };
        let fields = types.record(record).fields.as_ref();
        if let (Some(object), Some(field)) = (object, fields.and_then(|all| all.get(index))) {
            let (ty, qualifiers) = (field.ty, types.qualifiers(object));
            self.member_type = Some(types.with_qualifiers(ty, qualifiers));
        }
    }

    /// Gives an expression whose type is not known, and what it takes its value from, the type that its context tells.
    pub(super) fn tell(&mut self, id: ExprId, ty: TypeId) {
        if self.unit.types.is_known(self.ty(id)) || !self.unit.types.is_known(ty) {
            return;
        }
        self.exprs[id.0 as usize].ty = self.unit.types.unqualified(ty);
        match self.exprs[id.0 as usize].kind {
            ExprKind::Paren(inner)
            | ExprKind::Binary {
                operator: BinaryOperator::Comma,
                right: inner,
                ..
            } => self.tell(inner, ty),
            ExprKind::Conditional {
                then, otherwise, ..
            } => {
                self.tell(then, ty);
                self.tell(otherwise, ty);
            }
            _ => self.tell_elements(id, ty),
        }
    }

    /// The same for the elements of an initialiser list.
    fn tell_elements(&mut self, id: ExprId, ty: TypeId) {
        let Some(Detail::List { elements, member }) = self.details.of.get(&id).cloned() else {
            return;
        };
        match self.unit.types.kind(ty).clone() {
            TypeKind::Array(of, _) => {
                for element in elements.into_iter().flatten() {
                    self.tell(element, of);
                }
            }
            TypeKind::Record(record) => {
                let record = self.unit.types.record(record);
                let fields = record.fields.as_deref().unwrap_or_default();
                let is_listed =
                    |field: &&Field| !(field.name.is_empty() && field.bit_width.is_some());
                let types: Vec<TypeId> = match member {
                    Some(member) => fields
                        .get(member)
                        .map(|field| field.ty)
                        .into_iter()
                        .collect(),
                    None => fields
                        .iter()
                        .filter(is_listed)
                        .map(|field| field.ty)
                        .collect(),
                };
                for (element, ty) in elements.into_iter().zip(types) {
                    if let Some(element) = element {
                        self.tell(element, ty);
                    }
                }
            }
            _ => {}
        }
    }

    /// What is assigned, passed or returned has the type of where it goes.
    pub(super) fn tell_operands(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Assign {
                operator: None,
                target,
                value,
            } => self.tell(*value, self.ty(*target)),
            ExprKind::Call {
                callee, arguments, ..
            } => {
                let callee = &self.exprs[self.stripped(*callee).0 as usize].kind;
                let ExprKind::Function(name) = callee else {
                    return;
                };
                let Some(declaration) = self.unit.declarations.get(name) else {
                    return;
                };
                for (&argument, ty) in arguments.iter().zip(declaration.parameters.clone()) {
                    self.tell(argument, ty);
                }
            }
            _ => {}
        }
    }
}

/// The qualifiers that stand before a name, if nothing else is in the text.
fn qualifiers_of_name(text: &str) -> Option<Qualifiers> {
    let mut qualifiers = Qualifiers::default();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        match word {
            "const" => qualifiers.is_const = true,
            "volatile" => qualifiers.is_volatile = true,
            "restrict" | "__restrict" => qualifiers.is_restrict = true,
            _ => {
                return (patchwright_ctext::is_name(word) && words.peek().is_none())
                    .then_some(qualifiers);
            }
        }
    }
    None
}

/// The tag that a type node of the dump stands for.
fn tag_below(node: &Node) -> Option<RawId> {
    match node.kind.as_str() {
        "ElaboratedType" => node.inner.first().and_then(tag_below),
        "RecordType" | "EnumType" => node.decl.as_ref().map(|decl| decl.id),
        _ => None,
    }
}
