//! Puts what patches add outside of functions into one file, with names that do not clash and directives
//! that change nothing else.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::lex;
use patchwright_exec::Worker;
use patchwright_text::{LineMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compiler::{Compiler, CompilerError};
use crate::outside::{self, Addition, RENAMED, Renames};
use crate::plan::Plan;
use crate::preprocessed::Preprocessed;

/// A text that patches put into a woven file, with its place.
pub struct OwnText<'a> {
    /// Where it stands there.
    pub span: Span,
    /// The patches, numbered as in the batch.
    pub patches: &'a [u32],
    /// It stands outside of functions.
    pub added: bool,
}

/// Returns for each of these patches the new names of what it adds. A name is replaced if other patches
/// add something else of that name or mention it, or if other files could see it.
pub fn other_names(plan: &Plan, members: &[usize]) -> Vec<Renames> {
    // Patches that add the same are a group, numbered like its first.
    let mut groups: BTreeMap<Vec<(usize, &Addition)>, usize> = BTreeMap::new();
    let group: Vec<usize> = members
        .iter()
        .map(|member| {
            let files = plan.patches[*member].files.iter();
            let added = files.flat_map(|own| own.additions.iter().map(|added| (own.file, added)));
            let added: Vec<(usize, &Addition)> = added.collect();
            match added.is_empty() {
                true => usize::MAX,
                false => *groups.entry(added).or_insert(*member),
            }
        })
        .collect();
    let names: FxHashSet<&str> = members
        .iter()
        .flat_map(|member| &plan.patches[*member].brought.defined)
        .map(String::as_str)
        .collect();
    if names.is_empty() {
        return vec![Renames::new(); members.len()];
    }
    let mut mentions: FxHashMap<String, BTreeSet<usize>> = FxHashMap::default();
    for (member, group) in members.iter().zip(&group) {
        for word in plan.patches[*member].texts().flat_map(lex::words) {
            if names.contains(word.as_str()) {
                mentions.entry(word).or_default().insert(*group);
            }
        }
    }
    let clashes = |name: &String| mentions.get(name).is_some_and(|groups| groups.len() > 1);
    let renames = members.iter().zip(&group).map(|(member, group)| {
        let brought = &plan.patches[*member].brought;
        let hides = !brought.replaced.is_empty() || !brought.external.is_empty();
        if !hides && !brought.defined.iter().any(clashes) {
            return Renames::new();
        }
        let other = |name: &String| (name.clone(), format!("{name}{RENAMED}{group}"));
        brought.defined.iter().map(other).collect()
    });
    renames.collect()
}

/// Returns the patches whose added directives change other parts of the woven file `text`, or whose added
/// names the program could print. `undeclared` says that the text calls functions that are not declared.
///
/// # Errors
/// A compiler that cannot be run.
pub fn meddling(
    worker: &mut Worker,
    compiler: &Compiler,
    text: &[u8],
    texts: &[OwnText<'_>],
    undeclared: bool,
) -> Result<BTreeSet<u32>, CompilerError> {
    let added: Vec<&OwnText<'_>> = texts.iter().filter(|text| text.added).collect();
    let slice = |own: &OwnText<'_>| own.span.slice(text).unwrap_or_default();
    let patches_with = |wanted: &dyn Fn(&[u8]) -> bool| -> BTreeSet<u32> {
        let texts = added.iter().filter(|added| wanted(slice(added)));
        texts.flat_map(|added| added.patches).copied().collect()
    };
    let has = |text: &[u8], wanted: &dyn Fn(&outside::Brought) -> bool| {
        outside::brought(text).as_ref().is_none_or(wanted)
    };
    let including = patches_with(&|text| has(text, &|brought| brought.includes));
    let defining = patches_with(&|text| has(text, &|brought| brought.macros));
    let renamed = patches_with(&|text| {
        let words = lex::words(text);
        words.iter().any(|word| word.contains(RENAMED))
    });
    // A function that a header declares would be another one than the one that is called so far.
    if undeclared && !including.is_empty() {
        return Ok(including);
    }
    if including.is_empty() && defining.is_empty() && renamed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let lines = LineMap::new(text);
    let lines_of = |own: &OwnText<'_>| lines.line(own.span.start)..=lines.line(own.span.end);
    let is_others = |patches: &BTreeSet<u32>, line: u32| {
        !texts.iter().any(|own| {
            lines_of(own).contains(&line) && own.patches.iter().any(|own| patches.contains(own))
        })
    };
    let mut preprocess = |text: &[u8]| -> Result<Preprocessed, CompilerError> {
        let text = compiler.preprocess(worker, text)?;
        Ok(Preprocessed::read(&text.unwrap_or_default()))
    };
    let without = |directives: &[&[u8]]| {
        let mut text = text.to_vec();
        for added in &added {
            outside::blank_directives(&mut text[added.span.range()], directives);
        }
        text
    };
    let whole = preprocess(text)?;
    let prints = |added: &&&OwnText<'_>| whole.names_function(lines_of(added));
    if !renamed.is_empty()
        && (whole.has_in_string(RENAMED) || added.iter().any(|added| prints(&added)))
    {
        return Ok(renamed);
    }
    let mut with_macros = whole;
    if !including.is_empty() {
        let own_headers = preprocess(&without(&[b"include"]))?;
        let counts = |line: u32| is_others(&including, line);
        if !with_macros.has_same_lines(&own_headers, &counts)
            || with_macros.project != own_headers.project
        {
            return Ok(including);
        }
        with_macros = own_headers;
    }
    if !defining.is_empty() {
        let bare = preprocess(&without(&[b"include", b"define"]))?;
        let counts = |line: u32| is_others(&defining, line);
        if !with_macros.has_same_lines(&bare, &counts)
            || with_macros.project != bare.project
            || with_macros.system != bare.system
        {
            return Ok(defining);
        }
    }
    Ok(BTreeSet::new())
}
