//! Finds patched functions whose behaviour C may not define, so that woven programs say nothing about
//! their own builds.
//!
//! A variable without a value holds whatever the stack holds. A function that ends without its value returns whatever a register
//! holds. A woven function has another stack and other registers. The compiler's flow analysis warns of both; warnings that
//! it also gives for the untouched function do not count. It misses pointers to `const` that are passed on, elements, members, memory,
//! results of calls, and conditions that no longer agree. Crate `definite` sees these, and has the last word.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{Clang, Function, ParseError};
use patchwright_definite::Analysis;
use patchwright_exec::{CompileCommand, Worker, files};

use crate::EngineError;
use crate::isolate::{AT_ONCE, CLONE, Clone, clone_name, cloned};

/// Patched functions with so much text are read at once: the compiler's tree of a text is some hundred times as large.
const TEXT_AT_ONCE: usize = 200 << 10;

/// Or with one part in so many of the text of their file, which is read with them each time.
const SHARE_OF_FILE: usize = 4;

/// Doubts about a clone: undefined behaviour, or behaviour that a build of its own might not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suspicion {
    /// What C does not define and the clone may do.
    pub doubt: Option<String>,
    /// Whether it may behave differently in a build of its own. Either not all of it is understood, or it accesses arrays of its frame
    /// at other places than the untouched function.
    pub is_unknown: bool,
    /// Whether a sanitizer of unwritten memory would miss the doubt, so that executions do not clear it.
    pub is_hidden: bool,
}

impl Suspicion {
    /// Stands for a clone that the analysis could not read: nothing is known of it, so executions must not clear it.
    pub const NOT_READ: Suspicion = Suspicion {
        doubt: None,
        is_unknown: true,
        is_hidden: true,
    };

    /// Adds the suspicion of another function of the same patch.
    pub fn add(&mut self, other: &Suspicion) {
        if self.doubt.is_none() {
            self.doubt.clone_from(&other.doubt);
        }
        self.is_unknown |= other.is_unknown;
        self.is_hidden |= other.is_hidden;
    }
}

/// Looks for undefined behaviour in the clones of a source.
pub struct Doubts<'a> {
    /// A built copy of the untouched program.
    pub worker: &'a mut Worker,
    /// Reads C.
    pub clang: &'a Clang,
    /// How the file is compiled.
    pub command: &'a CompileCommand,
    /// Where it lies in the copy.
    pub host: &'a std::path::Path,
    /// The file.
    pub source: &'a [u8],
    /// Its functions.
    pub functions: &'a [Function],
    /// The clones.
    pub clones: &'a [Clone],
}

impl Doubts<'_> {
    /// Returns the suspicions of the clones `wanted`, all of which compile. Most have none.
    ///
    /// # Errors
    /// Processes and files that fail.
    pub fn find(&mut self, wanted: &[usize]) -> Result<BTreeMap<usize, Suspicion>, EngineError> {
        let mut found = self.analysed(wanted)?;
        for (clone, message) in self.warned_of(wanted)? {
            let suspicion: &mut Suspicion = found.entry(clone).or_default();
            suspicion.doubt.get_or_insert(message);
        }
        Ok(found)
    }

    /// What the analysis of definite values says.
    fn analysed(&mut self, wanted: &[usize]) -> Result<BTreeMap<usize, Suspicion>, EngineError> {
        let mut found = BTreeMap::new();
        let mut open: Vec<&[usize]> = Vec::new();
        let (mut from, mut size) = (0, 0);
        let most = TEXT_AT_ONCE.max(self.source.len() / SHARE_OF_FILE);
        for (at, &clone) in wanted.iter().enumerate() {
            size += self.clones[clone].body.len();
            if size > most {
                open.push(&wanted[from..at]);
                (from, size) = (at, self.clones[clone].body.len());
            }
        }
        open.push(&wanted[from..]);
        open.reverse();
        while let Some(chunk) = open.pop() {
            if chunk.is_empty() {
                continue;
            }
            let bodies = chunk.iter().map(|&clone| {
                let clone = &self.clones[clone];
                Clone::of_body(clone.function, clone.body.clone(), 1)
            });
            let bodies: Vec<Clone> = bodies.collect();
            let numbers: Vec<usize> = (0..bodies.len()).collect();
            let with = cloned(self.source, self.functions, &bodies, &numbers, false);
            let Some(analysis) = self.analysis(with.text)? else {
                match chunk {
                    // It has what only the project's compiler knows.
                    [clone] => {
                        found.entry(*clone).or_insert(Suspicion::NOT_READ);
                    }
                    _ => {
                        let (first, second) = chunk.split_at(chunk.len() / 2);
                        open.extend([second, first]);
                    }
                }
                continue;
            };
            for (number, &clone) in chunk.iter().enumerate() {
                let function = &self.functions[self.clones[clone].function].name;
                let compared = analysis.doubt_of_clone(function, &clone_name(number));
                let suspicion = match compared {
                    None => Suspicion::NOT_READ,
                    Some(compared) => Suspicion {
                        doubt: compared
                            .doubt
                            .map(|doubt| format!("in `{}`, {}", doubt.function, doubt.text)),
                        is_unknown: compared.indexes_otherwise || !compared.is_whole,
                        is_hidden: compared.lacks_arguments,
                    },
                };
                if suspicion != Suspicion::default() {
                    found.insert(clone, suspicion);
                }
            }
        }
        Ok(found)
    }

    /// What is known of a text in the file's place; `None` if clang does not accept it. The file is put back.
    fn analysis(&mut self, text: Vec<u8>) -> Result<Option<Analysis>, EngineError> {
        let exchanged = files::Exchanged::put(self.host, &text)?;
        let unit =
            patchwright_csource::parse(self.clang, &mut self.worker.runner, self.command, text);
        exchanged.put_back()?;
        match unit {
            Ok(unit) => {
                let path = self.command.file.to_string_lossy();
                let is_clone = |name: &str| name.starts_with(CLONE);
                Ok(Some(Analysis::with_clones(&unit, &path, is_clone)))
            }
            Err(ParseError::Run(error)) => Err(error.into()),
            Err(error) => {
                tracing::info!("{error}");
                Ok(None)
            }
        }
    }

    /// Returns the suspicion of a patched source, or `None` if it cannot be read. `untouched` keeps
    /// the analysis of the untouched source once it is needed.
    ///
    /// # Errors
    /// Processes and files that fail.
    pub fn of_file(
        &mut self,
        patched: Vec<u8>,
        untouched: &mut Option<Analysis>,
    ) -> Result<Option<Suspicion>, EngineError> {
        if untouched.is_none() {
            *untouched = self.analysis(self.source.to_vec())?;
        }
        let patched = self.analysis(patched)?;
        let Some((untouched, patched)) = untouched.as_ref().zip(patched) else {
            return Ok(None);
        };
        let doubts = untouched.doubts(&patched);
        let doubt = doubts.first();
        Ok(Some(Suspicion {
            doubt: doubt.map(|doubt| format!("in `{}`, {}", doubt.function, doubt.text)),
            is_unknown: false,
            is_hidden: patched.lacks_arguments(),
        }))
    }

    /// What clang warns of, the first message for each clone. Of a clone that clang does not accept nothing is said.
    fn warned_of(&mut self, wanted: &[usize]) -> Result<BTreeMap<usize, String>, EngineError> {
        let mut found = BTreeMap::new();
        let mut open: Vec<&[usize]> = wanted.chunks(AT_ONCE).collect();
        while let Some(chunk) = open.pop() {
            let clones = &self.clones;
            let patched: BTreeSet<usize> =
                chunk.iter().map(|&clone| clones[clone].function).collect();
            // The untouched functions, under another name like the others.
            let untouched = patched.into_iter().map(|function| {
                let body = self.functions[function].body_span.slice(self.source);
                Clone::of_body(function, body.unwrap_or_default().to_vec(), 1)
            });
            let patched = chunk.iter().map(|&clone| {
                let clone = &clones[clone];
                Clone::of_body(clone.function, clone.body.clone(), 1)
            });
            let all: Vec<Clone> = patched.chain(untouched).collect();
            let numbers: Vec<usize> = (0..all.len()).collect();
            let with = cloned(self.source, self.functions, &all, &numbers, false);
            let Some(said) = self.said(&with.text)? else {
                // One of them has what only the project's compiler knows; of the others something can be said.
                if chunk.len() > 1 {
                    let (first, second) = chunk.split_at(chunk.len() / 2);
                    open.extend([second, first]);
                }
                continue;
            };
            let mut known: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
            let mut of_clones: Vec<(usize, &str)> = Vec::new();
            for (line, message) in &said {
                let place = with.lines.partition_point(|(_, first, _)| first <= line);
                let Some(&(number, _, behind)) = with.lines[..place].last() else {
                    continue;
                };
                if *line >= behind {
                    continue;
                }
                match chunk.get(number) {
                    Some(&clone) => of_clones.push((clone, message)),
                    None => {
                        known
                            .entry(all[number].function)
                            .or_default()
                            .insert(message);
                    }
                }
            }
            for (clone, message) in of_clones {
                let of_untouched = known.get(&self.clones[clone].function);
                if !of_untouched.is_some_and(|known| known.contains(message)) {
                    found.entry(clone).or_insert_with(|| message.to_owned());
                }
            }
        }
        Ok(found)
    }

    /// What clang's flow analysis says of a text in the file's place: lines and messages; `None` if clang does not accept it. The file
    /// is put back.
    fn said(&mut self, text: &[u8]) -> Result<Option<Vec<(u32, String)>>, EngineError> {
        let exchanged = files::Exchanged::put(self.host, text)?;
        let said = self
            .clang
            .undefined_flow(&mut self.worker.runner, self.command);
        exchanged.put_back()?;
        match said {
            Ok(said) => Ok(Some(said)),
            Err(ParseError::Run(error)) => Err(error.into()),
            Err(error) => {
                tracing::info!("{error}");
                Ok(None)
            }
        }
    }
}
