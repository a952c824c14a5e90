//! Finds equal and similar actions of two versions of a function.

use patchwright_flow::{ActionId, ActionKind, Block, BlockId, Function, Statement};
use rustc_hash::{FxHashMap, FxHashSet};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Alteration, Side};
use std::collections::BTreeMap;

/// A statement with others inside.
pub(super) struct Construct {
    pub(super) kind: &'static str,
    pub(super) own: Vec<ActionId>,
    pub(super) shape: String,
    pub(super) blocks: Vec<BlockId>,
}

/// The constructs, blocks and positions of a function's actions.
pub(super) struct Layout<'a> {
    pub(super) constructs: Vec<Construct>,
    /// By action: the constructs around, outermost first, with the number of the inner block.
    pub(super) paths: Vec<Vec<(usize, usize)>>,
    /// By action: the construct whose own it is.
    pub(super) owner: Vec<Option<usize>>,
    /// By action: block and index of the statement whose own it is.
    pub(super) position: Vec<(BlockId, usize)>,
    /// By block: its statements; and the construct and number, or the place of the bare block, that it is.
    pub(super) blocks: FxHashMap<BlockId, &'a Block>,
    pub(super) parents: FxHashMap<BlockId, (BlockId, usize)>,
}

fn kind_of(statement: &Statement) -> &'static str {
    match statement {
        Statement::Simple(_) | Statement::Block(_) => "",
        Statement::If { .. } => "if",
        Statement::While { .. } => "while",
        Statement::Do { .. } => "do",
        Statement::For { .. } => "for",
        Statement::MacroLoop { .. } => "each",
        Statement::Switch { .. } => "switch",
    }
}

impl<'a> Layout<'a> {
    /// Finds the constructs, blocks and positions of all actions of a function.
    pub(super) fn of(function: &'a Function) -> Self {
        let count = function.actions.len();
        let mut layout = Layout {
            constructs: Vec::new(),
            paths: vec![Vec::new(); count],
            owner: vec![None; count],
            position: vec![(BlockId(0), 0); count],
            blocks: FxHashMap::default(),
            parents: FxHashMap::default(),
        };
        layout.block(&function.body, &mut Vec::new());
        layout
    }

    fn block(&mut self, block: &'a Block, path: &mut Vec<(usize, usize)>) {
        self.blocks.insert(block.id, block);
        for (index, statement) in block.statements.iter().enumerate() {
            let is_construct = !matches!(statement, Statement::Simple(_) | Statement::Block(_));
            let construct = self.constructs.len();
            let own = statement.own_actions();
            for action in &own {
                self.paths[action.index()] = path.clone();
                self.position[action.index()] = (block.id, index);
                self.owner[action.index()] = is_construct.then_some(construct);
            }
            if is_construct {
                self.constructs.push(Construct {
                    kind: kind_of(statement),
                    own,
                    shape: statement
                        .condition()
                        .map(|condition| condition.shape())
                        .unwrap_or_default(),
                    blocks: statement.blocks().iter().map(|inner| inner.id).collect(),
                });
            }
            for (number, inner) in statement.blocks().into_iter().enumerate() {
                self.parents.insert(inner.id, (block.id, index));
                if is_construct {
                    path.push((construct, number));
                }
                self.block(inner, path);
                if is_construct {
                    path.pop();
                }
            }
        }
    }

    /// Whether the action directly before or behind a place is changed. Then a deletion at the place is a part of that change, and gets no vertex
    /// of its own.
    pub(super) fn is_changed_around(
        &self,
        block: BlockId,
        index: usize,
        altered: &BTreeMap<ActionId, Alteration>,
    ) -> bool {
        let statements = &self.blocks[&block].statements;
        let follows = match statements.get(index) {
            Some(Statement::Do { .. } | Statement::For { .. } | Statement::Block(_)) | None => None,
            Some(statement) => statement.head(),
        };
        let precedes = match index.checked_sub(1).and_then(|i| statements.get(i)) {
            Some(Statement::Simple(action)) => Some(*action),
            _ => None,
        };
        follows
            .into_iter()
            .chain(precedes)
            .any(|action| altered.contains_key(&action))
    }

    /// The line of the statement at a place, or of the last one before.
    pub(super) fn line_at(&self, function: &Function, block: BlockId, index: usize) -> u32 {
        let statements = &self.blocks[&block].statements;
        let line = |statement: &Statement| {
            let first = statement.all_actions().into_iter().min();
            first.map(|action| function.action(action).line)
        };
        statements
            .get(index..)
            .unwrap_or_default()
            .iter()
            .find_map(line)
            .or_else(|| statements.iter().rev().find_map(line))
            .or_else(|| {
                let (parent, index) = self.parents.get(&block)?;
                line(&self.blocks[parent].statements[*index])
            })
            .unwrap_or(function.line)
    }
}

/// Which actions of the two versions are the same.
pub(super) struct Matching {
    pub(super) old_to_new: Vec<Option<ActionId>>,
    pub(super) new_to_old: Vec<Option<ActionId>>,
    pub(super) altered: Vec<Option<Alteration>>,
}

/// Two actions with fewer tokens in common than this part of all of theirs are different ones.
const SIMILAR: f64 = 0.5;
/// Pairs of a gap that are looked at; larger gaps are taken as rewritten.
const MOST_PAIRS: usize = 40_000;

impl Matching {
    /// Pairs the actions of two versions of a function: equal ones first, then similar ones in the gaps between them.
    pub(super) fn find(old: Side, old_layout: &Layout, new: Side, new_layout: &Layout) -> Self {
        let mut keys = FxHashMap::default();
        let mut key = |side: Side, layout: &Layout, i: usize| {
            let id = ActionId(i as u32);
            let action = side.function.action(id);
            let kind = match (&action.kind, layout.owner[i]) {
                (ActionKind::Condition(_), Some(construct)) => layout.constructs[construct].kind,
                (ActionKind::Label(_), _) => "label",
                (ActionKind::Switch, _) => "switch",
                _ => "",
            };
            let next = keys.len() as u32;
            *keys.entry((kind, side.text(id))).or_insert(next)
        };
        let old_keys: Vec<u32> = (0..old.function.actions.len())
            .map(|i| key(old, old_layout, i))
            .collect();
        let new_keys: Vec<u32> = (0..new.function.actions.len())
            .map(|i| key(new, new_layout, i))
            .collect();
        let mut matching = Matching {
            old_to_new: vec![None; old_keys.len()],
            new_to_old: vec![None; new_keys.len()],
            altered: vec![Some(Alteration::Added); new_keys.len()],
        };
        for op in capture_diff_slices(Algorithm::Patience, &old_keys, &new_keys) {
            match op {
                DiffOp::Equal {
                    old_index,
                    new_index,
                    len,
                } => {
                    for i in 0..len {
                        matching.pair(old_index + i, new_index + i, None);
                    }
                }
                DiffOp::Replace {
                    old_index,
                    old_len,
                    new_index,
                    new_len,
                } => matching.pair_similar(
                    old,
                    old_index..old_index + old_len,
                    new,
                    new_index..new_index + new_len,
                ),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } => {}
            }
        }
        matching
    }

    fn pair(&mut self, old: usize, new: usize, alteration: Option<Alteration>) {
        self.old_to_new[old] = Some(ActionId(new as u32));
        self.new_to_old[new] = Some(ActionId(old as u32));
        self.altered[new] = alteration;
    }

    /// Pairs the similar actions of a gap so that the sum of their similarities is greatest, in order.
    fn pair_similar(
        &mut self,
        old: Side,
        old_range: std::ops::Range<usize>,
        new: Side,
        new_range: std::ops::Range<usize>,
    ) {
        let (rows, columns) = (old_range.len(), new_range.len());
        if rows * columns > MOST_PAIRS {
            return;
        }
        let score: Vec<Vec<f64>> = old_range
            .clone()
            .map(|i| {
                new_range
                    .clone()
                    .map(|k| similarity(old, ActionId(i as u32), new, ActionId(k as u32)))
                    .collect()
            })
            .collect();
        let mut best = vec![vec![0.0; columns + 1]; rows + 1];
        for i in (0..rows).rev() {
            for k in (0..columns).rev() {
                let paired = if score[i][k] >= SIMILAR {
                    score[i][k] + best[i + 1][k + 1]
                } else {
                    0.0
                };
                best[i][k] = f64::max(paired, f64::max(best[i + 1][k], best[i][k + 1]));
            }
        }
        let (mut i, mut k) = (0, 0);
        while i < rows && k < columns {
            if score[i][k] >= SIMILAR && best[i][k] == score[i][k] + best[i + 1][k + 1] {
                let (old, new) = (old_range.start + i, new_range.start + k);
                self.pair(old, new, Some(Alteration::Modified));
                i += 1;
                k += 1;
            } else if best[i][k] == best[i + 1][k] {
                i += 1;
            } else {
                k += 1;
            }
        }
    }

    /// Separates pairs of constructs whose conditions are merely similar and whose bodies have nothing in common.
    pub(super) fn part_strangers(&mut self, old: &Layout, new: &Layout) {
        let mut related = FxHashSet::default();
        let (mut old_filled, mut new_filled) = (FxHashSet::default(), FxHashSet::default());
        for path in &old.paths {
            old_filled.extend(path.iter().map(|(construct, _)| *construct));
        }
        for (i, path) in new.paths.iter().enumerate() {
            new_filled.extend(path.iter().map(|(construct, _)| *construct));
            let Some(before) = self.new_to_old[i] else {
                continue;
            };
            for (construct, _) in path {
                let around = &old.paths[before.index()];
                related.extend(around.iter().map(|(before, _)| (*before, *construct)));
            }
        }
        for i in 0..self.altered.len() {
            let Some(before) = self.new_to_old[i] else {
                continue;
            };
            if let (Some(Alteration::Modified), Some(was), Some(is)) =
                (self.altered[i], old.owner[before.index()], new.owner[i])
                && old_filled.contains(&was)
                && new_filled.contains(&is)
                && !related.contains(&(was, is))
            {
                self.old_to_new[before.index()] = None;
                self.new_to_old[i] = None;
                self.altered[i] = Some(Alteration::Added);
            }
        }
    }

    /// Returns the construct of the new version that corresponds to one of the old version.
    pub(super) fn construct(&self, old: &Construct, new: &Layout) -> Option<usize> {
        old.own
            .iter()
            .filter_map(|action| self.old_to_new[action.index()])
            .find_map(|action| new.owner[action.index()])
    }

    /// Unchanged actions that stand in other constructs than before.
    pub(super) fn find_moves(&mut self, old: &Layout, new: &Layout) {
        let became: Vec<Option<usize>> = old
            .constructs
            .iter()
            .map(|construct| self.construct(construct, new))
            .collect();
        let mut known = vec![false; new.constructs.len()];
        for construct in became.iter().flatten() {
            known[*construct] = true;
        }
        for i in 0..self.altered.len() {
            let (None, Some(before)) = (self.altered[i], self.new_to_old[i]) else {
                continue;
            };
            let before = old.paths[before.index()]
                .iter()
                .filter_map(|(construct, number)| Some((became[*construct]?, *number)));
            let now = new.paths[i]
                .iter()
                .copied()
                .filter(|(construct, _)| known[*construct]);
            if !before.eq(now) {
                self.altered[i] = Some(Alteration::Moved);
            }
        }
    }

    /// Conditions with the same operands that are grouped in another way.
    pub(super) fn compare_shapes(&mut self, old: &Layout, new: &Layout) {
        for construct in &old.constructs {
            let Some(now) = self.construct(construct, new) else {
                continue;
            };
            let now = &new.constructs[now];
            let same = construct.own.len() == now.own.len()
                && now
                    .own
                    .iter()
                    .all(|action| self.altered[action.index()].is_none());
            if same
                && construct.shape != now.shape
                && let Some(first) = now.own.first()
            {
                self.altered[first.index()] = Some(Alteration::Modified);
            }
        }
    }
}

/// How much two actions have in common, from 0 to 1; 0 if one cannot have become the other.
fn similarity(old: Side, before: ActionId, new: Side, after: ActionId) -> f64 {
    let class = |kind: &ActionKind| match kind {
        ActionKind::Condition(_) => 1,
        ActionKind::Case | ActionKind::Default => 2,
        ActionKind::Label(_) => 3,
        ActionKind::Switch => 4,
        ActionKind::Return => 5,
        ActionKind::Break | ActionKind::Continue => 6,
        ActionKind::Goto(_) | ActionKind::ComputedGoto => 7,
        ActionKind::MacroLoop => 8,
        ActionKind::Declaration => 9,
        ActionKind::Statement | ActionKind::Initialisation => 0,
    };
    let (a, b) = (old.function.action(before), new.function.action(after));
    if class(&a.kind) != class(&b.kind) {
        return 0.0;
    }
    let (mut a, mut b) = (old.words(before), new.words(after));
    a.sort_unstable();
    b.sort_unstable();
    let (mut i, mut k, mut common) = (0, 0, 0);
    while i < a.len() && k < b.len() {
        match a[i].cmp(b[k]) {
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                k += 1;
            }
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => k += 1,
        }
    }
    2.0 * f64::from(common) / (a.len() + b.len()).max(1) as f64
}
