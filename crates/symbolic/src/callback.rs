//! Encodes functions that arguments lead to: any function of their type.
//!
//! The result of each call is an input. The calls themselves are visible: their functions, arguments and order. The encoding writes them to
//! standard output, because the harness of an execution does so, too.

use std::rc::Rc;

use patchwright_ir::Type;
use patchwright_solve::{Sort, Term};

use crate::{
    argument_function::Known,
    calling::Call,
    encoder::{Dead, Encoder, Go, World},
    encoding::{Input, InputKind, Piece, Place},
    library::unknown,
    meaning,
    memory::Kind,
    naming,
    pointee::Pointee,
    run::Returned,
};

/// Calls of one function of which it is known what it gives, at most.
const MOST_CALLS: u32 = 24;
/// The same, of one that no execution makes.
const MOST_OUTSIDE: u32 = 96;
/// Bytes of an object that a called function can look at, at most.
const MOST_LOOKED_AT: u64 = 64;

/// How a value of a type is written where a call is: its bits.
fn conversion(ty: Type) -> Option<(&'static str, Type)> {
    Some(match ty {
        Type::Bool | Type::I8 | Type::I16 | Type::I32 => ("%d", Type::I32),
        Type::U8 | Type::U16 | Type::U32 => ("%u", Type::U32),
        Type::I64 => ("%ld", Type::I64),
        Type::U64 => ("%lu", Type::U64),
        Type::F32 => ("%x", Type::F32),
        Type::F64 => ("%lx", Type::F64),
        _ => return None,
    })
}

impl Encoder<'_> {
    /// The address of a function that the pointer of this name leads to.
    pub(crate) fn new_callback(&mut self, world: &mut World, name: &str) -> Term {
        let number = self.callbacks.len() as u32;
        self.callbacks.push(Known {
            name: name.to_owned(),
            signature: None,
            given: Vec::new(),
        });
        let zero = self.terms.constant(32, 0);
        Rc::make_mut(&mut world.called).push(zero);
        self.new_object(world, Kind::Callback(number), 0, name, true)
    }

    /// A call of such a function.
    pub(crate) fn callback(
        &mut self,
        at: usize,
        call: &Call<'_>,
        mut world: World,
    ) -> Go<Returned> {
        let types: Vec<Type> = call.arguments.iter().map(|one| one.0).collect();
        let signature = (types, call.result);
        let known = self.callbacks[at]
            .signature
            .get_or_insert(signature.clone());
        if *known != signature {
            let reason = format!("`{}` is called with other types than before", call.name);
            self.unknown(&world, reason, call.place);
            return Err(Dead);
        }
        self.write_call(call, &world);
        match self.options.outside.is_some() {
            true => {
                let reached = self.reached_by(call, &mut world)?;
                self.leaves_behind(at, call, &reached, &mut world)?;
                self.note(format!(
                    "`{}` is any function: it gives any value and leaves anything behind its arguments, the same in both \
                     versions for the same calls{}",
                    call.name,
                    call.but_const()
                ));
            }
            false => {
                unknown::leaves_behind(self, call, &mut world)?;
                self.note(format!(
                    "`{}` is any function: it gives any value and leaves anything behind its arguments{}",
                    call.name,
                    call.but_const()
                ));
            }
        }
        let count = world.called[at];
        let one = self.terms.constant(32, 1);
        Rc::make_mut(&mut world.called)[at] = self.terms.add(count, one);
        let value = match call.result {
            Type::Void => {
                let kind = InputKind::Called {
                    function: call.name.to_owned(),
                    number: 0,
                    ty: Type::Void,
                    parameters: call.arguments.iter().map(|one| one.0).collect(),
                };
                let base = naming::given_by(call.name);
                let consumed = world.path.term();
                self.answer_of(at, 0, &kind, (&base, Sort::Bool), consumed, call.place);
                None
            }
            ty => match meaning::sort(ty).filter(|_| ty != Type::Ptr) {
                Some(sort) => Some(self.answer(at, (ty, sort), count, &world, call.place)),
                None => {
                    let reason = format!("`{}` gives no number", call.name);
                    self.unknown(&world, reason, call.place);
                    return Err(Dead);
                }
            },
        };
        Ok(Returned {
            world,
            value,
            written: self.terms.truth(true),
        })
    }

    /// What a call gives before which there were so many.
    fn answer(
        &mut self,
        at: usize,
        (ty, sort): (Type, Sort),
        count: Term,
        world: &World,
        place: &Place,
    ) -> Term {
        let function = self.callbacks[at].name.clone();
        let base = naming::given_by(&function);
        let signature = self.callbacks[at].signature.clone();
        let kind = InputKind::Called {
            function,
            number: 0,
            ty,
            parameters: signature.map(|one| one.0).unwrap_or_default(),
        };
        let value = self.numbered(at, &kind, (&base, sort), count, world, place);
        self.narrowed(ty, value)
    }

    /// The input of this kind that belongs to the call before which there were so many.
    pub(crate) fn numbered(
        &mut self,
        at: usize,
        kind: &InputKind,
        (base, sort): (&str, Sort),
        count: Term,
        world: &World,
        place: &Place,
    ) -> Term {
        let mut left = self.terms.truth(true);
        let mut value: Option<Term> = None;
        let mut here: Vec<(Term, Term)> = Vec::new();
        let most = match kind {
            InputKind::Outside { .. } => MOST_OUTSIDE,
            _ => MOST_CALLS,
        };
        for number in 0..most {
            let constant = self.terms.constant(32, u128::from(number));
            let is = self.terms.eq(count, constant);
            if self.terms.as_truth(is) == Some(false) {
                continue;
            }
            let consumed = self.terms.and(world.path.term(), is);
            let term = self.answer_of(at, number, kind, (base, sort), consumed, place);
            here.push((is, term));
            let not = self.terms.not(is);
            left = self.terms.and(left, not);
            if self.terms.as_truth(is) == Some(true) {
                break;
            }
        }
        for (is, term) in here.into_iter().rev() {
            value = Some(match value {
                None => term,
                Some(other) => self.terms.ite(is, term, other),
            });
        }
        let name = self.callbacks[at].name.clone();
        let reason = format!("`{name}` is called more than {most} times");
        self.unknown_where(world, left, reason, place);
        match value {
            Some(value) => value,
            None => {
                let name = self.internal("any");
                self.terms.variable(&name, sort)
            }
        }
    }

    /// The input that the call of this number gives.
    fn answer_of(
        &mut self,
        at: usize,
        before: u32,
        kind: &InputKind,
        (base, sort): (&str, Sort),
        consumed: Term,
        place: &Place,
    ) -> Term {
        let name = format!("{base}_{}", before + 1);
        let known = self.callbacks[at].given.iter().copied();
        let known = known
            .into_iter()
            .find(|&index| self.inputs[index].name == name);
        if let Some(index) = known {
            let either = self.terms.or(self.inputs[index].condition, consumed);
            self.inputs[index].condition = either;
            return self.inputs[index].term;
        }
        let term = self.input_variable(&name, sort);
        self.callbacks[at].given.push(self.inputs.len());
        let mut kind = kind.clone();
        if let InputKind::Called { number, .. } = &mut kind {
            *number = before + 1;
        }
        self.inputs.push(Input {
            name,
            kind,
            term,
            condition: consumed,
            place: place.clone(),
        });
        term
    }

    /// Writes which function is called, and what it can see.
    fn write_call(&mut self, call: &Call<'_>, world: &World) {
        let text = |text: String| Piece::Text(text.into_bytes());
        self.print(world, false, text(format!("[{}", call.name)));
        for &(ty, value) in call.arguments {
            self.print(world, false, text(" ".to_owned()));
            let (Some(value), Some((spelled, as_type))) = (
                value,
                match ty {
                    Type::Ptr => Some(("%lu", Type::U64)),
                    ty => conversion(ty),
                },
            ) else {
                self.see_not(format!("a value that `{}` is called with", call.name));
                continue;
            };
            let value = match ty {
                Type::Ptr => self.place_number(value),
                _ if ty.is_float() => value,
                _ => {
                    let width = 8 * as_type.size() as u32;
                    match (self.terms.width(value) < width, ty.is_signed()) {
                        (true, true) => self.terms.sign_extend(value, width),
                        (true, false) => self.terms.zero_extend(value, width),
                        _ => value,
                    }
                }
            };
            self.print(
                world,
                false,
                Piece::Value(spelled.to_owned(), as_type, value),
            );
        }
        for &(ty, value) in call.arguments {
            if let (Type::Ptr, Some(value)) = (ty, value) {
                self.write_content(call, value, world);
            }
        }
        self.print(world, false, text("]\n".to_owned()));
    }

    /// The number of where a pointer leads, which means the same in another version: see [`naming::number_of_pointer`].
    pub(crate) fn place_number(&mut self, pointer: Term) -> Term {
        let visible = std::mem::take(&mut self.visible);
        let leads = self.leads(pointer, &visible);
        self.visible = visible;
        let mut number = self.word(0xffff << 48);
        for (condition, pointee, offset) in &leads.to {
            let name = match pointee {
                Pointee::Object { name, .. } | Pointee::Function(name) => name.as_str(),
                Pointee::Constant(_) => continue,
            };
            let above = self.word(u64::from(naming::number_of_pointer(name)) << 48);
            let low = self.terms.extract(*offset, 47, 0);
            let low = self.terms.zero_extend(low, 64);
            let here = self.terms.bit_or(above, low);
            number = self.terms.ite(*condition, here, number);
        }
        let zero = self.word(0);
        let null = self.terms.eq(pointer, zero);
        self.terms.ite(null, zero, number)
    }

    /// Writes what the objects hold that a pointer may lead to.
    fn write_content(&mut self, call: &Call<'_>, pointer: Term, world: &World) {
        let targets = self.targets(world, pointer, call.place);
        for leaf in &targets.leaves {
            let Some(object) = world.memory.get(leaf.object).cloned() else {
                continue;
            };
            if let Kind::Function(_) | Kind::Callback(_) = object.kind {
                continue;
            }
            let Some(path) = world.path.and(self.terms, leaf.condition) else {
                continue;
            };
            let is_whole = object.start.is_some()
                || self.terms.as_constant(object.size) == Some(u128::from(object.most));
            if object.most > MOST_LOOKED_AT || !is_whole {
                self.see_not(format!("what `{}` finds behind its arguments", call.name));
                continue;
            }
            let there = World {
                path,
                ..world.clone()
            };
            let zero = |terms: &mut patchwright_solve::Terms, width| terms.constant(width, 0);
            for (at, width) in object.content.layout(0, object.most) {
                let offset = self.word(at);
                let inside = self.inside(&object, offset, u64::from(width));
                let Some(path) = there.path.and(self.terms, inside) else {
                    continue;
                };
                let there = World {
                    path,
                    ..there.clone()
                };
                let read = object.content.read(self.terms, at, width);
                let whole = match width {
                    8 => self.pointed_number(read.value),
                    _ => read.value,
                };
                for byte in 0..width {
                    let none = zero(self.terms, 8);
                    let value = self.terms.extract(whole, 8 * byte + 7, 8 * byte);
                    let value = self.terms.ite(read.written, value, none);
                    let value = self.terms.zero_extend(value, 32);
                    self.print(&there, false, Piece::Text(b" ".to_vec()));
                    self.print(
                        &there,
                        false,
                        Piece::Value("%u".to_owned(), Type::U32, value),
                    );
                }
            }
        }
    }

    /// A word, or the number of where it leads if it is a pointer.
    fn pointed_number(&mut self, word: Term) -> Term {
        let targets = self.pointers.targets(self.terms, word);
        match targets.leaves.iter().any(|leaf| leaf.object != 0) {
            true => self.place_number(word),
            false => word,
        }
    }
}
