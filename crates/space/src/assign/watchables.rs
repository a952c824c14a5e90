//! What can be watched: variables and parts of objects whose old values an assignment may need.

use patchwright_csource::{
    CastKind, ExprId, ExprKind, StmtKind, Storage, UnaryOperator, VarId, types::TypeKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Effects, MOST_PATHS, MOST_VARIABLES, Planner, Source};
use crate::{slots::Atoms, term::CType};

/// Who can reach what is assigned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// Only the text that names it.
    Private,
    /// Callees, and whoever has its address.
    Shared,
    /// It lies behind a pointer or in an array.
    Memory,
}

/// An object that candidates may assign to.
pub(super) struct Watchable {
    pub(super) lvalue: String,
    pub(super) ctype: CType,
    /// The variable itself, or the path's expression, or a member.
    pub(super) source: Source,
    /// Variables that its text names.
    pub(super) roots: Vec<VarId>,
    pub(super) reach: Reach,
    pub(super) tracked: bool,
}

impl Planner<'_, '_, '_> {
    /// Finds the objects of the function that candidates may assign to.
    pub(super) fn find_watchables(&mut self) {
        let function = self.function;
        let mut counts: FxHashMap<VarId, usize> = FxHashMap::default();
        for &id in &function.locals {
            counts.insert(id, 0);
        }
        let mut paths: Vec<(ExprId, usize)> = Vec::new();
        for expr in &function.exprs {
            if !expr.evaluated {
                continue;
            }
            match &expr.kind {
                ExprKind::Variable(id) => *counts.entry(*id).or_default() += 1,
                ExprKind::Cast {
                    operand,
                    cast: CastKind::LValueToRValue,
                    ..
                } => paths.push((function.without_parens(*operand), 1)),
                ExprKind::Assign { target, .. } => {
                    paths.push((function.without_parens(*target), 2));
                }
                _ => {}
            }
        }
        let mut names: FxHashMap<String, usize> = FxHashMap::default();
        for &id in &function.locals {
            *names
                .entry(self.builder.unit.variable(id).name.clone())
                .or_default() += 1;
        }
        let mut variables: Vec<(usize, VarId)> = counts
            .into_iter()
            .filter(|&(id, _)| {
                let variable = self.builder.unit.variable(id);
                let same = names.get(&variable.name).copied().unwrap_or(0);
                let only = match variable.storage {
                    Storage::Global => same == 0,
                    _ => same == 1,
                };
                let replaced = &self.builder.unit.replaced_names;
                only && !variable.thread_local
                    && !variable.in_system_header
                    && !replaced.contains(&variable.name)
            })
            .map(|(id, count)| (count, id))
            .collect();
        variables.sort_by_key(|&(count, id)| (std::cmp::Reverse(count), id.0));
        for &(_, id) in &variables {
            if self.watchables.len() == MOST_VARIABLES {
                break;
            }
            let ty = self.builder.unit.variable(id).ty;
            if let Some(ctype) = self.assignable(ty) {
                let lvalue = self.builder.unit.variable(id).name.clone();
                self.watchables.push(Watchable {
                    lvalue,
                    ctype,
                    source: Source::Variable(id),
                    roots: vec![id],
                    reach: self.reach(id),
                    tracked: self.builder.unit.variable(id).storage != Storage::StaticLocal,
                });
            }
        }
        let unique: FxHashSet<VarId> = variables.iter().map(|&(_, id)| id).collect();
        let outermost = self.outermost();
        self.find_paths(&paths, &unique, &outermost);
        let by_mentions: Vec<VarId> = variables.iter().map(|&(_, id)| id).collect();
        self.find_members(&by_mentions, &outermost);
        self.find_elements(&by_mentions, &outermost);
    }

    /// The variables of the outermost block, which can be named to its end.
    pub(super) fn outermost(&self) -> FxHashSet<VarId> {
        let StmtKind::Compound(inner) = &self.function.stmt(self.function.body).kind else {
            return FxHashSet::default();
        };
        let declared = inner
            .iter()
            .filter_map(|&id| match &self.function.stmt(id).kind {
                StmtKind::Declaration(variables) => Some(variables.iter()),
                _ => None,
            });
        declared
            .flatten()
            .chain(&self.function.parameters)
            .copied()
            .collect()
    }

    fn find_paths(
        &mut self,
        paths: &[(ExprId, usize)],
        unique: &FxHashSet<VarId>,
        outermost: &FxHashSet<VarId>,
    ) {
        let mut found: Vec<(usize, usize, Watchable)> = Vec::new();
        for (order, &(id, weight)) in paths.iter().enumerate() {
            let expr = self.function.expr(id);
            if !matches!(
                expr.kind,
                ExprKind::Member {
                    bit_field: false,
                    ..
                } | ExprKind::Subscript { .. }
                    | ExprKind::Unary {
                        operator: UnaryOperator::Dereference,
                        ..
                    }
            ) {
                continue;
            }
            let Some(ctype) = self.assignable(expr.ty) else {
                continue;
            };
            let mut atoms = Atoms::default();
            let Some(atom) = self.builder.read(&mut atoms, self.function, id) else {
                continue;
            };
            let lvalue = atoms.table[atom].spelling.clone();
            if let Some(known) = found.iter_mut().find(|(_, _, w)| w.lvalue == lvalue) {
                known.0 += weight;
                continue;
            }
            let mut effects = Effects::default();
            self.effects(id, &mut effects);
            let roots: Vec<VarId> = effects.variables.iter().copied().collect();
            if roots.iter().any(|root| !unique.contains(root)) {
                continue;
            }
            // `s.member` is as private as `s` is.
            let reach = match (effects.memory, roots.as_slice()) {
                (false, &[root]) => self.reach(root),
                _ => Reach::Memory,
            };
            let lasting = roots.iter().all(|root| {
                let storage = self.builder.unit.variable(*root).storage;
                storage == Storage::Global || outermost.contains(root)
            });
            found.push((
                weight,
                order,
                Watchable {
                    lvalue,
                    ctype,
                    source: Source::Path(id),
                    roots,
                    reach,
                    tracked: lasting || reach == Reach::Private,
                },
            ));
        }
        found.sort_by_key(|(weight, order, _)| (std::cmp::Reverse(*weight), *order));
        self.watchables.extend(
            found
                .into_iter()
                .take(MOST_PATHS)
                .map(|(_, _, watchable)| watchable),
        );
    }

    /// The type of an object that can be assigned to.
    pub(super) fn assignable(&mut self, ty: patchwright_csource::types::TypeId) -> Option<CType> {
        if self.builder.unit.types.qualifiers(ty).is_const || !self.builder.is_scalar(ty) {
            return None;
        }
        self.builder.ctype(ty)
    }

    /// Returns who may change or read a variable besides the function itself.
    pub(super) fn reach(&self, id: VarId) -> Reach {
        match self.builder.unit.variable(id).storage {
            Storage::Local | Storage::Parameter if !self.function.address_taken.contains(&id) => {
                Reach::Private
            }
            _ => Reach::Shared,
        }
    }

    /// The function contains something in which the order of evaluation is not that of the text.
    pub(super) fn is_opaque(&self) -> bool {
        let unit = &*self.builder.unit;
        self.function
            .stmts
            .iter()
            .any(|stmt| matches!(stmt.kind, StmtKind::Other { .. }))
            || self
                .function
                .exprs
                .iter()
                .any(|expr| matches!(expr.kind, ExprKind::Other { body: Some(_), .. }))
            || self.function.locals.iter().any(|&id| {
                matches!(
                    unit.types.kind(unit.variable(id).ty),
                    TypeKind::VariableArray(..)
                )
            })
    }

    /// Gives up following the objects whose bits `which` selects.
    pub(super) fn untrack(&mut self, which: impl Fn(u64) -> bool) {
        for (number, watchable) in self.watchables.iter_mut().enumerate() {
            if which(1 << number) {
                watchable.tracked = false;
            }
        }
    }
}
