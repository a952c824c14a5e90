//! Terms for arrays, which map every index to an element.

use crate::sort::Sort;
use crate::terms::{Node, Term, Terms};

/// The number of stores that are looked through for the one that is meant.
const FAR: u32 = 256;

/// The number of stores that are looked through in each array of a choice.
const NEAR: u32 = 64;

/// About the number of arrays among which a term chooses.
const CHOICES: u32 = 8;

impl Terms {
    #[track_caller]
    fn array_sort(&self, array: Term) -> (u32, u32) {
        match self.sort(array) {
            Sort::Array { index, element } => (index, element),
            other => panic!("an array is needed, and this is {other}"),
        }
    }

    /// Returns the array with `element` at every index of `index` bits.
    #[track_caller]
    pub fn array_of(&mut self, index: u32, element: Term) -> Term {
        let element_width = self.width(element);
        self.intern(
            Node::ArrayOf(element),
            Sort::Array {
                index,
                element: element_width,
            },
        )
    }

    /// Returns `array` with `element` at `index`.
    #[track_caller]
    pub fn store(&mut self, array: Term, index: Term, element: Term) -> Term {
        let sort = self.array_sort(array);
        assert_eq!(
            sort,
            (self.width(index), self.width(element)),
            "a store of other widths"
        );
        match self.node(array) {
            Node::Store(below, at, _) if at == index => return self.store(below, index, element),
            Node::ArrayOf(everywhere) if everywhere == element => return array,
            _ => {}
        }
        if self.node(element) == Node::Select(array, index) {
            return array;
        }
        self.intern(Node::Store(array, index, element), self.sort(array))
    }

    /// Returns the element of `array` at `index`.
    #[track_caller]
    pub fn select(&mut self, array: Term, index: Term) -> Term {
        let (index_width, element) = self.array_sort(array);
        assert_eq!(index_width, self.width(index), "an index of another width");
        let mut at = array;
        for _ in 0..FAR {
            match self.node(at) {
                Node::ArrayOf(everywhere) => return everywhere,
                Node::Store(_, there, value) if there == index => return value,
                Node::Store(below, there, _) if self.apart(there, index) => at = below,
                _ => break,
            }
        }
        if let Node::Ite(..) = self.node(at)
            && let Some(value) = self.found(at, index, CHOICES)
        {
            return value;
        }
        self.intern(Node::Select(at, index), Sort::Bits(element))
    }

    /// The element at an index where each of a few arrays to choose from is seen to have one.
    fn found(&mut self, array: Term, index: Term, choices: u32) -> Option<Term> {
        let mut at = array;
        for _ in 0..NEAR {
            match self.node(at) {
                Node::ArrayOf(everywhere) => return Some(everywhere),
                Node::Store(_, there, value) if there == index => return Some(value),
                Node::Store(below, there, _) if self.apart(there, index) => at = below,
                Node::Ite(condition, then, otherwise) if choices > 0 => {
                    let then = self.found(then, index, choices / 2)?;
                    let otherwise = self.found(otherwise, index, choices / 2)?;
                    return Some(self.ite(condition, then, otherwise));
                }
                _ => return None,
            }
        }
        None
    }
}
