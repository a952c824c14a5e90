//! Changes that are no terms: their text is woven in, one number for each.
//!
//! INITIALIZATION, FUNCTION, SWAP, FORMAT, OPERATOR, BREAK, LOOP and MOVE have few candidates at a location, and each does something of its own, so
//! their classes are themselves: such a hole has no atoms, the value that fills it is the number of an alternative
//! (0 is the original), and what a test sees there is one empty state. The exits of [`crate::exits`] have a
//! condition, whose values make classes as those of guards do.

use std::collections::BTreeMap;

use patchwright_csource::{
    ExprId, ExprKind, Function, Place, Scope, ScopeMap, StmtId, StmtKind, VarId, lex,
};
use patchwright_text::{Edit, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    both_sides, calls, connectives, counterparts, directions,
    distant::Shown,
    distinct, else_assigned, else_joined, else_moved, else_reordered,
    endings::last_statements,
    exchanged_names, exits, extremes, first_values, function_values,
    holes::{Hole, HoleKind},
    initialization,
    insertion::insertion_after,
    jumps, labels, letter_digits, limits, links, loops, moves, negative_remainders, newlines,
    next_keys, null_pointers, operators, other_jumps, others, own_calls, predicates, ranges,
    remainders, renames, repetitions, resets, results, same_operator, second_calls, sizes,
    slots::{AtomBuilder, Atoms},
    space::{Schema, Schemas},
    strings, subscripts, targets,
    term::{CType, Context},
    widenings, wording, wraps,
};

/// A change whose text is woven in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The kind of change.
    pub schema: Schema,
    /// Its cost in nodes.
    pub cost: u32,
    /// C text: an expression or statements, as [`Form`] says. `__PW_LINKED` and `__pw_absent` are names of the glue.
    pub woven: String,
    /// The change of the source.
    pub edit: Edit,
}

/// What the alternatives of a location are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Expressions that are evaluated instead of the one that is there. Their value is of the hole's type; it is not
    /// used if the hole has none.
    Expression,
    /// Functions whose address is taken instead of that of the function of this name; all are of its type.
    FunctionPointer {
        /// The function that is there.
        named: String,
    },
    /// Statements that are executed before the one that is there.
    Before {
        /// The statement stands alone where the grammar wants one.
        is_body: bool,
    },
    /// Statements that are executed instead of the one that is there.
    Instead,
    /// Statements that are executed after the declaration that is there.
    After {
        /// The variables that it declares without a value.
        unset: Vec<String>,
    },
    /// The statement itself, executed at another place of its block: for each alternative where that is.
    Moved(Vec<Destination>),
}

/// Where a statement can be moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The statement of the same block beside which it comes to stand.
    pub beside: Span,
    /// After that one, not before it.
    pub after: bool,
}

/// A location with changes that are no terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What its alternatives are.
    pub form: Form,
    /// They; the number of the first is 1.
    pub alternatives: Vec<Alternative>,
}

/// Which functions can be called in place of others.
pub struct Callees<'a> {
    /// Functions that the source defines, or calls already: its object code can name them.
    pub direct: &'a FxHashSet<String>,
    /// Functions that the source defines, and that say yes or no.
    pub predicates: &'a FxHashSet<String>,
    /// Functions that the source defines, each with those that it calls, itself or in turn.
    pub defined: &'a FxHashMap<String, FxHashSet<String>>,
    /// Whether some part of the program defines or imports a function of this name.
    pub linked: &'a dyn Fn(&str) -> bool,
}

/// The locations of [`choices()`], and what is left alone.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The locations.
    pub holes: Vec<Hole>,
    /// Number of changes that were left alone, by reason.
    pub refused: BTreeMap<&'static str, usize>,
}

impl Choices {
    pub(crate) fn refuse(&mut self, reason: &'static str) {
        *self.refused.entry(reason).or_default() += 1;
    }
}

/// A statement, and what it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) id: StmtId,
    /// Its text.
    pub(crate) span: Span,
    /// It stands alone where the grammar wants one statement.
    pub(crate) is_body: bool,
    /// Its block, and its place there; `None` for bodies.
    pub(crate) block: Option<(StmtId, usize)>,
    /// `continue` can stand here, and does not lead to the end of a function that gives a value.
    pub(crate) in_loop: bool,
    /// `break` can stand here, and does not lead there either.
    pub(crate) breakable: bool,
    /// What can be named here.
    pub(crate) scope: Scope,
}

/// What the schemas of this module look at.
pub(crate) struct Finder<'b, 'a, 'f> {
    pub(crate) builder: &'b mut AtomBuilder<'a>,
    pub(crate) function_index: usize,
    pub(crate) function: &'f Function,
    pub(crate) statements: Vec<Standing>,
    /// What the tests show.
    pub(crate) shown: &'f Shown,
    pub(crate) found: Choices,
}

/// Finds the locations of `function` for the changes among `schemas` that are no terms. `shown` is what the tests show.
pub fn choices(
    builder: &mut AtomBuilder<'_>,
    function_index: usize,
    function: &Function,
    scopes: &ScopeMap,
    schemas: Schemas,
    callees: &Callees<'_>,
    shown: &Shown,
) -> Choices {
    let mut statements = Vec::new();
    let last = last_statements(builder.unit, function);
    let mut walker = Walker {
        function,
        scopes,
        last: &last,
        found: &mut statements,
    };
    walker.stmt(function.body, None, true, Surroundings::default());
    let mut finder = Finder {
        builder,
        function_index,
        function,
        statements,
        shown,
        found: Choices::default(),
    };
    if schemas.initialization {
        initialization::find(&mut finder);
        resets::find(&mut finder);
        first_values::find(&mut finder, callees);
    }
    if schemas.function || schemas.swap || schemas.initialization || schemas.format {
        calls::find(&mut finder, schemas, callees);
    }
    if schemas.function {
        wraps::find(&mut finder, callees);
        both_sides::find(&mut finder, callees);
        own_calls::find(&mut finder, callees);
        function_values::find(&mut finder, callees);
        second_calls::find(&mut finder, callees);
        strings::find(&mut finder);
    }
    if schemas.format {
        wording::find(&mut finder);
        newlines::find(&mut finder);
    }
    if schemas.swap {
        subscripts::find(&mut finder);
        exchanged_names::find(&mut finder);
    }
    if schemas.refinement {
        predicates::find(&mut finder, callees);
    }
    if schemas.assignment {
        remainders::find(&mut finder);
        targets::find(&mut finder);
        limits::find(&mut finder);
        extremes::find(&mut finder);
        ranges::find(&mut finder);
    }
    if schemas.expression {
        widenings::find(&mut finder);
        renames::find(&mut finder);
        sizes::find(&mut finder);
        labels::find(&mut finder);
        others::find(&mut finder);
        null_pointers::find(&mut finder);
        letter_digits::find(&mut finder);
    }
    negative_remainders::find(&mut finder, schemas.assignment, schemas.expression);
    if schemas.guard {
        else_assigned::find(&mut finder);
        else_joined::find(&mut finder);
        else_moved::find(&mut finder);
        links::find(&mut finder);
        distinct::find(&mut finder);
    }
    if schemas.operator {
        operators::find(&mut finder);
        same_operator::find(&mut finder);
        connectives::find(&mut finder);
    }
    if schemas.breaks {
        operators::find_breaks(&mut finder);
    }
    if schemas.loops {
        loops::find(&mut finder);
    }
    if schemas.moves {
        moves::find(&mut finder);
        else_reordered::find(&mut finder);
        repetitions::find(&mut finder);
        counterparts::find(&mut finder);
        next_keys::find(&mut finder);
        directions::find(&mut finder);
    }
    if schemas.entries && schemas.exits != Some(exits::Conditions::All) {
        exits::find_entry(&mut finder);
    }
    if schemas.entries {
        jumps::find(&mut finder);
        other_jumps::find(&mut finder);
        results::find(&mut finder, callees);
    }
    if let Some(conditions) = schemas.exits {
        exits::find(&mut finder, conditions);
    }
    finder.found
}

impl Finder<'_, '_, '_> {
    /// The variables that the function declares or mentions, some of them several times.
    pub(crate) fn variables(&self) -> impl Iterator<Item = VarId> {
        let mentioned = self
            .function
            .exprs
            .iter()
            .filter_map(|expr| match expr.kind {
                ExprKind::Variable(id) => Some(id),
                _ => None,
            });
        self.function.locals.iter().copied().chain(mentioned)
    }

    /// Adds assignments behind a statement, if there are any.
    pub(crate) fn add_behind(&mut self, standing: &Standing, cost: u32, texts: Vec<String>) {
        let source = &self.builder.unit.source;
        let own = self.text(standing.span);
        let alternatives = texts.into_iter().map(|text| Alternative {
            schema: Schema::Assignment,
            cost,
            edit: insertion_after(source, standing.span, standing.is_body, &text),
            woven: format!("{own} {text}"),
        });
        let alternatives = alternatives.collect();
        self.add(standing.span, None, Form::Instead, alternatives);
    }

    /// Adds a location, if it has alternatives.
    pub(crate) fn add(
        &mut self,
        span: Span,
        ctype: Option<CType>,
        form: Form,
        alternatives: Vec<Alternative>,
    ) {
        if alternatives.is_empty() {
            return;
        }
        let is_value = matches!(form, Form::Expression | Form::FunctionPointer { .. });
        if is_value && self.function.is_typed_argument(span) {
            self.found
                .refuse("calls and other values in arguments of macros that look at their types");
            return;
        }
        let kind = HoleKind::Choice(Choice { form, alternatives });
        self.push(span, kind, ctype, Scope::default());
    }

    /// Adds a location whose value is a number.
    pub(crate) fn push(&mut self, span: Span, kind: HoleKind, ctype: Option<CType>, scope: Scope) {
        self.found.holes.push(Hole {
            function: self.function_index,
            span,
            kind,
            context: Context::Convert(CType::Int),
            ctype,
            atoms: Atoms::default(),
            scope,
            expr: None,
            in_macro_argument: false,
            captured: None,
        });
    }

    /// The text of a span as it would stand on one line, without comments: what is compared, repeated, or put into another text. Layout
    /// means nothing in C, so no rule may depend on it.
    pub(crate) fn plain(&self, span: Span) -> String {
        lex::on_one_line(&self.builder.unit.text(span))
    }

    /// Whether a text has no more bytes than that, on one line.
    pub(crate) fn is_short(&self, span: Span, longest: u32) -> bool {
        span.len() <= longest || self.plain(span).len() <= longest as usize
    }

    /// The text of a span of the source, as it is laid out: what is copied with its lines, and what places are counted in.
    pub(crate) fn text(&self, span: Span) -> String {
        self.builder.unit.text(span).into_owned()
    }

    /// Whether a function of this name is declared before the function at hand, and no variable hides it.
    pub(crate) fn can_name(&self, name: &str) -> bool {
        let declared = self.builder.unit.declarations.get(name);
        declared.is_some_and(|declared| {
            !declared.implicit && declared.order < self.function.details.position
        }) && !self.is_hidden(name)
    }

    /// Whether the glue can name the type of a value.
    pub(crate) fn can_spell(&self, ctype: CType) -> bool {
        match ctype {
            CType::Pointer(to) => {
                let pointees = self.builder.types.pointees();
                pointees.pointer_spelling(to).is_some()
            }
            _ => true,
        }
    }

    /// Whether an expression contains statements: repeating it would repeat what they declare.
    pub(crate) fn has_statements(&self, id: ExprId) -> bool {
        matches!(
            self.function.expr(id).kind,
            ExprKind::Other { body: Some(_), .. }
        ) || self
            .function
            .children(id)
            .into_iter()
            .any(|child| self.has_statements(child))
    }

    /// Whether some variable of the function has this name.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        let mut locals = self.function.locals.iter();
        locals.any(|&id| self.builder.unit.variable(id).name == name)
    }
}

#[derive(Clone, Copy, Default)]
struct Surroundings {
    in_loop: bool,
    breakable: bool,
}

struct Walker<'w> {
    function: &'w Function,
    scopes: &'w ScopeMap,
    /// Statements behind which the function would end without a value.
    last: &'w FxHashSet<StmtId>,
    found: &'w mut Vec<Standing>,
}

impl Walker<'_> {
    /// A statement in the block and at the place that are given, or the body of another statement: alone there, unless it is that
    /// of a label in a block.
    fn stmt(
        &mut self,
        id: StmtId,
        block: Option<(StmtId, usize)>,
        is_body: bool,
        around: Surroundings,
    ) {
        let stmt = self.function.stmt(id);
        if let (Place::Written(span), Some(scope)) = (stmt.place, self.scopes.at_stmt(id)) {
            self.found.push(Standing {
                id,
                span,
                is_body,
                block,
                in_loop: around.in_loop,
                breakable: around.breakable,
                scope: scope.clone(),
            });
        }
        match &stmt.kind {
            StmtKind::Compound(inner) => {
                for (place, &stmt) in inner.iter().enumerate() {
                    self.stmt(stmt, Some((id, place)), false, around);
                }
            }
            StmtKind::If {
                then, otherwise, ..
            } => {
                self.stmt(*then, None, true, around);
                if let Some(otherwise) = otherwise {
                    self.stmt(*otherwise, None, true, around);
                }
            }
            StmtKind::While { body, .. }
            | StmtKind::Do { body, .. }
            | StmtKind::For { body, .. } => {
                let around = Surroundings {
                    in_loop: !self.last.contains(body),
                    breakable: !self.last.contains(&id),
                };
                self.stmt(*body, None, true, around);
            }
            StmtKind::Switch { body, .. } => {
                let around = Surroundings {
                    breakable: !self.last.contains(&id),
                    ..around
                };
                self.stmt(*body, None, true, around);
            }
            StmtKind::Case(body) | StmtKind::Default(body) | StmtKind::Label { body, .. } => {
                self.stmt(*body, None, is_body, around);
            }
            _ => {}
        }
    }
}
