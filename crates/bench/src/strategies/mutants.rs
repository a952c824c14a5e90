//! Makes mutants of a source: one operator or number is replaced.

/// A source with one change.
pub struct Mutant {
    /// The whole text.
    pub text: String,
    /// The line of the change, from 1.
    pub line: usize,
    /// What became what.
    pub change: String,
}

const OPERATORS: [(&str, &str); 14] = [
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    ("++", "--"),
    (" += ", " -= "),
    ("(!", "("),
];

/// Returns `count` mutants, spread evenly over all places. They are the same in each run.
pub fn mutants(source: &str, count: usize) -> Vec<Mutant> {
    let all = places(source);
    let count = count.min(all.len());
    (0..count)
        .map(|at| {
            let (from, old, new) = &all[at * all.len() / count];
            let text = format!("{}{new}{}", &source[..*from], &source[from + old.len()..]);
            Mutant {
                line: source[..*from].matches('\n').count() + 1,
                change: format!("`{}` → `{}`", old.trim(), new.trim()),
                text,
            }
        })
        .collect()
}

/// Where something can be changed: the offset, what is there, and what may be.
fn places(source: &str) -> Vec<(usize, String, String)> {
    let mut all = Vec::new();
    let mut in_comment = false;
    let mut offset = 0;
    for line in source.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let begins = line.contains("/*");
        let is_text = in_comment || begins || line.trim_start().starts_with("#include");
        in_comment = (in_comment || begins) && !line.contains("*/");
        if is_text {
            continue;
        }
        let plain = without_quoted(line);
        for (old, new) in OPERATORS {
            let found = plain.match_indices(old);
            all.extend(found.map(|(at, _)| (start + at, old.to_owned(), new.to_owned())));
        }
        let bytes = plain.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let begin = at;
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            if let Ok(number) = plain[begin..at].parse::<u32>() {
                all.push((start + begin, number.to_string(), (number + 1).to_string()));
            }
            at = at.max(begin + 1);
        }
    }
    all.retain(|(from, old, _)| source[*from..].starts_with(old.as_str()));
    all.sort();
    all
}

/// A line of the same length, with `x` for all that is between quotes.
fn without_quoted(line: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    line.chars()
        .map(|c| {
            let is_quoted = quote.is_some();
            match (quote, c) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), _) if open == c => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                _ => {}
            }
            if is_quoted && c.is_ascii() { 'x' } else { c }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_and_numbers_are_changed_and_no_text() {
        let source = "#include <a3.h>\n/* 1 + 1 */\nint f(int a1)\n{\n    return a1 < 7 ? '+' : \" 5 + \"[a1];\n}\n";
        let all = mutants(source, 10);
        let changes: Vec<(usize, &str)> = all
            .iter()
            .map(|one| (one.line, one.change.as_str()))
            .collect();
        assert_eq!(changes, [(5, "`<` → `<=`"), (5, "`7` → `8`")]);
        assert!(all[0].text.contains("a1 <= 7"), "{}", all[0].text);
    }
}
