//! Evaluates conditions of `#if` as far as known macros decide them.

use std::collections::BTreeMap;

use patchwright_ctext::{first_word, is_word_start, tokens};
use patchwright_semantics::Precedence;

/// The macros that are known to be defined or undefined. Nothing is known of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Macros {
    known: BTreeMap<String, Meaning>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    /// It is not defined.
    Undefined,
    /// These words stand for it.
    Words(String),
    /// It takes arguments.
    Function,
}

impl Macros {
    /// Reads `-D` and `-U` flags, in order. Other flags are ignored.
    pub fn from_flags<'a>(flags: impl IntoIterator<Item = &'a str>) -> Macros {
        let mut macros = Macros::default();
        let mut flags = flags.into_iter();
        while let Some(flag) = flags.next() {
            let (define, rest) = match (flag.strip_prefix("-D"), flag.strip_prefix("-U")) {
                (Some(rest), _) => (true, rest),
                (_, Some(rest)) => (false, rest),
                _ => continue,
            };
            let rest = match rest {
                "" => flags.next().unwrap_or_default(),
                rest => rest,
            };
            let (name, value) = rest.split_once('=').unwrap_or((rest, "1"));
            let meaning = match define {
                true => Meaning::Words(value.to_owned()),
                false => Meaning::Undefined,
            };
            macros.known.insert(name.to_owned(), meaning);
        }
        macros
    }

    /// Whether no macro is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether a macro is defined; `None` if nothing is known of it.
    pub(crate) fn is_defined(&self, name: &str) -> Option<bool> {
        let meaning = self.known.get(name)?;
        Some(*meaning != Meaning::Undefined)
    }

    /// Reads the text behind `#define`.
    pub(crate) fn define(&mut self, definition: &str) {
        let (name, body) = first_word(definition);
        let meaning = match body.starts_with('(') {
            true => Meaning::Function,
            false => Meaning::Words(body.trim().to_owned()),
        };
        self.known.insert(name.to_owned(), meaning);
    }

    /// Notes that a macro is not defined.
    pub(crate) fn undefine(&mut self, name: &str) {
        self.known.insert(name.to_owned(), Meaning::Undefined);
    }

    /// Forgets a macro: from here on nothing is known of it.
    pub(crate) fn forget(&mut self, name: &str) {
        self.known.remove(name);
    }

    /// The words of a condition, macros that stand for words replaced by them.
    fn expanded<'a>(&'a self, text: &'a str, inside: &mut Vec<&'a str>, found: &mut Vec<&'a str>) {
        let words = words(text);
        let mut at = 0;
        while at < words.len() && found.len() < MOST_WORDS {
            let word = words[at];
            at += 1;
            match self.known.get_key_value(word) {
                Some((name, Meaning::Words(body))) if !inside.contains(&name.as_str()) => {
                    inside.push(name);
                    self.expanded(body, inside, found);
                    inside.pop();
                }
                _ => found.push(word),
            }
            if word == "defined" {
                // Its operand is a name.
                let operand = 1 + usize::from(words.get(at) == Some(&"("));
                found.extend(words.iter().skip(at).take(operand));
                at += operand;
            }
        }
    }

    /// Whether the condition of a conditional directive holds: `word` is `if`, `ifdef`, `elif` and so on. `None` when
    /// it depends on what is not known.
    pub(crate) fn decide(&self, word: &str, condition: &str) -> Option<bool> {
        let name = condition.split_whitespace().next().unwrap_or_default();
        match word {
            "ifdef" | "elifdef" => self.is_defined(name),
            "ifndef" | "elifndef" => self.is_defined(name).map(|defined| !defined),
            "if" | "elif" => {
                let mut expanded = Vec::new();
                self.expanded(condition, &mut Vec::new(), &mut expanded);
                let mut reader = Reader {
                    words: expanded,
                    at: 0,
                    macros: self,
                };
                let value = reader.binary(Precedence::LogicalOr).ok()?;
                match reader.at == reader.words.len() {
                    true => value.map(|value| value != 0),
                    false => None,
                }
            }
            _ => None,
        }
    }
}

/// Macros that double at each step never end.
const MOST_WORDS: usize = 10_000;

/// An integer constant, with its suffix.
fn integer(text: &str) -> Option<i64> {
    let digits = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hexadecimal) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        return i64::from_str_radix(hexadecimal, 16).ok();
    }
    match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => i64::from_str_radix(octal, 8).ok(),
        _ => digits.parse().ok(),
    }
}

fn words(text: &str) -> Vec<&str> {
    let words = tokens(text).into_iter().map(|(word, _)| word);
    words.collect()
}

/// What an operator makes of two numbers, if they have a value.
fn value(operator: &str, a: i64, b: i64) -> Option<i64> {
    let count = || u32::try_from(b).ok().filter(|count| *count < 64);
    match operator {
        "||" => Some(i64::from(a != 0 || b != 0)),
        "&&" => Some(i64::from(a != 0 && b != 0)),
        "==" => Some(i64::from(a == b)),
        "!=" => Some(i64::from(a != b)),
        "<" => Some(i64::from(a < b)),
        "<=" => Some(i64::from(a <= b)),
        ">" => Some(i64::from(a > b)),
        ">=" => Some(i64::from(a >= b)),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        "&" => Some(a & b),
        "^" => Some(a ^ b),
        "|" => Some(a | b),
        "<<" => a.checked_mul(1_i64.checked_shl(count()?).filter(|by| *by > 0)?),
        ">>" => Some(a >> count()?),
        _ => None,
    }
}

/// Reads an expression; a value of `None` is not known, an error no expression.
struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
    macros: &'a Macros,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<&'a str, ()> {
        let word = self.words.get(self.at).copied().ok_or(())?;
        self.at += 1;
        Ok(word)
    }

    fn expect(&mut self, word: &str) -> Result<(), ()> {
        if self.next()? == word {
            Ok(())
        } else {
            Err(())
        }
    }

    /// Operators that bind as tightly as `least` or tighter, and their operands.
    fn binary(&mut self, least: Precedence) -> Result<Option<i64>, ()> {
        let mut left = self.unary()?;
        while let Some(&operator) = self.words.get(self.at) {
            let Some(precedence) = Precedence::of_sign(operator) else {
                break;
            };
            if precedence < least.max(Precedence::LogicalOr) {
                break;
            }
            self.at += 1;
            let right = self.binary(precedence.tighter())?;
            left = match operator {
                "||" if left.is_some_and(|v| v != 0) || right.is_some_and(|v| v != 0) => Some(1),
                "&&" if left == Some(0) || right == Some(0) => Some(0),
                _ => left.zip(right).and_then(|(a, b)| value(operator, a, b)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Option<i64>, ()> {
        let word = self.next()?;
        match word {
            "!" => Ok(self.unary()?.map(|value| i64::from(value == 0))),
            "-" => Ok(self.unary()?.and_then(i64::checked_neg)),
            "+" => self.unary(),
            "(" => {
                let value = self.binary(Precedence::LogicalOr)?;
                self.expect(")")?;
                Ok(value)
            }
            "defined" => {
                let mut name = self.next()?;
                if name == "(" {
                    name = self.next()?;
                    self.expect(")")?;
                }
                Ok(self.macros.is_defined(name).map(i64::from))
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => Ok(integer(word)),
            _ if is_word_start(word.as_bytes()[0]) => {
                match self.macros.known.get(word) {
                    // Of a function-like macro, the arguments follow.
                    _ if self.words.get(self.at) == Some(&"(") => Err(()),
                    // One that stands for itself, or whose arguments are missing, is a plain name, and those count as 0.
                    Some(Meaning::Undefined | Meaning::Words(_) | Meaning::Function) => Ok(Some(0)),
                    None => Ok(None),
                }
            }
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_decided_as_far_as_the_flags_tell() {
        let mut macros = Macros::from_flags(["-O2", "-DA", "-DN=0x10", "-U", "B", "-D", "S=\"x\""]);
        macros.define("TWICE (N * 2)");
        macros.define("MORE TWICE + 1");
        macros.define("EMPTY");
        macros.define("F(x) x");
        macros.define("SELF SELF");
        for (condition, decision) in [
            ("defined A", Some(true)),
            ("defined(A) && !defined (B)", Some(true)),
            ("defined B || X", None),
            ("defined A || X", Some(true)),
            ("B && X > 3", Some(false)),
            ("N >= 15 + 1", Some(true)),
            ("N == 2 * 8 && A", Some(true)),
            ("S", None),
            ("X", None),
            ("HAS(x)", None),
            ("1 +", None),
            ("1 ? 2 : 3", None),
            ("N << 2 == 0x40 && (N | 1) % 2 == 7 / 5", Some(true)),
            ("2 - 1 - 1", Some(false)),
            ("1 / 0", None),
            ("X & 1 && B", Some(false)),
            ("N == 'a'", None),
            ("MORE == 33 && defined MORE && defined(TWICE)", Some(true)),
            ("EMPTY", None),
            ("defined EMPTY", Some(true)),
            ("F(1)", None),
            ("SELF", Some(false)),
            ("0L", Some(false)),
        ] {
            assert_eq!(macros.decide("if", condition), decision, "{condition}");
        }
        assert_eq!(macros.decide("ifdef", "B"), Some(false));
        assert_eq!(macros.decide("ifndef", "A"), Some(false));
        assert_eq!(macros.decide("ifdef", "X"), None);
    }
}
