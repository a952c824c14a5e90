//! Loops of both versions, followed round by round, together: what is proved so holds for any number of rounds.

use std::collections::BTreeSet;

use patchwright_compare::Rounds;
use patchwright_symbolic::Check;

use super::{
    read::Version,
    symbolic::{Encoder, Job},
};

impl Job<'_> {
    /// How a function was proved to be the same by rounds of loops that both versions take together; nothing if it was not.
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
