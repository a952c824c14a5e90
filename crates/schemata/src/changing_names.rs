//! Names of files that are new each time: `out.4711`, `tmp.x7Qk2a`, `log-12:30:07/trace`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What two paths have in common that differ in numbers, or in one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangingName {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Signs, or a word that stays.
    Same(Vec<u8>),
    Number,
    Word,
}

impl ChangingName {
    /// Makes the name of two paths, `None` if they have no word in common, or differ in more.
    pub fn of(one: &Path, other: &Path) -> Option<ChangingName> {
        let (one, other) = (pieces(one), pieces(other));
        if one.len() != other.len() {
            return None;
        }
        let part =
            |(one, other): (&&[u8], &&[u8])| match (one == other, is_word(one), is_word(other)) {
                (true, ..) => Some(Part::Same(one.to_vec())),
                (false, true, true) if is_number(one) && is_number(other) => Some(Part::Number),
                (false, true, true) => Some(Part::Word),
                (false, ..) => None,
            };
        let parts: Option<Vec<Part>> = one.iter().zip(&other).map(part).collect();
        let parts = parts?;
        let has_word = parts
            .iter()
            .any(|part| matches!(part, Part::Same(text) if is_word(text)));
        let words = parts.iter().filter(|part| **part == Part::Word).count();
        let changes = parts.iter().any(|part| !matches!(part, Part::Same(_)));
        (has_word && words <= 1 && changes).then_some(ChangingName { parts })
    }

    /// Whether a path has this name.
    pub fn is_of(&self, path: &Path) -> bool {
        let pieces = pieces(path);
        let fits = |(part, piece): (&Part, &&[u8])| match part {
            Part::Same(text) => text == piece,
            Part::Number => is_number(piece),
            Part::Word => is_word(piece),
        };
        pieces.len() == self.parts.len() && self.parts.iter().zip(&pieces).all(fits)
    }
}

/// The words of a path, and the signs between them.
fn pieces(path: &Path) -> Vec<&[u8]> {
    let bytes = path.as_os_str().as_bytes();
    let is_together = |one: &u8, next: &u8| is_word(&[*one]) == is_word(&[*next]);
    bytes.chunk_by(is_together).collect()
}

fn is_word(piece: &[u8]) -> bool {
    piece
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

fn is_number(piece: &[u8]) -> bool {
    piece.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(one: &str, other: &str) -> Option<ChangingName> {
        ChangingName::of(Path::new(one), Path::new(other))
    }

    #[test]
    fn numbers_of_processes_times_and_random_letters_change() {
        let process = of("tests/out.4711", "tests/out.4720").unwrap();
        assert!(process.is_of(Path::new("tests/out.99")));
        assert!(!process.is_of(Path::new("tests/out.log")));
        assert!(!process.is_of(Path::new("out.99")));
        let random = of("tmp.x7Qk2a/trace", "tmp.PpQzzU/trace").unwrap();
        assert!(random.is_of(Path::new("tmp.aaaaaa/trace")));
        assert!(!random.is_of(Path::new("tmp.aaaaaa/other")));
        let time = of("log-12:30:07", "log-12:31:59").unwrap();
        assert!(time.is_of(Path::new("log-12:40:11")));
        // The hour has not changed yet.
        assert!(!time.is_of(Path::new("log-13:40:11")));
    }

    #[test]
    fn names_that_have_little_in_common_are_two_names() {
        assert_eq!(of("a", "b"), None);
        assert_eq!(of("12", "13"), None);
        assert_eq!(of("out.a", "out-a"), None);
        assert_eq!(of("one.first.log", "two.second.log"), None);
        assert_eq!(of("same.log", "same.log"), None);
    }
}
