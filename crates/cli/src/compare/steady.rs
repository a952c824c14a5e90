//! Finds which effects of a version are the same in each execution, and in which of these two versions
//! differ.

use std::collections::BTreeSet;

use super::native::Ran;

/// Returns the first difference between an execution of OLD (`a`) and one of NEW (`b`), in words for the report. Only effects in
/// `steady` count: those that were the same each time. Returns `None` if none differs.
pub fn difference(a: &Ran, b: &Ran, steady: &Steady) -> Option<&'static str> {
    let ends = match (a.endless, b.endless) {
        (false, false) => a.ending != b.ending,
        (one, other) => one != other,
    };
    if ends && steady.ending {
        return Some(match (a.crashed, b.crashed, a.endless, b.endless) {
            (false, true, ..) => "NEW crashes",
            (true, false, ..) => "OLD crashes",
            (.., false, true) => "NEW does not end",
            (.., true, false) => "OLD does not end",
            _ => "the exit status",
        });
    }
    if a.endless || b.endless {
        return None;
    }
    match () {
        () if steady.output.differ(&a.output, &b.output) => Some("the output"),
        () if steady.written && a.written != b.written => Some("what it writes to files"),
        () if steady.errors.differ(&a.errors, &b.errors) => Some("the output to standard error"),
        () => None,
    }
}

/// The effects of a version that are the same each time it is executed on an input.
pub struct Steady {
    ending: bool,
    written: bool,
    output: Lines,
    errors: Lines,
}

enum Lines {
    /// All of them.
    All,
    /// All but these.
    But(BTreeSet<usize>),
    /// Not even how many there are.
    None,
}

impl Lines {
    fn of(texts: &[&[u8]]) -> Lines {
        if texts.windows(2).all(|pair| pair[0] == pair[1]) {
            return Lines::All;
        }
        let lines: Vec<Vec<&[u8]>> = texts
            .iter()
            .map(|text| text.split(|byte| *byte == b'\n').collect())
            .collect();
        if lines.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Lines::None;
        }
        let varies = |line: &usize| {
            lines
                .windows(2)
                .any(|pair| pair[0][*line] != pair[1][*line])
        };
        Lines::But((0..lines[0].len()).filter(varies).collect())
    }

    fn and(self, other: Lines) -> Lines {
        match (self, other) {
            (Lines::All, one) | (one, Lines::All) => one,
            (Lines::But(a), Lines::But(b)) => Lines::But(a.union(&b).copied().collect()),
            _ => Lines::None,
        }
    }

    fn differ(&self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Lines::All => a != b,
            Lines::None => false,
            Lines::But(left_out) => {
                let a: Vec<&[u8]> = a.split(|byte| *byte == b'\n').collect();
                let b: Vec<&[u8]> = b.split(|byte| *byte == b'\n').collect();
                a.len() != b.len()
                    || (0..a.len()).any(|at| !left_out.contains(&at) && a[at] != b[at])
            }
        }
    }

    fn is_all(&self) -> bool {
        matches!(self, Lines::All)
    }
}

impl Steady {
    /// Every effect counts: for programs whose executions never vary.
    pub const ALL: Steady = Steady {
        ending: true,
        written: true,
        output: Lines::All,
        errors: Lines::All,
    };

    /// Returns the effects that are the same in all of `runs`.
    pub fn of(runs: &[Ran]) -> Steady {
        let output: Vec<&[u8]> = runs.iter().map(|ran| &ran.output[..]).collect();
        let errors: Vec<&[u8]> = runs.iter().map(|ran| &ran.errors[..]).collect();
        Steady {
            ending: runs.windows(2).all(|pair| {
                (&pair[0].ending, pair[0].endless) == (&pair[1].ending, pair[1].endless)
            }),
            written: runs
                .windows(2)
                .all(|pair| pair[0].written == pair[1].written),
            output: Lines::of(&output),
            errors: Lines::of(&errors),
        }
    }

    /// Returns the effects that are steady in both.
    pub fn and(self, other: Steady) -> Steady {
        Steady {
            ending: self.ending && other.ending,
            written: self.written && other.written,
            output: self.output.and(other.output),
            errors: self.errors.and(other.errors),
        }
    }

    /// Whether all effects are steady.
    pub fn is_all(&self) -> bool {
        self.ending && self.written && self.output.is_all() && self.errors.is_all()
    }
}

/// Returns what a sanitizer reports at the end of standard error, and the rest of standard error.
/// Addresses, lines and stacks are dropped.
pub fn sanitizer_report(errors: &[u8]) -> Option<(String, Vec<u8>)> {
    let text = String::from_utf8_lossy(errors);
    let at = text.find("==ERROR: ")?;
    let (sanitizer, rest) = text[at + "==ERROR: ".len()..].split_once(": ")?;
    if !sanitizer.ends_with("Sanitizer") || sanitizer.contains(char::is_whitespace) {
        return None;
    }
    let kind = rest.split_whitespace().next()?;
    let access = rest.lines().nth(1).and_then(|line| {
        let (access, _) = line.split_once(" at ")?;
        access.contains(" of size ").then(|| format!(", {access}"))
    });
    // Before it stand the number of the process, and a line of its own.
    let mut own = errors[..at].iter().rposition(|byte| *byte == b'\n');
    let is_rule = |line: &[u8]| !line.is_empty() && line.iter().all(|byte| *byte == b'=');
    if let Some(end) = own {
        let begin = errors[..end].iter().rposition(|byte| *byte == b'\n');
        let begin = begin.map_or(0, |begin| begin + 1);
        if is_rule(&errors[begin..end]) {
            own = begin.checked_sub(1);
        }
    }
    let before = errors[..own.map_or(0, |end| end + 1)].to_vec();
    Some((
        format!("{sanitizer}: {kind}{}", access.unwrap_or_default()),
        before,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_sanitizers_report_only_counts_what_was_wrong() {
        let report = b"warning\n=====\n==17==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6 at pc 0x5\n\
                       READ of size 4 at 0x6 thread T0\n    #0 0x5 in f a.c:7\n";
        let expected = "AddressSanitizer: heap-buffer-overflow, READ of size 4".to_owned();
        assert_eq!(
            sanitizer_report(report),
            Some((expected, b"warning\n".to_vec()))
        );
        assert_eq!(sanitizer_report(b"==ERROR: what: ever\n"), None);
        let first = b"==1==ERROR: AddressSanitizer: SEGV on unknown address\n";
        let expected = "AddressSanitizer: SEGV".to_owned();
        assert_eq!(sanitizer_report(first), Some((expected, Vec::new())));
    }
}
