//! Which statements of a function changed: the actions of two versions aligned.
//!
//! The actions of a function stand in a row, whatever the nesting; equal ones are found by a patience diff, similar ones
//! between them are paired. An action whose tokens are the same and that stands in the same constructs, not counting
//! constructs that the change adds or removes, is unchanged: comments, layout, braces, and statements that merely got a
//! condition round them, are no changes of theirs. What was deleted is represented by its place in the new version
//! (thesis, chapter 5: "deleted statements are changed elements nevertheless and can be represented by dummy
//! statements").

use std::collections::{BTreeMap, BTreeSet};

use patchwright_flow::cfg::Deletions;
use patchwright_flow::{ActionId, ActionKind, Block, BlockId, Function, Statement};
use rustc_hash::{FxHashMap, FxHashSet};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How an action of the new version differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alteration {
    /// It was not there.
    Added,
    /// It was there with other tokens.
    Modified,
    /// It was there in another construct.
    Moved,
}

/// Statements that are not there any more, represented by their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The line in the old version of the first of them.
    pub old_line: u32,
    /// How many actions they had.
    pub actions: usize,
    /// The line in the new version of what follows the place, or of what stands before it.
    pub line: u32,
}

/// What changed in a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionDifference {
    /// The changed actions of the new version.
    pub altered: BTreeMap<ActionId, Alteration>,
    /// Places where something was deleted, by the numbers in `places`.
    pub deletions: Vec<Deletion>,
    /// Where those places are in the new version.
    pub places: Deletions,
    /// Lines of the new version with tokens of changed actions.
    pub lines: BTreeSet<u32>,
    /// Declarations without effect at run time that differ.
    pub declarations: usize,
    /// What stands before the body differs.
    pub signature: bool,
}

impl FunctionDifference {
    /// Nothing changed.
    pub fn is_empty(&self) -> bool {
        self.altered.is_empty()
            && self.deletions.is_empty()
            && self.declarations == 0
            && !self.signature
    }
}

/// A function and the text that its spans refer to.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The function.
    pub function: &'a Function,
    /// The source file.
    pub source: &'a [u8],
}

impl Side<'_> {
    fn text(&self, action: ActionId) -> String {
        self.function.action(action).text(self.source)
    }

    fn words(&self, action: ActionId) -> Vec<&[u8]> {
        let tokens = &self.function.action(action).tokens;
        tokens
            .iter()
            .map(|t| &self.source[t.span.range()])
            .collect()
    }

    /// The tokens before the body, with a space between them.
    pub fn header(&self) -> String {
        let words: Vec<_> = self
            .function
            .header
            .iter()
            .map(|token| String::from_utf8_lossy(&self.source[token.span.range()]))
            .collect();
        words.join(" ")
    }
}

/// Everything of a function that was not there before.
pub fn added(new: Side) -> FunctionDifference {
    let mut difference = FunctionDifference::default();
    for (i, action) in new.function.actions.iter().enumerate() {
        if action.is_executable() {
            let id = ActionId(i as u32);
            difference.altered.insert(id, Alteration::Added);
            difference
                .lines
                .extend(action.tokens.iter().map(|t| t.line));
        } else {
            difference.declarations += 1;
        }
    }
    difference
}

/// What changed between two versions of a function.
pub fn compare(old: Side, new: Side) -> FunctionDifference {
    let old_layout = Layout::of(old.function);
    let new_layout = Layout::of(new.function);
    let mut matching = Matching::find(old, &old_layout, new, &new_layout);
    matching.part_strangers(&old_layout, &new_layout);
    matching.find_moves(&old_layout, &new_layout);
    matching.compare_shapes(&old_layout, &new_layout);
    let mut difference = FunctionDifference {
        signature: old.header() != new.header(),
        ..FunctionDifference::default()
    };
    let kept = old_layout
        .constructs
        .iter()
        .filter_map(|construct| matching.construct(construct, &new_layout))
        .flat_map(|construct| new_layout.constructs[construct].blocks.iter().copied())
        .chain([new.function.body.id])
        .collect();
    let mut placer = Placer {
        kept,
        old: &old_layout,
        new: &new_layout,
        old_function: old.function,
        matching: &mut matching,
        found: BTreeMap::new(),
    };
    placer.block(&old.function.body);
    let found = placer.found;
    for (i, alteration) in matching.altered.iter().enumerate() {
        let id = ActionId(i as u32);
        match alteration {
            Some(alteration) if new.function.action(id).is_executable() => {
                difference.altered.insert(id, *alteration);
                let lines = changed_lines(old, matching.new_to_old[i], new, id, *alteration);
                difference.lines.extend(lines);
            }
            Some(_) => difference.declarations += 1,
            None => {}
        }
    }
    difference.declarations += (0..old.function.actions.len())
        .filter(|i| matching.old_to_new[*i].is_none() && !old.function.actions[*i].is_executable())
        .count();
    for ((block, index), deletion) in found {
        if new_layout.is_changed_around(block, index, &difference.altered) {
            continue;
        }
        let number = difference.deletions.len() as u32;
        difference.places.insert((block, index), number);
        difference.deletions.push(Deletion {
            line: new_layout.line_at(new.function, block, index),
            ..deletion
        });
    }
    difference
}

/// The lines of a changed action with tokens that are new; where tokens only vanished, the line where they were.
fn changed_lines(
    old: Side,
    before: Option<ActionId>,
    new: Side,
    action: ActionId,
    alteration: Alteration,
) -> BTreeSet<u32> {
    let tokens = &new.function.action(action).tokens;
    let before = match (alteration, before) {
        (Alteration::Modified, Some(before)) => before,
        _ => return tokens.iter().map(|token| token.line).collect(),
    };
    let mut lines = BTreeSet::new();
    for op in capture_diff_slices(Algorithm::Myers, &old.words(before), &new.words(action)) {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { new_index, .. } => {
                let at = new_index.min(tokens.len().saturating_sub(1));
                lines.extend(tokens.get(at).map(|token| token.line));
            }
            DiffOp::Insert {
                new_index, new_len, ..
            }
            | DiffOp::Replace {
                new_index, new_len, ..
            } => {
                let new = &tokens[new_index..new_index + new_len];
                lines.extend(new.iter().map(|token| token.line));
            }
        }
    }
    if lines.is_empty() {
        lines.extend(tokens.first().map(|token| token.line));
    }
    lines
}

/// A statement with others inside.
struct Construct {
    kind: &'static str,
    own: Vec<ActionId>,
    shape: String,
    blocks: Vec<BlockId>,
}

/// Where the actions of a function stand.
struct Layout<'a> {
    constructs: Vec<Construct>,
    /// By action: the constructs around, outermost first, with the number of the inner block.
    paths: Vec<Vec<(usize, usize)>>,
    /// By action: the construct whose own it is.
    owner: Vec<Option<usize>>,
    /// By action: block and index of the statement whose own it is.
    position: Vec<(BlockId, usize)>,
    /// By block: its statements; and the construct and number, or the place of the bare block, that it is.
    blocks: FxHashMap<BlockId, &'a Block>,
    parents: FxHashMap<BlockId, (BlockId, usize)>,
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
    fn of(function: &'a Function) -> Self {
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

    /// Whether what directly follows or precedes a place is changed, so that a deletion there is part of that change:
    /// one more vertex between the same two would say nothing.
    fn is_changed_around(
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
    fn line_at(&self, function: &Function, block: BlockId, index: usize) -> u32 {
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
struct Matching {
    old_to_new: Vec<Option<ActionId>>,
    new_to_old: Vec<Option<ActionId>>,
    altered: Vec<Option<Alteration>>,
}

/// Two actions with fewer tokens in common than this part of all of theirs are different ones.
const SIMILAR: f64 = 0.5;
/// Pairs of a gap that are looked at; larger gaps are taken as rewritten.
const MOST_PAIRS: usize = 40_000;

impl Matching {
    fn find(old: Side, old_layout: &Layout, new: Side, new_layout: &Layout) -> Self {
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

    /// Constructs whose conditions are merely similar, and that hold nothing in common, are different ones.
    fn part_strangers(&mut self, old: &Layout, new: &Layout) {
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

    /// The construct of the new version that one of the old version became.
    fn construct(&self, old: &Construct, new: &Layout) -> Option<usize> {
        old.own
            .iter()
            .filter_map(|action| self.old_to_new[action.index()])
            .find_map(|action| new.owner[action.index()])
    }

    /// Unchanged actions that stand in other constructs than before.
    fn find_moves(&mut self, old: &Layout, new: &Layout) {
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
    fn compare_shapes(&mut self, old: &Layout, new: &Layout) {
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

/// Finds the places of what was deleted.
struct Placer<'a> {
    /// Blocks of the new version that were there before, those of added constructs left out.
    kept: FxHashSet<BlockId>,
    old: &'a Layout<'a>,
    new: &'a Layout<'a>,
    old_function: &'a Function,
    matching: &'a mut Matching,
    found: BTreeMap<(BlockId, usize), Deletion>,
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

    fn block(&mut self, block: &Block) {
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
