//! Finds evidence for changes of declarations in failing tests: an expected number that the type cannot
//! hold, a fraction, or a crash.
//!
//! Without that, what is declared is the last thing to be suspected, for each change costs a build; with it, such changes are few, and
//! likelier than most others.

use patchwright_exec::{TestKind, TestSuite};

/// A reason in the output of failing tests to change a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// An expected whole number is larger than this.
    Larger(u64),
    /// An expected number has a fraction.
    Fraction,
    /// A failing test crashes.
    Crash,
}

/// What failing tests show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    /// The largest whole number that is expected, without its sign.
    pub(crate) largest: u64,
    /// A number with a fraction is expected.
    pub(crate) fraction: bool,
    /// One of them crashes.
    pub(crate) crash: bool,
}

impl Expected {
    /// Reads the expected and the actual output of the failing tests.
    pub(crate) fn of(suite: &TestSuite, failing: &[usize], crash: bool) -> Expected {
        let mut found = Expected {
            crash,
            ..Expected::default()
        };
        for test in failing.iter().filter_map(|&test| suite.tests.get(test)) {
            if let TestKind::Case(case) = &test.kind {
                found.read(&case.expected_stdout);
            }
        }
        found
    }

    /// Adds the numbers of a text.
    fn read(&mut self, text: &[u8]) {
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
        for word in text.split(|byte| !in_word(byte)) {
            let Ok(word) = std::str::from_utf8(word) else {
                continue;
            };
            let word = word.trim_end_matches('.');
            let is_number = word.starts_with(|first: char| first.is_ascii_digit());
            match word.parse::<u64>() {
                Ok(number) if is_number => self.largest = self.largest.max(number),
                _ => self.fraction |= is_number && word.parse::<f64>().is_ok(),
            }
        }
    }

    /// Whether they show this.
    pub(crate) fn has(&self, evidence: Evidence) -> bool {
        match evidence {
            Evidence::Larger(most) => self.largest > most,
            Evidence::Fraction => self.fraction,
            Evidence::Crash => self.crash,
        }
    }
}

/// Returns the evidence that would speak for changing a number's type from one to the other; `None` if there is no such evidence.
pub(super) fn of_type(from: &str, to: &str) -> Option<Evidence> {
    let most: u64 = match from {
        "char" | "signed char" => 0x7f,
        "unsigned char" => 0xff,
        "short" => 0x7fff,
        "int" | "signed int" => 0x7fff_ffff,
        "unsigned" | "unsigned int" => 0xffff_ffff,
        _ => 0,
    };
    match to {
        "double" if from == "int" => Some(Evidence::Fraction),
        "int" | "long long" | "unsigned long long"
            if most > 0 && !(to == "int" && most > 0xffff) =>
        {
            Some(Evidence::Larger(most))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(text: &str) -> Expected {
        let mut found = Expected::default();
        found.read(text.as_bytes());
        found
    }

    #[test]
    fn a_number_that_a_type_cannot_hold_speaks_for_another_one() {
        let large = expected("n = 479001600, -6227020800.\n");
        assert_eq!(large.largest, 6_227_020_800);
        assert!(!large.fraction);
        assert!(large.has(of_type("int", "long long").unwrap()));
        assert!(!expected("2147483647").has(of_type("int", "long long").unwrap()));
        assert!(expected("200").has(of_type("char", "int").unwrap()));
        assert!(!expected("x200 0x300").has(of_type("char", "int").unwrap()));
        assert_eq!(of_type("unsigned", "int"), None);
        assert_eq!(of_type("long", "double"), None);
    }

    #[test]
    fn a_fraction_speaks_for_a_floating_type() {
        let fraction = of_type("int", "double").unwrap();
        assert!(expected("mean: 2.50%").has(fraction));
        assert!(!expected("1.2.3 v1.5 3.").has(fraction));
    }
}
