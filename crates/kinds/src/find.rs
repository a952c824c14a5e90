//! Goes through a function for one kind.

use patchwright_csource::{ExprId, ExprKind, StmtId, StmtKind};
use patchwright_text::Edit;

use crate::{
    ask::Here,
    clause::Condition,
    difference::{composed, of_expression, of_statements, replaced},
    layout::delete_statement,
    matches::{Match, Matcher, Value},
    print::Printer,
    read::{Action, Kind},
    syntax::{NodeId, Pattern, Root},
    together,
    tree::{Surroundings, Tree},
};

/// One change of the source that a kind proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What is changed.
    pub target: Target,
    /// The change of the source: an [`Insertion`](Change::Insertion) for [`Target::Before`] and [`Target::After`], else an edit.
    pub change: Change,
}

/// What a change does to the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An edit within what is changed.
    Edit(Edit),
    /// These statements are inserted.
    Insertion(String),
}

/// The part of the tree that a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An expression.
    Expression(ExprId),
    /// Statements in a row, from the first to the last.
    Statements(StmtId, StmtId),
    /// Something is inserted before a statement.
    Before(StmtId),
    /// Something is inserted behind a statement.
    After(StmtId),
    /// A statement is taken out.
    Deleted(StmtId),
}

/// The changes that one kind proposes for a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The changes, each once, in the order of the source text.
    pub found: Vec<Found>,
    /// Whether changes were left out because the kind's `most` was reached.
    pub is_cut: bool,
}

/// A function, prepared for looking for changes of many kinds.
pub struct Finder<'a> {
    pub(crate) tree: Tree<'a>,
}

impl<'a> Finder<'a> {
    /// Indexes the function in `of`, so that [`Finder::find`] is fast for each kind.
    pub fn new(of: &Surroundings<'a>) -> Self {
        Finder {
            tree: Tree::new(of),
        }
    }

    /// Returns the changes that `kind` proposes for the function, at most as many as the kind's `most`.
    pub fn find(&self, kind: &Kind) -> Changes {
        let mut changes = Changes::default();
        let mut add = |found: Found| {
            if changes.found.contains(&found) {
                return true;
            }
            if changes.found.len() == kind.most {
                changes.is_cut = true;
                return false;
            }
            changes.found.push(found);
            true
        };
        let is_possible = kind.conditions.iter().all(|condition| match condition {
            Condition::Declared(name) => self.tree.can_name(name),
            _ => true,
        });
        if !is_possible {
            return changes;
        }
        match kind.together {
            true => together::find(&self.tree, kind, &mut add),
            false => {
                for pattern in &kind.find {
                    let goes_on = match &pattern.root {
                        Root::Expression(root) => {
                            self.in_expressions(kind, (pattern, *root), &mut add)
                        }
                        Root::Statements(_) => self.in_statements(kind, pattern, &mut add),
                    };
                    if !goes_on {
                        break;
                    }
                }
            }
        }
        changes
    }

    /// Returns the smallest expression around `id` that has a value of its own, and whether the program ignores that value. For the
    /// target `b[j]` of an assignment that is the assignment `b[j] = 1`, for a function's name it is the call.
    pub fn value_around(&self, id: ExprId) -> Option<(ExprId, bool)> {
        let tree = &self.tree;
        let function = tree.function;
        let mut at = tree.with_conversions(id);
        loop {
            let bare = function.stripped(at);
            let user = tree.user(at);
            // An array is what its elements are read from.
            let is_array = user.is_some_and(|user| {
                matches!(function.expr(user).kind, ExprKind::Subscript { base, .. } if base == at)
            }) && function.expr(bare).lvalue;
            let is_object = function.expr(at).lvalue
                || is_array
                || matches!(function.expr(bare).kind, ExprKind::Function(_));
            match user.filter(|_| is_object) {
                Some(user) => at = tree.with_conversions(user),
                None if is_object => return None,
                None => return Some((at, tree.is_unused(bare))),
            }
        }
    }

    fn in_expressions(
        &self,
        kind: &Kind,
        (pattern, root): (&Pattern, NodeId),
        add: &mut dyn FnMut(Found) -> bool,
    ) -> bool {
        let tree = &self.tree;
        let function = tree.function;
        let matcher = Matcher { tree, pattern };
        for (number, expr) in function.exprs.iter().enumerate() {
            let id = ExprId(number as u32);
            let is_bare = !matches!(
                expr.kind,
                ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. }
            );
            if !is_bare || !expr.evaluated {
                continue;
            }
            let whole = tree.with_conversions(id);
            let found = matcher.at_expression(root, whole, Match::default());
            if found.is_empty() {
                continue;
            }
            let (Some(scope), Some(statement)) = (tree.scope_of(id), tree.statement_of(id)) else {
                continue;
            };
            if tree.is_constant_there(id) {
                continue;
            }
            let here = Here { statement, scope };
            for found in found {
                for filled in filled(tree, kind, found, here) {
                    for action in &kind.actions {
                        let change = match action {
                            Action::Replace(new) => {
                                let Root::Expression(to) = new.root else {
                                    continue;
                                };
                                edit_of(tree, (pattern, root), (new, to), &filled)
                                    .map(|edit| (Target::Expression(whole), Change::Edit(edit)))
                            }
                            _ => inserted(tree, action, (statement, statement), &filled),
                        };
                        if let Some((target, change)) = change
                            && !add(Found { target, change })
                        {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    fn in_statements(
        &self,
        kind: &Kind,
        pattern: &Pattern,
        add: &mut dyn FnMut(Found) -> bool,
    ) -> bool {
        let tree = &self.tree;
        let matcher = Matcher { tree, pattern };
        let mut rows: Vec<(Vec<StmtId>, bool)> = Vec::new();
        self.rows(tree.function.body, &mut rows);
        for (row, is_body) in rows {
            for at in 0..row.len() {
                let first = row[at];
                for (found, taken) in matcher.row(&row[at..], Match::default()) {
                    let Some(scope) = tree.scope_at(first) else {
                        continue;
                    };
                    let here = Here {
                        statement: first,
                        scope,
                    };
                    let last = row[at + taken - 1];
                    for filled in filled(tree, kind, found, here) {
                        for action in &kind.actions {
                            let change = match action {
                                Action::Replace(new) => {
                                    of_statements(tree, (pattern, new), &filled, is_body)
                                        .and_then(|edits| composed(&tree.unit.source, edits))
                                        .filter(|edit| is_change(tree, edit))
                                        .map(|edit| {
                                            (Target::Statements(first, last), Change::Edit(edit))
                                        })
                                }
                                _ => inserted(tree, action, (first, last), &filled),
                            };
                            if let Some((target, change)) = change
                                && !add(Found { target, change })
                            {
                                return false;
                            }
                        }
                    }
                }
            }
        }
        true
    }

    /// The statements of each block in a row, and the bodies of other statements.
    fn rows(&self, id: StmtId, found: &mut Vec<(Vec<StmtId>, bool)>) {
        let kind = &self.tree.function.stmt(id).kind;
        match kind {
            StmtKind::Compound(inner) => found.push((inner.clone(), false)),
            StmtKind::For { body, .. } => found.push((vec![*body], true)),
            StmtKind::Case(_) | StmtKind::Default(_) | StmtKind::Label { .. } => {}
            _ => {
                let inner = kind.inner().into_iter();
                found.extend(inner.map(|inner| (vec![inner], true)));
            }
        }
        for inner in kind.inner() {
            self.rows(inner, found);
        }
    }
}

/// Whether an edit changes more than layout.
fn is_change(tree: &Tree<'_>, edit: &Edit) -> bool {
    tree.unit.source[edit.span.range()] != edit.text[..]
}

/// Makes the edit that turns a matched expression into the replacement; `None` if nothing changes or a part has no place in the text.
pub(crate) fn edit_of(
    tree: &Tree<'_>,
    from: (&Pattern, NodeId),
    to: (&Pattern, NodeId),
    found: &Match,
) -> Option<Edit> {
    let edits = of_expression(tree, from, to, found)?;
    composed(&tree.unit.source, edits).filter(|edit| is_change(tree, edit))
}

fn inserted(
    tree: &Tree<'_>,
    action: &Action,
    (first, last): (StmtId, StmtId),
    found: &Match,
) -> Option<(Target, Change)> {
    let text = |pattern: &Pattern| {
        let printer = Printer {
            tree,
            pattern,
            found,
            on_one_line: true,
        };
        printer.statements(pattern.statements())
    };
    Some(match action {
        Action::InsertBefore(new) => (Target::Before(first), Change::Insertion(text(new)?)),
        Action::InsertAfter(new) => (Target::After(last), Change::Insertion(text(new)?)),
        Action::Delete => {
            let span = tree.statement_place(first)?;
            let block = tree.around(first)?.0;
            let is_body = !matches!(tree.function.stmt(block).kind, StmtKind::Compound(_));
            let edit = delete_statement(&tree.unit.source, span, is_body);
            (Target::Deleted(first), Change::Edit(edit))
        }
        Action::Change(hole, new) => {
            let (Some(Value::Expression(id)), Root::Expression(to)) =
                (found.values.get(hole), &new.root)
            else {
                return None;
            };
            let edit = replaced(tree, *id, (new, *to), found)?;
            let whole = tree.with_conversions(*id);
            (Target::Expression(whole), Change::Edit(edit))
        }
        Action::Replace(_) => return None,
    })
}

/// Returns the matches with all values that `each` clauses give their holes, as far as the conditions hold.
pub(crate) fn filled(tree: &Tree<'_>, kind: &Kind, found: Match, here: Here<'_>) -> Vec<Match> {
    let is_known = |condition: &Condition, known: &Match| {
        holes(condition)
            .iter()
            .all(|hole| known.values.contains_key(*hole))
    };
    // What is known early is asked early.
    let early = kind.conditions.iter();
    let early = early.filter(|condition| is_known(condition, &found));
    let late = kind.conditions.iter();
    let late: Vec<&Condition> = late
        .filter(|condition| !is_known(condition, &found))
        .collect();
    if !early
        .into_iter()
        .all(|condition| tree.holds(condition, &found, here))
    {
        return Vec::new();
    }
    let mut all = vec![found];
    let mut asked: Vec<bool> = vec![false; late.len()];
    for each in &kind.each {
        // What is asked of these values does not count among those that are tried.
        let mut now = asked.clone();
        let mut next = Vec::new();
        for known in all {
            let mut count = 0;
            for value in tree.each(each, &known, here) {
                if count == each.most {
                    break;
                }
                let mut known = known.clone();
                known.values.insert(each.hole.clone(), value);
                let fits = late.iter().enumerate().all(|(number, condition)| {
                    if asked[number] || !is_known(condition, &known) {
                        return true;
                    }
                    now[number] = true;
                    tree.holds(condition, &known, here)
                });
                if fits {
                    count += 1;
                    next.push(known);
                }
            }
        }
        asked = now;
        all = next;
    }
    all.retain(|known| {
        let late = late.iter().zip(&asked).filter(|(_, asked)| !**asked);
        let mut late = late.map(|(condition, _)| condition);
        late.all(|condition| tree.holds(condition, known, here))
    });
    all
}

/// The holes that a condition needs.
fn holes(condition: &Condition) -> Vec<&str> {
    match condition {
        Condition::Is { hole, .. } if hole.is_empty() => Vec::new(),
        Condition::Is { hole, .. } | Condition::Compared { hole, .. } => vec![hole],
        Condition::Equal { one, other, .. }
        | Condition::SameType { one, other }
        | Condition::Before { one, other } => {
            vec![one, other]
        }
        Condition::Mentions { whole, part, .. } => vec![whole, part],
        Condition::Has { inside, any, .. } => {
            let mut all: Vec<&str> = any.iter().flat_map(Pattern::holes).collect();
            if let crate::clause::Inside::Hole(name) = inside {
                all.push(name);
            }
            all
        }
        Condition::Declared(_) => Vec::new(),
    }
}
