//! Extracts from the text of a candidate and its function the traits that tell how likely it is meant.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use patchwright_csource::{Function, TranslationUnit};
use patchwright_space::Schema;
use patchwright_text::{Edit, Span};
use serde::{Deserialize, Serialize};

use super::{
    form::{Form, Shape},
    surprise::Habits,
    tokens::{is_in_capitals, is_name, is_number, placed_tokens, tokens, value},
};
use crate::{
    change_text::{distance, on_one_line, size_of_change},
    evasion::is_evasion,
    unread::Reads,
};

/// Where else a name that a change adds occurs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// None comes in.
    #[default]
    None,
    /// In the same statement.
    Statement,
    /// In the function.
    Function,
    /// Not in the function.
    Elsewhere,
}

impl Origin {
    /// Returns the name of the origin in feature names.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_default()
    }
}

/// The kind of a number that a change adds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// None.
    #[default]
    None,
    /// One more or one less than one that goes.
    Next,
    /// 0.
    Zero,
    /// 1.
    One,
    /// One that the function has elsewhere.
    OfFunction,
    /// A power of two.
    PowerOfTwo,
    /// Another one.
    Other,
}

/// The traits of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Traits {
    /// The kind of change, in the order in which candidates of one cost are tried.
    #[serde(with = "schema_names")]
    pub kind: Schema,
    /// What it costs in the search.
    pub cost: u32,
    /// What it does to words and signs.
    pub form: Form,
    /// How the condition that it adds looks.
    pub shape: Shape,
    /// Words and signs that come in.
    pub added: usize,
    /// Words and signs that go.
    pub removed: usize,
    /// Where the variable or member comes from that is mentioned furthest away.
    pub leaf: Origin,
    /// How many words and signs away that is mentioned.
    pub leaf_distance: usize,
    /// The same for functions that are called.
    pub callee: Origin,
    /// The same for names in capitals.
    pub constant: Origin,
    /// Which numbers come in.
    pub number: Number,
    /// How alike two names are of which one takes the place of the other, from 0 to 1.
    pub alike: f64,
    /// What comes in stands elsewhere in the function.
    pub is_copy: bool,
    /// How many bits what comes in takes where it comes to stand ([`Habits`]).
    pub surprise: f64,
    /// How many bits what goes took there.
    pub surprise_before: f64,
    /// Nothing reads some variable any more.
    pub forgets: bool,
    /// Bytes that differ, 1 for another operator.
    pub size_of_change: usize,
    /// It keeps something from happening or from being seen.
    pub is_evasion: bool,
    /// How much of the words and signs it changes.
    pub distance: usize,
    /// How many characters the text gains.
    pub growth: i64,
    /// It only takes a piece of the text out.
    pub takes_out: bool,
}

/// Kinds by the names of their variants, which tell more than the names that users see.
mod schema_names {
    use patchwright_space::Schema;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes a schema by its name.
    pub(super) fn serialize<S: Serializer>(kind: &Schema, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::kind_name(*kind))
    }

    /// Reads a schema by its name.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Schema, D::Error> {
        let name = String::deserialize(from)?;
        let kind = Schema::ALL
            .into_iter()
            .find(|kind| super::kind_name(*kind) == name);
        kind.ok_or_else(|| D::Error::custom(format!("no kind of change is called {name}")))
    }
}

/// Returns the name of a kind of change. Deletions and unusual expressions have names of their own.
pub fn kind_name(kind: Schema) -> String {
    format!("{kind:?}").to_lowercase()
}

/// A candidate as text.
#[derive(Clone, Copy)]
pub struct Change<'c> {
    /// The file that is changed.
    pub source: &'c [u8],
    /// The change.
    pub edit: &'c Edit,
    /// Its kind.
    pub kind: Schema,
    /// What it costs in the search.
    pub cost: u32,
    /// It is one of the body of the function.
    pub is_local: bool,
    /// Failing tests crash.
    pub crash: bool,
}

/// The facts about a function with which its candidates are compared.
pub struct FunctionFacts<'u> {
    reads: Reads,
    /// The words and signs of the function, each with where it begins in the file.
    tokens: Vec<(&'u [u8], usize)>,
    /// Of each the number of the first one of its statement.
    starts: Vec<usize>,
    /// Where each word stands among the tokens.
    places: BTreeMap<&'u [u8], Vec<usize>>,
    /// Of the whole file, which takes long to read: they are there only where they are asked for.
    habits: Option<Arc<Habits<'u>>>,
}

impl<'u> FunctionFacts<'u> {
    /// Collects the facts about a function.
    pub fn of(unit: &'u TranslationUnit, function: &Function) -> Self {
        FunctionFacts {
            reads: Reads::of(unit, function),
            ..FunctionFacts::of_text(&unit.source, function.span)
        }
    }

    /// Collects the facts about a function of which only the text is known. Its candidates have no trait
    /// [`forgets`](Traits::forgets).
    pub fn of_text(source: &'u [u8], span: Span) -> Self {
        let text = &source[span.range()];
        let begin = span.start as usize;
        let tokens: Vec<(&[u8], usize)> = placed_tokens(text)
            .into_iter()
            .map(|(token, at)| (token, begin + at))
            .collect();
        let mut places: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (number, (token, _)) in tokens.iter().enumerate() {
            if is_name(token) || is_number(token) {
                places.entry(token).or_default().push(number);
            }
        }
        FunctionFacts {
            reads: Reads::default(),
            starts: starts(&tokens),
            habits: None,
            tokens,
            places,
        }
    }

    /// Adds the habits of the whole file. Without them the surprise of each candidate is 0.
    pub fn with_habits(self, habits: Arc<Habits<'u>>) -> Self {
        FunctionFacts {
            habits: Some(habits),
            ..self
        }
    }

    /// Returns the traits of a candidate.
    pub fn traits(&self, change: Change<'_>) -> Traits {
        let Change {
            source,
            edit,
            kind,
            is_local,
            crash,
            ..
        } = change;
        Traits {
            forgets: is_local && self.reads.forgets(edit),
            is_evasion: is_evasion(source, edit, kind, crash),
            takes_out: takes_out(source, edit),
            ..self.of_texts(change, false)
        }
    }

    /// Returns the traits of the change that undoes one, as if the changed text stood in the file. What stands in its place there is no
    /// neighbour of itself; whether it makes the function forget a variable is not looked at.
    pub fn traits_of_undoing(&self, change: Change<'_>) -> Traits {
        let traits = self.of_texts(change, true);
        Traits {
            kind: undoing(change.kind, traits.form),
            ..traits
        }
    }

    /// What the texts before and after a change tell, or before and after it `is_undone`.
    fn of_texts(&self, change: Change<'_>, is_undone: bool) -> Traits {
        let Change { source, edit, .. } = change;
        let there = &source[edit.span.range()];
        let here = self.at(edit.span.start as usize);
        // What stands there is no neighbour of itself once it is gone.
        let (before, after, own) = match is_undone {
            false => (there, &edit.text[..], 0..0),
            true => (&edit.text[..], there, here..self.at(edit.span.end as usize)),
        };
        let growth = after.len() as i64 - before.len() as i64;
        // Layout means nothing.
        let (before, after) = (&*on_one_line(before), &*on_one_line(after));
        let (old, new) = changed(before, after);
        let form = match change.kind {
            Schema::Move => Form::Moved,
            _ => Form::of(&old, &new),
        };
        let incoming = self.incoming(&old, &new, here, &own);
        let (surprise_before, surprise) = match is_undone {
            false => self.surprise(source, edit, &old, &new),
            true => {
                let (of_there, of_other) = self.surprise(source, edit, &new, &old);
                (of_other, of_there)
            }
        };
        Traits {
            kind: change.kind,
            cost: change.cost,
            form,
            shape: Shape::of(form, &old, &new),
            added: new.len(),
            removed: old.len(),
            leaf: incoming.leaf,
            leaf_distance: incoming.leaf_distance,
            callee: incoming.callee,
            constant: incoming.constant,
            number: self.number(&old, &new, &own),
            alike: match (form, &old[..], &new[..]) {
                (Form::NameForName, [one], [other]) => alike(one, other),
                _ => 0.0,
            },
            is_copy: self.has(&new, &own),
            surprise,
            surprise_before,
            forgets: false,
            size_of_change: size_of_change(before, after),
            is_evasion: false,
            distance: distance(before, after),
            growth,
            takes_out: false,
        }
    }

    /// The number of the first token at or behind an offset.
    fn at(&self, offset: usize) -> usize {
        self.tokens.partition_point(|(_, at)| *at < offset)
    }

    /// Where what comes in stands otherwise; the tokens `own` do not count.
    fn incoming(&self, old: &[&[u8]], new: &[&[u8]], here: usize, own: &Range<usize>) -> Incoming {
        let mut found = Incoming::default();
        let start = self.starts.get(here).copied().unwrap_or(here);
        let same = self.starts[here.min(self.starts.len())..].iter();
        let end = here + same.take_while(|other| **other == start).count();
        for (at, token) in new.iter().enumerate() {
            if !is_name(token) || old.contains(token) {
                continue;
            }
            let places = self.places.get(token).into_iter().flatten();
            let places: Vec<usize> = places.copied().filter(|at| !own.contains(at)).collect();
            let nearest = places.iter().map(|place| place.abs_diff(here)).min();
            let origin = match nearest {
                None => Origin::Elsewhere,
                Some(_) if places.iter().any(|place| (start..end).contains(place)) => {
                    Origin::Statement
                }
                Some(_) => Origin::Function,
            };
            if new.get(at + 1) == Some(&&b"("[..]) {
                found.callee = found.callee.max(origin);
            } else if is_in_capitals(token) {
                found.constant = found.constant.max(origin);
            } else {
                found.leaf = found.leaf.max(origin);
                let nearest = nearest.unwrap_or(self.tokens.len());
                found.leaf_distance = found.leaf_distance.max(nearest);
            }
        }
        found
    }

    /// How many bits it takes to say what was there, and what comes in.
    fn surprise(&self, source: &[u8], edit: &Edit, old: &[&[u8]], new: &[&[u8]]) -> (f64, f64) {
        let Some(habits) = &self.habits else {
            return (0.0, 0.0);
        };
        let is_brace = |token: &[u8]| matches!(token, b"{" | b"}");
        let bare = |text| -> Vec<&[u8]> {
            let tokens = tokens(text).into_iter();
            tokens.filter(|token| !is_brace(token)).collect()
        };
        // What both begin with.
        let (before, after) = (bare(&source[edit.span.range()]), bare(&edit.text));
        let ahead = before
            .iter()
            .zip(&after)
            .take_while(|(a, b)| a == b)
            .count();
        let mut at = self.at(edit.span.start as usize);
        let mut skipped = 0;
        while skipped < ahead && at < self.tokens.len() {
            skipped += usize::from(!is_brace(self.tokens[at].0));
            at += 1;
        }
        let window = |from: usize, to: usize| -> Vec<&[u8]> {
            let all = self.tokens.iter().map(|(token, _)| *token);
            all.take(to).skip(from).collect()
        };
        let context = window(at.saturating_sub(2), at);
        let mut end = at;
        let mut gone = 0;
        while gone < old.len() && end < self.tokens.len() {
            gone += usize::from(!is_brace(self.tokens[end].0));
            end += 1;
        }
        let follows = window(end, end + 2);
        (
            habits.surprise(&context, old, &follows, true),
            habits.surprise(&context, new, &follows, false),
        )
    }

    fn number(&self, old: &[&[u8]], new: &[&[u8]], own: &Range<usize>) -> Number {
        let gone: Vec<i64> = old.iter().filter_map(|token| value(token)).collect();
        let kinds = new.iter().filter_map(|token| {
            let number = value(token)?;
            let is_near = gone.iter().any(|gone| gone.abs_diff(number) == 1);
            Some(match number {
                _ if gone.contains(&number) => Number::None,
                _ if is_near => Number::Next,
                0 => Number::Zero,
                1 => Number::One,
                _ if self.stands_outside(token, own) => Number::OfFunction,
                _ if number > 0 && number & (number - 1) == 0 => Number::PowerOfTwo,
                _ => Number::Other,
            })
        });
        kinds.max().unwrap_or_default()
    }

    /// Whether a token stands in the function outside of some.
    fn stands_outside(&self, token: &[u8], own: &Range<usize>) -> bool {
        let mut places = self.places.get(token).into_iter().flatten();
        places.any(|place| !own.contains(place))
    }

    /// Whether some tokens stand in the function in a row, outside of `own`; a single one is no copy.
    fn has(&self, wanted: &[&[u8]], own: &Range<usize>) -> bool {
        let is_name_of = |token: &&&[u8]| is_name(token);
        if wanted.len() < 2 || wanted.iter().find(is_name_of).is_none() {
            return false;
        }
        let mut windows = self.tokens.windows(wanted.len()).enumerate();
        windows.any(|(at, window)| {
            let is_apart = at + wanted.len() <= own.start || own.end <= at;
            is_apart
                && window
                    .iter()
                    .zip(wanted)
                    .all(|((own, _), other)| own == other)
        })
    }
}

/// The kind of the change that undoes one: what was taken out comes in, and what came in goes. Other kinds are their own opposites.
fn undoing(kind: Schema, form: Form) -> Schema {
    match (kind, form) {
        (_, Form::AddedConjunct | Form::AddedDisjunct) => Schema::Refinement,
        (_, Form::AddedGuard | Form::InsertedConditional) => Schema::Guard,
        (_, Form::InsertedExit) => Schema::Exit,
        (_, Form::InsertedJump) => Schema::Break,
        (_, Form::InsertedCall) => Schema::Function,
        (_, Form::InsertedAssignment | Form::InsertedStep) => Schema::Assignment,
        (_, Form::RemovedStatement | Form::RemovedCode) => Schema::Deletion,
        (Schema::Refinement | Schema::UnusualExpression, _) => Schema::Expression,
        (kind, _) => kind,
    }
}

#[derive(Default)]
struct Incoming {
    leaf: Origin,
    leaf_distance: usize,
    callee: Origin,
    constant: Origin,
}

/// Of each token the number of the first one of its statement. Heads of `if` and loops are statements of their own.
fn starts(tokens: &[(&[u8], usize)]) -> Vec<usize> {
    let mut found = Vec::with_capacity(tokens.len());
    let (mut start, mut depth) = (0, 0usize);
    for (number, (token, _)) in tokens.iter().enumerate() {
        found.push(start);
        let is_head = matches!(tokens[start].0, b"if" | b"while" | b"for" | b"switch");
        match *token {
            b"(" => depth += 1,
            b")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && is_head {
                    start = number + 1;
                }
            }
            b";" if depth == 0 => start = number + 1,
            b"{" | b"}" | b"else" | b"do" => {
                depth = 0;
                start = number + 1;
            }
            _ => {}
        }
    }
    found
}

/// Returns the words and signs of both texts without their common beginning and end, and without braces.
pub fn changed<'t>(before: &'t [u8], after: &'t [u8]) -> (Vec<&'t [u8]>, Vec<&'t [u8]>) {
    let bare = |text: &'t [u8]| -> Vec<&'t [u8]> {
        let tokens = tokens(text).into_iter();
        tokens
            .filter(|token| !matches!(*token, b"{" | b"}"))
            .collect()
    };
    let (mut old, mut new) = (bare(before), bare(after));
    let begin = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..begin);
    new.drain(..begin);
    let end = old.iter().rev().zip(new.iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    old.truncate(old.len() - end);
    new.truncate(new.len() - end);
    (old, new)
}

/// How much of the longer of two names both begin and end with.
fn alike(one: &[u8], other: &[u8]) -> f64 {
    let shorter = one.len().min(other.len());
    let begin = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let end = one.iter().rev().zip(other.iter().rev());
    let end = end
        .take_while(|(a, b)| a == b)
        .count()
        .min(shorter - begin.min(shorter));
    (begin + end) as f64 / one.len().max(other.len()).max(1) as f64
}

/// Whether an edit only takes a piece of the text out.
fn takes_out(source: &[u8], edit: &Edit) -> bool {
    let (before, after) = (&source[edit.span.range()], &edit.text[..]);
    let same = |(a, b): &(&u8, &u8)| a == b;
    let begin = before.iter().zip(after).take_while(same).count();
    let end = before.iter().rev().zip(after.iter().rev());
    after.len() < before.len() && begin + end.take_while(same).count() >= after.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_what_differs_of_a_guarded_statement_is_new() {
        let (old, new) = changed(b"free(p);\n", b"if (p) {\n  free(p);\n}\n");
        assert!(old.is_empty());
        assert_eq!(new, [&b"if"[..], b"(", b"p", b")"]);
    }

    #[test]
    fn heads_of_statements_are_statements() {
        let text = b"{ if (a) b = 1; else for (i = 0; i < n; i++) c(i); }";
        let tokens = placed_tokens(text);
        let starts = starts(&tokens);
        let firsts: BTreeSet<&[u8]> = starts.iter().map(|start| tokens[*start].0).collect();
        assert!(firsts.contains(&b"if"[..]) && firsts.contains(&b"for"[..]));
        assert!(firsts.contains(&b"b"[..]) && firsts.contains(&b"c"[..]));
        assert!(!firsts.contains(&b"i"[..]));
    }

    #[test]
    fn names_are_alike_by_what_they_begin_and_end_with() {
        assert!(alike(b"src_len", b"dst_len") > 0.5);
        assert!(alike(b"i", b"n") < 0.1);
        assert!((alike(b"aa", b"aa") - 1.0).abs() < 1e-9);
    }
}
