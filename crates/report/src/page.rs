//! Pages of HTML that need nothing else, in one style: light and dark, tables that are sorted by a click or a key.

use std::fmt::Write;

use patchwright_repair::RepairOutcome;
use patchwright_validate::{PatchVerdict, Validation};

use crate::behaviour::Behaviour;
use crate::complexity::Measured;
use crate::layered::Layered;
use crate::proof;
use crate::svg::{self, escaped};
use crate::text::Style;
use crate::{complexity, text, validation};

/// The style of all pages.
pub(crate) const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2128; --paper: #fff; --soft: #f6f8fa; --line: #d0d7de; --faint: #6e7781;
  --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; --added: #dafbe1; --removed: #ffebe9; --suspect: 207, 34, 46; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #161b22; --line: #30363d;
  --faint: #8b949e; --good: #3fb950; --bad: #f85149; --warn: #d29922; --added: #12351f; --removed: #4c1d1d; --suspect: 248, 81, 73; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1500px; padding: 1em 1.5em; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4em; margin: .3em 0; } h2 { font-size: 1.1em; margin: 1.4em 0 .4em; }
code, pre, td.code { font: 13px/1.4 ui-monospace, monospace; }
pre { background: var(--soft); padding: .7em; border-radius: 6px; overflow: auto; margin: .3em 0; }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2em .6em; text-align: left; vertical-align: top; }
th { background: var(--soft); position: sticky; top: 0; } th[tabindex] { cursor: pointer; }
th[aria-sort=ascending]::after { content: ' ▲'; } th[aria-sort=descending]::after { content: ' ▼'; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.source { border: 1px solid var(--line); border-radius: 6px; overflow: auto; max-height: 40em; }
.source table { width: 100%; } .source td { border: 0; padding: 0 .6em; white-space: pre; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); } .faint { color: var(--faint); }
.patches { display: grid; grid-template-columns: repeat(auto-fit, minmax(30em, 1fr)); gap: 1em; }
.patch { border: 1px solid var(--line); border-radius: 6px; padding: .4em .8em; min-width: 0; }
.patch:focus, .stop:focus { outline: 2px solid var(--good); }
.added { background: var(--added); display: block; } .removed { background: var(--removed); display: block; }
.heat td { padding: 0; width: 1.2em; height: 1.2em; border: 1px solid var(--paper); text-align: center; line-height: 1; } .heat td.name { padding: 0 .6em; width: auto; white-space: nowrap; text-align: left; line-height: inherit; }
.heat th { position: static; font-weight: normal; } .heat th.test { writing-mode: vertical-rl; padding: .3em 0; max-height: 24em; overflow: hidden; }
.heat .pass { background: var(--good); } .heat .fail { background: var(--bad); color: var(--paper); } .heat .fail::after { content: '×'; } .heat .none { background: var(--soft); }
details { margin: .25em 0; } summary { cursor: pointer; }
";

/// Sorts tables, and goes from patch to patch, or from stop to stop, by the keys j and k.
const SCRIPT: &str = "
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    head.tabIndex = 0;
    const sort = () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const key = row => row.cells[at].dataset.key ?? row.cells[at].textContent.trim();
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)], [n, m] = [parseFloat(x), parseFloat(y)];
        const order = isNaN(n) || isNaN(m) ? x.localeCompare(y) : n - m;
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); sort(); }
    });
  });
}
const patches = [...document.querySelectorAll('.patch, .stop')]
  .sort((a, b) => (a.dataset.order ?? 0) - (b.dataset.order ?? 0));
document.addEventListener('keydown', event => {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || !patches.length) return;
  const now = patches.indexOf(document.activeElement);
  const next = patches[Math.min(patches.length - 1, Math.max(0, now + step))];
  reveal(next);
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
});
const reveal = one => {
  for (let around = one; around; around = around.parentElement?.closest('details')) around.open = true;
};
addEventListener('hashchange', () => {
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted) { reveal(wanted); wanted.focus(); wanted.scrollIntoView({ block: 'center' }); }
});
";

/// Returns a self-contained HTML page.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{body}<script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// A diff with its lines coloured.
pub(crate) fn diff(out: &mut String, text: &str) {
    out.push_str("<pre>");
    for line in text.lines() {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "faint",
            [b'+', ..] => "added",
            [b'-', ..] => "removed",
            [b'@', b'@', ..] => "faint",
            _ => "",
        };
        let end = match class {
            // These are blocks.
            "added" | "removed" => "",
            _ => "\n",
        };
        let _ = match class {
            "" => write!(out, "{}{end}", escaped(line)),
            class => write!(out, "<span class=\"{class}\">{}</span>{end}", escaped(line)),
        };
    }
    out.push_str("</pre>\n");
}

/// The beginning of a table that can be sorted.
pub(crate) fn table(out: &mut String, heads: &[&str]) {
    out.push_str("<table class=\"sortable\"><thead><tr>");
    for head in heads {
        let _ = write!(out, "<th>{}</th>", escaped(head));
    }
    out.push_str("</tr></thead><tbody>\n");
}

/// The end of a table.
pub(crate) const TABLE_END: &str = "</tbody></table>\n";

/// Returns a self-contained HTML page of a repair: summary, patches, and how they behave on further inputs if that is known.
pub fn repair(outcome: &RepairOutcome, behaviour: Option<&Behaviour>) -> String {
    let mut body = String::new();
    let summary = text::summary(outcome);
    let _ = writeln!(body, "<pre>{}</pre>", escaped(summary.trim_end()));
    if !outcome.patches.is_empty() {
        body.push_str("<h2>Patches</h2>\n");
        table(
            &mut body,
            &[
                "rank",
                "place",
                "function",
                "kind",
                "cost",
                "class",
                "candidates",
            ],
        );
        for (at, patch) in outcome.patches.iter().enumerate() {
            let _ = writeln!(
                body,
                "<tr><td class=\"number\"><a href=\"#patch-{0}\">{0}</a></td><td>{1}:{2}</td><td>{3}</td><td>{4}</td>\
                 <td class=\"number\">{5}</td><td class=\"number\">{6}</td><td class=\"number\">{7}</td></tr>",
                at + 1,
                escaped(&patch.file.to_string_lossy()),
                patch.line,
                escaped(&patch.function),
                escaped(&patch.schema_in_words()),
                patch.cost,
                patch.class,
                patch.class_size
            );
        }
        body.push_str(TABLE_END);
        body.push_str("<p class=\"faint\">The keys j and k go to the next and the previous patch.</p>\n<div class=\"patches\">\n");
        for (at, patch) in outcome.patches.iter().enumerate() {
            let _ = writeln!(
                body,
                "<div class=\"patch\" id=\"patch-{0}\" tabindex=\"0\"><b>patch {0}</b> · {1}:{2}{3} · {4} · cost {5}",
                at + 1,
                escaped(&patch.file.to_string_lossy()),
                patch.line,
                match patch.function.is_empty() {
                    true => String::new(),
                    false => format!(" in {}", escaped(&patch.function)),
                },
                escaped(&patch.schema_in_words()),
                patch.cost
            );
            if let Some(proposal) = &patch.proposal {
                let _ = writeln!(
                    body,
                    "<div class=\"faint\">proposed as {}</div>",
                    escaped(proposal)
                );
            }
            if let Some(undefined) = &patch.undefined {
                let _ = writeln!(
                    body,
                    "<div class=\"bad\">passes, but by undefined behaviour: {}</div>",
                    escaped(undefined)
                );
            }
            diff(&mut body, &String::from_utf8_lossy(&patch.diff));
            body.push_str("</div>\n");
        }
        body.push_str("</div>\n");
    }
    if let Some(behaviour) = behaviour {
        let text = behaviour.text(Style { colour: false });
        let _ = writeln!(
            body,
            "<h2>What the patches change</h2>\n<pre>{}</pre>",
            escaped(text.trim())
        );
    }
    let _ = writeln!(
        body,
        "<details><summary>What was done, in numbers</summary><pre>{}</pre></details>",
        escaped(text::stats(&outcome.stats).trim())
    );
    page("Repair", &body)
}

/// Matrices with more cells are left out.
const MOST_CELLS: usize = 200_000;

/// Returns a self-contained HTML page of a validation: summary, verdicts, and the results of tests unless there are too many.
pub fn validate(outcome: &Validation) -> String {
    let mut body = String::new();
    let _ = writeln!(
        body,
        "<pre>{}</pre>",
        escaped(validation::summary(outcome).trim_end())
    );
    body.push_str("<h2>Verdicts</h2>\n");
    table(&mut body, &["number", "patch", "verdict", "why", "from"]);
    for (at, patch) in outcome.patches.iter().enumerate() {
        let (word, class) = match &patch.verdict {
            None => ("not validated", "faint"),
            Some(verdict) => {
                let class = match verdict {
                    PatchVerdict::Plausible => "good",
                    PatchVerdict::Implausible(_) => "bad",
                    _ => "warn",
                };
                (verdict.word(), class)
            }
        };
        let why = patch.verdict.as_ref();
        let why = why.and_then(|verdict| validation::reason(verdict, &outcome.tests));
        let notes = patch
            .notes
            .iter()
            .map(|note| format!("<div class=\"faint\">{}</div>", escaped(note)));
        let _ = writeln!(
            body,
            "<tr><td class=\"number\">{}</td><td>{}</td><td class=\"{class}\">{word}</td><td>{}{}</td><td>{}</td></tr>",
            at + 1,
            escaped(&patch.id.0),
            escaped(&why.unwrap_or_default()),
            notes.collect::<String>(),
            escaped(&validation::how(patch, outcome).unwrap_or_default())
        );
    }
    body.push_str(TABLE_END);
    matrix(&mut body, outcome);
    let _ = writeln!(
        body,
        "<details><summary>What was done, in numbers</summary><pre>{}</pre></details>",
        escaped(validation::stats(&outcome.stats).trim())
    );
    page("Validation", &body)
}

/// Patches and tests as a heat map.
fn matrix(body: &mut String, outcome: &Validation) {
    let tests = &outcome.tests;
    let ran: Vec<_> = outcome
        .patches
        .iter()
        .filter(|patch| !patch.tests.is_empty())
        .collect();
    if ran.is_empty() || ran.len() * tests.names.len() > MOST_CELLS {
        return;
    }
    body.push_str(
        "<h2>Patches and tests</h2>\n<p class=\"faint\">Green passes, red with a cross fails, grey was not run.</p>\n\
         <div class=\"source\"><table class=\"heat\"><thead><tr><th></th>",
    );
    for name in &tests.names {
        let _ = write!(body, "<th class=\"test\">{}</th>", escaped(name));
    }
    body.push_str("</tr></thead><tbody>\n");
    for patch in ran {
        let mut cells = vec![("none", "not run".to_owned()); tests.names.len()];
        for result in &patch.tests {
            cells[result.test] = match &result.failure {
                None => ("pass", "passes".to_owned()),
                Some(failure) => ("fail", failure.to_string()),
            };
        }
        let _ = write!(body, "<tr><td class=\"name\">{}</td>", escaped(&patch.id.0));
        for (name, (class, said)) in tests.names.iter().zip(cells) {
            let title = escaped(&format!("{name}: {said}"));
            let _ = write!(body, "<td class=\"{class}\" title=\"{title}\"></td>");
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
}

/// Returns a self-contained HTML page of a proof: verdict, counterexample and repairs.
pub fn prove(report: &proof::Report) -> String {
    let mut body = String::new();
    let verdict = report.verdict(Style { colour: false });
    let _ = writeln!(body, "<pre>{}</pre>", escaped(verdict.trim_end()));
    for found in report.counterexample.iter().chain(&report.endless) {
        body.push_str("<h2>Counterexample</h2>\n");
        let place = found.place.as_ref();
        let place = place.map_or(String::new(), |at| format!(" at {at} in {}", at.function));
        let _ = writeln!(
            body,
            "<p class=\"bad\">{}{}</p>",
            escaped(&found.message),
            escaped(&place)
        );
        table(&mut body, &["input", "value"]);
        for input in &found.inputs {
            let _ = writeln!(
                body,
                "<tr><td>{}</td><td>{}</td></tr>",
                escaped(&input.name),
                escaped(&input.value)
            );
        }
        body.push_str(TABLE_END);
        if found.trace.is_empty() {
            continue;
        }
        body.push_str("<h2>The way to it</h2>\n");
        table(&mut body, &["step", "place", "line", "value"]);
        for (at, step) in found.trace.iter().enumerate() {
            let value = match (&step.name, &step.value) {
                (Some(name), Some(value)) => format!("{name} = {value}"),
                (None, Some(value)) => format!("decides {value}"),
                _ => String::new(),
            };
            let _ = writeln!(
                body,
                "<tr><td class=\"number\">{}</td><td>{}</td><td class=\"code\">{}</td><td>{}</td></tr>",
                at + 1,
                escaped(&step.place.to_string()),
                escaped(step.place.text.trim()),
                escaped(&value)
            );
        }
        body.push_str(TABLE_END);
    }
    if let Some(repairs) = &report.repairs {
        body.push_str("<h2>Repairs</h2>\n<div class=\"patches\">\n");
        for repair in &repairs.repairs {
            let places: Vec<String> = repair.places.iter().map(proof::Place::to_string).collect();
            let _ = writeln!(
                body,
                "<div class=\"patch\" tabindex=\"0\"><b>repair {}</b> · {}",
                repair.number,
                escaped(&places.join(", "))
            );
            diff(&mut body, &repair.diff);
            body.push_str("</div>\n");
        }
        body.push_str("</div>\n");
        for reason in &repairs.incomplete {
            let _ = writeln!(body, "<p class=\"warn\">{}</p>", escaped(reason));
        }
    }
    page(&format!("Proof of {}", report.entry), &body)
}

/// Returns a self-contained HTML page of measured changes: a table, and the change sequence graph of each as `draw` draws it under a title.
pub fn complexity(changes: &[Measured], draw: &mut dyn FnMut(&Layered, &str) -> String) -> String {
    let mut body = String::new();
    table(&mut body, &["change", "CyCC", "CLoC", "functions"]);
    for change in changes {
        let (cycc, cloc) = change.figures();
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"number\">{cycc}</td><td class=\"number\">{cloc}</td><td class=\"number\">{}</td></tr>",
            escaped(&change.title),
            change.measurement.functions.len()
        );
    }
    body.push_str(TABLE_END);
    let is_measured = |change: &&Measured| change.figures() != (0, 0);
    if changes.iter().filter(is_measured).count() > 1 {
        let _ = writeln!(
            body,
            "<h2>Complexity and lines</h2>\n{}",
            svg::plot(changes, "CyCC and CLoC")
        );
    }
    for change in changes {
        let text = complexity::text(change, Style { colour: false });
        let _ = writeln!(
            body,
            "<details{}><summary>{}</summary><pre>{}</pre>",
            if changes.len() == 1 { " open" } else { "" },
            escaped(&change.title),
            escaped(text.trim())
        );
        if !change.measurement.graph.is_empty() {
            let title = format!("Change sequence graph of {}", change.title);
            body.push_str(&draw(&svg::graph(&change.measurement.graph), &title));
        }
        body.push_str("</details>\n");
    }
    page("Complexity of changes", &body)
}
