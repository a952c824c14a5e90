//! The encoder: its state for all paths, and how it records failures, inputs and outputs.

use std::{
    collections::BTreeSet,
    hash::{Hash, Hasher},
    rc::Rc,
    sync::Arc,
};

use patchwright_ir::{BlockId, Function, OriginId, Program, RoutineId, Type, Undefined};
use patchwright_solve::{Answer, Backend, Budget, Solver, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::{
    choices::ChoicesAlone,
    decided::Along,
    encoding::{
        Counts, Encoding, Failure, FailureKind, Input, InputKind, Location, Outcome, Output, Piece,
        Place, Step, Unknown, Unwinding, UnwindingKind,
    },
    meaning,
    memory::{Kind, Memory, Object},
    options::{Check, Options},
    order::Order,
    path::Path,
    pointer::{Number, Pointers},
};

/// What a path has done to the world.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) path: Path,
    pub(crate) memory: Memory,
    /// Bytes of standard input that were read; 32 bits.
    pub(crate) input_at: Term,
    /// The most that `input_at` can be.
    pub(crate) input_most: u32,
    /// `scanf` has found the end of the input.
    pub(crate) input_over: Term,
    /// How often each function was called that arguments lead to; 32 bits each.
    pub(crate) called: Rc<Vec<Term>>,
}

/// Why a path is followed no further; what is to be told of it has been recorded.
pub(crate) struct Dead;

/// The result of what can end a path.
pub(crate) type Go<T> = Result<T, Dead>;

/// A call that is being encoded.
pub(crate) struct Frame<'p> {
    pub(crate) module: usize,
    pub(crate) function: &'p Function,
    pub(crate) order: Rc<Order>,
    /// Blocks that ask whether an assertion holds.
    pub(crate) asking: Rc<FxHashSet<BlockId>>,
    /// The number of the call.
    pub(crate) serial: u64,
    /// The arguments that are not declared.
    pub(crate) varargs: Vec<(Type, Option<Term>)>,
    /// The place for a record that is returned.
    pub(crate) result_address: Option<Term>,
    /// Objects that live until the function returns.
    pub(crate) allocations: Vec<Number>,
    /// The values of temporaries.
    pub(crate) temporaries: Vec<Option<Term>>,
}

/// A register local, or a temporary that several blocks use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Register {
    /// `None`: nothing yet, or a type that terms do not have.
    pub(crate) value: Option<Term>,
    pub(crate) written: Term,
}

/// The state of a path between two blocks.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) registers: Vec<Register>,
}

/// Encodes a program.
pub(crate) struct Encoder<'p> {
    pub(crate) program: &'p Program,
    pub(crate) options: &'p Options,
    pub(crate) terms: &'p mut Terms,
    pub(crate) pointers: Pointers,
    /// What each number was given to, and its name.
    pub(crate) numbers: Vec<Kind>,
    pub(crate) names: Vec<Rc<str>>,
    /// The standard streams, by their objects: whether it is standard error; `None` for standard input.
    pub(crate) streams: FxHashMap<Number, Option<bool>>,
    /// `scanf` has been used.
    pub(crate) scanned: bool,
    /// The program itself asks for the address of `errno`.
    pub(crate) uses_errno: bool,
    /// The address of `errno`.
    pub(crate) errno: Option<Term>,
    /// The object of each object and each routine of the program.
    pub(crate) globals: Vec<Number>,
    pub(crate) routines: Vec<Number>,
    pub(crate) orders: FxHashMap<RoutineId, Rc<Order>>,
    /// The calls that are being encoded.
    pub(crate) stack: Vec<(RoutineId, Place)>,
    pub(crate) frames: FxHashMap<u64, Vec<(Type, Option<Term>)>>,
    pub(crate) calls: u64,
    pub(crate) violated: Vec<Term>,
    /// Where the places of pointers in arrays are within these.
    pub(crate) bounds: Vec<Term>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) unwinding: Vec<Unwinding>,
    pub(crate) endless: Vec<Term>,
    pub(crate) unknown: Vec<Unknown>,
    pub(crate) notes: Vec<String>,
    pub(crate) steps: Vec<Step>,
    step_places: FxHashSet<Arc<Place>>,
    step_names: FxHashSet<Arc<str>>,
    pub(crate) output: Vec<Output>,
    /// What of that is still in the buffer of standard output.
    pub(crate) buffer: crate::buffer::Buffer,
    pub(crate) locations: Vec<Location>,
    pub(crate) location_of: FxHashMap<(String, u32), usize>,
    pub(crate) reached: Vec<Term>,
    pub(crate) exits: Vec<(Term, Term, World)>,
    /// A function without a body got the address of an object that is no global.
    pub(crate) addresses_given: bool,
    /// Objects that pointers among the arguments lead to: the caller may have them from an allocation.
    pub(crate) handed_over: FxHashSet<Number>,
    pub(crate) counts: Counts,
    /// Names that were given, so that each is used once.
    pub(crate) named: FxHashMap<String, u32>,
    /// Bytes of standard input that are variables already.
    pub(crate) bytes: Vec<Term>,
    pub(crate) length: Option<Term>,
    /// The program's arguments, by their objects.
    pub(crate) arguments: FxHashMap<Number, Rc<Argument>>,
    /// Objects whose size no declaration tells: `extern int table[];`.
    pub(crate) of_unknown_size: FxHashSet<Number>,
    /// The numbers that stand for arguments.
    pub(crate) argument_numbers: FxHashMap<(u32, Type), Term>,
    /// The choices that values stand for, by their numbers.
    pub(crate) choice_values: FxHashMap<Term, u32>,
    /// The number of the choice that each alternative's variable belongs to.
    pub(crate) choice_of: FxHashMap<Term, u32>,
    /// Which conditions depend on choices alone.
    pub(crate) choices_alone: ChoicesAlone,
    pub(crate) interrupt: &'p dyn Fn() -> bool,
    pub(crate) stopped: bool,
    /// Some execution called `abort` where that is a way to end.
    pub(crate) gave_up: bool,
    /// After so many instructions it is looked whether a limit is reached.
    pub(crate) looks_at: u64,
    pub(crate) asking_blocks: FxHashMap<RoutineId, Rc<FxHashSet<BlockId>>>,
    /// Everything is given up: the limit was said once.
    pub(crate) exhausted: bool,
    /// Paths that ended there.
    pub(crate) cut: usize,
    /// Values that are not encoded have been given this number of times.
    pub(crate) serial: u128,
    /// The numbers of narrower types that `long double` was made of.
    pub(crate) narrow_values: FxHashMap<Term, (Type, Term)>,
    /// What was looked for, and where: hashes of both.
    pub(crate) looked_at: FxHashSet<u64>,
    /// The pointers that numbers were made of.
    pub(crate) number_pointers: FxHashMap<Term, Term>,
    pub(crate) solver: Option<Lazy>,
    /// The input whose path alone is followed.
    pub(crate) along: Option<Along>,
    /// Functions that arguments lead to, and what they give.
    pub(crate) callbacks: Vec<crate::argument_function::Known>,
    /// Arguments of the program were read as far as they may go.
    pub(crate) to_their_ends: bool,
    /// A function without a body was called that may keep or free what its arguments lead to.
    pub(crate) has_unknown_callee: bool,
    /// Objects that such functions could reach: whoever kept an address may write there in any later call.
    pub(crate) given: BTreeSet<Number>,
    /// What functions of which nothing is known wrote.
    pub(crate) foreign: FxHashSet<Term>,
    /// Functions that no file defines, and their numbers among `callbacks`.
    pub(crate) outside: FxHashMap<RoutineId, usize>,
    /// The function that the program begins with, and the objects that code elsewhere may write to.
    pub(crate) entry: Option<RoutineId>,
    pub(crate) exposed: Option<Rc<Vec<patchwright_ir::ObjectId>>>,
    /// Objects that the caller can see.
    pub(crate) visible: Vec<crate::visible::Visible>,
    /// What can be seen and is not part of the outcome.
    pub(crate) unseen: Vec<String>,
}

/// An argument of the program.
pub(crate) struct Argument {
    /// Counted from 1; 0 for the program's name.
    pub(crate) number: u32,
    /// Its bytes at the start.
    pub(crate) bytes: Vec<Term>,
}

/// The solver that is asked whether loops go on.
pub(crate) struct Lazy {
    solver: Solver,
    /// Failures that it was told of.
    told: usize,
}

/// Conflicts that a question may cost.
const QUESTION: u64 = 2_000;

impl<'p> Encoder<'p> {
    /// Prepares the encoding of a program.
    pub(crate) fn new(
        program: &'p Program,
        options: &'p Options,
        terms: &'p mut Terms,
        interrupt: &'p dyn Fn() -> bool,
    ) -> Encoder<'p> {
        Encoder {
            program,
            options,
            terms,
            pointers: Pointers::default(),
            // Number 0 is no object.
            numbers: vec![Kind::Global],
            names: vec!["".into()],
            streams: FxHashMap::default(),
            scanned: false,
            uses_errno: false,
            errno: None,
            globals: Vec::new(),
            routines: Vec::new(),
            orders: FxHashMap::default(),
            stack: Vec::new(),
            frames: FxHashMap::default(),
            calls: 0,
            violated: Vec::new(),
            bounds: Vec::new(),
            inputs: Vec::new(),
            failures: Vec::new(),
            unwinding: Vec::new(),
            endless: Vec::new(),
            unknown: Vec::new(),
            notes: Vec::new(),
            steps: Vec::new(),
            step_places: FxHashSet::default(),
            step_names: FxHashSet::default(),
            output: Vec::new(),
            buffer: crate::buffer::Buffer::default(),
            locations: Vec::new(),
            location_of: FxHashMap::default(),
            reached: Vec::new(),
            exits: Vec::new(),
            addresses_given: false,
            handed_over: FxHashSet::default(),
            counts: Counts::default(),
            named: FxHashMap::default(),
            bytes: Vec::new(),
            length: None,
            arguments: FxHashMap::default(),
            of_unknown_size: FxHashSet::default(),
            argument_numbers: FxHashMap::default(),
            choice_values: FxHashMap::default(),
            choice_of: FxHashMap::default(),
            choices_alone: ChoicesAlone::default(),
            interrupt,
            stopped: false,
            gave_up: false,
            looks_at: 0,
            asking_blocks: FxHashMap::default(),
            exhausted: false,
            cut: 0,
            serial: 0,
            narrow_values: FxHashMap::default(),
            looked_at: FxHashSet::default(),
            number_pointers: FxHashMap::default(),
            solver: options.lazy.then(|| Lazy {
                solver: Solver::new(Backend::default()),
                told: 0,
            }),
            along: None,
            callbacks: Vec::new(),
            to_their_ends: false,
            has_unknown_callee: false,
            given: BTreeSet::new(),
            foreign: FxHashSet::default(),
            outside: FxHashMap::default(),
            entry: None,
            exposed: None,
            visible: Vec::new(),
            unseen: Vec::new(),
        }
    }

    /// Ends the encoding with this outcome.
    pub(crate) fn finish(mut self, outcome: Outcome) -> Encoding {
        self.settle_limit();
        let turns = self.along.take().map(|along| along.turns);
        self.counts.exhausted = self.exhausted;
        self.counts.checks = self.looked_at.len() as u64;
        let mut violated = self.terms.or_all(self.violated.iter().copied());
        for &bound in &self.bounds {
            let outside = self.terms.not(bound);
            violated = self.terms.or(violated, outside);
        }
        Encoding {
            to_their_ends: self.to_their_ends,
            assumption: self.terms.not(violated),
            bounds: self.bounds,
            inputs: self.inputs,
            failures: self.failures,
            unwinding: self.unwinding,
            endless: self.endless,
            unknown: self.unknown,
            notes: self.notes,
            is_kept_by_others: !self.given.is_empty(),
            unseen: self.unseen,
            outcome,
            steps: self.steps,
            locations: self.locations,
            reached: self.reached,
            counts: self.counts,
            turns: turns.unwrap_or_default(),
        }
    }

    /// The order of a routine's blocks.
    pub(crate) fn order(&mut self, routine: RoutineId, function: &Function) -> Rc<Order> {
        let orders = &mut self.orders;
        orders
            .entry(routine)
            .or_insert_with(|| Rc::new(Order::of(function)))
            .clone()
    }

    /// The place of an origin of a function.
    pub(crate) fn place(&self, module: usize, function: &Function, origin: OriginId) -> Place {
        let origin = function.origin(origin);
        let (file, line) = match origin.line.or(function.origins[0].line) {
            Some((file, line)) => {
                let files = &self.program.modules[module].files;
                (files[file.index()].path.clone(), line)
            }
            None => (String::new(), 0),
        };
        // What happens in a model of the library is told of the call.
        if is_library(&file)
            && let Some((_, place)) = self
                .stack
                .iter()
                .rev()
                .find(|(_, place)| !is_library(&place.file))
        {
            return place.clone();
        }
        Place {
            function: function.name.clone(),
            file,
            line,
            origin: Some(origin),
        }
    }

    /// A name that nothing else has: `base`, or with a number behind it.
    pub(crate) fn unique(&mut self, base: &str) -> String {
        let count = self.named.entry(base.to_owned()).or_insert(0);
        *count += 1;
        match *count {
            1 => base.to_owned(),
            count => format!("{base}#{count}"),
        }
    }

    /// A name for what is no input.
    pub(crate) fn internal(&mut self, base: &str) -> String {
        let base = format!("{}{base}", self.options.prefix);
        self.unique(&base)
    }

    /// A new input.
    pub(crate) fn input(
        &mut self,
        name: &str,
        kind: InputKind,
        sort: Sort,
        world: &World,
        place: Place,
    ) -> Term {
        let name = match kind {
            InputKind::Unwritten(_) => self.internal(name),
            _ => self.unique(name),
        };
        let term = self.input_variable(&name, sort);
        self.inputs.push(Input {
            name,
            kind,
            term,
            condition: world.path.term(),
            place,
        });
        term
    }

    /// The variable of an input. Versions and paths may read values of other types at the same position of a sequence.
    pub(crate) fn input_variable(&mut self, name: &str, sort: Sort) -> Term {
        let plain = format!("input.{name}");
        match (self.terms.sort_of_variable(&plain), sort) {
            (Some(other), Sort::Bits(width)) if other != sort => {
                self.terms.variable(&format!("{plain}:{width}"), sort)
            }
            (Some(other), _) if other != sort => {
                self.terms.variable(&format!("{plain}:truth"), sort)
            }
            _ => self.terms.variable(&plain, sort),
        }
    }

    /// Records something that must not happen.
    pub(crate) fn fail(
        &mut self,
        world: &World,
        condition: Term,
        kind: FailureKind,
        message: impl FnOnce() -> String,
        place: &Place,
    ) {
        self.looked(kind, place);
        let condition = self.settled(condition, place);
        let condition = self.terms.and(world.path.term(), condition);
        if self.terms.as_truth(condition) == Some(false) || self.has_ended() {
            return;
        }
        let printed = self.output.len();
        self.failures.push(Failure {
            printed,
            kind,
            message: message(),
            place: place.clone(),
            condition,
        });
        self.end_along();
    }

    /// Counts that it is looked for something at a place.
    pub(crate) fn looked(&mut self, kind: FailureKind, place: &Place) {
        let mut hasher = FxHasher::default();
        (kind, place).hash(&mut hasher);
        self.looked_at.insert(hasher.finish());
    }

    /// Records undefined behaviour. An execution in which it happens has no meaning from there on: where nobody looks for
    /// it, what it does is not known.
    pub(crate) fn undefined(
        &mut self,
        world: &World,
        condition: Term,
        kind: Undefined,
        message: impl FnOnce() -> String,
        place: &Place,
    ) {
        self.undefined_for(world, condition, (kind, Check::of(kind)), message, place);
    }

    /// The same for a kind that another check looks for.
    pub(crate) fn undefined_for(
        &mut self,
        world: &World,
        condition: Term,
        (kind, check): (Undefined, Check),
        message: impl FnOnce() -> String,
        place: &Place,
    ) {
        if self.options.checks.contains(&check) {
            let kind = FailureKind::Undefined(kind);
            self.fail(world, condition, kind, message, place);
            return;
        }
        if self.terms.as_truth(condition) != Some(false) {
            let reason = format!(
                "what happens after {}, which `--check {}` looks for",
                message(),
                check.name()
            );
            self.unknown_where(world, condition, reason, place);
        }
    }

    /// Records undefined behaviour, if it is looked for. Where it is not, the execution goes on with a value that the
    /// caller gives it: the one that processors have for it, or any.
    pub(crate) fn tolerated(
        &mut self,
        world: &World,
        condition: Term,
        kind: Undefined,
        message: impl FnOnce() -> String,
        place: &Place,
    ) {
        if self.options.checks.contains(&Check::of(kind)) {
            let kind = FailureKind::Undefined(kind);
            self.fail(world, condition, kind, message, place);
        }
    }

    /// Returns a new unknown value for something that is not encoded. An answer that rests on it is known only if an execution confirms it.
    pub(crate) fn open(&mut self, what: &str, sort: Sort) -> Term {
        let serial = self.serial;
        self.serial += 1;
        let serial = self.terms.constant(32, serial);
        self.open_of(what, &[serial], sort)
    }

    /// A value that is not encoded, the same for the same arguments.
    pub(crate) fn open_of(&mut self, what: &str, arguments: &[Term], sort: Sort) -> Term {
        let prefix = self.options.prefix.clone();
        self.open_for(&prefix, what, arguments, sort)
    }

    /// As [`Self::open_of`], of all programs whose encodings have this in front of the names of what is no input.
    pub(crate) fn open_for(
        &mut self,
        prefix: &str,
        what: &str,
        arguments: &[Term],
        sort: Sort,
    ) -> Term {
        let mut apart = format!("{prefix}{sort:?}");
        for &argument in arguments {
            apart.push_str(&format!(" {:?}", self.terms.sort(argument)));
        }
        let name = crate::naming::open(what, &apart);
        self.terms.apply(&name, arguments, sort)
    }

    /// Records that something is not known from here on.
    pub(crate) fn unknown(&mut self, world: &World, reason: impl Into<String>, place: &Place) {
        self.unknown_where(world, world.path.term(), reason, place);
    }

    /// Notes that nothing is known of the inputs for which `condition` holds here, with the reason.
    pub(crate) fn unknown_where(
        &mut self,
        world: &World,
        condition: Term,
        reason: impl Into<String>,
        place: &Place,
    ) {
        let condition = self.settled(condition, place);
        let condition = self.terms.and(world.path.term(), condition);
        if self.terms.as_truth(condition) == Some(false) || self.has_ended() {
            return;
        }
        self.unknown.push(Unknown {
            reason: reason.into(),
            place: place.clone(),
            condition,
        });
        self.end_along();
    }

    /// Records once what is taken for granted.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Records that a variable got a value.
    pub(crate) fn step(
        &mut self,
        world: &World,
        place: &Place,
        name: Option<&str>,
        value: Option<(Type, Term)>,
    ) {
        // Of millions of steps few are at other places than those before.
        let place = match self.step_places.get(place) {
            Some(known) => known.clone(),
            None => {
                let new = Arc::new(place.clone());
                self.step_places.insert(new.clone());
                new
            }
        };
        let name = name.map(|name| match self.step_names.get(name) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = name.into();
                self.step_names.insert(new.clone());
                new
            }
        });
        self.steps.push(Step {
            place,
            condition: world.path.term(),
            name,
            value,
        });
    }

    /// Records a part of what is printed.
    pub(crate) fn print(&mut self, world: &World, error: bool, piece: Piece) {
        if self.has_ended() {
            return;
        }
        self.output.push(Output {
            condition: world.path.term(),
            error,
            piece,
        });
    }

    /// Returns the value of a statement. When faults are located, it is an unknown value where the variable of its line is true.
    pub(crate) fn located(&mut self, value: Term, world: &World, place: &Place) -> Term {
        if !self.options.locations || place.line == 0 {
            return value;
        }
        let key = (place.file.clone(), place.line);
        let index = match self.location_of.get(&key) {
            Some(&index) => index,
            None => {
                let index = self.locations.len();
                let variable = self
                    .terms
                    .variable(&format!("location.{index}"), Sort::Bool);
                let executed = self.terms.truth(false);
                self.locations.push(Location {
                    place: place.clone(),
                    variable,
                    executed,
                });
                self.location_of.insert(key, index);
                index
            }
        };
        let location = &mut self.locations[index];
        location.executed = self.terms.or(location.executed, world.path.term());
        let variable = location.variable;
        let sort = self.terms.sort(value);
        let name = self.internal("free");
        let free = self.terms.variable(&name, sort);
        self.terms.ite(variable, free, value)
    }

    /// A new object.
    pub(crate) fn allocate(&mut self, world: &mut World, object: Object) -> Number {
        let number = self.numbers.len() as Number;
        self.numbers.push(object.kind);
        self.names.push(object.name.clone());
        world.memory.put(number, Rc::new(object));
        number
    }

    /// A constant of 64 bits.
    pub(crate) fn word(&mut self, value: u64) -> Term {
        self.terms.constant(64, u128::from(value))
    }

    /// A value of a type that may be anything and is no input.
    pub(crate) fn anything(&mut self, ty: Type) -> Option<Term> {
        let sort = meaning::sort(ty)?;
        let name = self.internal("any");
        Some(self.terms.variable(&name, sort))
    }

    /// The world of executions that come from one of two.
    pub(crate) fn meet(&mut self, a: &World, b: &World, place: &Place) -> (World, Term) {
        self.counts.meetings += 1;
        let meeting = a.path.meet(&b.path, self.terms);
        let first = meeting.first;
        let (memory, lost) = a.memory.merge(&b.memory, self.terms, first);
        let world = World {
            path: meeting.path,
            memory,
            input_at: self.terms.ite(first, a.input_at, b.input_at),
            input_most: a.input_most.max(b.input_most),
            input_over: self.terms.ite(first, a.input_over, b.input_over),
            called: match Rc::ptr_eq(&a.called, &b.called) {
                true => a.called.clone(),
                false => {
                    let both = a.called.iter().zip(b.called.iter());
                    Rc::new(both.map(|(&a, &b)| self.terms.ite(first, a, b)).collect())
                }
            },
        };
        for reason in lost {
            self.unknown(&world, reason, place);
        }
        (world, first)
    }

    /// Whether encoding has to end here: it is too much, or somebody asked for it.
    pub(crate) fn spent(&mut self, world: &World, place: &Place) -> bool {
        if self.exhausted {
            // All other paths end as well, each under its own condition.
            self.cut_off(world, place);
            return true;
        }
        if (self.interrupt)() {
            self.stopped = true;
            self.exhausted = true;
            self.unknown(world, "interrupted", place);
            return true;
        }
        if self.counts.instructions > self.options.instructions {
            self.exhausted = true;
            self.cut += 1;
            self.unwinding.push(Unwinding {
                place: place.clone(),
                kind: UnwindingKind::Instructions,
                condition: world.path.term(),
            });
            return true;
        }
        if self.terms.len() > self.options.terms {
            self.exhausted = true;
            let reason = format!("the formula has more than {} terms", self.options.terms);
            self.unknown(world, reason, place);
            return true;
        }
        false
    }

    /// A path ends because the limit of the encoding was reached on another one.
    pub(crate) fn cut_off(&mut self, world: &World, place: &Place) {
        self.cut += 1;
        self.unknown(world, "the limit of the encoding was reached before", place);
    }

    /// Settles which executions went beyond the limit of instructions. With a single path they are a bound, up to which everything was
    /// looked at. With several paths they are unknown, because nothing says how far each was followed.
    fn settle_limit(&mut self) {
        let instructions = self.options.instructions;
        if self.cut <= 1 {
            return;
        }
        let limit = |one: &Unwinding| one.kind == UnwindingKind::Instructions;
        for one in self.unwinding.extract_if(.., |one| limit(one)) {
            self.unknown.push(Unknown {
                reason: format!("more than {instructions} instructions would have to be encoded"),
                place: one.place,
                condition: one.condition,
            });
        }
    }

    /// Whether an execution can get here that has not failed before; `true` where the solver cannot
    /// tell quickly.
    pub(crate) fn feasible(&mut self, world: &World) -> bool {
        let Some(lazy) = &mut self.solver else {
            return true;
        };
        self.counts.questions += 1;
        for failure in &self.failures[lazy.told..] {
            let not = self.terms.not(failure.condition);
            lazy.solver.assert(self.terms, not);
        }
        lazy.told = self.failures.len();
        let budget = Budget {
            conflicts: Some(QUESTION),
            interrupt: Some(self.interrupt),
        };
        lazy.solver.check(self.terms, &[world.path.term()], &budget) != Answer::Unsatisfiable
    }
}

/// The name of the file that has the functions of the library that are written in C.
pub(crate) const LIBRARY_FILE: &str = "patchwright-library.c";

/// The file is that of the library's models.
pub(crate) fn is_library(file: &str) -> bool {
    file.ends_with(LIBRARY_FILE)
}
