//! Reports of `patchwright localize`: tables, JSON, and sources with ranks.

use std::collections::BTreeMap;
use std::fmt::Write;

use patchwright_exec::Baseline;
use patchwright_localize::{
    Counts, Formula, Localization, Ranked, RankedGroup, Ranking, first_line, lines_of,
};
use serde::Serialize;

use crate::page::{self, TABLE_END};
use crate::svg::escaped;
use crate::text::{Style, count, grouped};

/// The version of `localize --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// Columns of a statement's text in the table.
const LONGEST_TEXT: usize = 60;

/// A suspicious statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// Its file.
    pub file: String,
    /// The line on which it begins.
    pub line: u32,
    /// Its place in the order; that of the last one of those that are as suspicious.
    pub rank: usize,
    /// From 0 to 1.
    pub suspiciousness: f64,
    /// Failing tests that execute it.
    pub failing: usize,
    /// Passing tests that do.
    pub passing: usize,
}

/// A localization with its ranking.
pub struct Report<'a> {
    /// What tests execute.
    pub found: &'a Localization,
    /// The order.
    pub ranking: Ranking,
    /// The tests' names and verdicts.
    pub baseline: &'a Baseline,
    /// The formula of the order.
    pub formula: Formula,
    /// Most statements, functions and files to show.
    pub top: usize,
}

impl Report<'_> {
    fn place(&self, one: &Ranked) -> String {
        let statement = &self.found.statements[one.statement as usize];
        let file = self.found.files[statement.file].relative.display();
        format!("{file}:{}", statement.line)
    }

    fn function(&self, one: &Ranked) -> &str {
        let statement = &self.found.statements[one.statement as usize];
        &self.found.functions[statement.function].name
    }

    fn text(&self, one: &Ranked) -> String {
        let statement = &self.found.statements[one.statement as usize];
        first_line(&self.found.files[statement.file], statement)
    }

    fn has_crash(&self) -> bool {
        self.found.tests.iter().any(|test| !test.crash.is_empty())
    }

    fn counted(&self, passes: bool) -> usize {
        let tests = self.found.tests.iter();
        tests.filter(|test| test.passes == passes).count()
    }

    /// Returns tables of statements, functions and files, with a summary.
    pub fn table(&self, style: Style) -> String {
        let mut text = String::new();
        let shown = |all: usize| all.min(self.top);
        let mut rows = vec![
            [
                "rank",
                "suspicion",
                "failing",
                "passing",
                "place",
                "statement",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        for one in self.ranking.statements.iter().take(self.top) {
            rows.push(vec![
                rank(one),
                format!("{:.3}", one.suspiciousness),
                one.counts.failing.to_string(),
                one.counts.passing.to_string(),
                format!("{} {}", self.place(one), self.function(one)),
                shortened(&self.text(one)),
            ]);
        }
        table(&mut text, &rows, style);
        let groups = |text: &mut String,
                      title: &str,
                      groups: &[RankedGroup],
                      name: &dyn Fn(usize) -> String| {
            let titles = [
                "rank",
                "suspicion",
                "failing",
                "passing",
                "statements",
                title,
            ];
            let mut rows = vec![titles.map(str::to_owned).to_vec()];
            for group in groups.iter().take(self.top) {
                rows.push(vec![
                    group.rank.to_string(),
                    format!("{:.3}", group.suspiciousness),
                    group.counts.failing.to_string(),
                    group.counts.passing.to_string(),
                    group.statements.to_string(),
                    name(group.index),
                ]);
            }
            text.push('\n');
            table(text, &rows, style);
        };
        groups(&mut text, "function", &self.ranking.functions, &|index| {
            let info = &self.found.functions[index];
            let file = self.found.files[info.file].relative.display();
            format!("{} {file}:{}", info.name, info.line)
        });
        groups(&mut text, "file", &self.ranking.files, &|index| {
            self.found.files[index].relative.display().to_string()
        });
        text.push('\n');
        for test in self.found.tests.iter().filter(|test| !test.passes) {
            let places: Vec<String> = test
                .crash
                .iter()
                .map(|&id| {
                    let statement = &self.found.statements[id as usize];
                    let file = self.found.files[statement.file].relative.display();
                    let function = &self.found.functions[statement.function].name;
                    format!("{file}:{} in {function}", statement.line)
                })
                .collect();
            if !places.is_empty() {
                let name = &self.baseline.tests[test.test].name;
                let _ = writeln!(
                    text,
                    "Test {name} ended at {}.",
                    places.join(", before that ")
                );
            }
        }
        let all = self.ranking.statements.len();
        let _ = writeln!(
            text,
            "{} of {} that failing tests execute, by {}{}; {} and {} count.",
            grouped(shown(all) as u64),
            count(all as u64, "statement", "statements"),
            self.formula,
            if self.has_crash() {
                " and nearness to crashes"
            } else {
                ""
            },
            count(self.counted(false) as u64, "failing test", "failing tests"),
            count(self.counted(true) as u64, "passing test", "passing tests"),
        );
        text
    }

    /// Returns the sources that failing tests execute. Each line has the rank, the suspiciousness and
    /// the tests of the most suspicious statement that begins on it. Only the first `top` files count, by rank.
    pub fn annotated(&self, style: Style) -> String {
        let mut text = String::new();
        let by_place = self.by_place();
        for group in self.ranking.files.iter().take(self.top) {
            let file = &self.found.files[group.index];
            let title = format!("{} · rank {}", file.relative.display(), group.rank);
            let _ = writeln!(text, "{}", style.paint("1", &title));
            let _ = writeln!(text, "  rank  suspicion  failing  passing  line");
            for (number, line) in (1..).zip(lines_of(file)) {
                let columns = match by_place.get(&(group.index, number)) {
                    Some(one) => format!(
                        "{:>6}  {:>9.3}  {:>7}  {:>7}",
                        one.rank, one.suspiciousness, one.counts.failing, one.counts.passing
                    ),
                    None => " ".repeat(33),
                };
                let row = format!("{columns}  {number:>4}  {line}");
                let _ = writeln!(text, "{}", row.trim_end());
            }
            text.push('\n');
        }
        text
    }

    /// The most suspicious statement on each line of each file.
    fn by_place(&self) -> BTreeMap<(usize, u32), &Ranked> {
        let mut found = BTreeMap::new();
        for one in &self.ranking.statements {
            let statement = &self.found.statements[one.statement as usize];
            found.entry((statement.file, statement.line)).or_insert(one);
        }
        found
    }

    /// Returns the up to `most` most suspicious statements, best first. Statements without suspicion are left out.
    pub fn suspects(&self, most: usize) -> Vec<Suspect> {
        let suspicious = self.ranking.statements.iter();
        let suspicious = suspicious.filter(|one| one.suspiciousness > 0.0);
        suspicious
            .take(most)
            .map(|one| {
                let statement = &self.found.statements[one.statement as usize];
                let file = &self.found.files[statement.file].relative;
                Suspect {
                    file: file.to_string_lossy().into_owned(),
                    line: statement.line,
                    rank: one.rank,
                    suspiciousness: one.suspiciousness,
                    failing: one.counts.failing,
                    passing: one.counts.passing,
                }
            })
            .collect()
    }

    /// Returns the annotated sources as a self-contained HTML page. Suspicious lines are red.
    pub fn html(&self) -> String {
        let by_place = self.by_place();
        let mut page = String::new();
        self.write_table(&mut page);
        for group in &self.ranking.files {
            let file = &self.found.files[group.index];
            let name = escaped(&file.relative.to_string_lossy());
            let _ = writeln!(
                page,
                "<details{}><summary>{name} (rank {})</summary><div class=\"source\"><table>",
                if group.rank == 1 { " open" } else { "" },
                group.rank
            );
            page.push_str("<tr><td>rank<td>suspicion<td>failing<td>passing<td>line<td></tr>\n");
            for (number, line) in (1..).zip(lines_of(file)) {
                let (colour, columns) = match by_place.get(&(group.index, number)) {
                    Some(one) => (
                        format!(
                            " class=\"stop\" tabindex=\"0\" id=\"line-{}-{number}\" data-order=\"{}\" style=\"background:rgba(var(--suspect),{:.2})\"",
                            group.index,
                            one.rank,
                            one.suspiciousness * 0.6
                        ),
                        format!(
                            "<td>{}<td>{:.3}<td>{}<td>{}",
                            one.rank, one.suspiciousness, one.counts.failing, one.counts.passing
                        ),
                    ),
                    None => (String::new(), "<td><td><td><td>".to_owned()),
                };
                let line = escaped(line.trim_end_matches('\r'));
                let _ = writeln!(
                    page,
                    "<tr{colour}>{columns}<td class=\"number\">{number}<td class=\"code\">{line}</tr>"
                );
            }
            page.push_str("</table></div></details>\n");
        }
        crate::page::page("Fault localization", &page)
    }

    /// The suspicious lines in a table that can be sorted.
    fn write_table(&self, page: &mut String) {
        page.push_str(
            "<p class=\"faint\">The keys j and k go to the next and the previous suspicious line.</p>\n",
        );
        page::table(
            page,
            &["rank", "place", "suspicion", "failing", "passing", "source"],
        );
        let by_place = self.by_place();
        let mut texts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut lines: Vec<_> = by_place.iter().collect();
        lines.sort_by_key(|(place, one)| (one.rank, **place));
        for (&(file, number), one) in lines {
            let source = &self.found.files[file];
            let texts = texts.entry(file).or_insert_with(|| lines_of(source));
            let text = texts.get(number as usize - 1);
            let _ = writeln!(
                page,
                "<tr><td class=\"number\">{}</td><td><a href=\"#line-{file}-{number}\">{}:{number}</a></td><td class=\"number\">{:.3}</td>\
                 <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"code\">{}</td></tr>",
                one.rank,
                escaped(&source.relative.to_string_lossy()),
                one.suspiciousness,
                one.counts.failing,
                one.counts.passing,
                escaped(text.map_or("", |text| text.trim()))
            );
        }
        page.push_str(TABLE_END);
    }

    /// Returns the ranking as JSON with a newline at the end.
    pub fn json(&self) -> String {
        let found = self.found;
        let group = |group: &RankedGroup, file: usize, function: Option<(String, u32)>| Group {
            rank: group.rank,
            suspiciousness: group.suspiciousness,
            best_statement_rank: group.best_statement,
            failing: group.counts.failing,
            passing: group.counts.passing,
            statements: group.statements,
            file: found.files[file].relative.to_string_lossy().into_owned(),
            line: function.as_ref().map(|(_, line)| *line),
            function: function.map(|(name, _)| name),
        };
        let report = Json {
            schema: "patchwright-localize",
            schema_version: SCHEMA_VERSION,
            formula: self.formula.name(),
            failing_tests: self.names(false),
            passing_tests: self.names(true),
            set_aside_tests: found
                .set_aside
                .iter()
                .map(|&test| self.baseline.tests[test].name.as_str())
                .chain(self.baseline.flaky().map(|test| test.name.as_str()))
                .collect(),
            statements_in_all: found.statements.len(),
            statements_executed_by_failing_tests: self.ranking.statements.len(),
            refused_functions: &found.refused,
            crashes: found
                .tests
                .iter()
                .filter(|test| !test.crash.is_empty())
                .map(|test| Crash {
                    test: &self.baseline.tests[test.test].name,
                    stack: test.crash.iter().map(|&id| self.frame(id)).collect(),
                })
                .collect(),
            statements: self
                .ranking
                .statements
                .iter()
                .take(self.top)
                .map(|one| self.statement(one))
                .collect(),
            functions: self
                .ranking
                .functions
                .iter()
                .take(self.top)
                .map(|one| {
                    let info = &found.functions[one.index];
                    group(one, info.file, Some((info.name.clone(), info.line)))
                })
                .collect(),
            files: self
                .ranking
                .files
                .iter()
                .take(self.top)
                .map(|one| group(one, one.index, None))
                .collect(),
        };
        // Strings and finite numbers only: this cannot fail.
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        text
    }

    fn names(&self, passes: bool) -> Vec<&str> {
        let tests = self.found.tests.iter().filter(|test| test.passes == passes);
        tests
            .map(|test| self.baseline.tests[test.test].name.as_str())
            .collect()
    }

    fn frame(&self, id: u32) -> Frame<'_> {
        let statement = &self.found.statements[id as usize];
        Frame {
            file: self.found.files[statement.file]
                .relative
                .to_string_lossy()
                .into_owned(),
            line: statement.line,
            function: &self.found.functions[statement.function].name,
        }
    }

    fn statement(&self, one: &Ranked) -> Statement<'_> {
        let statement = &self.found.statements[one.statement as usize];
        let Frame {
            file,
            line,
            function,
        } = self.frame(one.statement);
        let Counts {
            failing, passing, ..
        } = one.counts;
        Statement {
            rank: one.rank,
            tied_to: one.tied_to,
            suspiciousness: one.suspiciousness,
            // JSON has no infinity.
            score: one.score.is_finite().then_some(one.score),
            nearness: one.nearness,
            failing,
            passing,
            file,
            line,
            last_line: statement.last_line,
            function,
            text: self.text(one),
        }
    }
}

#[derive(Serialize)]
struct Json<'a> {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The formula of suspicion.
    formula: &'static str,
    /// Names of the failing tests that count.
    failing_tests: Vec<&'a str>,
    /// Names of the passing ones that count.
    passing_tests: Vec<&'a str>,
    /// Names of tests that do not count: flaky, or with another verdict when marked.
    set_aside_tests: Vec<&'a str>,
    /// Statements of the selected sources.
    statements_in_all: usize,
    /// Those of them that some failing test executes.
    statements_executed_by_failing_tests: usize,
    /// Functions without marks, by reason.
    refused_functions: &'a BTreeMap<String, usize>,
    /// Where failing tests crash.
    crashes: Vec<Crash<'a>>,
    /// The most suspicious statements.
    statements: Vec<Statement<'a>>,
    /// The most suspicious functions.
    functions: Vec<Group>,
    /// The most suspicious files.
    files: Vec<Group>,
}

#[derive(Serialize)]
struct Crash<'a> {
    /// The test.
    test: &'a str,
    /// The calls, the innermost first.
    stack: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    /// File.
    file: String,
    /// Line.
    line: u32,
    /// Function.
    function: &'a str,
}

#[derive(Serialize)]
struct Statement<'a> {
    /// Its place, from 1.
    rank: usize,
    /// The last rank of the statements with the same suspicion.
    tied_to: usize,
    /// From 0 to 1: the score and the nearness to crashes together.
    suspiciousness: f64,
    /// What the formula says; null if that is infinite.
    score: Option<f64>,
    /// How near it is to crashes, from 0 to 1.
    nearness: f64,
    /// Failing tests that execute it.
    failing: usize,
    /// Passing tests that execute it.
    passing: usize,
    /// Its file.
    file: String,
    /// The line on which it begins.
    line: u32,
    /// The line on which it ends.
    last_line: u32,
    /// Its function.
    function: &'a str,
    /// Its first line.
    text: String,
}

#[derive(Serialize)]
struct Group {
    /// Its place, from 1.
    rank: usize,
    /// That of its most suspicious statement.
    suspiciousness: f64,
    /// The rank of that statement.
    best_statement_rank: usize,
    /// Failing tests that execute some of it.
    failing: usize,
    /// Passing tests that do.
    passing: usize,
    /// Its statements that failing tests execute.
    statements: usize,
    /// The file.
    file: String,
    /// The line on which the function begins; null for a file.
    line: Option<u32>,
    /// The function; null for a file.
    function: Option<String>,
}

fn rank(one: &Ranked) -> String {
    if one.tied_to > one.rank {
        format!("{}–{}", one.rank, one.tied_to)
    } else {
        one.rank.to_string()
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// Rows of cells as columns, the last two to the left; the first row is the head.
fn table(text: &mut String, rows: &[Vec<String>], style: Style) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = rows.first().map_or(0, Vec::len);
    let left = if columns > 5 && rows[0][4] == "place" {
        4
    } else {
        5
    };
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(width(column) - cell.chars().count());
            if column > 0 {
                line.push_str("  ");
            }
            if column >= left {
                line.push_str(cell);
                line.push_str(&padding);
            } else {
                line.push_str(&padding);
                line.push_str(cell);
            }
        }
        let line = line.trim_end();
        let line = if number == 0 {
            style.paint("1", line)
        } else {
            line.to_owned()
        };
        let _ = writeln!(text, "{line}");
    }
}
