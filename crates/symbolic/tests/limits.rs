//! What is encoded at most.

use crate::common::{encoded, main_entry, with_reader};
use patchwright_symbolic::{Options, UnwindingKind};

#[test]
fn no_loop_is_followed_much_further_than_the_limit_of_instructions() {
    let entry = main_entry();
    let options = Options {
        instructions: 5_000,
        ..Options::default()
    };
    // Rounds of all lengths, whatever the limit is a multiple of.
    for extra in 0..9 {
        let body = "x ^= x >> 3; ".repeat(extra);
        let source = format!(
            "int main(void) {{ unsigned i = 0, x = 1; while (i < 0x7fffffff) {{ i++; {body}}} return (int)x & 1; }}"
        );
        let program = with_reader(|reader| reader.program(&source));
        let (_, encoding) = encoded(&program, &entry, &options);
        let count = encoding.counts.instructions;
        assert!(count < 6_000, "{count} with {extra} more");
        let mut beyond = encoding.unwinding.iter();
        assert!(beyond.any(|one| one.kind == UnwindingKind::Instructions));
    }
}
