//! Promises: what the result of a call says about an object that the call was to write.
//!
//! `if (parse(text, &x) == 0) use(x);`: this function alone does not show that `parse` has written `x`, but its author relies on that, and
//! so does the untouched program. If a patch leaves the call and the check of its result as they are, whatever else it changes on the way
//! to the call, it relies on the same. So such a use is found apart from others, with what was checked. That holds for scalars, which are written or not: of an
//! array a call may write a part.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use patchwright_ir::{
    FunctionId, Instruction, InstructionKind, Operand, Target, TempId, Terminator, TerminatorKind,
    Value,
};
use rustc_hash::FxHasher;

use super::{Argument, Flow, Kind, Pointer, State};
use crate::bytes::{Bytes, Ranges};

/// A value that follows from the result of one call and constants: the temporary with that result, and how it follows.
pub(super) type Follows = Option<(TempId, u64)>;

/// What the results of calls promise about an object: that it is written if a result has a certain value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Promise {
    /// The last call that may have written it: the temporary with its result, and how it was called.
    pub asked: Follows,
    /// What was found of such results.
    pub kept: BTreeSet<u64>,
}

impl Promise {
    /// Returns the promise where two paths meet, given the written bytes of each.
    pub fn meet(&self, own: &Bytes, other: &Promise, others: &Bytes) -> Promise {
        let is_written = |bytes: &Bytes| bytes.written.contains_all(&Ranges::all());
        match (is_written(own), is_written(others)) {
            (true, false) => other.clone(),
            (false, true) => self.clone(),
            _ => Promise {
                asked: self.asked.filter(|asked| other.asked == Some(*asked)),
                kept: self.kept.intersection(&other.kept).copied().collect(),
            },
        }
    }
}

impl State {
    /// Returns the state behind a branch, on the way with this number.
    pub(super) fn behind(
        &self,
        follows: &[Follows],
        end: &Terminator,
        way: usize,
    ) -> Cow<'_, State> {
        let TerminatorKind::Branch { condition, .. } = &end.kind else {
            return Cow::Borrowed(self);
        };
        let Some((result, how)) = of(follows, condition) else {
            return Cow::Borrowed(self);
        };
        let is_of = |promise: &Promise| promise.asked.is_some_and(|(asked, _)| asked == result);
        if !self.promises.iter().any(is_of) {
            return Cow::Borrowed(self);
        }
        let mut state = self.clone();
        for promise in &mut state.promises {
            if let Some((asked, called)) = promise.asked
                && asked == result
            {
                promise.kept.insert(number(&(called, how, way)));
            }
        }
        Cow::Owned(state)
    }
}

fn number(what: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

fn of(follows: &[Follows], operand: &Operand) -> Follows {
    match operand.value {
        Value::Temp(temp) => follows[temp.index()],
        Value::Constant { .. } | Value::Address { .. } => None,
    }
}

impl Flow<'_> {
    /// Returns what a call's result promises about an object that one of its arguments leads to. `asked` is the number of the argument.
    pub(super) fn asks(
        &self,
        function: Option<FunctionId>,
        arguments: &[Argument],
        (asked, dst): (usize, Option<TempId>),
    ) -> Follows {
        let how = self.called(function?, arguments, asked);
        Some((dst?, number(&(how, asked))))
    }

    /// How a function is called, as far as it can be told: where constants, texts and own objects stand among the arguments. From where it
    /// reads does not count.
    fn called(&self, function: FunctionId, arguments: &[Argument], asked: usize) -> u64 {
        let mut hasher = FxHasher::default();
        self.module.function(function).name.hash(&mut hasher);
        for (index, (pointer, _, operand)) in arguments.iter().enumerate() {
            match (operand.value, pointer) {
                (Value::Constant { bits, .. }, _) => bits.hash(&mut hasher),
                (Value::Address { target, addend }, _) => {
                    addend.hash(&mut hasher);
                    self.names(target).hash(&mut hasher);
                }
                (Value::Temp(_), Pointer::Into(object, at)) => {
                    let object = &self.objects[*object];
                    let own = !matches!(object.kind, Kind::Parameter(_));
                    own.then_some(&object.label).hash(&mut hasher);
                    at.filter(|_| index == asked).hash(&mut hasher);
                }
                (Value::Temp(_), _) => 0.hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// What an address of a global is called; of a text, which has no name of its own, its bytes.
    fn names(&self, target: Target) -> (&str, Option<&[u8]>) {
        match target {
            Target::Function(id) => (&self.module.function(id).name, None),
            Target::Global(id) => {
                let global = self.module.global(id);
                match &global.data {
                    Some(data) if global.name.starts_with('.') => ("", Some(&data.bytes)),
                    _ => (&global.name, None),
                }
            }
        }
    }

    /// Keeps which values follow from results of calls.
    pub(super) fn follow(&mut self, state: &mut State, instruction: &Instruction) {
        use InstructionKind::*;
        match &instruction.kind {
            Call { dst: Some(dst), .. } => {
                // What was kept of an earlier result of this call is not about this one.
                for kept in &mut state.results {
                    *kept = kept.filter(|(result, _)| result != dst);
                }
                self.follows[dst.index()] = Some((*dst, 0));
            }
            Read { dst, local } => self.follows[dst.index()] = state.results[local.index()],
            Write { local, value } => state.results[local.index()] = of(&self.follows, value),
            Live { local } => {
                state.results[local.index()] = None;
                state.promises[local.index()] = Promise::default();
            }
            Unary { dst, op, .. } => self.derive(*dst, || format!("{op:?}"), instruction),
            Binary { dst, op, .. } => self.derive(*dst, || format!("{op:?}"), instruction),
            Convert { dst, from, to, .. } => {
                self.derive(*dst, || format!("{from:?}{to:?}"), instruction);
            }
            Extend { dst, ty, width, .. } => {
                self.derive(*dst, || format!("{ty:?}{width:?}"), instruction);
            }
            _ => {
                if let Some(dst) = instruction.defines() {
                    self.follows[dst.index()] = None;
                }
            }
        }
    }

    /// What is made of one result and constants follows from the result.
    fn derive(&mut self, dst: TempId, how: impl Fn() -> String, instruction: &Instruction) {
        let mut result = None;
        let mut is_of_one = true;
        let mut text = Vec::new();
        for operand in instruction.operands() {
            match (operand.value, of(&self.follows, &operand)) {
                (Value::Constant { bits, .. }, _) => text.push((0, bits)),
                (_, Some((temp, before))) if result.is_none() => {
                    result = Some(temp);
                    text.push((1, before.into()));
                }
                _ => is_of_one = false,
            }
        }
        self.follows[dst.index()] = result
            .filter(|_| is_of_one)
            .map(|result| (result, number(&(how(), text))));
    }
}
