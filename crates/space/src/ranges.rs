//! ASSIGNMENT that takes a number back into its range: `if (hour >= 24) hour -= 24;`, `if (next == SIZE) next = 0;`, `if (digit > 9) digit -= 9;`,
//! `if (place < 0) place += SIZE;`.
//!
//! Where a range ends, the numbers of the function tell, and the lengths of the arrays whose index it is.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, StmtKind, Storage, UnaryOperator, types::TypeKind,
};

use crate::{
    builder::ASSIGNMENT_COST, choices::Finder, operators::LONGEST, remainders::has_effects,
};

/// The statement, its condition and the number.
const COST: u32 = ASSIGNMENT_COST + 3;

/// Most numbers that are tried.
const MOST_NUMBERS: usize = 4;

/// Smaller numbers tell parities and the like.
const LEAST: i128 = 3;

/// An end of a range.
struct End {
    text: String,
    /// The number before it.
    last: Option<i128>,
}

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let numbers = numbers(finder);
    for standing in finder.statements.clone() {
        let StmtKind::Expression(expr) = finder.function.stmt(standing.id).kind else {
            continue;
        };
        let (target, is_step) = match finder.function.expr(finder.function.stripped(expr)).kind {
            ExprKind::Assign {
                target, operator, ..
            } if operator != Some(BinaryOperator::Rem) => (target, false),
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => (operand, true),
            _ => continue,
        };
        let target = finder.function.stripped(target);
        let (ty, place) = {
            let target = finder.function.expr(target);
            (target.ty, target.place)
        };
        let is_enumeration = matches!(finder.builder.unit.types.kind(ty), TypeKind::Enum { .. });
        let ctype = finder.builder.ctype(ty);
        let is_number =
            ctype.is_some_and(|ctype| ctype.is_integer() && ctype.value_type().size() > 1);
        let Some(span) = place.editable() else {
            continue;
        };
        let is_left_alone = !is_number
            || is_enumeration
            || !finder.is_short(standing.span, LONGEST)
            || finder.has_statements(expr)
            || has_effects(finder, target);
        if is_left_alone {
            continue;
        }
        let is_signed = ctype.is_some_and(|ctype| ctype.value_type().is_signed_integer());
        let v = finder.plain(span);
        let mut ends = lengths(finder, &v);
        ends.extend(numbers.iter().map(|&number| End {
            text: number.to_string(),
            last: number.checked_sub(1),
        }));
        ends.truncate(MOST_NUMBERS);
        let mut texts: Vec<String> = Vec::new();
        for end in ends {
            let m = &end.text;
            texts.push(format!("if ({v} == {m}) {v} = 0;"));
            if !is_step {
                texts.push(format!("if ({v} >= {m}) {v} -= {m};"));
                texts.push(format!("if ({v} > {m}) {v} -= {m};"));
                if let Some(last) = end.last {
                    texts.push(format!("if ({v} > {last}) {v} -= {last};"));
                }
            }
            if is_signed {
                texts.push(format!("if ({v} < 0) {v} += {m};"));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        finder.add_behind(&standing, COST, texts);
    }
}

/// The numbers of the function, those first that stand there most often.
fn numbers(finder: &Finder<'_, '_, '_>) -> Vec<i128> {
    let mut found: Vec<(usize, i128)> = Vec::new();
    for expr in &finder.function.exprs {
        let ExprKind::Integer {
            value,
            character: false,
            enumerator: None,
        } = expr.kind
        else {
            continue;
        };
        if value < LEAST || !expr.evaluated || expr.place.editable().is_none() {
            continue;
        }
        match found.iter_mut().find(|(_, known)| *known == value) {
            Some((times, _)) => *times += 1,
            None => found.push((1, value)),
        }
    }
    found.sort_by_key(|&(times, _)| std::cmp::Reverse(times));
    found.into_iter().map(|(_, value)| value).collect()
}

/// What stands in the brackets where arrays are declared whose index is `v`, if that is one word.
fn lengths(finder: &Finder<'_, '_, '_>, v: &str) -> Vec<End> {
    let function = finder.function;
    let unit = &finder.builder.unit;
    let text = |id: ExprId| {
        let span = function.expr(function.stripped(id)).place.editable()?;
        Some(finder.plain(span))
    };
    let mut found: Vec<End> = Vec::new();
    for expr in &function.exprs {
        let ExprKind::Subscript { base, index } = expr.kind else {
            continue;
        };
        let ExprKind::Variable(id) = function.expr(function.stripped(base)).kind else {
            continue;
        };
        let variable = unit.variable(id);
        let is_array = matches!(unit.types.kind(variable.ty), TypeKind::Array(..));
        if !is_array || variable.storage == Storage::Parameter || text(index).as_deref() != Some(v)
        {
            continue;
        }
        let length = (|| {
            let declared = unit.source.get(variable.declared_at? as usize..)?;
            let end = declared.iter().position(|byte| *byte == b']')?;
            let declared = std::str::from_utf8(&declared[..end]).ok()?;
            let behind = declared.strip_prefix(variable.name.as_str())?;
            let length = behind.trim_start().strip_prefix('[')?.trim();
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_one = !length.is_empty() && length.chars().all(is_word);
            is_one.then(|| length.to_owned())
        })();
        if let Some(length) = length
            && !found.iter().any(|known| known.text == length)
        {
            let last = length.parse::<i128>().ok().and_then(|n| n.checked_sub(1));
            found.push(End { text: length, last });
        }
    }
    found
}
