//! `--paths`: decides about a program path by path.

use std::time::Instant;

use patchwright_prove::{Followed, Paths, PathsFound, Verdict, link, spec};
use patchwright_report::proof;
use patchwright_solve::{Assignment, Budget, Terms};
use patchwright_symbolic::{EncodeError, Encoding, Entry, Options, encode_along};

use super::{
    Job,
    decide::{Decided, is_decided},
};
use crate::encoded::Problem;

/// Instructions of one path at most, where the user does not say.
const INSTRUCTIONS: u64 = 400_000;
/// Paths, instructions of one, and conflicts of a question, where nobody asked for paths.
const FEW: u64 = 300;
const FEW_INSTRUCTIONS: u64 = 20_000;
const FEW_CONFLICTS: u64 = 2_000;
/// Instructions of all of them, and conflicts and clauses of all questions: that it was tried shall cost little where it is in
/// vain.
const FEW_IN_ALL: u64 = 200_000;
const FEW_WORK: (u64, u64) = (4_000, 60_000);
/// Calls of a function within itself at most.
const RECURSION: u32 = 400;

/// How much of a program is followed.
#[derive(Clone, Copy)]
struct Limits {
    paths: u64,
    /// Instructions of all paths.
    instructions: u64,
    /// Conflicts of a question.
    conflicts: Option<u64>,
    /// Conflicts and clauses of all questions.
    work: (u64, u64),
}

impl Job<'_> {
    /// Follows a few single paths. They decide the question if they are all, or if one fails. If repairs or faults are wanted, the formula
    /// of all paths decides, because these are sought in it.
    pub(super) fn by_few_paths(&mut self) -> Result<Option<Decided>, Problem> {
        if self.args.repair || self.args.locate || std::mem::replace(&mut self.tried_paths, true) {
            return Ok(None);
        }
        let conflicts = self.args.conflicts.unwrap_or(u64::MAX).min(FEW_CONFLICTS);
        let limits = Limits {
            paths: FEW,
            instructions: FEW_IN_ALL,
            conflicts: Some(conflicts),
            work: FEW_WORK,
        };
        match self.followed(FEW_INSTRUCTIONS, limits) {
            Ok(found) if is_decided(&found.verdict) => Ok(Some(found)),
            Ok(_) | Err(Problem::Interrupted) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Follows so many paths at most.
    pub(super) fn decided_by_paths(&mut self, most: u64) -> Result<Decided, Problem> {
        let instructions = self.args.max_instructions.unwrap_or(INSTRUCTIONS);
        let limits = Limits {
            paths: most,
            instructions: u64::MAX,
            conflicts: self.args.conflicts,
            work: (u64::MAX, u64::MAX),
        };
        self.followed(instructions, limits)
    }

    /// Follows so many instructions of each path.
    fn followed(&mut self, instructions: u64, limits: Limits) -> Result<Decided, Problem> {
        let most = limits.paths;
        let mut options = Options {
            instructions,
            ..self.options(RECURSION)?
        };
        let linked = link(&self.program.sources, None, &self.program.library);
        let linked = linked.map_err(Problem::of)?;
        let reference = match &self.program.reference {
            Some(reference) => {
                let source = std::slice::from_ref(&reference.source);
                let linked = link(source, None, &self.program.library);
                Some((linked.map_err(Problem::of)?, reference.entry.clone()))
            }
            None => None,
        };
        let entry = self.program.entry.clone();
        self.doing("following paths");
        let started = Instant::now();
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let found = loop {
            let found = self.explored(&linked, &entry, reference.as_ref(), &options, limits)?;
            match found.is_mixed {
                true => options.argument_numbers = false,
                false => break found,
            }
        };
        self.phase("paths", started);
        self.count(&found.statistics);
        let PathsFound {
            mut verdict,
            last,
            followed,
            excluded,
            left,
            notes,
            ..
        } = found;
        let Some(last) = last else {
            return Err(Problem::Interrupted);
        };
        if matches!(verdict, Verdict::Budget) && !interrupt() {
            let reason = match followed >= most {
                true => format!(
                    "more paths than the {most} that were followed, none of which fails (--paths=N follows more)"
                ),
                false => {
                    "decisions that are too hard for the solver, or more paths than fit into memory"
                        .to_owned()
                }
            };
            verdict = Verdict::Unknown(vec![(reason, None)]);
        }
        let unknown = last.program.unknown.iter();
        let unknown = unknown.map(|one| (one.reason.clone(), Some(one.place.clone())));
        let reasons: Vec<_> = unknown.collect();
        let replayed = self.replayed(&mut verdict, &options, |_, _| Verdict::Unknown(reasons));
        let mut report = self.report(&verdict, &last.program, &options);
        report.instructions =
            matches!(verdict, Verdict::Bounded(_)).then_some(options.instructions);
        report.limits = self.limits_of_paths(&last.program, &notes);
        report.succeeding = super::decide::succeeding(&notes);
        report.notes = notes
            .into_iter()
            .chain(self.program.order_taken())
            .collect();
        report.paths = Some(proof::Paths {
            followed,
            excluded,
            left,
        });
        Ok(self.concluded(verdict, report, replayed, options))
    }

    fn explored(
        &mut self,
        linked: &patchwright_ir::Program,
        entry: &Entry,
        reference: Option<&(patchwright_ir::Program, Entry)>,
        options: &Options,
        limits: Limits,
    ) -> Result<PathsFound, Problem> {
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let other = Options {
            prefix: "reference.".to_owned(),
            ..options.clone()
        };
        let shard = self.args.sharding.shard;
        let mut instructions = 0;
        let mut along = |terms: &mut Terms, which: (&_, &Entry), options: &Options, input: &_| {
            let (program, entry) = which;
            if instructions > limits.instructions {
                return Err(EncodeError::Interrupted);
            }
            let encoding = encode_along(program, entry, options, terms, input, &interrupt)?;
            instructions += encoding.counts.instructions;
            Ok::<Encoding, EncodeError>(encoding)
        };
        let mut follow = |terms: &mut Terms, input: &Assignment| {
            let program = along(terms, (linked, entry), options, input)?;
            let reference = match reference {
                Some((linked, entry)) => Some(along(terms, (linked, entry), &other, input)?),
                None => None,
            };
            let mut spec = spec(terms, &program, reference.as_ref());
            if let Some(shard) = shard {
                spec.keep(&|name| shard.has_named(name));
            }
            Ok(Followed {
                program,
                reference,
                spec,
            })
        };
        let paths = Paths {
            follow: &mut follow,
            most: limits.paths,
            work: limits.work,
            longest: options.input,
            budget: Budget {
                conflicts: limits.conflicts,
                interrupt: Some(&interrupt),
            },
        };
        let found = paths.explore(&mut self.terms).map_err(|error| match error {
            EncodeError::Interrupted => Problem::Interrupted,
            other => Problem::of(other),
        });
        self.stats.instructions += instructions;
        found
    }
}
