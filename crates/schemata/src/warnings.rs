//! Finds many patches at once that give no warnings, where warnings are errors.
//!
//! A compiler that does not optimize looks at each function by itself, and at the whole file only for what nothing in it uses. So patches
//! of different functions are put into one text: where that compiles, each of them does. Where it does not, those at whose lines
//! something is said are taken out. What is taken out has to be compiled by itself.
//!
//! What one patch begins to use, another may have been the last to use. So a patch that brings a name to its function is not asked about
//! here.

use std::collections::BTreeSet;

use patchwright_csource::{Function, lex};
use patchwright_exec::Worker;
use patchwright_text::{Edit, LineMap, Span, apply_edits};
use rustc_hash::FxHashSet;

use crate::compiler::{Compiler, CompilerError, Depth};
use crate::edits::trimmed;
use crate::preprocessed::Preprocessed;

/// Fewer patches are compiled one by one.
const FEWEST: usize = 2;

/// Words that name nothing which the file defines.
const NAMELESS: &[&str] = &[
    "break", "case", "char", "continue", "default", "do", "double", "else", "float", "for", "if",
    "int", "long", "return", "short", "signed", "sizeof", "switch", "unsigned", "void", "while",
];

/// Words in a file that make one function a matter of others, whatever the flags of its compiler are.
const INLINING: &[&str] = &["always_inline", "flatten", "gnu_inline", "optimize"];

/// A patch that changes nothing but bodies of functions.
struct OfBodies {
    /// The caller's number.
    number: usize,
    /// Indices of the functions.
    functions: BTreeSet<usize>,
    /// In order of the text, in bodies.
    edits: Vec<Edit>,
}

impl OfBodies {
    /// `None` for a patch that changes anything else, or brings names.
    fn new(number: usize, source: &[u8], functions: &[Function], edits: &[Edit]) -> Option<Self> {
        let edits: Vec<Edit> = edits
            .iter()
            .filter_map(|edit| trimmed(source, edit))
            .collect();
        let mut own = BTreeSet::new();
        for edit in &edits {
            let is_inside = |function: &Function| {
                let body = function.body_span;
                body.start < edit.span.start && edit.span.end < body.end
            };
            own.insert(functions.iter().position(is_inside)?);
        }
        let brings_none = own.iter().all(|function| {
            let body = functions[*function].body_span;
            let inside = edits.iter().filter(|edit| body.contains_span(edit.span));
            let inside: Vec<Edit> = inside.cloned().collect();
            let before = body.slice(source).unwrap_or_default();
            let after = crate::runs::alternative(source, body, &inside);
            let known: FxHashSet<String> = lex::words(before).into_iter().collect();
            let is_known =
                |word: &String| known.contains(word) || NAMELESS.contains(&word.as_str());
            lex::words(&after).iter().all(is_known)
                && lex::lasting_directives(before) == lex::lasting_directives(&after)
        });
        brings_none.then_some(Self {
            number,
            functions: own,
            edits,
        })
    }
}

/// A source and those of its compilers that are called with warnings as errors.
pub struct Warnings<'a> {
    /// A built copy of the untouched program.
    pub worker: &'a mut Worker,
    /// The compilers.
    pub compilers: Vec<&'a Compiler>,
    /// The file.
    pub source: &'a [u8],
    /// Its functions.
    pub functions: &'a [Function],
    /// The count to which calls of the compiler are added.
    pub compilations: &'a mut usize,
}

impl Warnings<'_> {
    /// Returns those of these patches, by number, that surely compile.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn give_none<'p>(
        &mut self,
        patches: impl Iterator<Item = (usize, &'p [Edit])>,
    ) -> Result<FxHashSet<usize>, CompilerError> {
        let mut found = FxHashSet::default();
        let (source, functions) = (self.source, self.functions);
        let patches =
            patches.filter_map(|(number, edits)| OfBodies::new(number, source, functions, edits));
        let groups = of_different_functions(patches);
        if groups.iter().all(|group| group.len() < FEWEST) || !self.are_separate()? {
            return Ok(found);
        }
        for group in groups {
            self.ask(group, &mut found)?;
        }
        Ok(found)
    }

    /// Whether the compilers look at each function by itself.
    fn are_separate(&mut self) -> Result<bool, CompilerError> {
        for compiler in &self.compilers {
            *self.compilations += 1;
            let Some(text) = compiler.preprocess(self.worker, self.source)? else {
                return Ok(false);
            };
            let text = Preprocessed::read(&text);
            let own = text.own.values().map(String::as_str);
            let mut words = own
                .chain(std::iter::once(text.project.as_str()))
                .flat_map(|text| lex::words(text.as_bytes()));
            if words.any(|word| INLINING.contains(&word.trim_matches('_'))) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts into `found` those of a group that surely compile.
    fn ask(
        &mut self,
        mut group: Vec<OfBodies>,
        found: &mut FxHashSet<usize>,
    ) -> Result<(), CompilerError> {
        while group.len() >= FEWEST {
            let mut edits: Vec<Edit> = group.iter().flat_map(|patch| patch.edits.clone()).collect();
            edits.sort_by_key(|edit| edit.span);
            let Ok(text) = apply_edits(self.source, &edits) else {
                return Ok(());
            };
            let lines = Lines::new(self.source, self.functions, &edits, &text);
            let (mut culprits, mut is_elsewhere) = (FxHashSet::default(), false);
            for compiler in &self.compilers {
                *self.compilations += 1;
                let said = compiler.check(self.worker, &text, Depth::Full)?;
                for said in said.iter().filter(|said| said.is_error) {
                    let function = said.line.and_then(|line| lines.function_at(line));
                    let culprit = function.and_then(|function| {
                        group
                            .iter()
                            .position(|patch| patch.functions.contains(&function))
                    });
                    match culprit {
                        Some(culprit) => _ = culprits.insert(group[culprit].number),
                        None => is_elsewhere = true,
                    }
                }
            }
            if culprits.is_empty() && !is_elsewhere {
                found.extend(group.iter().map(|patch| patch.number));
                return Ok(());
            }
            if culprits.is_empty() {
                // It is about what nothing uses any more: halves tell more.
                let second = group.split_off(group.len() / 2);
                self.ask(second, found)?;
            } else {
                group.retain(|patch| !culprits.contains(&patch.number));
            }
        }
        Ok(())
    }
}

/// Where the functions of a patched text stand.
struct Lines {
    /// The first line of each body and its last.
    bodies: Vec<(u32, u32)>,
}

impl Lines {
    fn new(source: &[u8], functions: &[Function], edits: &[Edit], text: &[u8]) -> Self {
        let lines = LineMap::new(text);
        debug_assert!(edits.is_sorted_by_key(|edit| edit.span));
        let moved = |offset: u32| {
            let before = edits.iter().take_while(|edit| edit.span.end <= offset);
            let by: i64 = before
                .map(|edit| edit.text.len() as i64 - i64::from(edit.span.len()))
                .sum();
            u32::try_from(i64::from(offset.min(source.len() as u32)) + by).unwrap_or(0)
        };
        let line_of = |offset: u32| lines.line(moved(offset));
        let body = |function: &Function| {
            let Span { start, end } = function.body_span;
            (line_of(start), line_of(end.saturating_sub(1)))
        };
        Self {
            bodies: functions.iter().map(body).collect(),
        }
    }

    /// The function in whose body a line is, if it is in one alone.
    fn function_at(&self, line: u32) -> Option<usize> {
        let is_there = |(first, last): &(u32, u32)| (*first..=*last).contains(&line);
        let mut there = self.bodies.iter().enumerate();
        let (function, _) = there.find(|(_, body)| is_there(body))?;
        there.all(|(_, body)| !is_there(body)).then_some(function)
    }
}

/// Puts each patch into the first group in which nobody changes its functions.
fn of_different_functions(patches: impl Iterator<Item = OfBodies>) -> Vec<Vec<OfBodies>> {
    let mut groups: Vec<(BTreeSet<usize>, Vec<OfBodies>)> = Vec::new();
    for patch in patches {
        let free = groups
            .iter()
            .position(|(taken, _)| taken.is_disjoint(&patch.functions));
        let place = free.unwrap_or_else(|| {
            groups.push(Default::default());
            groups.len() - 1
        });
        let (taken, group) = &mut groups[place];
        taken.extend(&patch.functions);
        group.push(patch);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
