//! The list of the rules that find changes without terms. Its order is part of the result.

use patchwright_csource::{Function, Part, Place, ScopeMap, Slot, StmtId};
use rustc_hash::FxHashSet;

use crate::{
    answers, begin_again, both_sides, calls,
    choices::{Callees, Choices, Finder, Standing},
    connectives, counterparts, data_kinds, directions,
    distant::Shown,
    else_joined, else_reordered,
    endings::last_statements,
    exchanged_names, exits, first_values, function_values, initialization, jumps, labels, limits,
    links, loops, moves, operators, others, own_calls, predicates, renames, repetitions, resets,
    results, second_calls,
    slots::AtomBuilder,
    space::Schemas,
    targets, widenings, wording, wraps,
};

/// Finds the locations of `function` for those kinds in `schemas` that have no terms. `shown` is what the
/// tests show.
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
        begin_again::find(&mut finder);
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
    }
    if schemas.format {
        wording::find(&mut finder);
    }
    if schemas.swap {
        exchanged_names::find(&mut finder);
    }
    if schemas.refinement {
        predicates::find(&mut finder, callees);
    }
    if schemas.assignment {
        targets::find(&mut finder);
        limits::find(&mut finder);
    }
    if schemas.expression {
        widenings::find(&mut finder);
        renames::find(&mut finder);
        labels::find(&mut finder);
        others::find(&mut finder);
    }
    if schemas.guard {
        else_joined::find(&mut finder);
        links::find(&mut finder);
    }
    if schemas.operator {
        operators::find(&mut finder);
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
        directions::find(&mut finder);
    }
    if schemas.entries && schemas.exits != Some(exits::Conditions::All) {
        exits::find_entry(&mut finder);
        answers::find(&mut finder);
    }
    if schemas.entries {
        jumps::find(&mut finder);
        results::find(&mut finder, callees);
    }
    data_kinds::find(&mut finder, scopes, schemas, (callees, &last));
    if let Some(conditions) = schemas.exits {
        exits::find(&mut finder, conditions);
    }
    finder.found
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
        for part in stmt.kind.parts() {
            let Part::Statement(inner, slot) = part else {
                continue;
            };
            let breakable = !self.last.contains(&id);
            match slot {
                Slot::Block(place) => self.stmt(inner, Some((id, place)), false, around),
                Slot::Arm => self.stmt(inner, None, true, around),
                Slot::Loop => {
                    let in_loop = !self.last.contains(&inner);
                    let around = Surroundings { in_loop, breakable };
                    self.stmt(inner, None, true, around);
                }
                Slot::Switch => {
                    let around = Surroundings {
                        breakable,
                        ..around
                    };
                    self.stmt(inner, None, true, around);
                }
                Slot::Labelled => self.stmt(inner, None, is_body, around),
                Slot::Init | Slot::Unknown => {}
            }
        }
    }
}
