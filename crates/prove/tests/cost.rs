//! What all minimal repairs of a program without loops cost: in patches that are asked about, not in seconds.
#![allow(clippy::disallowed_methods, reason = "tests read their own sources")]

use std::collections::BTreeMap;

use crate::common::{Asked, Reader, deep, encode};
use patchwright_prove::{
    Change, Extent, Level, NoDecider, Search, changed, mutations, question, spec,
};
use patchwright_solve::{Budget, Terms};
use patchwright_symbolic::Options;

const PROGRAM: &str = include_str!("cost/boiler.c");

/// Mutants of one and of two faults, spread over the program: 8, or with `PATCHWRIGHT_ALL` 40.
fn faults(reader: &mut Reader) -> Vec<(Vec<Change>, String)> {
    let source = [reader.source("boiler.c", PROGRAM)];
    let own = mutations(&source, Level::Two);
    let sites = &own[0].sites;
    let count = sites.len();
    let most = match std::env::var_os("PATCHWRIGHT_ALL") {
        Some(_) => 40,
        None => 8,
    };
    (0..most)
        .map(|number: usize| {
            let first = &sites[number * 7 % count];
            let which = |site: &patchwright_prove::Site| {
                (site.number, (number % site.mutations.len()) as u32 + 1)
            };
            let mut changes = vec![which(first)];
            if number % 2 == 1 {
                let second = &sites[(number * 11 + 5) % count];
                if second.number != first.number {
                    changes.push(which(second));
                }
            }
            changes.sort_unstable();
            let text = changed(PROGRAM.as_bytes(), sites, &changes, &BTreeMap::new());
            (
                changes,
                String::from_utf8(text.expect("it fits")).expect("text"),
            )
        })
        .collect()
}

#[test]
#[ignore = "nightly: 7 s; it counts questions, and no answer depends on it"]
fn few_patches_of_the_many_are_asked_about() {
    let mut reader = Reader::new();
    let library = reader.library();
    let reference = [reader.source("reference.c", PROGRAM)];
    let mut seconds = Vec::new();
    let mut asked_about = Vec::new();
    let mut all = 0;
    let mut repaired = 0;
    for (changes, text) in faults(&mut reader) {
        let sources = [reader.source("boiler.c", &text)];
        let asked = Asked {
            function: Some("control".to_owned()),
            ..Asked::default()
        };
        let started = std::time::Instant::now();
        let (found, patches) = deep(|| {
            let mut terms = Terms::new();
            let own = mutations(&sources, Level::Two);
            let entry = asked.entry(&sources);
            let options = asked.options();
            let program = encode(&mut terms, &sources, &library, &entry, &options, Some(&own));
            let options = Options {
                prefix: "reference.".to_owned(),
                ..options
            };
            let good = encode(&mut terms, &reference, &library, &entry, &options, None);
            let spec = spec(&mut terms, &program, Some(&good));
            let question = question(&mut terms, &spec, &own, &Budget::none());
            let single: usize = own[0].sites.iter().map(|site| site.mutations.len()).sum();
            let mut open = NoDecider(16);
            let never = || false;
            let search = Search::new(&mut terms, &question, Extent::default(), &mut open, &never);
            (search.run(&mut |_| ()), single + single * single / 2)
        });
        seconds.push(started.elapsed().as_secs_f64());
        assert!(found.complete, "{changes:?}");
        repaired += usize::from(!found.repairs.is_empty());
        asked_about.push(found.counts.patches);
        all = patches;
    }
    seconds.sort_by(f64::total_cmp);
    asked_about.sort_unstable();
    let (half, last) = (seconds.len() / 2, seconds.len() - 1);
    println!(
        "{all} patches each; asked about: median {}, most {}; seconds: median {:.2}, most {:.2}",
        asked_about[half], asked_about[last], seconds[half], seconds[last]
    );
    // A constant that became 0 cannot become what it was, and what it was added to stands alone then.
    assert!(repaired * 2 >= seconds.len(), "{repaired}");
    assert!(
        asked_about[half] < 20 && asked_about[last] < 50,
        "{asked_about:?}"
    );
}
