//! Control dependence within a routine.
//!
//! The nodes are *segments*: instructions that are executed one after the other. A block is cut into segments behind calls that may not
//! return, and before `setjmp`, because a call that ends by `longjmp` leads there.
//!
//! A jump counts as a condition that is always true (T. Ball and S. Horwitz, "Slicing programs with arbitrary control-flow",
//! 1993). Its second way is where control would go without the jump. No execution takes it, so it matters for control
//! dependence only.

use patchwright_graph::{DominatorTree, reversed};
use patchwright_ir::{BlockId, Function, Program, RoutineId, TerminatorKind, Without};

use crate::call_graph::CallGraph;

/// A run of instructions of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) block: BlockId,
    /// Position of its first instruction.
    pub(crate) start: u32,
    /// Position behind its last instruction; the terminator, at the number of instructions of the
    /// block, belongs to the last segment.
    pub(crate) end: u32,
}

/// What decides whether something is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Decider {
    /// The routine is called.
    Entry,
    /// The end of a segment, and the position in its list of ways of the one that leads
    /// here: a terminator, or a call that may not come back.
    End(u32, u32),
}

/// The control flow of a routine.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(crate) segments: Vec<Segment>,
    /// For each block, its first segment.
    first: Vec<u32>,
    /// For each segment, those that can follow it.
    pub(crate) successors: Vec<Vec<usize>>,
    /// The same, and for each jump at the end where control would go without it.
    pub(crate) ways: Vec<Vec<usize>>,
    pub(crate) dominators: DominatorTree,
    /// Of all ways. The node behind the segments is the return, the next one the end.
    pub(crate) post_dominators: DominatorTree,
    /// For each segment, what it depends on.
    pub(crate) deciders: Vec<Vec<Decider>>,
    /// What it depends on that the routine returns.
    pub(crate) return_deciders: Vec<Decider>,
}

impl Control {
    /// Splits a routine into segments at its calls that may not come back, and computes what decides about each.
    pub(crate) fn of(program: &Program, calls: &CallGraph, routine: RoutineId) -> Control {
        let function = program.function(routine);
        let mut segments = Vec::new();
        let mut first = Vec::with_capacity(function.blocks.len());
        let mut landings = Vec::new();
        for id in function.block_ids() {
            first.push(segments.len() as u32);
            let mut start = 0;
            for site in calls.sites(routine).iter().filter(|site| site.block == id) {
                if CallGraph::is_landing(program, site) {
                    if start < site.position {
                        segments.push(Segment {
                            block: id,
                            start,
                            end: site.position,
                        });
                        start = site.position;
                    }
                    landings.push(segments.len());
                }
                if !calls.site_always_returns(program, site) {
                    let end = site.position + 1;
                    segments.push(Segment {
                        block: id,
                        start,
                        end,
                    });
                    start = end;
                }
            }
            let end = function.block(id).instructions.len() as u32 + 1;
            segments.push(Segment {
                block: id,
                start,
                end,
            });
        }
        let (exit, gone) = (segments.len(), segments.len() + 1);
        let mut successors: Vec<Vec<usize>> = Vec::with_capacity(segments.len() + 2);
        let mut without: Vec<Option<usize>> = vec![None; segments.len() + 2];
        for (index, segment) in segments.iter().enumerate() {
            let block = function.block(segment.block);
            if segment.end <= block.instructions.len() as u32 {
                let site = calls.site(routine, segment.block, segment.end - 1);
                let mut next = vec![index + 1];
                match site.filter(|site| !calls.site_always_returns(program, site)) {
                    Some(site) => {
                        if calls.site_may_jump(program, site) {
                            next.extend(&landings);
                        }
                        next.push(gone);
                    }
                    // A landing comes behind it.
                    None => debug_assert!(landings.contains(&(index + 1))),
                }
                successors.push(next);
                continue;
            }
            let mut next: Vec<usize> = block
                .terminator
                .edges()
                .iter()
                .map(|edge| first[edge.target.index()] as usize)
                .collect();
            match block.terminator.kind {
                TerminatorKind::Return(_) | TerminatorKind::ReturnNothing => {
                    next.push(exit);
                }
                TerminatorKind::Unreachable => next.push(gone),
                _ => {}
            }
            without[index] = match block.terminator.without {
                Without::Same => None,
                Without::Block(target) => Some(first[target.index()] as usize),
                Without::End => Some(exit),
            };
            successors.push(next);
        }
        successors.push(vec![gone]);
        successors.push(Vec::new());
        let dominators = DominatorTree::of(&successors, 0);
        let mut ways = successors.clone();
        for (ways, without) in ways.iter_mut().zip(without) {
            ways.extend(without);
        }
        // From loops without an end, a way to the end is taken for granted.
        let last = dominators.order().iter().rev().copied();
        let post_dominators = DominatorTree::post(&ways, gone, last);
        let mut control = Control {
            ways,
            deciders: vec![Vec::new(); segments.len()],
            return_deciders: Vec::new(),
            segments,
            first,
            successors,
            dominators,
            post_dominators,
        };
        control.decide(exit);
        control
    }

    /// Computes what each segment depends on. A segment depends on a way out of a node if the way leads to it for sure, and the node
    /// itself does not (Ferrante, Ottenstein and Warren, "The program dependence graph and its use in optimization", 1987).
    fn decide(&mut self, exit: usize) {
        let count = self.segments.len();
        let mut found: Vec<Vec<Decider>> = vec![Vec::new(); count + 2];
        let mut walk = |from: Option<usize>, start: usize, decider: Decider| {
            let stop = from.and_then(|from| self.post_dominators.immediate(from));
            for node in self.post_dominators.up(start, stop) {
                if !found[node].contains(&decider) {
                    found[node].push(decider);
                }
            }
        };
        walk(None, 0, Decider::Entry);
        for segment in 0..count {
            if !self.dominators.is_reachable(segment) || !self.decides(segment) {
                continue;
            }
            for (way, &next) in self.ways[segment].iter().enumerate() {
                walk(
                    Some(segment),
                    next,
                    Decider::End(segment as u32, way as u32),
                );
            }
        }
        self.return_deciders = std::mem::take(&mut found[exit]);
        found.truncate(count);
        self.deciders = found;
    }

    /// The end of a segment has several ways.
    pub(crate) fn decides(&self, segment: usize) -> bool {
        self.ways[segment].len() > 1
    }

    /// The segment ends in a call that may not come back.
    pub(crate) fn may_end(&self, segment: u32) -> bool {
        self.successors[segment as usize].contains(&(self.gone() as usize))
    }

    /// Control would go this way only if a jump were left out.
    pub(crate) fn is_without_jump(&self, segment: u32, way: u32) -> bool {
        way as usize >= self.successors[segment as usize].len()
    }

    /// Returns the node that stands for the return.
    pub(crate) fn exit(&self) -> u32 {
        self.segments.len() as u32
    }

    /// The node of the end of the program, and of what control leaves the routine by without a return.
    pub(crate) fn gone(&self) -> u32 {
        self.segments.len() as u32 + 1
    }

    /// The first segment of a block.
    pub(crate) fn first_of(&self, block: BlockId) -> u32 {
        self.first[block.index()]
    }

    /// The segment of a position in a block.
    pub(crate) fn segment_of(&self, block: BlockId, position: u32) -> u32 {
        let mut at = self.first[block.index()];
        while self.segments[at as usize].end <= position {
            at += 1;
        }
        at
    }

    /// The position in its block of what ends a segment: the terminator, or a call.
    pub(crate) fn end_of(&self, segment: u32) -> (BlockId, u32) {
        let segment = self.segments[segment as usize];
        (segment.block, segment.end - 1)
    }

    /// The segments that control can come from.
    pub(crate) fn predecessors(&self) -> Vec<Vec<usize>> {
        reversed(&self.successors)
    }

    /// Returns the first block behind all ways of a branch, if they meet before the function's end.
    pub(crate) fn meeting_point(&self, function: &Function, block: BlockId) -> Option<BlockId> {
        let last = function.block(block).instructions.len() as u32;
        let segment = self.segment_of(block, last) as usize;
        let next = self.post_dominators.immediate(segment)?;
        self.segments.get(next).map(|segment| segment.block)
    }
}
