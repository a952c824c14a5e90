//! Groups candidates that no state has told apart.
//!
//! This is the value projection of f1x (section 3.2) turned round. f1x asks which terms evaluate to a value n in a state. Here all
//! candidates of a group are evaluated in the state, and the group splits where values differ. The classes of a test tell in
//! which state a group is evaluated next. So candidates are evaluated only in states that they would meet.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    evaluators::{Agreement, Evaluators, Numbering},
    lanes::Siblings,
    space::{CandidateId, Space},
    states::StateSet,
    term::Pointees,
};

/// The number of a group of a [`Level`].
pub type GroupId = u32;

/// A group of candidates: the number of candidates, and the first of them.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its first candidate.
    pub representative: CandidateId,
    /// Number of candidates.
    pub count: usize,
}

/// The candidates of a group that have one value in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The group that they were in.
    pub from: GroupId,
    /// The group that they are in now.
    pub group: GroupId,
    /// Before that state, in how many others they had the values that were expected.
    pub agrees: usize,
    /// Their value; `None` if it is undefined, or if they had the expected ones in all states.
    pub value: Option<u64>,
}

/// The candidates of one cost at one hole, in groups.
pub struct Level<'s> {
    numbering: Numbering<'s>,
    evaluators: Evaluators<'s>,
    /// Numbers of candidates, group by group; ascending in each.
    order: Vec<u32>,
    /// Where the candidates of a group stand in `order`.
    groups: Vec<Range<u32>>,
    /// Terms evaluated in states, in total: the work done.
    pub evaluations: u64,
}

impl<'s> Level<'s> {
    /// Makes a level whose group 0 has all candidates of this cost. Up to `threads` threads evaluate
    /// them.
    pub fn new(space: &'s Space, pointees: &'s Pointees, cost: u32, threads: usize) -> Self {
        let blocks: Vec<u32> = (0..space.blocks.len() as u32)
            .filter(|&i| space.blocks[i as usize].cost == cost)
            .collect();
        let mut starts = vec![0];
        let mut order = Vec::new();
        for &number in &blocks {
            let block = &space.blocks[number as usize];
            let start = starts[starts.len() - 1];
            // The builder sees to it that a space has fewer than 2^32 places.
            order.extend(space.lanes(block).into_iter().map(|lane| start + lane));
            starts.push(start + block.length);
        }
        let all = 0..order.len() as u32;
        let siblings = Siblings::of(space, pointees, &blocks);
        Level {
            numbering: Numbering {
                space,
                pointees,
                blocks,
                starts,
                siblings,
            },
            evaluators: Evaluators::new(space, pointees, threads),
            groups: vec![all],
            order,
            evaluations: 0,
        }
    }

    /// Returns the number of groups so far, empty ones included.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Returns the size of a group and its first candidate, which represents it. Returns `None` if the group is empty.
    pub fn group(&self, group: GroupId) -> Option<Group> {
        let range = &self.groups[group as usize];
        Some(Group {
            representative: self.members(group).next()?,
            count: range.len(),
        })
    }

    /// Returns the candidates of a group, in the order of the space.
    pub fn members(&self, group: GroupId) -> impl Iterator<Item = CandidateId> + '_ {
        let mut block = 0;
        self.candidates(group).iter().map(move |&number| {
            block = self.numbering.block_of(number, block);
            self.numbering.id(number, block)
        })
    }

    /// Moves the first candidate of a group into a new group, and returns its number. The others
    /// stay.
    pub fn isolate(&mut self, group: GroupId) -> GroupId {
        let range = &mut self.groups[group as usize];
        let first = range.start;
        range.start = (first + 1).min(range.end);
        let own = first..range.start;
        self.groups.push(own);
        self.groups.len() as GroupId - 1
    }

    /// Splits groups by the values of their candidates in one state, which is given by the values of
    /// its slots and which of them are undefined. The part with the first candidate of a group keeps
    /// its number.
    pub fn split(&mut self, groups: &[GroupId], values: &[u64], undefined: &[u8]) -> Vec<Part> {
        let (order, ranges) = (&self.order, &self.groups);
        let pieces: Vec<&[u32]> = groups
            .iter()
            .map(|&group| &order[range_of(ranges, group)])
            .collect();
        let results = self
            .evaluators
            .in_state(&self.numbering, &pieces, (values, undefined));
        self.evaluations += results.len() as u64;
        let mut parts = Vec::new();
        let mut rest = &results[..];
        for &group in groups {
            let (own, others) = rest.split_at(self.candidates(group).len());
            rest = others;
            self.split_by(group, own, &mut parts);
        }
        parts
    }

    /// Follows the candidates of a group through states, as long as they have the expected values.
    /// The group is split by the state where that ends, and by the values there. The part with the
    /// first candidate keeps the number.
    pub fn split_along(
        &mut self,
        group: GroupId,
        states: &StateSet,
        ids: &[u32],
        expected: &[Option<u64>],
    ) -> Vec<Part> {
        let piece = &self.order[range_of(&self.groups, group)];
        let row = (states, ids, expected);
        let results = self.evaluators.along(&self.numbering, &[piece], row);
        self.evaluations += (results.len() * ids.len()) as u64;
        let mut parts = Vec::new();
        self.split_by(group, &results, &mut parts);
        parts
    }

    /// Splits a group whose candidates have agreed so long, and then have these values.
    fn split_by(&mut self, group: GroupId, values: &[Agreement], parts: &mut Vec<Part>) {
        let Some(&first) = values.first() else { return };
        let mut part = |group_now, (agrees, value)| {
            parts.push(Part {
                from: group,
                group: group_now,
                agrees,
                value,
            });
        };
        if values.iter().all(|&value| value == first) {
            part(group, first);
            return;
        }
        let mut known: FxHashMap<Agreement, usize> = FxHashMap::default();
        let mut members: Vec<(Agreement, Vec<u32>)> = Vec::new();
        let range = self.groups[group as usize].clone();
        let own = &mut self.order[range.start as usize..range.end as usize];
        for (&number, &value) in own.iter().zip(values) {
            let at = *known.entry(value).or_insert_with(|| {
                members.push((value, Vec::new()));
                members.len() - 1
            });
            members[at].1.push(number);
        }
        let mut start = range.start;
        for (at, (value, numbers)) in members.into_iter().enumerate() {
            let end = start + numbers.len() as u32;
            let place = (start - range.start) as usize;
            own[place..place + numbers.len()].copy_from_slice(&numbers);
            let number = match at {
                0 => {
                    self.groups[group as usize] = start..end;
                    group
                }
                _ => {
                    self.groups.push(start..end);
                    self.groups.len() as GroupId - 1
                }
            };
            part(number, value);
            start = end;
        }
    }

    fn candidates(&self, group: GroupId) -> &[u32] {
        &self.order[range_of(&self.groups, group)]
    }
}

fn range_of(groups: &[Range<u32>], group: GroupId) -> Range<usize> {
    let range = &groups[group as usize];
    range.start as usize..range.end as usize
}
