//! Proves that both versions do the same for any number of rounds.

use std::collections::BTreeSet;

use patchwright_compare::{Rounds, Turning};
use patchwright_symbolic::Check;

use super::{
    paths::Setup,
    read::Version,
    symbolic::{Encoder, Job},
};

/// What all numbers of an input are that is tried.
const TRIED: [u128; 6] = [0, 1, 2, 3, 5, 8];

impl Job<'_> {
    /// Whether an input is soon found with which both versions come to their end, and neither fails.
    pub(super) fn some_end(&self, checks: &BTreeSet<Check>, interrupt: &dyn Fn() -> bool) -> bool {
        let encoder = Encoder {
            args: self.args,
            checks,
            shared: &self.versions.shared,
            interrupt,
        };
        let extent = patchwright_compare::Extent {
            different: 1,
            equal: 1,
            conflicts: None,
            strategy: patchwright_compare::Strategy::Differences,
        };
        let options = encoder.options(String::new(), true);
        let setup = Setup::of(&self.versions, options, extent, Turning::Any);
        setup.some_end(&TRIED, interrupt)
    }

    /// Proves by induction over common rounds that two functions are the same. Returns how in words, or `None` without a proof.
    pub(super) fn together(
        &self,
        checks: &BTreeSet<Check>,
        interrupt: &dyn Fn() -> bool,
    ) -> Option<String> {
        let function = self.args.function.as_ref()?;
        let [old, new] = self.versions.both.each_ref().map(Version::module);
        let encoder = Encoder {
            args: self.args,
            checks,
            shared: &self.versions.shared,
            interrupt,
        };
        let rounds = Rounds {
            modules: [&old, &new],
            library: &self.versions.library,
            shapes: self
                .versions
                .both
                .each_ref()
                .map(|one| one.shapes.as_slice()),
            options: &encoder.options(String::new(), true),
            interrupt,
        };
        let together = rounds.together(function)?;
        let loops = match together.loops {
            0 => String::new(),
            1 => "a loop takes as many rounds in both versions, and leaves the same".to_owned(),
            many => {
                format!("{many} loops take as many rounds in both versions, and leave the same")
            }
        };
        let calls = together
            .opaque
            .iter()
            .map(|name| format!("`{name}` makes the same calls of itself in both versions"));
        let all: Vec<String> = Some(loops)
            .filter(|text| !text.is_empty())
            .into_iter()
            .chain(calls)
            .collect();
        Some(format!(
            "proved by induction, for any number of rounds: {}",
            all.join("; ")
        ))
    }
}
