//! What each instruction and each routine reads and writes in memory.

use patchwright_ir::{
    BlockId, Instruction, InstructionKind, LocalKind, Operand, Program, RoutineId, Type,
};

use crate::{
    bits::Bits,
    call_graph::{CallGraph, CallSite, instructions},
    library::{Effect, effects_of},
    points_to::{ERRNO, LIBRARY, Location, LocationId, PointsTo, STREAMS, UNKNOWN},
    private::Private,
};

/// Locations that may be read, and that may be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// May be read.
    pub reads: Bits,
    /// May be written.
    pub writes: Bits,
    /// The one location that is written as a whole, so that nothing of its old value is left.
    pub overwrites: Option<LocationId>,
}

/// What all routines of a program read and write, by themselves and by those they call.
#[derive(Debug)]
pub(crate) struct Summary {
    routines: Vec<Effects>,
    /// All that functions that are not known can reach.
    unknown: Bits,
}

/// The analyses that what follows stands on.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) program: &'a Program,
    pub(crate) points_to: &'a PointsTo,
    pub(crate) calls: &'a CallGraph,
    pub(crate) private: &'a Private,
}

impl Facts<'_> {
    fn pointed(&self, routine: RoutineId, operand: Operand) -> Bits {
        let mut found = self.points_to.of_operand(self.program, routine, operand);
        let functions: Vec<u32> = found
            .iter()
            .filter(|&id| {
                matches!(
                    self.points_to.location(LocationId(id)),
                    Location::Function(_)
                )
            })
            .collect();
        for id in functions {
            found.remove(id);
        }
        found
    }

    /// The location stands for one object at a time, of this size.
    fn is_one_object(&self, id: LocationId, size: u64) -> bool {
        match self.points_to.location(id) {
            Location::Object(object) => {
                let global = self.program.global(object);
                global.size == size && !global.thread_local
            }
            Location::Local(routine, local) => {
                let kind = self.program.function(routine).local(local).kind;
                self.has_one(routine, id)
                    && matches!(kind, LocalKind::Memory { size: all, .. } if all == size)
            }
            _ => false,
        }
    }

    /// Wherever a local of a routine is touched, only one activation's can be meant.
    pub(crate) fn has_one(&self, routine: RoutineId, id: LocationId) -> bool {
        !self.calls.is_recursive(routine) || self.private.is_own(id)
    }

    fn write(&self, effects: &mut Effects, to: Bits, size: u64) {
        if let Some(id) = to.single()
            && self.is_one_object(LocationId(id), size)
        {
            effects.overwrites = Some(LocationId(id));
        }
        effects.writes.union(&to);
    }

    /// What an instruction reads and writes itself; of a call, what the library functions do that
    /// it calls, and not the result that is an aggregate.
    pub(crate) fn of_instruction(
        &self,
        routine: RoutineId,
        (block, position): (BlockId, u32),
        instruction: &Instruction,
        unknown: &Bits,
    ) -> Effects {
        use InstructionKind::*;
        let mut effects = Effects::default();
        match &instruction.kind {
            Load { address, .. } | LoadBits { address, .. } => {
                effects.reads = self.pointed(routine, *address);
            }
            Store { ty, address, .. } => {
                let to = self.pointed(routine, *address);
                self.write(&mut effects, to, ty.size());
            }
            StoreBits { address, .. } => {
                effects.writes = self.pointed(routine, *address);
            }
            Copy { to, from, size } => {
                effects.reads = self.pointed(routine, *from);
                let to = self.pointed(routine, *to);
                self.write(&mut effects, to, *size);
            }
            Zero { address, size } => {
                let to = self.pointed(routine, *address);
                self.write(&mut effects, to, *size);
            }
            VaStart { list } => {
                let to = self.pointed(routine, *list);
                self.write(&mut effects, to, 24);
                let rest = self.points_to.find(Location::Rest(routine));
                effects.reads.union(&rest.iter().map(|id| id.0).collect());
            }
            VaCopy { to, from } => {
                effects.reads = self.pointed(routine, *from);
                let to = self.pointed(routine, *to);
                self.write(&mut effects, to, 24);
            }
            VaArg { list, .. } => {
                let list = self.pointed(routine, *list);
                for id in list.iter() {
                    effects
                        .reads
                        .union(self.points_to.in_location(LocationId(id)));
                }
                effects.reads.union(&list);
                effects.writes = list;
            }
            Call { arguments, .. } => {
                if let Some(site) = self.calls.site(routine, block, position) {
                    let values: Vec<(Type, Bits)> = arguments
                        .iter()
                        .map(|argument| (argument.ty, self.pointed(routine, argument.value)))
                        .collect();
                    self.library_call(site, &values, unknown, &mut effects);
                }
            }
            _ => {}
        }
        effects
    }

    fn library_call(
        &self,
        site: &CallSite,
        arguments: &[(Type, Bits)],
        unknown: &Bits,
        effects: &mut Effects,
    ) {
        for &library in &site.libraries {
            // Aggregates are read when they are passed.
            for (ty, value) in arguments {
                if matches!(ty, Type::Aggregate { .. }) {
                    effects.reads.union(value);
                }
            }
            match effects_of(&self.program.routine(library).name) {
                Some(known) => {
                    for effect in known {
                        self.library_effect(effect, arguments, effects);
                    }
                }
                None => {
                    effects.reads.union(unknown);
                    effects.writes.union(unknown);
                }
            }
        }
    }

    fn library_effect(&self, effect: Effect, arguments: &[(Type, Bits)], effects: &mut Effects) {
        let none = Bits::default();
        let argument = |index: usize| arguments.get(index).map_or(&none, |(_, value)| value);
        let list = |index: usize| {
            let mut all = Bits::default();
            for rest in argument(index).iter() {
                for passed in self.points_to.in_location(LocationId(rest)).iter() {
                    all.insert(passed);
                    all.union(self.points_to.in_location(LocationId(passed)));
                }
            }
            all.union(argument(index));
            all
        };
        match effect {
            Effect::Read(index) => {
                effects.reads.union(argument(index));
            }
            Effect::Write(index)
            | Effect::StoresNew(index)
            | Effect::StoresLibrary(index)
            | Effect::Stores(index, _) => {
                effects.writes.union(argument(index));
            }
            Effect::ReadFrom(index) => {
                for (_, value) in arguments.iter().skip(index) {
                    effects.reads.union(value);
                }
            }
            Effect::WriteFrom(index) => {
                for (_, value) in arguments.iter().skip(index) {
                    effects.writes.union(value);
                }
            }
            Effect::CopyPointers(to, from) => {
                effects.writes.union(argument(to));
                effects.reads.union(argument(from));
            }
            Effect::Input => {
                effects.reads.insert(STREAMS.0);
                effects.writes.insert(STREAMS.0);
            }
            Effect::Output(index) => {
                // Streams that `fopen` gave; what reads them later may see it.
                if argument(index).contains(STREAMS.0) || argument(index).contains(UNKNOWN.0) {
                    effects.writes.insert(STREAMS.0);
                }
            }
            Effect::State => {
                effects.reads.insert(LIBRARY.0);
                effects.writes.insert(LIBRARY.0);
            }
            Effect::ReadsState => {
                effects.reads.insert(LIBRARY.0);
            }
            Effect::Errno => {
                effects.writes.insert(ERRNO.0);
            }
            Effect::ReadsList(index) => {
                effects.reads.union(&list(index));
                effects.writes.union(argument(index));
            }
            Effect::WritesList(index) => {
                let all = list(index);
                effects.reads.union(&all);
                effects.writes.union(&all);
            }
            Effect::Gives(_)
            | Effect::GivesNew
            | Effect::GivesLibrary
            | Effect::GivesStream
            | Effect::GivesErrno
            | Effect::Calls(..)
            | Effect::Exits => {}
        }
    }

    /// What belongs to one activation of a routine, and is gone when it returns.
    fn is_gone_after(&self, routine: RoutineId, id: u32) -> bool {
        match self.points_to.location(LocationId(id)) {
            Location::Local(of, _) | Location::Rest(of) => {
                of == routine && self.has_one(routine, LocationId(id))
            }
            _ => false,
        }
    }
}

impl Summary {
    pub(crate) fn of(facts: Facts<'_>) -> Summary {
        let mut unknown = facts.points_to.in_location(UNKNOWN).clone();
        unknown.insert(UNKNOWN.0);
        let functions: Vec<u32> = unknown
            .iter()
            .filter(|&id| {
                matches!(
                    facts.points_to.location(LocationId(id)),
                    Location::Function(_)
                )
            })
            .collect();
        for id in functions {
            unknown.remove(id);
        }
        let mut summary = Summary {
            routines: vec![Effects::default(); facts.program.routines.len()],
            unknown,
        };
        for routine in facts.program.routine_ids() {
            let Some(function) = facts.program.body(routine) else {
                continue;
            };
            let mut all = Effects::default();
            for (block, position, instruction) in instructions(function) {
                let place = (block, position);
                let own = facts.of_instruction(routine, place, instruction, &summary.unknown);
                all.reads.union(&own.reads);
                all.writes.union(&own.writes);
                if let Some(result) = result_place(facts, routine, instruction) {
                    all.writes.union(&result.0);
                }
            }
            // The aggregate that it returns is read.
            for block in &function.blocks {
                if let patchwright_ir::TerminatorKind::Return(Some(value)) = block.terminator.kind
                    && matches!(function.result, Type::Aggregate { .. })
                {
                    all.reads.union(&facts.pointed(routine, value));
                }
            }
            summary.routines[routine.index()] = all;
        }
        loop {
            let mut changed = false;
            for &routine in facts.calls.bottom_up() {
                for site in facts.calls.sites(routine) {
                    for &callee in &site.bodies {
                        let theirs = summary.seen_by_call(facts, routine, site, callee);
                        let mine = &mut summary.routines[routine.index()];
                        changed |= mine.reads.union(&theirs.reads);
                        changed |= mine.writes.union(&theirs.writes);
                    }
                }
                // Aggregates that are passed are read by the call.
                let Some(function) = facts.program.body(routine) else {
                    continue;
                };
                for (_, _, instruction) in instructions(function) {
                    let InstructionKind::Call { arguments, .. } = &instruction.kind else {
                        continue;
                    };
                    for argument in arguments {
                        if matches!(argument.ty, Type::Aggregate { .. }) {
                            let read = facts.pointed(routine, argument.value);
                            changed |= summary.routines[routine.index()].reads.union(&read);
                        }
                    }
                }
            }
            if !changed {
                return summary;
            }
        }
    }

    /// All that functions that are not known can reach.
    pub(crate) fn unknown(&self) -> &Bits {
        &self.unknown
    }

    /// What a call of a routine may read and write of what the caller can see.
    pub(crate) fn seen_by_call(
        &self,
        facts: Facts<'_>,
        caller: RoutineId,
        site: &CallSite,
        callee: RoutineId,
    ) -> Effects {
        let mut seen = self.seen_by_callers(facts, callee);
        seen.reads = facts.private.through(caller, site, &seen.reads);
        seen.writes = facts.private.through(caller, site, &seen.writes);
        seen
    }

    /// What callers can see of what a routine reads and writes.
    pub(crate) fn seen_by_callers(&self, facts: Facts<'_>, routine: RoutineId) -> Effects {
        let mut seen = self.routines[routine.index()].clone();
        for set in [&mut seen.reads, &mut seen.writes] {
            let gone: Vec<u32> = set
                .iter()
                .filter(|&id| facts.is_gone_after(routine, id))
                .collect();
            for id in gone {
                set.remove(id);
            }
        }
        seen
    }
}

/// Where a call writes the aggregate that it gives, and which location it overwrites by that.
pub(crate) fn result_place(
    facts: Facts<'_>,
    routine: RoutineId,
    instruction: &Instruction,
) -> Option<(Bits, Option<LocationId>)> {
    let InstructionKind::Call {
        result,
        result_address: Some(address),
        ..
    } = &instruction.kind
    else {
        return None;
    };
    let mut effects = Effects::default();
    let to = facts.pointed(routine, *address);
    facts.write(&mut effects, to, result.size());
    Some((effects.writes, effects.overwrites))
}

/// The locations that an aggregate operand is read from.
pub(crate) fn aggregate_source(facts: Facts<'_>, routine: RoutineId, operand: Operand) -> Bits {
    facts.pointed(routine, operand)
}
