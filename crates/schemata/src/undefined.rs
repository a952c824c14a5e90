//! Patched functions whose behaviour C may not define: what they do in a woven program says nothing about their own build.
//!
//! A variable without a value holds what the stack happens to hold, and a function that ends without its value gives what a register
//! happens to hold; a woven function has another stack and other registers. The compiler's flow analysis sees both in the text.
//! What it says of the untouched function too is no reason: that is there in every build.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{Clang, Function, ParseError};
use patchwright_exec::{CompileCommand, Worker, files};

use crate::EngineError;
use crate::isolate::{AT_ONCE, Clone, cloned};

/// Asks clang about clones.
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
    /// Which of the clones `wanted`, all of which compile, may do what C does not define, with the first thing that is said.
    ///
    /// # Errors
    /// Processes and files that fail. Of a clone that clang does not accept nothing is said.
    pub fn find(&mut self, wanted: &[usize]) -> Result<BTreeMap<usize, String>, EngineError> {
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
