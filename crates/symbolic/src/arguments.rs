//! Makes the arguments of a function from their shapes: numbers, and the objects of pointers.

use std::collections::BTreeMap;

use patchwright_ir::{ObjectId, Type};
use patchwright_solve::{Sort, Term};
use rustc_hash::FxHashMap;

use crate::{
    encoder::{Encoder, World},
    encoding::{InputKind, Place},
    inputs::{self, Before, DISTANCE, Target, Way},
    meaning,
    memory::Kind,
    naming,
    options::{ParameterShape, Shape},
    visible::Visible,
};

/// Arguments that are being made.
struct Making<'a> {
    parameter: &'a ParameterShape,
    place: &'a Place,
    visible: &'a mut Vec<Visible>,
    /// The objects of pointers and of nothing else, by the pointers' names: their address, and when C can name them so.
    own: &'a mut FxHashMap<String, (Term, Term)>,
    /// Pointers before whose objects others lie, with what is known of those.
    before: &'a mut BTreeMap<String, Room>,
}

/// The objects before what a pointer leads to.
struct Room {
    /// What they are.
    before: Before,
    /// The object in which they lie.
    object: u32,
    /// Bytes of an element.
    element: u64,
    /// How many there are, in the bits of a distance.
    count: Term,
    /// Conditions under which other pointers lead there.
    entered: Vec<Term>,
}

impl Encoder<'_> {
    /// Arguments of a function of which nothing is known but the shapes.
    pub(crate) fn arguments(
        &mut self,
        parameters: &[ParameterShape],
        world: &mut World,
        place: &Place,
        visible: &mut Vec<Visible>,
    ) -> Vec<(Type, Option<Term>)> {
        let mut all: Vec<(Type, Option<Term>)> = vec![(Type::Void, None); parameters.len()];
        let (mut own, mut before) = (FxHashMap::default(), BTreeMap::new());
        for at in inputs::order(parameters) {
            let parameter = &parameters[at];
            let there = self.terms.truth(true);
            let mut making = Making {
                parameter,
                place,
                visible,
                own: &mut own,
                before: &mut before,
            };
            all[at] = match &parameter.shape {
                Shape::Scalar(ty) => {
                    let value = self.scalar(*ty, &parameter.name, world, place);
                    (*ty, value)
                }
                shape @ (Shape::Pointer { .. } | Shape::Function { .. }) => {
                    let name = &parameter.name;
                    let value = self.pointer_argument(shape, name, there, world, &mut making);
                    (Type::Ptr, Some(value))
                }
                shape => {
                    let size = shape.size();
                    let object = self.new_object(world, Kind::Global, size, &parameter.name, true);
                    let to = (object, 0, parameter.name.as_str());
                    self.fill(shape, to, there, world, &mut making);
                    (Type::Aggregate { size }, Some(object))
                }
            };
        }
        for room in before.into_values() {
            self.bound_room(room, world);
        }
        all
    }

    /// Sets where an array begins and ends in which elements lie before what a pointer leads to.
    fn bound_room(&mut self, room: Room, world: &mut World) {
        let is_entered = self.terms.or_all(room.entered.iter().copied());
        let none = self.terms.constant(DISTANCE, 0);
        let count = self.terms.ite(is_entered, room.count, none);
        let count = self.terms.zero_extend(count, 64);
        let element = self.word(room.element);
        let bytes = self.terms.mul(count, element);
        let most = self.word(room.before.most * room.element);
        if let Some(object) = world.memory.change(room.object) {
            let behind = self.terms.sub(object.size, most);
            object.start = Some(self.terms.sub(most, bytes));
            object.size = match room.before.shortens {
                true => behind,
                false => self.terms.add(behind, bytes),
            };
        }
    }

    fn scalar(&mut self, ty: Type, name: &str, world: &World, place: &Place) -> Option<Term> {
        let sort = meaning::sort(ty)?;
        if ty == Type::Ptr {
            return Some(self.word(0));
        }
        let kind = InputKind::Argument(ty);
        let value = self.input(name, kind, sort, world, place.clone());
        Some(self.narrowed(ty, value))
    }

    /// A pointer: null, what else it may lead to, or what is its own. `there` is the condition under which C can name it.
    fn pointer_argument(
        &mut self,
        shape: &Shape,
        name: &str,
        there: Term,
        world: &mut World,
        making: &mut Making<'_>,
    ) -> Term {
        let nullable = match shape {
            Shape::Pointer {
                to: Some(_),
                nullable,
                ..
            } => *nullable,
            Shape::Function { nullable } => *nullable,
            _ => return self.word(0),
        };
        let mut is_own = there;
        let mut choices: Vec<(Term, Term)> = Vec::new();
        if nullable {
            let label = format!("{name} == NULL");
            let place = making.place.clone();
            let null = self.input(&label, InputKind::Null, Sort::Bool, world, place);
            let zero = self.word(0);
            choices.push((null, zero));
        }
        for way in making.parameter.ways(name) {
            let Some((condition, place)) = self.other_way(name, way, world, making) else {
                continue;
            };
            if let Target::Pointer { name, .. } = &way.to
                && way.distance.is_some()
                && let Some(room) = making.before.get_mut(name)
            {
                // What comes before in the list is what it leads to.
                let mut chosen = self.terms.and(there, condition);
                for &(earlier, _) in &choices {
                    let not = self.terms.not(earlier);
                    chosen = self.terms.and(chosen, not);
                }
                room.entered.push(chosen);
            }
            choices.push((condition, place));
        }
        for &(condition, _) in &choices {
            let not = self.terms.not(condition);
            is_own = self.terms.and(is_own, not);
        }
        let mut value = match shape {
            Shape::Pointer {
                to: Some(to),
                count,
                text,
                ..
            } => self.own_objects((shape, to), *count, *text, name, is_own, world, making),
            _ => self.new_callback(world, name),
        };
        for (condition, other) in choices.into_iter().rev() {
            value = self.pointers.ite(self.terms, condition, other, value);
        }
        value
    }

    /// The condition under which a pointer leads to something that is not its own, and where to.
    fn other_way(
        &mut self,
        name: &str,
        way: &Way,
        world: &mut World,
        making: &mut Making<'_>,
    ) -> Option<(Term, Term)> {
        let (address, exists) = match &way.to {
            Target::Pointer { name, .. } => *making.own.get(name)?,
            Target::Global(global) => {
                let program = self.program;
                let is_it = |&id: &ObjectId| {
                    program.global(id).name == *global && program.objects[id.index()].defined
                };
                let id = (0..program.objects.len() as u32)
                    .map(ObjectId)
                    .find(is_it)?;
                let number = self.globals[id.index()];
                let address = self.pointers.address(self.terms, number, 0);
                (address, self.terms.truth(true))
            }
        };
        let pointer = name.to_owned();
        let kind = InputKind::Same {
            pointer: pointer.clone(),
            way: way.clone(),
        };
        let place = making.place.clone();
        let same = self.input(&way.label, kind, Sort::Bool, world, place.clone());
        let condition = self.terms.and(same, exists);
        let Some(distance) = &way.distance else {
            return Some((condition, address));
        };
        let kind = InputKind::Distance {
            pointer,
            way: way.clone(),
        };
        let behind = self.input(distance, kind, Sort::Bits(DISTANCE), world, place);
        let mut first = self.terms.constant(DISTANCE, 0);
        let mut last = self.terms.constant(DISTANCE, u128::from(way.most));
        if let Target::Pointer { name, .. } = &way.to
            && let Some(room) = making.before.get(name)
        {
            first = self.terms.sub(first, room.count);
            if room.before.shortens {
                last = self.terms.sub(last, room.count);
            }
        }
        // What is outside stands for the end, so that no execution is without a meaning; and nobody has to speak of it.
        let early = self.terms.slt(behind, first);
        let late = self.terms.slt(last, behind);
        let outside = self.terms.or(early, late);
        let within = self.terms.not(outside);
        self.bounds.push(within);
        // Whatever lies before, it is no further away than this.
        if let Some(before) = &way.before {
            let least = self.terms.constant(DISTANCE, u128::from(before.most));
            let least = self.terms.neg(least);
            let most = self.terms.constant(DISTANCE, u128::from(way.most));
            let (low, high) = (self.terms.sle(least, behind), self.terms.sle(behind, most));
            self.bounds.push(self.terms.and(low, high));
        }
        let behind = self.terms.ite(late, last, behind);
        let behind = self.terms.ite(early, first, behind);
        let behind = self.terms.sign_extend(behind, 64);
        let element = self.word(way.element);
        let bytes = self.terms.mul(behind, element);
        let address = self.advanced(address, bytes);
        Some((condition, address))
    }

    /// How many elements lie before what a pointer leads to, where another one leads into its array.
    fn room(
        &mut self,
        before: &Before,
        (name, typed): (&str, &str),
        (object, element): (u32, u64),
        world: &World,
        making: &mut Making<'_>,
    ) {
        let kind = InputKind::Before {
            pointer: name.to_owned(),
            typed: typed.to_owned(),
            before: before.clone(),
        };
        let place = making.place.clone();
        let count = self.input(&before.name, kind, Sort::Bits(8), world, place);
        let most = self.terms.constant(8, u128::from(before.most));
        let fits = self.terms.ule(count, most);
        self.bounds.push(fits);
        let count = self.terms.ite(fits, count, most);
        let room = Room {
            before: before.clone(),
            object,
            element,
            count: self.terms.zero_extend(count, DISTANCE),
            entered: Vec::new(),
        };
        making.before.insert(name.to_owned(), room);
    }

    /// The objects that a pointer leads to and nothing else, where `exists` holds.
    #[allow(clippy::too_many_arguments, reason = "they say what is made")]
    fn own_objects(
        &mut self,
        (shape, to): (&Shape, &Shape),
        count: u64,
        text: bool,
        name: &str,
        exists: Term,
        world: &mut World,
        making: &mut Making<'_>,
    ) -> Term {
        let typed = shape.typed(name);
        let before = making.parameter.before(name);
        let earlier = before.map_or(0, |before| before.most);
        let (origin, size) = (earlier * to.size(), (earlier + count) * to.size());
        let pointed = naming::pointed(&typed, count);
        let start = self.new_object(world, Kind::Global, size, &pointed, true);
        let number = self.number_of(start);
        if let (Some(before), Some(number)) = (before, number) {
            let into = (number, to.size());
            self.room(before, (name, &typed), into, world, making);
        }
        let object = self.moved(start, origin);
        making.own.insert(name.to_owned(), (object, exists));
        for index in 0..count {
            if text && index + 1 == count {
                continue;
            }
            let element = naming::behind(&typed, count, index, to);
            let at = (start, origin + index * to.size(), element.as_str());
            self.fill(to, at, exists, world, making);
        }
        for index in 1..=earlier {
            let element = naming::before_it(&typed, index);
            let at = (start, origin - index * to.size(), element.as_str());
            self.fill(to, at, exists, world, making);
        }
        if let Some(number) = number {
            self.handed_over.insert(number);
            making.visible.push(Visible {
                name: pointed,
                number,
                size,
                origin,
                element: Some(to.size().max(1)),
            });
        }
        object
    }

    /// Gives an object of a shape its value, in another object, at an offset there; C calls it by this name.
    fn fill(
        &mut self,
        shape: &Shape,
        (object, at, name): (Term, u64, &str),
        there: Term,
        world: &mut World,
        making: &mut Making<'_>,
    ) {
        match shape {
            Shape::Scalar(ty) => {
                if let Some(value) = self.scalar(*ty, name, world, making.place) {
                    self.initial(world, object, at, ty.size() as u32, value);
                }
            }
            Shape::Record { members, .. } => {
                for (offset, member, shape) in inputs::given_members(members) {
                    let name = naming::member(name, member);
                    let part = (object, at + offset, name.as_str());
                    self.fill(shape, part, there, world, making);
                }
            }
            Shape::Array { element, count } => {
                for index in 0..*count {
                    let name = naming::element(name, index);
                    let part = (object, at + index * element.size(), name.as_str());
                    self.fill(element, part, there, world, making);
                }
            }
            Shape::Pointer { .. } | Shape::Function { .. } => {
                let value = self.pointer_argument(shape, name, there, world, making);
                self.initial(world, object, at, 8, value);
            }
        }
    }
}
