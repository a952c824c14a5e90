//! Compares preprocessed texts by their origin, to see whether added directives change other code.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use patchwright_csource::lex;

/// A preprocessed source, split by the lines from which it comes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preprocessed {
    /// What comes from the source itself, by line.
    pub own: BTreeMap<u32, String>,
    /// What comes from headers that are not the system's, in lines.
    pub project: String,
    /// What comes from headers of the system, in lines.
    pub system: String,
}

impl Preprocessed {
    /// Reads the output of a preprocessor, `# LINE "FILE" FLAGS` and text. The first file is the
    /// source.
    pub fn read(text: &[u8]) -> Self {
        let mut found = Self::default();
        let mut source: Option<&str> = None;
        let (mut file, mut line, mut is_system) = ("", 0u32, false);
        let text = String::from_utf8_lossy(text);
        for text in text.lines() {
            if let Some((next, name, system)) = marker(text) {
                source = source.or(Some(name));
                (file, line, is_system) = (name, next, system);
                continue;
            }
            let target = match (Some(file) == source, is_system) {
                (true, _) => found.own.entry(line).or_default(),
                (_, true) => &mut found.system,
                (_, false) => &mut found.project,
            };
            let before = target.len();
            for word in text.split_ascii_whitespace() {
                target.push_str(word);
                target.push(' ');
            }
            let of_header = is_system || Some(file) != source;
            if of_header && target.len() > before {
                target.push('\n');
            }
            line += 1;
        }
        found.own.retain(|_, text| !text.is_empty());
        found
    }

    /// Whether both have the same text for those lines of the source for which `counts` holds.
    pub fn has_same_lines(&self, other: &Self, counts: &dyn Fn(u32) -> bool) -> bool {
        let of = |text: &Self| -> Vec<(u32, String)> {
            let lines = text.own.iter().filter(|(line, _)| counts(**line));
            lines.map(|(line, text)| (*line, text.clone())).collect()
        };
        of(self) == of(other)
    }

    /// Returns the lines of the source whose text depends on their line number. `moved` is the same
    /// source with one more line in front.
    pub fn lines_that_tell(&self, moved: &Self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.own.keys().copied().collect();
        lines.extend(moved.own.keys().map(|line| line.saturating_sub(1)));
        lines.sort_unstable();
        lines.dedup();
        lines.retain(|line| self.own.get(line) != moved.own.get(&(line + 1)));
        lines
    }

    /// Whether the text of these lines uses the name of the enclosing function, as `__func__` does.
    pub fn names_function(&self, lines: RangeInclusive<u32>) -> bool {
        let names = ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"];
        self.own.range(lines).any(|(_, text)| {
            lex::words(text.as_bytes())
                .iter()
                .any(|word| names.contains(&word.as_str()))
        })
    }

    /// Whether a string of the source contains `part`.
    pub fn has_in_string(&self, part: &str) -> bool {
        self.own.values().any(|text| {
            let (text, mut at) = (text.as_bytes(), 0);
            while at < text.len() {
                let next = lex::step(text, at).min(text.len());
                let token = String::from_utf8_lossy(&text[at..next]);
                if token.starts_with('"') && token.contains(part) {
                    return true;
                }
                at = next;
            }
            false
        })
    }
}

/// The line that follows a marker, its file, and whether that is a header of the system.
fn marker(text: &str) -> Option<(u32, &str, bool)> {
    let rest = text.strip_prefix("# ")?;
    let (line, rest) = rest.split_once(" \"")?;
    let (name, flags) = rest.rsplit_once('"')?;
    let is_system = flags.split_ascii_whitespace().any(|flag| flag == "3");
    Some((line.parse().ok()?, name, is_system))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"# 0 \"a.c\"\n# 0 \"<built-in>\"\n# 1 \"a.c\"\n# 1 \"/h/s.h\" 1 3 4\nint s;\n\
# 2 \"a.c\" 2\n\nint  a = \"x_y\";\n# 1 \"b.h\" 1\nint b;\n# 9 \"a.c\" 2\nint c;\n";

    #[test]
    fn lines_belong_to_the_source_the_project_or_the_system() {
        let read = Preprocessed::read(TEXT);
        let own: Vec<(u32, &str)> = read
            .own
            .iter()
            .map(|(n, text)| (*n, text.as_str()))
            .collect();
        assert_eq!(own, [(3, "int a = \"x_y\"; "), (9, "int c; ")]);
        assert_eq!(
            (read.project.as_str(), read.system.as_str()),
            ("int b; \n", "int s; \n")
        );
        assert!(read.has_in_string("_y") && !read.has_in_string("int"));
    }

    #[test]
    fn lines_that_tell_where_they_stand_are_those_that_change_when_all_move() {
        let text = |first: u32, said: u32| {
            let text = format!("# 0 \"a.c\"\n# {first} \"a.c\"\nint a;\nint b = {said};\nint c;\n");
            Preprocessed::read(text.as_bytes())
        };
        assert_eq!(text(4, 5).lines_that_tell(&text(5, 6)), [5]);
        assert!(text(4, 7).lines_that_tell(&text(5, 7)).is_empty());
    }

    #[test]
    fn lines_that_do_not_count_are_not_compared() {
        let read = Preprocessed::read(TEXT);
        let other = Preprocessed::read(
            &String::from_utf8_lossy(TEXT)
                .replace("int c", "int d")
                .into_bytes(),
        );
        assert!(!read.has_same_lines(&other, &|_| true));
        assert!(read.has_same_lines(&other, &|line| line != 9));
    }
}
