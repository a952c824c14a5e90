//! Facts about the functions of the C library, for everything that reads C: their parameters, their
//! effects on memory, their results, whether they return.
//!
//! It is said once, in a table of names and words (`table.rs`):
//!
//! | word | meaning |
//! | --- | --- |
//! | `(ppz)` | the parameters: `p` a pointer to bytes, `i` an `int`, `l` a `long`, `z` a `size_t` |
//! | `rN`, `wN` | reads, writes what argument N points to; arguments are counted from 0 |
//! | `rN:t` | a string, to its end; `rN:tM`: at most as many bytes as argument M says |
//! | `rN:M`, `wN:M` | exactly as many bytes as argument M says; `:M*K` the product; `:<M` at most so many |
//! | `wN:sM`, `wN:+sM` | a copy of the string in argument M; behind the string that is there |
//! | `r*N`, `w*N` | what argument N and all further ones point to |
//! | `rlN`, `wlN` | what the `va_list` in argument N leads to |
//! | `cNM` | copies pointers from what M points to, to what N points to |
//! | `kN` | looks argument N up in the tables of `<ctype.h>`: a character or `EOF` |
//! | `=N` | may give argument N, or a pointer into what it points to |
//! | `=new`, `=zero`, `=copy` | gives new memory: nothing written, zeros, written; `:M` its size |
//! | `=lib`, `=stream`, `=errno` | gives memory of the library, a stream, the address of `errno` |
//! | `newN`, `sNM`, `libN` | stores a new object's address, argument M, an address of the library where N points to |
//! | `in`, `outN` | takes something from the input; writes to the stream in argument N |
//! | `prints` | writes to a standard stream, or to a descriptor |
//! | `st`, `rs`, `e` | changes, reads what the library keeps; may set `errno` |
//! | `callN:AB` | calls the function in argument N with the pointers in arguments A and B |
//! | `varies` | gives something else in each run |
//! | `exit`, `noreturn` | need not return, never returns |
//! | `raw` | ends the process without what `atexit` has noted |
//! | `env` | changes the direction of rounding, or the locale |
//! | `sys` | changes more than the program: files, processes, the machine |
//! | `?` | what it does beyond the other words is not known |
//!
//! What the functions compute is in crate `interpret` for values and in crate `symbolic` for terms.

mod checker;
mod fact;
mod latitude;
mod meaning;
mod special;
mod table;
mod view;

pub use checker::{Question, Statement, question, statement};
pub use fact::{Argument, Content, Extent, Fact, Size};
pub use latitude::latitude;
pub use meaning::{Meaning, meaning};
pub use special::{Special, special};
pub use view::{
    Parameter, byte_count, changes_system, facts, gives_unwritten, is_character_class, is_known,
    is_unpredictable, leaves_at_once, names, never_returns, parameters, plain,
};
