//! Computes how likely a candidate is meant, by a log-linear model of features of its text.
//!
//! The model is log-linear: the probability of a candidate among all of its function is proportional to the exponential of the sum of its
//! features, each with its weight. [`FEATURES`] is the list of them, one line each.

pub mod form;
pub mod learned;
pub mod surprise;
pub mod tokens;
pub mod traits;
mod untyped;
mod weights;

pub use form::{Form, Shape};
pub use traits::{Change, FunctionFacts, Number, Origin, Traits, changed, kind_name};
pub use untyped::{places, untyped};
pub use weights::Weights;

use serde::Serialize;

/// A feature of the model: one number of a candidate, or one of several that it may have.
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// Its value; of a choice among several the name of the one, with 1.
    value: fn(&Traits) -> Value,
}

enum Value {
    Number(f64),
    Choice(Option<String>),
}

impl Feature {
    /// Returns the name and the value of the feature for a candidate, or `None` if the value is 0.
    pub fn of(&self, traits: &Traits) -> Option<(String, f64)> {
        match (self.value)(traits) {
            Value::Number(0.0) | Value::Choice(None) => None,
            Value::Number(number) => Some((self.name.to_owned(), number)),
            Value::Choice(Some(choice)) => Some((format!("{}={choice}", self.name), 1.0)),
        }
    }
}

const fn feature(name: &'static str, about: &'static str, value: fn(&Traits) -> Value) -> Feature {
    Feature { name, about, value }
}

fn yes(it_is: bool) -> Value {
    Value::Number(f64::from(u8::from(it_is)))
}

/// Numbers of bytes, words and lines: twice as many are one more.
fn logarithm(number: usize) -> Value {
    Value::Number((1.0 + number as f64).log2())
}

/// The name under which an item of an enumeration is kept.
fn choice<T: Serialize + Default + PartialEq>(item: &T) -> Value {
    if *item == T::default() {
        return Value::Choice(None);
    }
    let name = serde_json::to_value(item).ok();
    Value::Choice(name.and_then(|name| name.as_str().map(str::to_owned)))
}

/// All features of the model. A trait without a line here did not improve the order on held-out
/// repositories.
pub const FEATURES: &[Feature] = &[
    feature("kind", "the kind of change", |t| {
        Value::Choice(Some(kind_name(t.kind)))
    }),
    feature(
        "kind-at-cost",
        "the kind of change, with what it costs in the search",
        |t| Value::Choice(Some(format!("{}-{}", kind_name(t.kind), t.cost))),
    ),
    feature("form", "what it does to words and signs", |t| {
        Value::Choice(Some(t.form.name()))
    }),
    feature(
        "joined",
        "what it does, and how the condition looks that it adds",
        |t| {
            let joined = t.shape != Shape::None;
            Value::Choice(joined.then(|| format!("{}-{}", t.form.name(), t.shape.name())))
        },
    ),
    feature(
        "joined-leaf",
        "what it does, and where the variable of the condition that it adds stands otherwise",
        |t| {
            let joined = t.shape != Shape::None;
            Value::Choice(joined.then(|| format!("{}-{}", t.form.name(), t.leaf.name())))
        },
    ),
    feature("cost", "its cost in the search", |t| {
        Value::Number(f64::from(t.cost))
    }),
    feature("added", "words and signs that come in", |t| {
        logarithm(t.added)
    }),
    feature("removed", "words and signs that go", |t| {
        logarithm(t.removed)
    }),
    feature(
        "leaf",
        "where a variable that comes in stands otherwise",
        |t| choice(&t.leaf),
    ),
    feature("leaf-distance", "how far away that is mentioned", |t| {
        logarithm(t.leaf_distance)
    }),
    feature(
        "callee",
        "where a function that comes in is called otherwise",
        |t| choice(&t.callee),
    ),
    feature(
        "constant",
        "where a name in capitals stands otherwise",
        |t| choice(&t.constant),
    ),
    feature("number", "which number comes in", |t| choice(&t.number)),
    feature(
        "alike",
        "how alike the names are of which one replaces the other",
        |t| Value::Number(t.alike),
    ),
    feature(
        "copy",
        "what comes in stands elsewhere in the function",
        |t| yes(t.is_copy),
    ),
    feature("surprise-before", "bits that what goes took there", |t| {
        Value::Number(t.surprise_before / 10.0)
    }),
    feature(
        "surprise-of-each",
        "bits of each word or sign that comes in",
        |t| Value::Number(t.surprise / (2.0 + t.added as f64)),
    ),
    feature("forgets", "nothing reads some variable any more", |t| {
        yes(t.forgets)
    }),
    feature("size-of-change", "bytes that differ", |t| {
        logarithm(t.size_of_change)
    }),
    feature("evasion", "something is kept from happening", |t| {
        yes(t.is_evasion)
    }),
    feature(
        "distance",
        "words and signs that differ, lost names twice",
        |t| logarithm(t.distance),
    ),
    feature("grows", "the text gains", |t| {
        logarithm(t.growth.max(0) as usize)
    }),
    feature("shrinks", "the text loses", |t| {
        logarithm((-t.growth).max(0) as usize)
    }),
    feature("keeps", "nothing goes", |t| yes(t.removed == 0)),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::FEATURES;

    #[test]
    fn every_feature_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        assert_eq!(names.len(), FEATURES.len());
    }
}
