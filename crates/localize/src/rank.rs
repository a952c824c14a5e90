//! Ranks statements by suspicion.
//!
//! A statement's *score* is that of the formula, from the tests that execute it. If failing tests crash,
//! each statement also has a *nearness* to the crash. For one failing test the nearness is the greatest
//! of these numbers, and 0 for all other statements:
//!
//! * `1/(k+1)` for the statement of the stack's frame `k` (0 is innermost);
//! * `1/(k+1.5)` for the statements around it, which decide whether it is executed;
//! * `1/(k+2)` for the other statements that the test executes in that frame's function;
//! * `1.2/(k+2)` and `0.6/(k+2)` for the first four frames of the call that allocated or freed the memory
//!   in question.
//!
//! The nearness of a statement is the mean over all failing tests. Score and nearness are combined as
//! independent reasons: `suspiciousness = 1 − (1 − score) · (1 − nearness)`, with the score scaled to the
//! range from 0 to 1. Without a crash the order is that of the formula.
//!
//! Ties are broken by the nearness, then by the score, then by place: file, then offset.

use crate::formula::{Counts, Formula};
use crate::observe::Localization;

/// A statement with its rank and its suspiciousness.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The statement.
    pub statement: u32,
    /// Its rank, from 1; equal ones share the best.
    pub rank: usize,
    /// The last place of those with the same suspiciousness.
    pub tied_to: usize,
    /// From 0 to 1.
    pub suspiciousness: f64,
    /// What the formula says.
    pub score: f64,
    /// How near it is to crashes, from 0 to 1.
    pub nearness: f64,
    /// How many tests execute it.
    pub counts: Counts,
}

/// A function or a file. Its suspiciousness is that of its most suspicious statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedGroup {
    /// Index of the function or file.
    pub index: usize,
    /// Its rank, from 1; equal ones share the best.
    pub rank: usize,
    /// From 0 to 1.
    pub suspiciousness: f64,
    /// Rank of its most suspicious statement.
    pub best_statement: usize,
    /// How many tests execute any of its statements.
    pub counts: Counts,
    /// Statements of it that failing tests execute.
    pub statements: usize,
}

/// The statements that failing tests execute with their functions and files, each list the most
/// suspicious first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Statements that a failing test executes.
    pub statements: Vec<Ranked>,
    /// Functions with such statements.
    pub functions: Vec<RankedGroup>,
    /// Files with such statements.
    pub files: Vec<RankedGroup>,
}

impl Ranking {
    /// Ranks what `found` has seen.
    pub(crate) fn new(found: &Localization, formula: Formula) -> Self {
        let counts = found.counts(found.statements.len(), |statement| statement);
        let nearness = nearness(found);
        let mut statements: Vec<Ranked> = counts
            .iter()
            .zip(&nearness)
            .enumerate()
            .filter(|(_, (counts, _))| counts.failing > 0)
            .map(|(statement, (&counts, &nearness))| Ranked {
                statement: statement as u32,
                rank: 0,
                tied_to: 0,
                suspiciousness: 1.0 - (1.0 - formula.suspiciousness(counts)) * (1.0 - nearness),
                score: formula.score(counts),
                nearness,
                counts,
            })
            .collect();
        statements.sort_by(|a, b| {
            let order = b.suspiciousness.total_cmp(&a.suspiciousness);
            order
                .then(b.nearness.total_cmp(&a.nearness))
                .then(b.score.total_cmp(&a.score))
                .then(a.statement.cmp(&b.statement))
        });
        let values: Vec<f64> = statements.iter().map(|one| one.suspiciousness).collect();
        for (one, (rank, tied_to)) in statements.iter_mut().zip(ranks(&values)) {
            (one.rank, one.tied_to) = (rank, tied_to);
        }
        let function_of = |statement: usize| found.statements[statement].function;
        let file_of = |statement: usize| found.statements[statement].file;
        Ranking {
            functions: groups(found, &statements, found.functions.len(), function_of),
            files: groups(found, &statements, found.files.len(), file_of),
            statements,
        }
    }
}

/// First and last place, from 1, of each value of a list in descending order.
fn ranks(values: &[f64]) -> Vec<(usize, usize)> {
    let mut ranks = Vec::with_capacity(values.len());
    for group in values.chunk_by(|a, b| a == b) {
        let first = ranks.len() + 1;
        let last = ranks.len() + group.len();
        ranks.extend(std::iter::repeat_n((first, last), group.len()));
    }
    ranks
}

/// How near the call is that allocated or freed what the crash is about.
const HEAP: f64 = 0.6;

/// The number of near statements on the stack of that call. Behind the wrapper of an allocation stands the caller that asked for the size.
const HEAP_FRAMES: usize = 4;

/// How near each statement is to where failing tests crashed.
fn nearness(found: &Localization) -> Vec<f64> {
    let mut sums = vec![0.0; found.statements.len()];
    let failing = found.tests.iter().filter(|test| !test.passes).count();
    for test in found.tests.iter().filter(|test| !test.passes) {
        let mut of_function = vec![0.0f64; found.functions.len()];
        let mut of_statement = std::collections::BTreeMap::new();
        for (depth, &statement) in test.crash.iter().enumerate() {
            let depth = depth as f64;
            let function = &mut of_function[found.statements[statement as usize].function];
            *function = function.max(1.0 / (depth + 2.0));
            let own: &mut f64 = of_statement.entry(statement).or_default();
            *own = own.max(1.0 / (depth + 1.0));
        }
        for (depth, &statement) in test.heap.iter().take(HEAP_FRAMES).enumerate() {
            let depth = depth as f64;
            let function = &mut of_function[found.statements[statement as usize].function];
            *function = function.max(HEAP / (depth + 2.0));
            let own = of_statement.entry(statement).or_default();
            *own = own.max(HEAP * 2.0 / (depth + 2.0));
        }
        // What decides whether a statement of the stack is executed is nearer than what merely stands in its function.
        for (depth, &crash) in test.crash.iter().enumerate() {
            let inner = &found.statements[crash as usize];
            for &statement in &test.executed {
                let outer = &found.statements[statement as usize];
                let governs = outer.function == inner.function
                    && outer.span != inner.span
                    && outer.span.contains_span(inner.span);
                if governs {
                    let own = of_statement.entry(statement).or_default();
                    *own = own.max(1.0 / (depth as f64 + 1.5));
                }
            }
        }
        for &statement in &test.executed {
            let function = of_function[found.statements[statement as usize].function];
            let own = of_statement.get(&statement).copied().unwrap_or(0.0);
            sums[statement as usize] += function.max(own);
        }
    }
    sums.into_iter()
        .map(|sum| sum / failing.max(1) as f64)
        .collect()
}

fn groups(
    found: &Localization,
    statements: &[Ranked],
    count: usize,
    group_of: impl Fn(usize) -> usize + Copy,
) -> Vec<RankedGroup> {
    let counts = found.counts(count, group_of);
    // Most suspicious first: the first one of a group decides, and its place is that of the group.
    let mut places: Vec<Option<usize>> = vec![None; count];
    let mut groups: Vec<RankedGroup> = Vec::new();
    for one in statements {
        let index = group_of(one.statement as usize);
        let place = *places[index].get_or_insert_with(|| {
            groups.push(RankedGroup {
                index,
                rank: 0,
                suspiciousness: one.suspiciousness,
                best_statement: one.rank,
                counts: counts[index],
                statements: 0,
            });
            groups.len() - 1
        });
        groups[place].statements += 1;
    }
    let values: Vec<f64> = groups.iter().map(|group| group.suspiciousness).collect();
    for (group, (rank, _)) in groups.iter_mut().zip(ranks(&values)) {
        group.rank = rank;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::TestCoverage;
    use crate::statements::{FunctionInfo, Statement};
    use patchwright_text::Span;

    /// `functions` lists how many statements each function has; all stand in one file.
    fn observed(functions: &[usize], tests: &[(bool, &[u32], &[u32])]) -> Localization {
        let mut found = Localization::default();
        for (index, &count) in functions.iter().enumerate() {
            found.functions.push(FunctionInfo {
                name: format!("f{index}"),
                file: 0,
                line: 1,
                body: Span::new(0, 0),
            });
            for _ in 0..count {
                let place = found.statements.len() as u32;
                found.statements.push(Statement {
                    file: 0,
                    function: index,
                    span: Span::new(place, place + 1),
                    line: place + 1,
                    last_line: place + 1,
                    leaves: false,
                });
            }
        }
        found.files.push(crate::SourceFile {
            relative: "a.c".into(),
            source: Vec::new(),
            first: 0,
        });
        for (test, &(passes, executed, crash)) in tests.iter().enumerate() {
            found.tests.push(TestCoverage {
                test,
                passes,
                executed: executed.to_vec(),
                crash: crash.to_vec(),
                heap: Vec::new(),
            });
        }
        found
    }

    #[test]
    fn equal_statements_share_a_rank_and_say_how_far_it_goes() {
        let found = observed(&[2, 2], &[(false, &[0, 1, 2], &[]), (true, &[0, 1], &[])]);
        let ranking = found.rank(Formula::Ochiai);
        let ranks: Vec<_> = ranking
            .statements
            .iter()
            .map(|one| (one.statement, one.rank, one.tied_to))
            .collect();
        assert_eq!(ranks, [(2, 1, 1), (0, 2, 3), (1, 2, 3)]);
        let functions: Vec<_> = ranking
            .functions
            .iter()
            .map(|group| {
                (
                    group.index,
                    group.rank,
                    group.best_statement,
                    group.statements,
                )
            })
            .collect();
        assert_eq!(functions, [(1, 1, 1, 1), (0, 2, 2, 2)]);
        assert_eq!(ranking.files.len(), 1);
        assert_eq!(ranking.files[0].counts.passing, 1);
    }

    #[test]
    fn where_the_program_crashes_comes_before_what_the_same_tests_execute() {
        // Both functions are executed by the same tests; f1 crashes in statement 3, called from statement 1.
        let found = observed(
            &[2, 2],
            &[(false, &[0, 1, 2, 3], &[3, 1]), (true, &[0, 1, 2, 3], &[])],
        );
        let ranking = found.rank(Formula::Ochiai);
        let order: Vec<_> = ranking.statements.iter().map(|one| one.statement).collect();
        assert_eq!(order, [3, 1, 2, 0]);
        let nearness: Vec<_> = ranking.statements.iter().map(|one| one.nearness).collect();
        assert_eq!(nearness, [1.0, 0.5, 0.5, 1.0 / 3.0]);
        assert_eq!(ranking.statements[0].suspiciousness, 1.0);
        assert_eq!(ranking.statements[1].tied_to, 3);
    }

    #[test]
    fn who_calls_the_wrapper_of_an_allocation_is_near_a_crash_in_that_memory() {
        // f0 crashes; f1 wraps the allocation, f2 asks for too little in its statement 5, and f3 is only executed.
        let mut found = observed(
            &[1, 1, 4, 2],
            &[
                (false, &[0, 1, 2, 3, 4, 5, 6, 7], &[0]),
                (true, &[0, 1, 2, 3, 4, 5, 6, 7], &[]),
            ],
        );
        found.tests[0].heap = vec![1, 5];
        let ranking = found.rank(Formula::Ochiai);
        let order: Vec<_> = ranking.statements.iter().map(|one| one.statement).collect();
        assert_eq!(order[..3], [0, 1, 5]);
        let near = |wanted: u32| {
            let mut all = ranking.statements.iter();
            all.find(|one| one.statement == wanted).unwrap().nearness
        };
        assert!(near(5) > near(4) && near(4) > near(6), "{order:?}");
        assert_eq!(near(6), 0.0);
    }

    #[test]
    fn the_condition_round_a_crash_is_nearer_than_the_rest_of_its_function() {
        let mut found = observed(&[3], &[(false, &[0, 1, 2], &[2]), (true, &[0, 1, 2], &[])]);
        found.statements[1].span = Span::new(1, 9);
        let ranking = found.rank(Formula::Ochiai);
        let order: Vec<_> = ranking.statements.iter().map(|one| one.statement).collect();
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn a_crash_in_one_of_two_failing_tests_counts_half() {
        let found = observed(&[1], &[(false, &[0], &[0]), (false, &[0], &[])]);
        assert_eq!(found.rank(Formula::Op2).statements[0].nearness, 0.5);
    }
}
