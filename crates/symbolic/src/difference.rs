//! Computes where two programs over the same inputs behave differently.

use patchwright_ir::Type;
use patchwright_solve::{Term, Terms};

use crate::{
    encoding::{Encoding, InputKind, Output, Piece},
    meaning,
};

/// An observable effect in which two programs differ, with the condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What: `the result`, `the global g`, `the output`…
    pub what: String,
    /// The condition under which both programs end and it differs.
    pub condition: Term,
}

/// All effects in which two programs may differ.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// What differs, and when.
    pub found: Vec<Difference>,
    /// Conditions under which one of them fails, and the other one does not: the first, then the second.
    pub fails: [Option<Term>; 2],
    /// What is not compared, with the reason.
    pub unknown: Vec<String>,
    /// Two different calculations may both give NaN, which counts as the same.
    pub nans: bool,
}

/// Pairs of printed parts that are compared at most.
const MOST_PAIRS: usize = 1 << 18;

/// Compares the effects of two encodings over the same terms. Inputs of one name are the same. Only
/// executions count that satisfy the assumptions and stay within the bound of both.
pub fn difference(terms: &mut Terms, a: &Encoding, b: &Encoding) -> Differences {
    let mut differences = Differences::default();
    let no = terms.truth(false);
    let (ends_a, ends_b) = (a.outcome.ends.unwrap_or(no), b.outcome.ends.unwrap_or(no));
    let fails = |terms: &mut Terms, encoding: &Encoding| {
        terms.or_all(encoding.failures.iter().map(|failure| failure.condition))
    };
    let (fails_a, fails_b) = (fails(terms, a), fails(terms, b));
    let (fine_a, fine_b) = (terms.not(fails_a), terms.not(fails_b));
    for (index, (fails, ends, fine)) in [(fails_a, ends_b, fine_b), (fails_b, ends_a, fine_a)]
        .into_iter()
        .enumerate()
    {
        let alone = terms.and_all([fails, ends, fine]);
        if terms.as_truth(alone) != Some(false) {
            differences.fails[index] = Some(alone);
        }
    }
    let both = terms.and_all([ends_a, ends_b, fine_a, fine_b]);
    let mut nans = false;
    let mut add = |terms: &mut Terms, what: String, differs: Term| {
        let condition = terms.and(both, differs);
        if terms.as_truth(condition) != Some(false) {
            differences.found.push(Difference { what, condition });
        }
    };
    match (a.outcome.result, b.outcome.result) {
        (Some((x, value)), Some((y, other))) if x == y => {
            let differs = unequal(terms, x, value, other, &mut nans);
            add(terms, "the result".to_owned(), differs);
        }
        // What callers see of numbers of different types are their values.
        (Some((x, value)), Some((y, other))) if x.is_integer() && y.is_integer() => {
            let value = widened(terms, x, value);
            let other = widened(terms, y, other);
            let differs = terms.ne(value, other);
            add(terms, "the result".to_owned(), differs);
        }
        (None, None) => {}
        _ => {
            let yes = terms.truth(true);
            add(terms, "the type of the result".to_owned(), yes);
        }
    }
    let exit = |terms: &mut Terms, encoding: &Encoding| {
        let exits = encoding.outcome.exits.iter();
        let mut left = terms.truth(false);
        let mut status = terms.constant(32, 0);
        for &(condition, code) in exits {
            left = terms.or(left, condition);
            status = terms.ite(condition, code, status);
        }
        (left, status)
    };
    let ((exits_a, status_a), (exits_b, status_b)) = (exit(terms, a), exit(terms, b));
    let one = terms.xor(exits_a, exits_b);
    let same = terms.eq(status_a, status_b);
    let other = terms.not(same);
    let differs = terms.or(one, other);
    add(terms, "the exit status".to_owned(), differs);
    let mut unknown = Vec::new();
    for (name, bytes) in &a.outcome.objects {
        let Some((_, others)) = b.outcome.objects.iter().find(|(other, _)| other == name) else {
            continue;
        };
        match objects_differ(terms, bytes, others) {
            Some(differs) => add(terms, format!("what `{name}` holds"), differs),
            None => unknown.push(format!("`{name}` has another size in the other program")),
        }
    }
    for (error, what) in [
        (false, "the output"),
        (true, "the output to standard error"),
    ] {
        match outputs_differ(
            terms,
            &a.outcome.output,
            &b.outcome.output,
            error,
            &mut nans,
        ) {
            Ok(differs) => add(terms, what.to_owned(), differs),
            Err(reason) => unknown.push(format!("{what}: {reason}")),
        }
    }
    differences.unknown = unknown;
    differences.nans = nans;
    differences
}

/// The value of an integer in so many bits that no two integers of different types share one unless they are the same number.
fn widened(terms: &mut Terms, ty: Type, value: Term) -> Term {
    match ty.is_signed() {
        true => terms.sign_extend(value, 128),
        false => terms.zero_extend(value, 128),
    }
}

/// Why inputs of two programs cannot be told to be the same, if one reads standard input by bytes and the other one by `scanf`.
pub fn reads_otherwise(a: &Encoding, b: &Encoding) -> Option<&'static str> {
    let by_bytes = |one: &Encoding| {
        let mut inputs = one.inputs.iter();
        inputs.any(|input| matches!(input.kind, InputKind::Byte(_) | InputKind::Length))
    };
    let by_scanf = |one: &Encoding| {
        let mut inputs = one.inputs.iter();
        inputs.any(|input| {
            matches!(
                input.kind,
                InputKind::Scanned { .. } | InputKind::Present | InputKind::Unfit
            )
        })
    };
    (by_bytes(a) && by_scanf(b) || by_bytes(b) && by_scanf(a))
        .then_some("one reads standard input by bytes, and the other one by `scanf`")
}

/// Returns the condition under which two lists of printed parts, all to one stream, are different texts.
///
/// # Errors
/// The reason why it is not known.
pub fn printed_differently(
    terms: &mut Terms,
    a: &[Output],
    b: &[Output],
) -> Result<Term, &'static str> {
    let plain = outputs_differ(terms, a, b, false, &mut false)?;
    let errors = outputs_differ(terms, a, b, true, &mut false)?;
    Ok(terms.or(plain, errors))
}

/// Whether two values of a type differ; any two NaNs are the same.
fn unequal(terms: &mut Terms, ty: Type, a: Term, b: Term, nans: &mut bool) -> Term {
    let same = terms.eq(a, b);
    let not = terms.not(same);
    let kind = match ty {
        Type::F32 => patchwright_solve::Float::F32,
        Type::F64 => patchwright_solve::Float::F64,
        _ => return not,
    };
    let (x, y) = (terms.float_is_nan(kind, a), terms.float_is_nan(kind, b));
    let both = terms.and(x, y);
    *nans |= a != b && terms.as_truth(both) != Some(false);
    let other = terms.not(both);
    terms.and(not, other)
}

/// The parts of both objects may be of other widths.
fn objects_differ(terms: &mut Terms, a: &[Term], b: &[Term]) -> Option<Term> {
    let bits = |terms: &Terms, parts: &[Term]| -> u32 {
        parts.iter().map(|&part| terms.width(part)).sum()
    };
    if bits(terms, a) != bits(terms, b) {
        return None;
    }
    let mut differs = terms.truth(false);
    let (mut a, mut b) = (a.iter().copied(), b.iter().copied());
    let (mut x, mut y) = (a.next(), b.next());
    while let (Some(left), Some(right)) = (x, y) {
        let (p, q) = (terms.width(left), terms.width(right));
        let width = p.min(q);
        let low = |terms: &mut Terms, term: Term| terms.extract(term, width - 1, 0);
        let (one, other) = (low(terms, left), low(terms, right));
        let same = terms.eq(one, other);
        let here = terms.not(same);
        differs = terms.or(differs, here);
        let rest = |terms: &mut Terms, term: Term, of: u32| {
            (of > width).then(|| terms.extract(term, of - 1, width))
        };
        x = rest(terms, left, p).or_else(|| a.next());
        y = rest(terms, right, q).or_else(|| b.next());
    }
    Some(differs)
}

/// A byte or a value that is printed.
struct Event {
    condition: Term,
    /// How a value is written; empty for a byte.
    spelled: String,
    ty: Type,
    value: Term,
    /// How many are printed before it, in 32 bits; the least and the most.
    before: Term,
    least: usize,
    most: usize,
}

fn events(terms: &mut Terms, output: &[Output], error: bool) -> (Vec<Event>, Term) {
    let mut list = Vec::new();
    let mut count = terms.constant(32, 0);
    let one = terms.constant(32, 1);
    let (mut least, mut most) = (0, 0);
    for printed in output.iter().filter(|printed| printed.error == error) {
        let parts: Vec<(String, Type, Term)> = match &printed.piece {
            Piece::Text(bytes) => bytes
                .iter()
                .map(|&byte| {
                    let byte = terms.constant(8, u128::from(byte));
                    (String::new(), Type::U8, byte)
                })
                .collect(),
            Piece::Byte(byte) => vec![(String::new(), Type::U8, *byte)],
            Piece::Value(spelled, ty, value) => vec![(spelled.clone(), *ty, *value)],
        };
        for (spelled, ty, value) in parts {
            list.push(Event {
                condition: printed.condition,
                spelled,
                ty,
                value,
                before: count,
                least,
                most,
            });
            let next = terms.add(count, one);
            count = terms.ite(printed.condition, next, count);
            most += 1;
            least += usize::from(terms.as_truth(printed.condition) == Some(true));
        }
    }
    (list, count)
}

/// The number of which a plain decimal conversion writes the digits, in 128 bits: two such texts are the same if the numbers are.
fn decimal(terms: &mut Terms, event: &Event) -> Option<Term> {
    let conversion = event.spelled.strip_prefix('%')?;
    let (length, is_signed) = match conversion.split_at_checked(conversion.len().checked_sub(1)?)? {
        (length, "d" | "i") => (length, true),
        (length, "u") => (length, false),
        _ => return None,
    };
    let bits = match length {
        "hh" => 8,
        "h" => 16,
        "" => 32,
        "l" | "ll" | "j" | "z" | "t" => 64,
        _ => return None,
    };
    if !event.ty.is_integer() || terms.width(event.value) < bits {
        return None;
    }
    let number = terms.extract(event.value, bits - 1, 0);
    Some(match is_signed {
        true => terms.sign_extend(number, 128),
        false => terms.zero_extend(number, 128),
    })
}

fn outputs_differ(
    terms: &mut Terms,
    a: &[Output],
    b: &[Output],
    error: bool,
    nans: &mut bool,
) -> Result<Term, &'static str> {
    let (a, count_a) = events(terms, a, error);
    let (b, count_b) = events(terms, b, error);
    if a.len().saturating_mul(b.len()) > MOST_PAIRS {
        return Err("too much is printed to be compared");
    }
    let same = terms.eq(count_a, count_b);
    let mut differs = terms.not(same);
    for x in &a {
        for y in &b {
            if x.most < y.least || y.most < x.least {
                continue;
            }
            let here = terms.eq(x.before, y.before);
            let meet = terms.and_all([x.condition, y.condition, here]);
            if terms.as_truth(meet) == Some(false) {
                continue;
            }
            let other = match x.spelled == y.spelled && meaning::width(x.ty) == meaning::width(y.ty)
            {
                true => unequal(terms, x.ty, x.value, y.value, nans),
                false => match (decimal(terms, x), decimal(terms, y)) {
                    (Some(number), Some(other)) => terms.ne(number, other),
                    // `%d` of 5 and the text `5` look the same; who replays it will see.
                    _ => terms.truth(true),
                },
            };
            let now = terms.and(meet, other);
            differs = terms.or(differs, now);
        }
    }
    Ok(differs)
}
