//! Names in C what lies behind arguments. Inputs, objects and harnesses use the same names.

use crate::options::Shape;

/// A name, so that something can stand behind it: a star binds less.
fn wrapped(name: &str) -> String {
    match name.starts_with('*') {
        true => format!("({name})"),
        false => name.to_owned(),
    }
}

/// Returns the C expression of pointer `name` cast to the type `to`.
pub fn cast(name: &str, to: &str) -> String {
    format!("(({to}){})", wrapped(name))
}

/// Returns the name of all objects behind a pointer together: `*p`, or `p` if there are several.
pub fn pointed(name: &str, count: u64) -> String {
    match count {
        1 => format!("*{name}"),
        _ => name.to_owned(),
    }
}

/// Returns the name of the object `index` behind a pointer. For a single structure it is the beginning of
/// its members' names.
pub fn behind(name: &str, count: u64, index: u64, to: &Shape) -> String {
    match (count, to) {
        (1, Shape::Record { .. }) => format!("{}->", wrapped(name)),
        (1, _) => format!("*{name}"),
        _ => element(name, index),
    }
}

/// Returns the C expression of member `member` of the object called `name`: `s.m`, or `p->m` for `*p` and for the beginnings of
/// names that [`behind`] returns.
pub fn member(name: &str, member: &str) -> String {
    if name.ends_with("->") {
        return format!("{name}{member}");
    }
    match name.strip_prefix('*') {
        Some(pointer) => format!("{}->{member}", wrapped(pointer)),
        None => format!("{name}.{member}"),
    }
}

/// Returns the name of an element of an array, or of an object behind a pointer.
pub fn element(name: &str, index: u64) -> String {
    format!("{}[{index}]", wrapped(name))
}

/// Returns the name of an object before the one to which a pointer points. `index` counts from 1 towards
/// the beginning.
pub fn before_it(name: &str, index: u64) -> String {
    format!("{}[-{index}]", wrapped(name))
}

/// Whether `name` is the name of an object behind the pointer `pointer`.
pub fn is_behind(name: &str, pointer: &str) -> bool {
    let is_part = patchwright_ctext::is_word_char;
    let mut rest = name;
    // `*p`, `p->x`, `p[1]`, `(*p)[1]`, `((unsigned char *)p)[1]`; and `p - q` is none of these.
    while let Some(at) = rest.find(pointer) {
        let (before, behind) = (&rest[..at], &rest[at + pointer.len()..]);
        let is_whole = !before.ends_with(is_part) && !behind.starts_with(is_part);
        let is_member = before.ends_with("->") || before.ends_with('.');
        if is_whole && !is_member {
            let behind = behind.trim_start_matches(')');
            let is_led_from = behind.starts_with("->") || behind.starts_with('[');
            let is_star =
                before.ends_with('*') && !before.ends_with(" *") || before.starts_with("*(");
            return is_led_from || is_star;
        }
        rest = behind;
    }
    false
}

/// Returns the beginning of the names of the inputs that calls of a function behind `pointer` return.
pub fn given_by(pointer: &str) -> String {
    format!("{}_gives", as_word(pointer))
}

/// Returns the name of the input that says how many elements lie before what `pointer` points to.
pub fn before(pointer: &str) -> String {
    format!("before_{}", as_word(pointer))
}

/// The name of a pointer as one word of C.
fn as_word(pointer: &str) -> String {
    let mut name = String::new();
    for c in pointer.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => name.push(c),
            _ if name.ends_with('_') || name.is_empty() => {}
            _ => name.push('_'),
        }
    }
    name.trim_end_matches('_').to_owned()
}

/// Returns a number for the name of a pointer input or of its target. It is the same in every version of
/// a program.
pub fn number_of_pointer(name: &str) -> u16 {
    // Fowler, Noll and Vo's sum, of 32 bits.
    let mixed = name.bytes().fold(0x811c_9dc5_u32, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    ((mixed >> 16 ^ mixed) as u16).clamp(1, 0xfffe)
}

/// Ends what a value that is not encoded is.
const OPEN: char = '|';

/// The name of the function that stands for a value that is not encoded: what it is, and what tells it from others.
pub(crate) fn open(what: &str, apart: &str) -> String {
    format!("{what}{OPEN}{apart}")
}

/// Returns the description of a value that is not encoded, if `function` of the terms stands for one.
pub fn opened(function: &str) -> Option<&str> {
    function.split_once(OPEN).map(|(what, _)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_behind_a_pointer_are_known() {
        for name in [
            "*p",
            "p->x",
            "p[1]",
            "(*p)[2]",
            "((unsigned char *)p)[1]",
            "*((int *)p)",
            "p->next->x",
        ] {
            assert!(is_behind(name, "p"), "{name}");
        }
        for name in [
            "p",
            "p == NULL",
            "*pp",
            "a->p",
            "q[1]",
            "*q",
            "s->p == NULL",
        ] {
            assert!(!is_behind(name, "p"), "{name}");
        }
        assert!(is_behind("s->p[1]", "s->p"));
        assert!(!is_behind("s->q", "s->p"));
    }

    #[test]
    fn what_is_behind_a_pointer_to_a_pointer_is_in_brackets() {
        let record = Shape::Record {
            size: 4,
            members: Vec::new(),
        };
        let members = behind("*list", 1, 0, &record);
        assert_eq!(member(&members, "key"), "(*list)->key");
        assert_eq!(member("**list", "key"), "(*list)->key");
        assert_eq!(member("*node", "key"), "node->key");
        assert_eq!(element("*rows", 2), "(*rows)[2]");
        assert_eq!(behind("table", 3, 1, &record), "table[1]");
    }
}
