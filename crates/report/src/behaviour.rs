//! Reports what patches change in a program's behaviour: groups of patches, and inputs that tell the
//! groups apart.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::{
    comparison::{Ran, quoted},
    text::{Style, count},
};

/// An input with the outputs of the executions on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: String,
    /// What the program does.
    pub old: Ran,
    /// What it does with the patch.
    pub new: Ran,
}

/// Patches with which the program did the same for all inputs that were tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Their numbers in the report, from 1.
    pub patches: Vec<usize>,
    /// Inputs for which the program does something else with them.
    pub changed: usize,
    /// Of these, inputs that are like those of tests that pass without any patch.
    pub changed_like_passing: usize,
    /// The smallest of these inputs.
    pub example: Option<Example>,
    /// In how many partitions of all inputs the first patch changes the program, if known.
    pub partitions: Option<Partitions>,
    /// The number of an answer that they contradict.
    pub contradicts: Option<usize>,
}

/// How many of all inputs a patch changes, by partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Partitions {
    /// Those for which the patch changes what the program does.
    pub changed: usize,
    /// All that were made.
    pub all: usize,
    /// They cover all inputs.
    pub complete: bool,
    /// For all inputs of no partition the patch changes nothing: proved.
    pub rest_is_the_same: bool,
}

impl Partitions {
    fn text(&self) -> String {
        let rest = match (self.complete, self.rest_is_the_same) {
            (true, _) => "",
            (false, true) => ", and for no other input",
            (false, false) => " that were looked at",
        };
        format!(
            "{} of {} of all inputs{rest}",
            self.changed,
            count(self.all as u64, "partition", "partitions")
        )
    }
}

/// An input for which two groups of patches do different things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Distinguishing {
    /// The first patches of both groups.
    pub patches: [usize; 2],
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: String,
    /// What both do.
    pub outputs: [Ran; 2],
}

/// The report on the behaviour of patches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Behaviour {
    /// Inputs that everything was executed with.
    pub inputs: usize,
    /// Of these, inputs that are like those of tests that pass without any patch.
    pub like_passing: usize,
    /// The patches by what they do, in the order of the report.
    pub groups: Vec<Group>,
    /// For each pair of leading groups an input.
    pub distinguishing: Vec<Distinguishing>,
    /// The patches' names; empty if they have only numbers.
    pub names: Vec<String>,
    /// Answers that were given.
    pub answers: usize,
    /// Why nothing is known of some patches.
    pub notes: Vec<String>,
}

/// The right result for an input: one line of `--answers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Arguments of the program.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Its standard input.
    #[serde(default)]
    pub input: String,
    /// What it prints.
    pub output: String,
    /// Its exit status.
    #[serde(default)]
    pub status: i32,
}

/// Reads answers, one JSON object a line.
///
/// # Errors
/// The number of the first line that is not an answer, from 1, and what is wrong with it.
pub fn answers(text: &str) -> Result<Vec<Answer>, (usize, String)> {
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| (number, error.to_string()))
        })
        .collect()
}

/// Returns an input as one line of text.
pub fn input(arguments: &[String], input: &str) -> String {
    let mut words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
    if !input.is_empty() || arguments.is_empty() {
        words.push(format!("standard input {}", quoted(input)));
    }
    words.join(" ")
}

impl Behaviour {
    /// Returns the report as text.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "\n{} ({} like those of passing tests):",
            style.paint(
                "1",
                &format!(
                    "Behaviour, seen with {}",
                    count(self.inputs as u64, "input", "inputs")
                )
            ),
            self.like_passing
        );
        for group in &self.groups {
            let numbers: Vec<String> = match self.names.is_empty() {
                true => group.patches.iter().map(usize::to_string).collect(),
                false => group.patches.iter().map(|&one| self.name(one)).collect(),
            };
            let name = match (numbers.len(), self.names.is_empty()) {
                (1, true) => format!("patch {}", numbers[0]),
                (1, false) => numbers[0].clone(),
                (_, true) => format!(
                    "patches {} (none of the inputs tried tells them apart)",
                    numbers.join(", ")
                ),
                (_, false) => format!(
                    "{} (none of the inputs tried tells them apart)",
                    numbers.join(", ")
                ),
            };
            let _ = write!(
                text,
                "  {name}: {} the result for {} of {}, {} of them like passing tests",
                if numbers.len() == 1 {
                    "changes"
                } else {
                    "change"
                },
                group.changed,
                count(self.inputs as u64, "input", "inputs"),
                group.changed_like_passing
            );
            if let Some(partitions) = &group.partitions {
                let _ = write!(text, "; for {}", partitions.text());
            }
            if let Some(example) = &group.example {
                let _ = write!(
                    text,
                    ", e.g. {}: {} → {}",
                    input(&example.arguments, &example.input),
                    example.old.text(false),
                    example.new.text(false)
                );
            }
            if let Some(answer) = group.contradicts {
                let _ = write!(text, "; contradicts answer {answer}");
            }
            let _ = writeln!(text);
        }
        for one in &self.distinguishing {
            let _ = writeln!(
                text,
                "  {} tells {} ({}) from {} ({})",
                input(&one.arguments, &one.input),
                self.name(one.patches[0]),
                one.outputs[0].text(false),
                self.name(one.patches[1]),
                one.outputs[1].text(false)
            );
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        text
    }

    /// What a patch is called.
    fn name(&self, number: usize) -> String {
        let own = number.checked_sub(1).and_then(|at| self.names.get(at));
        own.cloned().unwrap_or_else(|| format!("patch {number}"))
    }

    /// Replaces the numbers of the patches by those that `number` gives.
    pub fn renumber(&mut self, number: &dyn Fn(usize) -> usize) {
        for group in &mut self.groups {
            for patch in &mut group.patches {
                *patch = number(*patch);
            }
        }
        for one in &mut self.distinguishing {
            one.patches = one.patches.map(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_lines_of_json_and_a_wrong_one_is_told_with_its_number() {
        let text = "{\"arguments\": [\"-5\"], \"output\": \"0\\n\"}\n\n{\"input\": \"x\", \"output\": \"\", \"status\": 2}\n";
        let found = answers(text).expect("they are right");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].output.as_str(), found[0].status), ("0\n", 0));
        assert_eq!((found[1].input.as_str(), found[1].status), ("x", 2));
        assert_eq!(
            answers("{\"output\": \"a\"}\nyes\n").map_err(|e| e.0),
            Err(2)
        );
    }
}
