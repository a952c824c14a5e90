//! `--prove`: proves each patched program for all inputs.

use patchwright_exec::{CancelToken, CompileCommand, Project, Scratch, files};
use patchwright_prove::{Source, Trusted};
use patchwright_repair::{Patch, RepairOutcome};
use patchwright_report::proofs::{Proof, Proofs};
use patchwright_text::apply_edits;

use crate::{
    args::ProofArgs,
    cached::CacheArgs,
    compare::named::{Builder, Made, program_of},
    encoded::{Problem, Reader},
    prove,
};

/// Conflicts of one question to the solver at most: patches are many, and programs of this kind need a few thousands.
const CONFLICTS: u64 = 1_000_000;
/// Instructions that are encoded of a patched program at most.
const INSTRUCTIONS: u64 = 1_000_000;

/// Proves each patch of a repair. It is `None` if the user interrupts.
pub fn of_repair(
    args: &ProofArgs,
    project: &Project,
    outcome: &RepairOutcome,
    scratch: &Scratch,
    cancel: &CancelToken,
) -> Option<Proofs> {
    match Prover::new(args, project, scratch, cancel) {
        Err(Problem::Interrupted) => None,
        Err(Problem::Input(reason)) => Some(Proofs {
            bound: args.prove_bound,
            stated: true,
            patches: (1..=outcome.patches.len())
                .map(|number| Proof::unknown(number, reason.clone()))
                .collect(),
        }),
        Ok(prover) => prover.all(&outcome.patches),
    }
}

struct Prover<'a> {
    args: &'a ProofArgs,
    scratch: &'a Scratch,
    cancel: &'a CancelToken,
    /// A copy of the project, built once.
    made: Made,
}

impl<'a> Prover<'a> {
    fn new(
        args: &'a ProofArgs,
        project: &Project,
        scratch: &'a Scratch,
        cancel: &'a CancelToken,
    ) -> Result<Prover<'a>, Problem> {
        let builder = Builder {
            scratch,
            cancel: cancel.clone(),
            program: None,
            cflags: Vec::new(),
            covers: false,
        };
        // The copy lives as long as what could execute its program, even if nothing does.
        let program = program_of(project).unwrap_or_default();
        let made = builder.made(project, Some(program), "the project", "proofs", &|_| Ok(()))?;
        Ok(Prover {
            args,
            scratch,
            cancel,
            made,
        })
    }

    fn all(&self, patches: &[Patch]) -> Option<Proofs> {
        let mut proofs = Proofs {
            bound: self.args.prove_bound,
            stated: true,
            patches: Vec::new(),
        };
        for (at, patch) in patches.iter().enumerate() {
            let number = at + 1;
            proofs.patches.push(match self.one(number, patch) {
                Ok((report, stated)) => {
                    proofs.stated = stated;
                    Proof::of(number, report)
                }
                Err(Problem::Input(reason)) => Proof::unknown(number, reason),
                Err(Problem::Interrupted) => return None,
            });
        }
        Some(proofs)
    }

    fn one(
        &self,
        number: usize,
        patch: &Patch,
    ) -> Result<(patchwright_report::proof::Report, bool), Problem> {
        let Some(built) = &self.made.built else {
            return Err(Problem::Input("the project has no copy".to_owned()));
        };
        let sandbox = &built.worker.sandbox;
        let path = sandbox.folder().join(&patch.file);
        let old = files::read(&path).map_err(Problem::of)?;
        let new = apply_edits(&old, &patch.edits).map_err(Problem::of)?;
        let written = sandbox.write(&patch.file, &new, None).map_err(Problem::of);
        let decided = written.and_then(|()| self.patched(number));
        sandbox
            .write(&patch.file, &old, None)
            .map_err(Problem::of)?;
        decided
    }

    /// Reads the copy as it is, and decides.
    fn patched(&self, number: usize) -> Result<(patchwright_report::proof::Report, bool), Problem> {
        let folder = format!("proof-{number}");
        let mut reader = Reader::start(
            None,
            &CacheArgs::default(),
            self.scratch,
            &folder,
            self.cancel.clone(),
        )?;
        let here = reader.here.clone();
        let mut sources = Vec::new();
        let own = |command: &&CompileCommand| command.source().starts_with(&self.made.folder);
        for command in self.made.commands.iter().filter(own) {
            reader.compile_as(command);
            let (unit, path) = reader.parse(command.source().to_path_buf(), None)?;
            sources.push(Source {
                unit,
                path,
                trusted: Trusted::default(),
            });
        }
        let like = self.args.prove_like.as_ref();
        let like = like.map(|like| here.join(like).to_string_lossy().into_owned());
        let mut flags = prove::usual(
            self.args.prove_function.clone(),
            like,
            self.args.prove_bound,
        );
        flags.conflicts = Some(CONFLICTS);
        flags.max_instructions = Some(INSTRUCTIONS);
        prove::decided(&flags, reader, sources, self.cancel)
    }
}
