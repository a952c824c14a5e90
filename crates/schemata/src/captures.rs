//! Makes the texts for evaluations of a place, for all ways in which its source is compiled.

use std::collections::BTreeSet;

use patchwright_csource::{Function, TranslationUnit};
use patchwright_text::Span;

use crate::capture;
use crate::placing::BatchPlace;
use crate::planned::SourceFile;
use crate::scan;
use crate::uncaptured::Uncaptured;

/// A woven source with what is known of its functions.
pub struct Captures<'a> {
    source: &'a SourceFile,
    /// The woven source as each way has it; none if one could not be read, and then nothing is captured.
    woven: &'a [TranslationUnit],
    /// Functions that may be called, in every way.
    pure: BTreeSet<String>,
    /// Patches, numbered as in the batch, that may use something without a value.
    undefined: &'a BTreeSet<u32>,
}

/// The texts for evaluations of a place, or why there are none.
pub struct CapturedPlace {
    /// That of the original.
    pub original: Result<Vec<u8>, Uncaptured>,
    /// Those of the alternatives, in their order.
    pub alternatives: Vec<Result<Vec<u8>, Uncaptured>>,
    /// The type of what its function returns; `None` where it returns nothing, or what cannot be kept.
    pub result: Option<&'static str>,
}

impl<'a> Captures<'a> {
    /// Prepares the texts of a source for evaluations. `woven` has the woven source once for each way of compiling it; it is empty if one
    /// could not be read. `undefined` are patches (numbers of the batch) that may use unwritten values. Functions in `excluded` hold
    /// places, so evaluations must not call them.
    pub fn new(
        source: &'a SourceFile,
        woven: &'a [TranslationUnit],
        undefined: &'a BTreeSet<u32>,
        excluded: &BTreeSet<&str>,
    ) -> Self {
        let pure = |unit: &TranslationUnit| capture::pure_functions(unit, excluded);
        let pure = woven.iter().map(pure);
        let pure = pure.reduce(|known, own| known.intersection(&own).cloned().collect());
        Captures {
            source,
            woven,
            pure: pure.unwrap_or_default(),
            undefined,
        }
    }

    /// Returns the texts for a place of the function with this index. Its alternatives stand at
    /// `spans` in the woven text. It is `None` if the woven source could not be read.
    pub fn of_place(
        &self,
        place: &BatchPlace,
        function: usize,
        suffix: &str,
        spans: &[Span],
    ) -> Option<CapturedPlace> {
        let mut compilers = self.source.compilers();
        if compilers.any(|(_, compiler)| compiler.traps_undefined_behaviour()) {
            return Some(CapturedPlace {
                original: Err(Uncaptured::Sanitized),
                alternatives: vec![Err(Uncaptured::Sanitized); spans.len()],
                result: None,
            });
        }
        if self.woven.is_empty() {
            return None;
        }
        let labels = &self.source.unit.functions[function].labels;
        let kind = place.run.kind;
        let text = |unit: &TranslationUnit, function: &Function, span: Span| {
            let text = capture::Text {
                unit,
                function,
                span,
                kind,
                pure: &self.pure,
                has_register: scan::has_register(&unit.source, function.body_span),
            };
            capture::captured(&text, suffix, labels)
        };
        let ways = self.source.in_ways(function);
        let originals = ways
            .iter()
            .map(|(unit, own)| text(unit, own, place.run.span));
        let alternatives = place.alternatives.iter().zip(spans);
        let alternatives = alternatives.map(|(alternative, span)| {
            let mut patches = alternative.patches.iter();
            if patches.any(|patch| self.undefined.contains(patch)) {
                return Err(Uncaptured::Undefined);
            }
            let own = self
                .woven
                .iter()
                .map(|unit| match function_at(unit, *span) {
                    Some(function) => text(unit, function, *span),
                    None => Err(Uncaptured::Unread),
                });
            agreed(own)
        });
        let results = ways
            .iter()
            .map(|(unit, own)| capture::result_type(unit, own.return_type));
        Some(CapturedPlace {
            original: agreed(originals),
            alternatives: alternatives.collect(),
            result: agreed(results).ok().flatten(),
        })
    }
}

/// What is found in every way; the first reason against it, or that it is not the same in each.
fn agreed<T: PartialEq>(
    found: impl Iterator<Item = Result<T, Uncaptured>>,
) -> Result<T, Uncaptured> {
    let both = |known: Result<T, Uncaptured>, own: Result<T, Uncaptured>| match (known?, own?) {
        (known, own) if known == own => Ok(known),
        _ => Err(Uncaptured::Ways),
    };
    found.reduce(both).unwrap_or(Err(Uncaptured::Unread))
}

/// Returns the function in whose body `span` lies.
pub fn function_at(unit: &TranslationUnit, span: Span) -> Option<&Function> {
    unit.functions
        .iter()
        .find(|function| function.body_span.contains_span(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_another_way_has_otherwise_is_not_captured() {
        let found = |texts: &[Result<i32, Uncaptured>]| agreed(texts.iter().copied());
        assert_eq!(found(&[Ok(1), Ok(1)]), Ok(1));
        assert_eq!(found(&[Ok(1), Ok(2)]), Err(Uncaptured::Ways));
        assert_eq!(
            found(&[Ok(1), Err(Uncaptured::Call)]),
            Err(Uncaptured::Call)
        );
        assert_eq!(found(&[]), Err(Uncaptured::Unread));
    }
}
