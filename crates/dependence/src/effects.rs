//! Computes what each instruction and each routine reads and writes in memory.

use patchwright_clib::Fact;
use patchwright_ir::{
    BlockId, Instruction, InstructionKind, Operand, Program, RoutineId, Type, Way,
};

use crate::{
    bits::Bits,
    call_graph::{CallGraph, CallSite, JUMPS, LANDINGS, instructions},
    points_to::{Location, LocationId, PointsTo, Sparse},
    private::Private,
};

/// The locations that an instruction or a routine may read, and those that it may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// May be read.
    pub reads: Bits,
    /// May be written.
    pub writes: Bits,
    /// Those that are written for sure and as a whole, so that nothing of their old values is left.
    pub overwrites: Bits,
}

/// What all routines of a program read and write, by themselves and by those they call.
#[derive(Debug)]
pub(crate) struct Summary {
    routines: Vec<Effects>,
}

/// The analyses that what follows stands on.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) program: &'a Program,
    pub(crate) points_to: &'a PointsTo,
    pub(crate) calls: &'a CallGraph,
    pub(crate) private: &'a Private,
    /// The parts of locations that stand for all (`classes`); `None` while each stands for itself.
    pub(crate) representatives: Option<&'a Bits>,
}

/// An argument of a library function.
struct Given {
    /// All that it leads to.
    pointed: Bits,
    /// What is read when it is passed.
    aggregate: Option<Bits>,
}

impl<'a> Facts<'a> {
    fn pointers(&self, routine: RoutineId, operand: Operand) -> Sparse {
        self.points_to.of_operand(self.program, routine, operand)
    }

    /// What an access of so many bytes through an operand may touch.
    fn pointed(&self, routine: RoutineId, operand: Operand, size: Option<u64>) -> Bits {
        let pointers = self.pointers(routine, operand);
        self.points_to.touched(&pointers, size)
    }

    /// The members of a set that stand for others and themselves.
    fn representing(&self, set: Bits) -> Bits {
        match self.representatives {
            Some(representatives) => set.intersection(representatives),
            None => set,
        }
    }

    /// Returns the parts of a location. Parts that represent others stand for them.
    pub(crate) fn parts(&self, location: Location) -> impl Iterator<Item = LocationId> + use<'a> {
        let representatives = self.representatives;
        self.points_to
            .parts(location)
            .filter(move |part| representatives.is_none_or(|all| all.contains(part.0)))
    }

    /// The location stands for one object at a time.
    fn is_one_object(&self, location: Location) -> bool {
        match location {
            Location::Object(object) => !self.program.global(object).thread_local,
            Location::Local(routine, _) => self.has_one(routine, location),
            _ => false,
        }
    }

    /// Whether each access to a local of a routine means the local of one activation only.
    pub(crate) fn has_one(&self, routine: RoutineId, local: Location) -> bool {
        !self.calls.is_recursive(routine) || self.private.is_own(local)
    }

    fn write(&self, effects: &mut Effects, routine: RoutineId, to: Operand, size: u64) {
        let pointers = self.pointers(routine, to);
        if let Some((location, parts)) = self.points_to.covered(&pointers, size)
            && self.is_one_object(location)
        {
            effects.overwrites.union(&parts.collect());
        }
        let touched = self.points_to.touched(&pointers, Some(size));
        effects.writes.union(&touched);
    }

    /// Returns what an instruction reads and writes itself. A call has the effects of the library functions that it calls, without an
    /// aggregate result.
    pub(crate) fn of_instruction(
        &self,
        routine: RoutineId,
        place: (BlockId, u32),
        instruction: &Instruction,
        unknown: &Bits,
    ) -> Effects {
        let all = self.of_all_parts(routine, place, instruction, unknown);
        Effects {
            reads: self.representing(all.reads),
            writes: self.representing(all.writes),
            overwrites: self.representing(all.overwrites),
        }
    }

    fn of_all_parts(
        &self,
        routine: RoutineId,
        (block, position): (BlockId, u32),
        instruction: &Instruction,
        unknown: &Bits,
    ) -> Effects {
        let mut effects = Effects::default();
        for access in instruction.accesses() {
            let (address, size) = (access.address, access.end());
            let touched = || self.pointed(routine, address, Some(size));
            match access.way {
                Way::Read => drop(effects.reads.union(&touched())),
                Way::WriteSome => drop(effects.writes.union(&touched())),
                Way::Write => self.write(&mut effects, routine, address, size),
            }
        }
        match &instruction.kind {
            InstructionKind::VaStart { .. } => {
                let rest = self.points_to.parts(Location::Rest(routine));
                effects.reads.union(&rest.map(|id| id.0).collect());
            }
            InstructionKind::VaArg { .. } => {
                let passed = self.points_to.held_in(&effects.writes);
                let passed = self.points_to.touched(&passed, None);
                effects.reads.union(&passed);
            }
            InstructionKind::Call { arguments, .. } => {
                if let Some(site) = self.calls.site(routine, block, position) {
                    if site.libraries.is_empty() {
                        return effects;
                    }
                    let values: Vec<Given> = arguments
                        .iter()
                        .map(|argument| {
                            let pointers = self.pointers(routine, argument.value);
                            Given {
                                aggregate: match argument.ty {
                                    Type::Aggregate { size } => {
                                        Some(self.points_to.touched(&pointers, Some(size)))
                                    }
                                    _ => None,
                                },
                                pointed: self.points_to.touched(&pointers, None),
                            }
                        })
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
        arguments: &[Given],
        unknown: &Bits,
        effects: &mut Effects,
    ) {
        for &library in &site.libraries {
            // Aggregates are read when they are passed.
            for aggregate in arguments
                .iter()
                .filter_map(|given| given.aggregate.as_ref())
            {
                effects.reads.union(aggregate);
            }
            let name = self.program.routine(library).name.as_str();
            // What `longjmp` gives is handed over in the buffer.
            if let Some(buffer) = arguments.first() {
                if JUMPS.contains(&name) {
                    effects.writes.union(&buffer.pointed);
                }
                if LANDINGS.contains(&name) {
                    effects.reads.union(&buffer.pointed);
                }
            }
            match patchwright_clib::facts(name) {
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

    fn library_effect(&self, fact: Fact, arguments: &[Given], effects: &mut Effects) {
        let none = Bits::default();
        let argument = |index: usize| arguments.get(index).map_or(&none, |given| &given.pointed);
        let list = |index: usize| {
            let mut all = argument(index).clone();
            let passed = self.points_to.held_in(&all);
            let passed = self.points_to.touched(&passed, None);
            let behind = self.points_to.held_in(&passed);
            all.union(&self.points_to.touched(&behind, None));
            all.union(&passed);
            all
        };
        let (streams, library) = (self.points_to.streams(), self.points_to.library());
        match fact {
            Fact::Read(index, _) => {
                effects.reads.union(argument(index));
            }
            Fact::Write(index, _)
            | Fact::StoresNew(index)
            | Fact::StoresLibrary(index)
            | Fact::Stores(index, _) => {
                effects.writes.union(argument(index));
            }
            Fact::ReadFrom(index) => {
                for given in arguments.iter().skip(index) {
                    effects.reads.union(&given.pointed);
                }
            }
            Fact::WriteFrom(index) => {
                for given in arguments.iter().skip(index) {
                    effects.writes.union(&given.pointed);
                }
            }
            Fact::CopyPointers(to, from) => {
                effects.writes.union(argument(to));
                effects.reads.union(argument(from));
            }
            Fact::Input => {
                effects.reads.insert(streams.0);
                effects.writes.insert(streams.0);
            }
            Fact::Output(index) => {
                // Streams that `fopen` gave; what reads them later may see it.
                let unknown = self.points_to.unknown();
                if argument(index).contains(streams.0) || argument(index).contains(unknown.0) {
                    effects.writes.insert(streams.0);
                }
            }
            Fact::State | Fact::Environment => {
                effects.reads.insert(library.0);
                effects.writes.insert(library.0);
            }
            Fact::ReadsState => {
                effects.reads.insert(library.0);
            }
            Fact::Errno => {
                effects.writes.insert(self.points_to.errno().0);
            }
            Fact::ReadsList(index) => {
                effects.reads.union(&list(index));
                effects.writes.union(argument(index));
            }
            Fact::WritesList(index) => {
                let all = list(index);
                effects.reads.union(&all);
                effects.writes.union(&all);
            }
            Fact::Gives(_)
            | Fact::GivesNew(..)
            | Fact::GivesLibrary
            | Fact::GivesStream
            | Fact::GivesErrno
            | Fact::Calls(..)
            | Fact::Classifies(_)
            | Fact::Prints
            | Fact::Varies
            | Fact::Exits
            | Fact::NeverReturns
            | Fact::LeavesAtOnce
            | Fact::System
            | Fact::Unknown => {}
        }
    }

    /// What belongs to one activation of a routine, and is gone when it returns.
    fn is_gone_after(&self, routine: RoutineId, id: u32) -> bool {
        let location = self.points_to.location(LocationId(id));
        match location {
            Location::Local(of, _) | Location::Rest(of) => {
                of == routine && self.has_one(routine, location)
            }
            _ => false,
        }
    }
}

/// All that functions that are not known can reach.
pub(crate) fn reached_by_unknown(points_to: &PointsTo) -> Bits {
    let kept = points_to.unknown();
    let reached = points_to.held_in(&std::iter::once(kept.0).collect());
    let mut unknown = points_to.touched(&reached, None);
    unknown.insert(kept.0);
    unknown
}

impl Summary {
    /// `unknown` is what functions that are not known can reach.
    pub(crate) fn of(facts: Facts<'_>, unknown: &Bits) -> Summary {
        let mut summary = Summary {
            routines: vec![Effects::default(); facts.program.routines.len()],
        };
        for routine in facts.program.routine_ids() {
            let Some(function) = facts.program.body(routine) else {
                continue;
            };
            let mut all = Effects::default();
            for (block, position, instruction) in instructions(function) {
                let place = (block, position);
                let own = facts.of_instruction(routine, place, instruction, unknown);
                all.reads.union(&own.reads);
                all.writes.union(&own.writes);
                if let Some(result) = result_place(facts, routine, instruction) {
                    all.writes.union(&result.0);
                }
            }
            // The aggregate that it returns is read.
            for block in &function.blocks {
                if let patchwright_ir::TerminatorKind::Return(Some(value)) = block.terminator.kind
                    && let Type::Aggregate { size } = function.result
                {
                    all.reads
                        .union(&aggregate_source(facts, routine, value, size));
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
                        if let Type::Aggregate { size } = argument.ty {
                            let read = aggregate_source(facts, routine, argument.value, size);
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

    /// Returns what a call of a routine may read and write, as far as the caller can see it.
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

    /// Returns what a routine reads and writes, as far as its callers can see it.
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

/// Returns the locations to which a call writes its aggregate result, and those that it overwrites for sure.
pub(crate) fn result_place(
    facts: Facts<'_>,
    routine: RoutineId,
    instruction: &Instruction,
) -> Option<(Bits, Bits)> {
    let InstructionKind::Call {
        result,
        result_address: Some(address),
        ..
    } = &instruction.kind
    else {
        return None;
    };
    let mut effects = Effects::default();
    facts.write(&mut effects, routine, *address, result.size());
    let (writes, overwrites) = (effects.writes, effects.overwrites);
    Some((facts.representing(writes), facts.representing(overwrites)))
}

/// The locations that an aggregate operand of so many bytes is read from.
pub(crate) fn aggregate_source(
    facts: Facts<'_>,
    routine: RoutineId,
    operand: Operand,
    size: u64,
) -> Bits {
    facts.representing(facts.pointed(routine, operand, Some(size)))
}
