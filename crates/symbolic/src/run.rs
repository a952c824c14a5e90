//! Unwinds a function: blocks in order, paths that part and meet, loops and their bound.

use std::{collections::BTreeMap, rc::Rc};

use patchwright_ir::{
    Block, BlockId, Callee, Edge, Function, InstructionKind, LocalKind, Operand, RoutineId,
    SwitchCase, TempId, TerminatorKind, Type, Undefined, Value,
};
use patchwright_solve::Term;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    asking::asking,
    encoder::{Dead, Encoder, Frame, Go, Register, State, World},
    encoding::{FailureKind, Place, Unwinding, UnwindingKind},
    extended,
    lasso::Saved,
    meaning,
    options::Check,
    order::Moment,
    path::Path,
};

/// What waits to be encoded.
struct Waiting {
    block: BlockId,
    state: State,
    /// For each loop that the path is in, by its first block.
    loops: FxHashMap<BlockId, Rounds>,
}

/// The rounds of a loop that a path is in.
#[derive(Clone)]
struct Rounds {
    /// Those that were not decided by constants.
    open: u32,
    /// The path at the beginning of this round.
    path: Path,
    /// In this round some executions have left the loop, and others have not, and inputs decide which.
    left: bool,
    /// The state at its head some rounds ago.
    saved: Option<Rc<Saved>>,
}

impl Rounds {
    fn new(open: u32, path: Path) -> Rounds {
        Rounds {
            open,
            path,
            left: false,
            saved: None,
        }
    }
}

/// What a call gives.
pub(crate) struct Returned {
    pub(crate) world: World,
    pub(crate) value: Option<Term>,
    /// It has a value.
    pub(crate) written: Term,
}

impl<'p> Encoder<'p> {
    /// Calls a routine with a body: the world and the value after all of its returns. `Err` when no path
    /// comes back.
    pub(crate) fn call_body(
        &mut self,
        routine: RoutineId,
        arguments: &[(Type, Option<Term>)],
        world: World,
        result_address: Option<Term>,
        place: &Place,
    ) -> Go<Returned> {
        let program = self.program;
        let Some(function) = program.body(routine) else {
            self.unknown(&world, "a function without a body", place);
            return Err(Dead);
        };
        let depth = self.stack.iter().filter(|(id, _)| *id == routine).count();
        if depth > self.options.recursion as usize {
            self.unwinding.push(Unwinding {
                place: place.clone(),
                kind: UnwindingKind::Calls,
                condition: world.path.term(),
            });
            return Err(Dead);
        }
        self.counts.calls += 1;
        self.calls += 1;
        self.stack.push((routine, place.clone()));
        let count = function.parameters.len();
        let module = program.routine(routine).module;
        let mut frame = Frame {
            module,
            function,
            order: self.order(routine, function),
            asking: self.asking(routine, module, function),
            serial: self.calls,
            varargs: arguments.get(count..).unwrap_or_default().to_vec(),
            result_address,
            allocations: Vec::new(),
            temporaries: vec![None; function.temporaries.len()],
        };
        if function.variadic {
            self.frames.insert(frame.serial, frame.varargs.clone());
        }
        let result = self.function(&mut frame, arguments, world, place);
        self.frames.remove(&frame.serial);
        self.stack.pop();
        let mut returned = result?;
        for number in frame.allocations {
            returned.world.memory.forget(number);
        }
        Ok(returned)
    }

    fn function(
        &mut self,
        frame: &mut Frame<'p>,
        arguments: &[(Type, Option<Term>)],
        mut world: World,
        place: &Place,
    ) -> Go<Returned> {
        let function = frame.function;
        let registers = self.enter(frame, arguments, &mut world, place)?;
        if self.is_along() {
            return self.function_along(frame, world, registers);
        }
        let mut waiting: BTreeMap<Moment, Waiting> = BTreeMap::new();
        waiting.insert(
            frame.order.start(),
            Waiting {
                block: BlockId(0),
                state: State { world, registers },
                loops: FxHashMap::default(),
            },
        );
        let mut returned: Option<Returned> = None;
        while let Some((moment, mut at)) = waiting.pop_first() {
            let block = function.block(at.block);
            if frame.order.is_head(at.block) {
                let round = frame.order.round_of(at.block, &moment);
                if let Some(saved) = self.saved(&at.state, round) {
                    let path = at.state.world.path.clone();
                    let rounds = at.loops.entry(at.block);
                    rounds.or_insert_with(|| Rounds::new(0, path)).saved = Some(saved);
                }
            }
            let ended = self.block(frame, block, &mut at.state);
            let Ok(()) = ended else { continue };
            self.leave(frame, &moment, at, &mut waiting, &mut returned);
        }
        returned.ok_or(Dead)
    }

    /// The registers at the beginning of a function; arguments in memory get their objects.
    fn enter(
        &mut self,
        frame: &mut Frame<'p>,
        arguments: &[(Type, Option<Term>)],
        world: &mut World,
        place: &Place,
    ) -> Go<Vec<Register>> {
        let function = frame.function;
        let count = function.locals.len() + frame.order.shared.len();
        let (no, yes) = (self.terms.truth(false), self.terms.truth(true));
        let empty = Register {
            value: None,
            written: no,
        };
        let mut registers = vec![empty; count];
        let null = self.word(0);
        for (index, local) in function.locals.iter().enumerate() {
            if let LocalKind::Memory { .. } = local.kind {
                registers[index].value = Some(null);
            }
        }
        if arguments.len() < function.parameters.len() {
            self.undefined(
                world,
                yes,
                Undefined::BadCall,
                || {
                    format!(
                        "{} takes {} arguments and is called with {}",
                        function.name,
                        function.parameters.len(),
                        arguments.len()
                    )
                },
                place,
            );
            return Err(Dead);
        }
        for (index, (parameter, &(given, value))) in
            function.parameters.iter().zip(arguments).enumerate()
        {
            let value = self.as_parameter(given, parameter.ty, value, world, place);
            match function.locals[index].kind {
                LocalKind::Register(_) => {
                    registers[index] = Register {
                        value,
                        written: yes,
                    };
                }
                LocalKind::Memory { size, .. } => {
                    let address = self.new_local(world, size, &function.locals[index].name);
                    frame.allocations.extend(self.number_of(address));
                    registers[index].value = Some(address);
                    match parameter.ty {
                        Type::Aggregate { size } => {
                            if let Some(from) = value {
                                self.copy(world, address, from, size, place)?;
                            }
                        }
                        ty => self.store(world, ty, address, value, place)?,
                    }
                }
            }
        }
        Ok(registers)
    }

    /// An argument as its parameter's type; types that differ in more than their sign do not fit.
    fn as_parameter(
        &mut self,
        given: Type,
        expected: Type,
        value: Option<Term>,
        world: &World,
        place: &Place,
    ) -> Option<Term> {
        let fits = given == expected
            || (given.size() == expected.size()
                && (given.is_integer() || given == Type::Ptr)
                && (expected.is_integer() || expected == Type::Ptr));
        if !fits {
            let yes = self.terms.truth(true);
            self.tolerated(
                world,
                yes,
                Undefined::BadCall,
                || {
                    format!(
                        "an argument of type {} is taken as {}",
                        given.in_c(),
                        expected.in_c()
                    )
                },
                place,
            );
            let sort = meaning::sort(expected)?;
            return Some(self.open("an argument of another type than its parameter", sort));
        }
        if expected == Type::Bool && given != Type::Bool {
            return value.and_then(|value| {
                meaning::convert(self.terms, given, expected, value).map(|m| m.value)
            });
        }
        value
    }

    /// The value of an operand.
    pub(crate) fn operand(
        &mut self,
        frame: &Frame<'p>,
        state: &State,
        operand: Operand,
    ) -> Option<Term> {
        match operand.value {
            Value::Temp(temp) => self.temporary(frame, state, temp),
            Value::Constant {
                ty: Type::F80,
                bits,
            } => Some(self.terms.constant(extended::WIDTH, bits)),
            Value::Constant { ty, bits } => meaning::constant(self.terms, ty, bits),
            Value::Address { target, addend } => {
                let number = match target {
                    patchwright_ir::Target::Global(id) => {
                        self.globals[self.program.object_of(frame.module, id).index()]
                    }
                    patchwright_ir::Target::Function(id) => {
                        self.routines[self.program.routine_of(frame.module, id).index()]
                    }
                };
                Some(self.pointers.address(self.terms, number, addend))
            }
        }
    }

    fn temporary(&self, frame: &Frame<'p>, state: &State, temp: TempId) -> Option<Term> {
        match frame.order.shared.binary_search(&temp) {
            Ok(index) => state.registers[frame.function.locals.len() + index].value,
            Err(_) => frame.temporaries[temp.index()],
        }
    }

    /// Gives a temporary its value.
    pub(crate) fn define(
        &mut self,
        frame: &mut Frame<'p>,
        state: &mut State,
        temp: TempId,
        value: Option<Term>,
    ) {
        let value = value.map(|value| match &self.along {
            Some(along) => along.narrowed(self.terms, value),
            None => state.world.path.facts().narrowed(self.terms, value),
        });
        if let Ok(index) = frame.order.shared.binary_search(&temp) {
            let register = &mut state.registers[frame.function.locals.len() + index];
            register.value = value;
        } else {
            frame.temporaries[temp.index()] = value;
        }
    }

    pub(crate) fn block(
        &mut self,
        frame: &mut Frame<'p>,
        block: &'p Block,
        state: &mut State,
    ) -> Go<()> {
        for instruction in &block.instructions {
            self.counts.instructions += 1;
            if self.counts.instructions >= self.looks_at {
                self.looks_at = self.counts.instructions + LOOK_EACH;
                let place = self.place(frame.module, frame.function, instruction.origin);
                if self.spent(&state.world, &place) {
                    return Err(Dead);
                }
            }
            self.instruction(frame, state, instruction)?;
            if self.has_ended() {
                return Err(Dead);
            }
        }
        self.counts.instructions += 1;
        if self.exhausted {
            let place = self.place(frame.module, frame.function, block.terminator.origin);
            self.cut_off(&state.world, &place);
            return Err(Dead);
        }
        Ok(())
    }

    /// A block does nothing but report that an assertion fails: the branch to it is the assertion.
    fn reports_failure(&self, module: usize, function: &Function, block: BlockId) -> bool {
        function
            .block(block)
            .instructions
            .iter()
            .any(|instruction| {
                let InstructionKind::Call {
                    callee: Callee::Direct(callee),
                    ..
                } = &instruction.kind
                else {
                    return false;
                };
                let routine = self.program.routine_of(module, *callee);
                let name = self.program.routine(routine).name.as_str();
                matches!(
                    name,
                    "__assert_fail" | "__assert" | "reach_error" | "__VERIFIER_error"
                )
            })
    }

    /// The blocks that ask whether an assertion holds.
    fn asking(
        &mut self,
        routine: RoutineId,
        module: usize,
        function: &Function,
    ) -> Rc<FxHashSet<BlockId>> {
        if let Some(known) = self.asking_blocks.get(&routine) {
            return known.clone();
        }
        let fails = |block| self.reports_failure(module, function, block);
        let found = Rc::new(asking(function, &fails));
        self.asking_blocks.insert(routine, found.clone());
        found
    }

    /// Follows the ways out of a block.
    fn leave(
        &mut self,
        frame: &mut Frame<'p>,
        moment: &Moment,
        at: Waiting,
        waiting: &mut BTreeMap<Moment, Waiting>,
        returned: &mut Option<Returned>,
    ) {
        let function: &'p Function = frame.function;
        let terminator = &function.block(at.block).terminator;
        if frame.asking.contains(&at.block) {
            self.reached.push(at.state.world.path.term());
            let place = self.place(frame.module, function, terminator.origin);
            self.looked(FailureKind::Assertion, &place);
        }
        let place = || self.place(frame.module, function, terminator.origin);
        match &terminator.kind {
            TerminatorKind::Goto(edge) => {
                let path = at.state.world.path.clone();
                self.go(frame, moment, &at, *edge, path, waiting);
            }
            TerminatorKind::Branch {
                condition,
                ty,
                then,
                otherwise,
            } => {
                let place = place();
                let holds = self
                    .operand(frame, &at.state, *condition)
                    .and_then(|value| meaning::truth(self.terms, *ty, value));
                let Some(holds) = holds else {
                    self.unknown(&at.state.world, no_term(*ty), &place);
                    return;
                };
                let holds = self.located(holds, &at.state.world, &place);
                if self.terms.as_truth(holds).is_none() {
                    let value = meaning::int_of(self.terms, holds);
                    self.step(&at.state.world, &place, None, Some((Type::I32, value)));
                }
                let not = self.terms.not(holds);
                let ways = [(*then, holds), (*otherwise, not)];
                self.part(frame, moment, at, &ways, waiting);
            }
            TerminatorKind::Switch {
                value,
                ty,
                cases,
                default,
            } => {
                let place = place();
                let Some(value) = self.operand(frame, &at.state, *value) else {
                    self.unknown(&at.state.world, no_term(*ty), &place);
                    return;
                };
                let value = self.located(value, &at.state.world, &place);
                if self.terms.as_constant(value).is_none() {
                    self.step(&at.state.world, &place, None, Some((*ty, value)));
                }
                let ways = self.ways(&at.state.world, (*ty, value), cases, *default);
                self.part(frame, moment, at, &ways, waiting);
            }
            TerminatorKind::Return(value) => {
                let place = place();
                let yes = self.terms.truth(true);
                let State {
                    mut world,
                    registers,
                } = at.state;
                let mut result = None;
                if let Some(value) = value {
                    let state = State {
                        world: world.clone(),
                        registers,
                    };
                    result = self.operand(frame, &state, *value);
                    drop(state);
                    match (function.result, result) {
                        (Type::Aggregate { size }, Some(from)) => {
                            if let Some(to) = frame.result_address
                                && self.copy(&mut world, to, from, size, &place).is_err()
                            {
                                return;
                            }
                            result = frame.result_address;
                        }
                        (_, Some(value)) => result = Some(self.located(value, &world, &place)),
                        _ => {}
                    }
                }
                self.join(world, result, yes, &place, returned);
            }
            TerminatorKind::ReturnNothing => {
                let place = place();
                let no = self.terms.truth(false);
                self.join(at.state.world, None, no, &place, returned);
            }
            TerminatorKind::Unreachable => {
                let place = place();
                let yes = self.terms.truth(true);
                self.undefined(
                    &at.state.world,
                    yes,
                    Undefined::Unreachable,
                    || "control gets to where it cannot".to_owned(),
                    &place,
                );
            }
        }
    }

    /// The ways out of a switch, and their conditions. Cases that lead to one block are one way.
    pub(crate) fn ways(
        &mut self,
        world: &World,
        (ty, value): (Type, Term),
        cases: &[SwitchCase],
        default: Edge,
    ) -> Vec<(Edge, Term)> {
        let mut ways: Vec<(Edge, Term)> = Vec::new();
        let mut rest = self.terms.truth(true);
        for case in cases {
            // Of one choice's alternatives at most one is chosen.
            let is = match self.choice_values.get(&value) {
                Some(&number) if case.low == case.high => {
                    let chosen = self.chosen(number, case.low as u32);
                    world.path.facts().narrowed(self.terms, chosen)
                }
                _ => self.in_range(ty, value, case.low, case.high),
            };
            if self.terms.as_truth(is) == Some(true) {
                ways = vec![(case.edge, is)];
                rest = self.terms.truth(false);
                break;
            }
            let not = self.terms.not(is);
            rest = self.terms.and(rest, not);
            match ways
                .iter_mut()
                .find(|(edge, _)| edge.target == case.edge.target)
            {
                Some((_, condition)) => *condition = self.terms.or(*condition, is),
                None => ways.push((case.edge, is)),
            }
        }
        match ways
            .iter_mut()
            .find(|(edge, _)| edge.target == default.target)
        {
            Some((_, condition)) => *condition = self.terms.or(*condition, rest),
            None => ways.push((default, rest)),
        }
        ways
    }

    /// Another return of the function.
    fn join(
        &mut self,
        world: World,
        value: Option<Term>,
        written: Term,
        place: &Place,
        returned: &mut Option<Returned>,
    ) {
        *returned = Some(match returned.take() {
            None => Returned {
                world,
                value,
                written,
            },
            Some(other) => {
                let (world, first) = self.meet(&other.world, &world, place);
                let value = match (other.value, value) {
                    (Some(a), Some(b)) => Some(self.pointers.ite(self.terms, first, a, b)),
                    (a, b) => a.or(b),
                };
                Returned {
                    world,
                    value,
                    written: self.terms.ite(first, other.written, written),
                }
            }
        });
    }

    /// Whether a value of an integer type lies in a range.
    fn in_range(&mut self, ty: Type, value: Term, low: i128, high: i128) -> Term {
        let width = self.terms.width(value);
        let bits = |number: i128| number as u128 & (u128::MAX >> (128 - width));
        let first = self.terms.constant(width, bits(low));
        if low == high {
            return self.terms.eq(value, first);
        }
        let last = self.terms.constant(width, bits(high));
        let (above, below) = match ty.is_signed() {
            true => (self.terms.sle(first, value), self.terms.sle(value, last)),
            false => (self.terms.ule(first, value), self.terms.ule(value, last)),
        };
        self.terms.and(above, below)
    }

    /// Goes along those edges whose conditions can hold.
    fn part(
        &mut self,
        frame: &Frame<'p>,
        moment: &Moment,
        mut at: Waiting,
        ways: &[(Edge, Term)],
        waiting: &mut BTreeMap<Moment, Waiting>,
    ) {
        let mut taken = Vec::new();
        for &(edge, condition) in ways {
            if let Some(path) = at.state.world.path.and(self.terms, condition) {
                taken.push((edge, path));
            }
        }
        if taken.len() > 1 {
            let open = taken.iter().map(|(edge, _)| edge.target);
            let open: Vec<BlockId> = open
                .filter(|&block| !self.reports_failure(frame.module, frame.function, block))
                .collect();
            let by_choice = ways.iter().all(|&(_, condition)| {
                self.choices_alone
                    .holds(self.terms, &self.choice_of, condition)
            });
            for (&head, rounds) in &mut at.loops {
                let leaves = |&block: &BlockId| !frame.order.is_within(block, head);
                rounds.left |= !by_choice && open.iter().any(leaves);
            }
        }
        for (edge, path) in taken {
            self.go(frame, moment, &at, edge, path, waiting);
        }
    }

    /// Goes along an edge: meets what waits there, or waits.
    fn go(
        &mut self,
        frame: &Frame<'p>,
        moment: &Moment,
        at: &Waiting,
        edge: Edge,
        path: Path,
        waiting: &mut BTreeMap<Moment, Waiting>,
    ) {
        let (next, again) = frame.order.follow(at.block, moment, edge.target);
        let mut loops = at.loops.clone();
        let mut way = path.clone();
        if let Some(head) = again {
            self.counts.rounds += 1;
            let round = frame.order.round_of(head, &next);
            let before = loops.get(&head).cloned();
            let before = before.unwrap_or_else(|| Rounds::new(0, path.clone()));
            // What nothing leaves has no condition that could decide.
            self.counts.longest = self.counts.longest.max(u64::from(round));
            let most = self.options.decided_rounds;
            // Executions that end in the round (an assertion fails) do not decide how many rounds there are.
            // Nor do executions that leave it because of a choice: each patched program has a number of rounds of its own.
            let is_checked =
                u64::from(round) <= self.options.checked_rounds || !self.choice_of.is_empty();
            let same = before.path.is(&path) || !before.left && is_checked;
            let decided = same
                && !frame.order.is_endless(head)
                && most.is_none_or(|most| u64::from(round) <= most);
            let rounds = before.open + u32::from(!decided);
            // It goes on like this for ever, and does nothing. Where that is a failure, it is found as any other one.
            let is_still =
                frame.order.is_still(head) && !self.options.checks.contains(&Check::Termination);
            if round >= 2 && is_still {
                self.endless.push(path.term());
                return;
            }
            let mut path = path.clone();
            if let Some(saved) = before.saved.as_ref().filter(|_| !is_still) {
                let mut state = State {
                    world: World {
                        path: path.clone(),
                        ..at.state.world.clone()
                    },
                    registers: at.state.registers.clone(),
                };
                let place = self.place(frame.module, frame.function, edge.origin);
                if !self.goes_on_for_ever(frame, head, &mut state, saved, &place) {
                    return;
                }
                path = state.world.path;
            }
            let next_rounds = Rounds {
                saved: before.saved.clone(),
                ..Rounds::new(rounds, path.clone())
            };
            loops.insert(head, next_rounds);
            way = path.clone();
            if !decided {
                let world = World {
                    path: path.clone(),
                    ..at.state.world.clone()
                };
                // A loop in a model of the library ends where its object does.
                let place = self.place(frame.module, frame.function, edge.origin);
                if rounds > self.options.bound && !self.in_library(frame) || rounds > LIBRARY_ROUNDS
                {
                    if self.feasible(&world) {
                        self.unwinding.push(Unwinding {
                            place,
                            kind: UnwindingKind::Rounds,
                            condition: path.term(),
                        });
                    }
                    return;
                }
                if round >= 2 && !self.feasible(&world) {
                    return;
                }
            }
        } else if frame.order.is_head(edge.target) {
            loops.insert(edge.target, Rounds::new(0, path.clone()));
        }
        let mut state = State {
            world: World {
                path: way,
                ..at.state.world.clone()
            },
            registers: at.state.registers.clone(),
        };
        self.forget_dead(frame, edge.target, &mut state.registers);
        let place = self.place(frame.module, frame.function, edge.origin);
        match waiting.remove(&next) {
            None => {
                waiting.insert(
                    next,
                    Waiting {
                        block: edge.target,
                        state,
                        loops,
                    },
                );
            }
            Some(other) => {
                let (world, first) = self.meet(&other.state.world, &state.world, &place);
                let registers =
                    self.meet_registers(frame, &other.state.registers, &state.registers, first);
                for (head, rounds) in other.loops {
                    let entry = loops.entry(head).or_insert_with(|| rounds.clone());
                    entry.open = entry.open.max(rounds.open);
                    entry.left |= rounds.left;
                }
                // The round begins where the paths have met.
                let here = edge.target;
                if let Some(entry) = loops.get_mut(&here) {
                    entry.path = world.path.clone();
                }
                waiting.insert(
                    next,
                    Waiting {
                        block: here,
                        state: State { world, registers },
                        loops,
                    },
                );
            }
        }
    }

    /// Whether an alternative of a choice is the one that is meant.
    pub(crate) fn chosen(&mut self, number: u32, alternative: u32) -> Term {
        let name = format!("choice.{number}.{alternative}");
        let chosen = self.terms.variable(&name, patchwright_solve::Sort::Bool);
        self.choice_of.insert(chosen, number);
        chosen
    }

    /// The path rests on an alternative of another choice.
    pub(crate) fn rests_on_other(&self, path: &Path, number: u32) -> bool {
        path.last_conditions().any(|condition| {
            let of = self.choice_of.get(&condition);
            of.is_some_and(|&other| other != number)
        })
    }

    fn in_library(&self, frame: &Frame<'p>) -> bool {
        let files = &self.program.modules[frame.module].files;
        files
            .first()
            .is_some_and(|file| crate::encoder::is_library(&file.path))
    }

    /// Values that nobody reads any more need not be brought together.
    fn forget_dead(&mut self, frame: &Frame<'p>, block: BlockId, registers: &mut [Register]) {
        let no = self.terms.truth(false);
        for (index, register) in registers
            .iter_mut()
            .enumerate()
            .take(frame.function.locals.len())
        {
            if !frame.order.lives(block, index) {
                *register = Register {
                    value: None,
                    written: no,
                };
            }
        }
    }

    fn meet_registers(
        &mut self,
        frame: &Frame<'p>,
        a: &[Register],
        b: &[Register],
        first: Term,
    ) -> Vec<Register> {
        let locals = &frame.function.locals;
        let mut met = Vec::with_capacity(a.len());
        for (index, (a, b)) in a.iter().zip(b).enumerate() {
            if a == b {
                met.push(*a);
                continue;
            }
            let value = match (a.value, b.value) {
                (Some(x), Some(y)) => Some(self.pointers.ite(self.terms, first, x, y)),
                (None, None) => None,
                (x, y) if index < locals.len() => {
                    // No value on one of the ways: any.
                    let LocalKind::Register(ty) = locals[index].kind else {
                        met.push(*a);
                        continue;
                    };
                    match self.anything(ty) {
                        Some(any) => Some(self.pointers.ite(
                            self.terms,
                            first,
                            x.unwrap_or(any),
                            y.unwrap_or(any),
                        )),
                        None => None,
                    }
                }
                // A temporary that is defined on one way is not used on the other.
                (x, y) => x.or(y),
            };
            met.push(Register {
                value,
                written: self.terms.ite(first, a.written, b.written),
            });
        }
        met
    }
}

/// Instructions between two looks whether a limit is reached, at least.
const LOOK_EACH: u64 = 256;
/// Rounds after which a loop in a model of the library is given up.
const LIBRARY_ROUNDS: u32 = 1 << 20;

/// Why a value of this type is not known.
pub(crate) fn no_term(ty: Type) -> String {
    format!("a value of type {} is not encoded", ty.in_c())
}
