//! Models of the C library, as far as programs of the command line use it.
//!
//! A model checks what it reads and writes through the memory of the machine, so that a wrong
//! argument is undefined behaviour with a place. The locale is always "C", the time zone UTC.

mod complex;
mod ctype;
mod decimal;
mod error;
mod format;
mod getopt;
mod math;
mod math_more;
mod misc;
mod needed;
pub(crate) mod real;
mod scan;
pub(crate) mod signals;
mod stdio;
mod stdlib;
mod stream;
mod string;
mod system;
mod time;
pub(crate) mod verify;
mod wide_chars;
mod wide_print;

use std::cell::RefCell;

use patchwright_ir::{Type, wide};
use patchwright_semantics::Ty;
use rustc_hash::FxHashMap;

use crate::{
    fault::{Run, Undefined, undefined},
    machine::Machine,
    memory::Kind,
};

/// A model: gives the bits of the value.
pub(crate) type Native = fn(&mut Machine<'_>, &Args<'_>) -> Run<u128>;

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arg {
    pub(crate) ty: Type,
    pub(crate) bits: u128,
}

/// The arguments of a call.
pub(crate) struct Args<'a>(pub(crate) &'a [Arg]);

impl Args<'_> {
    pub(crate) fn get(&self, index: usize) -> Run<Arg> {
        match self.0.get(index) {
            Some(arg) => Ok(*arg),
            None => undefined(
                Undefined::BadCall,
                format!(
                    "argument {} of a function of the library is missing",
                    index + 1
                ),
            ),
        }
    }

    /// A pointer, or an integer as it is.
    pub(crate) fn word(&self, index: usize) -> Run<u64> {
        Ok(self.get(index)?.bits as u64)
    }

    /// A signed integer.
    pub(crate) fn int(&self, index: usize) -> Run<i64> {
        let arg = self.get(index)?;
        let bits = wide::convert(arg.ty, Type::I64, arg.bits).unwrap_or(arg.bits);
        Ok(bits as u64 as i64)
    }

    /// A float of any type, as a `double`.
    pub(crate) fn float(&self, index: usize) -> Run<f64> {
        let arg = self.get(index)?;
        let bits = wide::convert(arg.ty, Type::F64, arg.bits).unwrap_or(0);
        Ok(f64::from_bits(bits as u64))
    }
}

/// An `int` as the bits of a result.
pub(crate) fn int(value: i64) -> Run<u128> {
    Ok(u128::from(value as u64))
}

/// A pointer or an unsigned integer as the bits of a result.
pub(crate) fn word(value: u64) -> Run<u128> {
    Ok(u128::from(value))
}

/// `setjmp`: the frame, and where it goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    pub(crate) frame: u64,
    pub(crate) pc: usize,
    /// The signals that were blocked, where `sigsetjmp` keeps them.
    pub(crate) blocked: Option<u64>,
}

/// What the models keep.
#[derive(Default)]
pub(crate) struct Library {
    pub(crate) at_exit: Vec<u64>,
    /// The program ends without what it wants done at its end.
    pub(crate) at_once: bool,
    pub(crate) jumps: Vec<Jump>,
    pub(crate) streams: Vec<stream::Stream>,
    pub(crate) stream_at: FxHashMap<u64, usize>,
    /// The streams that were used since an observer was told, if there is one.
    pub(crate) used_streams: RefCell<Vec<u64>>,
    pub(crate) program: Vec<u8>,
    pub(crate) environment: u64,
    /// Objects that a model makes once, by name.
    pub(crate) made: FxHashMap<&'static str, u64>,
    pub(crate) random: stdlib::Random,
    pub(crate) random48: stdlib::Random48,
    pub(crate) token: u64,
    pub(crate) getopt: getopt::State,
    pub(crate) errors: u32,
    pub(crate) signals: signals::Signals,
    pub(crate) mask: u32,
    /// How many names `tmpnam` has made up.
    pub(crate) names: u32,
}

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

/// Before `main`.
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

    pub(crate) fn set_errno(&mut self, number: i32) {
        if let Ok(address) = self.made("errno", 16) {
            // It is an object of ours, so it can be written.
            let _ = self.memory.store(Ty::I32, address, number as i64 as u64);
        }
    }

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
