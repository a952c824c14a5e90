//! Rewrites alternatives so that they can be tried and undone.
//!
//! Every write is announced to the probe before it is done; every read through a pointer is checked; divisors too;
//! loops have a limit; jumps out of the text only say where they would go. What this cannot do is refused, and the
//! patches that have such an alternative run by themselves.

mod calls;

use std::collections::{BTreeMap, BTreeSet};

use patchwright_clib::Parameter;
use patchwright_csource::{
    BinaryOperator, CastKind, Expr, ExprId, ExprKind, Function, StmtId, StmtKind, Storage,
    TranslationUnit, UnaryOperator, VarId,
    types::{FloatKind, IntegerKind, TypeId, TypeKind},
};
use patchwright_text::{Edit, Span, apply_edits};
use patchwright_weave::{
    CONTROL_BREAK, CONTROL_CONTINUE, CONTROL_GOTO, CONTROL_RETURN, Captured, PlaceKind,
};

use crate::scan;
use crate::uncaptured::Uncaptured;
use calls::out_of_table;

/// Returns the C type of the variable that keeps a function's result, or `None` for `void`.
pub fn result_type(unit: &TranslationUnit, ty: TypeId) -> Result<Option<&'static str>, Uncaptured> {
    use IntegerKind::{Int128, UnsignedInt128};
    if let Some(kind) = unit.types.integer_kind(ty) {
        return match kind {
            Int128 | UnsignedInt128 => Err(Uncaptured::ReturnType),
            kind => Ok(Some(kind.spelling())),
        };
    }
    match unit.types.kind(ty) {
        TypeKind::Void => Ok(None),
        TypeKind::Float(FloatKind::Float) => Ok(Some("float")),
        TypeKind::Float(FloatKind::Double) => Ok(Some("double")),
        // Any pointer to an object can be assigned to it without a word of the compiler.
        TypeKind::Pointer(_) => Ok(Some("const volatile void *")),
        _ => Err(Uncaptured::ReturnType),
    }
}

/// A text in a function that has been read.
pub struct Text<'a> {
    /// The file that was read.
    pub unit: &'a TranslationUnit,
    /// The function in it.
    pub function: &'a Function,
    /// Where the text stands in the file.
    pub span: Span,
    /// What it is.
    pub kind: PlaceKind,
    /// Functions of the file that may be called: see [`pure_functions`].
    pub pure: &'a BTreeSet<String>,
    /// Its function has variables of which no address can be taken.
    pub has_register: bool,
}

/// Returns the functions of a file that only compute a value. They read no memory through pointers, write
/// only their own variables, do not divide or loop, and call only such functions. Functions named in
/// `excluded` are left out.
pub fn pure_functions(unit: &TranslationUnit, excluded: &BTreeSet<&str>) -> BTreeSet<String> {
    let mut pure = BTreeSet::new();
    loop {
        let before = pure.len();
        for function in &unit.functions {
            let loops = function.stmts.iter().any(|stmt| {
                stmt.kind.loop_body().is_some() || matches!(stmt.kind, StmtKind::Goto(_))
            });
            let scalar = result_type(unit, function.return_type).is_ok_and(|ty| ty.is_some());
            if excluded.contains(function.name.as_str())
                || loops
                || !scalar
                || function.refusal.is_some()
            {
                continue;
            }
            let body = function.body_span;
            let text = Text {
                unit,
                function,
                span: Span::new(body.start + 1, body.end - 1),
                kind: PlaceKind::Statements,
                pure: &pure,
                has_register: scan::has_register(&unit.source, body),
            };
            let mut walker = Walker::new(&text, "", &[]);
            walker.own = function.parameters.clone();
            let walked = walker.stmt(function.body);
            if walked.is_ok() && walker.number == 0 {
                pure.insert(function.name.clone());
            }
        }
        if pure.len() == before {
            return pure;
        }
    }
}

/// Returns a text rewritten so that it can be tried and undone. `labels` are the labels of the original
/// function; their positions are the numbers of the jumps to them.
///
/// # Errors
/// The first reason against it.
pub fn captured(text: &Text<'_>, suffix: &str, labels: &[String]) -> Result<Vec<u8>, Uncaptured> {
    let own = text.span.slice(&text.unit.source).unwrap_or_default();
    let mut walker = Walker::new(text, suffix, labels);
    let covered = match text.kind {
        PlaceKind::Condition | PlaceKind::Value => {
            let root = walker.root_expr().ok_or(Uncaptured::Unread)?;
            walker.expr(root)?;
            vec![text.span]
        }
        PlaceKind::Definitions => return Err(Uncaptured::Declares),
        PlaceKind::Statements => {
            let roots = walker.root_stmts();
            for &root in &roots {
                walker.stmt(root)?;
            }
            roots
                .into_iter()
                .filter_map(|root| text.function.stmt(root).place.editable())
                .collect()
        }
    };
    // Whatever is no part of a statement that was understood.
    let mut at = text.span.start as usize;
    for span in covered {
        if !is_separator(&text.unit.source, at, span.start as usize) {
            return Err(Uncaptured::Unread);
        }
        at = span.end as usize;
    }
    if !is_separator(&text.unit.source, at, text.span.end as usize) {
        return Err(Uncaptured::Unread);
    }
    let mut edits = walker.edits;
    for edit in &mut edits {
        edit.span.start -= text.span.start;
        edit.span.end -= text.span.start;
    }
    // Insertions at one offset keep their order: an inner one that begins where the outer does comes after it.
    apply_edits(own, &in_order(edits)).map_err(|_| Uncaptured::Construct)
}

/// Joins insertions at the same offset, in the order in which they were made.
fn in_order(edits: Vec<Edit>) -> Vec<Edit> {
    let mut joined: Vec<Edit> = Vec::with_capacity(edits.len());
    let mut sorted: Vec<(usize, Edit)> = edits.into_iter().enumerate().collect();
    sorted.sort_by_key(|(number, edit)| (edit.span.start, edit.span.end, *number));
    for (_, edit) in sorted {
        match joined.last_mut() {
            Some(last) if last.span == edit.span && edit.span.is_empty() => {
                last.text.extend_from_slice(&edit.text);
            }
            _ => joined.push(edit),
        }
    }
    joined
}

fn is_separator(source: &[u8], start: usize, end: usize) -> bool {
    let text = source.get(start..end).unwrap_or_default();
    let rest: Vec<u8> = text.iter().copied().filter(|byte| *byte != b';').collect();
    crate::edits::is_blank(&rest)
}

struct Walker<'a> {
    text: &'a Text<'a>,
    pieces: Captured<'a>,
    labels: &'a [String],
    edits: Vec<Edit>,
    /// Variables that the text declares; of a whole function also its parameters.
    own: Vec<VarId>,
    /// `break` stays inside.
    breakable: bool,
    /// `continue` stays inside.
    continuable: bool,
    number: usize,
    /// What has been put round which spans.
    wrapped: BTreeMap<Span, BTreeSet<Wrap>>,
}

/// What is put round an expression or a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrap {
    Iteration,
    Divisor,
    Read,
    Write,
    Call,
}

impl Wrap {
    /// Of two round the same text the one with the higher level lies in the other.
    fn level(self) -> u8 {
        match self {
            Wrap::Iteration => 0,
            Wrap::Divisor => 1,
            Wrap::Read | Wrap::Write | Wrap::Call => 2,
        }
    }
}

impl<'a> Walker<'a> {
    fn new(text: &'a Text<'a>, suffix: &'a str, labels: &'a [String]) -> Self {
        Walker {
            text,
            pieces: Captured::new(suffix),
            labels,
            edits: Vec::new(),
            own: Vec::new(),
            breakable: false,
            continuable: false,
            number: 0,
            wrapped: BTreeMap::new(),
        }
    }

    fn function(&self) -> &Function {
        self.text.function
    }

    /// The statements of the text that lie in no other statement of it, in order.
    fn root_stmts(&self) -> Vec<StmtId> {
        let function = self.text.function;
        let inside = |id: StmtId| {
            let place = function.stmt(id).place.editable();
            place.is_some_and(|span| self.text.span.contains_span(span))
        };
        let mut roots = Vec::new();
        let mut todo = vec![function.body];
        while let Some(id) = todo.pop() {
            if inside(id) {
                roots.push(id);
                continue;
            }
            todo.extend(function.stmt(id).kind.inner());
        }
        roots.sort_by_key(|id| function.stmt(*id).place.editable().map(|span| span.start));
        roots
    }

    /// The expression that is the whole text.
    fn root_expr(&self) -> Option<ExprId> {
        let function = self.text.function;
        let skip = |at: u32| {
            patchwright_csource::lex::skip_blank(&self.text.unit.source, at as usize) as u32
        };
        let start = skip(self.text.span.start);
        let covers = |id: &ExprId| {
            let span = function.expr(*id).place.editable();
            span.is_some_and(|span| {
                span.start == start
                    && self.text.span.contains_span(span)
                    && skip(span.end) >= self.text.span.end
            })
        };
        // Conversions have the span of their operand.
        let all = (0..function.exprs.len() as u32).map(ExprId);
        let covering: Vec<ExprId> = all.filter(covers).collect();
        let children = covering.iter().flat_map(|id| function.children(*id));
        let below: BTreeSet<ExprId> = children.collect();
        let mut outermost = covering.iter().filter(|id| !below.contains(id));
        let root = outermost.next()?;
        outermost.next().is_none().then_some(*root)
    }

    /// Notes that the text of `span` gets this round it; `false` if it has it already: a macro that repeats its argument has
    /// an expression for each use of one text.
    ///
    /// # Errors
    /// The uses need different things round them, which would not lie in one another.
    fn wraps(&mut self, span: Span, wrap: Wrap) -> Result<bool, Uncaptured> {
        let known = self.wrapped.entry(span).or_default();
        if known.contains(&wrap) {
            return Ok(false);
        }
        if known.iter().any(|other| other.level() >= wrap.level()) {
            return Err(Uncaptured::Macro);
        }
        known.insert(wrap);
        Ok(true)
    }

    fn next_number(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn stmt(&mut self, id: StmtId) -> Result<(), Uncaptured> {
        let stmt = self.text.function.stmt(id);
        let place = stmt.place;
        let written = move || place.editable().ok_or(Uncaptured::Macro);
        match &stmt.kind {
            StmtKind::Compound(list) => {
                for &stmt in list {
                    self.stmt(stmt)?;
                }
            }
            StmtKind::Declaration(variables) => {
                for &id in variables {
                    let variable = self.text.unit.variable(id);
                    let scalar = matches!(
                        self.text.unit.types.kind(variable.ty),
                        TypeKind::Integer(_)
                            | TypeKind::Enum { .. }
                            | TypeKind::Float(_)
                            | TypeKind::Pointer(_)
                    );
                    // Nobody sees what the function of a `cleanup` does.
                    let has_cleanup = self.text.function.details.cleanups.contains_key(&id);
                    if variable.storage != Storage::Local || !scalar || has_cleanup {
                        return Err(Uncaptured::Declares);
                    }
                    self.check_type(variable.ty)?;
                    self.own.push(id);
                    if let Some(initializer) = variable.initializer {
                        self.expr(initializer)?;
                    }
                }
            }
            StmtKind::Expression(expr) => self.expr(*expr)?,
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.expr(*condition)?;
                self.stmt(*then)?;
                if let Some(otherwise) = otherwise {
                    self.stmt(*otherwise)?;
                }
            }
            StmtKind::While { condition, body } | StmtKind::Do { body, condition } => {
                self.expr(*condition)?;
                self.loop_body(*body)?;
            }
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => {
                if let Some(init) = init {
                    self.stmt(*init)?;
                }
                for expr in [condition, increment].into_iter().flatten() {
                    self.expr(*expr)?;
                }
                self.loop_body(*body)?;
            }
            StmtKind::Switch { condition, body } => {
                self.expr(*condition)?;
                let outer = std::mem::replace(&mut self.breakable, true);
                self.stmt(*body)?;
                self.breakable = outer;
            }
            StmtKind::Case(body) | StmtKind::Default(body) => self.stmt(*body)?,
            StmtKind::Label { .. } => return Err(Uncaptured::Labels),
            StmtKind::Goto(label) => {
                let number = self.labels.iter().position(|known| known == label);
                let number = number.ok_or(Uncaptured::Labels)?;
                self.jump(written()?, CONTROL_GOTO + number as u32);
            }
            StmtKind::Break if self.breakable => {}
            StmtKind::Continue if self.continuable => {}
            StmtKind::Break => self.jump(written()?, CONTROL_BREAK),
            StmtKind::Continue => self.jump(written()?, CONTROL_CONTINUE),
            StmtKind::Return(None) => self.jump(written()?, CONTROL_RETURN),
            StmtKind::Return(Some(value)) => {
                let result = result_type(self.text.unit, self.text.function.return_type)?;
                if result.is_none() {
                    return Err(Uncaptured::Construct);
                }
                let whole = written()?;
                self.expr(*value)?;
                // Implicit conversions round the operand have its span.
                let operand = self.function().expr(*value).place.editable();
                let operand = operand.ok_or(Uncaptured::Macro)?;
                let (before, after) = self.pieces.returned();
                // In front of what the operand has had inserted.
                self.edits
                    .push(Edit::replace(Span::new(whole.start, operand.start), before));
                self.edits
                    .push(Edit::replace(Span::new(operand.end, whole.end), after));
            }
            StmtKind::Null => {}
            StmtKind::Other { .. } => return Err(Uncaptured::Assembly),
        }
        Ok(())
    }

    fn jump(&mut self, span: Span, control: u32) {
        let text = self.pieces.jump(control);
        self.edits.push(Edit::replace(span, text));
    }

    fn loop_body(&mut self, body: StmtId) -> Result<(), Uncaptured> {
        let span = self.function().stmt(body).place.editable();
        let span = span.ok_or(Uncaptured::Macro)?;
        if !self.wraps(span, Wrap::Iteration)? {
            return Ok(());
        }
        let outer = (self.breakable, self.continuable);
        (self.breakable, self.continuable) = (true, true);
        let (before, after) = self.pieces.iteration();
        self.edits.push(Edit::insert(span.start, before));
        self.stmt(body)?;
        self.edits.push(Edit::insert(span.end, after));
        (self.breakable, self.continuable) = outer;
        Ok(())
    }

    fn check_type(&self, ty: TypeId) -> Result<(), Uncaptured> {
        let qualifiers = self.text.unit.types.qualifiers(ty);
        if qualifiers.is_volatile || qualifiers.is_atomic {
            return Err(Uncaptured::Volatile);
        }
        Ok(())
    }

    fn expr(&mut self, id: ExprId) -> Result<(), Uncaptured> {
        let expr: &Expr = self.text.function.expr(id);
        if !expr.evaluated {
            return Ok(());
        }
        self.check_type(expr.ty)?;
        if let Some(argument) = self.classified(id) {
            return self.checked_call(&[(argument, Parameter::Int)], &|pieces, first| {
                let value = format!("__pw_p{first}");
                pieces.checked_value(&out_of_table(&value), &value)
            });
        }
        match &expr.kind {
            ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String
            | ExprKind::Variable(_)
            | ExprKind::Function(_)
            | ExprKind::CompilerConstant => Ok(()),
            ExprKind::Member { base, .. } => self.expr(*base),
            ExprKind::Subscript { base, index } => {
                self.expr(*base)?;
                self.expr(*index)
            }
            ExprKind::Unary { operator, operand } => match operator {
                UnaryOperator::Step => self.write(*operand),
                UnaryOperator::AddressOf => {
                    if self
                        .root(*operand)
                        .is_some_and(|root| self.own.contains(&root))
                    {
                        return Err(Uncaptured::Declares);
                    }
                    self.expr(*operand)
                }
                UnaryOperator::Other => Err(Uncaptured::Construct),
                _ => self.expr(*operand),
            },
            ExprKind::Binary {
                operator,
                left,
                right,
            } => {
                self.expr(*left)?;
                let divides = matches!(operator, BinaryOperator::Div | BinaryOperator::Rem);
                if divides {
                    self.divisor(*right)
                } else {
                    self.expr(*right)
                }
            }
            ExprKind::Assign {
                operator,
                target,
                value,
            } => {
                self.write(*target)?;
                match operator {
                    Some(BinaryOperator::Div | BinaryOperator::Rem) => self.divisor(*value),
                    _ => self.expr(*value),
                }
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.expr(*condition)?;
                self.expr(*then)?;
                self.expr(*otherwise)
            }
            ExprKind::Cast { operand, cast, .. } => match cast {
                CastKind::LValueToRValue => self.read(*operand),
                CastKind::Other => Err(Uncaptured::Construct),
                _ => self.expr(*operand),
            },
            ExprKind::Paren(inner) => self.expr(*inner),
            ExprKind::Call {
                callee, arguments, ..
            } => {
                let callee = self.text.function.stripped(*callee);
                let ExprKind::Function(name) = &self.text.function.expr(callee).kind else {
                    return Err(Uncaptured::Call);
                };
                if !self.text.pure.contains(name) {
                    return self.library_call(id, name, arguments);
                }
                for argument in arguments {
                    self.expr(*argument)?;
                }
                Ok(())
            }
            ExprKind::Other {
                kind,
                children,
                body,
                ..
            } => {
                let known = matches!(kind.as_str(), "InitListExpr" | "ConstantExpr");
                if !known || body.is_some() {
                    return Err(Uncaptured::Construct);
                }
                for child in children {
                    self.expr(*child)?;
                }
                Ok(())
            }
        }
    }

    /// An object that is read.
    fn read(&mut self, id: ExprId) -> Result<(), Uncaptured> {
        let expr = self.text.function.expr(id);
        self.check_type(expr.ty)?;
        if self.root(id).is_some() {
            return self.expr(id);
        }
        if self.is_bit_field(id) {
            return Err(Uncaptured::BitField);
        }
        let span = expr.place.editable().ok_or(Uncaptured::Macro)?;
        if !self.wraps(span, Wrap::Read)? {
            return Ok(());
        }
        let number = self.next_number();
        let (before, after) = self.pieces.read(number);
        self.edits.push(Edit::insert(span.start, before));
        self.expr(id)?;
        self.edits.push(Edit::insert(span.end, after));
        Ok(())
    }

    /// An object that is written.
    fn write(&mut self, id: ExprId) -> Result<(), Uncaptured> {
        let expr = self.text.function.expr(id);
        self.check_type(expr.ty)?;
        if let Some(root) = self.root(id)
            && self.own.contains(&root)
        {
            return self.expr(id);
        }
        if self.text.has_register {
            return Err(Uncaptured::Register);
        }
        if self.is_bit_field(id) {
            return Err(Uncaptured::BitField);
        }
        let span = expr.place.editable().ok_or(Uncaptured::Macro)?;
        if !self.wraps(span, Wrap::Write)? {
            return Ok(());
        }
        let number = self.next_number();
        let (before, after) = self.pieces.write(number);
        self.edits.push(Edit::insert(span.start, before));
        self.expr(id)?;
        self.edits.push(Edit::insert(span.end, after));
        Ok(())
    }

    fn divisor(&mut self, id: ExprId) -> Result<(), Uncaptured> {
        let expr = self.text.function.expr(id);
        let is_integer = self.text.unit.types.integer_kind(expr.ty).is_some();
        let stripped = self.text.function.stripped(id);
        if let ExprKind::Integer { value, .. } = self.text.function.expr(stripped).kind
            && value > 0
        {
            return Ok(());
        }
        if !is_integer {
            return self.expr(id);
        }
        let span = expr.place.editable().ok_or(Uncaptured::Macro)?;
        if !self.wraps(span, Wrap::Divisor)? {
            return Ok(());
        }
        let number = self.next_number();
        let (before, after) = self.pieces.divisor(number);
        self.edits.push(Edit::insert(span.start, before));
        self.expr(id)?;
        self.edits.push(Edit::insert(span.end, after));
        Ok(())
    }

    /// The variable that an lvalue is, or is a member of; `None` when it lies behind a pointer or an index.
    fn root(&self, id: ExprId) -> Option<VarId> {
        match &self.text.function.expr(id).kind {
            ExprKind::Variable(id) => Some(*id),
            ExprKind::Member {
                base, arrow: false, ..
            } => self.root(*base),
            ExprKind::Paren(inner) => self.root(*inner),
            _ => None,
        }
    }

    fn is_bit_field(&self, id: ExprId) -> bool {
        match &self.text.function.expr(id).kind {
            ExprKind::Member { bit_field, .. } => *bit_field,
            ExprKind::Paren(inner) => self.is_bit_field(*inner),
            _ => false,
        }
    }
}
