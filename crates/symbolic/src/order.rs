//! Computes the order in which the blocks of a function are encoded, and what is alive between them.
//!
//! Paths can meet only if all that lead to a block are encoded before it. For loops that means: all
//! of one round before the next one, and the rounds before what follows. The order is the weak
//! topological order of Bourdoncle ("Efficient chaotic iteration strategies with widenings", 1993),
//! whose components are loops, nested, whatever jumps make them.

use patchwright_graph::{Nested, nested};
use patchwright_ir::{BlockId, Function, Instruction, LocalId, LocalKind, LocalUse, TempId, Value};

/// A place in the unwound function: positions in the nested orders, with the rounds of the loops
/// between them. Compared like a list, it is the order of encoding.
pub(crate) type Moment = Vec<u32>;

/// The loops around a block, and where it stands in each.
#[derive(Clone, Debug, Default)]
struct Position {
    /// The position in the function, then in the outermost loop, and so on.
    path: Vec<u32>,
    /// The first block of each loop around it, the outermost first. A loop's first block is in the
    /// loop itself.
    heads: Vec<BlockId>,
}

/// The order in which the blocks of a function are encoded, and which values live from one block to another.
pub(crate) struct Order {
    positions: Vec<Position>,
    /// Temporaries that other blocks than their own use, in order.
    pub(crate) shared: Vec<TempId>,
    /// For each block, the registers whose values may be read from there on.
    live: Vec<Vec<bool>>,
    /// For each block, whether it begins a loop that nothing leaves.
    endless: Vec<bool>,
    /// For each block, whether it begins a loop in which nothing changes.
    still: Vec<bool>,
    /// For each temporary, whether something uses it.
    used: Vec<bool>,
}

impl Order {
    /// Orders the blocks of a function, nested loops as units, and finds the values that live between them.
    pub(crate) fn of(function: &Function) -> Order {
        let successors = function.successors();
        let ways = function.ways();
        let mut positions = vec![Position::default(); successors.len()];
        let components = nested(&successors, 0);
        place(
            &components,
            &mut positions,
            &mut Vec::new(),
            &mut Vec::new(),
        );
        let mut endless: Vec<bool> = vec![true; successors.len()];
        let mut still: Vec<bool> = vec![true; successors.len()];
        for block in function.block_ids() {
            let next = &ways[block.index()];
            for head in &positions[block.index()].heads {
                let stays = |&to: &usize| positions[to].heads.contains(head);
                endless[head.index()] &= !next.is_empty() && next.iter().all(stays);
                still[head.index()] &= changes_nothing(function, block);
            }
        }
        let shared = shared(function);
        let live = liveness(function, &successors);
        Order {
            positions,
            shared,
            live,
            endless,
            still,
            used: used(function),
        }
    }

    /// Returns the moment at which the function begins.
    pub(crate) fn start(&self) -> Moment {
        self.moment(BlockId(0), &[])
    }

    /// The moment at a block in these rounds of the loops around it; further loops are in their
    /// first one.
    fn moment(&self, block: BlockId, rounds: &[u32]) -> Moment {
        let position = &self.positions[block.index()];
        let mut moment = Vec::with_capacity(position.path.len() * 2);
        for (depth, &at) in position.path.iter().enumerate() {
            moment.push(at);
            if depth + 1 < position.path.len() {
                moment.push(rounds.get(depth).copied().unwrap_or(0));
            }
        }
        moment
    }

    /// The rounds of the loops around a block at a moment, the outermost first.
    fn rounds(moment: &Moment) -> Vec<u32> {
        moment.iter().skip(1).step_by(2).copied().collect()
    }

    /// The moment after an edge; and, if the edge begins another round of a loop, the loop's first
    /// block.
    pub(crate) fn follow(
        &self,
        from: BlockId,
        moment: &Moment,
        to: BlockId,
    ) -> (Moment, Option<BlockId>) {
        let (before, after) = (&self.positions[from.index()], &self.positions[to.index()]);
        let mut rounds = Self::rounds(moment);
        let common = before
            .heads
            .iter()
            .zip(&after.heads)
            .take_while(|(a, b)| a == b)
            .count();
        rounds.truncate(common);
        let again = common > 0 && after.heads.len() == common && after.heads[common - 1] == to;
        if again && let Some(round) = rounds.last_mut() {
            *round += 1;
        }
        (self.moment(to, &rounds), again.then_some(to))
    }

    /// The round of the innermost loop that begins with this block.
    pub(crate) fn round_of(&self, head: BlockId, moment: &Moment) -> u32 {
        let depth = self.positions[head.index()]
            .heads
            .iter()
            .position(|&block| block == head);
        depth
            .and_then(|depth| Self::rounds(moment).get(depth).copied())
            .unwrap_or(0)
    }

    /// Whether a loop begins with this block.
    pub(crate) fn is_head(&self, block: BlockId) -> bool {
        self.positions[block.index()].heads.last() == Some(&block)
            && self.positions[block.index()].path.last() == Some(&0)
    }

    /// Whether a block belongs to the loop that begins with `head`.
    pub(crate) fn is_within(&self, block: BlockId, head: BlockId) -> bool {
        self.positions[block.index()].heads.contains(&head)
    }

    /// Whether something uses a temporary.
    pub(crate) fn is_used(&self, temp: TempId) -> bool {
        self.used[temp.index()]
    }

    /// Whether no edge leaves the loop that begins with this block.
    pub(crate) fn is_endless(&self, head: BlockId) -> bool {
        self.endless[head.index()]
    }

    /// Whether nothing changes in the loop that begins with this block: who begins a second round never leaves it.
    pub(crate) fn is_still(&self, head: BlockId) -> bool {
        self.still[head.index()]
    }

    /// Whether the value of a register may be read from a block on.
    pub(crate) fn lives(&self, block: BlockId, local: usize) -> bool {
        self.live[block.index()].get(local).copied().unwrap_or(true)
    }
}

/// Whether a block only looks at things.
fn changes_nothing(function: &Function, block: BlockId) -> bool {
    let mut instructions = function.block(block).instructions.iter();
    instructions.all(Instruction::only_gives_a_value)
}

fn place(
    components: &[Nested],
    positions: &mut [Position],
    path: &mut Vec<u32>,
    heads: &mut Vec<BlockId>,
) {
    for (index, component) in components.iter().enumerate() {
        // Position 0 of a loop is its first block.
        path.push(index as u32 + 1);
        match component {
            Nested::Node(block) => {
                positions[*block] = Position {
                    path: path.clone(),
                    heads: heads.clone(),
                };
            }
            Nested::Loop(head, inner) => {
                heads.push(BlockId(*head as u32));
                path.push(0);
                positions[*head] = Position {
                    path: path.clone(),
                    heads: heads.clone(),
                };
                path.pop();
                place(inner, positions, path, heads);
                heads.pop();
            }
        }
        path.pop();
    }
}

fn used(function: &Function) -> Vec<bool> {
    let mut found = vec![false; function.temporaries.len()];
    for block in &function.blocks {
        let instructions = block.instructions.iter();
        let operands = instructions.flat_map(|instruction| instruction.operands());
        for operand in operands.chain(block.terminator.operand()) {
            if let Value::Temp(temp) = operand.value {
                found[temp.index()] = true;
            }
        }
    }
    found
}

/// Temporaries that are used in another block than the one that defines them.
fn shared(function: &Function) -> Vec<TempId> {
    let mut defined = vec![None; function.temporaries.len()];
    for id in function.block_ids() {
        for instruction in &function.block(id).instructions {
            if let Some(dst) = instruction.defines() {
                defined[dst.index()] = Some(id);
            }
        }
    }
    let mut found = vec![false; function.temporaries.len()];
    for id in function.block_ids() {
        let block = function.block(id);
        let operands = block
            .instructions
            .iter()
            .flat_map(|instruction| instruction.operands())
            .chain(block.terminator.operand());
        for operand in operands {
            if let Value::Temp(temp) = operand.value
                && defined[temp.index()] != Some(id)
            {
                found[temp.index()] = true;
            }
        }
    }
    (0..found.len())
        .filter(|&index| found[index])
        .map(|index| TempId(index as u32))
        .collect()
}

/// For each block, the register locals that are read from its beginning before they are written.
fn liveness(function: &Function, successors: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let count = function.locals.len();
    let is_register = |local: LocalId| matches!(function.local(local).kind, LocalKind::Register(_));
    let mut reads = vec![vec![false; count]; successors.len()];
    let mut writes = vec![vec![false; count]; successors.len()];
    for id in function.block_ids() {
        let (reads, writes) = (&mut reads[id.index()], &mut writes[id.index()]);
        for instruction in &function.block(id).instructions {
            match instruction.local() {
                Some((local, LocalUse::Read)) if !writes[local.index()] => {
                    reads[local.index()] = true;
                }
                Some((local, LocalUse::Write | LocalUse::Begin | LocalUse::End))
                    if is_register(local) =>
                {
                    writes[local.index()] = true;
                }
                _ => {}
            }
        }
    }
    let mut live = reads.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..successors.len()).rev() {
            for &next in &successors[block] {
                for local in 0..count {
                    if live[next][local] && !writes[block][local] && !live[block][local] {
                        live[block][local] = true;
                        changed = true;
                    }
                }
            }
        }
    }
    // Addresses of locals in memory are kept until their ends.
    for live in &mut live {
        for (index, live) in live.iter_mut().enumerate() {
            *live |= matches!(function.locals[index].kind, LocalKind::Memory { .. });
        }
    }
    live
}
