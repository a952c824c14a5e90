//! Files that runners of tests write for people to read.
//!
//! CTest, Meson and automake record each run: when it was, how long it took, what was printed. A record differs from run to run, and its
//! runner writes it anew before it reads it. So records do not count when the question is whether a test leaves something behind that
//! another test might meet.

use std::path::Path;

/// A folder, and the names of records in it.
const RECORDS: [(&str, &[&str]); 2] = [
    // CTest
    (
        "Testing/Temporary",
        &["LastTest.log", "LastTest.log.tmp", "CTestCostData.txt"],
    ),
    // Meson
    (
        "meson-logs",
        &["testlog.txt", "testlog.json", "testlog.junit.xml"],
    ),
];

/// What automake makes of all its records.
const SUMMARY: &str = "test-suite.log";

/// The ends of the names of the two records that automake makes of a test.
const PAIR: [&str; 2] = ["log", "trs"];

/// Whether a runner of tests writes `path` for people to read. Automake makes two records of a test: `exists` tells whether there is a file
/// of this path, too.
pub fn is_record(path: &Path, exists: impl Fn(&Path) -> bool) -> bool {
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
        return false;
    };
    let is_in = |(place, names): &(&str, &[&str])| {
        folder.ends_with(place) && names.iter().any(|record| name == *record)
    };
    let is_of_pair = || {
        let end = path.extension().unwrap_or_default();
        let other = PAIR.iter().find(|other| end != **other);
        PAIR.iter().any(|own| end == *own)
            && other.is_some_and(|other| exists(&path.with_extension(other)))
    };
    RECORDS.iter().any(is_in) || name == SUMMARY || is_of_pair()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_known_by_their_place_or_by_their_pair() {
        let is =
            |path: &str, other: &str| is_record(Path::new(path), |asked| asked == Path::new(other));
        assert!(is("build/Testing/Temporary/LastTest.log", ""));
        assert!(!is("build/LastTest.log", ""));
        assert!(is("build/meson-logs/testlog.txt", ""));
        assert!(is("tests/one.log", "tests/one.trs"));
        assert!(is("tests/one.trs", "tests/one.log"));
        assert!(is("tests/test-suite.log", ""));
        assert!(!is("tests/one.log", "tests/two.trs"));
        assert!(!is("tests/one.txt", "tests/one.log"));
    }
}
