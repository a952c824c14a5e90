//! Compares the commits that introduced and fixed errors: figures 5.7 to 5.12 of the thesis, as tables.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use patchwright_changes::git::{GitError, History, days_between};
use patchwright_changes::{Outlines, measure_with};
use patchwright_exec::files;

use crate::statistics::{
    correlation, exponent, kappa, mean_and_deviation, median, ranked, share_up_to,
};

/// Flags of `patchwright-bench corebench`.
#[derive(Args)]
pub struct Arguments {
    /// The folder of the repositories, each named as in the list, or with `.git` at the end
    repositories: PathBuf,
    /// The list: project, introducing commit, fixing commit, and if it is known `cie` or `non-cie` (whether changes must interact
    /// for the error to show), separated by tabs; lines that begin with # are comments
    #[arg(long, value_name = "FILE")]
    pairs: PathBuf,
    /// For figure 5.11: so many of the newest commits of each project that change statements
    #[arg(long, value_name = "N", default_value_t = 50)]
    commits: usize,
    /// Follow calls through all C files of each revision
    #[arg(long)]
    whole_program: bool,
}

/// A line of the list.
#[derive(Debug, PartialEq)]
struct Pair {
    project: String,
    introduction: String,
    fix: String,
    /// Whether it is a change interaction error.
    interacts: Option<bool>,
}

/// What was measured of an error.
struct Error {
    project: String,
    introduction: usize,
    fix: usize,
    lines: usize,
    days: f64,
    commits: usize,
    interacts: Option<bool>,
}

fn read(text: &str) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let parts: Vec<&str> = line.split('\t').map(str::trim).collect();
        let (project, introduction, fix, rest) = match parts[..] {
            [project, introduction, fix, ref rest @ ..] => (project, introduction, fix, rest),
            _ => {
                return Err(format!(
                    "line {number}: a project and two commits are wanted, separated by tabs"
                ));
            }
        };
        let interacts = match rest {
            [] => None,
            ["cie"] => Some(true),
            ["non-cie"] => Some(false),
            _ => {
                return Err(format!(
                    "line {number}: the fourth column is `cie` or `non-cie`"
                ));
            }
        };
        pairs.push(Pair {
            project: project.to_owned(),
            introduction: introduction.to_owned(),
            fix: fix.to_owned(),
            interacts,
        });
    }
    Ok(pairs)
}

/// Prints the tables. The result is false if an error could not be measured.
///
/// # Errors
/// A list that cannot be read.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn std::error::Error>> {
    let (text, is_complete) = report(arguments)?;
    print!("{text}");
    Ok(is_complete)
}

fn report(arguments: &Arguments) -> Result<(String, bool), Box<dyn std::error::Error>> {
    let text = files::read(&arguments.pairs)?;
    let pairs = read(&String::from_utf8_lossy(&text))
        .map_err(|message| format!("{}: {message}", arguments.pairs.display()))?;
    let mut by_project: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
    for pair in &pairs {
        by_project.entry(&pair.project).or_default().push(pair);
    }
    let mut errors = Vec::new();
    let mut newest = Vec::new();
    let mut missing = Vec::new();
    for (project, pairs) in by_project {
        let history = open(&arguments.repositories, project);
        let history = match history {
            Ok(history) => history,
            Err(error) => {
                missing.push(format!("{project}: {error}"));
                continue;
            }
        };
        let mut outlines = Outlines::default();
        for pair in pairs {
            match measured(&history, pair, arguments.whole_program, &mut outlines) {
                Ok(error) => errors.push(error),
                Err(error) => missing.push(format!(
                    "{project} {} {}: {error}",
                    pair.introduction, pair.fix
                )),
            }
        }
        newest.extend(newest_commits(&history, arguments, &mut outlines)?);
    }
    Ok((tables(&errors, &newest, &missing), missing.is_empty()))
}

fn open(folder: &Path, project: &str) -> Result<History, GitError> {
    let plain = folder.join(project);
    match plain.exists() {
        true => History::open(&plain),
        false => History::open(&folder.join(format!("{project}.git"))),
    }
}

fn measured(
    history: &History,
    pair: &Pair,
    whole: bool,
    outlines: &mut Outlines,
) -> Result<Error, GitError> {
    let introduction = history.commit(&pair.introduction)?;
    let fix = history.commit(&pair.fix)?;
    let of_introduction = measure_with(&history.change(&introduction, whole)?, outlines);
    let of_fix = measure_with(&history.change(&fix, whole)?, outlines);
    Ok(Error {
        project: pair.project.clone(),
        introduction: of_introduction.complexity(),
        fix: of_fix.complexity(),
        lines: of_fix.changed_lines,
        days: days_between(&introduction, &fix),
        commits: history.distance(&introduction.id, &fix.id)?,
        interacts: pair.interacts,
    })
}

/// CLoC and CyCC of the newest commits that change statements and are no merges.
fn newest_commits(
    history: &History,
    arguments: &Arguments,
    outlines: &mut Outlines,
) -> Result<Vec<(f64, f64)>, GitError> {
    let mut found = Vec::new();
    let mut at = Some(history.commit("HEAD")?.id);
    while let Some(id) = at.filter(|_| found.len() < arguments.commits) {
        let commit = history.commit(&id)?;
        if commit.parents <= 1 {
            let change = history.change(&commit, arguments.whole_program)?;
            let measured = measure_with(&change, outlines);
            if !measured.graph.is_empty() {
                found.push((measured.changed_lines as f64, measured.complexity() as f64));
            }
        }
        at = history.first_parent(&id)?;
    }
    Ok(found)
}

const COMPLEXITIES: [f64; 9] = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0];
const DAYS: [f64; 8] = [1.0, 7.0, 30.0, 90.0, 270.0, 365.0, 1095.0, 3103.0];

/// Cumulative distributions as rows of a table.
fn distribution(text: &mut String, what: &str, bounds: &[f64], rows: &[(String, Vec<f64>)]) {
    let heads: Vec<String> = bounds.iter().map(|bound| format!("≤ {bound}")).collect();
    let _ = writeln!(text, "| {what} | n | {} |", heads.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(bounds.len() + 1));
    for (name, values) in rows {
        let shares = bounds
            .iter()
            .map(|bound| format!("{:.0} %", share_up_to(values, *bound)));
        let shares: Vec<String> = shares.collect();
        let _ = writeln!(
            text,
            "| {name} | {} | {} |",
            values.len(),
            shares.join(" | ")
        );
    }
    text.push('\n');
}

fn said(pairs: &[(f64, f64)]) -> String {
    match correlation(pairs) {
        Some((rho, p)) => format!(
            "Spearman's ρ = {rho:.4}, two-sided p = {p:.4} (n = {})",
            pairs.len()
        ),
        None => format!(
            "no correlation: one of the two never varies (n = {})",
            pairs.len()
        ),
    }
}

fn tables(errors: &[Error], newest: &[(f64, f64)], missing: &[String]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{} errors measured", errors.len());
    if !missing.is_empty() {
        let _ = writeln!(text, "\nNot measured:\n");
        for one in missing {
            let _ = writeln!(text, "* {one}");
        }
    }
    // As in the thesis, what changes no statement does not count.
    let counted: Vec<&Error> = errors.iter().filter(|error| error.fix > 0).collect();
    let left_out = errors.len() - counted.len();
    if left_out > 0 {
        let _ = writeln!(
            text,
            "{left_out} of them are fixed without a changed statement, and left out"
        );
    }
    let mut projects: Vec<&str> = counted.iter().map(|error| error.project.as_str()).collect();
    projects.dedup();
    let of = |errors: &[&Error], value: fn(&Error) -> f64| -> Vec<f64> {
        errors.iter().map(|error| value(error)).collect()
    };
    let fix = |error: &Error| error.fix as f64;
    let introduction = |error: &Error| error.introduction as f64;
    let days = |error: &Error| error.days;

    text.push_str("\n## Figure 5.7: error complexity (CyCC of the fix) by project, cumulative\n\n");
    let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
    for project in &projects {
        let own = counted.iter().filter(|error| error.project == **project);
        let own: Vec<&Error> = own.copied().collect();
        rows.push(((*project).to_owned(), of(&own, fix)));
    }
    rows.push(("all".to_owned(), of(&counted, fix)));
    distribution(&mut text, "CyCC", &COMPLEXITIES, &rows);

    text.push_str("## Figure 5.8: complexity of actual errors\n\n");
    text.push_str("| measure | n | mean | median | largest | simple (1) | > 10 | exponent of the power law |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    let lines = |error: &Error| error.lines as f64;
    for (name, values) in [("CyCC", of(&counted, fix)), ("CLoC", of(&counted, lines))] {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "| {name} | {} | {:.1} | {:.1} | {largest:.0} | {:.0} % | {:.0} % | {:.2} |",
            values.len(),
            mean_and_deviation(&values).0,
            median(&values),
            share_up_to(&values, 1.0),
            100.0 - share_up_to(&values, 10.0),
            exponent(
                &values
                    .iter()
                    .map(|value| value.max(1.0))
                    .collect::<Vec<_>>()
            ),
        );
    }

    text.push_str("\n## Figure 5.9: life span and complexity\n\n");
    let pairs: Vec<(f64, f64)> = counted
        .iter()
        .map(|error| (error.days, fix(error)))
        .collect();
    let _ = writeln!(text, "{}\n", said(&pairs));
    let spans = of(&counted, days);
    let commits: Vec<f64> = counted.iter().map(|error| error.commits as f64).collect();
    let _ = writeln!(
        text,
        "Life span: median {:.0} days and {:.0} commits, mean {:.0} days\n",
        median(&spans),
        median(&commits),
        mean_and_deviation(&spans).0
    );
    distribution(&mut text, "days", &DAYS, &[("life span".to_owned(), spans)]);

    text.push_str("## Figure 5.10: introducing and fixing commits\n\n");
    let both: Vec<&Error> = counted
        .iter()
        .filter(|error| error.introduction > 0)
        .copied()
        .collect();
    let pairs: Vec<(f64, f64)> = both
        .iter()
        .map(|error| (introduction(error), fix(error)))
        .collect();
    let _ = writeln!(text, "{}\n", said(&pairs));
    let rows = [
        ("introducing".to_owned(), of(&both, introduction)),
        ("fixing".to_owned(), of(&both, fix)),
    ];
    distribution(&mut text, "CyCC", &COMPLEXITIES, &rows);

    text.push_str("## Figure 5.11: CLoC and CyCC of the newest commits\n\n");
    if newest.len() < 2 {
        text.push_str("There are not enough commits.\n");
    } else {
        let ranks = ranked(newest);
        let differences: Vec<f64> = ranks.iter().map(|(a, b)| a - b).collect();
        let (bias, deviation) = mean_and_deviation(&differences);
        let _ = writeln!(
            text,
            "{}; of ranks: bias {bias:.1}, limits of agreement ± {:.1} of {}; Cohen's κ {:.3} of ranks, {:.3} of values",
            said(newest),
            1.96 * deviation,
            newest.len(),
            kappa(&ranks),
            kappa(newest)
        );
    }

    text.push_str("\n## Figure 5.12: change interaction errors\n\n");
    interactions(&mut text, &projects, &counted);
    text
}

fn interactions(text: &mut String, projects: &[&str], counted: &[&Error]) {
    text.push_str("| project | CIE | non-CIE | unclassified |\n| --- | ---: | ---: | ---: |\n");
    let kinds = [Some(true), Some(false), None];
    let row = |text: &mut String, name: &str, errors: &[&Error]| {
        let numbers = kinds.map(|kind| {
            let of = errors.iter().filter(|error| error.interacts == kind);
            of.count().to_string()
        });
        let _ = writeln!(text, "| {name} | {} |", numbers.join(" | "));
    };
    for project in projects {
        let own = counted.iter().filter(|error| error.project == *project);
        row(text, project, &own.copied().collect::<Vec<_>>());
    }
    row(text, "all", counted);
    text.push('\n');
    let of = |kind: bool, value: fn(&Error) -> f64| -> Vec<f64> {
        let own = counted.iter().filter(|error| error.interacts == Some(kind));
        own.map(|error| value(error)).collect()
    };
    if counted.iter().all(|error| error.interacts.is_none()) {
        text.push_str(
            "The list does not say which errors are change interaction errors (fourth column).\n",
        );
        return;
    }
    for (what, bounds, value) in [
        (
            "CyCC",
            &COMPLEXITIES[..],
            (|error: &Error| error.fix as f64) as fn(&Error) -> f64,
        ),
        ("days", &DAYS[..], |error: &Error| error.days),
    ] {
        let rows = [
            ("CIE".to_owned(), of(true, value)),
            ("non-CIE".to_owned(), of(false, value)),
        ];
        distribution(text, what, bounds, &rows);
        let _ = writeln!(
            text,
            "Mean: {:.1} of CIEs, {:.1} of others\n",
            mean_and_deviation(&rows[0].1).0,
            mean_and_deviation(&rows[1].1).0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_what_is_wrong_with_it_has_its_line() {
        let pair = |interacts| Pair {
            project: "p".to_owned(),
            introduction: "aa".to_owned(),
            fix: "bb".to_owned(),
            interacts,
        };
        let read_list = |text: &str| read(text);
        assert_eq!(
            read_list("# p\na\n\np\taa\tbb\np\taa\tbb\tcie\n").unwrap_err(),
            "line 2: a project and two commits are wanted, separated by tabs"
        );
        assert_eq!(
            read_list("# a list\n\np\taa\tbb\np\taa\tbb\tcie\np\taa\tbb\tnon-cie\n").unwrap(),
            [pair(None), pair(Some(true)), pair(Some(false))]
        );
        assert!(
            read_list("p\taa\tbb\tperhaps\n")
                .unwrap_err()
                .starts_with("line 1: ")
        );
    }

    /// Commits these texts of `a.c`, ten days after each other; their names.
    fn repository(folder: &Path, texts: &[&str]) -> Vec<String> {
        let repository = git2::Repository::init(folder).unwrap();
        let mut names: Vec<String> = Vec::new();
        for (number, text) in (0..).zip(texts) {
            files::write_atomic(&folder.join("a.c"), text.as_bytes()).unwrap();
            let mut index = repository.index().unwrap();
            index.add_path(Path::new("a.c")).unwrap();
            index.write().unwrap();
            let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
            let time = git2::Time::new(1_700_000_000 + 864_000 * number, 0);
            let who = git2::Signature::new("A", "a@example.invalid", &time).unwrap();
            let parent = names
                .last()
                .map(|name| repository.find_commit(name.parse().unwrap()));
            let parent = parent.map(Result::unwrap);
            let parents: Vec<&git2::Commit> = parent.iter().collect();
            let name = repository.commit(Some("HEAD"), &who, &who, "c", &tree, &parents);
            names.push(name.unwrap().to_string());
        }
        names
    }

    #[test]
    fn the_figures_of_a_small_list_are_right() {
        let base = tempfile::tempdir().unwrap();
        let of = |body: &str| format!("int f(int a, int b)\n{{\n{body}  return a;\n}}\n");
        let simple = of("  a = b;\n");
        let two = of("  if (a == 0 || b == 0)\n    a = 1;\n  a = b;\n");
        let three = of("  if (a == 0 || b == 0)\n    a = 2;\n  a = b;\n");
        let names = repository(&base.path().join("one"), &[&of(""), &simple, &two, &three]);
        repository(&base.path().join("other.git"), &[&of("")]);
        let list = format!(
            "one\t{}\t{}\tcie\none\t{}\t{}\tnon-cie\nother\tabc\tdef\ngone\tabc\tdef\n",
            &names[1][..8],
            &names[2][..8],
            &names[1],
            &names[3]
        );
        let pairs = base.path().join("pairs");
        files::write_atomic(&pairs, list.as_bytes()).unwrap();
        let (text, is_complete) = report(&Arguments {
            repositories: base.path().to_path_buf(),
            pairs,
            commits: 2,
            whole_program: true,
        })
        .unwrap();
        assert!(!is_complete);
        for line in [
            "2 errors measured",
            "* other abc def: the repository knows no revision `abc`; give a commit, tag or branch, or a range A..B",
            // The fixes have complexities 3 and 1.
            "| one | 2 | 50 % | 50 % | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % |",
            "| CyCC | 2 | 2.0 | 2.0 | 3 | 50 % | 0 % | 1.80 |",
            "Life span: median 15 days and 2 commits, mean 15 days",
            "| life span | 2 | 0 % | 0 % | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % |",
            "| introducing | 2 | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % | 100 % |",
            "| all | 1 | 1 | 0 |",
            "Mean: 3.0 of CIEs, 1.0 of others",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.contains("* gone: "), "{text}");
    }
}
