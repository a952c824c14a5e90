//! What commands have found, for editors, code reviews and pipelines: SARIF 2.1.0, annotations of GitHub, JUnit XML.

use std::path::Path;

use patchwright_repair::RepairOutcome;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};

use crate::localization;
use crate::proof;
use crate::screen::visible;

/// How grave something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is wrong.
    Error,
    /// It is likely wrong, or can be changed.
    Warning,
    /// It is good to know.
    Note,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is, as a name that does not change.
    pub rule: String,
    /// How grave it is.
    pub level: Level,
    /// What it is, in words.
    pub message: String,
    /// Where it is.
    pub place: Option<Line>,
    /// The way that an execution takes to it.
    pub flow: Vec<(Line, String)>,
    /// A unified diff that mends it.
    pub diff: Option<String>,
    /// From 0 to 100, how much it deserves attention.
    pub rank: Option<f64>,
}

/// What a run has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The command.
    pub command: &'static str,
    /// What was looked at.
    pub subject: String,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The folder to which files of diffs are relative, seen from the root of the sources: empty, or with a slash at its end.
    pub folder: String,
}

/// The largest number of suspicious statements that are findings.
const MOST_SUSPECTS: usize = 20;

impl Findings {
    /// Returns the up to 20 most suspicious statements as findings: the first as a warning, the others as notes.
    pub fn of_localization(report: &localization::Report<'_>) -> Self {
        let most = report.top.min(MOST_SUSPECTS);
        let findings = report.suspects(most).into_iter().map(|suspect| Finding {
            rule: "suspicious-statement".to_owned(),
            level: match suspect.rank {
                1 => Level::Warning,
                _ => Level::Note,
            },
            message: format!(
                "suspicion {:.3}, rank {}: {} failing and {} passing tests execute it",
                suspect.suspiciousness, suspect.rank, suspect.failing, suspect.passing
            ),
            place: Some(Line {
                file: suspect.file,
                line: suspect.line,
            }),
            flow: Vec::new(),
            diff: None,
            rank: Some(suspect.suspiciousness.clamp(0.0, 1.0) * 100.0),
        });
        Findings {
            command: "localize",
            subject: "the program".to_owned(),
            findings: findings.collect(),
            folder: String::new(),
        }
    }

    /// Returns each reported patch of a repair as a warning with its diff.
    pub fn of_repair(outcome: &RepairOutcome) -> Self {
        let patches = outcome.patches.iter().enumerate();
        let findings = patches.map(|(at, patch)| {
            let undefined = match &patch.undefined {
                Some(objection) => format!("; but by undefined behaviour: {objection}"),
                None => String::new(),
            };
            Finding {
                rule: "plausible-patch".to_owned(),
                level: Level::Warning,
                message: format!(
                    "with patch {} every test passes ({}, cost {}{undefined})",
                    at + 1,
                    patch.schema_in_words(),
                    patch.cost
                ),
                place: Some(Line {
                    file: patch.file.to_string_lossy().into_owned(),
                    line: patch.line,
                }),
                flow: Vec::new(),
                diff: Some(String::from_utf8_lossy(&patch.diff).into_owned()),
                rank: None,
            }
        });
        Findings {
            command: "repair",
            subject: "the program".to_owned(),
            findings: findings.collect(),
            folder: String::new(),
        }
    }

    /// Returns what a proof says as findings: the counterexample with the lines that lead to it, the repairs, and each reason
    /// why something is not known.
    pub fn of_proof(report: &proof::Report) -> Self {
        let line = |place: &proof::Place| Line {
            file: place.file.clone(),
            line: place.line,
        };
        let mut findings = Vec::new();
        for found in report.counterexample.iter().chain(&report.endless) {
            let inputs: Vec<String> = found
                .inputs
                .iter()
                .map(|input| format!("{} = {}", input.name, input.value))
                .collect();
            let inputs = match inputs.is_empty() {
                true => String::new(),
                false => format!(", for example for {}", inputs.join(", ")),
            };
            let message = format!("{}{inputs}", found.message);
            let failing = found.place.as_ref().map(line);
            findings.push(Finding {
                rule: found.kind.clone(),
                level: Level::Error,
                message: message.clone(),
                place: failing.clone(),
                flow: found
                    .trace
                    .iter()
                    .map(|step| {
                        let value = match (&step.name, &step.value) {
                            (Some(name), Some(value)) => format!("{name} = {value}"),
                            _ => step.place.text.trim().to_owned(),
                        };
                        (line(&step.place), value)
                    })
                    .chain(failing.map(|place| (place, message)))
                    .collect(),
                diff: None,
                rank: None,
            });
        }
        for repair in report.repairs.iter().flat_map(|repairs| &repairs.repairs) {
            findings.push(Finding {
                rule: "minimal-repair".to_owned(),
                level: Level::Note,
                message: match repair.standing {
                    proof::Standing::AllInputs => {
                        format!("repair {} is proved for all inputs", repair.number)
                    }
                    proof::Standing::WithinBound => {
                        format!("repair {} is proved within the bound", repair.number)
                    }
                },
                place: repair.places.first().map(line),
                flow: Vec::new(),
                diff: Some(repair.diff.clone()),
                rank: None,
            });
        }
        let is_open = !matches!(
            report.verdict,
            proof::Verdict::Proved | proof::Verdict::Failed
        );
        if is_open {
            let reasons: Vec<&str> = report.reasons.iter().map(|(text, _)| &text[..]).collect();
            let reasons = match reasons.is_empty() {
                true => String::new(),
                false => format!(": {}", reasons.join("; ")),
            };
            findings.push(Finding {
                rule: "not-decided".to_owned(),
                level: Level::Note,
                message: format!("{} is not proved for all inputs{reasons}", report.entry),
                place: report
                    .reasons
                    .iter()
                    .find_map(|(_, place)| place.as_ref())
                    .or(report.beyond.first())
                    .map(line),
                flow: Vec::new(),
                diff: None,
                rank: None,
            });
        }
        Findings {
            command: "prove",
            subject: report.entry.clone(),
            findings,
            folder: String::new(),
        }
    }

    /// Returns the findings with files seen from the root of the sources, in which the folder `below` holds them.
    pub fn below(mut self, below: &Path) -> Self {
        if below.as_os_str().is_empty() {
            return self;
        }
        self.folder = format!("{}/", below.display());
        for finding in &mut self.findings {
            let lines = finding.flow.iter_mut().map(|(line, _)| line);
            for line in lines.chain(&mut finding.place) {
                if !line.file.starts_with('/') {
                    line.file.insert_str(0, &self.folder);
                }
            }
        }
        self
    }

    /// Returns the findings as a SARIF 2.1.0 log.
    pub fn sarif(&self) -> String {
        let mut rules: Vec<&str> = self.findings.iter().map(|one| &one.rule[..]).collect();
        rules.sort_unstable();
        rules.dedup();
        let rules: Vec<Value> = rules
            .into_iter()
            .map(|rule| json!({ "id": rule, "shortDescription": { "text": described(rule) } }))
            .collect();
        let results: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| result(finding, &self.folder))
            .collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "Patchwright",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "automationDetails": { "id": format!("patchwright/{}/", self.command) },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        });
        // Strings and finite numbers only: this cannot fail.
        let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns one workflow command of GitHub for each finding (`::warning file=…`), a line each. GitHub shows them beside the code.
    pub fn annotations(&self) -> String {
        let data = |text: &str| {
            let text = text.replace('%', "%25");
            text.replace('\r', "%0D").replace('\n', "%0A")
        };
        let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
        let mut out = String::new();
        for finding in &self.findings {
            let level = match finding.level {
                Level::Note => "notice",
                other => other.word(),
            };
            let place = finding
                .place
                .as_ref()
                .map(|place| format!("file={},line={},", property(&place.file), place.line));
            let mut message = finding.message.clone();
            if let Some(diff) = &finding.diff {
                message += &format!("\n{diff}");
            }
            out += &format!(
                "::{level} {}title={}::{}\n",
                place.unwrap_or_default(),
                property(&described(&finding.rule)),
                data(&message)
            );
        }
        out
    }

    /// Returns the findings as JUnit XML. An error or a warning is a failing case, a note a passing one. Without findings there
    /// is one passing case.
    pub fn junit(&self) -> String {
        let mut report = quick_junit::Report::new(format!("patchwright {}", self.command));
        let mut suite = TestSuite::new(visible(&self.subject));
        for finding in &self.findings {
            let place = finding.place.as_ref();
            let place = place.map_or(String::new(), |place| {
                format!(" at {}:{}", place.file, place.line)
            });
            let status = match finding.level {
                Level::Note => TestCaseStatus::success(),
                Level::Error | Level::Warning => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_type(finding.rule.clone());
                    status.set_message(visible(&finding.message));
                    status
                }
            };
            let mut case = TestCase::new(visible(&format!("{}{place}", finding.rule)), status);
            case.set_classname(format!("patchwright.{}", self.command));
            if let Some(diff) = &finding.diff {
                case.set_system_out(visible(diff));
            }
            suite.add_test_case(case);
        }
        if self.findings.is_empty() {
            let mut case = TestCase::new(visible(&self.subject), TestCaseStatus::success());
            case.set_classname(format!("patchwright.{}", self.command));
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
        // The data are strings: this cannot fail.
        report.to_string().unwrap_or_default()
    }
}

/// A rule in words.
fn described(rule: &str) -> String {
    match rule {
        "suspicious-statement" => "Failing tests execute it more than passing ones".to_owned(),
        "plausible-patch" => "A patch with which every test passes".to_owned(),
        "minimal-repair" => "A repair that is proved".to_owned(),
        "not-decided" => "Neither proved nor refuted".to_owned(),
        other => other.replace(['-', '_'], " "),
    }
}

/// A path as a reference of a URI.
fn uri(file: &str) -> String {
    let mut out = String::new();
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char);
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

fn artifact(file: &str) -> Value {
    match file.starts_with('/') {
        true => json!({ "uri": format!("file://{}", uri(file)) }),
        false => json!({ "uri": uri(file), "uriBaseId": "%SRCROOT%" }),
    }
}

fn location(line: &Line) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": artifact(&line.file),
        "region": { "startLine": line.line.max(1) },
    } })
}

fn result(finding: &Finding, folder: &str) -> Value {
    let mut result = json!({
        "ruleId": finding.rule,
        "level": finding.level.word(),
        "message": { "text": finding.message },
    });
    if let Some(place) = &finding.place {
        result["locations"] = json!([location(place)]);
    }
    if let Some(rank) = finding.rank {
        result["rank"] = json!(rank);
    }
    if !finding.flow.is_empty() {
        let locations: Vec<Value> = finding
            .flow
            .iter()
            .map(|(line, text)| {
                let mut location = location(line);
                location["message"] = json!({ "text": text });
                json!({ "location": location })
            })
            .collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": locations }] }]);
    }
    let changes = finding.diff.as_deref();
    let changes = changes
        .map(|diff| self::changes(diff, folder))
        .unwrap_or_default();
    if !changes.is_empty() {
        result["fixes"] = json!([{
            "description": { "text": finding.message },
            "artifactChanges": changes,
        }]);
    }
    result
}

/// A unified diff as replacements of whole lines in files of this folder.
fn changes(diff: &str, folder: &str) -> Vec<Value> {
    let mut files: Vec<(String, Vec<Value>)> = Vec::new();
    let mut line = 0;
    // Of the piece that is being read: where it begins, how many lines go, what comes.
    let mut piece: Option<(usize, usize, String)> = None;
    let close = |piece: &mut Option<(usize, usize, String)>,
                 files: &mut Vec<(String, Vec<Value>)>| {
        if let (Some((start, gone, text)), Some((_, replacements))) =
            (piece.take(), files.last_mut())
        {
            replacements.push(json!({
                "deletedRegion": {
                    "startLine": start, "startColumn": 1,
                    "endLine": start + gone, "endColumn": 1,
                },
                "insertedContent": { "text": text },
            }));
        }
    };
    let mut is_in_hunk = false;
    for text in diff.lines() {
        if let (false, Some(name)) = (is_in_hunk, text.strip_prefix("+++ ")) {
            let name = name.split('\t').next().unwrap_or(name);
            let name = name.strip_prefix("b/").unwrap_or(name);
            files.push((format!("{folder}{name}"), Vec::new()));
            continue;
        }
        if text.starts_with("--- ") && !is_in_hunk || text.starts_with("diff ") {
            is_in_hunk = false;
            continue;
        }
        if let Some(rest) = text.strip_prefix("@@ -") {
            close(&mut piece, &mut files);
            is_in_hunk = true;
            let (start, count) = rest.split_once(' ').map_or((rest, "1"), |(old, _)| {
                old.split_once(',').unwrap_or((old, "1"))
            });
            line = start.parse().unwrap_or(1);
            // An insertion stands behind the line that it names.
            line += usize::from(count == "0");
            continue;
        }
        match text.as_bytes().first() {
            Some(b'-') => {
                let (_, gone, _) = piece.get_or_insert((line, 0, String::new()));
                *gone += 1;
                line += 1;
            }
            Some(b'+') => {
                let (_, _, new) = piece.get_or_insert((line, 0, String::new()));
                new.push_str(&text[1..]);
                new.push('\n');
            }
            Some(b'\\') => {}
            _ => {
                close(&mut piece, &mut files);
                line += 1;
            }
        }
    }
    close(&mut piece, &mut files);
    files
        .into_iter()
        .filter(|(_, replacements)| !replacements.is_empty())
        .map(|(name, replacements)| {
            json!({ "artifactLocation": artifact(&name), "replacements": replacements })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_replacements_of_lines() {
        let diff = "--- a/src/m x.c\n+++ b/src/m x.c\n@@ -3,4 +3,5 @@\n a\n-b\n+c\n+d\n e\n+f\n";
        let found = changes(diff, "");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["artifactLocation"]["uri"], "src/m%20x.c");
        let replacements = found[0]["replacements"].as_array().unwrap();
        assert_eq!(replacements.len(), 2);
        assert_eq!(replacements[0]["deletedRegion"]["startLine"], 4);
        assert_eq!(replacements[0]["deletedRegion"]["endLine"], 5);
        assert_eq!(replacements[0]["insertedContent"]["text"], "c\nd\n");
        assert_eq!(replacements[1]["deletedRegion"]["startLine"], 6);
        assert_eq!(replacements[1]["deletedRegion"]["endLine"], 6);
    }

    #[test]
    fn annotations_are_one_line_each() {
        let findings = Findings {
            command: "repair",
            subject: "p".to_owned(),
            findings: vec![Finding {
                rule: "plausible-patch".to_owned(),
                level: Level::Warning,
                message: "50% of\nit".to_owned(),
                place: Some(Line {
                    file: "a,b.c".to_owned(),
                    line: 3,
                }),
                flow: Vec::new(),
                diff: None,
                rank: None,
            }],
            folder: String::new(),
        };
        assert_eq!(
            findings.annotations(),
            "::warning file=a%2Cb.c,line=3,title=A patch with which every test passes::50%25 of%0Ait\n"
        );
        let below = findings.below("part".as_ref()).annotations();
        assert!(below.starts_with("::warning file=part/a%2Cb.c,"), "{below}");
    }
}
