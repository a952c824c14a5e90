//! The effects of calls on the objects that they are given.

use patchwright_ir::{
    Callee, Function, FunctionId, Operand, OriginId, Target, TempId, Type, Value,
};

use super::{Argument, Flow, Pointer, State, constant, disturb, escape, write};
use crate::bytes::{Bytes, END};
use crate::library::{self, Called, Does};
use crate::summary::Summary;

/// Whether a call gives a function (one without a prototype, else it would not compile) fewer arguments than it takes. The rest is
/// what registers happen to hold.
fn lacks_arguments(called: &Function, arguments: &[Argument]) -> bool {
    called.is_defined() && arguments.len() < called.parameters.len()
}

impl Flow<'_> {
    /// Whether it returns.
    pub(super) fn call(
        &mut self,
        state: &mut State,
        callee: &Callee,
        arguments: &[Argument],
        dst: Option<TempId>,
        origin: OriginId,
    ) -> bool {
        let id = match callee {
            Callee::Direct(id) => Some(*id),
            Callee::Indirect(_) => None,
        };
        let called = id.map(|id| self.module.function(id));
        let name = called.map_or("", |called| called.name.as_str());
        // A call that does not fit a function's definition calls what has that address.
        let unfit = match callee {
            Callee::Indirect(Operand {
                value:
                    Value::Address {
                        target: Target::Function(id),
                        addend: 0,
                    },
                ..
            }) => called.or(Some(self.module.function(*id))),
            _ => called,
        };
        if let Some(unfit) =
            unfit.filter(|called| self.collecting && lacks_arguments(called, arguments))
        {
            let text = format!("`{}` may use a parameter without a value", unfit.name);
            self.find(text, true, origin, None);
            self.outcome.lacks_arguments = true;
        }
        let summary = id
            .filter(|id| self.module.function(*id).is_defined())
            .and_then(|id| self.callees.summary(id));
        if let (Some(summary), Some(id)) = (&summary, id) {
            self.call_known(state, (id, dst), summary, arguments, origin);
            if let Some(dst) = dst {
                match &summary.fresh {
                    Some(fresh) => self.allocate(state, dst, fresh.bytes.clone()),
                    None => self.point(dst, Pointer::Unknown),
                }
            }
            return summary.returns;
        }
        let by = match name {
            "" => " by a function".to_owned(),
            name => format!(" by `{name}`"),
        };
        let library = Called::named(name);
        for (number, (pointer, ty, _)) in arguments.iter().enumerate() {
            let Pointer::Into(object, at) = *pointer else {
                continue;
            };
            let does = match &library {
                Some(library) => library.does(number),
                None if matches!(ty, Type::Aggregate { .. }) => Does::ReadsSome,
                None if *ty != Type::Ptr => Does::Nothing,
                None if self.callees.is_constant(name, number) => Does::ReadsSome,
                None => Does::MayWrite,
            };
            match does {
                Does::Nothing => {}
                Does::Reads(size) => match at {
                    Some(at) => {
                        let end = at.saturating_add(i64::try_from(size).unwrap_or(END));
                        self.read(state, object, (at, end), origin, &by);
                    }
                    None => self.read_some(state, object, origin, &by),
                },
                // A part that was written is enough: a text ends before its array does.
                Does::ReadsSome => {
                    let bytes = state.objects[object].as_ref();
                    if bytes.is_some_and(|bytes| bytes.written.is_empty()) {
                        self.read_some(state, object, origin, &by);
                    }
                }
                Does::Writes(size) => {
                    state.promises[object].asked = self.asks(id, arguments, (number, dst));
                    let size = arguments
                        .get(size)
                        .and_then(|(_, _, value)| constant(value));
                    match size.and_then(|size| u64::try_from(size).ok()) {
                        Some(size) => write(state, *pointer, Some(size)),
                        None => write(state, *pointer, None),
                    }
                }
                Does::MayWrite => {
                    state.promises[object].asked = self.asks(id, arguments, (number, dst));
                    write(state, *pointer, None);
                    escape(state, *pointer);
                }
            }
        }
        if !library.is_some_and(|library| library.is_contained()) {
            disturb(state);
        }
        if let Some(dst) = dst {
            match library::gives_unwritten(name) {
                true => self.allocate(state, dst, Bytes::default()),
                false => self.point(dst, Pointer::Unknown),
            }
        }
        !called.is_some_and(|called| called.no_return)
    }

    /// A call of a function whose body is known.
    fn call_known(
        &mut self,
        state: &mut State,
        (id, dst): (FunctionId, Option<TempId>),
        summary: &Summary,
        arguments: &[Argument],
        origin: OriginId,
    ) {
        let by = format!(" by `{}`", self.module.function(id).name);
        for (number, (pointer, ty, _)) in arguments.iter().enumerate() {
            let Pointer::Into(object, at) = *pointer else {
                continue;
            };
            if matches!(ty, Type::Aggregate { .. }) {
                continue;
            }
            let Some(effect) = summary.parameters.get(number) else {
                write(state, *pointer, None);
                escape(state, *pointer);
                continue;
            };
            match at {
                Some(at) => {
                    for (from, to) in effect.reads.iter() {
                        let range = (from.saturating_add(at), to.saturating_add(at));
                        self.read(state, object, range, origin, &by);
                    }
                }
                None if !effect.reads.is_empty() => self.read_some(state, object, origin, &by),
                None => {}
            }
            if effect.reads_some {
                self.read_some(state, object, origin, &by);
            }
            if self.collecting && !effect.written.contains(0, END) {
                self.calls.push((id, number, object));
            }
            if effect.weak || !effect.written.is_empty() {
                state.promises[object].asked = self.asks(Some(id), arguments, (number, dst));
            }
            let Some(bytes) = &mut state.objects[object] else {
                continue;
            };
            match at {
                Some(at) => bytes.written.add_moved(&effect.written, at),
                None => bytes.weak |= !effect.written.is_empty(),
            }
            bytes.weak |= effect.weak;
            bytes.escaped |= effect.escaped;
        }
        disturb(state);
    }
}
