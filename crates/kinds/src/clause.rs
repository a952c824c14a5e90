//! What a kind asks of its holes, and what it tries for them: `where` and `each`.

use crate::{
    c_text::{Wrong, pattern},
    syntax::Pattern,
};

/// What a `where` asks.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// `$x is integer or pointer`, `$x is not call`
    Is {
        hole: String,
        not: bool,
        any: Vec<Trait>,
    },
    /// `$x equals $y`, `$x differs from $y`: the same tree.
    Equal {
        one: String,
        other: String,
        not: bool,
    },
    /// `$x has the type of $y`
    SameType { one: String, other: String },
    /// `function has PATTERN or PATTERN`, `$S lacks PATTERN`
    Has {
        inside: Inside,
        not: bool,
        any: Vec<Pattern>,
    },
    /// `$x precedes $y`
    Before { one: String, other: String },
    /// `declared strcmp`
    Declared(String),
    /// `$n >= 3`
    Compared {
        hole: String,
        comparison: Comparison,
        number: i128,
    },
    /// `$x mentions $v`, `$x omits $v`
    Mentions {
        whole: String,
        part: String,
        not: bool,
    },
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    Greater,
}

impl Comparison {
    /// Whether the comparison holds for two numbers.
    pub(crate) fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Equal => left == right,
            Comparison::Unequal => left != right,
            Comparison::AtLeast => left >= right,
            Comparison::Greater => left > right,
        }
    }
}

/// Where something is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    Function,
    File,
    /// What a hole stands for.
    Hole(String),
    /// The statement that the change is in.
    Statement,
}

/// What can be said of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trait {
    // Of its type.
    Integer,
    Signed,
    Unsigned,
    Floating,
    Number,
    Pointer,
    Text,
    Array,
    Enumeration,
    /// An integer or enumeration of one byte.
    Byte,
    // Of an expression.
    Variable,
    Local,
    Parameter,
    Member,
    Element,
    Literal,
    Character,
    /// A literal text.
    Words,
    Null,
    Call,
    Calculation,
    Comparison,
    Pure,
    /// Nobody looks at its value.
    Unused,
    /// Only its truth is looked at.
    Condition,
    /// It is assigned, returned, passed, or what a variable begins with.
    Given,
    // Of a statement.
    Jump,
    Step,
    Block,
    Loop,
    If,
    Simple,
    Declaration,
    /// It is the last one of its block.
    Last,
    /// `break` can stand there.
    InSwitchOrLoop,
    /// `continue` can stand there.
    InLoop,
    /// It stands alone where the grammar wants one statement.
    Body,
}

/// All, each with its name in files and what it says.
pub(crate) const TRAITS: &[(&str, Trait)] = &[
    ("integer", Trait::Integer),
    ("signed", Trait::Signed),
    ("unsigned", Trait::Unsigned),
    ("floating", Trait::Floating),
    ("number", Trait::Number),
    ("pointer", Trait::Pointer),
    ("text", Trait::Text),
    ("array", Trait::Array),
    ("enumeration", Trait::Enumeration),
    ("byte", Trait::Byte),
    ("variable", Trait::Variable),
    ("local", Trait::Local),
    ("parameter", Trait::Parameter),
    ("member", Trait::Member),
    ("element", Trait::Element),
    ("literal", Trait::Literal),
    ("character", Trait::Character),
    ("words", Trait::Words),
    ("null", Trait::Null),
    ("call", Trait::Call),
    ("calculation", Trait::Calculation),
    ("comparison", Trait::Comparison),
    ("pure", Trait::Pure),
    ("unused", Trait::Unused),
    ("condition", Trait::Condition),
    ("given", Trait::Given),
    ("jump", Trait::Jump),
    ("step", Trait::Step),
    ("block", Trait::Block),
    ("loop", Trait::Loop),
    ("if", Trait::If),
    ("simple", Trait::Simple),
    ("declaration", Trait::Declaration),
    ("last", Trait::Last),
    ("breakable", Trait::InSwitchOrLoop),
    ("in-loop", Trait::InLoop),
    ("body", Trait::Body),
];

/// A clause `each $v of DOMAIN`: the values that a hole tries.
#[derive(Clone, Debug)]
pub(crate) struct Each {
    pub(crate) hole: String,
    pub(crate) domains: Vec<Domain>,
    /// No more of them are tried in one place.
    pub(crate) most: usize,
}

/// The values that an `each` goes through.
#[derive(Clone, Debug)]
pub(crate) enum Domain {
    /// `variables with the type of $x`: those that have a value there.
    Variables { like: String },
    /// `members beside $m`: of the same structure and type.
    Members { beside: String },
    /// `numbers of function`: its constants, those first that stand there most often.
    Numbers,
    /// `lengths of arrays at $i`: of the arrays whose index it is.
    Lengths { index: String },
    /// `neighbours of <cmp>`: the operator with which it is mixed up.
    Neighbours { of: String },
    /// `others of <cmp>`: all others of its class.
    Others { of: String },
    /// `elements of $p`: the type of what it points to.
    Elements { of: String },
    /// `parts of function like PATTERN`: what its hole of this name stands for.
    Parts { inside: Inside, any: Vec<Pattern> },
    /// `copies of $S with another member`: the text with one of the members that it names at least twice exchanged for another one.
    Copies { of: String },
    /// `statements of file like PATTERN or PATTERN`: whole statements, as they would be written here.
    Statements { inside: Inside, any: Vec<Pattern> },
    /// `jumps`: `continue;` and `break;`, where these can stand.
    Jumps,
    /// `exits`: statements that leave the function, or the round of a loop.
    Exits,
    /// `functions with the type of $f`
    Functions { like: String },
}

/// The part of a text with the byte at which it begins.
type Rest<'t> = (&'t str, usize);

fn word<'t>((text, at): Rest<'t>) -> (&'t str, Rest<'t>) {
    let skipped = text.len() - text.trim_start().len();
    let text = &text[skipped..];
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], (&text[end..], at + skipped + end))
}

fn start((text, at): Rest<'_>) -> usize {
    at + text.len() - text.trim_start().len()
}

fn wrong(at: usize, message: impl Into<String>) -> Wrong {
    Wrong {
        at,
        message: message.into(),
    }
}

/// The name of a hole: that behind `$`, or in angle brackets.
fn hole(word: &str, at: usize) -> Result<String, Wrong> {
    let name = word.strip_prefix("$..").or_else(|| word.strip_prefix('$'));
    let name = name.or_else(|| word.strip_prefix('<')?.strip_suffix('>'));
    match name.filter(|name| !name.is_empty()) {
        Some(name) => Ok(name.to_owned()),
        None => Err(wrong(at, format!("`{word}` is no hole such as `$x`"))),
    }
}

fn expect<'t>(rest: Rest<'t>, words: &[&str]) -> Result<Rest<'t>, Wrong> {
    let mut rest = rest;
    for wanted in words {
        let at = start(rest);
        let (found, next) = word(rest);
        if found != *wanted {
            let wanted = words.join(" ");
            return Err(wrong(at, format!("`{wanted}` is expected here")));
        }
        rest = next;
    }
    Ok(rest)
}

fn end(rest: Rest<'_>) -> Result<(), Wrong> {
    match rest.0.trim().is_empty() {
        true => Ok(()),
        false => Err(wrong(start(rest), "nothing is expected behind this clause")),
    }
}

fn inside(word: &str, at: usize) -> Result<Inside, Wrong> {
    Ok(match word {
        "function" => Inside::Function,
        "file" => Inside::File,
        "statement" => Inside::Statement,
        _ => Inside::Hole(hole(word, at)?),
    })
}

fn rest_pattern(rest: Rest<'_>) -> Result<Pattern, Wrong> {
    let at = start(rest);
    pattern(rest.0.trim()).map_err(|error| wrong(at + error.at, error.message))
}

/// Patterns with `or` between them.
fn patterns((text, at): Rest<'_>) -> Result<Vec<Pattern>, Wrong> {
    let mut any = Vec::new();
    let mut from = at;
    for text in text.split(" or ") {
        any.push(rest_pattern((text, from))?);
        from += text.len() + " or ".len();
    }
    Ok(any)
}

/// Reads what stands behind `where`.
pub(crate) fn condition(text: &str) -> Result<Condition, Wrong> {
    let all = (text, 0);
    let at = start(all);
    let (first, rest) = word(all);
    if first == "declared" {
        let (name, rest) = word(rest);
        end(rest)?;
        return Ok(Condition::Declared(name.to_owned()));
    }
    let verb_at = start(rest);
    let (verb, rest) = word(rest);
    match verb {
        "is" => {
            let (next, after) = word(rest);
            let (not, mut rest) = match next {
                "not" => (true, after),
                _ => (false, rest),
            };
            let mut any = Vec::new();
            loop {
                let at = start(rest);
                let (name, after) = word(rest);
                let known = TRAITS.iter().find(|(known, _)| *known == name);
                let Some((_, known)) = known else {
                    let names: Vec<&str> = TRAITS.iter().map(|(name, _)| *name).collect();
                    return Err(wrong(
                        at,
                        format!(
                            "`{name}` is nothing that can be asked; there are {}",
                            names.join(", ")
                        ),
                    ));
                };
                any.push(*known);
                rest = after;
                match word(rest) {
                    ("or", after) => rest = after,
                    _ => break,
                }
            }
            end(rest)?;
            // No name stands for the statement that the change is in.
            let hole = match first {
                "statement" => String::new(),
                _ => hole(first, at)?,
            };
            Ok(Condition::Is { hole, not, any })
        }
        "equals" | "differs" => {
            let not = verb == "differs";
            let rest = if not { expect(rest, &["from"])? } else { rest };
            let other_at = start(rest);
            let (other, rest) = word(rest);
            end(rest)?;
            Ok(Condition::Equal {
                one: hole(first, at)?,
                other: hole(other, other_at)?,
                not,
            })
        }
        "mentions" | "omits" => {
            let part_at = start(rest);
            let (part, rest) = word(rest);
            end(rest)?;
            Ok(Condition::Mentions {
                whole: hole(first, at)?,
                part: hole(part, part_at)?,
                not: verb == "omits",
            })
        }
        "precedes" => {
            let other_at = start(rest);
            let (other, rest) = word(rest);
            end(rest)?;
            Ok(Condition::Before {
                one: hole(first, at)?,
                other: hole(other, other_at)?,
            })
        }
        "has" if word(rest).0 == "the" => {
            let rest = expect(rest, &["the", "type", "of"])?;
            let other_at = start(rest);
            let (other, rest) = word(rest);
            end(rest)?;
            Ok(Condition::SameType {
                one: hole(first, at)?,
                other: hole(other, other_at)?,
            })
        }
        "has" | "lacks" => Ok(Condition::Has {
            inside: inside(first, at)?,
            not: verb == "lacks",
            any: patterns(rest)?,
        }),
        _ => {
            let comparison = match verb {
                "<" => Comparison::Less,
                "<=" => Comparison::AtMost,
                "=" => Comparison::Equal,
                "!=" => Comparison::Unequal,
                ">=" => Comparison::AtLeast,
                ">" => Comparison::Greater,
                _ => {
                    return Err(wrong(
                        verb_at,
                        "a hole is followed by `is`, `equals`, `differs from`, `has`, `lacks`, `mentions`, `omits`, `precedes`, or a comparison with a number",
                    ));
                }
            };
            let number_at = start(rest);
            let (number, rest) = word(rest);
            end(rest)?;
            let number = number
                .parse()
                .map_err(|_| wrong(number_at, format!("`{number}` is no number")))?;
            Ok(Condition::Compared {
                hole: hole(first, at)?,
                comparison,
                number,
            })
        }
    }
}

/// The largest number of values of a hole that are tried at one place, unless the kind sets it.
const MOST_VALUES: usize = 4;

/// Reads what stands behind `each`.
pub(crate) fn each(text: &str) -> Result<Each, Wrong> {
    let at = start((text, 0));
    let (name, mut rest) = word((text, 0));
    let name = hole(name, at)?;
    let mut most = MOST_VALUES;
    if let ("of", after) = word(rest) {
        rest = after;
    } else {
        let rest_of = expect(rest, &["of", "at", "most"]);
        return Err(rest_of
            .err()
            .unwrap_or_else(|| wrong(at, "`of` is expected")));
    }
    if let ("at", _) = word(rest) {
        let after = expect(rest, &["at", "most"])?;
        let number_at = start(after);
        let (number, after) = word(after);
        most = number
            .parse()
            .map_err(|_| wrong(number_at, format!("`{number}` is no number")))?;
        rest = after;
    }
    let mut domains = Vec::new();
    let mut at = rest.1;
    // What stands behind `like` is a pattern to the end.
    let is_one = rest.0.contains(" like ");
    let texts: Vec<&str> = match is_one {
        true => vec![rest.0],
        false => rest.0.split(" or ").collect(),
    };
    for text in texts {
        domains.push(domain(&name, (text, at))?);
        at += text.len() + " or ".len();
    }
    Ok(Each {
        hole: name,
        domains,
        most,
    })
}

/// Reads one of the lists that an `each` goes through for the hole `name`.
fn domain(name: &str, rest: Rest<'_>) -> Result<Domain, Wrong> {
    let domain_at = start(rest);
    let (first, rest) = word(rest);
    let one = |rest: Rest<'_>| -> Result<String, Wrong> {
        let at = start(rest);
        let (word, rest) = word(rest);
        end(rest)?;
        hole(word, at)
    };
    Ok(match first {
        "variables" => Domain::Variables {
            like: one(expect(rest, &["with", "the", "type", "of"])?)?,
        },
        "functions" => Domain::Functions {
            like: one(expect(rest, &["with", "the", "type", "of"])?)?,
        },
        "members" => Domain::Members {
            beside: one(expect(rest, &["beside"])?)?,
        },
        "numbers" => {
            end(expect(rest, &["of", "function"])?)?;
            Domain::Numbers
        }
        "jumps" => {
            end(rest)?;
            Domain::Jumps
        }
        "exits" => {
            end(rest)?;
            Domain::Exits
        }
        "lengths" => Domain::Lengths {
            index: one(expect(rest, &["of", "arrays", "at"])?)?,
        },
        "neighbours" => Domain::Neighbours {
            of: one(expect(rest, &["of"])?)?,
        },
        "others" => Domain::Others {
            of: one(expect(rest, &["of"])?)?,
        },
        "elements" => Domain::Elements {
            of: one(expect(rest, &["of"])?)?,
        },
        "copies" => {
            let rest = expect(rest, &["of"])?;
            let at = start(rest);
            let (of, rest) = word(rest);
            end(expect(rest, &["with", "another", "member"])?)?;
            Domain::Copies { of: hole(of, at)? }
        }
        "statements" => {
            let rest = expect(rest, &["of"])?;
            let at = start(rest);
            let (place, rest) = word(rest);
            let inside = inside(place, at)?;
            let any = patterns(expect(rest, &["like"])?)?;
            if any.iter().any(|pattern| pattern.statements().len() != 1) {
                return Err(wrong(domain_at, "each pattern is one statement"));
            }
            Domain::Statements { inside, any }
        }
        "parts" => {
            let rest = expect(rest, &["of"])?;
            let at = start(rest);
            let (place, rest) = word(rest);
            let inside = inside(place, at)?;
            let pattern_at = start(expect(rest, &["like"])?);
            let any = patterns(expect(rest, &["like"])?)?;
            if !any.iter().all(|pattern| pattern.holes().contains(&name)) {
                return Err(wrong(
                    pattern_at,
                    format!("the pattern has no hole `${name}`, which it shall fill"),
                ));
            }
            Domain::Parts { inside, any }
        }
        other => {
            return Err(wrong(
                domain_at,
                format!(
                    "`{other}` is nothing to go through; there are variables, functions, members, numbers, exits, jumps, lengths, neighbours, others, elements, copies, statements, parts"
                ),
            ));
        }
    })
}
