//! Analyses what patches add outside of functions: helpers, prototypes, variables, macros, types,
//! headers.
//!
//! An addition can stand in the woven file if only its own patch mentions its names. So its names must be new to the whole
//! translation unit, headers included. If patches add different things of one name, or add it to different files, the name
//! gets a number in all texts of the patch.
//!
//! Names are found without a parser. A name that is not recognised is not renamed. Then the woven file has two definitions of it, the
//! compiler reports that, and the patches are set apart.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{Function, lex};
use patchwright_text::Span;

use crate::Outside;
use crate::scan::skip_directives;

/// Text that a patch adds between the definitions of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Addition {
    /// Where, in the original.
    pub offset: u32,
    /// The text.
    pub text: Vec<u8>,
    /// The line on which it begins in the patched file.
    pub line: u32,
}

/// The names and directives that an addition adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Names that it defines.
    pub defined: BTreeSet<String>,
    /// Those of them that other files can see.
    pub external: BTreeSet<String>,
    /// Names of functions and objects that it only declares.
    pub declared: BTreeSet<String>,
    /// Those of the defined names that are known in the file, where the patch defines something else by them.
    pub replaced: BTreeSet<String>,
    /// It includes headers.
    pub includes: bool,
    /// It defines macros.
    pub macros: bool,
}

/// Words with an effect beyond the names, or that need a place of their own.
const REFUSED_WORDS: &[&str] = &[
    "asm",
    "__asm",
    "__asm__",
    "_Pragma",
    "__pragma",
    "__COUNTER__",
    "__thread",
    "_Thread_local",
    "main",
];

/// Attributes with such an effect. Without underscores they are names like others where the text has no attribute.
const REFUSED_ATTRIBUTES: &[&str] = &[
    "constructor",
    "destructor",
    "alias",
    "weak",
    "ifunc",
    "section",
];

/// Attributes of a definition that change nothing of what others see.
const HARMLESS_ATTRIBUTES: &[&str] = &[
    "aligned",
    "always_inline",
    "cold",
    "deprecated",
    "format",
    "gnu_inline",
    "hot",
    "malloc",
    "noinline",
    "nonnull",
    "noreturn",
    "packed",
    "returns_nonnull",
    "sentinel",
    "unused",
    "warn_unused_result",
];

/// A token of an item; whatever stands in brackets is one token.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) span: Span,
    first: u8,
}

/// A definition, a declaration or a directive.
pub(crate) struct Item {
    pub(crate) span: Span,
    /// None for a directive.
    pub(crate) tokens: Vec<Token>,
    /// It is a function with its body.
    pub(crate) body: bool,
    /// It has directives inside, so what it is depends on them.
    pub(crate) conditional: bool,
}

/// The items of a text; `None` when the last is not whole, or brackets or conditions are not closed in the item in which they begin.
pub(crate) fn items(text: &[u8]) -> Option<Vec<Item>> {
    let mut found = Vec::new();
    let mut tokens: Vec<Token> = Vec::new();
    // Conditions that are open in the item at hand.
    let mut open = 0_usize;
    let mut conditional = false;
    let mut at = 0;
    loop {
        at = lex::skip_blank(text, at);
        let Some(&first) = text.get(at) else {
            return tokens.is_empty().then_some(found);
        };
        let start = at;
        at = match first {
            b'#' => skip_directive(text, at),
            b'(' | b'[' | b'{' => closing(text, at)?,
            b')' | b']' | b'}' => return None,
            _ => lex::step(text, at),
        };
        let span = Span::new(start as u32, at as u32);
        if first == b'#' {
            if tokens.is_empty() {
                found.push(Item {
                    span,
                    tokens: Vec::new(),
                    body: false,
                    conditional: false,
                });
                continue;
            }
            conditional = true;
            match word(&text[start + 1..at]) {
                b"if" | b"ifdef" | b"ifndef" => open += 1,
                b"elif" | b"else" if open > 0 => {}
                b"endif" if open > 0 => open -= 1,
                // It would be half of something.
                _ => return None,
            }
            continue;
        }
        let body = first == b'{' && tokens.last().is_some_and(|last| last.first == b'(');
        tokens.push(Token { span, first });
        if first == b';' || body {
            if open > 0 {
                return None;
            }
            let tokens = std::mem::take(&mut tokens);
            found.push(Item {
                span: Span::new(tokens[0].span.start, span.end),
                tokens,
                body,
                conditional: std::mem::take(&mut conditional),
            });
        }
    }
}

/// The first word or sign of a text.
fn word(text: &[u8]) -> &[u8] {
    let start = lex::skip_blank(text, 0);
    let end = text.get(start).map_or(start, |_| lex::step(text, start));
    &text[start..end]
}

/// Whether a text has something with an effect of its own, such as a constructor, or something that is
/// found whatever its name is.
pub fn is_special(text: &[u8]) -> bool {
    let words = lex::words(text);
    let mut known = words.iter();
    let has_attributes = known
        .any(|word| ["__attribute__", "__attribute"].contains(&word.as_str()))
        || text.windows(2).any(|pair| pair == b"[[");
    let is_attribute = |word: &str| {
        let bare = word
            .strip_prefix("__")
            .and_then(|word| word.strip_suffix("__"));
        REFUSED_ATTRIBUTES.contains(&bare.unwrap_or(word)) && (bare.is_some() || has_attributes)
    };
    let mut words = words.iter().map(String::as_str);
    words.any(|word| REFUSED_WORDS.contains(&word) || is_attribute(word))
}

/// Returns what a text of whole definitions, declarations and directives adds, or `None` for other texts.
pub fn brought(text: &[u8]) -> Option<Brought> {
    if is_special(text) {
        return None;
    }
    let mut brought = Brought::default();
    for item in items(text)? {
        if item.conditional {
            return None;
        }
        match item.tokens.is_empty() {
            true => directive(&text[item.span.range()][1..], &mut brought)?,
            false => declaration(text, &item.tokens, item.body, &mut brought)?,
        }
    }
    Some(brought)
}

/// Returns the span of the function, or of the definition or directive between functions, in which `at`
/// lies.
pub fn definition_at(source: &[u8], functions: &[Function], at: Span) -> Option<Span> {
    let spans = || functions.iter().map(|function| function.span);
    if let Some(function) = spans().find(|span| span.contains_span(at)) {
        return Some(function);
    }
    let start = spans()
        .map(|span| span.end)
        .filter(|end| *end <= at.start)
        .max();
    let end = spans()
        .map(|span| span.start)
        .filter(|start| *start >= at.end)
        .min();
    let between = Span::new(start.unwrap_or(0), end.unwrap_or(source.len() as u32));
    let items = items(between.slice(source)?)?;
    let mut spans = items.iter().map(|item| {
        Span::new(
            between.start + item.span.start,
            between.start + item.span.end,
        )
    });
    spans.find(|span| span.contains_span(at))
}

/// Returns the kind of code outside of functions at a place.
pub fn what_is_at(source: &[u8], functions: &[Function], at: Span) -> Outside {
    let in_head =
        |function: &&Function| at.start < function.body_span.start && at.end > function.span.start;
    let mut heads = functions.iter().filter(in_head);
    match (heads.next(), heads.next()) {
        (Some(only), None) => return Outside::Head(only.name.clone()),
        (Some(_), Some(_)) => return Outside::Text,
        (None, _) => {}
    }
    // Without the blanks and comments round it.
    let start = lex::skip_blank(source, at.start as usize).min(at.end as usize);
    let text = source.get(start..at.end as usize).unwrap_or_default();
    let end = start + text.trim_ascii_end().len();
    let at = Span::new(start as u32, end as u32);
    let Some(definition) = definition_at(source, functions, at) else {
        return Outside::Text;
    };
    let text = definition.slice(source).unwrap_or_default();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match (name_in(text), text.first()) {
        (Some(name), _) => Outside::Definition(name),
        (None, Some(b'#')) => Outside::Directive(String::from_utf8_lossy(line).trim().to_owned()),
        (None, _) => Outside::Text,
    }
}

/// Returns the first name that a text outside of functions defines or declares, if it can be told.
pub fn name_in(text: &[u8]) -> Option<String> {
    let brought = brought(text)?;
    let names = [&brought.external, &brought.defined, &brought.declared];
    names.into_iter().find_map(|names| names.first().cloned())
}

/// Returns the offset behind the directive that begins at `at`.
pub fn skip_directive(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// The offset behind the bracket that closes the one at `open`.
fn closing(text: &[u8], open: usize) -> Option<usize> {
    let mut stack = Vec::new();
    let mut at = open;
    loop {
        at = skip_directives(text, at);
        match *text.get(at)? {
            b'(' => stack.push(b')'),
            b'[' => stack.push(b']'),
            b'{' => stack.push(b'}'),
            close @ (b')' | b']' | b'}') => {
                if stack.pop() != Some(close) {
                    return None;
                }
                if stack.is_empty() {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at = lex::step(text, at);
    }
}

fn directive(text: &[u8], brought: &mut Brought) -> Option<()> {
    let start = lex::skip_blank(text, 0);
    let end = text.get(start).map_or(start, |_| lex::step(text, start));
    let rest = lex::skip_blank(text, end);
    match &text[start..end] {
        // A header of the project could define objects.
        b"include" if text.get(rest) == Some(&b'<') => brought.includes = true,
        b"define" => {
            let name = &text[rest..lex::step(text, rest.min(text.len().checked_sub(1)?))];
            brought
                .defined
                .insert(String::from_utf8_lossy(name).into_owned());
            brought.macros = true;
        }
        _ => return None,
    }
    Some(())
}

/// An item's tokens without its attributes; `None` if others could see one of these.
fn without_attributes(text: &[u8], item: &[Token]) -> Option<Vec<Token>> {
    let mut kept = Vec::with_capacity(item.len());
    let mut tokens = item.iter();
    while let Some(token) = tokens.next() {
        let word = token.span.slice(text).unwrap_or_default();
        if !matches!(word, b"__attribute__" | b"__attribute") {
            kept.push(*token);
            continue;
        }
        let list = tokens.next()?.span.slice(text)?;
        let (mut at, mut depth) = (0, 0);
        while at < list.len() {
            let next = lex::step(list, at).min(list.len());
            match list[at] {
                b'(' => depth += 1,
                b')' => depth -= 1,
                first if depth == 2 && lex::is_word(first) => {
                    let name = std::str::from_utf8(&list[at..next]).ok()?;
                    let name = name.strip_prefix("__").unwrap_or(name);
                    let name = name.strip_suffix("__").unwrap_or(name);
                    if !HARMLESS_ATTRIBUTES.contains(&name) {
                        return None;
                    }
                }
                _ => {}
            }
            at = next;
        }
    }
    Some(kept)
}

/// Notes what a declaration (up to its `;`) or the definition of a function (up to its body) brings.
fn declaration(text: &[u8], item: &[Token], body: bool, brought: &mut Brought) -> Option<()> {
    let item = &without_attributes(text, item)?[..];
    let slice = |token: &Token| token.span.slice(text).unwrap_or_default();
    let is = |word: &str| item.iter().any(|token| slice(token) == word.as_bytes());
    let word_at = |index: usize| {
        let token = item.get(index)?;
        let is_word = lex::is_word(token.first) && !token.first.is_ascii_digit();
        is_word.then(|| String::from_utf8_lossy(slice(token)).into_owned())
    };
    let is_static = is("static");
    if (is("inline") || is("__inline")) && !is_static {
        return None;
    }
    let mut define = |name: String, external: bool| {
        if external {
            brought.external.insert(name.clone());
        }
        brought.defined.insert(name);
    };
    if body {
        let parameters = item.iter().position(|token| token.first == b'(')?;
        // One pair of parentheses, else it is the call of a macro or a function that returns one by pointer.
        if parameters + 2 != item.len() {
            return None;
        }
        define(word_at(parameters.checked_sub(1)?)?, !is_static);
        return Some(());
    }
    if item.len() == 1 {
        return Some(());
    }
    let mut at = 0;
    let kinds = ["struct", "union", "enum"];
    if let Some(kind) = (0..item.len()).find(|index| {
        let word = word_at(*index);
        word.is_some_and(|word| kinds.contains(&word.as_str()))
    }) {
        let tag = word_at(kind + 1);
        let braces = kind + 1 + usize::from(tag.is_some());
        let is_definition = item.get(braces).is_some_and(|token| token.first == b'{');
        if is_definition {
            if let Some(tag) = tag {
                define(tag, false);
            }
            if slice(&item[kind]) == b"enum" {
                for name in enumerators(slice(&item[braces]))? {
                    define(name, false);
                }
            }
            at = braces + 1;
        } else if braces + 1 == item.len() {
            // A tag announced.
            define(tag?, false);
            return Some(());
        }
    }
    if item.get(at).is_some_and(|token| token.first == b';') {
        return Some(());
    }
    // The declarators: each ends before a comma, an initializer or the end.
    let mut first = true;
    while at < item.len() {
        let end = (at..item.len())
            .find(|index| matches!(item[*index].first, b'=' | b',' | b';' | b'[' | b'('))?;
        // In parentheses: a pointer to a function, or what a function takes.
        let (name, is_function) = match item[end].first {
            b'(' => match pointed(slice(&item[end])) {
                Some(name) => (name, false),
                None => (word_at(end.checked_sub(1)?)?, true),
            },
            _ => (word_at(end.checked_sub(1)?)?, false),
        };
        // A type alone declares nothing.
        if first && end == 0 {
            return None;
        }
        first = false;
        if is("typedef") {
            define(name, false);
        } else if is_function || is("extern") {
            brought.declared.insert(name);
        } else {
            define(name, !is_static);
        }
        let next = (end..item.len()).find(|index| matches!(item[*index].first, b',' | b';'))?;
        at = next + 1;
    }
    Some(())
}

/// The name in `(*name)`.
fn pointed(text: &[u8]) -> Option<String> {
    let star = lex::skip_blank(text, 1);
    if text.get(star) != Some(&b'*') {
        return None;
    }
    let start = lex::skip_blank(text, star + 1);
    let end = lex::step(text, start);
    let name = text.get(start..end)?;
    lex::is_word(name[0]).then(|| String::from_utf8_lossy(name).into_owned())
}

/// The names between the braces of an enumeration.
pub(crate) fn enumerators(text: &[u8]) -> Option<Vec<String>> {
    let (mut names, mut at, mut expected) = (Vec::new(), 1, true);
    loop {
        at = lex::skip_blank(text, at);
        let first = *text.get(at)?;
        let start = at;
        at = match first {
            b'}' => return Some(names),
            b'#' => return None,
            b'(' => closing(text, at)?,
            _ => lex::step(text, at),
        };
        if expected && lex::is_word(first) {
            names.push(String::from_utf8_lossy(&text[start..at]).into_owned());
        }
        expected = first == b',';
    }
}

/// Whether `offset` lies between the definitions and declarations of a file.
pub fn is_between_items(source: &[u8], functions: &[Function], offset: u32) -> bool {
    let inside = |function: &Function| {
        let span = function.span;
        span.start < offset && offset < span.end
    };
    if functions.iter().any(inside) {
        return false;
    }
    let ends = functions.iter().map(|function| function.span.end);
    let start = ends.filter(|end| *end <= offset).max();
    let (mut at, mut depth) = (start.unwrap_or(0) as usize, 0i64);
    let mut complete = true;
    while at < offset as usize {
        match source[at] {
            b'#' => {
                at = skip_directive(source, at);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        let next = lex::step(source, at);
        if !crate::edits::is_blank(&source[at..next.min(source.len())]) {
            complete = matches!(source[at], b';' | b'}');
        }
        at = next;
    }
    at == offset as usize && depth == 0 && complete
}

/// Moves an insertion to where it is whole. A diff may say that `A } B` was inserted before `}` instead
/// of `} B A` behind it. It returns the possible offsets and texts, first forwards, then backwards, by
/// lines.
pub fn moved(source: &[u8], offset: u32, text: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut found = Vec::new();
    let line = |text: &[u8]| text.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    let (mut at, mut now) = (offset as usize, text.to_vec());
    while let Some(length) = line(&now) {
        if source.get(at..at + length) != Some(&now[..length]) || found.len() > 100 {
            break;
        }
        now.rotate_left(length);
        at += length;
        found.push((at as u32, now.clone()));
    }
    let (mut at, mut now) = (offset as usize, text.to_vec());
    loop {
        let before = now.strip_suffix(b"\n").unwrap_or(&now);
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let length = now.len() - start.map_or(0, |start| start + 1);
        let Some(from) = at.checked_sub(length) else {
            break;
        };
        if source[from..at] != now[now.len() - length..] || found.len() > 200 {
            break;
        }
        now.rotate_right(length);
        at = from;
        found.push((at as u32, now.clone()));
    }
    found
}

/// The text between a name and its number in a replaced name.
pub const RENAMED: &str = "__pw_of_";

/// Replaces directives with these names by blanks. Line breaks stay.
pub fn blank_directives(text: &mut [u8], names: &[&[u8]]) {
    let mut at = 0;
    loop {
        at = lex::skip_blank(text, at);
        match text.get(at) {
            None => return,
            Some(b'#') => {
                let end = skip_directive(text, at);
                let name = lex::skip_blank(&text[..end], at + 1);
                if names.iter().any(|known| text[name..end].starts_with(known)) {
                    let bytes = text[at..end].iter_mut();
                    bytes
                        .filter(|byte| **byte != b'\n')
                        .for_each(|byte| *byte = b' ');
                }
                at = end;
            }
            Some(_) => at = lex::step(text, at),
        }
    }
}

/// New names by old names.
pub type Renames = BTreeMap<String, String>;

/// Returns a text with the names of `renames` replaced.
pub fn renamed(text: &[u8], renames: &Renames) -> Vec<u8> {
    if renames.is_empty() {
        return text.to_vec();
    }
    let (mut at, mut new) = (0, Vec::with_capacity(text.len()));
    while at < text.len() {
        let blank = lex::skip_blank(text, at).min(text.len());
        new.extend_from_slice(&text[at..blank]);
        at = blank;
        if at >= text.len() {
            break;
        }
        let next = lex::step(text, at).min(text.len());
        let token = &text[at..next];
        let other = std::str::from_utf8(token)
            .ok()
            .and_then(|token| renames.get(token));
        new.extend_from_slice(other.map_or(token, |name| name.as_bytes()));
        at = next;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_with_conditions_inside_does_not_hide_the_others() {
        let texts = |text: &str| -> Option<Vec<String>> {
            let items = items(text.as_bytes())?.into_iter();
            let slice = |item: Item| text[item.span.range()].to_owned();
            Some(items.map(slice).collect())
        };
        let mixed = "int a = 1;\nint b =\n#if A\n1\n# else\n2\n#endif\n;\nint c = 3;";
        let found = texts(mixed).unwrap();
        assert_eq!(
            (found[0].as_str(), found[2].as_str()),
            ("int a = 1;", "int c = 3;")
        );
        assert!(brought(b"static int a;\nstatic int b =\n#if A\n1\n#endif\n;").is_none());
        for half in [
            "int b =\n#if A\n1;\n#else\n2;\n#endif",
            "#if A\nint b =\n#else\nint c =\n#endif\n1;",
        ] {
            assert!(texts(half).is_none(), "{half}");
        }
        let at = |text: &str| {
            let start = mixed.find(text).unwrap() as u32;
            definition_at(
                mixed.as_bytes(),
                &[],
                Span::new(start, start + text.len() as u32),
            )
        };
        assert_eq!(
            at("3"),
            Some(Span::new(mixed.len() as u32 - 10, mixed.len() as u32))
        );
    }

    #[test]
    fn what_is_found_by_others_is_told_from_a_member_of_the_same_name() {
        for (text, special) in [
            ("struct rule { int weak, section; };", false),
            (
                "static int alias(int constructor) { return constructor; }",
                false,
            ),
            ("__attribute__((weak)) int a;", true),
            (
                "static void f(void) __attribute__((__constructor__));",
                true,
            ),
            ("[[gnu::section(\".x\")]] int a;", true),
            ("int main(void) { return 0; }", true),
        ] {
            assert_eq!(is_special(text.as_bytes()), special, "{text}");
        }
    }
}
