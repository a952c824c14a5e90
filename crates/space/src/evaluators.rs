//! The values of many candidates, each in the way that is fastest for it; shared out to several threads.

use patchwright_semantics::{Instruction, evaluate};
use rustc_hash::FxHashMap;

use crate::{
    columns::Columns,
    lanes::{Evaluation, Siblings},
    pool_rows::Buffers,
    space::{CandidateId, Space},
    states::StateSet,
    term::Pointees,
};

/// Of so many candidates of a block each is evaluated by itself: that takes less than what has to be made ready for rows.
const FEW: usize = 8;

/// What takes fewer evaluations than this is not shared out.
const SHARED_OUT: usize = 1 << 14;

/// The largest number of instructions that are kept in [`Codes`]: 64 MB.
const MOST_KEPT: usize = 4 << 20;

/// Candidates that are evaluated by themselves, compiled. They are kept, since most meet many states.
struct Codes<'s> {
    space: &'s Space,
    pointees: &'s Pointees,
    of: FxHashMap<u32, Vec<Instruction>>,
    /// Instructions of all of them together.
    kept: usize,
    /// So many are kept at most.
    most: usize,
}

impl<'s> Codes<'s> {
    fn new(space: &'s Space, pointees: &'s Pointees, most: usize) -> Self {
        Codes {
            space,
            pointees,
            of: FxHashMap::default(),
            kept: 0,
            most,
        }
    }

    /// The code of the candidate with this number.
    fn of(&mut self, number: u32, id: impl FnOnce() -> CandidateId) -> &[Instruction] {
        if self.kept > self.most {
            self.of.clear();
            self.kept = 0;
        }
        self.of.entry(number).or_insert_with(|| {
            let code = self.space.code(id(), self.pointees).unwrap_or_default();
            self.kept += code.len();
            code
        })
    }
}

/// The candidates of a level, by numbers.
pub(crate) struct Numbering<'s> {
    pub(crate) space: &'s Space,
    pub(crate) pointees: &'s Pointees,
    /// The blocks of the level.
    pub(crate) blocks: Vec<u32>,
    /// For each block the number of the candidate in its first place; then one past the last of all.
    pub(crate) starts: Vec<u32>,
    pub(crate) siblings: Siblings,
}

impl Numbering<'_> {
    /// The block of a candidate that is not in a block before `from`.
    pub(crate) fn block_of(&self, number: u32, from: usize) -> usize {
        if number < self.starts[from + 1] {
            return from;
        }
        from + self.starts[from + 1..].partition_point(|&start| start <= number)
    }

    /// Returns the candidate with this number, which lies in this block of the list.
    pub(crate) fn id(&self, number: u32, block: usize) -> CandidateId {
        CandidateId {
            block: self.blocks[block],
            lane: number - self.starts[block],
        }
    }
}

/// How far a candidate has had the values that were expected, and its value after that.
pub(crate) type Agreement = (usize, Option<u64>);

/// Evaluates candidates, on one thread.
struct Evaluator<'s> {
    buffers: Buffers,
    codes: Codes<'s>,
}

impl<'s> Evaluator<'s> {
    /// The values of candidates in a state, piece by piece, ascending in each.
    fn in_state(
        &mut self,
        numbering: &Numbering<'s>,
        pieces: &[&[u32]],
        (values, undefined): (&[u64], &[u8]),
        results: &mut [Agreement],
    ) {
        // For each block of which many candidates are asked for: their lanes, and where their values belong.
        let mut together: FxHashMap<usize, (Vec<u32>, Vec<u32>)> = FxHashMap::default();
        let mut place = 0;
        for piece in pieces {
            let (mut block, mut rest) = (0, *piece);
            while let Some(&first) = rest.first() {
                block = numbering.block_of(first, block);
                let (start, end) = (numbering.starts[block], numbering.starts[block + 1]);
                let (own, others) = rest.split_at(rest.partition_point(|&number| number < end));
                rest = others;
                if own.len() <= FEW {
                    for (&number, result) in own.iter().zip(&mut results[place..]) {
                        let code = self.codes.of(number, || numbering.id(number, block));
                        result.1 = evaluate(code, values, undefined);
                    }
                } else {
                    let (lanes, places) = together.entry(block).or_default();
                    lanes.extend(own.iter().map(|number| number - start));
                    places.extend((place..place + own.len()).map(|place| place as u32));
                }
                place += own.len();
            }
        }
        let mut evaluation = Evaluation::new(
            numbering.space,
            numbering.pointees,
            &numbering.siblings,
            (values, undefined),
            &mut self.buffers,
        );
        for (block, (lanes, places)) in &together {
            let block = &numbering.space.blocks[numbering.blocks[*block] as usize];
            let row = evaluation.values(block, lanes);
            for (lane, &place) in places.iter().enumerate() {
                results[place as usize].1 = (row.undefined[lane] == 0).then_some(row.values[lane]);
            }
        }
    }

    /// How far candidates have the expected values in a row of states.
    fn along(
        &mut self,
        numbering: &Numbering<'s>,
        pieces: &[&[u32]],
        (states, ids, expected): (&StateSet, &[u32], &[Option<u64>]),
        results: &mut [Agreement],
    ) {
        let mut columns = Columns::new(states, ids);
        let mut results = results.iter_mut();
        for piece in pieces {
            let mut block = 0;
            for (&number, result) in piece.iter().zip(&mut results) {
                block = numbering.block_of(number, block);
                let code = self.codes.of(number, || numbering.id(number, block));
                *result = columns.agreement(code, expected);
            }
        }
    }
}

/// Evaluates candidates, on several threads where that pays.
pub(crate) struct Evaluators<'s>(Vec<Evaluator<'s>>);

impl<'s> Evaluators<'s> {
    /// Makes an evaluator for each thread.
    pub(crate) fn new(space: &'s Space, pointees: &'s Pointees, threads: usize) -> Self {
        let threads = threads.max(1);
        let evaluator = || Evaluator {
            buffers: Buffers::default(),
            codes: Codes::new(space, pointees, MOST_KEPT / threads),
        };
        Evaluators(std::iter::repeat_with(evaluator).take(threads).collect())
    }

    /// The values of candidates in a state, the slots' values and which of them are undefined.
    pub(crate) fn in_state(
        &mut self,
        numbering: &Numbering<'s>,
        pieces: &[&[u32]],
        state: (&[u64], &[u8]),
    ) -> Vec<Agreement> {
        self.share(pieces, 1, |evaluator, pieces, results| {
            evaluator.in_state(numbering, pieces, state, results);
        })
    }

    /// Returns for each candidate how many states of a row have the expected values.
    pub(crate) fn along(
        &mut self,
        numbering: &Numbering<'s>,
        pieces: &[&[u32]],
        row: (&StateSet, &[u32], &[Option<u64>]),
    ) -> Vec<Agreement> {
        self.share(pieces, row.1.len(), |evaluator, pieces, results| {
            evaluator.along(numbering, pieces, row, results);
        })
    }

    /// Shares pieces out; `each` is what a candidate takes.
    fn share(
        &mut self,
        pieces: &[&[u32]],
        each: usize,
        work: impl Fn(&mut Evaluator<'s>, &[&[u32]], &mut [Agreement]) + Sync,
    ) -> Vec<Agreement> {
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        let mut results = vec![(0, None); total];
        if self.0.len() == 1 || total * each < SHARED_OUT {
            work(&mut self.0[0], pieces, &mut results);
            return results;
        }
        let share = total.div_ceil(self.0.len()).max(1);
        let shares = cut(pieces, share);
        std::thread::scope(|scope| {
            let all = self
                .0
                .iter_mut()
                .zip(&shares)
                .zip(results.chunks_mut(share));
            for ((evaluator, pieces), results) in all {
                let work = &work;
                scope.spawn(move || work(evaluator, pieces, results));
            }
        });
        results
    }
}

/// Cuts pieces so that each share but the last has so many candidates.
fn cut<'p>(pieces: &[&'p [u32]], share: usize) -> Vec<Vec<&'p [u32]>> {
    let mut shares = vec![Vec::new()];
    let mut room = share;
    for &piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            if room == 0 {
                shares.push(Vec::new());
                room = share;
            }
            let (own, others) = rest.split_at(room.min(rest.len()));
            if let Some(last) = shares.last_mut() {
                last.push(own);
            }
            room -= own.len();
            rest = others;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn shares_have_every_candidate_in_order() {
        let pieces: [&[u32]; 4] = [&[1, 2, 3], &[], &[4, 5], &[6, 7, 8, 9, 10]];
        for share in 1..12 {
            let shares = cut(&pieces, share);
            assert!(shares.iter().all(|own| own.concat().len() <= share));
            assert_eq!(shares.concat().concat(), (1..=10).collect::<Vec<u32>>());
            assert_eq!(shares.len(), 10_usize.div_ceil(share));
        }
    }
}
