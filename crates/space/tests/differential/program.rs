//! C programs that evaluate terms, and the compilers that make them run.

// Test code: the compilers are started directly, without the limits that a tested program needs.
#![allow(clippy::disallowed_methods)]

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use patchwright_space::term::{CType, Context, Term};

use super::random::World;
use super::walk::result_type;

/// What a program does with the pairs of term and state.
#[derive(Clone, Copy, PartialEq)]
pub enum Purpose {
    /// Evaluates the pairs that it is told to and writes their values.
    Values,
    /// Evaluates every pair and writes whether the evaluation trapped.
    Traps,
}

const PRELUDE: &str = r#"#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SAME_TYPE(a, b) __builtin_types_compatible_p(__typeof__(a), b)
"#;

const MAIN: &str = r#"
static uint64_t state[STATES][SLOTS];
static unsigned char wanted[TERMS][STATES];
static uint64_t result[TERMS][STATES];
static sigjmp_buf back;

static void trapped(int signal) { (void)signal; siglongjmp(back, 1); }

int main(void) {
    if (fread(state, sizeof state, 1, stdin) != 1 || fread(wanted, sizeof wanted, 1, stdin) != 1)
        return 1;
    int signals[] = { SIGILL, SIGFPE, SIGTRAP, SIGABRT };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = trapped;
        action.sa_flags = SA_NODEFER;
        if (CATCH) sigaction(signals[i], &action, 0);
    }
    for (volatile size_t s = 0; s < STATES; s++) {
        load(state[s]);
        for (volatile size_t t = 0; t < TERMS; t++) {
            if (!CATCH) {
                if (wanted[t][s]) result[t][s] = term[t]();
            } else if (sigsetjmp(back, 0)) {
                result[t][s] = 1;
            } else {
                term[t]();
            }
        }
    }
    return fwrite(result, sizeof result, 1, stdout) != 1;
}
"#;

/// The source of a program that evaluates `terms`, each in its context, in `states` states.
pub fn source(world: &World, terms: &[(Term, Context)], states: usize, purpose: Purpose) -> String {
    let mut c = format!("{PRELUDE}{}", world.declarations);
    c.push_str("static void load(const uint64_t *s) {\n");
    for (_, atom) in world.atoms.iter() {
        let (name, place, slot) = (world.type_name(atom.ctype), &atom.spelling, atom.slot);
        let _ = match atom.ctype {
            CType::Float => writeln!(
                c,
                "    {{ uint32_t bits = (uint32_t)s[{slot}]; memcpy(&{place}, &bits, 4); }}"
            ),
            CType::Double => writeln!(c, "    memcpy(&{place}, &s[{slot}], 8);"),
            _ => writeln!(c, "    {place} = ({name})s[{slot}];"),
        };
    }
    c.push_str("}\n");
    for (i, (term, context)) in terms.iter().enumerate() {
        let text = world.text(term);
        let own = world.type_name(term.ctype());
        let _ = writeln!(c, "static uint64_t t{i}(void) {{");
        let _ = writeln!(
            c,
            "    _Static_assert(SAME_TYPE({text}, {own}), \"type of term {i}\");"
        );
        if *context == Context::Truth {
            let _ = writeln!(c, "    if ({text}) return 1;\n    return 0;\n}}");
            continue;
        }
        let ctype = result_type(term, *context);
        let _ = writeln!(c, "    {} r = {text};", world.type_name(ctype));
        if let Context::Index(count) = context {
            let _ = writeln!(c, "    static volatile char a[{count}];\n    (void)a[r];");
        }
        c.push_str(match ctype {
            CType::Float => "    uint32_t bits; memcpy(&bits, &r, 4); return bits;\n}\n",
            CType::Double => "    uint64_t bits; memcpy(&bits, &r, 8); return bits;\n}\n",
            // Extended as the signedness of the type asks: the canonical form.
            _ => "    return (uint64_t)r;\n}\n",
        });
    }
    let _ = writeln!(c, "static uint64_t (*const term[])(void) = {{");
    for i in 0..terms.len() {
        let _ = write!(c, "t{i},");
    }
    let _ = writeln!(
        c,
        "}};\nenum {{ TERMS = {}, STATES = {states}, SLOTS = {}, CATCH = {} }};\n{MAIN}",
        terms.len(),
        world.atoms.iter().count(),
        u8::from(purpose == Purpose::Traps),
    );
    c
}

/// Runs a compiler on a source.
pub fn compiler(
    command: &str,
    flags: &[&str],
    source: &str,
    folder: &Path,
    output: &str,
) -> Output {
    let file = folder.join(format!("{output}.c"));
    fs::write(&file, source).expect("the source is written");
    Command::new(command)
        .args(flags)
        .arg("-o")
        .arg(folder.join(output))
        .arg(&file)
        .env("LC_ALL", "C")
        .output()
        .expect("the compiler starts")
}

/// The first errors of a compiler.
pub fn messages(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let errors = text.lines().filter(|line| line.contains(" error: "));
    errors.take(20).collect::<Vec<_>>().join("\n")
}

/// Compiles and runs a program; the results are indexed by term, then by state.
pub fn run(
    source: &str,
    flags: &[&str],
    command: &str,
    states: &[Vec<u64>],
    wanted: &[Vec<bool>],
) -> Vec<Vec<u64>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compiled = compiler(command, flags, source, folder.path(), "program");
    assert!(
        compiled.status.success(),
        "{command} {flags:?} refuses the program:\n{}",
        messages(&compiled)
    );
    let mut input: Vec<u8> = states
        .iter()
        .flatten()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    input.extend(wanted.iter().flatten().map(|wanted| u8::from(*wanted)));
    let mut program = Command::new(folder.path().join("program"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = program.stdin.take().expect("a pipe");
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = program.wait_with_output().expect("the program ends");
    writer.join().expect("no panic").expect("the input is read");
    assert!(
        output.status.success(),
        "the program died: {}",
        output.status
    );
    let values: Vec<u64> = output
        .stdout
        .as_chunks()
        .0
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    assert_eq!(values.len(), wanted.len() * states.len());
    values.chunks(states.len()).map(<[u64]>::to_vec).collect()
}
