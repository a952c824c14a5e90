//! Measures the complexity of a range of commits: the numbers, their correlation, and the time.

use std::path::Path;

use patchwright_changes::git::{GitError, History};
use patchwright_changes::rank::spearman;
use patchwright_changes::{Note, Outlines, measure_with};
use patchwright_exec::processor_time;

/// Prints a row of a Markdown table for the newest `limit` commits of `range`.
pub fn run(
    repository: &Path,
    range: &str,
    limit: Option<usize>,
    whole: bool,
) -> Result<bool, GitError> {
    let history = History::open(repository)?;
    let (from, to) = range.split_once("..").unwrap_or((range, ""));
    let mut commits = history.range(from, to)?;
    if let Some(limit) = limit {
        commits.drain(..commits.len().saturating_sub(limit));
    }
    let (mut figures, mut times) = (Vec::new(), Vec::new());
    let mut functions = 0;
    let mut noted = [0; 3];
    let mut outlines = Outlines::default();
    for commit in &commits {
        let begin = processor_time();
        let measured = measure_with(&history.change(commit, whole)?, &mut outlines);
        times.push((processor_time() - begin).as_secs_f64() * 1e3);
        functions += measured.functions.len();
        let has = |kind: fn(&Note) -> bool| usize::from(measured.notes.iter().any(kind));
        noted[0] += has(|note| matches!(note, Note::OtherBranches { .. }));
        noted[1] += has(|note| matches!(note, Note::NotRead { .. }));
        noted[2] += has(|note| matches!(note, Note::Unclear { .. }));
        if !measured.graph.is_empty() && commit.parents <= 1 {
            figures.push((measured.complexity() as f64, measured.changed_lines as f64));
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
            .get(values.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or(0.0)
    };
    let mut complexity: Vec<f64> = figures.iter().map(|pair| pair.0).collect();
    let mut lines: Vec<f64> = figures.iter().map(|pair| pair.1).collect();
    let first = times.first().copied().unwrap_or(0.0);
    println!(
        "| commits | with changed statements | functions | CyCC median, largest | CLoC median, largest | ρ | \
         milliseconds of processor: first, median, largest | other branches, not read, unclear |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    println!(
        "| {} | {} | {functions} | {}, {} | {}, {} | {:.3} | {first:.0}, {:.0}, {:.0} | {}, {}, {} |",
        commits.len(),
        figures.len(),
        median(&mut complexity),
        complexity.last().unwrap_or(&0.0),
        median(&mut lines),
        lines.last().unwrap_or(&0.0),
        spearman(&figures).unwrap_or(f64::NAN),
        median(&mut times),
        times.last().unwrap_or(&0.0),
        noted[0],
        noted[1],
        noted[2],
    );
    Ok(!figures.is_empty())
}
