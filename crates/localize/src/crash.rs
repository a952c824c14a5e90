//! Finds where failing tests crashed: from a sanitizer's report, or from what each process executed last.

use std::path::{Path, PathBuf};

/// One line of a sanitizer's stack, or the place of a failed assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The file as the report names it.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
}

/// The frames of the first stack in a report of AddressSanitizer, UndefinedBehaviorSanitizer or another sanitizer,
/// innermost first; without a stack, the place that a `runtime error` or a failed assertion names. Empty when the text
/// has no report.
pub fn reported_frames(text: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(text);
    let mut place = None;
    let frames = first_stack(text.lines(), |line| {
        if place.is_none() {
            place = named_place(line);
        }
    });
    match frames.is_empty() {
        true => place.into_iter().collect(),
        false => frames,
    }
}

/// Returns the frames of the call that freed the memory which was used, as a report of AddressSanitizer
/// names it. If the memory was not freed, they are those of the call that allocated it.
pub fn heap_frames(text: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    let names_it = |line: &str| {
        let line = line.trim();
        line.starts_with("freed by thread ") || line.starts_with("allocated by thread ")
    };
    match lines.any(names_it) {
        true => first_stack(lines, |_| {}),
        false => Vec::new(),
    }
}

/// The frames of the first stack among lines; `before` is told each line in front of it.
fn first_stack<'a>(
    lines: impl Iterator<Item = &'a str>,
    mut before: impl FnMut(&str),
) -> Vec<Frame> {
    let mut frames = Vec::new();
    for line in lines {
        let line = line.trim();
        if let Some(rest) = frame_text(line) {
            frames.extend(file_and_line(rest));
        } else if !frames.is_empty() {
            break;
        } else {
            before(line);
        }
    }
    frames
}

/// What follows `#N ` in a line of a stack.
fn frame_text(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[digits..].strip_prefix(' ').filter(|_| digits > 0)
}

/// The place in `0x… in FUNCTION FILE:LINE[:COLUMN]` or `FUNCTION FILE:LINE (MODULE+0x…)`.
fn file_and_line(frame: &str) -> Option<Frame> {
    let place = match frame.split_once(" in ") {
        // The name of a C function has no blank; the path may.
        Some((_, rest)) => rest.split_once(' ')?.1,
        None => frame.split_once(' ')?.1,
    };
    let place = match place.rfind(" (") {
        Some(at) => &place[..at],
        None => place,
    };
    place_of(place)
}

/// `FILE:LINE[:COLUMN]`
fn place_of(text: &str) -> Option<Frame> {
    let mut rest = text;
    let mut numbers = Vec::new();
    while numbers.len() < 2
        && let Some((before, last)) = rest.rsplit_once(':')
        && let Ok(number) = last.parse::<u32>()
    {
        numbers.push(number);
        rest = before;
    }
    let line = *numbers.last()?;
    (line > 0 && !rest.is_empty()).then(|| Frame {
        file: PathBuf::from(rest),
        line,
    })
}

/// `FILE:LINE:COLUMN: runtime error: …`, or `PROGRAM: FILE:LINE: FUNCTION: Assertion `…' failed.`
fn named_place(line: &str) -> Option<Frame> {
    if let Some((place, _)) = line.split_once(": runtime error: ") {
        return place_of(place);
    }
    let (before, _) = line.split_once(": Assertion `")?;
    // `PROGRAM: FILE:LINE: FUNCTION`
    let (before, _) = before.rsplit_once(": ")?;
    place_of(before.rsplit_once(": ").map_or(before, |(_, place)| place))
}

/// Returns the index of the file that a report names: the file with the reported path below `root`, or else the only file that ends with
/// the longest part of it.
pub(crate) fn file_meant<'a>(
    reported: &Path,
    root: &Path,
    files: impl Iterator<Item = &'a Path> + Clone,
) -> Option<usize> {
    let reported = reported.strip_prefix(root).unwrap_or(reported);
    let wanted: Vec<_> = reported.components().rev().collect();
    let common = |file: &Path| {
        let parts = file.components().rev();
        parts.zip(&wanted).take_while(|(a, b)| a == *b).count()
    };
    let best = files.clone().map(common).max().filter(|&best| best > 0)?;
    let mut alike = files.enumerate().filter(|(_, file)| common(file) == best);
    let (index, _) = alike.next()?;
    alike.next().is_none().then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, line: u32) -> Frame {
        Frame {
            file: file.into(),
            line,
        }
    }

    #[test]
    fn the_first_stack_of_an_address_sanitizer_is_read() {
        let report = b"checking\n=================================================================\n\
            ==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\n\
            WRITE of size 4 at 0x1 thread T0\n\
            \x20   #0 0x55d in memset ../../../../src/libsanitizer/x.inc:780\n\
            \x20   #1 0x56 in copy part/one file.c:12\n\
            \x20   #2 0x57 in main /data/p/main.c:30:5\n\
            \x20   #3 0x7f in __libc_start_call_main (/lib/libc.so.6+0x2)\n\n\
            0x1 is located 0 bytes to the right\nallocated by thread T0 here:\n    #0 0x1 in f other.c:1\n";
        assert_eq!(
            reported_frames(report),
            [
                frame("../../../../src/libsanitizer/x.inc", 780),
                frame("part/one file.c", 12),
                frame("/data/p/main.c", 30),
            ]
        );
    }

    #[test]
    fn the_stack_that_freed_or_allocated_the_memory_is_read() {
        let report = b"    #0 0x1 in f a.c:1\n\n0x1 is located 0 bytes to the right\nallocated by thread T0 here:\n\
            \x20   #0 0x7f in malloc (/lib/libasan.so+0x2)\n    #1 0x1 in make b.c:4\n\nSUMMARY\n";
        assert_eq!(heap_frames(report), [frame("b.c", 4)]);
        let report =
            b"    #0 0x1 in f a.c:1\n\nfreed by thread T0 here:\n    #1 0x1 in drop c.c:9\n\n\
            previously allocated by thread T0 here:\n    #1 0x1 in make b.c:4\n";
        assert_eq!(heap_frames(report), [frame("c.c", 9)]);
        assert_eq!(heap_frames(b"    #0 0x1 in f a.c:1\n"), []);
    }

    #[test]
    fn other_sanitizers_and_assertions_name_their_place() {
        let undefined = b"a/b.c:7:13: runtime error: signed integer overflow: 1 + 2\n";
        assert_eq!(reported_frames(undefined), [frame("a/b.c", 7)]);
        let thread = b"  #0 main x.c:9 (prog+0x123)\n";
        assert_eq!(reported_frames(thread), [frame("x.c", 9)]);
        let assertion = b"prog: ../src/x.c:41: f: Assertion `n > 0' failed.\nAborted\n";
        assert_eq!(reported_frames(assertion), [frame("../src/x.c", 41)]);
        assert_eq!(reported_frames(b"#1 is good\nall fine: yes\n# 2\n"), []);
    }

    #[test]
    fn a_reported_path_means_the_file_that_shares_most_of_its_end() {
        let files = ["lib/x.c", "src/x.c", "y.c"].map(Path::new);
        let meant =
            |path: &str| file_meant(Path::new(path), Path::new("/data/p"), files.into_iter());
        assert_eq!(meant("/data/p/src/x.c"), Some(1));
        assert_eq!(meant("../lib/x.c"), Some(0));
        assert_eq!(meant("/tmp/build/y.c"), Some(2));
        assert_eq!(meant("x.c"), None);
        assert_eq!(meant("z.c"), None);
    }
}
