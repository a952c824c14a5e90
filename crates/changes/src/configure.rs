//! Chooses the branches of conditional directives in which a change is measured: those that it touches.

use patchwright_flow::Directives;
use rustc_hash::FxHashSet;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The lines that differ between two files, and the lines that correspond.
pub(crate) struct LineDifference {
    /// Changed lines of the old and the new file, from 1.
    pub old: FxHashSet<u32>,
    pub new: FxHashSet<u32>,
    /// By line of the old file (from 0): the same line of the new file, from 1.
    old_to_new: Vec<Option<u32>>,
}

impl LineDifference {
    /// Computes which lines of both texts differ.
    pub fn of(old: &[u8], new: &[u8]) -> Self {
        let old_lines: Vec<&[u8]> = old
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .collect();
        let new_lines: Vec<&[u8]> = new
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .collect();
        let mut found = LineDifference {
            old: FxHashSet::default(),
            new: FxHashSet::default(),
            old_to_new: vec![None; old_lines.len()],
        };
        for op in capture_diff_slices(Algorithm::Patience, &old_lines, &new_lines) {
            let (old, new) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                for (old, new) in old.zip(new) {
                    found.old_to_new[old] = Some(new as u32 + 1);
                }
            } else {
                let filled = |lines: &[&[u8]], range: std::ops::Range<usize>| {
                    range
                        .filter(|line| !lines[*line].is_empty())
                        .map(|line| line as u32 + 1)
                        .collect::<Vec<_>>()
                };
                found.old.extend(filled(&old_lines, old));
                found.new.extend(filled(&new_lines, new));
            }
        }
        found
    }
}

/// The branches chosen for the old and the new file, and how many changed lines lie in others that are possible too.
pub(crate) struct Choice {
    pub old: Vec<Option<usize>>,
    pub new: Vec<Option<usize>>,
    pub left_out: usize,
}

/// Chooses the branches of conditionals that hold changed lines, the same one in both versions where that is possible.
pub(crate) fn choose(old: &Directives, new: &Directives, lines: &LineDifference) -> Choice {
    let touched =
        |directives: &Directives, group: usize, branch: usize, changed: &FxHashSet<u32>| {
            let branch = &directives.conditionals[group].branches[branch];
            !branch.impossible && (branch.line + 1..branch.end).any(|line| changed.contains(&line))
        };
    let image = |line: u32| lines.old_to_new.get(line as usize - 1).copied().flatten();
    // Old and new conditionals that begin with the same line are one.
    let partner = |group: usize| {
        let line = image(old.conditionals[group].branches[0].line)?;
        new.conditionals
            .iter()
            .position(|other| other.branches[0].line == line)
    };
    let branch_partner = |group: usize, branch: usize, other: usize| {
        let branches = &new.conditionals[other].branches;
        let line = image(old.conditionals[group].branches[branch].line);
        branches
            .iter()
            .position(|candidate| Some(candidate.line) == line)
            .or_else(|| {
                (branches.len() == old.conditionals[group].branches.len()).then_some(branch)
            })
    };
    let mut votes: Vec<Vec<bool>> = (0..new.conditionals.len())
        .map(|group| {
            (0..new.conditionals[group].branches.len())
                .map(|branch| touched(new, group, branch, &lines.new))
                .collect()
        })
        .collect();
    let partners: Vec<Option<usize>> = (0..old.conditionals.len()).map(partner).collect();
    for (group, other) in partners.iter().enumerate() {
        let Some(other) = other else { continue };
        for branch in 0..old.conditionals[group].branches.len() {
            if touched(old, group, branch, &lines.old)
                && let Some(to) = branch_partner(group, branch, *other)
            {
                votes[*other][to] = true;
            }
        }
    }
    let new_choice: Vec<Option<usize>> = new
        .defaults()
        .into_iter()
        .zip(&votes)
        .map(|(default, votes)| votes.iter().position(|vote| *vote).or(default))
        .collect();
    let old_choice: Vec<Option<usize>> = old
        .defaults()
        .into_iter()
        .enumerate()
        .map(|(group, default)| {
            let branches = old.conditionals[group].branches.len();
            let same = partners[group].and_then(|other| {
                let chosen = new_choice[other]?;
                (0..branches).find(|branch| branch_partner(group, *branch, other) == Some(chosen))
            });
            same.or_else(|| (0..branches).find(|branch| touched(old, group, *branch, &lines.old)))
                .or(default)
        })
        .collect();
    let left_out = left_out(old, &old_choice, &lines.old) + left_out(new, &new_choice, &lines.new);
    Choice {
        old: old_choice,
        new: new_choice,
        left_out,
    }
}

/// Changed lines in branches that are possible and were not chosen.
fn left_out(directives: &Directives, choice: &[Option<usize>], changed: &FxHashSet<u32>) -> usize {
    let impossible = |line: u32| {
        directives.conditionals.iter().any(|group| {
            group
                .branches
                .iter()
                .any(|branch| branch.impossible && branch.line < line && line < branch.end)
        })
    };
    changed
        .iter()
        .filter(|line| !directives.keeps(choice, **line) && !impossible(**line))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(old: &str, new: &str) -> (String, String, usize) {
        let (a, b) = (
            Directives::read(old.as_bytes()),
            Directives::read(new.as_bytes()),
        );
        let lines = LineDifference::of(old.as_bytes(), new.as_bytes());
        let choice = choose(&a, &b, &lines);
        let words = |directives: &Directives, text: &str, choice: &[Option<usize>]| {
            let text = directives.configured(text.as_bytes(), choice);
            String::from_utf8(text)
                .unwrap()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        (
            words(&a, old, &choice.old),
            words(&b, new, &choice.new),
            choice.left_out,
        )
    }

    #[test]
    fn both_versions_are_read_in_the_branch_that_changed() {
        let old = "#if A\na;\n#else\nb;\n#endif\nc;\n";
        assert_eq!(
            chosen(old, &old.replace("b;", "b;\nx;")),
            ("b; c;".into(), "b; x; c;".into(), 0)
        );
        assert_eq!(
            chosen(&old.replace("b;", "b;\nx;"), old),
            ("b; x; c;".into(), "b; c;".into(), 0)
        );
        assert_eq!(chosen(old, &old.replace("c;", "d;")).0, "a; c;");
    }

    #[test]
    fn changes_in_two_branches_are_measured_in_the_first_and_the_rest_is_counted() {
        let old = "#if A\na;\n#else\nb;\n#endif\n";
        let new = "#if A\nx;\n#else\ny;\n#endif\n";
        assert_eq!(chosen(old, new), ("a;".into(), "x;".into(), 2));
    }

    #[test]
    fn code_that_is_switched_off_is_deleted() {
        assert_eq!(
            chosen("a;\nb;\n", "a;\n#if 0\nb;\n#endif\n"),
            ("a; b;".into(), "a;".into(), 0)
        );
    }
}
