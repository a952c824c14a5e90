//! Chooses where the alternatives of a function stand: the smallest run of statements, or the condition,
//! that contains an edit.
//!
//! The text of a run, and every alternative of it, must mean the same in a block of its own as in place.
//! So a run meets these conditions:
//!
//! * It begins and ends between statements of one compound statement.
//! * What it declares is not used behind it.
//! * Nothing jumps into it.
//! * Directives in it are balanced.
//!
//! If no run of a compound statement fits, the enclosing compound statement is tried, up to the whole
//! body.

use std::collections::BTreeSet;

use patchwright_csource::{
    ExprId, Function, Part, Place, Role, Slot, Stmt, StmtId, StmtKind, Storage, TranslationUnit,
    VarId, lex, types::TypeKind,
};
use patchwright_text::{Edit, Span, apply_edits};
use patchwright_weave::{PlaceKind, can_duplicate};

use crate::scan::{Ends, has_outer, has_outer_case, labels, looks_like_declaration};

/// A place that contains an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Run {
    /// Its original text.
    pub span: Span,
    /// What stands there.
    pub kind: PlaceKind,
    /// It reaches to the end of its compound statement, so that it may declare what it likes.
    pub to_the_end: bool,
}

/// A statement of a compound statement. Labels before it are not part of it.
struct Sibling {
    span: Span,
    /// Where its first label begins; without one, its own start.
    start: u32,
    /// Labels stand before it.
    labelled: bool,
    /// It cannot be parted from the next.
    joined: bool,
    declares: bool,
    stmt: StmtId,
}

/// Finds the places in one function that can hold the alternatives of patches.
pub struct Finder<'a> {
    unit: &'a TranslationUnit,
    source: &'a [u8],
    function: &'a Function,
    /// `goto`s with the offset where they stand (the end of the file if it is not known).
    gotos: Vec<(String, u32)>,
    /// Labels that patches jump to, from wherever.
    aims: BTreeSet<String>,
}

impl<'a> Finder<'a> {
    /// Prepares a function of a file. Patches jump to the labels `aims`.
    pub fn new(unit: &'a TranslationUnit, function: &'a Function, aims: BTreeSet<String>) -> Self {
        let source = unit.source.as_slice();
        let gotos = function
            .stmts
            .iter()
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Goto(label) => {
                    let at = extent(stmt).map_or(source.len() as u32, |span| span.start);
                    Some((label.clone(), at))
                }
                _ => None,
            })
            .collect();
        Self {
            unit,
            source,
            function,
            gotos,
            aims,
        }
    }

    /// Returns the place for edits that are one alternative. They are sorted, and lie between the
    /// braces of the function's body.
    pub fn find(&self, edits: &[Edit]) -> Run {
        let edit = &Covering::new(edits);
        self.in_compound(self.function.body, edit)
            .unwrap_or_else(|| self.whole_body())
    }

    /// Returns the body between its braces as a place.
    pub fn whole_body(&self) -> Run {
        let body = self.function.body_span;
        Run {
            span: Span::new(body.start + 1, body.end - 1),
            kind: PlaceKind::Statements,
            to_the_end: true,
        }
    }

    fn slice(&self, span: Span) -> &'a [u8] {
        span.slice(self.source).unwrap_or_default()
    }

    /// The statements of a compound statement; `None` when some of them cannot be told apart in the text.
    fn siblings(&self, compound: StmtId) -> Option<(Span, Vec<Sibling>)> {
        let stmt = self.function.stmt(compound);
        let StmtKind::Compound(children) = &stmt.kind else {
            return None;
        };
        let outer = if compound == self.function.body {
            self.function.body_span
        } else {
            written(stmt)?
        };
        let inner = Span::new(outer.start + 1, outer.end.checked_sub(1)?);
        let mut siblings: Vec<Sibling> = Vec::with_capacity(children.len());
        for &child in children {
            let stmt = self.function.behind_labels(child);
            let labelled = stmt != child;
            let whole = extent(self.function.stmt(child))?;
            let own = extent(self.function.stmt(stmt))?;
            let span = Span::new(own.start, own.end.max(whole.end));
            if !inner.contains_span(span)
                || siblings
                    .last()
                    .is_some_and(|last| last.span.end > span.start)
            {
                return None;
            }
            siblings.push(Sibling {
                span,
                start: whole.start.min(span.start),
                labelled,
                joined: false,
                declares: matches!(
                    self.function.stmt(stmt).kind,
                    StmtKind::Declaration(_) | StmtKind::Other { .. }
                ),
                stmt,
            });
        }
        // A macro of which nothing is left stands before the first statement (or the semicolon behind it), and its
        // arguments are no place for anything.
        if let Some(first) = siblings.first_mut().filter(|first| !first.labelled) {
            let at = lex::skip_blank(self.source, inner.start as usize);
            if self.source.get(at) != Some(&b'#') {
                first.span.start = first.span.start.min(at as u32);
                first.start = first.span.start;
            }
        }
        // Semicolons behind a macro that is a statement belong to it.
        for number in 0..siblings.len() {
            let end = siblings[number].span.end;
            let next = siblings
                .get(number + 1)
                .map_or(inner.end, |next| next.span.start);
            let mut at = lex::skip_blank(self.source, end as usize);
            if at < next as usize && self.source[at] == b';' {
                siblings[number].span.end = at as u32 + 1;
                at = lex::skip_blank(self.source, at + 1);
            }
            let labelled = siblings.get(number + 1).is_some_and(|next| next.labelled);
            let directive = self.source.get(at) == Some(&b'#');
            siblings[number].joined = at < next as usize && !labelled && !directive;
        }
        Some((inner, siblings))
    }

    fn in_compound(&self, compound: StmtId, edit: &Covering<'_>) -> Option<Run> {
        let (inner, siblings) = self.siblings(compound)?;
        let at = edit.span;
        if !inner.contains_span(at) {
            return None;
        }
        let around = siblings
            .iter()
            .find(|sibling| sibling.span.start < at.start && at.end < sibling.span.end);
        if let Some(sibling) = around
            && let Some(run) = self.inside(sibling.stmt, edit)
        {
            return Some(run);
        }
        let mut touched = (0..siblings.len()).filter(|number| {
            let span = siblings[*number].span;
            span.overlaps(at) || (span.start < at.start && at.end < span.end)
        });
        let mut range = touched
            .next()
            .map(|first| (first, touched.next_back().unwrap_or(first)));
        // Adds a neighbour until the run will do.
        loop {
            let run = self.run(inner, &siblings, range, edit);
            match run {
                Ok(run) => return Some(run),
                Err(Short::Up) => return None,
                Err(Short::Before) => {
                    let first = match range {
                        Some((first, _)) => first,
                        None => siblings
                            .iter()
                            .take_while(|s| s.span.end <= at.start)
                            .count(),
                    };
                    let before = first.checked_sub(1)?;
                    range = Some((before, range.map_or(before, |(_, last)| last)));
                }
                Err(Short::Behind) => {
                    let behind = match range {
                        Some((_, last)) => last + 1,
                        None => siblings
                            .iter()
                            .take_while(|s| s.span.end <= at.start)
                            .count(),
                    };
                    if behind >= siblings.len() {
                        return None;
                    }
                    range = Some((range.map_or(behind, |(first, _)| first), behind));
                }
                Err(Short::End) => {
                    let first = match range {
                        Some((first, _)) => first,
                        None => siblings
                            .iter()
                            .take_while(|s| s.span.end <= at.start)
                            .count(),
                    };
                    if first >= siblings.len() {
                        return None;
                    }
                    range = Some((first, siblings.len() - 1));
                }
            }
        }
    }

    /// The run of these siblings (or of none), if it will do.
    fn run(
        &self,
        inner: Span,
        siblings: &[Sibling],
        range: Option<(usize, usize)>,
        edit: &Covering<'_>,
    ) -> Result<Run, Short> {
        let mut span = edit.span;
        let mut to_the_end = false;
        if let Some((first, last)) = range {
            span = Span::new(
                span.start.min(siblings[first].span.start),
                span.end.max(siblings[last].span.end),
            );
            if siblings[last].joined {
                return Err(Short::Behind);
            }
            if first > 0 && siblings[first - 1].joined {
                return Err(Short::Before);
            }
            to_the_end = last + 1 == siblings.len();
            if to_the_end {
                span.end = inner.end;
            }
            if !to_the_end && siblings[first..=last].iter().any(|s| s.declares) {
                return Err(Short::End);
            }
            if self.is_entered(span) {
                return Err(Short::Up);
            }
            // Labels of the enclosing switch or function between the statements of the run.
            if siblings[first + 1..=last].iter().any(|s| s.labelled)
                && self.has_case_between(siblings, first, last)
            {
                return Err(Short::Up);
            }
        } else {
            let before = siblings.iter().rfind(|s| s.span.end <= span.start);
            if before.is_some_and(|s| s.joined) {
                return Err(Short::Before);
            }
            // Amid labels.
            if siblings
                .iter()
                .any(|s| s.start < span.start && span.start < s.span.start)
            {
                return Err(Short::Up);
            }
            if siblings
                .last()
                .is_none_or(|last| last.span.end <= span.start)
            {
                to_the_end = true;
                span.end = inner.end;
            }
        }
        // What is replaced outside of the statements: nothing but blanks.
        let (outside_before, outside_behind) = match range {
            Some((first, last)) => (
                Span::new(span.start, siblings[first].span.start.max(span.start)),
                Span::new(siblings[last].span.end.min(span.end), span.end),
            ),
            None => (span, Span::empty(span.end)),
        };
        for outside in [outside_before, outside_behind] {
            let text = self.slice(outside);
            if !crate::edits::is_blank(text) && text.trim_ascii_start().first() != Some(&b'#') {
                return Err(Short::Up);
            }
        }
        let alternative = edit.alternative(self.source, span);
        for text in [self.slice(span), &alternative] {
            if !lex::is_balanced_in_branches(text) || can_duplicate(&braced(text)).is_err() {
                return Err(Short::Up);
            }
        }
        if !to_the_end && looks_like_declaration(&alternative) {
            return Err(Short::End);
        }
        // A `switch` has each value once, and a label its jumps in the same text.
        let leaves = |label: &String| {
            let mut gotos = self.gotos.iter();
            gotos.any(|(aim, at)| aim == label && !span.contains(*at))
        };
        if has_outer_case(&alternative) || labels(&alternative).iter().any(leaves) {
            return Err(Short::Up);
        }
        let tokens = Ends::of(&alternative);
        if tokens.first_word == Some("else".into()) {
            return Err(Short::Before);
        }
        if !matches!(tokens.last, None | Some(b';' | b'}')) {
            return Err(if to_the_end { Short::Up } else { Short::Behind });
        }
        Ok(Run {
            span,
            kind: PlaceKind::Statements,
            to_the_end,
        })
    }

    /// Whether labels in the span are the aim of jumps from outside, or cases of a switch outside of it.
    fn is_entered(&self, span: Span) -> bool {
        self.function.stmts.iter().any(|stmt| {
            let StmtKind::Label { name, .. } = &stmt.kind else {
                return false;
            };
            let inside = extent(stmt).is_none_or(|at| span.contains(at.start));
            let from_outside = |(label, at): &(String, u32)| label == name && !span.contains(*at);
            inside && (self.aims.contains(name) || self.gotos.iter().any(from_outside))
        })
    }

    fn has_case_between(&self, siblings: &[Sibling], first: usize, last: usize) -> bool {
        let span = Span::new(siblings[first].span.end, siblings[last].span.start);
        self.function.stmts.iter().any(|stmt| {
            matches!(stmt.kind, StmtKind::Case(_) | StmtKind::Default(_))
                && extent(stmt).is_none_or(|at| {
                    // Those between the siblings; cases of switches inside of a sibling are its own.
                    span.contains(at.start)
                        && !siblings[first..=last]
                            .iter()
                            .any(|s| s.span.contains(at.start))
                })
        })
    }

    /// A place inside of a statement.
    fn inside(&self, stmt: StmtId, edit: &Covering<'_>) -> Option<Run> {
        let kind = &self.function.stmt(stmt).kind;
        if matches!(kind, StmtKind::Compound(_)) {
            return self.in_compound(stmt, edit);
        }
        kind.parts().into_iter().find_map(|part| match part {
            Part::Statement(init, Slot::Init) => self.inside(init, edit),
            Part::Statement(body, Slot::Arm | Slot::Loop | Slot::Switch) => {
                let span = written(self.function.stmt(body))?;
                let within = span.start < edit.span.start && edit.span.end < span.end;
                within.then(|| self.inside(body, edit))?
            }
            Part::Expression(condition, Role::Condition) => {
                match self.function.expr(condition).place {
                    Place::Written(span) => self.condition(span, edit),
                    _ => None,
                }
            }
            Part::Variable(variable) => self.value(stmt, variable, edit),
            _ => None,
        })
    }

    fn condition(&self, span: Span, edit: &Covering<'_>) -> Option<Run> {
        // Nothing outside changes its meaning.
        let (before, behind) = self.neighbours(span);
        let delimited = matches!(before, Some(b'(' | b';')) && matches!(behind, Some(b')' | b';'));
        self.expression(span, edit, b";", PlaceKind::Condition)
            .filter(|_| delimited)
    }

    /// What a variable of this declaration begins with. What stands behind the declaration is not part of it.
    fn value(&self, stmt: StmtId, variable: VarId, edit: &Covering<'_>) -> Option<Run> {
        let span = value_span(self.unit, self.function, variable)?;
        let (before, behind) = self.neighbours(span);
        let delimited = before == Some(&b'=') && matches!(behind, Some(b',' | b';'));
        let declaration = written(self.function.stmt(stmt))?;
        let has_own_type = |text: &[u8]| {
            let words = lex::words(text);
            words
                .iter()
                .any(|word| word.ends_with("auto_type") || word == "auto")
        };
        if !delimited || has_own_type(self.slice(declaration)) {
            return None;
        }
        let run = self.expression(span, edit, b",;", PlaceKind::Value)?;
        let alternative = edit.alternative(self.source, span);
        let is_list = alternative.get(lex::skip_blank(&alternative, 0)) == Some(&b'{');
        (!is_list).then_some(run)
    }

    /// What stands before and behind a span, blanks aside.
    fn neighbours(&self, span: Span) -> (Option<&u8>, Option<&u8>) {
        let before = self.source[..span.start as usize].trim_ascii_end().last();
        let behind = lex::skip_blank(self.source, span.end as usize);
        (before, self.source.get(behind))
    }

    /// A place for a whole expression, unless an alternative of it would have tokens that end it.
    fn expression(
        &self,
        span: Span,
        edit: &Covering<'_>,
        ends: &[u8],
        kind: PlaceKind,
    ) -> Option<Run> {
        if !span.contains_span(edit.span) {
            return None;
        }
        let alternative = edit.alternative(self.source, span);
        let plain = [self.slice(span), &alternative].into_iter().all(|text| {
            lex::is_balanced(text, true)
                && can_duplicate(&braced(text)).is_ok()
                && !crate::edits::is_blank(text)
                && !text.contains(&b'#')
                && !has_outer(text, ends)
        });
        plain.then_some(Run {
            span,
            kind,
            to_the_end: false,
        })
    }
}

/// Returns the place of a variable's first value, if an assignment could give that value too. The variable must be a number or a pointer
/// that lives as long as its block.
fn value_span(unit: &TranslationUnit, function: &Function, variable: VarId) -> Option<Span> {
    let variable = unit.variable(variable);
    let is_scalar = matches!(
        unit.types.kind(variable.ty),
        TypeKind::Integer(_) | TypeKind::Enum { .. } | TypeKind::Float(_) | TypeKind::Pointer(_)
    );
    let qualifiers = unit.types.qualifiers(variable.ty);
    let is_plain = !(qualifiers.is_const || qualifiers.is_volatile || qualifiers.is_atomic);
    let initializer: ExprId = variable.initializer?;
    let is_own = variable.storage == Storage::Local && !variable.thread_local;
    let place = function.expr(initializer).place;
    place_extent(place).filter(|_| is_scalar && is_plain && is_own)
}

/// Returns the C type of the expression at a [`PlaceKind::Value`] of a function.
pub fn value_type(unit: &TranslationUnit, function: &Function, span: Span) -> Option<String> {
    let declared = function.stmts.iter().flat_map(|stmt| match &stmt.kind {
        StmtKind::Declaration(variables) => variables.as_slice(),
        _ => &[],
    });
    let mut variables = declared.filter(|id| value_span(unit, function, **id) == Some(span));
    let name = &unit.variable(*variables.next()?).name;
    Some(format!("__typeof__({name})"))
}

/// Why a run will not do.
enum Short {
    /// The sibling before it belongs to it.
    Before,
    /// The sibling behind it belongs to it.
    Behind,
    /// All siblings behind it belong to it.
    End,
    /// No run of this compound statement will do.
    Up,
}

/// Edits as one.
struct Covering<'a> {
    span: Span,
    edits: &'a [Edit],
}

impl<'a> Covering<'a> {
    fn new(edits: &'a [Edit]) -> Self {
        let start = edits.first().map_or(0, |edit| edit.span.start);
        let end = edits.last().map_or(0, |edit| edit.span.end);
        let span = Span::new(start, end);
        Self { span, edits }
    }

    fn alternative(&self, source: &[u8], span: Span) -> Vec<u8> {
        alternative(source, span, self.edits)
    }
}

/// Returns the text of `span` after `edits`, which lie in it.
pub fn alternative(source: &[u8], span: Span, edits: &[Edit]) -> Vec<u8> {
    let moved: Vec<Edit> = edits
        .iter()
        .map(|edit| {
            let moved = Span::new(edit.span.start - span.start, edit.span.end - span.start);
            Edit::replace(moved, edit.text.clone())
        })
        .collect();
    let text = span.slice(source).unwrap_or_default();
    apply_edits(text, &moved).expect("the edits of a place lie in it, in order")
}

fn braced(text: &[u8]) -> Vec<u8> {
    [b"{\n", text, b"\n}"].concat()
}

/// The span of a node that is written in the file.
fn written(stmt: &Stmt) -> Option<Span> {
    match stmt.place {
        Place::Written(span) => Some(span),
        _ => None,
    }
}

/// Returns the span of a statement, or of the macro invocation from which it comes.
pub fn extent(stmt: &Stmt) -> Option<Span> {
    place_extent(stmt.place)
}

fn place_extent(place: Place) -> Option<Span> {
    match place {
        Place::Written(span) => Some(span),
        Place::MacroArgument { invocation, .. }
        | Place::MacroBody { invocation }
        | Place::Stringified { invocation }
        | Place::SeveralMeanings { invocation } => Some(invocation),
        Place::OtherFile | Place::Unknown | Place::Disagreement => None,
    }
}
