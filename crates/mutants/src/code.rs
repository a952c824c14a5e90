//! Leaves out mutants whose machine code is that of the untouched program, or of a mutant before.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use patchwright_repair::RepairError;
use patchwright_repair::equivalence::{Code, Compilations};
use patchwright_text::{Edit, apply_edits};

use crate::generate::Mutant;

/// Compiles the function of each mutant alone and keeps its machine code, to find mutants with equal code.
pub struct Codes {
    compilations: Compilations,
    /// The code of the untouched functions; `None` for one that does not compile by itself.
    untouched: BTreeMap<(PathBuf, String), Option<Code>>,
    /// The code of mutants, by function.
    seen: HashMap<(PathBuf, String), Vec<Code>>,
}

/// The compiler's view of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// Its code is that of the untouched program.
    Same,
    /// Its code is that of an earlier mutant.
    Repeated,
    /// Its code is new.
    New,
    /// It does not compile, and the untouched function does.
    Not,
    /// The untouched function does not compile by itself.
    Unknown,
}

impl Codes {
    /// Prepares to compile mutants in this copy.
    pub fn new(compilations: Compilations) -> Self {
        Codes {
            compilations,
            untouched: BTreeMap::new(),
            seen: HashMap::new(),
        }
    }

    /// Compiles the function of a mutant.
    ///
    /// # Errors
    /// When the compiler cannot be run, or files cannot be written.
    pub fn compile(&mut self, mutant: &Mutant) -> Result<Compiled, RepairError> {
        let key = (mutant.mistake.file.clone(), mutant.mistake.function.clone());
        if !self.untouched.contains_key(&key) {
            let code = self.code(mutant, &mutant.alone)?;
            self.untouched.insert(key.clone(), code);
        }
        let Some(untouched) = self.untouched[&key].clone() else {
            return Ok(Compiled::Unknown);
        };
        let mut edits = mutant.alone.to_vec();
        let at = edits.partition_point(|other| other.span < mutant.mistake.edit.span);
        edits.insert(at, mutant.mistake.edit.clone());
        let Some(code) = self.code(mutant, &edits)? else {
            return Ok(Compiled::Not);
        };
        if code == untouched {
            return Ok(Compiled::Same);
        }
        let seen = self.seen.entry(key).or_default();
        if seen.contains(&code) {
            return Ok(Compiled::Repeated);
        }
        seen.push(code);
        Ok(Compiled::New)
    }

    fn code(&mut self, mutant: &Mutant, edits: &[Edit]) -> Result<Option<Code>, RepairError> {
        let Ok(text) = apply_edits(&mutant.source, edits) else {
            return Ok(None);
        };
        let wanted = Some(&mutant.mistake.function[..]);
        self.compilations.code(&mutant.mistake.file, &text, wanted)
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), RepairError> {
        self.compilations.remove()
    }
}
