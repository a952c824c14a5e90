//! Finds the places in the new version where deleted statements would be.

use std::collections::BTreeMap;

use patchwright_flow::{ActionId, Block, BlockId, Function, Statement};
use rustc_hash::FxHashSet;

use super::matching::{Layout, Matching};
use super::{Alteration, Deletion};

/// Finds the places of what was deleted.
pub(super) struct Placer<'a> {
    /// Blocks of the new version that were there before, those of added constructs left out.
    pub(super) kept: FxHashSet<BlockId>,
    pub(super) old: &'a Layout<'a>,
    pub(super) new: &'a Layout<'a>,
    pub(super) old_function: &'a Function,
    pub(super) matching: &'a mut Matching,
    pub(super) found: BTreeMap<(BlockId, usize), Deletion>,
}

impl Placer<'_> {
    fn survivor(&self, action: ActionId) -> Option<ActionId> {
        self.matching.old_to_new[action.index()]
    }

    fn is_executable(&self, action: &ActionId) -> bool {
        self.old_function.action(*action).is_executable()
    }

    /// The executable actions of a statement and of those inside, if none of them is left.
    fn fully_deleted(&self, statement: &Statement) -> Option<Vec<ActionId>> {
        let mut actions = statement.all_actions();
        let none_left = actions
            .iter()
            .all(|action| self.survivor(*action).is_none());
        actions.retain(|action| self.is_executable(action));
        (none_left && !actions.is_empty()).then_some(actions)
    }

    /// Places the deletions of a block and of the blocks inside it. Deleted statements in a row make one deletion.
    pub(super) fn block(&mut self, block: &Block) {
        let mut run: Option<(usize, Vec<ActionId>)> = None;
        for (index, statement) in block.statements.iter().enumerate() {
            if let Some(actions) = self.fully_deleted(statement) {
                run.get_or_insert((index, Vec::new())).1.extend(actions);
                continue;
            }
            if statement
                .all_actions()
                .iter()
                .any(|a| self.is_executable(a))
            {
                self.end_run(block.id, run.take());
            }
            self.own_deletions(block.id, index, statement);
            for inner in statement.blocks() {
                self.block(inner);
            }
        }
        self.end_run(block.id, run);
    }

    fn end_run(&mut self, block: BlockId, run: Option<(usize, Vec<ActionId>)>) {
        if let Some((index, actions)) = run {
            let place = self.place(block, index);
            self.note(place, &actions);
        }
    }

    fn note(&mut self, place: (BlockId, usize), actions: &[ActionId]) {
        let old_line = actions
            .iter()
            .map(|action| self.old_function.action(*action).line)
            .min()
            .unwrap_or(0);
        let deletion = self.found.entry(place).or_insert(Deletion {
            old_line,
            actions: 0,
            line: 0,
        });
        deletion.actions += actions.len();
        deletion.old_line = deletion.old_line.min(old_line);
    }

    /// Parts of a construct that is still there, or the head of one whose inside is.
    fn own_deletions(&mut self, block: BlockId, index: usize, statement: &Statement) {
        let own = statement.own_actions();
        let gone: Vec<ActionId> = own
            .iter()
            .copied()
            .filter(|action| self.survivor(*action).is_none() && self.is_executable(action))
            .collect();
        if gone.is_empty() {
            return;
        }
        let left: Vec<ActionId> = own.iter().filter_map(|a| self.survivor(*a)).collect();
        if let Some(first) = left.first() {
            let any_altered = left
                .iter()
                .any(|action| self.matching.altered[action.index()].is_some());
            if !any_altered {
                self.matching.altered[first.index()] = Some(Alteration::Modified);
            }
            return;
        }
        let first = statement
            .all_actions()
            .into_iter()
            .find_map(|action| self.survivor(action));
        let place = match first {
            Some(first) => self.new.position[first.index()],
            None => self.place(block, index),
        };
        self.note(place, &gone);
    }

    /// The place of an action of the new version, or of the added construct that it is in now.
    fn kept_place(&self, action: ActionId) -> (BlockId, usize) {
        let mut place = self.new.position[action.index()];
        while !self.kept.contains(&place.0)
            && let Some(parent) = self.new.parents.get(&place.0)
        {
            place = *parent;
        }
        place
    }

    /// The place in the new version that corresponds to the one before the statement `index` of a block.
    fn place(&self, block: BlockId, index: usize) -> (BlockId, usize) {
        let statements = &self.old.blocks[&block].statements;
        for statement in statements[..index].iter().rev() {
            let own = statement.own_actions();
            let all = statement.all_actions();
            let survivor = own
                .iter()
                .find_map(|action| self.survivor(*action))
                .or_else(|| all.iter().rev().find_map(|action| self.survivor(*action)));
            if let Some(survivor) = survivor {
                let (block, index) = self.kept_place(survivor);
                return (block, index + 1);
            }
        }
        for statement in &statements[index..] {
            let survivor = statement
                .all_actions()
                .into_iter()
                .find_map(|action| self.survivor(action));
            if let Some(survivor) = survivor {
                return self.kept_place(survivor);
            }
        }
        let Some(&(parent, at)) = self.old.parents.get(&block) else {
            return (block, 0);
        };
        let owner = &self.old.blocks[&parent].statements[at];
        let counterpart = owner
            .own_actions()
            .iter()
            .filter_map(|action| self.survivor(*action))
            .find_map(|action| self.new.owner[action.index()]);
        if let Some(construct) = counterpart {
            let number = owner.blocks().iter().position(|inner| inner.id == block);
            let construct = &self.new.constructs[construct];
            let blocks = &construct.blocks;
            if let Some(block) = number.and_then(|number| blocks.get(number)) {
                return (*block, 0);
            }
        }
        self.place(parent, at)
    }
}
