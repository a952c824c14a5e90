//! Finds where a function begins to evaluate the condition of an assertion.
//!
//! The condition of an assertion may be several branches: in `assert(a || b)` nothing is asked of `b` where `a` holds. An
//! execution gets to the assertion where it gets to the first of them.

use patchwright_ir::{BlockId, Function, Node, Origin};
use patchwright_text::Span;
use rustc_hash::FxHashSet;

/// Returns the blocks whose branches decide whether an assertion holds. `fails` selects the blocks that report a failed assertion.
pub(crate) fn asking(function: &Function, fails: &dyn Fn(BlockId) -> bool) -> FxHashSet<BlockId> {
    let reports: FxHashSet<BlockId> = function.block_ids().filter(|&block| fails(block)).collect();
    let mut all = FxHashSet::default();
    if reports.is_empty() {
        return all;
    }
    for block in function.block_ids() {
        let targets = targets(function, block);
        let failing = targets.iter().find(|target| reports.contains(target));
        if let (Some(&failing), true) = (failing, targets.len() > 1) {
            let others: Vec<BlockId> = targets.into_iter().filter(|one| *one != failing).collect();
            all.extend(of_one(function, block, failing, &others));
        }
    }
    all
}

/// Those of the assertion whose last branch is that of `last`: to `failing`, or to one of `others`.
fn of_one(
    function: &Function,
    last: BlockId,
    failing: BlockId,
    others: &[BlockId],
) -> FxHashSet<BlockId> {
    let mut found = FxHashSet::from_iter([last]);
    let Some(scope) = scope(function, last, failing) else {
        return found;
    };
    let leads_on = |found: &FxHashSet<BlockId>, block: BlockId| {
        let targets = targets(function, block);
        let belongs = |target: &BlockId| {
            *target == failing || others.contains(target) || found.contains(target)
        };
        targets.iter().any(|target| found.contains(target))
            && targets.iter().all(belongs)
            && span(function, block).is_some_and(|span| scope.contains_span(span))
    };
    loop {
        let more: Vec<BlockId> = function
            .block_ids()
            .filter(|&block| !found.contains(&block) && leads_on(&found, block))
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The text of an assertion: the macro that writes it, or the condition before a call that reports.
fn scope(function: &Function, last: BlockId, failing: BlockId) -> Option<Span> {
    let instructions = function.block(failing).instructions.iter();
    let call = instructions
        .filter_map(|instruction| function.origin(instruction.origin).span)
        .next_back()?;
    let last = span(function, last)?;
    if call.contains_span(last) {
        return Some(call);
    }
    let is_around = |origin: &&Origin| {
        let around = |span: Span| span.contains_span(call) && span.contains_span(last);
        matches!(origin.node, Some(Node::Statement(_))) && origin.span.is_some_and(around)
    };
    let statements = function.origins.iter().filter(is_around);
    let smallest = statements
        .filter_map(|origin| origin.span)
        .min_by_key(|span| span.len())?;
    Some(Span::new(smallest.start, call.start))
}

fn targets(function: &Function, block: BlockId) -> Vec<BlockId> {
    let edges = function.block(block).terminator.edges();
    edges.iter().map(|edge| edge.target).collect()
}

/// The text that decides where control goes from a block.
fn span(function: &Function, block: BlockId) -> Option<Span> {
    function
        .origin(function.block(block).terminator.origin)
        .span
}
