//! The changes of a planned patch in a source file: edits in bodies of functions, and additions outside
//! of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use patchwright_csource::{
    Function, TranslationUnit, lex, types::TypeKind, variants::is_same_function,
};
use patchwright_exec::CompileCommand;
use patchwright_text::{Edit, LineMap, Span};

use crate::Apart;
use crate::compiler::Compiler;
use crate::edits::{is_blank, trimmed};
use crate::known_names::KnownNames;
use crate::outside::{self, Addition, Brought};
use crate::undefined::Suspicion;
use crate::{replacements, slid};

/// A source file that patches change.
pub struct SourceFile {
    /// Relative to the project's root.
    pub relative: PathBuf,
    /// The sources that include it, if no command compiles it by itself.
    pub includers: Vec<PathBuf>,
    /// How it is compiled, as programs in the sandbox see it.
    pub command: CompileCommand,
    /// The project's compiler.
    pub compiler: Compiler,
    /// What is known of it.
    pub unit: TranslationUnit,
    /// The other ways in which the build compiles it, with other macros or flags.
    pub others: Others,
    /// Its lines.
    pub lines: LineMap,
    /// The lines that say on which line they stand (`__LINE__`, `assert`); `None` when the preprocessor does not tell.
    pub telling_lines: Option<Vec<u32>>,
    /// What the compiler makes of a floating calculation depends on what stands round it: products and sums become one operation, or
    /// intermediate values have more digits.
    pub rounds_by_surroundings: bool,
    /// The names in each way, in the order of [`SourceFile::compilers`], once they are needed.
    pub names: Option<Vec<KnownNames>>,
    /// The stretches that the compiler leaves out, once they are needed.
    pub left_out: Option<Vec<Span>>,
}

/// The other ways in which a source is compiled. The woven text is the same for all, so patches are
/// checked in each way.
#[derive(Default)]
pub struct Others {
    /// The commands, and their compilers.
    pub compilers: Vec<(CompileCommand, Compiler)>,
    /// Trees that are not that of [`SourceFile::unit`]: there are no more than commands.
    pub units: Vec<TranslationUnit>,
}

impl Others {
    /// Whether the source is compiled in one way only.
    pub fn are_none(&self) -> bool {
        self.compilers.is_empty()
    }
}

impl SourceFile {
    /// Returns a function as each way has it, that of [`SourceFile::unit`] first. Ways without the
    /// function are left out.
    pub fn in_ways(&self, function: usize) -> Vec<(&TranslationUnit, &Function)> {
        let own = &self.unit.functions[function];
        let others = self.others.units.iter().filter_map(|unit| {
            let mut functions = unit.functions.iter();
            let same = functions.find(|other| is_same_function(own, other))?;
            Some((unit, same))
        });
        std::iter::once((&self.unit, own)).chain(others).collect()
    }

    /// Returns all compile commands with their compilers.
    pub fn compilers(&self) -> impl Iterator<Item = (&CompileCommand, &Compiler)> {
        let others = self.others.compilers.iter();
        std::iter::once((&self.command, &self.compiler))
            .chain(others.map(|(command, compiler)| (command, compiler)))
    }

    /// Whether warnings are errors in at least one way.
    pub fn warnings_are_errors(&self) -> bool {
        let mut compilers = self.compilers();
        compilers.any(|(_, compiler)| compiler.warnings_are_errors())
    }

    /// Whether a function has floating values, before or after these edits, in some way.
    fn calculates(&self, own: &FunctionEdits) -> bool {
        let said = own.edits.iter().flat_map(|edit| lex::words(&edit.text));
        let mut said = said.filter(|word| matches!(word.as_str(), "float" | "double"));
        let mut ways = self.in_ways(own.function).into_iter();
        let is_floating = ways.any(|(unit, function)| {
            let types = function.exprs.iter().map(|expr| expr.ty);
            let mut kinds = types.map(|ty| unit.types.kind(ty));
            kinds.any(|kind| matches!(kind, TypeKind::Float(_)))
        });
        is_floating || said.next().is_some()
    }
}

/// The edits of a patch in one function.
#[derive(Clone, Debug)]
pub struct FunctionEdits {
    /// Index of the function in its unit.
    pub function: usize,
    /// The edits, sorted.
    pub edits: Vec<Edit>,
}

/// The edits of a patch in one file.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// Index among the sources.
    pub file: usize,
    /// Edits by function, in order of the text.
    pub functions: Vec<FunctionEdits>,
    /// What is added outside of functions, in order of the text.
    pub additions: Vec<Addition>,
    /// The names in [`PlannedFile::additions`] that are known in the file.
    pub replaced: BTreeSet<String>,
    /// For each edit of the file, sorted: where it ends in the original, and how many lines it adds.
    pub added_lines: Vec<(u32, i64)>,
}

impl PlannedFile {
    /// Makes an empty list of edits for the source with this index.
    pub fn new(file: usize) -> Self {
        PlannedFile {
            file,
            functions: Vec::new(),
            additions: Vec::new(),
            replaced: BTreeSet::new(),
            added_lines: Vec::new(),
        }
    }

    /// Returns how many lines the patch adds before an offset of the original.
    pub fn lines_before(&self, offset: u32) -> i64 {
        self.added_lines
            .iter()
            .filter(|(end, _)| *end <= offset)
            .map(|(_, lines)| lines)
            .sum()
    }

    /// The line of the patched file on which an offset of the original stands.
    fn patched_line(&self, source: &SourceFile, offset: u32) -> u32 {
        let line = i64::from(source.lines.line(offset)) + self.lines_before(offset);
        u32::try_from(line).unwrap_or(1)
    }

    /// Text behind added or removed lines that says on which line it stands is another one in the patched file, though it
    /// is written in the same way. It becomes an alternative of its own.
    fn tell_other_lines(&mut self, source: &SourceFile, edits: &[Edit]) -> Result<(), Apart> {
        if self.added_lines.iter().all(|(_, lines)| *lines == 0) {
            return Ok(());
        }
        let telling = source.telling_lines.as_ref().ok_or(Apart::LineNumbers)?;
        let base = &source.unit.source;
        for span in telling
            .iter()
            .filter_map(|line| source.lines.line_span(*line))
        {
            if self.lines_before(span.start) == 0 {
                continue;
            }
            let text = span.slice(base).unwrap_or_default();
            let blanks = text.len() - text.trim_ascii_start().len();
            let span = Span::new(
                span.start + blanks as u32,
                span.start + text.trim_ascii_end().len() as u32,
            );
            if edits.iter().any(|edit| edit.span.contains_span(span)) {
                continue;
            }
            let is_cut = edits.iter().any(|edit| edit.span.overlaps(span));
            let function = in_body(&source.unit.functions, span).filter(|_| !is_cut);
            let function = function.ok_or(Apart::LineNumbers)?;
            // Other names of what the patch defines otherwise.
            let own = self
                .functions
                .iter_mut()
                .find(|own| own.function == function);
            let mut inside = Vec::new();
            if let Some(own) = own {
                if own
                    .edits
                    .iter()
                    .any(|edit| edit.span.overlaps(span) && !span.contains_span(edit.span))
                {
                    return Err(Apart::LineNumbers);
                }
                inside.extend(
                    own.edits
                        .extract_if(.., |edit| span.contains_span(edit.span)),
                );
            }
            let text = crate::runs::alternative(base, span, &inside);
            self.edit(function, Edit::replace(span, text));
        }
        Ok(())
    }

    /// Returns an error if a changed function cannot be woven.
    pub fn refuse(&self, source: &SourceFile) -> Result<(), Apart> {
        let functions = &source.unit.functions;
        let is_known = |own: &FunctionEdits| {
            source.in_ways(own.function).len() == source.others.units.len() + 1
        };
        if !self.functions.iter().all(is_known) {
            return Err(Apart::CompiledTwice);
        }
        for own in &self.functions {
            if let Some(refusal) = functions[own.function].refusal {
                return Err(Apart::Function(refusal));
            }
            if source.rounds_by_surroundings && source.calculates(own) {
                return Err(Apart::Rounding);
            }
        }
        for own in &self.functions {
            let body = functions[own.function].body_span;
            let text = crate::runs::alternative(&source.unit.source, body, &own.edits);
            let inside = Span::new(1, text.len() as u32 - 1);
            let inside = inside.slice(&text).unwrap_or_default();
            if !lex::is_balanced_in_branches(inside) {
                return Err(Apart::Unbalanced);
            }
            match patchwright_weave::can_duplicate(&text) {
                Ok(()) => {}
                Err(patchwright_weave::Refusal::UnbalancedConditionals) => {
                    return Err(Apart::Unbalanced);
                }
                Err(_) => return Err(Apart::NotTwice),
            }
        }
        Ok(())
    }

    /// Adds an edit in a function. Edits stay in order.
    pub fn edit(&mut self, function: usize, edit: Edit) {
        let number = self
            .functions
            .partition_point(|own| own.function < function);
        if self
            .functions
            .get(number)
            .is_none_or(|own| own.function != function)
        {
            let edits = Vec::new();
            self.functions
                .insert(number, FunctionEdits { function, edits });
        }
        let edits = &mut self.functions[number].edits;
        let place = edits.partition_point(|own| own.span <= edit.span);
        edits.insert(place, edit);
    }
}

/// A patch that can be woven.
#[derive(Clone, Debug)]
pub struct PlannedPatch {
    /// Its index in the set.
    pub patch: usize,
    /// What it changes.
    pub files: Vec<PlannedFile>,
    /// What it adds outside of functions.
    pub brought: Brought,
    /// What C does not define in the patch's functions. Woven, they may do something else than in a build of their own, which
    /// matters in tests that reach them. The value also says whether anything is known about that.
    pub suspicion: Suspicion,
}

impl PlannedPatch {
    /// Makes the plan of the patch with this index, without changes.
    pub fn new(patch: usize) -> Self {
        PlannedPatch {
            patch,
            files: Vec::new(),
            brought: Brought::default(),
            suspicion: Suspicion::default(),
        }
    }

    /// Whether the patch adds anything outside of functions.
    pub fn adds(&self) -> bool {
        self.files.iter().any(|file| !file.additions.is_empty())
    }

    /// Whether the patch adds or changes functions or macros. Its changes of variables and types do
    /// not leave anything without a value.
    pub fn may_define_otherwise(&self) -> bool {
        let mut additions = self.files.iter().flat_map(|file| &file.additions);
        additions.any(|addition| addition.text.iter().any(|byte| b"(#".contains(byte)))
    }

    /// Returns all texts that the patch adds.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| {
            let functions = file.functions.iter().flat_map(|function| &function.edits);
            let edits = functions.map(|edit| edit.text.as_slice());
            edits.chain(
                file.additions
                    .iter()
                    .map(|addition| addition.text.as_slice()),
            )
        })
    }
}

/// Sorts the edits of a patch in one file by function. It is `None` if only blanks and comments change.
pub fn planned_file(
    file: usize,
    source: &SourceFile,
    edits: &[Edit],
) -> Result<Option<PlannedFile>, Apart> {
    let base = &source.unit.source;
    let functions = &source.unit.functions;
    let mut planned = PlannedFile::new(file);
    let edits = edits.iter().filter_map(|edit| trimmed(base, edit));
    let edits = slid::put_right(base, functions, edits.collect());
    if edits
        .windows(2)
        .any(|pair| pair[1].span.start < pair[0].span.end)
    {
        // An edit was moved across another one.
        return Err(Apart::Unbalanced);
    }
    let newlines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() as i64;
    // Definitions that are changed otherwise than in a function's body, with all edits in them.
    let mut changed: BTreeMap<Span, Vec<Edit>> = BTreeMap::new();
    for edit in &edits {
        let (at, old) = (edit.span, edit.span.slice(base).unwrap_or_default());
        let lines = newlines(&edit.text) - newlines(old);
        planned.added_lines.push((at.end, lines));
        if in_body(functions, at).is_some()
            || is_blank(old) && is_blank(&edit.text)
            || is_blank(old) && outside::is_between_items(base, functions, at.start)
        {
            continue;
        }
        let definition = outside::definition_at(base, functions, at);
        changed
            .entry(definition.ok_or_else(|| changed_outside(source, at))?)
            .or_default();
    }
    for edit in &edits {
        let at = edit.span;
        if let Some((_, own)) = changed.iter_mut().find(|(span, _)| span.contains_span(at)) {
            own.push(edit.clone());
            continue;
        }
        let Some(function) = in_body(functions, at) else {
            if !is_blank(&edit.text) || !is_blank(at.slice(base).unwrap_or_default()) {
                planned.additions.push(Addition {
                    offset: at.start,
                    text: edit.text.clone(),
                    line: planned.patched_line(source, at.start),
                });
            }
            continue;
        };
        planned.edit(function, edit.clone());
    }
    let mut uses = Vec::new();
    let all = &edits;
    for (&span, edits) in &changed {
        let text = crate::runs::alternative(base, span, edits);
        let replacement = replacements::replacement(base, functions, span, text);
        let mut replacement = replacement.ok_or_else(|| changed_outside(source, span))?;
        // A name that is defined no more, and that the patch leaves where it is mentioned, or asked for with `#ifdef`.
        let is_left = |at: &Span| {
            !all.iter().any(|edit| edit.span.contains_span(*at))
                && !changed.keys().any(|span| span.contains_span(*at))
        };
        if replacement.orphans.iter().any(is_left) {
            return Err(changed_outside(source, span));
        }
        planned.additions.push(Addition {
            offset: span.start,
            text: replacement.text,
            line: planned.patched_line(source, span.start),
        });
        planned.replaced.append(&mut replacement.names);
        uses.append(&mut replacement.uses);
    }
    for used in uses {
        // What the patch writes anew has its other names anyhow.
        let anew = edits.iter().any(|edit| edit.span.overlaps(used.span))
            || changed.keys().any(|span| span.contains_span(used.span));
        if let (Some(function), false) = (in_body(functions, used.span), anew) {
            planned.edit(function, used);
        }
    }
    planned.tell_other_lines(source, &edits)?;
    planned.refuse(source)?;
    let changes = !planned.functions.is_empty() || !planned.additions.is_empty();
    Ok(changes.then_some(planned))
}

/// What is changed at a place outside of the bodies of functions, as a reason to build a patch by itself.
fn changed_outside(source: &SourceFile, at: Span) -> Apart {
    let unit = &source.unit;
    Apart::OutsideOfFunctions(outside::what_is_at(&unit.source, &unit.functions, at))
}

/// Returns the function in whose body, between the braces, `at` lies.
pub fn in_body(functions: &[Function], at: Span) -> Option<usize> {
    functions.iter().position(|function| {
        let body = function.body_span;
        body.start < at.start && at.end < body.end
            || at.is_empty() && body.start < at.start && at.start < body.end
    })
}
