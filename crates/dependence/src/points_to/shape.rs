//! Tells to which bytes of an object a pointer may point.

/// Where pointers stand in an object, as offsets in bytes. They may stand in each element of an array. An array inside of a
/// structure is a window that they do not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// What follows is about offsets modulo this; 0 where the offsets themselves are meant.
    modulus: u32,
    /// The least offset.
    low: u32,
    /// Where the window ends; 0 without a window.
    high: u32,
    /// In a window, the distance between possible offsets; 0 where only `low` is possible.
    step: u32,
}

/// What pointer arithmetic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    /// To a member at an offset; for an array with its bytes, or `u64::MAX` where it may be longer than it says.
    Member { offset: u64, array: Option<u64> },
    /// By any number of elements of this size.
    Step(u64),
    /// By this number of bytes.
    Displace(i64),
    /// Anywhere.
    Widen,
}

/// Objects larger than this are one part.
const LARGEST: u64 = 1 << 24;

/// Less than a pointer has no parts that matter.
const LEAST_MODULUS: u32 = 8;

impl Shape {
    /// Any offset in the object.
    pub(crate) const ANY: Shape = Shape {
        modulus: 0,
        low: 0,
        high: u32::MAX,
        step: 1,
    };

    /// At an offset.
    pub(crate) fn at(offset: i64) -> Shape {
        match u32::try_from(offset) {
            Ok(low) if u64::from(low) <= LARGEST => Shape {
                modulus: 0,
                low,
                high: 0,
                step: 0,
            },
            _ => Shape::ANY,
        }
    }

    fn window(modulus: u32, low: u32, high: u32, step: u32) -> Shape {
        let whole = modulus != 0 && (high > modulus || low >= modulus);
        if whole || (modulus == 0 && low == 0 && high == u32::MAX && step != 0) {
            return Shape::ANY;
        }
        Shape {
            modulus,
            low,
            high,
            step,
        }
    }

    /// Whether the shape is one offset, or one in each element of an array.
    pub(crate) fn is_single(self) -> bool {
        self.step == 0
    }

    /// Returns the offset, if there is only one in the whole object.
    pub(crate) fn offset(self) -> Option<u64> {
        (self.step == 0 && self.modulus == 0).then_some(u64::from(self.low))
    }

    /// The number of bytes after which the offsets repeat themselves, if they do.
    pub(crate) fn modulus(self) -> u32 {
        self.modulus
    }

    /// The window, without its modulus.
    pub(crate) fn bounds(self) -> Option<(u32, u32)> {
        (self.high != 0 && self != Shape::ANY).then_some((self.low, self.high))
    }

    /// Returns the range of bytes, modulo [`Shape::modulus`], that an access of `size` bytes may touch.
    pub(crate) fn extent(self, size: u64) -> (u64, u64) {
        let low = u64::from(self.low);
        match self.step {
            0 => (low, low.saturating_add(size)),
            _ if self.high == u32::MAX => (low, u64::MAX),
            _ => (low, u64::from(self.high)),
        }
    }

    /// Returns the offsets after a move of the pointer.
    pub(crate) fn moved(self, by: Move) -> Shape {
        match by {
            Move::Widen => Shape::ANY,
            Move::Member { offset, array } => self.member(offset, array),
            Move::Step(size) => self.stepped(size),
            Move::Displace(bytes) => self.displaced(bytes),
        }
    }

    fn member(self, offset: u64, array: Option<u64>) -> Shape {
        if self == Shape::ANY || offset > LARGEST {
            return Shape::ANY;
        }
        let offset = offset as u32;
        if self.step != 0 {
            // A member of each element of an array inside of the object.
            let inside = self.step >= LEAST_MODULUS && offset < self.step && array.is_none();
            return match inside && self.low.saturating_add(offset) < self.high {
                true => Shape::window(self.modulus, self.low + offset, self.high, self.step),
                false => Shape::window(self.modulus, self.low, self.high, 1),
            };
        }
        let low = self.low + offset;
        match (self.modulus, array) {
            (0, None) => Shape::at(i64::from(low)),
            (0, Some(bytes)) => {
                let high = u32::try_from(u64::from(low) + bytes.min(u64::from(u32::MAX)));
                Shape::window(0, low, high.unwrap_or(u32::MAX), 0)
            }
            (modulus, None) => Shape {
                modulus,
                low: low % modulus,
                high: 0,
                step: 0,
            },
            (modulus, Some(bytes)) => match u32::try_from(bytes) {
                Ok(bytes) if low < modulus => {
                    Shape::window(modulus, low, low.saturating_add(bytes), 0)
                }
                _ => Shape::ANY,
            },
        }
    }

    fn stepped(self, size: u64) -> Shape {
        let size = u32::try_from(size).unwrap_or(1).max(1);
        if self.high != 0 {
            return Shape::window(self.modulus, self.low, self.high, gcd(self.step, size));
        }
        let modulus = gcd(self.modulus, size);
        match modulus < LEAST_MODULUS {
            true => Shape::ANY,
            false => Shape {
                modulus,
                low: self.low % modulus,
                high: 0,
                step: 0,
            },
        }
    }

    /// Returns the offsets after adding a known number of bytes.
    pub(crate) fn displaced(self, bytes: i64) -> Shape {
        if bytes == 0 || self == Shape::ANY {
            return self;
        }
        if self.high == 0 {
            let low = i64::from(self.low) + bytes;
            return match self.modulus {
                0 => Shape::at(low),
                modulus => Shape {
                    low: low.rem_euclid(i64::from(modulus)) as u32,
                    ..self
                },
            };
        }
        // What leads out of an array leads to the object around it.
        let room = i64::from(self.high - self.low);
        let stays = match self.step {
            0 => (0..=room).contains(&bytes),
            _ => (-room..=room).contains(&bytes),
        };
        match stays {
            true => self.stepped(bytes.unsigned_abs()),
            false => Shape::ANY,
        }
    }

    /// Returns the bytes from these offsets on: `size` of them, or all up to the object's end.
    pub(crate) fn range(self, size: Option<u64>) -> Shape {
        if self.high != 0 {
            return Shape::window(self.modulus, self.low, self.high, 1);
        }
        let high = size.and_then(|size| u32::try_from(u64::from(self.low) + size).ok());
        match (self.modulus, high) {
            (_, Some(high)) => Shape::window(self.modulus, self.low, high, 1),
            (0, None) => Shape::window(0, self.low, u32::MAX, 1),
            (_, None) => Shape::ANY,
        }
    }

    /// Accesses of so many bytes may touch the same ones.
    pub(crate) fn overlaps(self, size: u64, other: Shape, other_size: u64) -> bool {
        let (a, b) = (self.extent(size), other.extent(other_size));
        let modulus = gcd(self.modulus, other.modulus);
        if modulus != 0 {
            return meet_modulo(a, b, u64::from(modulus));
        }
        if a.0 >= b.1 || b.0 >= a.1 {
            return false;
        }
        // Members of the elements of one array.
        let step = gcd(self.step, other.step);
        if self.step == 0 || other.step == 0 || step < LEAST_MODULUS {
            return true;
        }
        meet_modulo((a.0, a.0 + size), (b.0, b.0 + other_size), u64::from(step))
    }

    /// Returns the distance in bytes from this offset to another one; `None` where that is not one number.
    pub(crate) fn distance_to(self, other: Shape) -> Option<i64> {
        if !self.is_single() || !other.is_single() {
            return None;
        }
        let distance = i64::from(other.low) - i64::from(self.low);
        match gcd(self.modulus, other.modulus) {
            0 => Some(distance),
            modulus => Some(distance.rem_euclid(i64::from(modulus))),
        }
    }
}

fn meet_modulo(a: (u64, u64), b: (u64, u64), modulus: u64) -> bool {
    let length = |(low, high): (u64, u64)| high.saturating_sub(low);
    if length(a) >= modulus || length(b) >= modulus {
        return true;
    }
    let distance = (b.0 % modulus + modulus - a.0 % modulus) % modulus;
    distance < length(a) || modulus - distance < length(b)
}

/// The greatest common divisor; that of 0 and a number is the number.
pub(crate) fn gcd(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(shape: Shape, offset: u64) -> Shape {
        shape.moved(Move::Member {
            offset,
            array: None,
        })
    }

    fn array(shape: Shape, offset: u64, bytes: u64) -> Shape {
        let array = Some(bytes);
        shape.moved(Move::Member { offset, array })
    }

    #[test]
    fn members_are_told_apart_also_in_arrays() {
        let start = Shape::at(0);
        let (a, b) = (member(start, 8), member(start, 16));
        assert!(!a.overlaps(8, b, 8) && a.overlaps(9, b, 8) && a.overlaps(8, a, 1));
        let element = start.moved(Move::Step(24));
        let (c, d) = (member(element, 8), member(element, 16));
        assert!(!c.overlaps(8, d, 8));
        assert!(c.overlaps(8, Shape::at(32), 8) && !d.overlaps(8, Shape::at(32), 8));
        // Elements of another size cross all borders.
        let others = start.moved(Move::Step(16));
        assert!(others.overlaps(8, c, 8));
        assert!(Shape::ANY.overlaps(1, d, 1));
    }

    #[test]
    fn an_array_within_a_structure_is_not_left_unless_by_a_known_way() {
        let buffer = array(Shape::at(0), 16, 32);
        let walking = buffer.moved(Move::Step(1));
        assert!(!walking.overlaps(1, Shape::at(8), 8));
        assert!(walking.overlaps(1, Shape::at(40), 8) && !walking.overlaps(1, Shape::at(48), 8));
        assert_eq!(buffer.moved(Move::Displace(-16)), Shape::ANY);
        assert_eq!(buffer.moved(Move::Displace(40)), Shape::ANY);
        assert!(!buffer.moved(Move::Displace(4)).overlaps(1, Shape::at(8), 8));
        // The last member may be longer than it says.
        let last = array(Shape::at(0), 16, u64::MAX).moved(Move::Step(1));
        assert!(last.overlaps(1, Shape::at(1000), 4) && !last.overlaps(1, Shape::at(8), 8));
    }

    #[test]
    fn what_has_no_array_around_it_walks_everywhere() {
        let pointer = member(Shape::at(0), 16);
        assert_eq!(pointer.moved(Move::Step(4)), Shape::ANY);
        assert_eq!(pointer.moved(Move::Displace(-8)), Shape::at(8));
        assert_eq!(pointer.moved(Move::Displace(-24)), Shape::ANY);
        assert_eq!(Shape::at(4).distance_to(Shape::at(12)), Some(8));
        let residue = Shape::at(4).moved(Move::Step(16));
        assert_eq!(residue.distance_to(Shape::at(18)), Some(14));
    }
}
