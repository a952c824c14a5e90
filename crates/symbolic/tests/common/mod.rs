//! C programs as encodings, and as executions.
#![allow(clippy::disallowed_methods, reason = "a test's own files")]
#![allow(dead_code, reason = "each test program uses a part")]

pub mod generate;
pub mod two_bytes;

use std::cell::RefCell;

use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::{Module, Program};
use patchwright_solve::Terms;
use patchwright_symbolic::{Encoding, Entry, Options, encode, library};

/// Reads C and lowers it.
pub struct Reader {
    reader: patchwright_testkit::Reader,
    library: Module,
}

impl Reader {
    pub fn new() -> Reader {
        Reader {
            reader: patchwright_testkit::Reader::new(),
            library: library(),
        }
    }

    pub fn module(&mut self, source: &str, name: &str) -> Module {
        self.reader.module(name, source)
    }

    pub fn program(&mut self, source: &str) -> Program {
        let module = self.module(source, "program.c");
        Program::link(vec![module, self.library.clone()]).expect("links")
    }
}

/// Shared by what one test reads, which mostly waits for clang.
pub fn with_reader<T>(work: impl FnOnce(&mut Reader) -> T) -> T {
    // A thread drops what is its own, with the folder of sources; nobody drops what is static.
    thread_local! {
        static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
    }
    READER.with_borrow_mut(|reader| work(reader.get_or_insert_with(Reader::new)))
}

/// Encodes, on a thread with a stack for nested calls.
pub fn encoded(program: &Program, entry: &Entry, options: &Options) -> (Terms, Encoding) {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || {
                let mut terms = Terms::new();
                let encoding =
                    encode(program, entry, options, &mut terms, &|| false).expect("encodes");
                (terms, encoding)
            })
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

/// `main` without arguments.
pub fn main_entry() -> Entry {
    Entry::Main {
        arguments: 0,
        longest: 0,
    }
}

/// How the interpreter ends with this standard input.
pub fn executed(source: &str, input: &[u8]) -> (Ending, Vec<u8>, u32) {
    let module = with_reader(|reader| reader.module(source, "program.c"));
    let mut world = Closed::with_input(input);
    let mut machine = Machine::link(vec![module], Limits::default(), &mut world).expect("links");
    let outcome = machine.run(&[b"program".to_vec()], &[]);
    let line = outcome.trace.first().map_or(0, |place| place.line);
    drop(machine);
    (outcome.ending, world.output, line)
}
