//! Members of the function's own structures that it does not mention by themselves: a function that hands a structure
//! on by its address often has to set one that only its callees use.

use patchwright_csource::{Storage, VarId, types::TypeKind};

use super::{Planner, Source, Watchable};
use crate::{leaves::is_private, slots::Atoms, term::AtomId};

/// Most of these members that are assigned to.
const MOST_MEMBERS: usize = 8;

impl Planner<'_, '_, '_> {
    /// The atom for a field of a structure.
    pub(super) fn member(&mut self, atoms: &mut Atoms, id: VarId, number: usize) -> Option<AtomId> {
        let ty = self.builder.unit.variable(id).ty;
        let TypeKind::Record(record) = self.builder.unit.types.kind(ty) else {
            return None;
        };
        let fields = self.builder.unit.types.record(*record).fields.as_ref()?;
        let field = fields.get(number)?.clone();
        self.builder.member(atoms, id, &field)
    }

    /// Adds members of the structures among `variables`, those of the first ones first.
    pub(super) fn find_members(&mut self, variables: &[VarId]) {
        let structures: Vec<VarId> = variables
            .iter()
            .copied()
            .filter(|&id| {
                let storage = self.builder.unit.variable(id).storage;
                matches!(storage, Storage::Local | Storage::Parameter)
            })
            .collect();
        let mut room = MOST_MEMBERS;
        for id in structures {
            let variable = self.builder.unit.variable(id).clone();
            let TypeKind::Record(record) = self.builder.unit.types.kind(variable.ty).clone() else {
                continue;
            };
            let record = self.builder.unit.types.record(record).clone();
            if record.ambiguous || record.is_union {
                continue;
            }
            let fields = record.fields.clone().unwrap_or_default();
            for (number, field) in fields.iter().enumerate() {
                let lvalue = format!("{}.{}", variable.name, field.name);
                let is_known = self.watchables.iter().any(|known| known.lvalue == lvalue);
                let replaced = self.builder.unit.replaced_names.contains(&field.name);
                if room == 0
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
                room -= 1;
                self.watchables.push(Watchable {
                    lvalue,
                    ctype,
                    source: Source::Member(id, number),
                    roots: vec![id],
                    reach: self.reach(id),
                    tracked: true,
                });
            }
        }
    }
}
