//! The sets of pointers that objects hold, one for each place where pointers are stored or loaded.

use patchwright_ir::ObjectId;

use super::{
    BaseId, Location, NodeId, PointeeId,
    constraints::Solver,
    shape::{Move, Shape},
};

/// Bytes of a pointer.
const POINTER: u64 = 8;

/// Places of one object that are told apart; one with more of them is one place.
const MOST_PLACES: usize = 160;

/// What the analysis knows of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Base {
    /// The places at which something is stored or loaded.
    pub(super) places: Vec<Place>,
    /// Addresses that it holds from the start, with their offsets.
    pub(super) initial: Vec<(u64, PointeeId)>,
    /// Copies of what it holds to other objects.
    copies: Vec<ObjectCopy>,
    /// It has too many places to tell them apart.
    pub(super) flat: bool,
}

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) shape: Shape,
    /// What is stored there.
    pub(super) stored: NodeId,
    /// What a load there may give: what is stored at all places that overlap.
    pub(super) loaded: NodeId,
}

/// Bytes of an object are copied to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObjectCopy {
    from: Shape,
    size: Option<u64>,
    to: PointeeId,
}

impl Solver<'_> {
    /// The pointee of a shape in an object.
    pub(super) fn pointee(&mut self, base: BaseId, shape: Shape) -> PointeeId {
        let has_parts = matches!(
            self.result.bases[base as usize],
            Location::Object(_) | Location::Local(..) | Location::Allocated(..)
        ) && base != super::CONSTANTS;
        let shape = match self.result.bases[base as usize] {
            Location::Function(_) => Shape::at(0),
            _ if has_parts && !self.bases[base as usize].flat => shape,
            _ => Shape::ANY,
        };
        // Behind its end there is nothing.
        let shape = match (shape.offset(), self.result.sizes[base as usize]) {
            (Some(offset), Some(size)) if offset > size => Shape::ANY,
            _ => shape,
        };
        if let Some(&id) = self.result.by_shape.get(&(base, shape)) {
            return id;
        }
        let id = self.result.pointees.len() as PointeeId;
        self.result.pointees.push((base, shape));
        self.result.by_shape.insert((base, shape), id);
        id
    }

    /// A pointee that pointer arithmetic makes of another one.
    pub(super) fn moved(&mut self, id: PointeeId, by: Move) -> PointeeId {
        let (base, shape) = self.result.pointees[id as usize];
        self.pointee(base, shape.moved(by))
    }

    /// The place that a pointee points to.
    pub(super) fn place(&mut self, id: PointeeId) -> Place {
        let (base, shape) = self.result.pointees[id as usize];
        if let Some(&place) = self.places.get(&id) {
            return place;
        }
        let (stored, loaded) = (self.node(), self.node());
        let new = Place {
            shape,
            stored,
            loaded,
        };
        self.places.insert(id, new);
        self.copy(loaded, stored);
        for index in 0..self.bases[base as usize].places.len() {
            let other = self.bases[base as usize].places[index];
            if other.shape.overlaps(POINTER, shape, POINTER) {
                self.copy(loaded, other.stored);
                self.copy(other.loaded, stored);
            }
        }
        for index in 0..self.bases[base as usize].initial.len() {
            let (offset, target) = self.bases[base as usize].initial[index];
            if Shape::at(offset as i64).overlaps(POINTER, shape, POINTER) {
                self.add(loaded, target);
            }
        }
        let known = &mut self.bases[base as usize];
        known.places.push(new);
        known.flat |= known.places.len() >= MOST_PLACES;
        for index in 0..self.bases[base as usize].copies.len() {
            let copy = self.bases[base as usize].copies[index];
            self.copy_place(copy, new);
        }
        new
    }

    /// Copies what the bytes behind one pointee may hold to where another one points.
    pub(super) fn copy_bytes(&mut self, from: PointeeId, to: PointeeId, size: Option<u64>) {
        if size.is_some_and(|size| size < POINTER) {
            return;
        }
        let (base, shape) = self.result.pointees[from as usize];
        let (target, _) = self.result.pointees[to as usize];
        let is_function =
            |base: BaseId| matches!(self.result.bases[base as usize], Location::Function(_));
        if is_function(base) || is_function(target) {
            return;
        }
        let copy = ObjectCopy {
            from: shape,
            size,
            to,
        };
        if !self.copied.insert((from, to, size)) {
            return;
        }
        self.bases[base as usize].copies.push(copy);
        for index in 0..self.bases[base as usize].places.len() {
            let place = self.bases[base as usize].places[index];
            self.copy_place(copy, place);
        }
        for index in 0..self.bases[base as usize].initial.len() {
            let (offset, target) = self.bases[base as usize].initial[index];
            if let Some(to) = self.copied(copy, Shape::at(offset as i64)) {
                let to = self.place(to).stored;
                self.add(to, target);
            }
        }
    }

    /// A node holds what the bytes hold that a copy takes from an object.
    pub(super) fn load_range(&mut self, to: NodeId, from: PointeeId, number: u32) {
        let size = self.byte_copies[number as usize].size;
        let (base, shape) = self.result.pointees[from as usize];
        if !matches!(self.result.bases[base as usize], Location::Function(_)) {
            let range = self.pointee(base, shape.range(size));
            let from = self.place(range).loaded;
            self.copy(to, from);
        }
    }

    /// The bytes that a copy gives to an object hold what a node holds.
    pub(super) fn store_range(&mut self, to: PointeeId, from: NodeId, number: u32) {
        let size = self.byte_copies[number as usize].size;
        let (base, shape) = self.result.pointees[to as usize];
        let is_function = matches!(self.result.bases[base as usize], Location::Function(_));
        if base != super::CONSTANTS && !is_function {
            let range = self.pointee(base, shape.range(size));
            let to = self.place(range).stored;
            self.copy(to, from);
        }
    }

    fn copy_place(&mut self, copy: ObjectCopy, place: Place) {
        if let Some(to) = self.copied(copy, place.shape) {
            let to = self.place(to).stored;
            self.copy(to, place.stored);
        }
    }

    /// Where what is stored at a place goes to; `None` where it is not among the bytes that are copied.
    fn copied(&mut self, copy: ObjectCopy, place: Shape) -> Option<PointeeId> {
        let range = copy.from.range(copy.size);
        if !range.overlaps(1, place, POINTER) {
            return None;
        }
        let (base, shape) = self.result.pointees[copy.to as usize];
        if base == super::CONSTANTS {
            return None;
        }
        let exact = copy.from.distance_to(place).filter(|_| shape.is_single());
        let to = match exact {
            Some(distance) => shape.displaced(distance),
            None => shape.range(copy.size),
        };
        Some(self.pointee(base, to))
    }

    /// The addresses in the initial value of an object.
    pub(super) fn initial(&mut self, object: ObjectId, offset: u64, target: PointeeId) {
        let base = self.result.objects[object.index()];
        self.bases[base as usize].initial.push((offset, target));
    }
}
