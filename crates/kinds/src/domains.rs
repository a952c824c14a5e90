//! What is tried for holes: `each`.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, StmtId, StmtKind, Storage, VarId, lex,
    types::{TypeId, TypeKind},
};
use patchwright_semantics::Precedence;

use crate::{
    ask::Here,
    clause::{Domain, Each, Inside},
    layout::undented,
    matches::{Match, Matcher, Value},
    syntax::Class,
    tree::{Parts, Tree},
};

/// Nothing is taken from other functions with more statements.
const MOST_STATEMENTS: usize = 4000;

/// The largest number of ways that are tried to name the variables of a value from another function.
const MOST_RENAMINGS: usize = 4;

/// What is copied from elsewhere has no longer text.
const LONGEST: usize = 160;

impl<'a> Tree<'a> {
    /// The values that are tried for a hole, in order.
    pub(crate) fn each(&self, each: &Each, known: &Match, here: Here<'_>) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        for domain in &each.domains {
            for value in self.domain(&each.hole, domain, known, here) {
                let is_known = found.iter().any(|known| self.is_equal(known, &value));
                if !is_known {
                    found.push(value);
                }
            }
        }
        found
    }

    fn domain(&self, hole: &str, domain: &Domain, known: &Match, here: Here<'_>) -> Vec<Value> {
        let value = |hole: &str| known.values.get(hole);
        match domain {
            Domain::Variables { like } => match value(like) {
                Some(like) => self.variables_like(like, here),
                None => Vec::new(),
            },
            Domain::Members { beside } => self.members(beside, known),
            Domain::Numbers => self.numbers(),
            Domain::Lengths { index } => match value(index) {
                Some(index) => self.lengths(index),
                None => Vec::new(),
            },
            Domain::Neighbours { of } => match value(of) {
                Some(Value::Operator(operator)) => {
                    let other = neighbour(*operator);
                    other.map(Value::Operator).into_iter().collect()
                }
                _ => Vec::new(),
            },
            Domain::Others { of } => match value(of) {
                Some(Value::Operator(operator)) => others(of, *operator),
                _ => Vec::new(),
            },
            Domain::Elements { of } => {
                let ty = value(of).and_then(|of| self.type_of_value(of));
                let element = ty.and_then(|ty| self.unit.types.element(ty));
                // What counts bytes counts them already.
                let element =
                    element.filter(|ty| self.unit.types.size(*ty).is_some_and(|size| size > 1));
                let spelling = element.and_then(|element| {
                    let text = self.unit.types.spelling(element)?;
                    let plain = text.trim_start_matches("const ").to_owned();
                    Some(plain)
                });
                spelling.map(Value::Word).into_iter().collect()
            }
            Domain::Copies { of } => match value(of) {
                Some(Value::Statement(id)) => self.copies(*id),
                _ => Vec::new(),
            },
            Domain::Functions { like } => self.functions(like, known),
            Domain::Exits => self.exits(here),
            Domain::Jumps => self.jumps(here),
            Domain::Parts { inside, any } => {
                self.elsewhere(inside, known, here, &|tree, parts, known| {
                    let found = any.iter();
                    let found = found.flat_map(|pattern| tree.found_in(pattern, parts, known));
                    found
                        .filter_map(|mut one| one.values.remove(hole))
                        .collect()
                })
            }
            Domain::Statements { inside, any } => {
                self.elsewhere(inside, known, here, &|tree, parts, known| {
                    let mut found: Vec<Value> = Vec::new();
                    for &id in &parts.statements {
                        let is_one = any.iter().any(|pattern| {
                            let matcher = Matcher { tree, pattern };
                            let [one] = pattern.statements() else {
                                return false;
                            };
                            let is_block =
                                matches!(tree.function.stmt(id).kind, StmtKind::Compound(_));
                            !is_block && !matcher.at_statement(*one, id, known.clone()).is_empty()
                        });
                        if is_one {
                            found.push(Value::Statement(id));
                        }
                    }
                    found
                })
            }
        }
    }

    /// Returns the values found in this function, then those of the file's other functions with the names of this one. Each text comes
    /// once.
    fn elsewhere(
        &self,
        inside: &Inside,
        known: &Match,
        here: Here<'_>,
        find: &dyn Fn(&Tree<'_>, &Parts, &Match) -> Vec<Value>,
    ) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        let mut add = |value: Value, text: String| {
            if text.len() <= LONGEST && !texts.contains(&text) {
                texts.push(text);
                found.push(value);
            }
        };
        for value in find(self, &self.parts(inside, here, known), known) {
            if let Some(text) = self.can_stand(&value, here) {
                add(value, text);
            }
        }
        if *inside != Inside::File {
            return found;
        }
        let searched = |other: &&Tree<'_>| other.function.stmts.len() <= MOST_STATEMENTS;
        for other in self.others().iter().filter(searched) {
            let parts = other.parts(&Inside::Function, here, known);
            for value in find(other, &parts, &Match::default()) {
                for (text, value) in self.carried(other, &value, here) {
                    add(value, text);
                }
            }
        }
        found
    }

    /// Variables of the same type that have a value here, those of the statement first.
    fn variables_like(&self, like: &Value, here: Here<'_>) -> Vec<Value> {
        let Some(ty) = self.type_of_value(like) else {
            return Vec::new();
        };
        let own = match like {
            Value::Variable(id) => Some(*id),
            Value::Expression(id) => match self.function.expr(self.function.stripped(*id)).kind {
                ExprKind::Variable(id) => Some(id),
                _ => None,
            },
            _ => None,
        };
        let fits = |id: &VarId| {
            let variable = self.unit.variable(*id);
            Some(*id) != own && self.same_type(variable.ty, ty)
        };
        let is_visible = |id: &VarId| {
            let variable = self.unit.variable(*id);
            let is_before = variable
                .declared_at
                .is_some_and(|at| at < self.function.span.start);
            let hides = |own: &VarId| self.unit.variable(*own).name == variable.name;
            is_before && !here.scope.visible.iter().any(hides)
        };
        let globals = self.unit.globals.iter().copied().filter(is_visible);
        let own = here.scope.assigned.iter().rev().copied();
        let found = own.chain(globals).filter(fits);
        found.map(Value::Variable).collect()
    }

    /// The members of the same structure with the same type.
    fn members(&self, hole: &str, known: &Match) -> Vec<Value> {
        match known.values.get(hole) {
            Some(Value::Word(name)) => {
                let names = self.siblings(name).into_iter();
                names.map(Value::Word).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The members beside one of this name that are of its type.
    fn siblings(&self, name: &str) -> Vec<String> {
        let types = &self.unit.types;
        let record = self.function.exprs.iter().find_map(|expr| {
            let ExprKind::Member {
                base,
                arrow,
                name: own,
                ..
            } = &expr.kind
            else {
                return None;
            };
            let ty = self.function.expr(*base).ty;
            let ty = if *arrow { types.element(ty)? } else { ty };
            match types.kind(ty) {
                TypeKind::Record(record) if own == name => Some(*record),
                _ => None,
            }
        });
        let Some(record) = record else {
            return Vec::new();
        };
        let fields = types.record(record).fields.iter().flatten();
        let Some(own) = fields.clone().find(|field| field.name == *name) else {
            return Vec::new();
        };
        let others = fields.filter(|field| {
            let is_private = field.name.starts_with("__") || field.name.is_empty();
            field.ty == own.ty && field.name != *name && !is_private
        });
        others.map(|field| field.name.clone()).collect()
    }

    /// A statement with another member wherever it names one at least twice.
    fn copies(&self, id: StmtId) -> Vec<Value> {
        let mut parts = Parts::default();
        self.parts_of_statement(id, &mut parts);
        let mut named: Vec<&str> = Vec::new();
        let mut twice: Vec<&str> = Vec::new();
        for expr in parts.expressions {
            let expr = self.function.expr(expr);
            if let (ExprKind::Member { name, .. }, Some(_)) = (&expr.kind, expr.place.editable()) {
                match named.contains(&name.as_str()) {
                    true if !twice.contains(&name.as_str()) => twice.push(name),
                    true => {}
                    false => named.push(name),
                }
            }
        }
        let Some(span) = self.statement_place(id) else {
            return Vec::new();
        };
        let text = lex::without_comments(&undented(&self.unit.source, span));
        let mut found = Vec::new();
        for name in twice {
            for other in self.siblings(name) {
                found.push(Value::Text {
                    text: with_member(&text, name, &other),
                    precedence: Precedence::Comma,
                    ty: None,
                });
            }
        }
        found
    }

    /// The numbers of the function, those first that stand there most often.
    fn numbers(&self) -> Vec<Value> {
        let mut found: Vec<(usize, i128)> = Vec::new();
        for expr in &self.function.exprs {
            let ExprKind::Integer {
                value,
                character: false,
                enumerator: None,
            } = expr.kind
            else {
                continue;
            };
            if !expr.evaluated || expr.place.editable().is_none() {
                continue;
            }
            match found.iter_mut().find(|(_, known)| *known == value) {
                Some((times, _)) => *times += 1,
                None => found.push((1, value)),
            }
        }
        found.sort_by_key(|&(times, _)| std::cmp::Reverse(times));
        let all = found.into_iter();
        all.map(|(_, value)| Value::Number(value)).collect()
    }

    /// The lengths of the arrays that are indexed by this, as their declarations write them.
    fn lengths(&self, index: &Value) -> Vec<Value> {
        let function = self.function;
        let mut found: Vec<Value> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        for expr in &function.exprs {
            let ExprKind::Subscript { base, index: own } = expr.kind else {
                continue;
            };
            let ExprKind::Variable(id) = function.expr(function.stripped(base)).kind else {
                continue;
            };
            let is_index = match index {
                Value::Expression(id) => self.is_alike(*id, own),
                Value::Variable(id) => {
                    matches!(function.expr(function.stripped(own)).kind, ExprKind::Variable(own) if own == *id)
                }
                _ => false,
            };
            let variable = self.unit.variable(id);
            let is_array = matches!(self.unit.types.kind(variable.ty), TypeKind::Array(..));
            if !is_index || !is_array || variable.storage == Storage::Parameter {
                continue;
            }
            let length = (|| {
                let declared = self.unit.source.get(variable.declared_at? as usize..)?;
                let end = declared.iter().position(|byte| *byte == b']')?;
                let declared = lex::on_one_line(std::str::from_utf8(&declared[..end]).ok()?);
                let behind = declared.strip_prefix(variable.name.as_str())?;
                let length = behind.trim_start().strip_prefix('[')?.trim().to_owned();
                lex::is_words(&length).then_some(length)
            })();
            if let Some(length) = length.filter(|length| !texts.contains(length)) {
                found.push(match length.parse() {
                    Ok(number) => Value::Number(number),
                    Err(_) => Value::Word(length.clone()),
                });
                texts.push(length);
            }
        }
        found
    }

    /// Returns the statements that leave the function, the most frequent first, and then those that leave the round of a loop.
    fn exits(&self, here: Here<'_>) -> Vec<Value> {
        let function = self.function;
        let types = &self.unit.types;
        let mut texts: Vec<(usize, String)> = Vec::new();
        for (number, stmt) in function.stmts.iter().enumerate() {
            let value = Value::Statement(StmtId(number as u32));
            let is_exit = match stmt.kind {
                StmtKind::Goto(_) => true,
                StmtKind::Return(value) => value.is_none_or(|value| self.is_plain(value)),
                _ => false,
            };
            let Some(text) = self.can_stand(&value, here).filter(|_| is_exit) else {
                continue;
            };
            match texts.iter_mut().find(|(_, known)| *known == text) {
                Some((times, _)) => *times += 1,
                None => texts.push((1, text)),
            }
        }
        texts.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
        let mut texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
        let returns = texts.iter().any(|text| text.starts_with("return"));
        match types.kind(function.return_type) {
            TypeKind::Void if !returns => texts.push("return;".to_owned()),
            _ if returns => {}
            TypeKind::Pointer(_) => texts.push("return 0;".to_owned()),
            _ if types.integer_kind(function.return_type).is_some() => {
                texts.extend(["return 0;", "return -1;"].map(str::to_owned));
            }
            _ => {}
        }
        let values = texts.into_iter().map(|text| Value::Text {
            text,
            precedence: Precedence::Comma,
            ty: None,
        });
        values.chain(self.jumps(here)).collect()
    }

    fn jumps(&self, here: Here<'_>) -> Vec<Value> {
        let possible = [
            ("continue;", self.is_in(here.statement, false)),
            ("break;", self.is_in(here.statement, true)),
        ];
        let possible = possible.into_iter().filter(|(_, fits)| *fits);
        let values = possible.map(|(text, _)| Value::Text {
            text: text.to_owned(),
            precedence: Precedence::Comma,
            ty: None,
        });
        values.collect()
    }

    /// Whether an expression is a constant, or calls nothing and calculates nothing.
    fn is_plain(&self, id: ExprId) -> bool {
        match self.function.expr(self.function.stripped(id)).kind {
            ExprKind::Binary { .. } | ExprKind::Assign { .. } | ExprKind::Conditional { .. } => {
                false
            }
            _ => self.is_pure(id),
        }
    }

    /// Functions of the file, or those that it calls, that are declared in the same way.
    fn functions(&self, hole: &str, known: &Match) -> Vec<Value> {
        let Some(Value::Expression(id)) = known.values.get(hole) else {
            return Vec::new();
        };
        let ExprKind::Function(name) = &self.function.expr(self.function.stripped(*id)).kind else {
            return Vec::new();
        };
        let declarations = &self.unit.declarations;
        let Some(own) = declarations.get(name) else {
            return Vec::new();
        };
        let mut found: Vec<&str> = declarations
            .values()
            .filter(|other| {
                other.name != *name
                    && other.result == own.result
                    && other.parameters == own.parameters
                    && other.variadic == own.variadic
                    && !other.in_system_header
                    && (self.linked)(&other.name)
                    && self.can_name(&other.name)
            })
            .map(|other| other.name.as_str())
            .collect();
        found.sort_unstable();
        found
            .into_iter()
            .map(|name| Value::Word(name.to_owned()))
            .collect()
    }

    /// Returns the text of a value of this function, if everything that it names has a value at the place and is not hidden.
    fn can_stand(&self, value: &Value, here: Here<'_>) -> Option<String> {
        let (mut variables, text) = (Vec::new(), self.text_of(value)?);
        self.mentioned(value, &mut variables)?;
        let can = variables.iter().all(|id| {
            let variable = self.unit.variable(*id);
            let hides =
                |other: &VarId| *other != *id && self.unit.variable(*other).name == variable.name;
            let has_value = variable.storage == Storage::Global || here.scope.assigned.contains(id);
            has_value && !here.scope.visible.iter().any(hides)
        });
        can.then_some(text)
    }

    fn text_of(&self, value: &Value) -> Option<String> {
        match value {
            Value::Expression(id) => self.plain(*id),
            Value::Statement(id) => Some(lex::on_one_line(&self.text(self.statement_place(*id)?))),
            Value::Word(word) => Some(word.clone()),
            Value::Operator(operator) => Some(operator.spelling().to_owned()),
            _ => None,
        }
    }

    /// The variables of an expression or of a statement without declarations and labels.
    fn mentioned(&self, value: &Value, found: &mut Vec<VarId>) -> Option<()> {
        match value {
            Value::Expression(id) => self.variables(*id, found),
            Value::Statement(id) => {
                let mut statements = Parts::default();
                self.parts_of_statement(*id, &mut statements);
                let is_plain = |id: &StmtId| {
                    !matches!(
                        self.function.stmt(*id).kind,
                        StmtKind::Declaration(_)
                            | StmtKind::Label { .. }
                            | StmtKind::Case(_)
                            | StmtKind::Default(_)
                            | StmtKind::Other { .. }
                    )
                };
                if !statements.statements.iter().all(is_plain) {
                    return None;
                }
                for id in statements.expressions {
                    self.variables(id, found);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Returns the texts of a value of another function as they can be written here. Each variable becomes the variable of the same name
    /// and type, or else each variable of the type.
    fn carried(&self, other: &Tree<'_>, value: &Value, here: Here<'_>) -> Vec<(String, Value)> {
        if let Value::Word(word) = value {
            return vec![(word.clone(), value.clone())];
        }
        let Some((text, functions, ty, precedence)) = self.portable(other, value, here) else {
            return Vec::new();
        };
        if let Value::Expression(id) = value
            && let ExprKind::Integer { value, .. } =
                other.function.expr(other.function.stripped(*id)).kind
        {
            return match text.bytes().all(|byte| byte.is_ascii_digit()) {
                true => vec![(text, Value::Number(value))],
                false if self.is_named_before(&text) => vec![(text.clone(), Value::Word(text))],
                false => Vec::new(),
            };
        }
        let mut variables = Vec::new();
        if other.mentioned(value, &mut variables).is_none() {
            return Vec::new();
        }
        let can_call = functions
            .iter()
            .all(|id: &ExprId| match &other.function.expr(*id).kind {
                ExprKind::Function(name) => self.can_name(name),
                _ => true,
            });
        if !can_call || text.len() > LONGEST {
            return Vec::new();
        }
        let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for id in variables {
            let there = self.unit.variable(id);
            if there.storage == Storage::Global {
                let is_hidden = |own: &VarId| self.unit.variable(*own).name == there.name;
                let is_known = there
                    .declared_at
                    .is_none_or(|at| at < self.function.span.start);
                if here.scope.visible.iter().any(is_hidden) || !is_known {
                    return Vec::new();
                }
                continue;
            }
            let mut next = Vec::new();
            for own in self.counterparts(&there.name, there.ty, here) {
                for before in &all {
                    let is_taken = before.iter().any(|(_, known)| *known == own);
                    if !is_taken && next.len() < MOST_RENAMINGS {
                        let mut renamed = before.clone();
                        renamed.push((there.name.clone(), own.clone()));
                        next.push(renamed);
                    }
                }
            }
            all = next;
        }
        let texts = all.iter().map(|renamed| with_names(&text, renamed));
        let values = texts.map(|text| {
            let value = Value::Text {
                text: text.clone(),
                precedence,
                ty,
            };
            (text, value)
        });
        values.collect()
    }

    /// Whether a name is not that of a macro which is defined behind the beginning of the function.
    fn is_named_before(&self, name: &str) -> bool {
        let mut macros = self.unit.macros.iter();
        let own = macros.find(|constant| constant.name == name);
        own.is_none_or(|constant| {
            let first = constant.mentions.first();
            first.is_none_or(|&at| at < self.function.span.start)
        })
    }

    /// Returns the text of a value of another function, its expressions, its type and its precedence, if this function may contain it.
    fn portable(
        &self,
        other: &Tree<'_>,
        value: &Value,
        here: Here<'_>,
    ) -> Option<(String, Vec<ExprId>, Option<TypeId>, Precedence)> {
        let text = other.text_of(value)?;
        let mut parts = Parts::default();
        let (ty, precedence) = match value {
            Value::Expression(id) => {
                other.parts_of_expression(*id, &mut parts);
                (Some(other.type_of(*id)), other.precedence(*id))
            }
            Value::Statement(id) => {
                other.parts_of_statement(*id, &mut parts);
                (None, Precedence::Comma)
            }
            _ => return None,
        };
        let fits = |id: &StmtId| match &other.function.stmt(*id).kind {
            StmtKind::Goto(label) => self.function.labels.contains(label),
            StmtKind::Return(_) => {
                self.same_type(other.function.return_type, self.function.return_type)
            }
            StmtKind::Continue => self.is_in(here.statement, false),
            StmtKind::Break => self.is_in(here.statement, true),
            _ => true,
        };
        let fits = parts.statements.iter().all(fits);
        fits.then_some((text, parts.expressions, ty, precedence))
    }

    /// The variables here that may stand for one of another function.
    fn counterparts(&self, name: &str, ty: TypeId, here: Here<'_>) -> Vec<String> {
        let like = here.scope.assigned.iter().rev().filter(|&&id| {
            let own = self.unit.variable(id);
            self.same_type(own.ty, ty) && own.storage != Storage::Global
        });
        let names: Vec<&String> = like.map(|&id| &self.unit.variable(id).name).collect();
        match names.iter().any(|own| *own == name) {
            true => vec![name.to_owned()],
            false => names.into_iter().take(MOST_RENAMINGS).cloned().collect(),
        }
    }
}

/// A text with other names for its variables.
fn with_names(text: &str, renamed: &[(String, String)]) -> String {
    let mut found = String::with_capacity(text.len());
    let mut at = 0;
    let tokens = lex::tokens(text);
    for (number, (token, start)) in tokens.iter().enumerate() {
        let Some((_, new)) = renamed.iter().find(|(old, _)| old == token) else {
            continue;
        };
        if !is_member(&tokens, number) {
            found.push_str(&text[at..*start]);
            found.push_str(new);
            at = start + token.len();
        }
    }
    found.push_str(&text[at..]);
    found
}

/// Whether the token before that of a number makes a member's name of it.
fn is_member(tokens: &[(&str, usize)], number: usize) -> bool {
    let before = number.checked_sub(1).map(|n| tokens[n].0);
    matches!(before, Some("." | "->"))
}

/// A text with another member wherever it names one.
fn with_member(text: &str, old: &str, new: &str) -> String {
    let tokens = lex::tokens(text);
    let mut found = String::with_capacity(text.len());
    let mut at = 0;
    for (number, (token, start)) in tokens.iter().enumerate() {
        if *token == old && is_member(&tokens, number) {
            found.push_str(&text[at..*start]);
            found.push_str(new);
            at = start + token.len();
        }
    }
    found.push_str(&text[at..]);
    found
}

/// The operator that people take for another one.
fn neighbour(operator: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::*;
    Some(match operator {
        Lt => Le,
        Le => Lt,
        Gt => Ge,
        Ge => Gt,
        Eq => Ne,
        Ne => Eq,
        Add => Sub,
        Sub => Add,
        Mul => Div,
        Div => Mul,
        LogicalAnd => LogicalOr,
        LogicalOr => LogicalAnd,
        And => Or,
        Or => And,
        _ => return None,
    })
}

/// The other operators of a class.
fn others(class: &str, operator: BinaryOperator) -> Vec<Value> {
    use BinaryOperator::*;
    let all = [
        Lt, Le, Gt, Ge, Eq, Ne, Add, Sub, Mul, Div, Rem, And, Or, Xor, LogicalAnd, LogicalOr,
    ];
    let Some(class) = Class::named(class) else {
        return Vec::new();
    };
    let others = all.into_iter();
    let others = others.filter(|other| *other != operator && class.contains(*other));
    others.map(Value::Operator).collect()
}
