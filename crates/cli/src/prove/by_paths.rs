//! What is known of a program path by path (`--paths`).

use std::time::Instant;

use patchwright_prove::{Followed, Paths, PathsFound, Verdict, link, spec};
use patchwright_report::proof;
use patchwright_solve::{Assignment, Budget, Terms};
use patchwright_symbolic::{EncodeError, Encoding, Entry, Options, encode_along};

use super::{Job, decide::Decided};
use crate::encoded::Problem;

/// Instructions of one path at most, where the user does not say.
const INSTRUCTIONS: u64 = 400_000;
/// Calls of a function within itself at most.
const RECURSION: u32 = 400;

impl Job<'_> {
    /// Follows so many paths at most.
    pub(super) fn decided_by_paths(&mut self, most: u64) -> Result<Decided, Problem> {
        let mut options = Options {
            instructions: self.args.max_instructions.unwrap_or(INSTRUCTIONS),
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
            let found = self.explored(&linked, &entry, reference.as_ref(), &options, most)?;
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
        let replayed = self.replayed(&mut verdict, &options, |_| Verdict::Unknown(reasons));
        let mut report = self.report(&verdict, &last.program, &options);
        report.instructions =
            matches!(verdict, Verdict::Bounded(_)).then_some(options.instructions);
        report.notes = notes;
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
        most: u64,
    ) -> Result<PathsFound, Problem> {
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let other = Options {
            prefix: "reference.".to_owned(),
            ..options.clone()
        };
        let mut instructions = 0;
        let mut along = |terms: &mut Terms, which: (&_, &Entry), options: &Options, input: &_| {
            let (program, entry) = which;
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
            let spec = spec(terms, &program, reference.as_ref());
            Ok(Followed {
                program,
                reference,
                spec,
            })
        };
        let paths = Paths {
            follow: &mut follow,
            most,
            longest: options.input,
            budget: Budget {
                conflicts: self.args.budget,
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
