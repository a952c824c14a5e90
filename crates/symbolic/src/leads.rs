//! Describes where pointers point that a caller can see, in words that mean the same in another version
//! of the program.

use patchwright_ir::ObjectId;
use patchwright_solve::{Term, Terms};

use crate::{
    encoder::Encoder,
    pointee::{Leads, Pointee},
    visible::Visible,
};

/// Returns the condition, as a term, that a pointer lies within 64 KiB below or above 0, as null moved by a small offset does. No
/// object lies there.
pub fn is_near_null(terms: &mut Terms, pointer: Term) -> Term {
    const NEAR: u128 = 1 << 16;
    let (near, twice) = (terms.constant(64, NEAR), terms.constant(64, 2 * NEAR));
    let moved = terms.add(pointer, near);
    terms.ult(moved, twice)
}

impl Encoder<'_> {
    /// Returns the visible objects with offsets, the constants and the functions to which a pointer leads, each with its condition.
    pub(crate) fn leads(&mut self, pointer: Term, visible: &[Visible]) -> Leads {
        let targets = self.pointers.targets(self.terms, pointer);
        let mut leads = Leads {
            unknown: targets.opaque,
            ..Leads::default()
        };
        let mut elsewhere: Vec<Term> = Vec::new();
        for leaf in targets.leaves.iter() {
            if leaf.object == 0 {
                // Null is none of these, wherever it was moved.
                let near = is_near_null(self.terms, leaf.offset);
                let other = self.terms.not(near);
                elsewhere.push(self.terms.and(leaf.condition, other));
                continue;
            }
            let named = visible.iter().find(|one| one.number == leaf.object);
            if let Some(named) = named {
                let object = Pointee::Object {
                    name: named.name.clone(),
                    element: named.element,
                };
                let origin = self.word(named.origin);
                let offset = self.terms.sub(leaf.offset, origin);
                leads.to.push((leaf.condition, object, offset));
                continue;
            }
            let constant = self.constant_behind(leaf.object, leaf.offset);
            let found = constant.map(Pointee::Constant);
            match found.or_else(|| self.function_at(leaf.object)) {
                Some(pointee) => {
                    let start = self.word(0);
                    leads.to.push((leaf.condition, pointee, start));
                }
                None => elsewhere.push(leaf.condition),
            }
        }
        let elsewhere = self.terms.or_all(elsewhere);
        leads.elsewhere = Some(elsewhere).filter(|one| self.terms.as_truth(*one) != Some(false));
        leads
    }

    /// Returns where the pointers in an object lead in the end, by their offsets. Bytes count only if they are known to be pointers.
    pub(crate) fn leads_of(&mut self, parts: &[Term], visible: &[Visible]) -> Vec<(u64, Leads)> {
        let mut all = Vec::new();
        let mut at = 0;
        for &part in parts {
            let width = self.terms.width(part);
            if width == 64 {
                let targets = self.pointers.targets(self.terms, part);
                if targets.leaves.iter().any(|leaf| leaf.object != 0) {
                    all.push((at, self.leads(part, visible)));
                }
            }
            at += u64::from(width / 8);
        }
        all
    }

    fn function_at(&self, number: u32) -> Option<Pointee> {
        if let Some(crate::memory::Kind::Callback(at)) = self.numbers.get(number as usize) {
            return Some(Pointee::Function(self.callbacks[*at as usize].name.clone()));
        }
        let index = self.routines.iter().position(|&own| own == number)?;
        let mut all = self.program.routine_ids();
        let name = &self.program.routine(all.nth(index)?).name;
        Some(Pointee::Function(name.clone()))
    }

    /// The bytes of a constant from an offset on.
    fn constant_behind(&self, number: u32, offset: Term) -> Option<Vec<u8>> {
        let at = usize::try_from(self.terms.as_constant(offset)?).ok()?;
        let index = self.globals.iter().position(|&own| own == number)?;
        let global = self.program.global(ObjectId(index as u32));
        let data = global.data.as_ref().filter(|_| global.constant)?;
        if !data.relocations.is_empty() || global.unsupported.is_some() {
            return None;
        }
        let mut bytes = data.bytes.clone();
        bytes.resize(usize::try_from(global.size).ok()?, 0);
        bytes.get(at..).map(<[u8]>::to_vec)
    }
}
