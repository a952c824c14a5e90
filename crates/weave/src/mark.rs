//! Weaves marks, which note in shared memory that statements and operands are executed.

use crate::glue;
use crate::weave::{WeaveError, after_byte_order_mark, newline_of};
use patchwright_probe_abi::{
    PROBE_FILE, PROBE_VARIABLE, RUN_FOLDER, TRACE_FILE, TRACE_SYMBOL, TRACE_VARIABLE,
    TRACE_VERSION, TRAIL_LENGTH,
};
use patchwright_text::{Edit, Span, apply_edits};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A statement or operand to mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Number of the statement in its file, from 0.
    pub number: u32,
    /// The statement in the file, with its `;` if it has one; or the operand.
    pub span: Span,
    /// How it stands there.
    pub kind: MarkKind,
}

/// How the marked part stands in the file, which decides the text of the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A statement among others in a block.
    InBlock,
    /// A statement alone where the grammar wants one (`if (x) s;`): it and the mark need braces.
    Alone,
    /// The right operand of `&&` or `||`, which may not be evaluated.
    Operand,
}

impl MarkKind {
    fn ends(self) -> Option<&'static str> {
        match self {
            MarkKind::InBlock => None,
            MarkKind::Alone => Some("}"),
            MarkKind::Operand => Some("))"),
        }
    }
}

/// What all files of a translation unit share. The names of libc are weak, as in the glue of holes.
const SHARED: &str = r#"#ifndef __PW_MARKS
#define __PW_MARKS
struct __pw_trail { unsigned next, state, process, reserved, statements[TRAIL_LENGTH]; };
struct __pw_trace {
  unsigned version, first, count, reserved;
  unsigned char *seen; struct __pw_trail *trail;
  int (*fork)(void (*)(void), void (*)(void), void (*)(void), void *);
  int (*exit)(void (*)(void *), void *, void *);
};
#define __PW_WEAK_MARK(name) __asm__(name) __attribute__((__weak__,__visibility__("default")))
#define __PW_QUIET __attribute__((__unused__,__no_instrument_function__,__no_sanitize__("address","thread","undefined")))
extern char *__pw_mark_getenv(const char *) __PW_WEAK_MARK("getenv");
extern void *__pw_mark_dlopen(const char *, int) __PW_WEAK_MARK("dlopen");
extern void *__pw_mark_dlsym(void *, const char *) __PW_WEAK_MARK("dlsym");
extern char *__pw_mark_dlerror(void) __PW_WEAK_MARK("dlerror");
extern int *__pw_mark_errno(void) __PW_WEAK_MARK("__errno_location");
extern int __pw_mark_fork(void (*)(void), void (*)(void), void (*)(void), void *) __PW_WEAK_MARK("__register_atfork");
extern int __pw_mark_exit(void (*)(void *), void *, void *) __PW_WEAK_MARK("__cxa_atexit");
#if defined __x86_64__ && defined __LP64__ && defined __linux__
static int __PW_QUIET __pw_mark_is_there(const char *path) {
  long result;
  __asm__ __volatile__("syscall" : "=a"(result) : "0"(21l), "D"(path), "S"(4l) : "rcx", "r11", "memory");
  return result == 0;
}
#else
static int __PW_QUIET __pw_mark_is_there(const char *path) { (void)path; return 0; }
#endif
#endif
"#;

/// What each file has for itself. `@` stands for the file's suffix. Until the file is led to a trace, what it executes
/// is noted in memory of its own, so that a mark asks nothing.
const OWN: &str = r#"static unsigned char __pw_seen_@[STATEMENT_COUNT];
static struct __pw_trail __pw_trail_@;
static struct __pw_trace __pw_trace_@ = {TRACE_VERSION, FIRST, STATEMENT_COUNT, 0, __pw_seen_@, &__pw_trail_@, 0, 0};
static void __attribute__((__noinline__)) __PW_QUIET __pw_at_@(unsigned statement) {
  struct __pw_trail *trail = __pw_trace_@.trail;
  unsigned next = trail->next;
  __pw_trace_@.seen[statement] = 1;
  trail->statements[next % TRAIL_LENGTH] = FIRST + statement;
  trail->next = next + 1;
}
static void __attribute__((__constructor__(101),__used__,__cold__)) __PW_QUIET __pw_lead_@(void) {
  const char *probe, *trace;
  void *library;
  void (*attach)(struct __pw_trace *, const char *);
  int error;
  if (!__pw_mark_getenv || !__pw_mark_dlopen || !__pw_mark_dlsym || !__pw_mark_dlerror || !__pw_mark_errno) return;
  probe = __pw_mark_getenv("PROBE_VARIABLE");
  trace = __pw_mark_getenv("TRACE_VARIABLE");
  if ((!probe || !*probe) && __pw_mark_is_there("RUN_FOLDER/TRACE_FILE")) {
    probe = "RUN_FOLDER/PROBE_FILE";
    trace = "RUN_FOLDER/TRACE_FILE";
  }
  if (!probe || !*probe || !trace) { probe = RUN_PROBE; trace = RUN_TRACE; }
  if (!*probe) return;
  error = *__pw_mark_errno();
  library = __pw_mark_dlopen(probe, 2);
  attach = __extension__ (void (*)(struct __pw_trace *, const char *))(library ? __pw_mark_dlsym(library, "TRACE_SYMBOL") : 0);
  __pw_trace_@.fork = __pw_mark_fork;
  __pw_trace_@.exit = __pw_mark_exit;
  if (attach) attach(&__pw_trace_@, trace);
  else __pw_mark_dlerror();
  *__pw_mark_errno() = error;
}
"#;

/// Marks statements of one file, whose first has the id `first` in the program; `count` is the number of the file's
/// statements, marked or not. No two files of a build share an id.
///
/// What the file compiles to does what `source` does. No line moves. Without marks the result is the source.
///
/// `run` is the absolute path of a folder in which processes look for [`PROBE_FILE`] and [`TRACE_FILE`] whose environment has
/// been cleared. It need not exist.
///
/// # Errors
/// Spans that do not lie in the file or cross each other, and a file that defines a name of libc that is needed.
pub fn mark_file(
    source: &[u8],
    first: u32,
    count: u32,
    marks: &[Mark],
    run: Option<&Path>,
) -> Result<Vec<u8>, WeaveError> {
    if marks.is_empty() {
        return Ok(source.to_vec());
    }
    if let Some(name) = glue::defined_name(source, &glue::NAMED_BY_PLACES) {
        return Err(WeaveError::DefinesName { name });
    }
    let suffix = first.to_string();
    // Of what is inserted at one place, the end of a statement comes first.
    let ends = marks
        .iter()
        .filter_map(|mark| Some(Edit::insert(mark.span.end, mark.kind.ends()?)));
    let begins = marks.iter().map(|mark| {
        let call = format!("__pw_at_{suffix}({}u)", mark.number);
        let text = match mark.kind {
            MarkKind::InBlock => format!("{call};"),
            MarkKind::Alone => format!("{{{call};"),
            MarkKind::Operand => format!("({call},("),
        };
        Edit::insert(mark.span.start, text)
    });
    let in_run = |name: &str| {
        run.map_or("\"\"".to_owned(), |run| {
            glue::literal(run.join(name).as_os_str().as_bytes())
        })
    };
    let own = with_numbers(OWN)
        .replace('@', &suffix)
        .replace("FIRST", &format!("{first}u"))
        .replace("STATEMENT_COUNT", &count.max(1).to_string())
        .replace("RUN_PROBE", &in_run(PROBE_FILE))
        .replace("RUN_TRACE", &in_run(TRACE_FILE));
    let glue = glue::in_front(&with_numbers(SHARED), &suffix, &own, newline_of(source));
    let front = Edit::insert(after_byte_order_mark(source), glue);
    let edits: Vec<Edit> = std::iter::once(front).chain(ends).chain(begins).collect();
    Ok(apply_edits(source, &edits)?)
}

fn with_numbers(text: &str) -> String {
    text.replace("TRACE_VERSION", &TRACE_VERSION.to_string())
        .replace("TRAIL_LENGTH", &format!("{TRAIL_LENGTH}u"))
        .replace("PROBE_VARIABLE", PROBE_VARIABLE)
        .replace("TRACE_VARIABLE", TRACE_VARIABLE)
        .replace("TRACE_SYMBOL", TRACE_SYMBOL)
        .replace("RUN_FOLDER", RUN_FOLDER)
        .replace("PROBE_FILE", PROBE_FILE)
        .replace("TRACE_FILE", TRACE_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: u32, start: u32, end: u32, kind: MarkKind) -> Mark {
        Mark {
            number,
            span: Span::new(start, end),
            kind,
        }
    }

    fn body(source: &str, marks: &[Mark]) -> String {
        let text =
            String::from_utf8(mark_file(source.as_bytes(), 7, 9, marks, None).unwrap()).unwrap();
        text.split_once("#line 1\n").unwrap().1.to_owned()
    }

    #[test]
    fn a_mark_stands_before_its_statement_and_in_braces_where_only_one_may_stand() {
        let source = "void f(int x){if(x)a();else b();c();}";
        let marks = [
            mark(0, 14, 32, MarkKind::InBlock),
            mark(1, 19, 23, MarkKind::Alone),
            mark(2, 28, 32, MarkKind::Alone),
            mark(3, 32, 36, MarkKind::InBlock),
        ];
        assert_eq!(
            body(source, &marks),
            "void f(int x){__pw_at_7(0u);if(x){__pw_at_7(1u);a();}else {__pw_at_7(2u);b();}__pw_at_7(3u);c();}"
        );
    }

    #[test]
    fn a_mark_of_an_operand_is_evaluated_before_it() {
        let source = "int f(int x){return x||x&&y;}";
        let marks = [
            mark(0, 13, 28, MarkKind::InBlock),
            mark(1, 23, 27, MarkKind::Operand),
            mark(2, 26, 27, MarkKind::Operand),
        ];
        assert_eq!(
            body(source, &marks),
            "int f(int x){__pw_at_7(0u);return x||(__pw_at_7(1u),(x&&(__pw_at_7(2u),(y))));}"
        );
    }

    #[test]
    fn a_file_without_marks_stays_as_it_is() {
        let source = b"int x;\n";
        assert_eq!(mark_file(source, 0, 0, &[], None).unwrap(), source);
    }

    #[test]
    fn a_span_behind_the_end_is_an_error() {
        let marks = [mark(0, 60, 62, MarkKind::InBlock)];
        let error = mark_file(b"int x;", 0, 1, &marks, None).unwrap_err();
        assert!(matches!(error, WeaveError::Bodies(_)), "{error}");
    }
}
