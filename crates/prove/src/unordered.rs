//! Finds operands whose order matters and is left open by C: one changes what another reads or changes. The proof takes one
//! order, as an execution does.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_clib::{Fact, facts, statement};
use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, Place, TranslationUnit, UnaryOperator,
    types::TypeKind,
};
use patchwright_text::LineMap;

use crate::source::Source;

/// What an evaluation reads and changes. Variables have their names, those of a function with its name before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Effects {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
    /// Memory behind pointers.
    reads_memory: bool,
    writes_memory: bool,
    /// It takes input, prints, or asks what the library keeps.
    world: bool,
}

impl Effects {
    fn add(&mut self, other: &Effects) {
        self.reads.extend(other.reads.iter().cloned());
        self.writes.extend(other.writes.iter().cloned());
        self.reads_memory |= other.reads_memory;
        self.writes_memory |= other.writes_memory;
        self.world |= other.world;
    }

    /// One changes what the other reads or changes.
    fn meets(&self, other: &Effects) -> bool {
        let changes = |a: &Effects, b: &Effects| {
            let mut writes = a.writes.iter();
            a.writes_memory && (b.reads_memory || b.writes_memory)
                || writes.any(|name| b.reads.contains(name) || b.writes.contains(name))
        };
        changes(self, other) || changes(other, self) || self.world && other.world
    }
}

/// Returns the places, as path and line, where operands are evaluated whose order C leaves open and matters, in functions that
/// `entry` reaches.
pub fn unordered(sources: &[Source], entry: &str) -> Vec<(String, u32)> {
    let mut all: BTreeMap<&str, (&Source, &Function)> = BTreeMap::new();
    for source in sources {
        let functions = source.unit.functions.iter();
        for function in functions.chain(&source.unit.functions_in_headers) {
            all.entry(&function.name).or_insert((source, function));
        }
    }
    let mut reached = BTreeSet::from([entry]);
    let mut open = vec![entry];
    while let Some((_, function)) = open.pop().and_then(|name| all.get(name)) {
        for expr in &function.exprs {
            if let ExprKind::Function(name) = &expr.kind
                && let Some((&name, _)) = all.get_key_value(name.as_str())
                && reached.insert(name)
            {
                open.push(name);
            }
        }
    }
    all.retain(|name, _| reached.contains(name));
    // What functions do that call each other, until nothing is added.
    let mut known: BTreeMap<&str, Effects> = BTreeMap::new();
    loop {
        let mut next = BTreeMap::new();
        for (&name, &(source, function)) in &all {
            let looked = Looked {
                unit: &source.unit,
                function,
                known: &known,
            };
            let mut effects = Effects::default();
            for id in (0..function.exprs.len() as u32).map(ExprId) {
                if function.expr(id).evaluated {
                    looked.alone(id, &mut effects);
                }
            }
            // Its own variables are others in each call.
            let own = format!("{name}: ");
            effects.reads.retain(|name| !name.starts_with(&own));
            effects.writes.retain(|name| !name.starts_with(&own));
            next.insert(name, effects);
        }
        if next == known {
            break;
        }
        known = next;
    }
    let mut found = BTreeSet::new();
    for source in sources {
        let lines = LineMap::new(&source.unit.source);
        for function in &source.unit.functions {
            if !all.contains_key(function.name.as_str()) {
                continue;
            }
            let looked = Looked {
                unit: &source.unit,
                function,
                known: &known,
            };
            for id in (0..function.exprs.len() as u32).map(ExprId) {
                if function.expr(id).evaluated && looked.is_open(id) {
                    let start = start(function.expr(id).place).unwrap_or(function.span.start);
                    found.insert((source.path.clone(), lines.line(start)));
                }
            }
        }
    }
    found.into_iter().collect()
}

fn start(place: Place) -> Option<u32> {
    match place {
        Place::Written(span) | Place::MacroArgument { span, .. } => Some(span.start),
        Place::MacroBody { invocation }
        | Place::Stringified { invocation }
        | Place::SeveralMeanings { invocation } => Some(invocation.start),
        Place::OtherFile | Place::Disagreement | Place::Unknown => None,
    }
}

struct Looked<'a> {
    unit: &'a TranslationUnit,
    function: &'a Function,
    known: &'a BTreeMap<&'a str, Effects>,
}

impl Looked<'_> {
    /// The variable that an expression designates, or of which it designates a part.
    fn variable(&self, id: ExprId) -> Option<String> {
        let id = self.function.stripped(id);
        match self.function.expr(id).kind {
            ExprKind::Variable(variable) => {
                let name = &self.unit.variable(variable).name;
                let is_own = self.function.locals.contains(&variable)
                    && !self.unit.globals.contains(&variable);
                Some(match is_own {
                    true => format!("{}: {name}", self.function.name),
                    false => name.clone(),
                })
            }
            ExprKind::Member {
                base, arrow: false, ..
            } => self.variable(base),
            ExprKind::Subscript { base, .. } if self.is_array(base) => self.variable(base),
            _ => None,
        }
    }

    fn is_array(&self, id: ExprId) -> bool {
        let ty = self.function.expr(self.function.stripped(id)).ty;
        matches!(self.unit.types.kind(ty), TypeKind::Array(..))
    }

    /// What an expression does by itself, without its operands.
    fn alone(&self, id: ExprId, effects: &mut Effects) {
        match &self.function.expr(id).kind {
            ExprKind::Variable(_) => effects.reads.extend(self.variable(id)),
            ExprKind::Assign { target, .. } => self.write(*target, effects),
            ExprKind::Unary { operator, operand } => match operator {
                UnaryOperator::Step => self.write(*operand, effects),
                UnaryOperator::Dereference => effects.reads_memory = true,
                _ => {}
            },
            ExprKind::Subscript { base, .. } => effects.reads_memory |= !self.is_array(*base),
            ExprKind::Member { arrow: true, .. } => effects.reads_memory = true,
            ExprKind::Call {
                callee, arguments, ..
            } => self.call(*callee, arguments, effects),
            _ => {}
        }
    }

    fn write(&self, target: ExprId, effects: &mut Effects) {
        match self.variable(target) {
            Some(name) => {
                effects.writes.insert(name);
            }
            None => effects.writes_memory = true,
        }
    }

    fn call(&self, callee: ExprId, arguments: &[ExprId], effects: &mut Effects) {
        let callee = self.function.stripped(callee);
        let mut called = Effects::default();
        match &self.function.expr(callee).kind {
            ExprKind::Function(name) => match self.known.get(name.as_str()) {
                Some(known) => called = known.clone(),
                None => called.add(&of_library(name)),
            },
            _ => {
                called.writes_memory = true;
                called.world = true;
            }
        }
        // What it gets the address of is what it reaches first.
        let all = arguments.iter().flat_map(|&id| self.function.within(id));
        for id in all.filter(|_| called.writes_memory || called.reads_memory) {
            let named = match self.function.expr(id).kind {
                ExprKind::Unary {
                    operator: UnaryOperator::AddressOf,
                    operand,
                } => self.variable(operand),
                ExprKind::Variable(_) if self.is_array(id) => self.variable(id),
                _ => None,
            };
            if called.writes_memory {
                effects.writes.extend(named);
            }
        }
        effects.add(&called);
    }

    /// All that an expression and its operands do.
    fn all(&self, id: ExprId) -> Effects {
        let mut effects = Effects::default();
        for id in self.function.within(id) {
            self.alone(id, &mut effects);
        }
        effects
    }

    /// What finding the place of a target does: the target itself is written later.
    fn of_place(&self, id: ExprId) -> Effects {
        let id = self.function.stripped(id);
        match self.function.expr(id).kind {
            ExprKind::Variable(_) => Effects::default(),
            ExprKind::Member {
                base, arrow: false, ..
            } => self.of_place(base),
            ExprKind::Member { base, .. } => self.all(base),
            ExprKind::Subscript { base, index } => {
                let mut effects = match self.is_array(base) {
                    true => self.of_place(base),
                    false => self.all(base),
                };
                effects.add(&self.all(index));
                effects
            }
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => self.all(operand),
            _ => self.all(id),
        }
    }

    /// Whether the order of an expression's operands is open and matters.
    fn is_open(&self, id: ExprId) -> bool {
        let parts: Vec<Effects> = match &self.function.expr(id).kind {
            ExprKind::Binary {
                operator:
                    BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr | BinaryOperator::Comma,
                ..
            } => return false,
            ExprKind::Binary { left, right, .. } => vec![self.all(*left), self.all(*right)],
            ExprKind::Subscript { base, index } => vec![self.all(*base), self.all(*index)],
            ExprKind::Call {
                callee, arguments, ..
            } => {
                let all = std::iter::once(callee).chain(arguments);
                all.map(|&id| self.all(id)).collect()
            }
            ExprKind::Assign {
                operator,
                target,
                value,
            } => {
                let mut place = self.of_place(*target);
                if operator.is_some() {
                    place.add(&self.all(*target));
                }
                // A step on the target within the value is not ordered against the assignment.
                let own = self.variable(*target);
                let twice = self.function.within(*value).any(|id| {
                    matches!(&self.function.expr(id).kind,
                        ExprKind::Unary { operator: UnaryOperator::Step, operand }
                            if own.is_some() && self.variable(*operand) == own)
                });
                if twice {
                    return true;
                }
                vec![place, self.all(*value)]
            }
            _ => return false,
        };
        (0..parts.len()).any(|at| parts[at + 1..].iter().any(|other| parts[at].meets(other)))
    }
}

/// What a function without a body does.
fn of_library(name: &str) -> Effects {
    let mut effects = Effects::default();
    if statement(name).is_some() {
        return effects;
    }
    let Some(facts) = facts(name) else {
        effects.world = true;
        effects.writes_memory = true;
        return effects;
    };
    for fact in facts {
        match fact {
            Fact::Read(..) | Fact::ReadFrom(_) | Fact::ReadsList(_) => effects.reads_memory = true,
            Fact::Write(..)
            | Fact::WriteFrom(_)
            | Fact::WritesList(_)
            | Fact::CopyPointers(..)
            | Fact::StoresNew(_)
            | Fact::Stores(..)
            | Fact::StoresLibrary(_)
            | Fact::Calls(..) => effects.writes_memory = true,
            Fact::Input
            | Fact::Output(_)
            | Fact::Prints
            | Fact::State
            | Fact::ReadsState
            | Fact::System
            | Fact::Environment
            | Fact::Unknown => effects.world = true,
            Fact::Classifies(_)
            | Fact::Gives(_)
            | Fact::GivesNew(..)
            | Fact::GivesLibrary
            | Fact::GivesStream
            | Fact::GivesErrno
            | Fact::Errno
            | Fact::Varies
            | Fact::Exits
            | Fact::NeverReturns
            | Fact::LeavesAtOnce => {}
        }
    }
    effects
}
