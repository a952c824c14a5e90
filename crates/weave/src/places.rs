//! Woven files of patches: places with the alternatives that patches put there.
//!
//! A place becomes
//!
//! ```text
//! { selection word -> number of the text to run;
//!   while the probe asks for it: evaluate an alternative, with its effects captured;
//!   if (0) the original text, else a tree of tests over the numbers, with the alternatives' texts at its leaves }
//! ```
//!
//! Definitions outside of functions that patches add stand in the file one behind the other.
//!
//! All copies of a text begin with a `#line`, so that each has the line numbers that it has in the patched file.

use crate::glue;
use crate::lines::Lines;
use crate::weave::newline_of;
use patchwright_probe_abi::{ASK, CAPTURE, CONTROL_ABANDONED, PlaceId};
use patchwright_text::Span;
use std::collections::HashSet;

/// Most iterations of the loops of an evaluation.
const FUEL: u32 = 10_000;

/// The control outcome of an evaluation that reached its end.
pub const CONTROL_NEXT: u32 = 0;
/// The control outcome of an evaluation that left the place by `break`.
pub const CONTROL_BREAK: u32 = 1;
/// The control outcome of an evaluation that left the place by `continue` of an outer loop.
pub const CONTROL_CONTINUE: u32 = 2;
/// The control outcome of an evaluation that left the place by `return`.
pub const CONTROL_RETURN: u32 = 3;
/// The first control outcome for `goto`; the number of the label is added.
pub const CONTROL_GOTO: u32 = 256;

/// What stands at a place: statements, a condition, a value, or definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlaceKind {
    /// Statements of one compound statement, or none. No declaration among them is used after them, and nothing jumps
    /// into them.
    Statements,
    /// The whole condition between the parentheses of `if`, `while`, `do`, or the semicolons of `for`.
    Condition,
    /// The whole expression behind the `=` of a declaration. What it gives has the type [`WovenPlace::result`].
    Value,
    /// Definitions and declarations outside of functions. Its span is empty; nothing is selected there, its
    /// alternatives all stand in the file.
    Definitions,
}

impl PlaceKind {
    /// Whether it is an expression.
    fn gives(self) -> bool {
        matches!(self, PlaceKind::Condition | PlaceKind::Value)
    }
}

/// A place to weave, with its alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenPlace {
    /// Its id. No two places of a build have the same.
    pub id: PlaceId,
    /// The original text in the file.
    pub span: Span,
    /// What stands there.
    pub kind: PlaceKind,
    /// The type of the variable that an evaluation's `return` assigns to, `None` when none does; of a value the value's.
    pub result: Option<String>,
    /// The original text for evaluations, if it can be evaluated.
    pub captured: Option<Vec<u8>>,
    /// The labels that the original text defines.
    pub labels: Vec<String>,
    /// The alternatives; their numbers are 1, 2, ….
    pub alternatives: Vec<Alternative>,
}

/// An alternative text for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The text.
    pub text: Vec<u8>,
    /// The line on which it begins in the patched file.
    pub line: u32,
    /// The text for evaluations, if it can be evaluated. See [`Captured`].
    pub captured: Option<Vec<u8>>,
    /// The labels that it defines.
    pub labels: Vec<String>,
}

/// The pieces of C from which the texts for evaluations are made.
///
/// They refer to variables of the place: `__pw_c` is the control outcome, `__pw_r` the value, `__pw_f` the loop
/// iterations that are left; a jump to `__pw_bad` abandons the evaluation, one to `__pw_out` ends it.
pub struct Captured<'a> {
    suffix: &'a str,
}

impl<'a> Captured<'a> {
    /// Makes the pieces for a file that is woven with `suffix`.
    pub fn new(suffix: &'a str) -> Self {
        Self { suffix }
    }

    /// Returns the texts before and behind an lvalue that is read. They abandon the evaluation if its
    /// bytes cannot be read. `number` is unique in the text.
    pub fn read(&self, number: usize) -> (String, String) {
        self.checked("bad", number)
    }

    /// Returns the texts before and behind an lvalue that is written. They note its old bytes.
    pub fn write(&self, number: usize) -> (String, String) {
        self.checked("write", number)
    }

    fn checked(&self, function: &str, number: usize) -> (String, String) {
        let suffix = self.suffix;
        (
            format!("(*__extension__({{__auto_type __pw_p{number}=&("),
            format!(
                ");if(__pw_{function}_{suffix}(__pw_p{number},sizeof(*__pw_p{number})))goto __pw_bad;__pw_p{number};}}))"
            ),
        )
    }

    /// Returns the texts before and behind a divisor. They abandon the evaluation if it is 0 or -1.
    pub fn divisor(&self, number: usize) -> (String, String) {
        (
            format!("(__extension__({{__auto_type __pw_p{number}=("),
            format!(
                ");if(__pw_p{number}==0||__pw_p{number}==(__typeof__(__pw_p{number}))-1)goto __pw_bad;__pw_p{number};}}))"
            ),
        )
    }

    /// Returns the texts before and behind an expression that becomes the variable `number` of type
    /// `c_type`. The first of several variables needs another text than the others.
    pub fn operand(&self, c_type: &str, number: usize, is_first: bool) -> (String, &'static str) {
        let begin = if is_first { "(__extension__({" } else { "" };
        (format!("{begin}{c_type}__pw_p{number}=("), ");")
    }

    /// Returns the C text that ends an expression begun by [`operand`](Self::operand). It abandons the evaluation if the expression `bad` is
    /// true, and else has the value `value`. An empty `bad` checks nothing.
    pub fn checked_value(&self, bad: &str, value: &str) -> String {
        let check = match bad {
            "" => String::new(),
            bad => format!("if({bad})goto __pw_bad;"),
        };
        format!("{check}{value};}}))")
    }

    /// Returns an expression that is true if the string in variable `text` cannot be read to its end.
    /// With `most`, only as many bytes must be readable as that variable says.
    pub fn bad_text(&self, text: usize, most: Option<usize>) -> String {
        let most = most.map_or("-1ul".to_owned(), |most| format!("__pw_p{most}"));
        format!("__pw_text_{}(__pw_p{text},{most})", self.suffix)
    }

    /// Returns an expression that is true if `size` bytes at `start` cannot be read.
    pub fn bad_read(&self, start: &str, size: &str) -> String {
        format!("__pw_bad_{}({start},{size})", self.suffix)
    }

    /// Returns an expression that is true if `size` bytes at `start` cannot be written. If they can,
    /// it notes them.
    pub fn bad_write(&self, start: &str, size: &str) -> String {
        format!("__pw_write_{}({start},{size})", self.suffix)
    }

    /// Returns the texts before and behind the body of a loop, which count iterations.
    pub fn iteration(&self) -> (String, String) {
        ("{if(!--__pw_f)goto __pw_bad;".to_owned(), "}".to_owned())
    }

    /// Returns the text in place of a jump out of the place, with this control outcome.
    pub fn jump(&self, control: u32) -> String {
        format!("{{__pw_c={control};goto __pw_out;}}")
    }

    /// Returns the texts before and behind the operand of a `return`. They replace `return` and `;`.
    pub fn returned(&self) -> (String, String) {
        (
            "{__pw_r=(".to_owned(),
            format!(");__pw_c={CONTROL_RETURN};goto __pw_out;}}"),
        )
    }
}

/// Why places cannot be woven into a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacesError {
    /// Two places have the same id.
    #[error("{0} is given twice")]
    DuplicateId(PlaceId),
    /// A place lies outside of the file, or crosses the bounds of another.
    #[error("{id} at bytes {span} does not lie inside or outside of every other place")]
    BadSpan {
        /// The place.
        id: PlaceId,
        /// Its span.
        span: Span,
    },
    /// The file defines a name of libc that the glue needs.
    #[error("the file defines `{name}`, by which it could not find the probe")]
    DefinesName {
        /// The name.
        name: &'static str,
    },
}

/// A file with woven places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenPlaces {
    /// Its text.
    pub text: Vec<u8>,
    /// For each place (in the order in which they were given) where the texts of its alternatives that are run, not
    /// evaluated, stand in it.
    pub alternatives: Vec<Vec<Span>>,
    /// For each place all that stands in its stead.
    pub places: Vec<Span>,
}

/// Weaves places into a file. `suffix` makes names unique to the file. Without places the result is the source. To the
/// file `unobserved`, if it is there, processes add a byte that cannot tell which patch they should run.
///
/// One place may lie in another; it is then woven into the original text of the outer one only, and not into the copy
/// for evaluations. Of two with the same span the first is the outer one; an empty place at the bounds of another lies
/// outside of it.
///
/// # Errors
/// Places that do not fit; nothing is woven then.
pub fn weave_places(
    source: &[u8],
    suffix: &str,
    places: &[WovenPlace],
    unobserved: Option<&[u8]>,
) -> Result<WovenPlaces, PlacesError> {
    let mut weaver = PlaceWeaver {
        source,
        suffix,
        places,
        lines: Lines::new(source),
        newline: newline_of(source),
        text: Vec::new(),
        spans: places
            .iter()
            .map(|place| vec![Span::empty(0); place.alternatives.len()])
            .collect(),
        stead: vec![Span::empty(0); places.len()],
    };
    if places.is_empty() {
        return Ok(WovenPlaces {
            text: source.to_vec(),
            alternatives: Vec::new(),
            places: Vec::new(),
        });
    }
    let mut ids = HashSet::new();
    if let Some(place) = places.iter().find(|place| !ids.insert(place.id)) {
        return Err(PlacesError::DuplicateId(place.id));
    }
    if let Some(name) = glue::defined_name(source, &glue::NAMED_BY_PLACES) {
        return Err(PlacesError::DefinesName { name });
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|index| {
        let span = places[*index].span;
        // Outer places come before what they contain, empty places before what begins where they stand.
        (
            span.start,
            !span.is_empty(),
            std::cmp::Reverse(span.end),
            *index,
        )
    });
    let whole = Span::new(0, source.len() as u32);
    let mark = b"\xef\xbb\xbf";
    let start = if source.starts_with(mark) {
        mark.len() as u32
    } else {
        0
    };
    weaver.text.extend_from_slice(&source[..start as usize]);
    let ids: Vec<PlaceId> = places.iter().map(|place| place.id).collect();
    let glue = glue::places_text(suffix, &ids, unobserved, weaver.newline, source);
    weaver.text.extend_from_slice(glue.as_bytes());
    let mut rest = order.as_slice();
    weaver.original(Span::new(start, whole.end), &mut rest)?;
    if let Some(index) = rest.first() {
        let WovenPlace { id, span, .. } = places[*index];
        return Err(PlacesError::BadSpan { id, span });
    }
    Ok(WovenPlaces {
        text: weaver.text,
        alternatives: weaver.spans,
        places: weaver.stead,
    })
}

struct PlaceWeaver<'a> {
    source: &'a [u8],
    suffix: &'a str,
    places: &'a [WovenPlace],
    lines: Lines,
    newline: &'a str,
    text: Vec<u8>,
    spans: Vec<Vec<Span>>,
    /// What stands in the stead of each place.
    stead: Vec<Span>,
}

impl PlaceWeaver<'_> {
    fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// A line of its own that says which line comes next.
    fn line(&mut self, number: u32) {
        let line = format!("{0}#line {number}{0}", self.newline);
        self.push(&line);
    }

    /// The original text of `span`, in which the places at the head of `rest` that lie in it are woven.
    fn original(&mut self, span: Span, rest: &mut &[usize]) -> Result<(), PlacesError> {
        let mut copied = span.start;
        while let Some((index, tail)) = rest.split_first() {
            let place = &self.places[*index];
            let at = place.span;
            if at.start > span.end || (at.start == span.end && !at.is_empty()) {
                break;
            }
            // An empty place at the end of a place lies behind it.
            if at.is_empty() && at.start == span.end && span.end as usize != self.source.len() {
                break;
            }
            if !span.contains_span(at) || at.start < copied {
                return Err(PlacesError::BadSpan {
                    id: place.id,
                    span: at,
                });
            }
            *rest = tail;
            self.raw(Span::new(copied, at.start));
            let start = self.text.len() as u32;
            self.place(*index, rest)?;
            self.stead[*index] = Span::new(start, self.text.len() as u32);
            copied = at.end;
            self.line(self.lines.number(at.end));
        }
        self.raw(Span::new(copied, span.end));
        Ok(())
    }

    fn raw(&mut self, span: Span) {
        self.text
            .extend_from_slice(span.slice(self.source).unwrap_or_default());
    }

    fn place(&mut self, index: usize, rest: &mut &[usize]) -> Result<(), PlacesError> {
        let places = self.places;
        let place = &places[index];
        if place.kind == PlaceKind::Definitions {
            self.definitions(index);
            return Ok(());
        }
        let suffix = self.suffix;
        let gives = place.kind.gives();
        let evaluates = place.captured.is_some()
            || place
                .alternatives
                .iter()
                .any(|alternative| alternative.captured.is_some());
        self.push(if gives { "__extension__({" } else { "{" });
        if evaluates {
            self.push("__label__ __pw_again;");
        }
        self.push(&format!("unsigned __pw_k=__pw_selected_{suffix}[{index}];"));
        match (place.kind, &place.result) {
            (PlaceKind::Condition, _) => self.push("int __pw_r;"),
            (PlaceKind::Value, Some(result)) => self.push(&format!("{result} __pw_r;")),
            (_, Some(result)) if evaluates => {
                self.push(&format!("{result} __pw_r=({result})0;"));
            }
            _ => {}
        }
        self.push(&format!(
            "if(__builtin_expect(__pw_k!=0,0)){{if(__pw_k=={ASK}u)__pw_k=__pw_enter_{suffix}({index});"
        ));
        if evaluates {
            self.evaluations(index);
        }
        self.push("}if(__builtin_expect(__pw_k==0,1)){");
        // Labels inside of a place inside of this one are declared there.
        let inner: Vec<&String> = rest
            .iter()
            .map(|inner| &places[*inner])
            .take_while(|inner| place.span.contains_span(inner.span))
            .flat_map(|inner| &inner.labels)
            .collect();
        let mut labels = place.labels.clone();
        labels.retain(|label| !inner.contains(&label));
        self.labels(&labels);
        self.line(self.lines.number(place.span.start));
        self.open(place.kind);
        self.original(place.span, rest)?;
        self.close(place.kind);
        self.push("}else{");
        let runs: Vec<usize> = (0..place.alternatives.len()).collect();
        self.dispatch(index, &runs, false);
        self.push(if gives { "}__pw_r;})" } else { "}}" });
        Ok(())
    }

    /// All alternatives, one behind the other.
    fn definitions(&mut self, index: usize) {
        let places = self.places;
        for (number, alternative) in places[index].alternatives.iter().enumerate() {
            self.line(alternative.line);
            self.run_text(index, number);
            let newline = self.newline.to_owned();
            self.push(&newline);
        }
    }

    /// The text of an alternative that is run.
    fn run_text(&mut self, index: usize, number: usize) {
        let places = self.places;
        let start = self.text.len() as u32;
        self.text
            .extend_from_slice(&places[index].alternatives[number].text);
        self.spans[index][number] = Span::new(start, self.text.len() as u32);
    }

    /// The beginning of a text.
    fn open(&mut self, kind: PlaceKind) {
        self.push(if kind.gives() { "__pw_r=(" } else { "" });
    }

    /// The end of a text, which may end in a comment or an unfinished line.
    fn close(&mut self, kind: PlaceKind) {
        let newline = self.newline.to_owned();
        self.push(&newline);
        self.push(match kind {
            PlaceKind::Condition => ")?1:0;",
            PlaceKind::Value => ");",
            PlaceKind::Statements | PlaceKind::Definitions => ";",
        });
    }

    fn labels(&mut self, labels: &[String]) {
        if !labels.is_empty() {
            self.push(&format!("__label__ {};", labels.join(",")));
        }
    }

    /// Evaluates alternatives as long as the probe asks for it.
    fn evaluations(&mut self, index: usize) {
        let places = self.places;
        let place = &places[index];
        let suffix = self.suffix;
        // What the probe gives after `ASK` is never `ASK`.
        self.push(&format!(
            "__pw_again:if(__pw_k&{CAPTURE}u){{__label__ __pw_out,__pw_bad;\
             unsigned __pw_c={CONTROL_NEXT}u,__pw_f={FUEL}u;__pw_k&=~{CAPTURE}u;(void)__pw_f;"
        ));
        if let Some(captured) = &place.captured {
            self.push("if(__pw_k==0){");
            self.labels(&place.labels);
            self.line(self.lines.number(place.span.start));
            self.evaluation(place.kind, captured);
            self.push("}else ");
        }
        let runs: Vec<usize> = (0..place.alternatives.len())
            .filter(|alternative| place.alternatives[*alternative].captured.is_some())
            .collect();
        self.push("{");
        self.dispatch(index, &runs, true);
        self.push("}");
        let value = if place.result.is_some() || place.kind.gives() {
            "&__pw_r,sizeof(__pw_r)"
        } else {
            "&__pw_c,0"
        };
        // What was returned counts only for those that return.
        let reset = match (&place.result, place.kind) {
            (Some(result), PlaceKind::Statements) => format!("__pw_r=({result})0;"),
            _ => String::new(),
        };
        self.push(&format!(
            "if(0){{__pw_bad:__pw_c={CONTROL_ABANDONED}u;}}__pw_out:;\
             __pw_k=__pw_finish_{suffix}({index},__pw_c,{value});{reset}goto __pw_again;}}"
        ));
    }

    fn evaluation(&mut self, kind: PlaceKind, text: &[u8]) {
        self.open(kind);
        self.text.extend_from_slice(text);
        self.close(kind);
    }

    /// Runs (or evaluates) the one of these alternatives that `__pw_k` names, by a binary search.
    fn dispatch(&mut self, index: usize, alternatives: &[usize], evaluate: bool) {
        let places = self.places;
        let place = &places[index];
        match alternatives {
            [] => {}
            [alternative] => {
                let known = &place.alternatives[*alternative];
                self.labels(&known.labels);
                self.line(known.line);
                match &known.captured {
                    Some(captured) if evaluate => self.evaluation(place.kind, captured),
                    _ => {
                        self.open(place.kind);
                        self.run_text(index, *alternative);
                        self.close(place.kind);
                    }
                }
            }
            _ => {
                let (low, high) = alternatives.split_at(alternatives.len() / 2);
                // Numbers are indices plus one.
                self.push(&format!("if(__pw_k<={}){{", high[0]));
                self.dispatch(index, low, evaluate);
                self.push("}else{");
                self.dispatch(index, high, evaluate);
                self.push("}");
            }
        }
    }
}
