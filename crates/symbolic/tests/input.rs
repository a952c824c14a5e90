//! Programs that read: what is encoded is what is executed, for inputs that are tried.

use crate::common::{encoded, executed, main_entry, with_reader};
use patchwright_interpret::Ending;
use patchwright_solve::{Assignment, Terms, Value};
use patchwright_symbolic::{Check, Encoding, InputKind, Options};

fn options() -> Options {
    Options {
        checks: Check::ALL[..7].iter().copied().collect(),
        bound: 12,
        input: 8,
        lazy: false,
        ..Options::default()
    }
}

/// The exit status that the encoding says; `None` where something fails or is not known.
fn status(terms: &Terms, encoding: &Encoding, assignment: &Assignment) -> Option<u128> {
    let mut conditions: Vec<_> = encoding.failures.iter().map(|f| f.condition).collect();
    conditions.extend(encoding.unknown.iter().map(|u| u.condition));
    conditions.extend(encoding.unwinding.iter().map(|u| u.condition));
    let bad = terms.evaluate_all(&conditions, assignment);
    if bad.iter().any(Value::truth) {
        return None;
    }
    let (_, result) = encoding.outcome.result?;
    Some(terms.evaluate(result, assignment).bits())
}

fn expected(source: &str, input: &[u8]) -> Option<u128> {
    match executed(source, input).0 {
        Ending::Exit(status) => Some(status as u128),
        _ => None,
    }
}

/// Programs that read bytes.
fn bytes(source: &str, inputs: &[&str]) {
    let program = with_reader(|reader| reader.program(source));
    let (terms, encoding) = encoded(&program, &main_entry(), &options());
    let reasons: Vec<_> = encoding.unknown.iter().map(|u| &u.reason).collect();
    assert!(reasons.is_empty(), "{reasons:?}\n{source}");
    for input in inputs {
        let text = input.as_bytes();
        let mut assignment = Assignment::new();
        for input in &encoding.inputs {
            let value = match input.kind {
                InputKind::Byte(at) => text.get(at as usize).map_or(0, |&byte| byte.into()),
                InputKind::Length => text.len() as u128,
                _ => continue,
            };
            assignment.set_bits(&terms, input.term, value);
        }
        let found = status(&terms, &encoding, &assignment);
        assert_eq!(found, expected(source, text), "{input:?}\n{source}");
    }
}

#[test]
#[ignore = "nightly: 7 s; numbers_are_scanned goes this way"]
fn bytes_are_read_until_the_end() {
    let inputs = ["", "a", "ab\n", "12 34", "xxxxxxxx", "\n\n", "a\nb\nc\n"];
    bytes(
        "#include <stdio.h>\nint main(void) { int c, n = 0; while ((c = getchar()) != EOF) n = n * 3 + c; return n & 127; }",
        &inputs,
    );
    bytes(
        "#include <stdio.h>\n#include <string.h>\nint main(void) { char line[6]; int n = 0;
         while (fgets(line, sizeof line, stdin)) n = n * 5 + (int)strlen(line) + line[0]; return n & 127; }",
        &inputs,
    );
    bytes(
        "#include <unistd.h>\nint main(void) { char b[5]; long n = read(0, b, 5); int s = (int)n;
         for (long i = 0; i < n; i++) s += b[i]; return s & 127; }",
        &inputs,
    );
    bytes(
        "#include <stdio.h>\n#include <ctype.h>\nint main(void) { int c, v = 0; while (isdigit(c = getchar())) v = v * 10 + c - '0';
         if (c != EOF) ungetc(c, stdin); return (v + (getchar() == ' ')) & 127; }",
        &inputs,
    );
}

/// Programs that read numbers by `scanf`, and how many there are.
fn numbers(source: &str, inputs: &[&[i64]]) {
    let program = with_reader(|reader| reader.program(source));
    let (terms, encoding) = encoded(&program, &main_entry(), &options());
    let reasons: Vec<_> = encoding.unknown.iter().map(|u| &u.reason).collect();
    assert!(reasons.is_empty(), "{reasons:?}\n{source}");
    for given in inputs {
        let mut assignment = Assignment::new();
        let mut next = given.iter();
        // What an execution consumes depends on what it has read before.
        for input in &encoding.inputs {
            let reached = terms.evaluate(input.condition, &assignment).truth();
            if !reached {
                continue;
            }
            match &input.kind {
                InputKind::Present => {
                    let there = u128::from(next.len() > 0);
                    assignment.set_bits(&terms, input.term, there);
                }
                InputKind::Scanned { ty, .. } => {
                    let bits = next.next().map_or(0, |&value| value as u64);
                    let mask = u64::MAX >> (64 - ty.size() * 8);
                    assignment.set_bits(&terms, input.term, u128::from(bits & mask));
                }
                _ => {}
            }
        }
        let text: Vec<String> = given.iter().map(i64::to_string).collect();
        let found = status(&terms, &encoding, &assignment);
        let expected = expected(source, text.join(" ").as_bytes());
        assert_eq!(found, expected, "{given:?}\n{source}");
    }
}

#[test]
fn numbers_are_scanned() {
    let inputs: [&[i64]; 6] = [&[], &[3], &[2, 5, 7], &[4, 1, 1, 1, 1], &[-5, 2], &[1, 300]];
    numbers(
        "#include <stdio.h>\nint main(void) { int x, s = 0; while (scanf(\"%d\", &x) == 1) s += x; return s & 127; }",
        &inputs,
    );
    numbers(
        "#include <stdio.h>\nint main(void) { int x = 1, y = 2; int n = scanf(\"%d %d\", &x, &y);
         return (n + 2) * 16 + (x + y & 15); }",
        &inputs,
    );
    numbers(
        "#include <stdio.h>\nint main(void) { long n; if (scanf(\"%ld\", &n) != 1 || n < 0 || n > 4) return 99;
         short v[4]; for (long i = 0; i < n; i++) if (scanf(\"%hd\", &v[i]) < 1) return 98;
         int s = 0; for (long i = 0; i < n; i++) s = s * 2 + v[i]; return s & 63; }",
        &inputs,
    );
}
