//! What the table of the C library's functions says that they write, is what the interpreter sees them write; and where it does,
//! nothing that rests on the old content is proved.

use crate::common::{Reader, deep};
use patchwright_clib::{Fact, facts, names};
use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::{Module, Program};
use patchwright_prove::{Prover, Verdict, spec};
use patchwright_solve::{Budget, Terms};
use patchwright_symbolic::{Entry, Options, encode};

/// Arguments that are tried: `p0` to `p4` lead to 64 bytes each.
const CALLS: [(&str, &str); 8] = [
    (
        "void *, void *, void *, void *, void *",
        "p0, p1, p2, p3, p4",
    ),
    ("void *, void *, long, long, long", "p0, p1, 3, 4, 4"),
    ("void *, long, long, long, long", "p0, 3, 4, 0, 0"),
    ("long, void *, void *, void *, void *", "3, p1, p2, p3, p4"),
    ("void *, void *, int", "p0, p1, 10"),
    ("void *, long, void *, void *", "p0, 8, p2, p3"),
    ("double, void *", "8.5, p1"),
    ("double, double, void *", "8.5, 3.0, p2"),
];

fn source(types: &str, arguments: &str) -> String {
    format!(
        "#include <assert.h>\n\
         long placeholder({types});\n\
         static int differs(const char *a)\n\
         {{\n    for (int i = 0; i < 64; i++)\n        if (a[i] != (i < 3 ? '1' + i : 0))\n            return 1;\n    \
         return 0;\n}}\n\
         int main(void)\n\
         {{\n    char p0[64] = \"123\", p1[64] = \"123\", p2[64] = \"123\", p3[64] = \"123\", p4[64] = \"123\";\n    \
         placeholder({arguments});\n    \
         int changed = differs(p0) | differs(p1) << 1 | differs(p2) << 2 | differs(p3) << 3 | differs(p4) << 4;\n    \
         ASKED;\n    return 64 + changed;\n}}\n"
    )
}

/// The program with the function in the place that is left for it.
fn calling(module: &Module, name: &str) -> Module {
    let mut module = module.clone();
    for function in &mut module.functions {
        if function.name == "placeholder" {
            name.clone_into(&mut function.name);
        }
    }
    module
}

/// Which arguments lead to bytes that are others when the function has returned; nothing where it does not return.
fn changed(module: Module) -> Option<i32> {
    let mut world = Closed::with_input(b"12 34\n56\n".to_vec());
    let limits = Limits {
        instructions: 100_000,
        ..Limits::default()
    };
    let mut machine = Machine::link(vec![module], limits, &mut world).expect("links");
    match machine.run(&[b"program".to_vec()], &[]).ending {
        Ending::Exit(status) if status & !31 == 64 => Some(status & 31),
        _ => None,
    }
}

fn may_write(facts: &[Fact], argument: usize) -> bool {
    facts.iter().any(|fact| match *fact {
        Fact::Write(at, _) | Fact::StoresNew(at) | Fact::Stores(at, _) => at == argument,
        Fact::StoresLibrary(at) | Fact::CopyPointers(at, _) | Fact::WritesList(at) => {
            at == argument
        }
        Fact::WriteFrom(first) => first <= argument,
        Fact::Calls(..) => true,
        _ => false,
    })
}

#[test]
fn what_functions_of_the_library_write_is_known_to_all_who_ask() {
    let mut reader = Reader::new();
    let library = reader.library();
    let (mut ran, mut wrong) = (0, Vec::new());
    for (types, arguments) in CALLS {
        let plain = source(types, arguments).replace("ASKED", "assert(1)");
        let read = reader.source("plain.c", &plain);
        let plain = patchwright_lower::lower(&read.unit, &read.path);
        let asked = source(types, arguments).replace("ASKED", "assert(!changed)");
        let read = reader.source("asked.c", &asked);
        let asked = patchwright_lower::lower(&read.unit, &read.path);
        for name in names() {
            let known = facts(name).unwrap_or_default();
            if known.contains(&Fact::Exits) || known.contains(&Fact::NeverReturns) {
                continue;
            }
            let module = calling(&plain, name);
            let changed = match std::panic::catch_unwind(|| changed(module)) {
                Ok(Some(changed)) => changed,
                Ok(None) => continue,
                Err(_) => {
                    wrong.push(format!("{name}({arguments}) is a bug of the interpreter"));
                    continue;
                }
            };
            ran += 1;
            for argument in 0..5 {
                if changed >> argument & 1 == 1 && !may_write(&known, argument) {
                    wrong.push(format!("{name}({arguments}) writes to argument {argument}"));
                }
            }
            if changed == 0 {
                continue;
            }
            let program = Program::link(vec![calling(&asked, name), library.clone()]);
            let Ok(program) = program else { continue };
            let verdict = deep(|| {
                let mut terms = Terms::new();
                let entry = Entry::Main {
                    arguments: 0,
                    longest: 0,
                };
                let options = Options::default();
                let encoding = encode(&program, &entry, &options, &mut terms, &|| false);
                let encoding = encoding.expect("encodes");
                let spec = spec(&mut terms, &encoding, None);
                let mut prover = Prover {
                    terms: &mut terms,
                    encoding: &encoding,
                    spec: &spec,
                    budget: Budget::none(),
                };
                prover.verdict().0
            });
            if matches!(verdict, Verdict::Proved | Verdict::Void) {
                wrong.push(format!("{name}({arguments}) is taken to write nothing"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(ran > 500, "{ran} calls returned");
}
