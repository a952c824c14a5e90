//! Describes what a pointer among the inputs may point to beside objects of its own: the object of
//! another pointer, a place in its array, a global.

use crate::options::{ParameterShape, Shape};

/// What a pointer may point to that is not its own object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The first of the objects that this pointer leads to, where it leads to its own.
    Pointer {
        /// How the inputs call it.
        name: String,
        /// The parameter behind which it is.
        parameter: String,
    },
    /// A global of this name.
    Global(String),
}

impl Target {
    /// Returns the name of the pointer or global.
    pub fn name(&self) -> &str {
        match self {
            Target::Pointer { name, .. } | Target::Global(name) => name,
        }
    }
}

/// The elements before the one to which a pointer points, if another pointer points into its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// The input that says how many.
    pub name: String,
    /// How many at most.
    pub most: u64,
    /// As many fewer lie behind: the array has always as many. A text has its end, wherever in it the pointer leads.
    pub shortens: bool,
}

impl Before {
    /// Returns the number of elements before the target, given the value of the input that decides it. It is at most `most`.
    pub fn count(&self, bits: u128) -> u64 {
        u64::try_from(bits).unwrap_or(u64::MAX).min(self.most)
    }
}

/// One more target that a pointer may have, with the inputs that choose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The target.
    pub to: Target,
    /// It leads so many elements behind what the other pointer leads to at most, or behind the first of a global.
    pub most: u64,
    /// What lies before what the other pointer leads to; it may lead there, too.
    pub before: Option<Before>,
    /// Bytes of an element.
    pub element: u64,
    /// How C says that it leads there, which is the name of the input that decides it: `b == a`.
    pub label: String,
    /// How C says how many elements behind that, if that may be several: `end - p`.
    pub distance: Option<String>,
    /// What it leads to, as C has it: `p`, `&counter`.
    pub expression: String,
}

/// The number of bits, sign included, of the input that says how many elements behind the target a
/// pointer points.
pub const DISTANCE: u32 = 16;

impl Way {
    /// Returns the number of elements behind the target that the bits of its input mean. `before` are
    /// the bits of the input that says how many elements lie before the target.
    pub fn position(&self, bits: u128, before: u128) -> i64 {
        let count = self.before.as_ref().map_or(0, |own| own.count(before));
        let shortens = self.before.as_ref().is_some_and(|own| own.shortens);
        let last = self.most - if shortens { count.min(self.most) } else { 0 };
        i64::from(bits as u16 as i16).clamp(-(count as i64), last as i64)
    }

    /// Returns the C expression of the place that lies `position` elements behind the target.
    pub fn place(&self, position: i64) -> String {
        match position {
            0 => self.expression.clone(),
            1.. => format!("{} + {position}", self.expression),
            _ => format!("{} - {}", self.expression, -position),
        }
    }
}

/// Returns the order in which parameters get their arguments: a parameter comes behind those to whose
/// objects it may point.
pub fn order(parameters: &[ParameterShape]) -> Vec<usize> {
    let mut done: Vec<usize> = Vec::new();
    let is_there = |name: &str, done: &[usize]| {
        let at = parameters.iter().position(|one| one.name == name);
        at.is_none_or(|at| done.contains(&at))
    };
    while done.len() < parameters.len() {
        let mut open = (0..parameters.len()).filter(|at| !done.contains(at));
        let ready = open.find(|&at| {
            let own = &parameters[at];
            let mut ways = own.ways.iter().flat_map(|(_, ways)| ways);
            ways.all(|way| match &way.to {
                Target::Pointer { parameter, .. } => {
                    *parameter == own.name || is_there(parameter, &done)
                }
                Target::Global(_) => true,
            })
        });
        let first = (0..parameters.len()).find(|at| !done.contains(at));
        // Nothing leads to itself by a detour, so one is always ready.
        done.extend(ready.or(first));
    }
    done
}

/// Returns the members of a structure or union that get a value. Of overlapping members it is the first
/// one.
pub fn given_members(
    members: &[(u64, String, Shape)],
) -> impl Iterator<Item = &(u64, String, Shape)> {
    let mut covered = 0;
    members.iter().filter(move |(offset, _, shape)| {
        let is_given = *offset >= covered || shape.size() == 0;
        if is_given {
            covered = offset + shape.size();
        }
        is_given
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_ir::Type;

    #[test]
    fn parameters_come_behind_those_that_they_may_lead_to() {
        let pointer = |name: &str, to: &[&str]| {
            let way = |to: &&str| Way {
                to: Target::Pointer {
                    name: (*to).to_owned(),
                    parameter: (*to).to_owned(),
                },
                most: 0,
                before: None,
                element: 1,
                label: format!("{name} == {to}"),
                distance: None,
                expression: (*to).to_owned(),
            };
            ParameterShape {
                name: name.to_owned(),
                shape: Shape::Scalar(Type::Ptr),
                ways: vec![(name.to_owned(), to.iter().map(way).collect())],
                before: Vec::new(),
                outside: Vec::new(),
            }
        };
        let all = [
            pointer("b", &["a"]),
            pointer("n", &["gone"]),
            pointer("a", &[]),
        ];
        assert_eq!(order(&all), [1, 2, 0]);
    }

    #[test]
    fn places_in_an_array_lie_within_it() {
        let before = Before {
            name: "before_p".to_owned(),
            most: 4,
            shortens: true,
        };
        let way = Way {
            to: Target::Global("unused".to_owned()),
            most: 4,
            before: Some(before),
            element: 1,
            label: String::new(),
            distance: Some("end - p".to_owned()),
            expression: "p".to_owned(),
        };
        assert_eq!(way.position(2, 0), 2);
        assert_eq!(way.position(0xffff, 0), 0);
        assert_eq!(way.position(0xffff, 3), -1);
        assert_eq!(way.position(2, 3), 1);
        assert_eq!(way.position(7, 200), 0);
        assert_eq!(way.place(-1), "p - 1");
    }

    #[test]
    fn of_members_that_overlap_the_first_counts() {
        let scalar = |at: u64, name: &str, ty| (at, name.to_owned(), Shape::Scalar(ty));
        let members = [
            scalar(0, "wide", Type::I64),
            scalar(0, "narrow", Type::I32),
            scalar(8, "last", Type::U8),
        ];
        let names: Vec<&str> = given_members(&members).map(|one| one.1.as_str()).collect();
        assert_eq!(names, ["wide", "last"]);
    }
}
