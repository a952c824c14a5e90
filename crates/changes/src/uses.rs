//! Finds statements that use something that changed elsewhere: a macro with another body, a variable with
//! another type or first value.
//!
//! Such a use executes something else than before, though its text is the same, so it is a changed statement. Macros and variables
//! that only one of the versions has do not count: what uses them changed itself, or means something else that was declared before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use patchwright_ctext::{first_word, is_word, tokens, words};
use patchwright_flow::{ActionId, Function, Outline, Variable};
use rustc_hash::FxHashSet;

use crate::align::Alteration;
use crate::compare::{FileChange, Source};
use crate::measure::Change;
use crate::program::Outlines;

/// Where a name means what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    /// In every file.
    Program,
    /// In one of the files that changed.
    File(usize),
}

/// Names that mean something else than before.
#[derive(Debug, Default)]
pub(crate) struct Redefined {
    macros: BTreeSet<(Scope, String)>,
    variables: BTreeSet<(Scope, String)>,
}

/// What is said of names, in each version.
type Said = BTreeMap<(Scope, String), [BTreeSet<String>; 2]>;

impl Redefined {
    /// Finds the names whose meaning changed outside of functions. `outlines` has both versions of
    /// each file.
    pub fn find<'o>(
        files: &[FileChange],
        outlines: impl Iterator<Item = [&'o Outline; 2]>,
    ) -> Redefined {
        let (mut macros, mut variables) = (Said::new(), Said::new());
        for (file, (change, outlines)) in files.iter().zip(outlines).enumerate() {
            let source = change.new.as_ref().or(change.old.as_ref());
            let is_header = source.is_some_and(|source| source.path.ends_with(".h"));
            for (side, outline) in outlines.into_iter().enumerate() {
                for item in &outline.top_level {
                    if let Some((name, body)) = definition(&item.text) {
                        let scope = match is_header {
                            true => Scope::Program,
                            false => Scope::File(file),
                        };
                        let said = macros.entry((scope, name.to_owned())).or_default();
                        said[side].insert(without_layout(body));
                    }
                    for variable in item.variables.iter().filter(|one| !one.is_extern) {
                        let scope = match variable.is_static && !is_header {
                            true => Scope::File(file),
                            false => Scope::Program,
                        };
                        let said = variables.entry((scope, variable.name.clone())).or_default();
                        said[side].insert(text_of(variable));
                    }
                }
            }
        }
        let differ = |said: &[BTreeSet<String>; 2]| {
            !said[0].is_empty() && !said[1].is_empty() && said[0] != said[1]
        };
        let changed = |said: &Said| {
            let changed = said.iter().filter(|(_, said)| differ(said));
            changed.map(|(name, _)| name.clone()).collect()
        };
        let mut found = Redefined {
            macros: changed(&macros),
            variables: changed(&variables),
        };
        found.spread(&macros);
        found
    }

    /// A macro in whose body one of the names stands is another one, too.
    fn spread(&mut self, macros: &Said) {
        loop {
            let uses = |(scope, body): (Scope, &String)| {
                words(body.as_bytes()).iter().any(|word| {
                    [scope, Scope::Program].into_iter().any(|scope| {
                        let name = (scope, word.clone());
                        self.macros.contains(&name) || self.variables.contains(&name)
                    })
                })
            };
            let further: Vec<(Scope, String)> = macros
                .iter()
                .filter(|(name, _)| !self.macros.contains(*name))
                .filter(|(name, said)| said[1].iter().any(|body| uses((name.0, body))))
                .map(|(name, _)| name.clone())
                .collect();
            if further.is_empty() {
                return;
            }
            self.macros.extend(further);
        }
    }

    /// Returns the names whose changed meaning reaches unchanged files, such as macros of headers and global variables.
    pub fn everywhere(&self) -> Vec<&str> {
        let all = self.macros.iter().chain(&self.variables);
        let mut names: Vec<&str> = all
            .filter(|(scope, _)| *scope == Scope::Program)
            .map(|(_, name)| name.as_str())
            .collect();
        names.dedup();
        names
    }

    /// Returns the actions of `function` that use a macro or variable whose meaning changed. `own` has variables that the function
    /// itself declares in another way than before.
    pub fn uses(
        &self,
        file: usize,
        function: &Function,
        source: &[u8],
        own: &BTreeSet<String>,
    ) -> Vec<ActionId> {
        if self.macros.is_empty() && self.variables.is_empty() && own.is_empty() {
            return Vec::new();
        }
        let is_meant = |names: &BTreeSet<(Scope, String)>, word: &str| {
            let scopes = [Scope::File(file), Scope::Program];
            scopes
                .into_iter()
                .any(|scope| names.contains(&(scope, word.to_owned())))
        };
        let declared = function.actions.iter().flat_map(|action| &action.declares);
        let hidden: FxHashSet<&str> = declared
            .map(|variable| variable.name.as_str())
            .chain(function.parameters.iter().map(String::as_str))
            .collect();
        let is_variable = |name: &str| {
            own.contains(name) || !hidden.contains(name) && is_meant(&self.variables, name)
        };
        let uses = |action: &patchwright_flow::Action| {
            let tokens = action.tokens.iter();
            let mut words =
                tokens.filter_map(|token| std::str::from_utf8(&source[token.span.range()]).ok());
            let written = action.definitions.iter().map(|one| one.name.as_str());
            let mut names = action.uses.iter().map(String::as_str).chain(written);
            words.any(|word| is_meant(&self.macros, word)) || names.any(is_variable)
        };
        let actions = function.actions.iter().enumerate();
        actions
            .filter(|(_, action)| action.is_executable() && uses(action))
            .map(|(index, _)| ActionId(index as u32))
            .collect()
    }
}

/// What is said of a variable.
fn text_of(variable: &Variable) -> String {
    let value = variable.value.as_deref().unwrap_or_default();
    format!("{} = {value}", variable.type_text)
}

/// The name of a macro that a directive defines, and what stands for it, its parameters included.
fn definition(directive: &str) -> Option<(&str, &str)> {
    let rest = directive.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("define ")?.trim_start();
    Some(first_word(rest))
}

/// Returns a macro's body without blanks, except blanks that separate words or operators. A blank before a parenthesis at the beginning
/// stays, because it tells a macro without parameters from one with parameters.
fn without_layout(body: &str) -> String {
    let is_word = |c: char| c == '"' || c == '\'' || !c.is_ascii() || is_word(c as u8);
    let is_bracket = |c: char| "()[]{},;".contains(c);
    let mut text = String::new();
    let mut end = 0;
    for (token, start) in tokens(body) {
        let separates = match (text.chars().next_back(), token.chars().next()) {
            _ if start == end => false,
            (None, Some('(')) => true,
            (Some(before), Some(after)) => {
                !is_bracket(before) && !is_bracket(after) && is_word(before) == is_word(after)
            }
            _ => false,
        };
        if separates {
            text.push(' ');
        }
        text.push_str(token);
        end = start + token.len();
    }
    text
}

/// The change together with files of the rest of the program that mention one of these names, as files that are the same in both versions.
pub(crate) fn widened(change: &Change, names: &[&str], outlines: &mut Outlines) -> Option<Change> {
    let rest = change.rest.as_ref()?;
    let mentions = |outlines: &mut Outlines, source: &Arc<Source>| {
        names.iter().any(|name| outlines.has_word(source, name))
    };
    let (with, without): (Vec<Arc<Source>>, Vec<Arc<Source>>) = rest
        .iter()
        .cloned()
        .partition(|source| mentions(outlines, source));
    if with.is_empty() {
        return None;
    }
    let same = with.iter().map(|source| FileChange {
        old: Some(Source::clone(source)),
        new: Some(Source::clone(source)),
    });
    Some(Change {
        files: change.files.iter().cloned().chain(same).collect(),
        rest: Some(without),
        definitions: change.definitions.clone(),
        versions: change.versions.clone(),
    })
}

/// Marks the uses among the actions of a function that did not change themselves.
pub(crate) fn mark(
    altered: &mut BTreeMap<ActionId, Alteration>,
    uses: impl IntoIterator<Item = ActionId>,
) {
    for action in uses {
        altered.entry(action).or_insert(Alteration::Used);
    }
}
