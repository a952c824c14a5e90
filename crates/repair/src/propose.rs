//! What is going to be verified, and in which order: no candidate twice, and none that changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Function};
use patchwright_exec::Project;
use patchwright_space::Schema;
use patchwright_text::{Edit, apply_edits, unified_diff};

use crate::{
    RepairError, RepairOptions, Surroundings,
    equivalence::{Code, Compilations, alone},
    found::{Found, FoundClass},
    instrument::Instrumented,
    prepare::Prepared,
};

/// A plausible candidate, ready to be verified.
pub(crate) struct Proposal<'a> {
    pub(crate) class: usize,
    pub(crate) found: &'a FoundClass,
    pub(crate) edit: &'a Edit,
    pub(crate) schema: Schema,
    /// Its place in the class.
    pub(crate) member: usize,
    /// See [`Comparisons::adds_one`].
    is_familiar: bool,
    /// See [`repeats_operand`].
    repeats: bool,
    /// Bytes of the text that it takes away and adds.
    text_change: usize,
    /// It takes a statement out, or memory is not freed any more.
    is_removal: bool,
    /// Enough candidates before it differ from it in a number only, or are of the same location.
    is_crowd: bool,
}

/// So many members of a class are compiled, to see how many programs they are.
const MEMBERS_COMPILED: usize = 6;

/// So many texts are compiled at most for that, over all classes.
const MOST_COMPILED: usize = 300;

/// So many candidates that differ in a number only are reported before all others: which of them is right nobody can tell, and
/// they would leave no room for anything else.
const NUMBERS_REPORTED: usize = 2;

/// So many of one location are reported before those of other locations.
const PATCHES_OF_LOCATION: usize = 4;

/// Most patches of one class in a report that has room for other classes.
const MEMBERS_REPORTED: usize = 4;

/// Whether the edit makes `x = x` of an assignment to a variable: nobody wants to read that.
fn is_self_assignment(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let Some(target) = before.strip_suffix(b"=") else {
        return false;
    };
    if target.ends_with(b"=") || target.last().is_some_and(|c| b"!<>+-*/%&|^".contains(c)) {
        return false;
    }
    let value = edit.text.trim_ascii();
    match target.trim_ascii_end().strip_suffix(value) {
        Some(rest) => !rest
            .last()
            .is_some_and(|c| c.is_ascii_alphanumeric() || b"_.>*".contains(c)),
        None => false,
    }
}

/// Whether a candidate takes a statement out, or keeps memory from being freed.
pub(crate) fn is_removal(source: &[u8], edit: &Edit, schema: Schema) -> bool {
    schema == Schema::Deletion || schema != Schema::Move && keeps_from_freeing(source, edit)
}

/// Whether the edit keeps memory from being freed, as `free(0)`, `free(p ? NULL : p)` and `atoi(p)` in place of `free(p)` do: that lets
/// tests pass in which it is used later, and is hardly ever meant.
fn keeps_from_freeing(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let after = &source[edit.span.start as usize..];
    let begins_name = |before: &[u8]| {
        let last = before.last();
        !last.is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_')
    };
    let argument = before.strip_suffix(b"(").map(<[u8]>::trim_ascii_end);
    let is_argument = argument
        .and_then(|text| text.strip_suffix(b"free"))
        .is_some_and(begins_name);
    let called = after.strip_prefix(b"free").map(<[u8]>::trim_ascii_start);
    let is_call = called.is_some_and(|rest| rest.starts_with(b"(")) && begins_name(before);
    let mut words = edit
        .text
        .split(|c| !c.is_ascii_alphanumeric() && *c != b'_');
    let has_null = words.any(|word| matches!(word, b"0" | b"NULL"));
    is_argument && has_null || is_call && !edit.text.starts_with(b"free")
}

/// Bytes that differ between two texts, between what they begin and end with alike.
fn text_change(before: &[u8], after: &[u8]) -> usize {
    let alike =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let shorter = before.len().min(after.len());
    let start = alike(&mut before.iter().zip(after));
    let end = alike(&mut before.iter().rev().zip(after.iter().rev())).min(shorter - start);
    before.len() + after.len() - 2 * (start + end)
}

/// The comparisons of a function and their negations: texts without blanks.
struct Comparisons(BTreeSet<Vec<u8>>);

impl Comparisons {
    fn of(source: &[u8], function: &Function) -> Self {
        let text = |id: ExprId| {
            let span = function.expr(function.stripped(id)).place.editable()?;
            Some(without_blanks(&source[span.range()]))
        };
        let mut found = BTreeSet::new();
        for expr in &function.exprs {
            if let ExprKind::Binary {
                operator,
                left,
                right,
            } = &expr.kind
                && let Some(operators) = with_negation(*operator)
                && let (Some(left), Some(right)) = (text(*left), text(*right))
            {
                found.extend(operators.map(|op| [&left[..], op.as_bytes(), &right[..]].concat()));
            }
        }
        Comparisons(found)
    }

    /// Whether `after` has a comparison that the function has elsewhere, perhaps negated, and `before` has not: `c != '*'` where
    /// it asks for `c == '*'`, too. Of conditions that no test tells apart, it is the likelier one.
    fn adds_one(&self, before: &[u8], after: &[u8]) -> bool {
        let (before, after) = (without_blanks(before), without_blanks(after));
        let in_word =
            |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let has = |text: &[u8], wanted: &[u8]| {
            text.windows(wanted.len()).enumerate().any(|(at, found)| {
                let before = at.checked_sub(1).and_then(|at| text.get(at));
                found == wanted && !in_word(before) && !in_word(text.get(at + wanted.len()))
            })
        };
        let mut known = self.0.iter();
        known.any(|comparison| has(&after, comparison) && !has(&before, comparison))
    }
}

/// Whether an operator has one name on both sides, or a call has one name as two arguments in a row: `from + from` does what
/// `from + stay` does in tests where both are alike, and is rarely meant, as `strcmp(b, b)`.
fn repeats_operand(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    if repeats_argument(&text) {
        return true;
    }
    let tokens: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_operator = |text: &str| text.chars().all(|c| "+-*/%<>=!&|^".contains(c));
    let joins = |text: &str| matches!(text, "&&" | "||" | "=");
    tokens.windows(3).enumerate().any(|(at, three)| {
        let [left, operator, right] = three else {
            return false;
        };
        // In `a + b > b` it is not `b` that is compared.
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let is_whole = before.is_none_or(|before| joins(before) || !is_operator(before));
        let left = left.trim_start_matches(['(', '!']);
        let right = right.trim_end_matches([')', ';', ',']);
        let is_name = left.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_whole && is_name && left == right && is_operator(operator) && !joins(operator)
    })
}

/// Whether a list has one name twice in a row.
fn repeats_argument(text: &str) -> bool {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.->".contains(c))
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    parts.windows(2).any(|two| {
        let left = two[0].rsplit('(').next().unwrap_or_default();
        let right = two[1].split(')').next().unwrap_or_default();
        is_name(left) && left == right
    })
}

/// A text with `#` in the place of each number and each character: what is alike but for a constant.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::with_capacity(text.len());
    let mut in_word = false;
    let mut rest = text.iter().enumerate();
    while let Some((at, &byte)) = rest.next() {
        if byte == b'\'' {
            let escaped = usize::from(text.get(at + 1) == Some(&b'\\'));
            let end = text[(at + 2 + escaped).min(text.len())..]
                .iter()
                .position(|byte| *byte == b'\'');
            if let Some(end) = end {
                kept.push(b'#');
                in_word = false;
                rest.nth(1 + escaped + end);
                continue;
            }
        }
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        match (in_word, byte.is_ascii_digit()) {
            (false, true) => kept.push(b'#'),
            (true, _) if is_word && kept.last() == Some(&b'#') => {}
            _ => kept.push(byte),
        }
        in_word = is_word;
    }
    kept
}

/// A comparing operator and its negation.
fn with_negation(operator: BinaryOperator) -> Option<[&'static str; 2]> {
    use BinaryOperator::*;
    Some(match operator {
        Eq | Ne => ["==", "!="],
        Lt | Ge => ["<", ">="],
        Gt | Le => [">", "<="],
        _ => return None,
    })
}

fn without_blanks(text: &[u8]) -> Vec<u8> {
    let kept = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    kept.copied().collect()
}

/// The order of the report: cost; less drastic changes before more drastic ones (moved statements after what changes
/// values, exits after these); what people rarely change after what they do (numbers as conditions, signs, casts); the
/// first of each class before the others, and for that what compares things that the function compares elsewhere, and what keeps a condition
/// and adds to it; such comparisons before
/// others; what calculates with two variables before what calculates with one twice; fewer bytes of text before more; kind of change; the order of the search.
/// Of those that differ in a number only, all but the first [`NUMBERS_REPORTED`] come after everything else, as those of one location beyond
/// [`PATCHES_OF_LOCATION`], and after them
/// the taking out of statements, and what keeps memory from being freed.
fn ranked<'f>(found: &'f Found, instrumented: &Instrumented) -> Vec<Proposal<'f>> {
    let mut comparisons: BTreeMap<(usize, usize), Comparisons> = BTreeMap::new();
    let mut proposals: Vec<Proposal<'_>> = Vec::new();
    for (class, found) in found.classes.iter().enumerate() {
        let entry = &instrumented.holes[found.entry];
        let unit = &instrumented.files[entry.file].unit;
        let comparisons = comparisons
            .entry((entry.file, entry.hole.function))
            .or_insert_with(|| Comparisons::of(&unit.source, &unit.functions[entry.hole.function]));
        let mut members: Vec<Proposal<'_>> = found
            .members
            .iter()
            .map(|(edit, schema)| {
                let before = &unit.source[edit.span.range()];
                Proposal {
                    class,
                    found,
                    edit,
                    schema: *schema,
                    member: 0,
                    is_familiar: comparisons.adds_one(before, &edit.text),
                    repeats: repeats_operand(&edit.text) && !repeats_operand(before),
                    text_change: text_change(before, &edit.text),
                    is_removal: is_removal(&unit.source, edit, *schema),
                    is_crowd: false,
                }
            })
            .collect();
        members.sort_by_key(|member| {
            let keeps_condition = member.schema == Schema::Refinement;
            (!member.is_familiar, member.repeats, !keeps_condition)
        });
        for (number, member) in members.iter_mut().enumerate() {
            member.member = number;
        }
        proposals.extend(members);
    }
    proposals.sort_by_key(|proposal| {
        (
            proposal.is_removal,
            proposal.found.cost,
            proposal.schema.drasticness(),
            proposal.schema == Schema::UnusualExpression,
            proposal.member,
            !proposal.is_familiar,
            proposal.repeats,
            proposal.text_change,
            proposal.schema,
            proposal.class,
        )
    });
    let mut alike: BTreeMap<(usize, Vec<u8>), usize> = BTreeMap::new();
    let mut of_location: BTreeMap<usize, usize> = BTreeMap::new();
    for proposal in &mut proposals {
        let entry = proposal.found.entry;
        let count = alike
            .entry((entry, without_numbers(&proposal.edit.text)))
            .or_default();
        *count += 1;
        let is_alike = *count > NUMBERS_REPORTED;
        // Those that differ in a number only do not keep others away.
        let at_location = of_location.entry(entry).or_default();
        *at_location += usize::from(!is_alike && !proposal.is_removal);
        proposal.is_crowd = is_alike || *at_location > PATCHES_OF_LOCATION;
    }
    proposals.sort_by_key(|proposal| (proposal.is_removal, proposal.is_crowd));
    proposals
}

/// A candidate to verify.
pub(crate) struct Proposed<'f> {
    /// It.
    pub(crate) proposal: Proposal<'f>,
    /// Its file's text.
    pub(crate) text: Vec<u8>,
    /// Its diff.
    pub(crate) diff: Vec<u8>,
    /// The compiler makes other code of it than of the untouched program and of all that were proposed before.
    pub(crate) code_differs: bool,
    /// See [`crate::Patch::distinct`].
    pub(crate) distinct: usize,
}

/// What is known of the code of a function.
struct Codes {
    /// What makes declarations of all other functions; empty if they are compiled, too.
    alone: Vec<Edit>,
    /// Of the untouched program.
    original: Option<Code>,
    /// Of what was proposed.
    proposed: Vec<Code>,
}

/// The candidates to verify, best first.
pub(crate) struct Selection<'f> {
    proposals: std::vec::IntoIter<Proposal<'f>>,
    instrumented: &'f Instrumented,
    /// Diffs that were proposed.
    seen: BTreeSet<Vec<u8>>,
    /// Where texts are compiled.
    compilations: Option<Compilations>,
    /// What is known of the code of each function, by file and number.
    codes: BTreeMap<(usize, usize), Codes>,
    duplicates: usize,
    compiled: usize,
    all: bool,
}

impl<'f> Selection<'f> {
    /// Ranks what was found. Of a whole space there is one candidate for each class.
    ///
    /// # Errors
    /// When the copy in which texts are compiled cannot be made.
    pub(crate) fn new<'a>(
        found: &'f Found,
        instrumented: &'f Instrumented,
        prepared: &Prepared,
        project: &'a Project,
        options: &RepairOptions,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let mut proposals = ranked(found, instrumented);
        proposals.retain(|proposal| match options.all {
            true => proposal.member == 0,
            false => proposal.member < MEMBERS_REPORTED,
        });
        let compilations = match proposals.is_empty() {
            true => None,
            false => Some(Compilations::start(prepared, project, surroundings)?),
        };
        Ok(Selection {
            proposals: proposals.into_iter(),
            instrumented,
            seen: BTreeSet::new(),
            compilations,
            codes: BTreeMap::new(),
            duplicates: 0,
            compiled: 0,
            all: options.all,
        })
    }

    /// The next candidate.
    ///
    /// # Errors
    /// When texts cannot be compiled.
    pub(crate) fn next(&mut self) -> Result<Option<Proposed<'f>>, RepairError> {
        while let Some(proposal) = self.proposals.next() {
            let file = self.instrumented.holes[proposal.found.entry].file;
            let source = &self.instrumented.files[file];
            let before = &source.unit.source;
            if is_self_assignment(before, proposal.edit) {
                continue;
            }
            let Ok(text) = apply_edits(before, std::slice::from_ref(proposal.edit)) else {
                continue;
            };
            let path = source.relative.to_string_lossy();
            let diff = unified_diff(path.as_bytes(), before, &text);
            if diff.is_empty() || !self.seen.insert(diff.clone()) {
                continue;
            }
            // What stands outside of the function may change the code of others.
            let code = match proposal.found.is_local {
                true => self.code(proposal.found.entry, proposal.edit)?,
                false => None,
            };
            if let Some(code) = &code {
                let known = self.codes(proposal.found.entry)?;
                // Of what an uninitialised variable holds, the compiler may assume that it is zero.
                let is_original = known.original.as_ref() == Some(code)
                    && proposal.schema != Schema::Initialization;
                if is_original || known.proposed.contains(code) {
                    self.duplicates += 1;
                    continue;
                }
                known.proposed.push(code.clone());
            }
            let distinct = self.distinct(&proposal, code.as_ref())?;
            return Ok(Some(Proposed {
                proposal,
                text,
                diff,
                code_differs: code.is_some(),
                distinct,
            }));
        }
        Ok(None)
    }

    /// Removes the copy; how many candidates were the same as the untouched program or as another one.
    ///
    /// # Errors
    /// When the copy cannot be removed.
    pub(crate) fn finish(&mut self) -> Result<usize, RepairError> {
        if let Some(compilations) = self.compilations.take() {
            compilations.remove()?;
        }
        Ok(self.duplicates)
    }

    /// What is known of the code of the function that a hole is in.
    fn codes(&mut self, entry: usize) -> Result<&mut Codes, RepairError> {
        let instrumented = self.instrumented;
        let hole = &instrumented.holes[entry];
        let key = (hole.file, hole.hole.function);
        if !self.codes.contains_key(&key) {
            let file = &instrumented.files[hole.file];
            let mut alone = alone(&file.unit, hole.hole.function);
            let mut original = self.compiled(entry, &alone, None)?;
            if original.is_none() {
                alone.clear();
                original = self.compiled(entry, &alone, None)?;
            }
            let proposed = Vec::new();
            let codes = Codes {
                alone,
                original,
                proposed,
            };
            self.codes.insert(key, codes);
        }
        Ok(self.codes.get_mut(&key).expect("it has just been added"))
    }

    /// The code of a candidate.
    fn code(&mut self, entry: usize, edit: &Edit) -> Result<Option<Code>, RepairError> {
        let alone = self.codes(entry)?.alone.clone();
        self.compiled(entry, &alone, Some(edit))
    }

    /// The code of a function with an edit, or without one.
    fn compiled(
        &mut self,
        entry: usize,
        alone: &[Edit],
        edit: Option<&Edit>,
    ) -> Result<Option<Code>, RepairError> {
        let edits: Vec<Edit> = alone.iter().chain(edit).cloned().collect();
        let hole = &self.instrumented.holes[entry];
        let file = &self.instrumented.files[hole.file];
        let (Some(compilations), Ok(text)) = (
            &mut self.compilations,
            apply_edits(&file.unit.source, &edits),
        ) else {
            return Ok(None);
        };
        let name = &file.unit.functions[hole.hole.function].name;
        let wanted = (!alone.is_empty()).then_some(name.as_str());
        compilations.code(&file.relative, &text, wanted)
    }

    /// How many programs the first members of a candidate's class are, where a whole space is reported.
    fn distinct(
        &mut self,
        proposal: &Proposal<'f>,
        code: Option<&Code>,
    ) -> Result<usize, RepairError> {
        let Some(code) = code.filter(|_| self.all && proposal.found.members.len() > 1) else {
            return Ok(0);
        };
        let mut codes = vec![code.clone()];
        for (edit, _) in proposal
            .found
            .members
            .iter()
            .skip(1)
            .take(MEMBERS_COMPILED - 1)
        {
            if self.compiled == MOST_COMPILED {
                return Ok(0);
            }
            self.compiled += 1;
            if let Some(code) = self.code(proposal.found.entry, edit)?
                && !codes.contains(&code)
            {
                codes.push(code);
            }
        }
        Ok(codes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Comparisons, is_self_assignment, keeps_from_freeing, repeats_operand, text_change,
        without_numbers,
    };
    use patchwright_text::{Edit, Span};

    #[test]
    fn an_assignment_of_a_variable_to_itself_is_seen() {
        let is = |source: &str, value: &str| {
            let start = source.find('@').unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + 1), value);
            is_self_assignment(source.as_bytes(), &edit)
        };
        assert!(is("x = @;", "x") && is("int x = @;", "x") && is("p->n =@;", "p->n"));
        assert!(!is("max = @;", "x") && !is("p->n = @;", "n") && !is("x == @;", "x"));
        assert!(!is("x += @;", "x") && !is("f(@);", "x"));
    }

    #[test]
    fn comparisons_are_known_with_their_negations_and_as_whole_words() {
        let known = Comparisons([b"c=='*'".to_vec(), b"c!='*'".to_vec()].into());
        assert!(known.adds_one(b"st = BLOCK;", b"{ if (c != '*') st = BLOCK; }"));
        assert!(!known.adds_one(b"st = BLOCK;", b"{ if (c < '*') st = BLOCK; }"));
        assert!(!known.adds_one(b"x", b"abc != '*'"));
        assert!(!known.adds_one(b"c == '*'", b"c == '*' && x"));
    }

    #[test]
    fn an_operand_that_stands_twice_is_seen() {
        assert!(repeats_operand(b"from + from > NIGHT"));
        assert!(repeats_operand(b"(p->n - p->n)"));
        assert!(!repeats_operand(b"from + stay > from"));
        assert!(!repeats_operand(b"rest > cap && cap"));
        assert!(!repeats_operand(b"a + b > b"));
        assert!(repeats_operand(b"a > 1 && b > b"));
        assert!(!repeats_operand(b"1 + 1"));
        assert!(!repeats_operand(b"x = x + 1;"));
        assert!(repeats_operand(b"strcmp(b, b)"));
        assert!(repeats_operand(b"f(1, p->n, p->n)"));
        assert!(!repeats_operand(b"strcmp(a, b)"));
        assert!(!repeats_operand(b"f(0, 0)"));
        assert!(!repeats_operand(b"f(g(a), a)"));
    }

    #[test]
    fn what_is_not_freed_any_more_is_seen() {
        let keeps = |source: &str, old: &str, new: &str| {
            let start = source.find(old).unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + old.len() as u32), new);
            keeps_from_freeing(source.as_bytes(), &edit)
        };
        assert!(keeps("free(p);", "p", "0") && keeps("free (p);", "p", "NULL"));
        assert!(keeps("  free(p);", "free", "atoi") && keeps("free(p);", "free(p)", "f(p)"));
        assert!(!keeps("free(p);", "p", "q") && !keeps("unfree(p);", "p", "0"));
        assert!(!keeps("f(p);", "p", "0") && !keeps("f(p);", "f(p)", "g(p)"));
        assert!(!keeps("free_count > 0", "free_count", "n") && !keeps("free = 1", "free", "n"));
    }

    #[test]
    fn candidates_that_differ_in_a_number_only_are_alike() {
        let alike =
            |a: &str, b: &str| without_numbers(a.as_bytes()) == without_numbers(b.as_bytes());
        assert!(alike("n + 1", "n + 255") && alike("x % 10 == 0", "x % 16 == 1"));
        assert!(
            alike("0x1Fu", "7") && alike("n + 'w'", "n + '\\''") && alike("c == ' '", "c == 3")
        );
        assert!(!alike("c == 'a' && n", "c == 'b' && m"));
        assert!(!alike("n + 1", "m + 1") && !alike("a1", "a2") && !alike("n", "n + 1"));
    }

    #[test]
    fn only_what_differs_counts_as_change() {
        assert_eq!(text_change(b"a < b", b"a <= b"), 1);
        assert_eq!(text_change(b"s[0].n", b"s[i].n"), 2);
        assert_eq!(text_change(b"aa", b"a"), 1);
        assert_eq!(text_change(b"x", b"x"), 0);
    }
}
