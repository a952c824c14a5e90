//! The comparison as an HTML page: both sources side by side, and the partitions as a tree.

use std::fmt::Write;

use super::{Comparison, Observed, Partition, Side};
use crate::page::{TABLE_END, table};
use crate::svg::escaped;
use crate::text::Style;

/// The source of a version with its name.
#[derive(Clone, Debug, Default)]
pub struct PageSource {
    /// What it is called.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Lines that the other one does not have, from 1.
    pub changed: Vec<u32>,
}

const STYLE: &str = "
.sources { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1em; }
.source { max-height: 34em; }
.source td.number { color: var(--faint); text-align: right; user-select: none; width: 1%; }
.source caption { text-align: left; padding: .4em .6em; font-weight: 600; background: var(--soft); }
tr.old { background: var(--removed); } tr.new { background: var(--added); } tr.met td.number { border-left: 3px solid var(--warn); }
details { margin: .25em 0 .25em 1.1em; border-left: 1px solid var(--line); padding-left: .7em; }
.kind { font-weight: 600; } .different, .old-fails, .fails-otherwise { color: var(--warn); }
.new-fails { color: var(--bad); } .equal { color: var(--good); }
.partition { margin: .5em 0 .9em; } .partition table { margin: .2em 0; }
";

impl Comparison {
    /// Returns a self-contained HTML page.
    pub fn page(&self, sources: &[PageSource; 2]) -> String {
        let mut page = format!("<style>{STYLE}</style>\n");
        let title = format!("{} → {}", self.old, self.new);
        let text = self.text(Style { colour: false });
        let first = text.lines().next().unwrap_or_default();
        let _ = writeln!(page, "<p>{}</p>", escaped(first));
        if sources.iter().any(|source| !source.text.is_empty()) {
            page.push_str("<h2>Sources</h2>\n<div class=\"sources\">\n");
            for (source, class) in sources.iter().zip(["old", "new"]) {
                self.write_source(&mut page, source, class);
            }
            page.push_str("</div>\n");
        }
        if !self.partitions.is_empty() {
            page.push_str("<h2>Partitions of the inputs</h2>\n<p class=\"faint\">The keys j and k go to the next and the previous one.</p>\n");
            write_table(&mut page, &self.partitions);
            let all: Vec<&Partition> = self.partitions.iter().collect();
            write_tree(&mut page, &all, 0);
        }
        let _ = write!(page, "<h2>Report</h2>\n<pre>{}</pre>\n", escaped(&text));
        crate::page::page(&title, &page)
    }

    fn write_source(&self, page: &mut String, source: &PageSource, class: &str) {
        // Lines that a difference executes.
        let met: Vec<u32> = self
            .partitions
            .iter()
            .filter(|partition| partition.kind != "equal")
            .flat_map(|partition| match class {
                "old" => partition.old.changed_lines.clone(),
                _ => partition.new.changed_lines.clone(),
            })
            .collect();
        let _ = writeln!(
            page,
            "<div class=\"source\"><table><caption>{}</caption>",
            escaped(&source.name)
        );
        for (number, line) in (1..).zip(source.text.lines()) {
            let mut classes = Vec::new();
            if source.changed.contains(&number) {
                classes.push(class);
            }
            if met.contains(&number) {
                classes.push("met");
            }
            let _ = writeln!(
                page,
                "<tr class=\"{}\"><td class=\"number\">{number}</td><td class=\"code\">{}</td></tr>",
                classes.join(" "),
                escaped(line.trim_end_matches('\r'))
            );
        }
        page.push_str("</table></div>\n");
    }
}

/// All partitions in a table that can be sorted.
fn write_table(page: &mut String, partitions: &[Partition]) {
    table(
        page,
        &[
            "number",
            "kind",
            "what differs",
            "for example",
            "OLD",
            "NEW",
        ],
    );
    for partition in partitions {
        let did = |side: &Side| escaped(&did(side));
        let _ = writeln!(
            page,
            "<tr><td class=\"number\"><a href=\"#partition-{0}\">{0}</a></td><td class=\"{1}\">{1}</td><td>{2}</td>\
             <td class=\"code\">{3}</td><td class=\"code\">{4}</td><td class=\"code\">{5}</td></tr>",
            partition.number,
            partition.kind,
            escaped(&partition.title()),
            escaped(&sample(partition)),
            did(&partition.old),
            did(&partition.new)
        );
    }
    page.push_str(TABLE_END);
}

/// What a version did with the example.
fn did(side: &Side) -> String {
    let observed = side.observed.as_ref().map(Observed::text);
    observed.unwrap_or_default()
}

/// The example of a partition.
fn sample(partition: &Partition) -> String {
    let sample = partition.sample.iter();
    let sample: Vec<String> = sample
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    sample.join(", ")
}

/// Partitions whose conditions begin alike stand under what they have in common.
fn write_tree(page: &mut String, partitions: &[&Partition], depth: usize) {
    let mut done = vec![false; partitions.len()];
    for at in 0..partitions.len() {
        if done[at] {
            continue;
        }
        let Some(condition) = partitions[at].condition.get(depth) else {
            done[at] = true;
            write_partition(page, partitions[at], depth);
            continue;
        };
        let alike: Vec<usize> = (at..partitions.len())
            .filter(|&other| {
                !done[other] && partitions[other].condition.get(depth) == Some(condition)
            })
            .collect();
        for &other in &alike {
            done[other] = true;
        }
        if alike.len() == 1 {
            write_partition(page, partitions[at], depth);
            continue;
        }
        let _ = writeln!(
            page,
            "<details open><summary><code>{}</code> ({} partitions)</summary>",
            escaped(condition),
            alike.len()
        );
        let own: Vec<&Partition> = alike.iter().map(|&other| partitions[other]).collect();
        write_tree(page, &own, depth + 1);
        page.push_str("</details>\n");
    }
}

fn write_partition(page: &mut String, partition: &Partition, depth: usize) {
    let condition = match partition.condition.get(depth..).unwrap_or_default() {
        [] if depth == 0 => "all inputs".to_owned(),
        [] => "all of these".to_owned(),
        rest => rest.join(" && "),
    };
    let _ = write!(
        page,
        "<div class=\"partition stop\" id=\"partition-{1}\" data-order=\"{1}\" tabindex=\"0\"><span class=\"kind {0}\">{1}. {2}</span> for <code>{3}</code>\n<table><tr><th></th><th>for all of \
         them</th><th>for <code>{4}</code></th></tr>\n",
        partition.kind,
        partition.number,
        escaped(&partition.title()),
        escaped(&condition),
        escaped(&sample(partition))
    );
    for (name, side) in [("OLD", &partition.old), ("NEW", &partition.new)] {
        let mut words = side.formulas.clone();
        words.extend(
            side.failure
                .iter()
                .map(|failure| format!("fails: {failure}")),
        );
        let _ = writeln!(
            page,
            "<tr><th>{name}</th><td class=\"code\">{}</td><td class=\"code\">{}</td></tr>",
            escaped(&words.join("; ")),
            escaped(&did(side))
        );
    }
    page.push_str("</table></div>\n");
}
