//! Finds patches that may behave differently in each run, because they call `rand`, `time` and the like.

use std::collections::BTreeSet;

use patchwright_csource::lex;

use crate::planned::{PlannedPatch, SourceFile};

/// Functions whose results differ from execution to execution.
const VARYING: [&str; 24] = [
    "arc4random",
    "arc4random_uniform",
    "clock",
    "clock_gettime",
    "drand48",
    "ftime",
    "getentropy",
    "getpid",
    "getppid",
    "getrandom",
    "getrusage",
    "gettimeofday",
    "gettid",
    "lrand48",
    "mkstemp",
    "mktemp",
    "mrand48",
    "rand",
    "rand_r",
    "random",
    "time",
    "times",
    "timespec_get",
    "tmpnam",
];

/// Whether a patch adds a mention of a function with varying results, such as `rand` or `time`, to a function without one.
pub fn may_vary(planned: &PlannedPatch, sources: &[SourceFile]) -> bool {
    let named = |text: &[u8]| -> BTreeSet<&'static str> {
        let words = lex::words(text);
        let varying = VARYING.iter().copied();
        varying
            .filter(|name| words.iter().any(|word| word == name))
            .collect()
    };
    planned.files.iter().any(|file| {
        let source = &sources[file.file];
        let in_functions = file.functions.iter().any(|own| {
            let function = &source.unit.functions[own.function];
            let before = function.body_span.slice(&source.unit.source);
            let before = named(before.unwrap_or_default());
            let mut edits = own.edits.iter();
            edits.any(|edit| !named(&edit.text).is_subset(&before))
        });
        let mut additions = file.additions.iter();
        in_functions || additions.any(|addition| !named(&addition.text).is_empty())
    })
}
