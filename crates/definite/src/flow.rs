//! Follows the flow of one function: which objects are written on every path to each of its points.
//!
//! Objects are the function's variables, the memory that it allocates, and what its parameters point to. Pointers are followed through
//! temporaries and variables that are registers; one that comes from memory points to nothing that is known. So what others have
//! written is not seen: that makes findings more, not fewer, and those that the untouched function has too are no reason for a doubt.

mod calls;
mod promise;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use patchwright_ir::{
    BlockId, Callee, Function, FunctionId, Instruction, InstructionKind, LocalId, LocalKind,
    Module, Operand, OriginId, TempId, Terminator, TerminatorKind, Type, Value,
};
use rustc_hash::FxHashMap;

use self::promise::{Follows, Promise};
pub(crate) use self::state::Pointer;
use self::state::{State, disturb, escape, write};
use crate::bytes::{Bytes, END, Ranges};
use crate::library;
use crate::summary::{Effect, Fresh, Summary};

/// The origin of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Local(LocalId),
    /// What the parameter with this number points to.
    Parameter(usize),
    /// Memory that is allocated where this temporary is defined.
    Heap(TempId),
}

/// An object that a function knows.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub kind: Kind,
    /// What messages call it; the same in the untouched function.
    pub label: String,
    /// Bytes, if that is known.
    pub size: Option<i64>,
}

/// What the analysis says of one object or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Nothing of it is written on some way; else perhaps it is.
    pub is_sure: bool,
    /// The place in the source of the use.
    pub origin: OriginId,
    /// Of what object, if it is of one.
    pub object: Option<usize>,
    /// For each use what results of calls were found to be that perhaps wrote it; nothing if it is used without such a check.
    pub promised: Vec<BTreeSet<u64>>,
}

impl Found {
    /// Whether the value is used only where the result of a call promises that it was written.
    pub fn is_promised(&self) -> bool {
        !self.promised.is_empty()
    }

    /// Whether the finding has no other grounds than `other`.
    pub fn rests_on(&self, other: &Found) -> bool {
        let known = |checks: &BTreeSet<u64>| {
            let mut others = other.promised.iter();
            others.any(|other| !other.is_disjoint(checks))
        };
        self.promised.iter().all(known)
    }
}

/// The result of the analysis of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// What may be used without a value, by what messages say.
    pub found: BTreeMap<String, Found>,
    /// Memory that it allocates and hands to others, and what is written of it by then.
    pub given: BTreeMap<String, Bytes>,
    /// What callers may rely on.
    pub summary: Rc<Summary>,
    /// Calls of functions of the module that write, or not, what is used without a value: the function and its parameter.
    pub relies: Vec<(FunctionId, usize)>,
    /// Its objects.
    pub objects: Vec<Object>,
    /// Where its temporaries point.
    pub pointers: Vec<Pointer>,
    /// Everything in it is understood.
    pub is_whole: bool,
    /// It calls a function with fewer arguments than that takes.
    pub lacks_arguments: bool,
}

/// Tells what functions do to memory.
pub(crate) trait Callees {
    /// Of a function of the module that has a body.
    fn summary(&self, function: FunctionId) -> Option<Rc<Summary>>;
    /// Whether the declaration of a function says that it does not write what its parameter with this number points to.
    fn is_constant(&self, function: &str, parameter: usize) -> bool;
}

/// An argument of a call: where it points, its type, and what it is.
type Argument = (Pointer, Type, Operand);

/// No scalar has more bytes.
const LARGEST_SCALAR: i64 = 16;

/// So often a block is looked at before the analysis gives up.
const MOST_ROUNDS: usize = 200;

/// The analysis of one function: what is written on every way to each place.
pub(crate) struct Flow<'a> {
    module: &'a Module,
    function: &'a Function,
    callees: &'a dyn Callees,
    objects: Vec<Object>,
    heap: FxHashMap<TempId, usize>,
    temps: Vec<Pointer>,
    /// Which temporaries follow from results of calls.
    follows: Vec<Follows>,
    /// What is collected in the last pass.
    collecting: bool,
    outcome: Outcome,
    effects: Vec<Effect>,
    /// What is left of what parameters point to where the function returns.
    returned: Option<Vec<Bytes>>,
    fresh: Returned,
    calls: Vec<(FunctionId, usize, usize)>,
}

/// What a function returns.
#[derive(Clone, Debug, Default)]
enum Returned {
    #[default]
    Nothing,
    Fresh(usize, Bytes),
    Other,
}

impl<'a> Flow<'a> {
    /// Analyses a function with a body. `callees` tells what the functions that it calls write and
    /// use.
    pub fn run(module: &'a Module, function: &'a Function, callees: &'a dyn Callees) -> Outcome {
        let mut flow = Flow {
            module,
            function,
            callees,
            objects: Vec::new(),
            heap: FxHashMap::default(),
            temps: vec![Pointer::Nowhere; function.temporaries.len()],
            follows: vec![None; function.temporaries.len()],
            collecting: false,
            outcome: Outcome::default(),
            effects: vec![Effect::default(); function.parameters.len()],
            returned: None,
            fresh: Returned::Nothing,
            calls: Vec::new(),
        };
        flow.name_objects();
        flow.solve();
        flow.finish()
    }

    fn name_objects(&mut self) {
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let mut label = |name: &str| {
            let number = numbers.entry(name.to_owned()).or_default();
            *number += 1;
            match *number {
                1 => name.to_owned(),
                number => format!("{name} ({number})"),
            }
        };
        for (index, local) in self.function.locals.iter().enumerate() {
            let size = match local.kind {
                LocalKind::Register(ty) => ty.size(),
                LocalKind::Memory { size, .. } => size,
            };
            self.objects.push(Object {
                kind: Kind::Local(LocalId(index as u32)),
                label: label(&format!("`{}`", local.name)),
                size: i64::try_from(size).ok(),
            });
        }
        for parameter in 0..self.function.parameters.len() {
            let name = self.function.locals.get(parameter);
            let name = name.map_or("", |local| &local.name);
            self.objects.push(Object {
                kind: Kind::Parameter(parameter),
                label: label(&format!("what `{name}` points to")),
                size: None,
            });
        }
        for block in &self.function.blocks {
            for instruction in &block.instructions {
                let (dst, size, giver) = match &instruction.kind {
                    InstructionKind::Allocate { dst, size, .. } => (*dst, Some(*size), "alloca"),
                    InstructionKind::Call {
                        dst: Some(dst),
                        callee: Callee::Direct(callee),
                        arguments,
                        ..
                    } => {
                        let called = self.module.function(*callee);
                        let summary = self.callees.summary(*callee);
                        let is_fresh = match called.is_defined() {
                            true => summary.is_some_and(|summary| summary.fresh.is_some()),
                            false => library::gives_unwritten(&called.name),
                        };
                        if !is_fresh {
                            continue;
                        }
                        let size = match called.is_defined() {
                            true => None,
                            false => arguments.last().map(|argument| argument.value),
                        };
                        (*dst, size, called.name.as_str())
                    }
                    _ => continue,
                };
                self.heap.insert(dst, self.objects.len());
                self.objects.push(Object {
                    kind: Kind::Heap(dst),
                    label: label(&format!("the memory that `{giver}` gives")),
                    size: size.and_then(|size| constant(&size)),
                });
            }
        }
    }

    fn start(&self) -> State {
        let parameters = self.function.parameters.len();
        let objects = self.objects.iter().map(|object| match object.kind {
            Kind::Local(local) if local.index() < parameters => Some(Bytes::written()),
            Kind::Local(local) => {
                // What lowering adds is written where it matters.
                let own = !self.function.local(local).name.is_empty();
                Some(if own {
                    Bytes::default()
                } else {
                    Bytes::written()
                })
            }
            Kind::Parameter(_) => Some(Bytes {
                escaped: true,
                ..Bytes::default()
            }),
            Kind::Heap(_) => None,
        });
        let mut pointers = vec![Pointer::Nowhere; self.function.locals.len()];
        let first = self.function.locals.len();
        let own = pointers.iter_mut().zip(&self.function.parameters);
        for (number, (pointer, _)) in own.enumerate().filter(|(_, (_, own))| own.ty == Type::Ptr) {
            *pointer = Pointer::Into(first + number, Some(0));
        }
        State {
            objects: objects.collect(),
            pointers,
            promises: vec![Promise::default(); self.objects.len()],
            results: vec![None; self.function.locals.len()],
        }
    }

    fn solve(&mut self) {
        let function = self.function;
        let order = function.reverse_postorder();
        let mut before: Vec<Option<State>> = vec![None; function.blocks.len()];
        before[0] = Some(self.start());
        let mut changed: Vec<bool> = vec![false; function.blocks.len()];
        changed[0] = true;
        let mut rounds = 0;
        while changed.iter().any(|changed| *changed) && rounds < MOST_ROUNDS {
            rounds += 1;
            for block in &order {
                if !std::mem::take(&mut changed[block.index()]) {
                    continue;
                }
                let Some(state) = before[block.index()].clone() else {
                    continue;
                };
                let Some(state) = self.through(*block, state) else {
                    continue;
                };
                let end = &function.block(*block).terminator;
                for (way, edge) in end.taken().iter().enumerate() {
                    let state = state.behind(&self.follows, end, way);
                    let target = edge.target.index();
                    changed[target] |= match &mut before[target] {
                        Some(known) => known.join(&state),
                        none => {
                            *none = Some(state.into_owned());
                            true
                        }
                    };
                }
            }
        }
        self.outcome.is_whole = rounds < MOST_ROUNDS && function.unsupported().next().is_none();
        self.collecting = true;
        for block in &order {
            if let Some(state) = before[block.index()].take()
                && let Some(state) = self.through(*block, state)
            {
                self.leave(&function.block(*block).terminator, &state);
            }
        }
    }

    /// The state at the end of a block; `None` if control does not get there.
    fn through(&mut self, block: BlockId, mut state: State) -> Option<State> {
        let function = self.function;
        for instruction in &function.block(block).instructions {
            if !self.step(&mut state, instruction) {
                return None;
            }
            self.follow(&mut state, instruction);
        }
        Some(state)
    }

    fn pointer(&self, operand: &Operand) -> Pointer {
        match operand.value {
            Value::Temp(temp) => self.temps[temp.index()],
            Value::Constant { .. } => Pointer::Nowhere,
            Value::Address { .. } => Pointer::Unknown,
        }
    }

    fn point(&mut self, dst: TempId, to: Pointer) {
        self.temps[dst.index()] = to;
    }

    /// Whether control goes on behind it.
    fn step(&mut self, state: &mut State, instruction: &Instruction) -> bool {
        use InstructionKind::*;
        let origin = instruction.origin;
        match &instruction.kind {
            Read { dst, local } => {
                self.read(state, local.index(), (0, i64::MAX), origin, "");
                let to = state.pointers[local.index()];
                self.point(*dst, to);
            }
            Write { local, value } => {
                state.objects[local.index()] = Some(Bytes::written());
                state.pointers[local.index()] = self.pointer(value);
            }
            Live { local } => {
                let own = !self.function.local(*local).name.is_empty();
                let begun = if own {
                    Bytes::default()
                } else {
                    Bytes::written()
                };
                state.objects[local.index()] = Some(begun);
                state.pointers[local.index()] = Pointer::Nowhere;
            }
            Dead { .. } | Settle { .. } => {}
            LocalAddress { dst, local } => self.point(*dst, Pointer::Into(local.index(), Some(0))),
            Load {
                dst, ty, address, ..
            } => {
                let from = self.pointer(address);
                self.read_through(state, from, ty.size(), origin);
                self.point(*dst, loaded(*ty));
            }
            LoadBits {
                dst,
                ty,
                address,
                offset,
                width,
            } => {
                let from = self.pointer(address).moved(Some(i64::from(offset / 8)));
                let bytes = (offset % 8 + width).div_ceil(8);
                self.read_through(state, from, u64::from(bytes), origin);
                self.point(*dst, loaded(*ty));
            }
            Store {
                ty, address, value, ..
            } => {
                let (to, what) = (self.pointer(address), self.pointer(value));
                write(state, to, Some(ty.size()));
                escape(state, what);
            }
            StoreBits {
                address,
                offset,
                width,
                ..
            } => {
                let to = self.pointer(address).moved(Some(i64::from(offset / 8)));
                let bytes = (offset % 8 + width).div_ceil(8);
                write(state, to, Some(u64::from(bytes)));
            }
            Convert { dst, from, to, a } => {
                let value = self.pointer(a);
                let is_pointer = *from == Type::Ptr && *to == Type::Ptr;
                if *from == Type::Ptr && !is_pointer && *to != Type::Bool {
                    escape(state, value);
                }
                let kept = match is_pointer {
                    true => value,
                    false => loaded(*to),
                };
                self.point(*dst, kept);
            }
            PointerAdd {
                dst,
                a,
                index,
                size,
                negative,
                ..
            } => {
                let by = constant(index)
                    .zip(constant(size))
                    .and_then(|(index, size)| index.checked_mul(size))
                    .map(|by| if *negative { -by } else { by });
                let to = self.pointer(a).moved(by);
                self.point(*dst, to);
            }
            MemberAddress { dst, a, offset, .. } => {
                let to = self.pointer(a).moved(i64::try_from(*offset).ok());
                self.point(*dst, to);
            }
            Extend { dst, .. }
            | Unary { dst, .. }
            | Binary { dst, .. }
            | Shift { dst, .. }
            | PointerDifference { dst, .. } => self.point(*dst, Pointer::Nowhere),
            Copy { to, from, size } => {
                let (to, from) = (self.pointer(to), self.pointer(from));
                self.copy(state, to, from, *size);
            }
            Zero { address, size } => write(state, self.pointer(address), Some(*size)),
            Call {
                dst,
                callee,
                arguments,
                result,
                result_address,
                ..
            } => {
                let values: Vec<Argument> = arguments
                    .iter()
                    .map(|argument| (self.pointer(&argument.value), argument.ty, argument.value))
                    .collect();
                let goes_on = self.call(state, callee, &values, *dst, origin);
                if let Some(address) = result_address {
                    write(state, self.pointer(address), Some(result.size()));
                }
                return goes_on;
            }
            VaStart { list } => write(state, self.pointer(list), Some(24)),
            VaCopy { to, .. } => write(state, self.pointer(to), Some(24)),
            VaArg { dst, ty, .. } => self.point(*dst, loaded(*ty)),
            Allocate { dst, .. } => self.allocate(state, *dst, Bytes::default()),
            Unsupported { dst, .. } => {
                if let Some(dst) = dst {
                    self.point(*dst, Pointer::Unknown);
                }
            }
        }
        true
    }

    fn allocate(&mut self, state: &mut State, dst: TempId, holds: Bytes) {
        let Some(&object) = self.heap.get(&dst) else {
            self.point(dst, Pointer::Unknown);
            return;
        };
        state.objects[object] = Some(holds);
        state.promises[object] = Promise::default();
        self.point(dst, Pointer::Into(object, Some(0)));
    }

    fn copy(&mut self, state: &mut State, to: Pointer, from: Pointer, size: u64) {
        let size = i64::try_from(size).unwrap_or(END);
        let Pointer::Into(object, Some(start)) = from else {
            write(state, to, u64::try_from(size).ok());
            return;
        };
        // Nothing is used by being copied.
        let known = state.objects[object].clone().unwrap_or_default();
        if let Kind::Parameter(parameter) = self.objects[object].kind {
            if self.collecting && !known.written.contains(start, start.saturating_add(size)) {
                self.effects[parameter]
                    .copied
                    .add(start, start.saturating_add(size));
            }
            write(state, to, u64::try_from(size).ok());
            return;
        }
        let mut range = Ranges::default();
        range.add(start, start.saturating_add(size));
        let copied = known.written.intersection(&range);
        match to {
            Pointer::Into(target, Some(at)) => {
                if let Some(bytes) = &mut state.objects[target] {
                    bytes.written.add_moved(&copied, at.saturating_sub(start));
                    bytes.weak |= known.weak;
                }
            }
            other => write(state, other, None),
        }
    }

    /// Reads from an object.
    fn read(
        &mut self,
        state: &State,
        object: usize,
        (from, to): (i64, i64),
        origin: OriginId,
        by: &str,
    ) {
        let Some(bytes) = &state.objects[object] else {
            return;
        };
        let own = &self.objects[object];
        let to = to.min(own.size.unwrap_or(END));
        if !self.collecting || bytes.written.contains(from, to) {
            return;
        }
        if let Kind::Parameter(parameter) = own.kind {
            self.effects[parameter].reads.add(from, to);
            return;
        }
        let is_all = from == 0 && own.size == Some(to);
        let place = match is_all {
            true => String::new(),
            false => format!(" from byte {from} on"),
        };
        let text = format!("{}{place} may be used without a value{by}", own.label);
        // Of an array a call may write a part, and which one is told by more than its result.
        let is_scalar = is_all && to <= LARGEST_SCALAR;
        let checks = (is_scalar && bytes.weak).then(|| &state.promises[object].kept);
        self.find(text, !bytes.weak, origin, Some((object, checks)));
    }

    /// Reads at a place of an object that is not known.
    fn read_some(&mut self, state: &State, object: usize, origin: OriginId, by: &str) {
        let Some(bytes) = &state.objects[object] else {
            return;
        };
        let own = &self.objects[object];
        let end = own.size.unwrap_or(END);
        if !self.collecting || bytes.written.contains(0, end) {
            return;
        }
        let nothing = bytes.written.is_empty() && !bytes.weak;
        if let Kind::Parameter(parameter) = own.kind {
            self.effects[parameter].reads_some |= nothing;
            return;
        }
        let text = format!("something of {} may be used without a value{by}", own.label);
        self.find(text, nothing, origin, Some((object, None)));
    }

    /// Of an object, with what was checked of the calls that perhaps wrote it.
    fn find(
        &mut self,
        text: String,
        is_sure: bool,
        origin: OriginId,
        object: Option<(usize, Option<&BTreeSet<u64>>)>,
    ) {
        let checks = object.and_then(|(_, checks)| checks);
        let checks = checks.filter(|checks| !checks.is_empty());
        let text = match checks {
            Some(_) => format!("{text}, if a call does not do what its result says"),
            None => text,
        };
        let found = self.outcome.found.entry(text).or_insert(Found {
            is_sure,
            origin,
            object: object.map(|(object, _)| object),
            promised: Vec::new(),
        });
        found.is_sure |= is_sure;
        found.promised.extend(checks.cloned());
    }

    fn read_through(&mut self, state: &State, from: Pointer, size: u64, origin: OriginId) {
        match from {
            Pointer::Into(object, Some(at)) => {
                let end = at.saturating_add(i64::try_from(size).unwrap_or(END));
                self.read(state, object, (at, end), origin, "");
            }
            Pointer::Into(object, None) => self.read_some(state, object, origin, ""),
            Pointer::Nowhere | Pointer::Unknown => {}
        }
    }

    /// Collects what callers may rely on where the function ends.
    fn leave(&mut self, terminator: &Terminator, state: &State) {
        let value = match &terminator.kind {
            TerminatorKind::Return(value) => *value,
            TerminatorKind::ReturnNothing => {
                if self.function.result != Type::Void && self.function.name != "main" {
                    let text = "it may end without the value that it has to return".to_owned();
                    self.find(text, true, terminator.origin, None);
                }
                None
            }
            _ => return,
        };
        let pointer = value.map(|value| self.pointer(&value)).unwrap_or_default();
        let first = self.function.locals.len();
        let own: Vec<Bytes> = (first..first + self.function.parameters.len())
            .map(|object| state.objects[object].clone().unwrap_or_default())
            .collect();
        self.returned = Some(match self.returned.take() {
            None => own,
            Some(before) => before.iter().zip(&own).map(|(a, b)| a.meet(b)).collect(),
        });
        self.fresh = match (std::mem::take(&mut self.fresh), pointer) {
            (known, Pointer::Nowhere) => known,
            (known, Pointer::Into(object, Some(0)))
                if matches!(self.objects[object].kind, Kind::Heap(_)) =>
            {
                let bytes = state.objects[object].clone().unwrap_or_default();
                match known {
                    Returned::Nothing => Returned::Fresh(object, bytes),
                    Returned::Fresh(other, before) if other == object => {
                        Returned::Fresh(object, before.meet(&bytes))
                    }
                    _ => Returned::Other,
                }
            }
            _ => Returned::Other,
        };
        for (index, object) in self.objects.iter().enumerate() {
            let (Kind::Heap(_), Some(bytes)) = (object.kind, &state.objects[index]) else {
                continue;
            };
            let is_returned = matches!(pointer, Pointer::Into(own, _) if own == index);
            if !bytes.escaped && !is_returned {
                continue;
            }
            let given = self.outcome.given.entry(object.label.clone());
            given
                .and_modify(|known| *known = known.meet(bytes))
                .or_insert_with(|| bytes.clone());
        }
    }

    fn finish(mut self) -> Outcome {
        let returns = self.returned.is_some();
        let returned = self.returned.take().unwrap_or_default();
        for (effect, bytes) in self.effects.iter_mut().zip(returned) {
            effect.written = bytes.written;
            effect.weak = bytes.weak;
            // All of them are known to others from the start.
            effect.escaped = true;
        }
        let fresh = match self.fresh {
            Returned::Fresh(object, bytes) => Some(Fresh {
                bytes,
                size: self.objects[object].size,
            }),
            Returned::Nothing | Returned::Other => None,
        };
        let found = &self.outcome.found;
        let is_found = |object: usize| found.values().any(|found| found.object == Some(object));
        let mut relies: Vec<(FunctionId, usize)> = self
            .calls
            .iter()
            .filter(|(_, _, object)| is_found(*object))
            .map(|(function, parameter, _)| (*function, *parameter))
            .collect();
        relies.sort_unstable();
        relies.dedup();
        self.outcome.relies = relies;
        self.outcome.summary = Rc::new(Summary {
            returns,
            parameters: self.effects,
            fresh,
        });
        self.outcome.objects = self.objects;
        self.outcome.pointers = self.temps;
        self.outcome
    }
}

/// A value that comes from elsewhere.
fn loaded(ty: Type) -> Pointer {
    match ty {
        Type::Ptr | Type::I64 | Type::U64 => Pointer::Unknown,
        _ => Pointer::Nowhere,
    }
}

/// The value of a constant.
pub(crate) fn constant(operand: &Operand) -> Option<i64> {
    match operand.value {
        Value::Constant { ty, bits } => match ty.size() {
            _ if !ty.is_integer() => None,
            4 if ty.is_signed() => Some(i64::from(bits as u32 as i32)),
            8 => Some(bits as u64 as i64),
            _ => i64::try_from(bits).ok(),
        },
        _ => None,
    }
}
