//! Makes a harness that compares what a function leaves behind with what the reference leaves behind.

/// Returns a C program that aborts if the output of `harness` is not `expected`.
///
/// `harness` is a C program that prints what the function leaves behind; it gets another `main`.
/// `expected` is what the reference prints for the same inputs.
pub fn compared(harness: &str, expected: &[u8]) -> String {
    let bytes: Vec<String> = expected.iter().map(u8::to_string).collect();
    let call = harness.replacen("\nint main(void)\n{", "\nstatic int called(void)\n{", 1);
    format!(
        "{call}
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the reference leaves behind for these inputs. */
static const unsigned char expected[] = {{{}}};

int main(void)
{{
    static unsigned char left[sizeof expected + 1];
    FILE *kept = tmpfile();
    if (!kept || dup2(fileno(kept), 1) < 0)
        return 2;
    called();
    fflush(stdout);
    rewind(kept);
    if (fread(left, 1, sizeof left, kept) != sizeof expected || memcmp(left, expected, sizeof expected) != 0)
        abort();
    return 0;
}}
",
        bytes.join(", ")
    )
}
