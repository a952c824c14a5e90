//! Encodes the beginning and the end: objects of the program, arguments, and the final state.

use std::rc::Rc;

use patchwright_ir::{Data, ObjectId, RoutineId, Type};
use patchwright_solve::{Sort, Term};
use rustc_hash::FxHashMap;

use crate::{
    content::{Content, Read},
    encoder::{Argument, Encoder, Go, World},
    encoding::{EncodeError, Encoding, FailureKind, Input, InputKind, Outcome, Place},
    meaning,
    memory::{Kind, Memory, Object},
    options::{Check, Entry},
    path::Path,
    run::Returned,
    visible::Visible,
};

/// Bytes of an object that are part of the outcome at most.
const MOST_VISIBLE: u64 = 4096;

/// Bytes that are encoded of an object whose size no declaration tells.
const LEAST_ELSEWHERE: u64 = 16;

/// It belongs to the models of the library, which are no part of the program.
fn is_in_library(program: &patchwright_ir::Program, object: &patchwright_ir::Object) -> bool {
    let file = program.modules[object.module].files.first();
    file.is_some_and(|file| crate::encoder::is_library(&file.path))
}

impl Encoder<'_> {
    /// Encodes the whole program.
    pub(crate) fn program(mut self, entry: &Entry) -> Result<Encoding, EncodeError> {
        let name = match entry {
            Entry::Main { .. } => "main",
            Entry::Function { name, .. } => name.as_str(),
        };
        let routine = self.find(name)?;
        let mut world = World {
            path: Path::start(self.terms),
            memory: Memory::default(),
            input_at: self.terms.constant(32, 0),
            input_most: 0,
            input_over: self.terms.truth(false),
            called: Rc::default(),
        };
        let place = self.start_place(routine);
        self.entry = Some(routine);
        self.begin_outside(&mut world);
        let mut visible = self.place_objects(&mut world, &place);
        self.make_errno(&mut world, matches!(entry, Entry::Main { .. }));
        self.hooks(&world, entry, &place);
        let arguments = match entry {
            Entry::Main { arguments, longest } => {
                // When a program has ended, nobody sees what its variables are.
                visible.clear();
                self.main_arguments(routine, &mut world, *arguments, *longest, &place)
            }
            Entry::Function { parameters, .. } => {
                let expected = self.program.function(routine).parameters.len();
                if expected != parameters.len() {
                    return Err(EncodeError::Parameters {
                        name: name.to_owned(),
                        expected,
                        given: parameters.len(),
                    });
                }
                self.arguments(parameters, &mut world, &place, &mut visible)
            }
        };
        let result_type = self.program.function(routine).result;
        let result_address = match result_type {
            Type::Aggregate { size } => {
                let address = self.new_object(&mut world, Kind::Global, size, "result", true);
                let number = self.number_of(address).unwrap_or(0);
                visible.push(Visible {
                    name: "result".to_owned(),
                    number,
                    size,
                    origin: 0,
                    element: None,
                });
                Some(address)
            }
            _ => None,
        };
        let begins: Vec<Option<Rc<Object>>> = visible
            .iter()
            .map(|one| world.memory.get(one.number).cloned())
            .collect();
        self.visible = visible;
        let returned = self.call_body(routine, &arguments, world, result_address, &place);
        let visible = std::mem::take(&mut self.visible);
        let outcome = self.outcome(entry, result_type, returned, (&visible, &begins), &place);
        if self.stopped {
            return Err(EncodeError::Interrupted);
        }
        Ok(self.finish(outcome))
    }

    fn find(&self, name: &str) -> Result<RoutineId, EncodeError> {
        let program = self.program;
        let mut found = program
            .routine_ids()
            .filter(|&id| program.routine(id).name == name && program.routine(id).defined);
        let Some(first) = found.next() else {
            return Err(EncodeError::NoFunction(name.to_owned()));
        };
        match found.count() {
            0 => Ok(first),
            more => Err(EncodeError::Several {
                name: name.to_owned(),
                count: more + 1,
            }),
        }
    }

    /// Functions that run before `main` or at the end of the program are not encoded.
    fn hooks(&mut self, world: &World, entry: &Entry, place: &Place) {
        if !matches!(entry, Entry::Main { .. }) {
            return;
        }
        let program = self.program;
        for module in &program.modules {
            for hook in module.constructors.iter().chain(&module.destructors) {
                let name = &module.function(hook.function).name;
                let reason = format!("`{name}`, which runs before `main` or at the end");
                self.unknown(world, reason, place);
            }
        }
    }

    fn start_place(&self, routine: RoutineId) -> Place {
        let module = self.program.routine(routine).module;
        self.place(
            module,
            self.program.function(routine),
            crate::calling::NO_ORIGIN,
        )
    }

    /// Numbers for all routines and objects of the program, and the objects' initial values.
    fn place_objects(&mut self, world: &mut World, place: &Place) -> Vec<Visible> {
        let program = self.program;
        for id in program.routine_ids() {
            let object = Object {
                kind: Kind::Function(id.0),
                name: program.routine(id).name.as_str().into(),
                start: None,
                size: self.word(0),
                most: 0,
                alive: self.terms.truth(true),
                content: Content::zero(""),
            };
            let number = self.allocate(world, object);
            self.routines.push(number);
        }
        let mut visible = Vec::new();
        for index in 0..program.objects.len() as u32 {
            let id = ObjectId(index);
            let global = program.global(id);
            let entry = &program.objects[id.index()];
            // Its own name is left for what it holds at the start.
            let unique = self.internal(&format!("bytes of {}", global.name));
            let content = match &global.data {
                Some(data) if entry.defined => Content::bytes(&unique, &data.bytes),
                _ => Content::zero(&unique),
            };
            let is_of_unknown_size = !entry.defined && global.size == 0;
            let size = match is_of_unknown_size {
                true => LEAST_ELSEWHERE,
                false => global.size,
            };
            let object = Object {
                kind: match global.constant {
                    true => Kind::Constant,
                    false => Kind::Global,
                },
                name: match is_in_library(program, entry)
                    && global.linkage == patchwright_ir::Linkage::Internal
                {
                    true => crate::access::OF_LIBRARY.into(),
                    false => global.name.as_str().into(),
                },
                start: None,
                size: self.word(size),
                most: size,
                alive: self.terms.truth(true),
                content,
            };
            let number = self.allocate(world, object);
            self.globals.push(number);
            if is_of_unknown_size {
                self.of_unknown_size.insert(number);
            }
            if !global.constant
                && !is_in_library(program, entry)
                && entry.defined
                && let Some(name) = visible_name(&global.name, &visible)
            {
                visible.push(Visible {
                    name,
                    number,
                    size,
                    origin: 0,
                    element: None,
                });
            }
        }
        for index in 0..program.objects.len() as u32 {
            let id = ObjectId(index);
            let global = program.global(id);
            let entry = &program.objects[id.index()];
            let number = self.globals[id.index()];
            match &global.data {
                Some(data) if entry.defined => {
                    if let Some(reason) = &global.unsupported {
                        let reason = format!("the initial value of `{}`: {reason}", global.name);
                        self.unknown(world, reason, place);
                    }
                    self.relocate(world, number, data, entry.module);
                    if self.options.havoc
                        && !is_in_library(program, entry)
                        && data.bytes.is_empty()
                        && data.relocations.is_empty()
                        && !global.constant
                    {
                        self.any_bytes(world, number, &global.name, global.size, place);
                    }
                }
                _ => self.object_of_library(world, number, &global.name, place),
            }
        }
        visible
    }

    fn relocate(&mut self, world: &mut World, number: u32, data: &Data, module: usize) {
        for relocation in &data.relocations {
            let target = match relocation.target {
                patchwright_ir::Target::Global(id) => {
                    self.globals[self.program.object_of(module, id).index()]
                }
                patchwright_ir::Target::Function(id) => {
                    self.routines[self.program.routine_of(module, id).index()]
                }
            };
            let value = self.pointers.address(self.terms, target, relocation.addend);
            let written = self.terms.truth(true);
            if let Some(object) = world.memory.change(number) {
                object
                    .content
                    .write(self.terms, relocation.offset, 8, value, written);
            }
        }
    }

    /// Any initial value, in words.
    fn any_bytes(&mut self, world: &mut World, number: u32, name: &str, size: u64, place: &Place) {
        let written = self.terms.truth(true);
        let single = matches!(size, 1 | 2 | 4 | 8);
        let mut at = 0;
        while at < size {
            let width = match single {
                true => size,
                false => (size - at).min(4),
            };
            let ty = match width {
                1 => Type::U8,
                2 => Type::U16,
                8 => Type::I64,
                _ => Type::I32,
            };
            let part = match single {
                true => name.to_owned(),
                false => format!("{name}+{at}"),
            };
            let sort = Sort::Bits(width as u32 * 8);
            let value = self.input(&part, InputKind::Initial(ty), sort, world, place.clone());
            if let Some(object) = world.memory.change(number) {
                object
                    .content
                    .write(self.terms, at, width as u32, value, written);
            }
            at += width;
        }
    }

    /// What a program finds in an object that it only declares.
    fn object_of_library(&mut self, world: &mut World, number: u32, name: &str, place: &Place) {
        let error = match name {
            "stdin" => None,
            "stdout" => Some(false),
            "stderr" => Some(true),
            "environ" | "__environ" | "_environ" => {
                self.forget_content(world, number, "what the environment is");
                return;
            }
            _ => {
                let size = world.memory.get(number).map_or(0, |object| object.most);
                self.note(format!(
                    "`{name}` has no definition: it is taken to hold any value"
                ));
                self.any_bytes(world, number, name, size, place);
                return;
            }
        };
        let stream = self.new_object(world, Kind::Global, 0, name, true);
        if let Some(stream) = self.number_of(stream) {
            self.streams.insert(stream, error);
        }
        let written = self.terms.truth(true);
        if let Some(object) = world.memory.change(number) {
            object.content.write(self.terms, 0, 8, stream, written);
        }
    }

    /// `argc`, `argv` and the environment, of which nothing is known.
    fn main_arguments(
        &mut self,
        routine: RoutineId,
        world: &mut World,
        count: u32,
        longest: u32,
        place: &Place,
    ) -> Vec<(Type, Option<Term>)> {
        let parameters = &self.program.function(routine).parameters;
        if parameters.is_empty() {
            return Vec::new();
        }
        let parameters: Vec<Type> = parameters.iter().map(|parameter| parameter.ty).collect();
        self.note(match count {
            0 => "the program gets no arguments (--arguments gives it some)".to_owned(),
            1 => format!("the program gets 1 argument, of at most {longest} bytes"),
            _ => format!("the program gets {count} arguments, of at most {longest} bytes each"),
        });
        let yes = self.terms.truth(true);
        let argc = self.terms.constant(32, u128::from(count) + 1);
        let vector = self.new_object(
            world,
            Kind::Global,
            8 * (u64::from(count) + 2),
            "argv",
            true,
        );
        let program = self.new_object(world, Kind::Global, 8, "argv[0]", true);
        let mut strings = vec![(program, b"program".to_vec(), 0)];
        for number in 1..=count {
            let name = format!("argv[{number}]");
            let string = self.new_object(world, Kind::Global, u64::from(longest) + 1, &name, true);
            strings.push((string, Vec::new(), number));
        }
        for (index, (string, text, number)) in strings.into_iter().enumerate() {
            let mut bytes = Vec::new();
            for byte in text {
                bytes.push(self.terms.constant(8, u128::from(byte)));
            }
            if number > 0 {
                for at in 0..longest {
                    let name = format!("argv[{number}][{at}]");
                    let kind = InputKind::ArgumentByte(number, at);
                    bytes.push(self.input(&name, kind, Sort::Bits(8), world, place.clone()));
                }
            }
            for (at, &byte) in bytes.iter().enumerate() {
                self.initial(world, string, at as u64, 1, byte);
            }
            if let Some(object) = self.number_of(string) {
                if number > 0 {
                    self.end_with_nul(world, object, &bytes);
                }
                let argument = Argument { number, bytes };
                self.arguments.insert(object, Rc::new(argument));
            }
            let slot = self.moved(vector, 8 * index as u64);
            let read = Read {
                value: string,
                written: yes,
            };
            // The vector is our own and large enough.
            let _ = self.write(world, slot, 8, read, place);
        }
        let environment = match parameters.len() {
            0..=2 => self.word(0),
            _ => self.environment(world),
        };
        [argc, vector, environment]
            .into_iter()
            .zip(parameters)
            .map(|(value, ty)| (ty, Some(value)))
            .collect()
    }

    /// The environment: how many texts it has, and which, is not known.
    fn environment(&mut self, world: &mut World) -> Term {
        let address = self.new_object(world, Kind::Global, 8, "environ", true);
        if let Some(number) = self.number_of(address) {
            self.of_unknown_size.insert(number);
            self.forget_content(world, number, "what the environment is");
        }
        address
    }

    /// An argument of the program has no more bytes than those of its text, and the NUL.
    fn end_with_nul(&mut self, world: &mut World, object: u32, bytes: &[Term]) {
        let mut size = self.word(bytes.len() as u64 + 1);
        for (at, &byte) in bytes.iter().enumerate().rev() {
            let zero = self.terms.constant(8, 0);
            let is_end = self.terms.eq(byte, zero);
            let here = self.word(at as u64 + 1);
            size = self.terms.ite(is_end, here, size);
        }
        if let Some(object) = world.memory.change(object) {
            object.size = size;
        }
    }

    /// Writes part of the initial value of an object.
    pub(crate) fn initial(
        &mut self,
        world: &mut World,
        object: Term,
        at: u64,
        width: u32,
        value: Term,
    ) {
        let written = self.terms.truth(true);
        if let Some(number) = self.number_of(object)
            && let Some(object) = world.memory.change(number)
        {
            object.content.write(self.terms, at, width, value, written);
        }
    }

    fn outcome(
        &mut self,
        entry: &Entry,
        result_type: Type,
        returned: Go<Returned>,
        (visible, begins): (&[Visible], &[Option<Rc<Object>>]),
        place: &Place,
    ) -> Outcome {
        let mut outcome = Outcome {
            output: std::mem::take(&mut self.output),
            ..Outcome::default()
        };
        let mut last: Option<World> = None;
        let is_main = matches!(entry, Entry::Main { .. });
        let mut status: Option<Term> = None;
        let mut ends = self.terms.truth(false);
        if let Ok(returned) = returned {
            ends = returned.world.path.term();
            if let Some(value) = returned.value
                && meaning::width(result_type).is_some()
            {
                outcome.result = Some((result_type, value));
                status = Some(value);
                if result_type == Type::Ptr {
                    outcome.leads = self.leads(value, visible);
                }
            }
            last = Some(returned.world);
        }
        if self.is_along() {
            self.account_for_end(ends, place);
        }
        let exits = std::mem::take(&mut self.exits);
        for (condition, code, world) in exits {
            ends = self.terms.or(ends, condition);
            outcome.exits.push((condition, code));
            last = Some(match last.take() {
                None => world,
                Some(other) => self.meet(&other, &world, place).0,
            });
        }
        if is_main {
            // A program's status is what it returns or exits with.
            let mut whole = match status {
                Some(status) => {
                    let low = self.terms.extract(status, 7, 0);
                    self.terms.zero_extend(low, 32)
                }
                None => self.terms.constant(32, 0),
            };
            for (condition, code) in outcome.exits.drain(..) {
                whole = self.terms.ite(condition, code, whole);
            }
            outcome.result = Some((Type::I32, whole));
        }
        outcome.ends = Some(ends);
        if let Some(world) = last {
            if self.options.checks.contains(&Check::Leak) {
                match is_main {
                    true => self.leaks(&world, place),
                    false => self.lost_memory(&world, outcome.result, visible, place),
                }
            }
            if !is_main
                && let Some(number) = self.errno.and_then(|address| self.number_of(address))
                && let Some(errno) = world.memory.get(number).cloned()
            {
                outcome.errno = Some(errno.content.read(self.terms, 0, 4).value);
                outcome.uses_errno = self.uses_errno;
                if self.uses_errno && self.options.outside.is_some() {
                    let term = self.input_variable("errno", Sort::Bits(32));
                    self.inputs.push(Input {
                        name: "errno".to_owned(),
                        kind: InputKind::Outside {
                            function: "errno".to_owned(),
                            ty: Type::I32,
                        },
                        term,
                        condition: ends,
                        place: place.clone(),
                    });
                }
            }
            // Nobody sees what a program leaves in its variables.
            let seen = visible.iter().zip(begins).filter(|_| !is_main);
            for (object, begin) in seen {
                if let Some(bytes) = self.bytes_of(&world, object) {
                    let now = world.memory.get(object.number).cloned();
                    if let (Some(now), Some(begin)) = (&now, begin)
                        && !Rc::ptr_eq(now, begin)
                        && !begin.content.is_array()
                    {
                        let mut same = self.terms.truth(true);
                        for (at, width) in now.content.layout(0, object.size) {
                            let before = begin.content.read(self.terms, at, width);
                            let after = now.content.read(self.terms, at, width);
                            let equal = self.terms.eq(before.value, after.value);
                            same = self.terms.and(same, equal);
                        }
                        let changed = self.terms.not(same);
                        let changed = self.terms.and(ends, changed);
                        outcome.changed.push((object.name.clone(), changed));
                    }
                    let pointers = self.leads_of(&bytes, visible).into_iter();
                    let pointers = pointers.map(|(at, leads)| (object.name.clone(), at, leads));
                    outcome.pointers.extend(pointers);
                    outcome.objects.push((object.name.clone(), bytes));
                }
            }
        }
        outcome
    }

    /// Memory that is still there at the end.
    fn leaks(&mut self, world: &World, place: &Place) {
        self.looked(FailureKind::Leak, place);
        let numbers: Vec<u32> = world.memory.numbers().collect();
        for number in numbers {
            let Some(object) = world.memory.get(number).cloned() else {
                continue;
            };
            if object.kind == Kind::Heap {
                self.fail(
                    world,
                    object.alive,
                    FailureKind::Leak,
                    || "memory that is never freed".to_owned(),
                    place,
                );
            }
        }
    }

    /// Memory that a function has made, that is still there, and to which nothing leads that the caller has.
    fn lost_memory(
        &mut self,
        world: &World,
        result: Option<(Type, Term)>,
        visible: &[Visible],
        place: &Place,
    ) {
        self.looked(FailureKind::Leak, place);
        let numbers: Vec<u32> = world.memory.numbers().collect();
        let heap = |encoder: &Encoder<'_>, number: u32| {
            encoder.numbers.get(number as usize) == Some(&Kind::Heap)
        };
        let own: Vec<u32> = numbers
            .iter()
            .copied()
            .filter(|&one| heap(self, one))
            .collect();
        if own.is_empty() {
            return;
        }
        let no = self.terms.truth(false);
        let always = self.terms.truth(true);
        let mut kept: FxHashMap<u32, Term> = own.iter().map(|&one| (one, no)).collect();
        let is_seen = |number: u32| visible.iter().any(|one| one.number == number);
        let mut holders: Vec<(Option<u32>, Term)> = Vec::new();
        holders.extend(
            result
                .filter(|(ty, _)| *ty == Type::Ptr)
                .map(|(_, value)| (None, value)),
        );
        let mut is_vague = false;
        for &number in &numbers {
            let Some(object) = world.memory.get(number).cloned() else {
                continue;
            };
            let is_own = object.kind == Kind::Heap;
            if !is_own && object.kind != Kind::Global && !is_seen(number) {
                continue;
            }
            is_vague |= object.content.is_array() && object.most >= 8;
            if object.content.is_array() {
                continue;
            }
            for (at, width) in object.content.layout(0, object.most) {
                if width == 8 {
                    let read = object.content.read(self.terms, at, 8);
                    if self.terms.as_truth(read.written) != Some(false) {
                        holders.push((is_own.then_some(number), read.value));
                    }
                }
            }
        }
        // What leads on from one piece of memory counts where that one is kept.
        for _ in 0..=own.len() {
            let before = kept.clone();
            for &(holder, value) in &holders {
                let targets = self.pointers.targets(self.terms, value);
                is_vague |= targets.opaque.is_some() && !self.is_plain(value);
                let from = holder.map_or(always, |holder| before[&holder]);
                for leaf in &targets.leaves {
                    if let Some(&known) = kept.get(&leaf.object) {
                        let here = self.terms.and(from, leaf.condition);
                        kept.insert(leaf.object, self.terms.or(known, here));
                    }
                }
            }
            if kept == before {
                break;
            }
        }
        for number in own {
            let Some(object) = world.memory.get(number).cloned() else {
                continue;
            };
            let gone = self.terms.not(kept[&number]);
            let lost = self.terms.and(object.alive, gone);
            if is_vague || self.has_unknown_callee {
                let reason = "whether something still leads to memory that is not freed";
                self.unknown_where(world, lost, reason, place);
                continue;
            }
            let message =
                || "memory to which nothing leads any more, and that is not freed".to_owned();
            self.fail(world, lost, FailureKind::Leak, message, place);
        }
    }

    fn bytes_of(&mut self, world: &World, object: &Visible) -> Option<Vec<Term>> {
        let held: Rc<Object> = world.memory.get(object.number)?.clone();
        if object.size > MOST_VISIBLE {
            self.note(format!(
                "`{}` is too large to be compared at the end",
                object.name
            ));
            return None;
        }
        let layout = held.content.layout(0, object.size);
        let mut parts = Vec::with_capacity(layout.len());
        for (at, width) in layout {
            let read = held.content.read(self.terms, at, width);
            parts.push(read.value);
        }
        Some(parts)
    }
}

/// What a caller knows a global as; nothing if nobody but the compiler has a name for it. Variables that are static within
/// functions are seen by the next call. The numbers in their names are of one version: they count from the first of a name.
fn visible_name(name: &str, others: &[Visible]) -> Option<String> {
    let Some((base, number)) = name.split_once('.') else {
        return Some(name.to_owned());
    };
    let is_local = !base.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_local {
        return None;
    }
    let alike = |at: usize| match at {
        1 => format!("static {base}"),
        _ => format!("static {base} #{at}"),
    };
    (1..)
        .map(alike)
        .find(|name| others.iter().all(|other| other.name != *name))
}
