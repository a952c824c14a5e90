//! Changes that are no terms: their text is woven in, one number for each.
//!
//! INITIALIZATION, FUNCTION, SWAP, FORMAT, OPERATOR, BREAK, LOOP and MOVE have few candidates at a location. Each candidate does
//! something different, so each is a class of its own. Such a hole has no atoms. Its value is the number of an alternative, 0 for
//! the original text. A test sees one empty state there.
//!
//! The exits of [`crate::exits`] have a condition. Its values form classes, as those of guards do.

use std::collections::BTreeMap;

use patchwright_csource::{ExprId, ExprKind, Function, Scope, StmtId, VarId, lex};
use patchwright_kinds::Kind;
use patchwright_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

pub use crate::alternatives::{Alternative, Choice, Destination, Form};
use crate::{
    distant::Shown,
    holes::{Hole, HoleKind},
    insertion::insertion_after,
    slots::{AtomBuilder, Atoms},
    space::Schema,
    term::{CType, Context},
};

/// The functions that can be called in place of others.
pub struct Callees<'a> {
    /// Functions that the source defines, or calls already: its object code can name them.
    pub direct: &'a FxHashSet<String>,
    /// Functions that the source defines, and that say yes or no.
    pub predicates: &'a FxHashSet<String>,
    /// Functions that the source defines, each with those that it calls, itself or in turn.
    pub defined: &'a FxHashMap<String, FxHashSet<String>>,
    /// Whether some part of the program defines or imports a function of this name.
    pub linked: &'a dyn Fn(&str) -> bool,
    /// The functions of the source.
    pub functions: &'a [Function],
    /// The kinds of change that are data.
    pub kinds: &'a [Kind],
}

/// The locations that [`crate::registry::choices`] found, and what has no location with the reason.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The locations.
    pub holes: Vec<Hole>,
    /// Number of changes that were left alone, by reason.
    pub refused: BTreeMap<&'static str, usize>,
}

impl Choices {
    /// Counts a change that is not tried, with the reason.
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

/// What rules look at, and where they put what they find.
pub(crate) struct Finder<'b, 'a, 'f> {
    pub(crate) builder: &'b mut AtomBuilder<'a>,
    pub(crate) function_index: usize,
    pub(crate) function: &'f Function,
    pub(crate) statements: Vec<Standing>,
    /// What the tests show.
    pub(crate) shown: &'f Shown,
    pub(crate) found: Choices,
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
        self.add_of_kind(span, ctype, (form, None), alternatives);
    }

    /// Adds alternatives of a named kind at a place.
    pub(crate) fn add_of_kind(
        &mut self,
        span: Span,
        ctype: Option<CType>,
        (form, name): (Form, Option<String>),
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
        let kind = HoleKind::Choice(Choice {
            form,
            alternatives,
            name,
        });
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
        let is_one = |id| {
            matches!(
                self.function.expr(id).kind,
                ExprKind::Other { body: Some(_), .. }
            )
        };
        self.function.within(id).any(is_one)
    }

    /// Whether some variable of the function has this name.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        let mut locals = self.function.locals.iter();
        locals.any(|&id| self.builder.unit.variable(id).name == name)
    }
}
