//! Reports the proof of each patch of a repair.

use std::fmt::Write;

use serde::Serialize;

use crate::{
    comparison::quoted,
    proof::{Counterexample, Report, Verdict},
    text::{Style, count},
};

/// The verdict on a patch for all inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// Its number in the report, from 1.
    pub patch: usize,
    /// What is known.
    pub verdict: Verdict,
    /// An input for which it is wrong.
    pub counterexample: Option<Counterexample>,
    /// Why nothing is known.
    pub reasons: Vec<String>,
    /// What was taken for granted.
    pub notes: Vec<String>,
}

/// The verdicts on the patches of a repair.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Proofs {
    /// Rounds of loops.
    pub bound: u32,
    /// The program states what shall hold, or there is a reference; otherwise only what ends or corrupts a program was
    /// looked for.
    pub stated: bool,
    /// The patches.
    pub patches: Vec<Proof>,
}

impl Proof {
    /// Makes the verdict that nothing is known, because of `reason`.
    pub fn unknown(patch: usize, reason: String) -> Proof {
        Proof {
            patch,
            verdict: Verdict::Unknown,
            counterexample: None,
            reasons: vec![reason],
            notes: Vec::new(),
        }
    }

    /// Makes the verdict on a patch from the report of its proof.
    pub fn of(patch: usize, report: Report) -> Proof {
        let mut reasons: Vec<String> = Vec::new();
        for (reason, place) in &report.reasons {
            reasons.push(match place {
                Some(place) => format!("{reason}, at {place} in {}", place.function),
                None => reason.clone(),
            });
        }
        match report.verdict {
            Verdict::OutOfBudget => reasons.push("the solver did not get done with it".to_owned()),
            Verdict::Void => reasons.push("no input satisfies the assumptions".to_owned()),
            Verdict::Interrupted => reasons.push("it was interrupted".to_owned()),
            _ => {}
        }
        Proof {
            patch,
            verdict: report.verdict,
            counterexample: report.counterexample,
            reasons,
            notes: report.notes,
        }
    }
}

impl Proofs {
    /// Returns the verdicts as text.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "\n{}", style.paint("1", "Proofs, for all inputs:"));
        if !self.stated {
            let _ = writeln!(
                text,
                "  The program has no assertion, so only memory accesses and divisions were checked: write \
                 `assert(condition)`, or give --prove-like REFERENCE.c."
            );
        }
        for proof in &self.patches {
            let _ = write!(text, "  patch {}: ", proof.patch);
            let _ = match (&proof.counterexample, proof.verdict) {
                (Some(found), _) => writeln!(
                    text,
                    "{}: {}",
                    style.paint("31;1", "refuted"),
                    refutation(found)
                ),
                (None, Verdict::Proved) => {
                    writeln!(text, "{} for all inputs", style.paint("32;1", "proved"))
                }
                (None, Verdict::Bounded) => writeln!(
                    text,
                    "{} for all inputs as far as {}",
                    style.paint("32;1", "proved"),
                    count(
                        u64::from(self.bound),
                        "round of each loop",
                        "rounds of each loop"
                    )
                ),
                (None, _) => writeln!(
                    text,
                    "{}, because {}",
                    style.paint("33;1", "unknown"),
                    proof.reasons.join("; ")
                ),
            };
        }
        let mut told: Vec<&String> = Vec::new();
        for note in self.patches.iter().flat_map(|proof| &proof.notes) {
            if !told.contains(&note) {
                let _ = writeln!(text, "  note: {note}");
                told.push(note);
            }
        }
        text
    }
}

fn refutation(found: &Counterexample) -> String {
    let mut text = found.message.clone();
    if let Some(place) = &found.place {
        let _ = write!(text, " at {place} in {}", place.function);
    }
    let mut given: Vec<String> = found
        .inputs
        .iter()
        .map(|input| format!("{} = {}", input.name, input.value))
        .collect();
    if !found.arguments.is_empty() {
        let words: Vec<String> = found.arguments.iter().map(|word| quoted(word)).collect();
        given.push(format!("arguments {}", words.join(" ")));
    }
    if let Some(input) = &found.standard_input {
        given.push(format!("standard input {}", quoted(input)));
    }
    if !given.is_empty() {
        let _ = write!(text, ", by {}", given.join(", "));
    }
    let _ = match found.replay.as_str() {
        "agrees" => write!(text, " (the interpreter agrees)"),
        other => write!(text, " (not executed: {other})"),
    };
    text
}
