//! Finds members of structures that a function could assign to, although it does not mention them.
//!
//! The structures are the function's locals and those behind its pointer parameters. Two kinds of bugs need such members. A
//! function passes a structure on without setting a member that only its callees use. Or it resets some members and forgets one.

use patchwright_csource::{
    ExprKind, Storage, VarId,
    types::{RecordId, TypeKind},
};
use rustc_hash::FxHashSet;

use super::{Planner, Reach, Source, Watchable};
use crate::{leaves::is_private, slots::Atoms, term::AtomId};

/// Most of these members that are assigned to…
const MOST_MEMBERS: usize = 8;

/// …and, with them, of those behind pointers.
const MOST_BEHIND_POINTERS: usize = 10;

impl Planner<'_, '_, '_> {
    /// The atom for a field of a structure, or of one that a pointer points to.
    pub(super) fn member(&mut self, atoms: &mut Atoms, id: VarId, number: usize) -> Option<AtomId> {
        let (record, _) = self.record(id)?;
        let fields = self.builder.unit.types.record(record).fields.as_ref()?;
        let field = fields.get(number)?.clone();
        self.builder.member(atoms, id, &field)
    }

    /// The structure that a variable is; or points to, and then `true`.
    fn record(&self, id: VarId) -> Option<(RecordId, bool)> {
        let types = &self.builder.unit.types;
        let ty = self.builder.unit.variable(id).ty;
        let (ty, is_pointer) = match *types.kind(ty) {
            TypeKind::Pointer(to) => (to, true),
            _ => (ty, false),
        };
        match *types.kind(ty) {
            TypeKind::Record(record) if !is_pointer || !types.qualifiers(ty).is_const => {
                Some((record, is_pointer))
            }
            _ => None,
        }
    }

    /// Adds members of the structures among `variables`, and of those behind pointers, those of the first ones first. Of the pointers
    /// `lasting` can be named to the function's end.
    pub(super) fn find_members(&mut self, variables: &[VarId], lasting: &FxHashSet<VarId>) {
        let is_own = |id: &VarId| {
            let storage = self.builder.unit.variable(*id).storage;
            matches!(storage, Storage::Local | Storage::Parameter)
        };
        let own: Vec<VarId> = variables.iter().copied().filter(is_own).collect();
        let followed = self.followed();
        let is_record = |planner: &Self, id: VarId, behind: bool| {
            let record = planner.record(id);
            record.filter(|&(_, is_pointer)| is_pointer == behind)
        };
        let first = self.watchables.len();
        for (behind, most) in [(false, MOST_MEMBERS), (true, MOST_BEHIND_POINTERS)] {
            for &id in &own {
                let Some((record, _)) = is_record(self, id, behind) else {
                    continue;
                };
                if !behind || followed.contains(&id) {
                    let tracked = !behind || lasting.contains(&id);
                    self.add_members(id, record, behind, (first + most, tracked));
                }
            }
        }
    }

    /// Adds the members of one structure, as long as there are fewer than `most` targets.
    fn add_members(
        &mut self,
        id: VarId,
        record: RecordId,
        behind: bool,
        (most, tracked): (usize, bool),
    ) {
        let record = self.builder.unit.types.record(record).clone();
        if record.ambiguous || record.is_union {
            return;
        }
        let name = self.builder.unit.variable(id).name.clone();
        let fields = record.fields.clone().unwrap_or_default();
        for (number, field) in fields.iter().enumerate() {
            let arrow = if behind { "->" } else { "." };
            let lvalue = format!("{name}{arrow}{}", field.name);
            let is_known = self.watchables.iter().any(|known| known.lvalue == lvalue);
            let replaced = self.builder.unit.replaced_names.contains(&field.name);
            if self.watchables.len() >= most
                || is_known
                || replaced
                || field.name.is_empty()
                || is_private(&record, field)
                || field.bit_width.is_some()
            {
                continue;
            }
            let Some(ctype) = self.assignable(field.ty) else {
                continue;
            };
            self.watchables.push(Watchable {
                lvalue,
                ctype,
                source: Source::Member(id, number),
                roots: vec![id],
                reach: match behind {
                    true => Reach::Memory,
                    false => self.reach(id),
                },
                tracked,
            });
        }
    }

    /// The pointers of which the function sets or reads a member.
    fn followed(&self) -> FxHashSet<VarId> {
        let bases = self
            .function
            .exprs
            .iter()
            .filter_map(|expr| match expr.kind {
                ExprKind::Member {
                    base, arrow: true, ..
                } if expr.evaluated => Some(self.function.stripped(base)),
                _ => None,
            });
        let variables = bases.filter_map(|base| match self.function.expr(base).kind {
            ExprKind::Variable(id) => Some(id),
            _ => None,
        });
        variables.collect()
    }
}
