//! Memory: numbered objects with bounds, lifetimes and contents.
//!
//! Numbers are given once for all paths, so that an object is the same one wherever paths meet.
//! Objects are shared between the memories of paths until one of them writes.

use std::rc::Rc;

use patchwright_solve::{Term, Terms};

use crate::{content::Content, pointer::Number};

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Global,
    Constant,
    Stack,
    Heap,
    /// The function with this number in the program; it has no bytes.
    Function(u32),
    /// A function that an argument leads to, by its number; it has no bytes.
    Callback(u32),
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    /// For messages; empty for what has no name.
    pub(crate) name: Rc<str>,
    /// Where in its content its first byte is, in 64 bits, if something stands there that may be no part of it.
    pub(crate) start: Option<Term>,
    /// Bytes from there on, in 64 bits.
    pub(crate) size: Term,
    /// Bytes of the content at most.
    pub(crate) most: u64,
    /// It exists: it was made on this path, and its lifetime has not ended.
    pub(crate) alive: Term,
    pub(crate) content: Content,
}

const CHUNK: usize = 32;

type Chunk = Vec<Option<Rc<Object>>>;

/// The objects of a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    chunks: Vec<Rc<Chunk>>,
}

impl Memory {
    /// The object with this number, if it was made on this path.
    pub(crate) fn get(&self, number: Number) -> Option<&Rc<Object>> {
        let index = number as usize;
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)?.as_ref()
    }

    /// The object, to be changed.
    pub(crate) fn change(&mut self, number: Number) -> Option<&mut Object> {
        let index = number as usize;
        let chunk = Rc::make_mut(self.chunks.get_mut(index / CHUNK)?);
        chunk.get_mut(index % CHUNK)?.as_mut().map(Rc::make_mut)
    }

    /// Adds an object, or takes another in its place.
    pub(crate) fn put(&mut self, number: Number, object: Rc<Object>) {
        let index = number as usize;
        while self.chunks.len() <= index / CHUNK {
            self.chunks.push(Rc::new(vec![None; CHUNK]));
        }
        let chunk = Rc::make_mut(&mut self.chunks[index / CHUNK]);
        chunk[index % CHUNK] = Some(object);
    }

    /// Forgets an object that nothing can reach any more.
    pub(crate) fn forget(&mut self, number: Number) {
        let index = number as usize;
        if let Some(chunk) = self.chunks.get_mut(index / CHUNK) {
            Rc::make_mut(chunk)[index % CHUNK] = None;
        }
    }

    /// The numbers of all objects, in order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.chunks.iter().enumerate().flat_map(|(high, chunk)| {
            chunk
                .iter()
                .enumerate()
                .filter(|(_, object)| object.is_some())
                .map(move |(low, _)| (high * CHUNK + low) as Number)
        })
    }

    /// The pairs of values in which two memories differ; nothing where they differ in more than some values.
    pub(crate) fn differences(&self, other: &Memory, found: &mut Vec<(Term, Term)>) -> Option<()> {
        let count = self.chunks.len().max(other.chunks.len());
        for high in 0..count {
            let (a, b) = (self.chunks.get(high), other.chunks.get(high));
            if let (Some(a), Some(b)) = (a, b)
                && Rc::ptr_eq(a, b)
            {
                continue;
            }
            for low in 0..CHUNK {
                let number = (high * CHUNK + low) as Number;
                match (self.get(number), other.get(number)) {
                    (None, None) => {}
                    (Some(a), Some(b)) if Rc::ptr_eq(a, b) => {}
                    (Some(a), Some(b)) if a.size == b.size && a.alive == b.alive => {
                        a.content.differences(&b.content, found)?;
                    }
                    _ => return None,
                }
            }
        }
        Some(())
    }

    /// The memory of executions that come from one of two paths; `first` tells from which. Reports the
    /// objects whose contents could not be brought together, with the reason; they are taken from the first.
    pub(crate) fn merge(
        &self,
        other: &Memory,
        terms: &mut Terms,
        first: Term,
    ) -> (Memory, Vec<&'static str>) {
        let mut result = self.clone();
        let mut lost = Vec::new();
        let count = self.chunks.len().max(other.chunks.len());
        for high in 0..count {
            let (a, b) = (self.chunks.get(high), other.chunks.get(high));
            if let (Some(a), Some(b)) = (a, b)
                && Rc::ptr_eq(a, b)
            {
                continue;
            }
            for low in 0..CHUNK {
                let number = (high * CHUNK + low) as Number;
                let merged = match (self.get(number), other.get(number)) {
                    (Some(a), Some(b)) if Rc::ptr_eq(a, b) => continue,
                    (Some(a), Some(b)) => {
                        let content =
                            match a
                                .content
                                .merge(&b.content, terms, first, a.most.max(b.most))
                            {
                                Ok(content) => content,
                                Err(reason) => {
                                    lost.push(reason);
                                    a.content.clone()
                                }
                            };
                        Object {
                            kind: a.kind,
                            name: a.name.clone(),
                            start: a.start,
                            size: terms.ite(first, a.size, b.size),
                            most: a.most.max(b.most),
                            alive: terms.ite(first, a.alive, b.alive),
                            content,
                        }
                    }
                    (Some(a), None) => {
                        let alive = terms.and(first, a.alive);
                        if alive == a.alive {
                            continue;
                        }
                        Object {
                            alive,
                            ..Object::clone(a)
                        }
                    }
                    (None, Some(b)) => {
                        let second = terms.not(first);
                        Object {
                            alive: terms.and(second, b.alive),
                            ..Object::clone(b)
                        }
                    }
                    (None, None) => continue,
                };
                result.put(number, Rc::new(merged));
            }
        }
        (result, lost)
    }
}
