//! FORMAT by what is passed: `scanf("%d", &n)` for `scanf("%d", n)`, `printf("%d", n)` for `printf("%d", &n)`, `printf("%f", n / 2.0)`
//! for `printf("%f", n / 2)`, a conversion for what has none, a variable for a conversion that has nothing.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, VarId, lex,
    types::{IntegerKind, TypeId, TypeKind},
};
use patchwright_text::{Edit, Span};

use crate::{
    calls::{Argument, Call},
    choices::{Alternative, Finder},
    formats::{Conversion, Use, Value, conversions, value},
    operators::within,
    own_calls::innermost,
    space::Schema,
};

/// Compilers warn of each of these.
const PASSED_COST: u32 = 1;

/// A conversion, and where it stands.
const CONVERSION_COST: u32 = 2;

/// Which variable it is.
const VARIABLE_COST: u32 = 2;

/// Most variables that are passed to a conversion that has nothing.
const MOST_VARIABLES: usize = 6;

/// Most places at which a conversion is inserted.
const MOST_PLACES: usize = 8;

/// Other arguments behind the text of a format, and other conversions for them. `number` is that of the text among the arguments, and
/// `span` lies between its quotation marks.
pub(crate) fn find(
    finder: &mut Finder<'_, '_, '_>,
    call: &Call,
    (number, use_): (usize, Use),
    (text, span): (&str, Span),
    found: &mut Vec<Alternative>,
) {
    if use_ == Use::Plain {
        return;
    }
    let Some(conversions) = conversions(text, use_) else {
        return;
    };
    let passed = &call.arguments[number + 1..];
    let taken = conversions.iter().filter_map(|one| one.argument).max();
    let taken = taken.map_or(0, |last| last + 1);
    let edits: Vec<Edit> = conversions
        .iter()
        .filter_map(|one| {
            let argument = passed.get(one.argument?)?;
            let text = corrected(finder, argument, use_, &text[one.letter..one.end])?;
            Some(Edit::replace(argument.span, text))
        })
        .collect();
    if let (Some(first), Some(last)) = (edits.first(), edits.last()) {
        // From the first of them to the last, as one edit.
        let whole = Span::new(first.span.start, last.span.end);
        let mut new = String::new();
        let mut at = whole.start;
        for edit in &edits {
            new.push_str(&finder.text(Span::new(at, edit.span.start)));
            new.push_str(&String::from_utf8_lossy(&edit.text));
            at = edit.span.end;
        }
        add(finder, call, PASSED_COST, Edit::replace(whole, new), found);
    }
    let types = &finder.builder.unit.types;
    let texts: Vec<(u32, String)> = match passed.len().checked_sub(taken) {
        Some(more) if more > 0 => {
            let values = passed[taken..].iter();
            let values: Vec<String> = values
                .filter_map(|argument| conversion(types, argument.ty, use_))
                .collect();
            match values.len() == more {
                true => with_conversions(text, use_, &conversions, &values),
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    for (cost, text) in texts {
        add(finder, call, cost, Edit::replace(span, text), found);
    }
    if use_ == Use::Output && taken == passed.len() + 1 {
        let missing = conversions
            .iter()
            .find(|one| one.argument == Some(passed.len()));
        let letter = missing.map(|one| text[one.letter..one.end].to_owned());
        let end = call.arguments.last().map_or(span.end, |last| last.span.end);
        for name in letter.map_or_else(Vec::new, |letter| fitting(finder, call, &letter)) {
            let edit = Edit::insert(end, format!(", {name}"));
            add(finder, call, VARIABLE_COST, edit, found);
        }
    }
}

fn add(
    finder: &Finder<'_, '_, '_>,
    call: &Call,
    cost: u32,
    edit: Edit,
    found: &mut Vec<Alternative>,
) {
    found.push(Alternative {
        schema: Schema::Format,
        cost,
        woven: within(finder, call.span, &edit),
        edit,
    });
}

fn is_number(finder: &Finder<'_, '_, '_>, ty: TypeId) -> bool {
    let types = &finder.builder.unit.types;
    matches!(types.kind(ty), TypeKind::Integer(_) | TypeKind::Float(_))
}

fn is_integer(finder: &Finder<'_, '_, '_>, ty: TypeId) -> bool {
    let types = &finder.builder.unit.types;
    matches!(types.kind(ty), TypeKind::Integer(_))
}

/// An integer as a floating number: `sum / 2.0` for `sum / 2`, `(double)sum / n` for `sum / n`.
fn as_floating(finder: &Finder<'_, '_, '_>, argument: &Argument) -> String {
    let function = finder.function;
    let expr = function.expr(function.stripped(argument.id));
    let span_of = |id: ExprId| function.expr(id).place.editable();
    if let ExprKind::Binary {
        operator: BinaryOperator::Div,
        left,
        right,
    } = expr.kind
        && let (Some(whole), Some(left), Some(right)) =
            (expr.place.editable(), span_of(left), span_of(right))
    {
        let text = |from: u32, to: u32| finder.text(Span::new(from, to));
        let divisor = text(right.start, right.end);
        if divisor.bytes().all(|byte| byte.is_ascii_digit()) {
            let before = text(whole.start, right.start);
            return format!("{before}{divisor}.0");
        }
        let dividend = text(left.start, left.end);
        let is_one = lex::is_words(&dividend);
        let is_grouped = dividend.starts_with('(') && dividend.ends_with(')');
        if is_one || is_grouped {
            return format!("(double){}", argument.text);
        }
    }
    match argument.is_object {
        true => format!("(double){}", argument.text),
        false => format!("(double)({})", argument.text),
    }
}

/// What is to be passed in the place of an argument, if its conversion wants an address of it, or what lies there.
fn corrected(
    finder: &Finder<'_, '_, '_>,
    argument: &Argument,
    use_: Use,
    letter: &str,
) -> Option<String> {
    let types = &finder.builder.unit.types;
    let wants_number = matches!(
        letter,
        "d" | "i" | "u" | "x" | "X" | "o" | "f" | "F" | "e" | "E" | "g" | "G" | "c"
    );
    let pointed = match *types.kind(argument.ty) {
        TypeKind::Pointer(to) => Some(to),
        _ => None,
    };
    let text = &argument.text;
    let without_address = || {
        text.strip_prefix('&')
            .map(|rest| rest.trim_start().to_owned())
    };
    match use_ {
        Use::Input if wants_number && argument.is_object && is_number(finder, argument.ty) => {
            Some(format!("&{text}"))
        }
        // `&p` where `p` points to a number.
        Use::Input if wants_number => {
            let to = types.element(pointed?)?;
            is_number(finder, to).then(without_address)?
        }
        // A calculation with integers, of which a fraction is wanted.
        Use::Output if "fFeEgG".contains(letter) && is_integer(finder, argument.ty) => {
            Some(as_floating(finder, argument))
        }
        Use::Output if wants_number && is_number(finder, pointed?) => {
            let starred = argument.is_object.then(|| format!("*{text}"));
            without_address().or(starred)
        }
        _ => None,
    }
}

/// The conversion for what is passed.
fn conversion(
    types: &patchwright_csource::types::TypeTable,
    ty: TypeId,
    use_: Use,
) -> Option<String> {
    use IntegerKind::{Char, SignedChar, UnsignedChar};
    let is_character = matches!(
        types.kind(ty),
        TypeKind::Integer(Char | SignedChar | UnsignedChar)
    );
    let is_one = use_ == Use::Output && is_character;
    Some(match value(types, ty, use_ == Use::Input) {
        _ if is_one => "%c".to_owned(),
        Value::Integer(length, true) => format!("%{length}d"),
        Value::Integer(length, false) => format!("%{length}u"),
        Value::Floating(length) => format!("%{length}f"),
        Value::Text => "%s".to_owned(),
        Value::Other => return None,
    })
}

/// The text with conversions for what has none.
fn with_conversions(
    text: &str,
    use_: Use,
    conversions: &[Conversion],
    values: &[String],
) -> Vec<(u32, String)> {
    // What stands between others.
    let between = match conversions {
        [.., one, other] => &text[one.end..other.start],
        _ => "",
    };
    let separators = match (between, use_) {
        ("", Use::Input) => vec![" "],
        ("", _) => vec![" ", ""],
        (between, _) => vec![between],
    };
    let last = conversions.last().map_or(0, |one| one.end);
    let mut found = Vec::new();
    if !conversions.is_empty() {
        for separator in separators {
            let added: String = values
                .iter()
                .map(|one| format!("{separator}{one}"))
                .collect();
            found.push(format!("{}{added}{}", &text[..last], &text[last..]));
        }
    }
    if let ([value], Use::Output) = (values, use_) {
        let mut places = places(text, conversions);
        places.truncate(MOST_PLACES);
        for at in places {
            found.push(format!("{}{value}{}", &text[..at], &text[at..]));
        }
    } else if conversions.is_empty() {
        found.push(format!("{text}{}", values.join(" ")));
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|text| seen.insert(text.clone()));
    found
        .into_iter()
        .map(|text| (CONVERSION_COST, text))
        .collect()
}

/// Where words begin and end in a text, outside of conversions; its end, or that of the line that it ends, comes first.
fn places(text: &str, conversions: &[Conversion]) -> Vec<usize> {
    let end = text.strip_suffix("\\n").unwrap_or(text).len();
    let mut found = vec![end];
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_inside = conversions.iter().any(|one| one.start < at && at < one.end);
        let is_boundary = c.is_alphanumeric() != before.is_alphanumeric();
        if !is_inside && before != '\\' && is_boundary && at != end {
            found.push(at);
        }
        before = c;
    }
    found
}

/// The variables that a conversion may print.
fn fitting(finder: &mut Finder<'_, '_, '_>, call: &Call, letter: &str) -> Vec<String> {
    let Some(standing) = innermost(finder, call.span) else {
        return Vec::new();
    };
    let ids: Vec<VarId> = standing.scope.assigned.iter().rev().copied().collect();
    let types = &finder.builder.unit.types;
    let is_wanted = |id: &VarId| {
        let ty = finder.builder.unit.variable(*id).ty;
        matches!(
            (value(types, ty, false), letter),
            (Value::Integer(..), "d" | "i" | "u" | "x" | "X" | "o" | "c")
                | (Value::Floating(_), "f" | "F" | "e" | "E" | "g" | "G")
                | (Value::Text, "s")
        )
    };
    let wanted = ids.into_iter().filter(is_wanted).take(MOST_VARIABLES);
    wanted
        .map(|id| finder.builder.unit.variable(id).name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_come_behind_others_or_between_words() {
        let texts = |text: &str, use_: Use, values: &[&str]| -> Vec<String> {
            let values: Vec<String> = values.iter().map(|one| (*one).to_owned()).collect();
            let conversions = conversions(text, use_).unwrap();
            let found = with_conversions(text, use_, &conversions, &values);
            found.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts("%d", Use::Input, &["%lf"]), ["%d %lf"]);
        assert_eq!(texts("%d,%d", Use::Input, &["%d"]), ["%d,%d,%d"]);
        assert_eq!(texts("", Use::Input, &["%d", "%d"]), ["%d %d"]);
        let found = texts("Sum: \\n", Use::Output, &["%d"]);
        assert_eq!(found[0], "Sum: %d\\n");
        let found = texts("%d of\\n", Use::Output, &["%d"]);
        assert!(found.contains(&"%d of%d\\n".to_owned()), "{found:?}");
    }
}
