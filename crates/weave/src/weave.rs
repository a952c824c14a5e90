//! Weaves holes into functions: each body stands twice, and the glue stands in front of the file.

use crate::apart::{self, Apart, WovenPart};
use crate::duplicate::{Refusal, can_duplicate};
use crate::glue;
use crate::hook::{CapturedPart, Hook, Moved, Names, hook_text};
use crate::lines::Lines;
use crate::watch::{AssignmentPlace, Touch};
use patchwright_probe_abi::{FunctionId, HoleId, MAX_SLOTS};
use patchwright_text::{Beside, Edit, EditError, Span, apply_edits};
use std::collections::HashSet;
use std::path::Path;

/// A function to weave, with its holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenFunction {
    /// The function. No two functions of a build have the same id, in whatever file.
    pub id: FunctionId,
    /// The body in the file, from `{` to `}`, both included.
    pub body: Span,
    /// Names of the labels that the body defines, outside of nested functions.
    pub labels: Vec<String>,
    /// The holes, in any order. One may lie in another. Of two with the same span the first is the outer one. But
    /// [`HookKind::Before`](crate::HookKind::Before) and [`HookKind::After`](crate::HookKind::After), which make several statements
    /// of one, are always outside.
    pub hooks: Vec<Hook>,
    /// Places for assignments, in any order. They come before what else begins there.
    pub assignments: Vec<AssignmentPlace>,
    /// Touches of the variables that are assigned, in any order. They come before hooks with the same span.
    pub touches: Vec<Touch>,
    /// Copies of statements at other places of their block, in any order.
    pub moved: Vec<Moved>,
    /// The copy with the holes is executed whether the function is selected or not.
    pub always: bool,
}

/// Why a file cannot be woven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeaveError {
    /// The body of a function cannot stand in the file twice.
    #[error("{function} cannot be woven: {refusal}")]
    Refused {
        /// The function.
        function: FunctionId,
        /// Why not.
        refusal: Refusal,
    },
    /// A body is not a part of the file that begins with `{` and ends with `}`.
    #[error("bytes {span} are not the body of {function}")]
    NotABody {
        /// The function.
        function: FunctionId,
        /// What should be its body.
        span: Span,
    },
    /// The bodies of functions overlap.
    #[error(transparent)]
    Bodies(#[from] EditError),
    /// Two functions or two holes have the same id.
    #[error("{id} is given twice")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// A hole or touch does not lie inside its function's body, is empty, or crosses the bounds of another.
    #[error("bytes {span} do not lie inside their function and inside or outside every other hole")]
    BadSpan {
        /// The span.
        span: Span,
    },
    /// A copy of a statement belongs to a hole that its function does not have.
    #[error("{hole} has a copy of its statement, but no statement")]
    UnknownHole {
        /// The hole.
        hole: HoleId,
    },
    /// A hole hands over more entries than the probe takes.
    #[error("{hole} has {count} slots, more than {MAX_SLOTS}")]
    TooManySlots {
        /// The hole.
        hole: HoleId,
        /// Number of entries.
        count: usize,
    },
    /// The file defines a name of libc that the glue needs. As both mean the same symbol of the object file, its
    /// definition would take the place of libc's.
    #[error("the file defines `{name}`, by which it would find the run")]
    DefinesName {
        /// The name.
        name: &'static str,
    },
    /// The type of a pointer is to be taken from its expression, which contains directives.
    #[error("{hole} needs the name of its pointer type, because its expression cannot be repeated")]
    NeedsType {
        /// The hole.
        hole: HoleId,
    },
}

/// Weaves functions of one file.
///
/// The result compiles to what `source` compiles to, until a process is told to select a hole. A byte order mark stays
/// in front; added lines end as the first line of the file does. Without functions the result is the source.
///
/// `run` is the absolute path of a folder that a run fills with
/// [`PROBE_FILE`](patchwright_probe_abi::PROBE_FILE) and [`CHANNEL_FILE`](patchwright_probe_abi::CHANNEL_FILE), so
/// that processes find them whose environment has been cleared. It need not exist.
///
/// # Errors
/// Functions that cannot be woven, and spans that do not fit; nothing is woven then.
pub fn weave_file(
    source: &[u8],
    functions: &[WovenFunction],
    run: Option<&Path>,
) -> Result<Vec<u8>, WeaveError> {
    Ok(weave(source, functions, run, None)?.text)
}

/// Weaves functions of one file as [`weave_file`] does, in a layout in which a compiler's message tells which woven part it is about.
///
/// Each part stands on lines of its own. The copy of a function that has the holes counts its lines from 1, under the name of a
/// file that does not exist ([`Apart::part`]). `name` is the name that messages give the source.
///
/// # Errors
/// As [`weave_file`].
pub fn weave_file_apart(
    source: &[u8],
    functions: &[WovenFunction],
    run: Option<&Path>,
    name: &str,
) -> Result<Apart, WeaveError> {
    weave(source, functions, run, Some(name))
}

fn weave(
    source: &[u8],
    functions: &[WovenFunction],
    run: Option<&Path>,
    apart: Option<&str>,
) -> Result<Apart, WeaveError> {
    let Some(key) = functions.iter().map(|function| function.id.0).min() else {
        return Ok(Apart::new(source.to_vec()));
    };
    let mut woven = Apart::default();
    check_ids(functions)?;
    if let Some(name) = glue::defined_name(source, &glue::NAMED) {
        return Err(WeaveError::DefinesName { name });
    }
    let suffix = key.to_string();
    let newline = newline_of(source);
    let lines = Lines::new(source);
    let mut edits = Vec::new();
    let mut holes = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        let text = WovenBody {
            source,
            function,
            lines: &lines,
            newline,
            suffix: &suffix,
            first_hole: holes.len(),
            apart,
        }
        .text(index, &mut woven)?;
        holes.extend(function.hole_ids());
        edits.push(Edit::replace(function.body, text));
    }
    let ids: Vec<FunctionId> = functions.iter().map(|function| function.id).collect();
    edits.push(Edit::insert(
        after_byte_order_mark(source),
        glue::text(&suffix, &ids, &holes, newline, run, source),
    ));
    woven.text = apply_edits(source, &edits)?;
    Ok(woven)
}

impl WovenFunction {
    /// The ids of the holes in the order in which the file's tables have them.
    fn hole_ids(&self) -> impl Iterator<Item = HoleId> {
        let hooks = self.hooks.iter().map(|hook| hook.id);
        hooks.chain(self.assignments.iter().map(|place| place.id))
    }
}

/// Something woven into a function's body.
#[derive(Clone, Copy)]
enum Piece {
    /// A place for assignments, by index.
    Assignment(usize),
    /// A touch, by index.
    Touch(usize),
    /// A copy of a statement from elsewhere, by index.
    Moved(usize),
    /// A hook, by index.
    Hook(usize),
}

fn check_ids(functions: &[WovenFunction]) -> Result<(), WeaveError> {
    let (mut seen_functions, mut seen_holes) = (HashSet::new(), HashSet::new());
    for function in functions {
        if !seen_functions.insert(function.id) {
            let id = function.id.to_string();
            return Err(WeaveError::DuplicateId { id });
        }
        if let Some(hole) = function.hole_ids().find(|hole| !seen_holes.insert(*hole)) {
            let id = hole.to_string();
            return Err(WeaveError::DuplicateId { id });
        }
    }
    Ok(())
}

/// Returns the offset of the text behind a byte order mark.
pub(crate) fn after_byte_order_mark(source: &[u8]) -> u32 {
    let mark = b"\xef\xbb\xbf";
    if source.starts_with(mark) {
        mark.len() as u32
    } else {
        0
    }
}

/// Returns the line end that the text uses.
pub(crate) fn newline_of(source: &[u8]) -> &'static str {
    match source.iter().position(|byte| *byte == b'\n') {
        Some(place) if place > 0 && source[place - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

struct WovenBody<'a> {
    source: &'a [u8],
    function: &'a WovenFunction,
    lines: &'a Lines,
    newline: &'a str,
    suffix: &'a str,
    /// Index in the file of the function's first hole.
    first_hole: usize,
    /// Parts stand on lines of their own, in a file whose name this is.
    apart: Option<&'a str>,
}

impl WovenBody<'_> {
    /// The body twice; `index` is the function's place in the file's table. What stands on lines of its own is noted in `woven`.
    fn text(&self, index: usize, woven: &mut Apart) -> Result<Vec<u8>, WeaveError> {
        let WovenFunction { id, body, .. } = *self.function;
        let original = body
            .slice(self.source)
            .filter(|text| text.len() >= 2 && text.starts_with(b"{") && text.ends_with(b"}"))
            .ok_or(WeaveError::NotABody {
                function: id,
                span: body,
            })?;
        let refused = |refusal| WeaveError::Refused {
            function: id,
            refusal,
        };
        can_duplicate(original).map_err(refused)?;
        let line = self
            .line_directive(self.apart)
            .ok_or(refused(Refusal::FileName))?;
        let labels = match self.function.labels.as_slice() {
            [] => String::new(),
            labels => format!("__label__ {};", labels.join(",")),
        };
        let copy = self.hooked()?;
        let suffix = self.suffix;
        let test = match self.function.always {
            true => "1".to_owned(),
            false => format!("__builtin_expect(__pw_functions_{suffix}[{index}],0)"),
        };
        let mut text = format!("{{if({test}){{{labels}__pw_cold_{suffix}();").into_bytes();
        match self.apart {
            Some(_) => {
                woven.add(id, &copy);
                text.extend_from_slice(apart::line_directive(id, self.newline).as_bytes());
            }
            None => text.extend_from_slice(&line),
        }
        text.extend_from_slice(&copy);
        text.extend_from_slice(b"}else");
        text.extend_from_slice(&line);
        text.extend_from_slice(original);
        text.push(b'}');
        Ok(text)
    }

    /// A line of its own that says which line comes next, and of which file if that is given; `None` when the file's name
    /// cannot be restored.
    fn line_directive(&self, file: Option<&str>) -> Option<Vec<u8>> {
        let body = self.function.body;
        let number = self.lines.number(body.start);
        let mut line = format!("{}#line {number}", self.newline).into_bytes();
        if self.lines.file_changes(body.start, body.end) {
            line.push(b' ');
            line.extend_from_slice(self.lines.file(body.start)?);
        } else if let Some(file) = file {
            line.extend_from_slice(format!(" {file:?}").as_bytes());
        }
        line.extend_from_slice(self.newline.as_bytes());
        Some(line)
    }

    /// The copy of the body in which the holes are hooked.
    fn hooked(&self) -> Result<Vec<u8>, WeaveError> {
        let body = self.function.body;
        let inside = Span {
            start: body.start + 1,
            end: body.end - 1,
        };
        let function = self.function;
        let mut order: Vec<Piece> = (0..function.assignments.len())
            .map(Piece::Assignment)
            .chain((0..function.touches.len()).map(Piece::Touch))
            .chain((0..function.moved.len()).map(Piece::Moved))
            .chain((0..function.hooks.len()).map(Piece::Hook))
            .collect();
        // Outer pieces come before what they contain; the sort is stable. A guard takes one statement. What captures a
        // part of its text is taken apart, so others of the same text are around it.
        let takes_apart = |piece: &Piece| match piece {
            Piece::Hook(place) => {
                let hook = &function.hooks[*place];
                let part = hook.captured.as_ref();
                part.is_some_and(|part| part.span != hook.span)
            }
            Piece::Assignment(_) | Piece::Touch(_) | Piece::Moved(_) => false,
        };
        // What makes a value of a wider type of a text is around what would cut it off again.
        let is_wide = |piece: &Piece| match piece {
            Piece::Hook(place) => match &function.hooks[*place].kind {
                crate::HookKind::Choice {
                    ctype: Some(ctype), ..
                } => ctype.contains("long"),
                _ => false,
            },
            Piece::Assignment(_) | Piece::Touch(_) | Piece::Moved(_) => false,
        };
        order.sort_by_key(|piece| {
            let span = self.span(*piece);
            let is_one = match piece {
                Piece::Hook(place) => !function.hooks[*place].kind.adds_statements(),
                Piece::Assignment(_) | Piece::Touch(_) | Piece::Moved(_) => false,
            };
            let end = std::cmp::Reverse(span.end);
            // An `else` follows what it belongs to.
            let is_else = match piece {
                Piece::Assignment(place) => function.assignments[*place].beside == Beside::Else,
                Piece::Hook(_) | Piece::Touch(_) | Piece::Moved(_) => false,
            };
            (
                span.start,
                end,
                is_else,
                is_one,
                !is_wide(piece),
                takes_apart(piece),
            )
        });
        for piece in &order {
            let span = self.span(*piece);
            let at_end = matches!(piece, Piece::Touch(_)) && span.start == inside.end;
            if (span.is_empty() && !at_end) || !inside.contains_span(span) {
                return Err(WeaveError::BadSpan { span });
            }
        }
        let mut rest = order.as_slice();
        let mut text = self.hooked_text(body, &mut rest)?;
        if !function.assignments.is_empty() {
            let suffix = self.suffix;
            let begin = format!("if(__pw_unit_{suffix}.watch)__pw_unit_{suffix}.begin();");
            text.splice(1..1, begin.into_bytes());
        }
        Ok(text)
    }

    fn span(&self, piece: Piece) -> Span {
        match piece {
            Piece::Assignment(place) => self.function.assignments[place].span,
            Piece::Touch(place) => self.function.touches[place].span,
            Piece::Moved(place) => self.function.moved[place].span,
            Piece::Hook(place) => self.function.hooks[place].span,
        }
    }

    /// The text of `span`, in which the pieces at the head of `rest` that lie in it are woven.
    fn hooked_text(&self, span: Span, rest: &mut &[Piece]) -> Result<Vec<u8>, WeaveError> {
        let mut text = Vec::new();
        let mut copied = span.start;
        while let Some((&piece, tail)) = rest.split_first() {
            let inner_span = self.span(piece);
            // What stands at the end of the body belongs into the block of a hole that goes as far, where all names are known.
            let is_at_end = inner_span.is_empty() && inner_span.start == span.end;
            if inner_span.start >= span.end && !is_at_end {
                break;
            }
            if !span.contains_span(inner_span) {
                return Err(WeaveError::BadSpan { span: inner_span });
            }
            *rest = tail;
            text.extend_from_slice(self.original(Span::new(copied, inner_span.start)));
            let woven = match piece {
                Piece::Assignment(place) => {
                    let place_in_file = self.first_hole + self.function.hooks.len() + place;
                    let place = &self.function.assignments[place];
                    let inner = self.hooked_text(inner_span, rest)?;
                    let text = place.text(place_in_file, self.suffix).into_bytes();
                    let mut woven = match place.beside {
                        Beside::Before => [text, inner].concat(),
                        Beside::Behind => [inner, text].concat(),
                        Beside::Else => [&inner, b" else{" as &[u8], &text, b"}"].concat(),
                    };
                    woven = self.part(WovenPart::Hole(place.id), woven);
                    if place.is_body {
                        woven.insert(0, b'{');
                        woven.push(b'}');
                    }
                    woven
                }
                Piece::Touch(place) => {
                    let touch = &self.function.touches[place];
                    let woven = touch.text(self.suffix).into_bytes();
                    let mut woven = self.part(WovenPart::Touch, woven);
                    if !inner_span.is_empty() {
                        woven.extend_from_slice(&self.hooked_text(inner_span, rest)?);
                        woven.push(b')');
                    }
                    woven
                }
                Piece::Moved(place) => {
                    let moved = &self.function.moved[place];
                    let inner = self.hooked_text(inner_span, rest)?;
                    let hooks = &self.function.hooks;
                    let Some(hole) = hooks.iter().position(|hook| hook.id == moved.id) else {
                        return Err(WeaveError::UnknownHole { hole: moved.id });
                    };
                    let copy = moved.text(self.first_hole + hole, self.suffix).into_bytes();
                    let copy = self.part(WovenPart::Alternative(moved.id, moved.value), copy);
                    match moved.after {
                        true => [inner, copy].concat(),
                        false => [copy, inner].concat(),
                    }
                }
                Piece::Hook(place) => {
                    let hook = &self.function.hooks[place];
                    match &hook.captured {
                        None => {
                            let inner = self.hooked_text(hook.span, rest)?;
                            self.hook(hook, place, &inner)?
                        }
                        Some(part) => self.capturing(hook, part, place, rest)?,
                    }
                }
            };
            text.extend_from_slice(&woven);
            copied = inner_span.end;
        }
        text.extend_from_slice(self.original(Span::new(copied, span.end)));
        Ok(text)
    }

    /// A hook whose `part` is evaluated first and named.
    fn capturing(
        &self,
        hook: &Hook,
        part: &CapturedPart,
        place: usize,
        rest: &mut &[Piece],
    ) -> Result<Vec<u8>, WeaveError> {
        if !hook.span.contains_span(part.span) {
            return Err(WeaveError::BadSpan { span: part.span });
        }
        let mut inner = self.hooked_text(Span::new(hook.span.start, part.span.start), rest)?;
        let captured = self.hooked_text(part.span, rest)?;
        // The name stands between what may be words.
        inner.extend_from_slice(b" __pw_c ");
        let behind = Span::new(part.span.end, hook.span.end);
        inner.extend_from_slice(&self.hooked_text(behind, rest)?);
        let mut text = format!("(__extension__({{{} __pw_c=(", part.ctype).into_bytes();
        text.extend_from_slice(&captured);
        text.extend_from_slice(b");");
        text.extend_from_slice(&self.hook(hook, place, &inner)?);
        text.extend_from_slice(b";}))");
        Ok(text)
    }

    fn hook(&self, hook: &Hook, place: usize, inner: &[u8]) -> Result<Vec<u8>, WeaveError> {
        let hole = hook.id;
        let count = hook.slots.len() + 1;
        if count > MAX_SLOTS {
            return Err(WeaveError::TooManySlots { hole, count });
        }
        let names = Names {
            suffix: self.suffix,
            hole: self.first_hole + place,
        };
        let original = self.original(hook.span);
        let text = match self.apart {
            None => hook_text(hook, &names, original, inner),
            Some(_) => hook_text(&apart::marked(hook), &names, original, inner),
        };
        let text = text.ok_or(WeaveError::NeedsType { hole })?;
        Ok(self.part(WovenPart::Hole(hole), text))
    }

    /// A part on lines of its own, if parts are to be told apart.
    fn part(&self, part: WovenPart, text: Vec<u8>) -> Vec<u8> {
        match self.apart {
            Some(_) => part.on_its_own_lines(&text),
            None => text,
        }
    }

    fn original(&self, span: Span) -> &[u8] {
        span.slice(self.source).unwrap_or_default()
    }
}
