//! Calls of functions that no file defines, and what code elsewhere may have changed meanwhile.
//!
//! Where two versions are compared, such a call is an event: which function, with which arguments, and what it can look at. What it
//! gives and leaves behind are inputs that both versions share, told apart by how often the function was called before.

use std::{collections::BTreeSet, rc::Rc};

use patchwright_clib::{Fact, facts};
use patchwright_ir::{
    Callee, Global, InstructionKind, Linkage, Module, ObjectId, Program, RoutineId, Target, TempId,
    TerminatorKind, Type, Value,
};
use patchwright_solve::{Sort, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    argument_function::Known,
    calling::Call,
    encoder::{Dead, Encoder, Go, World},
    encoding::{InputKind, Piece, Place},
    library, meaning,
    memory::Kind,
    pointer::Number,
    segments::{AT, KEPT},
};

/// Bytes of an object that such a function can look at, and that are inputs afterwards, at most.
const MOST_SEEN: u64 = 512;
/// Bytes of an object at most that such a function may have written to.
const MOST_WRITTEN: u64 = 4096;
/// Objects at most that it can reach through its arguments.
const MOST_REACHED: usize = 256;

/// What is taken for granted of functions that got an address.
pub const NOTHING_KEPT: &str = "functions without a body neither look at nor write to an object later of which an earlier call got the address";

/// The format of the words of eight bytes that a function without a body can look at.
pub const SEEN: &str = " %lx";

/// Returns the objects of a program that code elsewhere may write to. That code knows them or has their address, or may call a
/// function that writes to them. Only objects count that the entry or a function that it calls uses.
fn exposed(program: &Program, entry: RoutineId) -> Vec<ObjectId> {
    let mut uses: FxHashMap<RoutineId, Uses> = FxHashMap::default();
    let mut taken: BTreeSet<RoutineId> = BTreeSet::new();
    let mut escaped: FxHashSet<ObjectId> = FxHashSet::default();
    for id in program.routine_ids() {
        if program.body(id).is_some() {
            let own = Uses::of(program, id);
            taken.extend(own.taken.iter().copied());
            escaped.extend(own.escaped.iter().copied());
            uses.insert(id, own);
        }
    }
    for index in 0..program.objects.len() as u32 {
        let id = ObjectId(index);
        let module = program.objects[id.index()].module;
        let data = program.global(id).data.iter();
        for relocation in data.flat_map(|data| &data.relocations) {
            match relocation.target {
                Target::Global(other) => {
                    escaped.insert(program.object_of(module, other));
                }
                Target::Function(other) => {
                    taken.insert(program.routine_of(module, other));
                }
            }
        }
    }
    let reached = |from: Vec<RoutineId>| {
        let mut seen: BTreeSet<RoutineId> = BTreeSet::new();
        let mut open = from;
        while let Some(next) = open.pop() {
            if seen.insert(next)
                && let Some(own) = uses.get(&next)
            {
                open.extend(own.calls.iter().chain(&own.taken).copied());
            }
        }
        seen
    };
    // What code elsewhere may call.
    let mut callable: Vec<RoutineId> = taken.into_iter().collect();
    for id in program.routine_ids() {
        let routine = program.routine(id);
        let file = program.modules[routine.module].files.first();
        let is_library = file.is_some_and(|file| crate::encoder::is_library(&file.path));
        if let Some(function) = program.body(id)
            && function.linkage != Linkage::Internal
            && !is_library
            && routine.name != "main"
        {
            callable.push(id);
        }
    }
    for id in reached(callable) {
        if let Some(own) = uses.get(&id) {
            escaped.extend(own.written.iter().copied());
        }
    }
    let mut used: FxHashSet<ObjectId> = FxHashSet::default();
    for id in reached(vec![entry]) {
        if let Some(own) = uses.get(&id) {
            used.extend(own.used.iter().copied());
        }
    }
    let mut all: Vec<ObjectId> = (0..program.objects.len() as u32)
        .map(ObjectId)
        .filter(|id| {
            let object = &program.objects[id.index()];
            let global = program.global(*id);
            let file = program.modules[object.module].files.first();
            let is_library = file.is_some_and(|file| crate::encoder::is_library(&file.path));
            let is_stream = matches!(global.name.as_str(), "stdin" | "stdout" | "stderr");
            // What segments of functions keep belongs to nobody.
            let is_own = global.name == AT || global.name.starts_with(KEPT);
            let is_known = global.linkage != Linkage::Internal || escaped.contains(id) && !is_own;
            used.contains(id) && is_known && !global.constant && !is_library && !is_stream
        })
        .collect();
    all.sort_by(|a, b| program.global(*a).name.cmp(&program.global(*b).name));
    all
}

/// Returns the names of the variables of static storage in a module that may hold something else later than in the beginning. Other
/// files know them, a function writes them, or a function hands their address to somebody.
pub fn changing(module: &Module) -> BTreeSet<String> {
    let is_known = |global: &&Global| global.linkage != Linkage::Internal;
    let known = module.globals.iter().filter(is_known);
    let mut all: BTreeSet<String> = known.map(|global| global.name.clone()).collect();
    let Ok(program) = Program::link(vec![module.clone()]) else {
        all.extend(module.globals.iter().map(|global| global.name.clone()));
        return all;
    };
    let mut add = |id: ObjectId| {
        all.insert(program.global(id).name.clone());
    };
    for id in program.routine_ids() {
        let own = Uses::of(&program, id);
        own.written
            .into_iter()
            .chain(own.escaped)
            .for_each(&mut add);
    }
    for (number, module) in program.modules.iter().enumerate() {
        let data = module.globals.iter().filter_map(|one| one.data.as_ref());
        for relocation in data.flat_map(|data| &data.relocations) {
            if let Target::Global(other) = relocation.target {
                add(program.object_of(number, other));
            }
        }
    }
    all
}

/// What a function does with functions and objects.
#[derive(Default)]
struct Uses {
    calls: Vec<RoutineId>,
    /// Functions whose addresses it takes.
    taken: Vec<RoutineId>,
    /// Objects that it names.
    used: Vec<ObjectId>,
    written: Vec<ObjectId>,
    /// Objects whose addresses it takes for more than an access.
    escaped: Vec<ObjectId>,
}

impl Uses {
    fn of(program: &Program, id: RoutineId) -> Uses {
        let module = program.routine(id).module;
        let mut own = Uses::default();
        // Temporaries that are addresses within an object.
        let mut within: FxHashMap<TempId, ObjectId> = FxHashMap::default();
        let Some(function) = program.body(id) else {
            return own;
        };
        let object = |value: Value, within: &FxHashMap<TempId, ObjectId>| match value {
            Value::Address {
                target: Target::Global(id),
                ..
            } => Some(program.object_of(module, id)),
            Value::Temp(temp) => within.get(&temp).copied(),
            _ => None,
        };
        for block in &function.blocks {
            for instruction in &block.instructions {
                use InstructionKind as I;
                for operand in instruction.operands() {
                    match operand.value {
                        Value::Address {
                            target: Target::Function(id),
                            ..
                        } => own.taken.push(program.routine_of(module, id)),
                        value => own.used.extend(object(value, &within)),
                    }
                }
                match &instruction.kind {
                    I::Load { .. } | I::LoadBits { .. } => {}
                    I::Store { address, value, .. } | I::StoreBits { address, value, .. } => {
                        own.written.extend(object(address.value, &within));
                        own.escaped.extend(object(value.value, &within));
                    }
                    I::Zero { address, .. } => {
                        own.written.extend(object(address.value, &within));
                    }
                    I::Copy { to, .. } => own.written.extend(object(to.value, &within)),
                    I::PointerAdd { dst, a, .. } | I::MemberAddress { dst, a, .. } => {
                        if let Some(found) = object(a.value, &within) {
                            within.insert(*dst, found);
                        }
                    }
                    // Comparisons and differences tell nobody the address.
                    I::Binary { .. } | I::Unary { .. } | I::PointerDifference { .. } => {}
                    I::Call {
                        dst,
                        callee,
                        arguments,
                        ..
                    } => {
                        let called = match callee {
                            Callee::Direct(id) => Some(program.routine_of(module, *id)),
                            Callee::Indirect(_) => None,
                        };
                        own.calls.extend(called);
                        let name = called.map_or("", |id| program.routine(id).name.as_str());
                        let keeps = keeps_address(name)
                            || dst.is_some_and(|dst| function.temporary(dst) == Type::Ptr);
                        for argument in arguments {
                            let found = object(argument.value.value, &within);
                            own.written.extend(found);
                            if keeps {
                                own.escaped.extend(found);
                            }
                        }
                    }
                    _ => {
                        for operand in instruction.operands() {
                            own.escaped.extend(object(operand.value, &within));
                        }
                    }
                }
            }
            if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                own.escaped.extend(object(value.value, &within));
            }
        }
        own
    }
}

/// Whether a function may keep the addresses that it gets, so that others know them.
fn keeps_address(name: &str) -> bool {
    let Some(known) = facts(name) else {
        return true;
    };
    known.iter().any(|fact| {
        matches!(
            fact,
            Fact::Stores(..) | Fact::CopyPointers(..) | Fact::Calls(..) | Fact::Unknown
        )
    })
}

/// An object that a function can reach through its arguments.
pub(crate) struct Reached {
    /// Its name, which means the same in another version.
    label: String,
    number: Number,
    /// It is reached through a pointer that does not lead to `const`.
    may_be_written: bool,
}

impl Encoder<'_> {
    /// Prepares for calls of functions that no file defines, where they are to be seen.
    pub(crate) fn begin_outside(&mut self, world: &mut World) {
        if self.options.outside.is_none() {
            return;
        }
        let program = self.program;
        for id in program.routine_ids() {
            let routine = program.routine(id);
            if routine.defined || library::is_known(&routine.name) {
                continue;
            }
            self.outside.insert(id, self.callbacks.len());
            self.callbacks.push(Known {
                name: routine.name.clone(),
                signature: None,
                given: Vec::new(),
            });
            let zero = self.terms.constant(32, 0);
            Rc::make_mut(&mut world.called).push(zero);
        }
    }

    /// The objects that code elsewhere may write to.
    fn exposed(&mut self) -> Rc<Vec<ObjectId>> {
        if let Some(known) = &self.exposed {
            return known.clone();
        }
        let found = Rc::new(match self.entry {
            Some(entry) => exposed(self.program, entry),
            None => Vec::new(),
        });
        self.exposed = Some(found.clone());
        found
    }

    /// The numbers of the objects that code elsewhere may write to.
    pub(crate) fn exposed_numbers(&mut self) -> Vec<Number> {
        let exposed = self.exposed();
        let numbers = exposed.iter().map(|id| self.globals[id.index()]);
        numbers.collect()
    }

    /// Code elsewhere was executed: what it may write to is not known from here on. `at` is the number of the function.
    pub(crate) fn others_may_write(
        &mut self,
        at: Option<usize>,
        call: &Call<'_>,
        world: &mut World,
    ) -> Go<()> {
        let program = self.program;
        for &id in self.exposed().iter() {
            let number = self.globals[id.index()];
            let is_shared = self.is_shared(&program.global(id).name);
            match at.filter(|_| is_shared) {
                Some(at) => {
                    let name = program.global(id).name.clone();
                    self.leaves_in(at, call, &name, number, world)?;
                }
                None => {
                    let what = format!("what `{}` writes", call.name);
                    self.forget_or_end(&what, call, number, world)?;
                }
            }
            self.note(format!(
                "`{}` may hold anything after a call of `{}`, which may write it",
                program.global(id).name,
                call.name
            ));
        }
        Ok(())
    }

    fn is_shared(&self, name: &str) -> bool {
        let shared = self.options.outside.as_ref();
        shared.is_some_and(|shared| shared.contains(name))
    }

    fn forget_or_end(
        &mut self,
        what: &str,
        call: &Call<'_>,
        number: Number,
        world: &mut World,
    ) -> Go<()> {
        let too_large = world
            .memory
            .get(number)
            .is_some_and(|object| object.most > MOST_WRITTEN || object.content.is_array());
        if too_large {
            let reason = format!(
                "`{}` has no body, and may write to `{}`, which is large",
                call.name, self.names[number as usize]
            );
            self.unknown(world, reason, call.place);
            return Err(Dead);
        }
        self.others_wrote(world, number, what);
        Ok(())
    }

    /// A call of a function that no file defines, which both versions may make.
    pub(crate) fn outside_call(
        &mut self,
        at: usize,
        call: &Call<'_>,
        world: &mut World,
    ) -> Go<Option<Term>> {
        let reached = self.reached_by(call, world)?;
        let globals = self.shared_globals();
        self.write_outside_call(call, &reached, &globals, world);
        let before = world.called[at];
        self.leaves_behind(at, call, &reached, world)?;
        self.note(format!(
            "`{}` has no body: its calls have to be the same in both versions, and give the same then{}",
            call.name,
            call.but_const()
        ));
        let value = match call.result {
            Type::Void => None,
            ty => match meaning::sort(ty).filter(|_| ty != Type::Ptr) {
                Some(sort) => {
                    let name = format!("{}_gives", call.name);
                    let value =
                        self.outside_value(at, (ty, sort), &name, before, world, call.place);
                    Some(self.narrowed(ty, value))
                }
                None => {
                    let reason = format!(
                        "`{}` has no body, and what it returns is not a number",
                        call.name
                    );
                    self.unknown(world, reason, call.place);
                    return Err(Dead);
                }
            },
        };
        let one = self.terms.constant(32, 1);
        Rc::make_mut(&mut world.called)[at] = self.terms.add(before, one);
        Ok(value)
    }

    /// The globals that code elsewhere may write to, and that both versions have.
    fn shared_globals(&mut self) -> Vec<(String, Number)> {
        self.exposed()
            .iter()
            .map(|id| {
                (
                    self.program.global(*id).name.clone(),
                    self.globals[id.index()],
                )
            })
            .filter(|(name, _)| self.is_shared(name))
            .collect()
    }

    /// What a call leaves in all that it may write to: the same in both versions.
    pub(crate) fn leaves_behind(
        &mut self,
        at: usize,
        call: &Call<'_>,
        reached: &[Reached],
        world: &mut World,
    ) -> Go<()> {
        let globals = self.shared_globals();
        // Whether such a call came before is not known of each path, so what is seen later stays out of the comparison.
        if self.addresses_given {
            self.note(NOTHING_KEPT.to_owned());
        }
        self.addresses_given |= reached.iter().any(|one| {
            let object = world.memory.get(one.number);
            self.handed_over.contains(&one.number)
                || object.is_some_and(|object| matches!(object.kind, Kind::Stack | Kind::Heap))
        });
        for one in reached {
            let is_written = one.may_be_written
                && world.memory.get(one.number).is_some_and(|object| {
                    matches!(object.kind, Kind::Global | Kind::Stack | Kind::Heap)
                });
            if is_written && !globals.iter().any(|(_, other)| *other == one.number) {
                self.leaves_in(at, call, &one.label, one.number, world)?;
            }
        }
        self.others_may_write(Some(at), call, world)
    }

    /// What such a call leaves in an object: the same in both versions.
    fn leaves_in(
        &mut self,
        at: usize,
        call: &Call<'_>,
        label: &str,
        number: Number,
        world: &mut World,
    ) -> Go<()> {
        let what = format!("what `{}` writes", call.name);
        let Some(object) = world.memory.get(number).cloned() else {
            return Ok(());
        };
        self.forget_or_end(&what, call, number, world)?;
        let before = world.called[at];
        let size = object.most;
        let written = self.terms.truth(true);
        let width = match size {
            1 | 2 | 4 => size as u32,
            size if size % 8 == 0 => 8,
            size if size % 4 == 0 => 4,
            _ => 1,
        };
        let mut place = 0;
        while place < size {
            let sort = Sort::Bits(8 * width);
            let name = match u64::from(width) == size {
                true => format!("{}_leaves_{label}", call.name),
                false => format!("{}_leaves_{label}+{place}", call.name),
            };
            // It may be a pointer, of which nothing is known.
            let value = match width == 8 || size > MOST_SEEN {
                true => {
                    let offset = self.word(place);
                    let what = format!("what `{}` leaves in `{label}`", call.name);
                    self.open_for("", &what, &[before, offset], sort)
                }
                false => {
                    let ty = match width {
                        1 => Type::U8,
                        2 => Type::I16,
                        _ => Type::I32,
                    };
                    self.outside_value(at, (ty, sort), &name, before, world, call.place)
                }
            };
            if let Some(object) = world.memory.change(number) {
                object
                    .content
                    .write(self.terms, place, width, value, written);
            }
            place += u64::from(width);
        }
        Ok(())
    }

    /// Returns the objects that a function can reach through its arguments and the pointers behind them. Each has a name that
    /// means the same in another version.
    pub(crate) fn reached_by(&mut self, call: &Call<'_>, world: &mut World) -> Go<Vec<Reached>> {
        let mut found: Vec<Reached> = Vec::new();
        let mut open: Vec<(String, Term, bool)> = Vec::new();
        for (index, &(ty, value)) in call.arguments.iter().enumerate() {
            if let (Type::Ptr | Type::Aggregate { .. }, Some(value)) = (ty, value) {
                let label = format!("argument{}", index + 1);
                open.push((label, value, call.may_write_behind(index)));
            }
        }
        // What may be written comes first, so that it is told from what is only looked at.
        open.reverse();
        open.sort_by_key(|(.., may_be_written)| *may_be_written);
        while let Some((label, pointer, may_be_written)) = open.pop() {
            let targets = self.pointers.targets(self.terms, pointer);
            let mut lost = targets.opaque.is_some() && !self.is_plain(pointer);
            for leaf in &targets.leaves {
                let Some(object) = world.memory.get(leaf.object).cloned() else {
                    continue;
                };
                // It may call it.
                lost |= matches!(object.kind, Kind::Function(_) | Kind::Callback(_));
                if lost {
                    break;
                }
                let is_known = found.iter().any(|one| one.number == leaf.object);
                if is_known || self.streams.contains_key(&leaf.object) {
                    continue;
                }
                let same = found.iter().filter(|other| {
                    let rest = other.label.strip_prefix(&label);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
                });
                let own = match same.count() {
                    0 => label.clone(),
                    count => format!("{label}#{}", count + 1),
                };
                found.push(Reached {
                    label: own.clone(),
                    number: leaf.object,
                    may_be_written,
                });
                lost |= object.most > MOST_WRITTEN
                    || object.content.is_array()
                    || found.len() > MOST_REACHED;
                if lost {
                    break;
                }
                for (at, width) in object.content.layout(0, object.most) {
                    if width == 8 {
                        let inner = object.content.read(self.terms, at, width).value;
                        open.push((format!("{own}.{at}"), inner, may_be_written));
                    }
                }
            }
            if lost {
                let reason = format!(
                    "`{}` has no body, and what it may write to is not known",
                    call.name
                );
                self.unknown(world, reason, call.place);
                return Err(Dead);
            }
        }
        Ok(found)
    }

    /// Writes which function is called, and what it can look at.
    fn write_outside_call(
        &mut self,
        call: &Call<'_>,
        reached: &[Reached],
        globals: &[(String, Number)],
        world: &World,
    ) {
        let mut before = format!("[{}(", call.name);
        for &(ty, value) in call.arguments {
            let spelled = match ty {
                Type::Ptr | Type::Aggregate { .. } => "%p",
                Type::F32 | Type::F64 => "%g",
                Type::I64 => "%ld",
                Type::U64 => "%lu",
                ty if ty.is_signed() => "%d",
                _ => "%u",
            };
            let spelled = format!("{before}{spelled}");
            before = ", ".to_owned();
            let Some(value) = value else {
                self.see_not(format!("a value that `{}` is called with", call.name));
                continue;
            };
            let (ty, value) = match ty {
                Type::Ptr => (Type::U64, self.place_number(value)),
                Type::Aggregate { .. } => continue,
                ty => (ty, value),
            };
            self.print(world, false, Piece::Value(spelled, ty, value));
        }
        if call.arguments.is_empty() {
            self.print(world, false, Piece::Text(before.into_bytes()));
        }
        let globals = globals.iter().map(|(name, number)| (name, *number));
        let reached = reached.iter().map(|one| (&one.label, one.number));
        for (label, number) in reached.chain(globals) {
            self.write_seen(call, label, number, world);
        }
        self.print(world, false, Piece::Text(b")]".to_vec()));
    }

    /// Says what a version does that can be seen and is not part of the outcome.
    pub(crate) fn see_not(&mut self, what: String) {
        if !self.unseen.contains(&what) {
            self.unseen.push(what);
        }
    }

    /// Writes what an object holds, in words.
    fn write_seen(&mut self, call: &Call<'_>, label: &str, number: Number, world: &World) {
        let Some(object) = world.memory.get(number).cloned() else {
            return;
        };
        let is_whole = self.terms.as_constant(object.size) == Some(u128::from(object.most))
            || object.start.is_some();
        if object.most > MOST_SEEN || !is_whole || object.content.is_array() {
            self.see_not(format!("what `{}` finds in `{label}`", call.name));
            return;
        }
        let mut at = 0;
        while at < object.most {
            let width = (object.most - at).min(8) as u32;
            let mut value: Option<Term> = None;
            for place in (at..at + u64::from(width)).rev() {
                let read = object.content.read(self.terms, place, 1);
                let zero = self.terms.constant(8, 0);
                let byte = self.terms.ite(read.written, read.value, zero);
                value = Some(match value {
                    None => byte,
                    Some(high) => self.terms.concat(high, byte),
                });
            }
            if width == 8 {
                let word = object.content.read(self.terms, at, 8).value;
                let targets = self.pointers.targets(self.terms, word);
                if targets.leaves.iter().any(|leaf| leaf.object != 0) {
                    value = Some(self.place_number(word));
                }
            }
            if let Some(value) = value {
                let value = self.terms.zero_extend(value, 64);
                let piece = Piece::Value(SEEN.to_owned(), Type::U64, value);
                self.print(world, false, piece);
            }
            at += u64::from(width);
        }
    }

    /// An input that belongs to the call of a function before which it was called `before` times.
    fn outside_value(
        &mut self,
        at: usize,
        (ty, sort): (Type, Sort),
        name: &str,
        before: Term,
        world: &World,
        place: &Place,
    ) -> Term {
        let function = self.callbacks[at].name.clone();
        let kind = InputKind::Outside { function, ty };
        self.numbered(at, &kind, (name, sort), before, world, place)
    }
}
