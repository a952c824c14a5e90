//! Models of the C library, as far as programs of the command line use it.
//!
//! A model checks what it reads and writes through the memory of the machine, so that a wrong
//! argument is undefined behaviour with a place. The locale is always "C", the time zone UTC.

pub(crate) mod calling;
mod complex;
mod ctype;
mod decimal;
mod error;
mod format;
mod getopt;
pub(crate) mod kept;
mod math;
mod math_more;
mod misc;
mod needed;
mod random;
pub(crate) mod real;
mod scan;
mod signals;
mod stdio;
mod stdlib;
mod stream;
mod string;
mod system;
mod time;
pub(crate) mod verify;
mod wide_chars;
mod wide_print;

use patchwright_semantics::Ty;

use calling::{Native, int};

use crate::{fault::Run, machine::Machine, memory::Kind};

/// The model of a function.
pub(crate) fn find(name: &str) -> Option<Native> {
    string::find(name)
        .or_else(|| stdio::find(name))
        .or_else(|| stdlib::find(name))
        .or_else(|| ctype::find(name))
        .or_else(|| math::find(name))
        .or_else(|| real::find(name))
        .or_else(|| math_more::find(name))
        .or_else(|| complex::find(name))
        .or_else(|| getopt::find(name))
        .or_else(|| error::find(name))
        .or_else(|| time::find(name))
        .or_else(|| wide_chars::find(name))
        .or_else(|| wide_print::find(name))
        .or_else(|| signals::find(name))
        .or_else(|| misc::find(name))
        .or_else(|| system::find(name))
        .or_else(|| verify::find(name))
        .or_else(|| find(name.strip_prefix("__builtin_")?))
}

/// The address of an object of the library.
pub(crate) fn object(machine: &mut Machine<'_>, name: &str) -> Option<u64> {
    let name = match name {
        "stdin" => "stdin",
        "stdout" => "stdout",
        "stderr" => "stderr",
        "environ" | "__environ" | "_environ" => "environ",
        "optarg" => "optarg",
        "optind" => "optind",
        "opterr" => "opterr",
        "optopt" => "optopt",
        "program_invocation_name" => "program_invocation_name",
        "program_invocation_short_name" | "__progname" => "program_invocation_short_name",
        "error_message_count" => "error_message_count",
        "error_print_progname" => "error_print_progname",
        "error_one_per_line" => "error_one_per_line",
        "timezone" | "__timezone" => "timezone",
        "daylight" | "__daylight" => "daylight",
        "tzname" | "__tzname" => "tzname",
        "in6addr_any" => "in6addr_any",
        "signgam" => "signgam",
        _ => return None,
    };
    machine.made(name, 16).ok()
}

/// Sets the variables that the library gives a program before `main`, such as `environ`.
pub(crate) fn start(
    machine: &mut Machine<'_>,
    program: Option<&Vec<u8>>,
    environment: u64,
) -> Run<()> {
    let program = program.cloned().unwrap_or_default();
    let long = machine.new_string(&program)?;
    let short = program.rsplit(|&c| c == b'/').next().unwrap_or_default();
    let short = machine.new_string(short)?;
    machine.library.program = program;
    machine.library.environment = environment;
    for (name, value) in [
        ("environ", environment),
        ("program_invocation_name", long),
        ("program_invocation_short_name", short),
    ] {
        let object = machine.made(name, 16)?;
        machine.memory.store(Ty::U64, object, value)?;
    }
    for (name, value) in [("optind", 1), ("opterr", 1)] {
        let object = machine.made(name, 16)?;
        machine.memory.store(Ty::I32, object, value)?;
    }
    let utc = machine.new_string(b"UTC")?;
    let names = machine.made("tzname", 16)?;
    machine.memory.store(Ty::U64, names, utc)?;
    machine.memory.store(Ty::U64, names + 8, utc)?;
    stream::start(machine)
}

/// Writes out what streams hold.
pub(crate) fn flush_all(machine: &mut Machine<'_>) {
    stream::flush_all(machine);
}

impl Machine<'_> {
    /// The object of this name, made when it is first asked for.
    pub(crate) fn made(&mut self, name: &'static str, size: u64) -> Run<u64> {
        if let Some(&address) = self.library.made.get(name) {
            return Ok(address);
        }
        let address = self.memory.allocate(size, 16, Kind::Global, true)?;
        self.library.made.insert(name, address);
        Ok(address)
    }

    /// Sets the program's `errno`.
    pub(crate) fn set_errno(&mut self, number: i32) {
        if let Ok(address) = self.made("errno", 16) {
            // It is an object of ours, so it can be written.
            let _ = self.memory.store(Ty::I32, address, number as i64 as u64);
        }
    }

    /// Returns the program's `errno`.
    pub(crate) fn errno(&mut self) -> i32 {
        match self.made("errno", 16) {
            Ok(address) => self.memory.load(Ty::I32, address).unwrap_or(0) as i32,
            Err(_) => 0,
        }
    }

    /// The result -1, with `errno`.
    pub(crate) fn fails(&mut self, number: i32) -> Run<u128> {
        self.set_errno(number);
        int(-1)
    }

    /// A copy of the string at an address.
    pub(crate) fn text(&self, address: u64) -> Run<Vec<u8>> {
        Ok(self.memory.string(address)?.to_vec())
    }

    /// Writes a string and its end.
    pub(crate) fn put_text(&mut self, address: u64, text: &[u8]) -> Run<()> {
        let bytes = self.memory.write(address, text.len() as u64 + 1)?;
        bytes[..text.len()].copy_from_slice(text);
        bytes[text.len()] = 0;
        Ok(())
    }

    /// Writes bytes to the program's memory.
    pub(crate) fn put_bytes(&mut self, address: u64, bytes: &[u8]) -> Run<()> {
        if !bytes.is_empty() {
            self.memory
                .write(address, bytes.len() as u64)?
                .copy_from_slice(bytes);
        }
        Ok(())
    }

    /// A new allocation of `malloc`; null when it does not fit.
    pub(crate) fn heap(&mut self, size: u64, zeroed: bool) -> u64 {
        match self.memory.allocate(size, 16, Kind::Heap, zeroed) {
            Ok(address) => address,
            Err(_) => {
                self.set_errno(12);
                0
            }
        }
    }

    /// A string in a new allocation.
    pub(crate) fn heap_text(&mut self, text: &[u8]) -> Run<u64> {
        let address = self.heap(text.len() as u64 + 1, false);
        if address != 0 {
            self.put_text(address, text)?;
        }
        Ok(address)
    }
}
