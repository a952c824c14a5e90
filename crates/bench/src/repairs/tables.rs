//! Makes the Markdown tables of repairs.

use std::{collections::BTreeMap, fmt::Write};

use super::modes::{Kind, Measured, Run};

/// Returns the tables of `docs/results/repair.md` as Markdown, made of the measured projects.
pub fn tables(projects: &[Measured]) -> String {
    let mut text = String::new();
    effectiveness(&mut text, projects);
    speed(&mut text, projects);
    times(&mut text, projects);
    kinds(&mut text, projects);
    relations(&mut text, projects);
    memory(&mut text, projects);
    text
}

fn head(text: &mut String, title: &str, columns: &[&str]) {
    let _ = writeln!(text, "### {title}\n");
    let _ = writeln!(text, "| {} |", columns.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(columns.len() - 1));
}

/// `1234567` as `1,234,567`.
fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with as many digits as mean something.
fn figure(value: f64) -> String {
    match value {
        value if value >= 100.0 => number(value.round() as u64),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

impl Run {
    fn is_partial(&self) -> bool {
        self.out_of_time || self.out_of_executions
    }

    fn per_execution(&self) -> f64 {
        self.explored as f64 / self.executions.max(1) as f64
    }

    fn fraction(&self) -> String {
        format!(
            "{} / {} = {}",
            number(self.explored),
            number(self.executions),
            figure(self.per_execution())
        )
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.filter(|&value| value > 0.0).map(f64::ln).collect();
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

fn effectiveness(text: &mut String, projects: &[Measured]) {
    head(
        text,
        "Patches, and the developer's among them (table 2)",
        &[
            "project",
            "failing / passing tests",
            "locations",
            "plausible candidates",
            "patches",
            "rejected by the verification",
            "place of the developer's",
            "how it is recognized",
            "search, s",
            "in all, s",
        ],
    );
    let (mut in_space, mut in_three, mut found) = (0, 0, 0);
    for project in projects {
        let Some(run) = &project.first else { continue };
        let rank = project.rank();
        let how = match (rank, &project.not_in_space) {
            (Some(rank), _) => project.patches[rank - 1].same.clone().unwrap_or_default(),
            (None, Some(why)) => format!("not in the space: {why}"),
            (None, None) => "not among them".to_owned(),
        };
        in_space += usize::from(project.not_in_space.is_none());
        in_three += usize::from(rank.is_some_and(|rank| rank <= 3));
        found += usize::from(!project.patches.is_empty());
        let _ = writeln!(
            text,
            "| {} | {} / {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
            project.name,
            project.failing,
            project.passing,
            project.locations,
            number(run.plausible),
            project.patches.len(),
            project.rejected,
            rank.map_or("–".to_owned(), |rank| rank.to_string()),
            how,
            run.seconds,
            project.total_seconds,
        );
    }
    let _ = writeln!(
        text,
        "\nWith patches: {found} of {} projects. The developer's patch, or one with the same effect, is among the \
         first three for {in_three} of the {in_space} projects whose fix is in the space.\n",
        projects
            .iter()
            .filter(|project| project.first.is_some())
            .count()
    );
}

fn speed(text: &mut String, projects: &[Measured]) {
    head(
        text,
        "Explored candidates / executions (table 3)",
        &[
            "project",
            "first patches, classes",
            "first patch, no classes",
            "full exploration, classes",
            "complete",
            "full exploration, no classes: measured on a sample",
        ],
    );
    for project in projects {
        let show = |run: &Option<Run>| {
            run.as_ref().map_or("–".to_owned(), |run| {
                let late = if run.is_partial() { " (ended)" } else { "" };
                format!("{}{late}", run.fraction())
            })
        };
        let complete = project.full.as_ref().map_or("–", |run| {
            match (run.out_of_time, run.out_of_executions) {
                (true, _) => "no, time up",
                (_, true) => "no, executions used up",
                _ => "yes",
            }
        });
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {complete} | {} |",
            project.name,
            show(&project.first),
            show(&project.first_plain),
            project.full.as_ref().map_or("–".to_owned(), Run::fraction),
            show(&project.plain),
        );
    }
    let runs = |of: fn(&Measured) -> &Option<Run>| {
        projects
            .iter()
            .filter_map(move |project| of(project).as_ref().map(Run::per_execution))
    };
    let mean =
        |of: fn(&Measured) -> &Option<Run>| geometric_mean(runs(of)).map_or("–".to_owned(), figure);
    let mut best: Vec<f64> = runs(|project| &project.full).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let best: Vec<String> = best.into_iter().take(3).map(figure).collect();
    let _ = writeln!(
        text,
        "\nGeometric means: first patches {}, without classes {}; full exploration {}, without classes {}. The best three \
         of the full explorations: {}.\n",
        mean(|project| &project.first),
        mean(|project| &project.first_plain),
        mean(|project| &project.full),
        mean(|project| &project.plain),
        best.join(", ")
    );
}

fn times(text: &mut String, projects: &[Measured]) {
    head(
        text,
        "Time with and without classes",
        &[
            "project",
            "small space: candidates",
            "with classes, s",
            "without, s",
            "ratio",
            "full exploration: explored",
            "s",
            "without classes, extrapolated from the sample's rate, s",
            "ratio",
        ],
    );
    let mut ratios = [Vec::new(), Vec::new()];
    for project in projects {
        let mut cells = vec![project.name.clone()];
        match &project.small {
            Some((with, without)) if !without.is_partial() => {
                let ratio = without.seconds / with.seconds;
                ratios[0].push(ratio);
                cells.extend([
                    number(with.candidates),
                    format!("{:.2}", with.seconds),
                    format!("{:.1}", without.seconds),
                    figure(ratio),
                ]);
            }
            Some((with, without)) => {
                let expected =
                    without.seconds * with.candidates as f64 / without.explored.max(1) as f64;
                cells.extend([
                    number(with.candidates),
                    format!("{:.2}", with.seconds),
                    format!(
                        "ended after {:.0} with {} explored; extrapolated {}",
                        without.seconds,
                        number(without.explored),
                        figure(expected)
                    ),
                    figure(expected / with.seconds),
                ]);
            }
            None => cells.extend(vec!["–".to_owned(); 4]),
        }
        match (&project.full, &project.plain) {
            (Some(full), Some(plain)) => {
                let expected = plain.seconds * full.explored as f64 / plain.explored.max(1) as f64;
                let ratio = expected / full.seconds;
                ratios[1].push(ratio);
                cells.extend([
                    number(full.explored),
                    format!("{:.1}", full.seconds),
                    format!(
                        "{} ({} explored in {:.1})",
                        figure(expected),
                        plain.explored,
                        plain.seconds
                    ),
                    figure(ratio),
                ]);
            }
            _ => cells.extend(vec!["–".to_owned(); 4]),
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let means =
        ratios.map(|ratios| geometric_mean(ratios.into_iter()).map_or("–".to_owned(), figure));
    let _ = writeln!(
        text,
        "\nGeometric means of the ratios: {} where both were measured, {} extrapolated.\n",
        means[0], means[1]
    );
}

fn kinds(text: &mut String, projects: &[Measured]) {
    head(
        text,
        "Full exploration by kind of location (table 4, first part)",
        &[
            "kind",
            "locations",
            "candidates",
            "explored",
            "classes of the failing tests",
            "executions",
            "explored per execution",
        ],
    );
    let mut sums: BTreeMap<&str, Kind> = BTreeMap::new();
    for (name, kind) in projects.iter().flat_map(|project| &project.kinds) {
        let sum = sums.entry(name).or_default();
        sum.locations += kind.locations;
        sum.candidates += kind.candidates;
        sum.explored += kind.explored;
        sum.classes += kind.classes;
        sum.executions += kind.executions;
    }
    for (name, kind) in sums {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} |",
            number(kind.locations as u64),
            number(kind.candidates),
            number(kind.explored),
            number(kind.classes),
            number(kind.executions),
            figure(kind.explored as f64 / kind.executions.max(1) as f64)
        );
    }
    text.push('\n');
}

fn relations(text: &mut String, projects: &[Measured]) {
    head(
        text,
        "Assignments of single leaves with each relation (table 4, second part)",
        &[
            "relation",
            "projects",
            "candidates",
            "explored",
            "classes",
            "executions",
            "explored per execution",
            "s",
        ],
    );
    for (relation, name) in [
        ("none", "none (each candidate by itself)"),
        ("value", "values"),
        ("dependency", "dependencies"),
        ("both", "both"),
    ] {
        let runs: Vec<&Run> = projects
            .iter()
            .filter_map(|project| project.relations.get(relation))
            .collect();
        let sum = |of: fn(&Run) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
        let (explored, executions) = (sum(|run| run.explored), sum(|run| run.executions));
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {:.1} |",
            runs.len(),
            number(sum(|run| run.candidates)),
            number(explored),
            number(sum(|run| run.classes)),
            number(executions),
            figure(explored as f64 / executions.max(1) as f64),
            runs.iter().map(|run| run.seconds).sum::<f64>()
        );
    }
    text.push('\n');
}

/// The peaks of all runs: a search holds classes and states, so each mode is shown.
fn memory(text: &mut String, projects: &[Measured]) {
    head(
        text,
        "Memory of the host, MiB at most",
        &[
            "project",
            "first patches",
            "full exploration",
            "small space",
            "relations",
        ],
    );
    for project in projects {
        let show = |runs: &mut dyn Iterator<Item = &Run>| {
            let peak = runs
                .map(|run| run.peak_memory)
                .max()
                .filter(|&peak| peak > 0);
            peak.map_or("–".to_owned(), |peak| number(peak >> 20))
        };
        let small = project
            .small
            .iter()
            .flat_map(|(with, without)| [with, without]);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            project.name,
            show(&mut project.first.iter()),
            show(&mut project.full.iter().chain(&project.plain)),
            show(&mut small.into_iter()),
            show(&mut project.relations.values()),
        );
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_geometric_and_numbers_have_groups_of_digits() {
        let mean = geometric_mean([1.0, 100.0].into_iter()).unwrap();
        assert!((mean - 10.0).abs() < 1e-9);
        assert_eq!(geometric_mean(std::iter::empty()), None);
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(figure(0.5), "0.50");
    }
}
