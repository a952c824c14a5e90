//! The only way to standard output and standard error.
//!
//! Inside of this program `print!`, `println!`, `eprint!` and `eprintln!` are the macros of this file, which make text
//! [safe to show](patchwright_report::screen): so a new printer cannot forget it. Only what a program prints that `patchwright run`
//! executes goes out as it is.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use patchwright_report::screen;

macro_rules! print {
    ($($text:tt)*) => { $crate::out::print(format_args!($($text)*)) };
}

macro_rules! println {
    ($($text:tt)*) => { $crate::out::print(format_args!("{}\n", format_args!($($text)*))) };
}

macro_rules! eprint {
    ($($text:tt)*) => { $crate::out::eprint(format_args!($($text)*)) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::out::eprint(format_args!("{}\n", format_args!($($text)*))) };
}

/// Whether standard output was closed when the process was started. The runtime opens another file in its place before `main`,
/// so that is looked at earlier.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: no pointers.
    if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0 {
        IS_CLOSED.store(true, Ordering::Relaxed);
    }
}

/// Returns the error of standard output, if it was closed when the process was started.
pub fn closed() -> Option<io::Error> {
    let is_closed = IS_CLOSED.load(Ordering::Relaxed);
    is_closed.then(|| io::Error::other("it is closed"))
}

/// Writes text to standard output at once.
///
/// # Errors
/// When it is closed, full, or nobody reads it.
pub fn write(text: &str) -> io::Result<()> {
    if let Some(error) = closed() {
        return Err(error);
    }
    let mut out = io::stdout().lock();
    out.write_all(screen::shown(text).as_bytes())?;
    out.flush()
}

/// Does what `print!` does. If it fails, it panics in a way that [`crate::resources`] recognizes.
pub fn print(text: fmt::Arguments<'_>) {
    if let Err(error) = write(&text.to_string()) {
        panic!("failed printing to stdout: {error}");
    }
}

/// Does what `eprint!` does. It fails as [`print()`] does.
pub fn eprint(text: fmt::Arguments<'_>) {
    if let Err(error) = Errors.write_all(text.to_string().as_bytes()) {
        panic!("failed printing to stderr: {error}");
    }
}

/// Writes to standard error, and ignores errors.
pub fn tell(text: &str) {
    let _ = Errors.write_all(text.as_bytes());
}

/// Standard error as a writer.
pub struct Errors;

impl Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = String::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                text.push_str(&format!("\\x{byte:02x}"));
            }
        }
        io::stderr()
            .lock()
            .write_all(screen::shown(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
