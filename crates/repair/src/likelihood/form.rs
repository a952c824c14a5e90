//! Classifies changes by what they do to the words and signs of the program, whatever rule made them.

use serde::{Deserialize, Serialize};

use super::tokens::{is_constant, is_in_capitals, is_keyword, is_name, is_number, is_word, value};

/// The form of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Form {
    Nothing,
    BoundaryOperator,
    MirroredOperator,
    EqualityOperator,
    OrderForEquality,
    LogicalOperator,
    ArithmeticOperator,
    AssigningOperator,
    OtherOperator,
    NameForName,
    MemberForName,
    NameForNumber,
    NumberForName,
    NumberByOne,
    OtherNumber,
    OtherConstant,
    OtherText,
    OtherJump,
    OtherType,
    AddedOne,
    AddedNumber,
    AddedOperand,
    RemovedOperand,
    AddedFactor,
    AddedConjunct,
    AddedDisjunct,
    RemovedConjunct,
    RemovedDisjunct,
    AddedComparison,
    RemovedComparison,
    AddedNegation,
    RemovedNegation,
    AddedCast,
    AddedChoice,
    AddedAddress,
    AddedMember,
    RemovedMember,
    AddedCall,
    RemovedCall,
    AddedArgument,
    AddedGuard,
    RemovedGuard,
    AddedElse,
    InsertedCall,
    InsertedAssignment,
    InsertedStep,
    InsertedJump,
    InsertedExit,
    InsertedConditional,
    InsertedDeclaration,
    InsertedSeveral,
    RemovedStatement,
    RemovedCode,
    Moved,
    ReplacedExpression,
    ReplacedStatement,
}

impl Form {
    /// Returns the name of the form in feature names.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_default()
    }

    /// Returns the form of a change that replaces the words and signs `old` by `new`. Both must
    /// differ in their first and in their last word.
    pub fn of(old: &[&[u8]], new: &[&[u8]]) -> Self {
        match (old, new) {
            ([], []) => Form::Nothing,
            ([one], [other]) => replaced(one, other),
            ([], new) => added(new),
            (old, []) => removed(old),
            (old, new) => {
                let sorted = |tokens: &[&[u8]]| -> Vec<Vec<u8>> {
                    let mut sorted: Vec<Vec<u8>> =
                        tokens.iter().map(|token| token.to_vec()).collect();
                    sorted.sort_unstable();
                    sorted
                };
                let is_statement = |tokens: &[&[u8]]| tokens.contains(&&b";"[..]);
                if sorted(old) == sorted(new) {
                    Form::Moved
                } else if is_path(old) && is_path(new) {
                    match old.len().cmp(&new.len()) {
                        std::cmp::Ordering::Less => Form::AddedMember,
                        std::cmp::Ordering::Greater => Form::RemovedMember,
                        std::cmp::Ordering::Equal => Form::MemberForName,
                    }
                } else if new.ends_with(old) || new.starts_with(old) {
                    let rest = match new.ends_with(old) {
                        true => &new[..new.len() - old.len()],
                        false => &new[old.len()..],
                    };
                    added(rest)
                } else if is_statement(old) || is_statement(new) {
                    Form::ReplacedStatement
                } else {
                    Form::ReplacedExpression
                }
            }
        }
    }
}

/// A variable, or the way to a member or an element of one.
fn is_path(tokens: &[&[u8]]) -> bool {
    tokens.iter().all(|token| {
        is_name(token)
            || matches!(*token, b"." | b"->" | b"[" | b"]" | b"*" | b"&")
            || is_number(token)
    }) && tokens.iter().any(|token| is_name(token))
}

fn is_order(sign: &[u8]) -> bool {
    matches!(sign, b"<" | b"<=" | b">" | b">=")
}

fn is_equality(sign: &[u8]) -> bool {
    matches!(sign, b"==" | b"!=")
}

fn is_jump(word: &[u8]) -> bool {
    matches!(word, b"return" | b"break" | b"continue" | b"goto")
}

/// One token in place of another.
fn replaced(one: &[u8], other: &[u8]) -> Form {
    let pair = (one, other);
    let is_arithmetic = |sign: &[u8]| matches!(sign, b"+" | b"-" | b"*" | b"/" | b"%");
    let is_assigning = |sign: &[u8]| {
        matches!(
            sign,
            b"=" | b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"&=" | b"|=" | b"^=" | b"<<=" | b">>="
        )
    };
    if is_order(one) && is_order(other) {
        return match one[0] == other[0] {
            true => Form::BoundaryOperator,
            false => Form::MirroredOperator,
        };
    }
    if is_equality(one) && is_equality(other) {
        return Form::EqualityOperator;
    }
    if (is_order(one) || is_equality(one)) && (is_order(other) || is_equality(other)) {
        return Form::OrderForEquality;
    }
    if matches!(pair, (b"&&", b"||") | (b"||", b"&&")) {
        return Form::LogicalOperator;
    }
    if is_arithmetic(one) && is_arithmetic(other) {
        return Form::ArithmeticOperator;
    }
    if is_assigning(one) && is_assigning(other) {
        return Form::AssigningOperator;
    }
    if is_number(one) && is_number(other) {
        return match (value(one), value(other)) {
            (Some(a), Some(b)) if a.abs_diff(b) == 1 => Form::NumberByOne,
            _ => Form::OtherNumber,
        };
    }
    if one.starts_with(b"\"") && other.starts_with(b"\"") {
        return Form::OtherText;
    }
    if is_jump(one) && is_jump(other) {
        return Form::OtherJump;
    }
    match (is_constant(one), is_constant(other)) {
        (true, true) => return Form::OtherConstant,
        (true, false) if is_name(other) => return Form::NameForNumber,
        (false, true) if is_name(one) => return Form::NumberForName,
        _ => {}
    }
    if is_name(one) && is_name(other) {
        return Form::NameForName;
    }
    match is_word(one) && is_word(other) {
        true => Form::OtherType,
        false => Form::OtherOperator,
    }
}

/// What is between the bracket at `open` and the one that closes it: where that stands.
fn closing(tokens: &[&[u8]], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            b"(" => depth += 1,
            b")" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Something where nothing was.
fn added(new: &[&[u8]]) -> Form {
    let is_plain = |token: &&&[u8]| !matches!(**token, b"(" | b")" | b"{" | b"}");
    let bare: Vec<&[u8]> = new.iter().filter(is_plain).copied().collect();
    let (Some(&first), Some(&last)) = (bare.first(), bare.last()) else {
        return Form::Nothing;
    };
    let ends_statement = last == b";";
    if first == b"else" {
        return Form::AddedElse;
    }
    if matches!(first, b"if" | b"while" | b"for" | b"switch" | b"do") {
        return match ends_statement {
            false => Form::AddedGuard,
            true => conditional(new),
        };
    }
    if ends_statement {
        return statement(&bare, new);
    }
    // What was cut may begin with the end of something, as `; x = 0` of two statements does.
    if first == b";" && bare.len() > 1 {
        let mut turned = bare[1..].to_vec();
        turned.push(b";");
        return match is_name(turned[0]) || is_keyword(turned[0]) {
            true => statement(&turned, &turned),
            false => Form::InsertedSeveral,
        };
    }
    let has = |sign: &[u8]| bare.contains(&sign);
    match (first, last) {
        (b"&&", _) | (_, b"&&") => return Form::AddedConjunct,
        (b"||", _) | (_, b"||") => return Form::AddedDisjunct,
        (b"?", _) | (b":", _) | (_, b"?" | b":") => return Form::AddedChoice,
        (b"!", _) => return Form::AddedNegation,
        (b",", _) | (_, b",") => return Form::AddedArgument,
        _ => {}
    }
    if has(b"?") {
        return Form::AddedChoice;
    }
    let compares = |token: &[u8]| is_order(token) || is_equality(token);
    if compares(first) || compares(last) {
        return Form::AddedComparison;
    }
    let is_sign = |token: &[u8]| matches!(token, b"+" | b"-");
    if bare.len() == 2 && (is_sign(first) || is_sign(last)) {
        let operand = if is_sign(first) { last } else { first };
        return match (is_number(operand), value(operand)) {
            (_, Some(1)) => Form::AddedOne,
            (true, _) => Form::AddedNumber,
            _ => Form::AddedOperand,
        };
    }
    if is_sign(first) && bare.len() == 1 {
        return Form::AddedNegation;
    }
    if is_sign(first) || is_sign(last) {
        return Form::AddedOperand;
    }
    let multiplies = |token: &[u8]| matches!(token, b"*" | b"/" | b"%" | b"<<" | b">>");
    if bare.len() > 1 && (multiplies(first) || multiplies(last)) {
        return Form::AddedFactor;
    }
    if matches!(first, b"&" | b"*") && bare.len() == 1 {
        return Form::AddedAddress;
    }
    if matches!(first, b"&" | b"|" | b"^") || matches!(last, b"&" | b"|" | b"^") {
        return Form::AddedOperand;
    }
    if matches!(first, b"." | b"->" | b"[") || matches!(last, b"." | b"->") {
        return Form::AddedMember;
    }
    if new[0] == b"(" && bare.iter().all(|token| is_word(token) || *token == b"*") {
        return Form::AddedCast;
    }
    if is_name(first) && new.get(1) == Some(&&b"("[..]) {
        return Form::AddedCall;
    }
    Form::ReplacedExpression
}

/// An `if` with all that it governs, or several statements after one.
fn conditional(new: &[&[u8]]) -> Form {
    let Some(end) = closing(new, 1) else {
        return Form::InsertedConditional;
    };
    let body = new[end + 1..].iter().copied();
    let body: Vec<&[u8]> = body
        .filter(|token| !matches!(*token, b"{" | b"}"))
        .collect();
    let last = body[..body.len().saturating_sub(1)]
        .iter()
        .rposition(|token| *token == b";")
        .map_or(0, |at| at + 1);
    match body.get(last) {
        Some(word) if is_jump(word) => Form::InsertedExit,
        _ => Form::InsertedConditional,
    }
}

/// One or several statements without a condition.
fn statement(bare: &[&[u8]], new: &[&[u8]]) -> Form {
    let ends = bare.iter().filter(|token| **token == b";").count();
    if is_jump(bare[0]) && ends == 1 {
        return Form::InsertedJump;
    }
    if ends > 1 {
        return Form::InsertedSeveral;
    }
    if bare.iter().any(|token| matches!(*token, b"++" | b"--")) && bare.len() <= 4 {
        return Form::InsertedStep;
    }
    let is_type = |token: &[u8]| is_keyword(token) && !matches!(token, b"sizeof");
    let declares = matches!(new, [one, two, ..] if is_name(one) && is_name(two));
    if is_type(bare[0]) || declares {
        return Form::InsertedDeclaration;
    }
    let assigns = |token: &&&[u8]| {
        matches!(
            **token,
            b"=" | b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"&=" | b"|=" | b"^=" | b"<<=" | b">>="
        )
    };
    if bare.iter().find(assigns).is_some() {
        return Form::InsertedAssignment;
    }
    match new.contains(&&b"("[..]) {
        true => Form::InsertedCall,
        false => Form::InsertedSeveral,
    }
}

/// Something taken away.
fn removed(old: &[&[u8]]) -> Form {
    match added(old) {
        Form::AddedConjunct => Form::RemovedConjunct,
        Form::AddedDisjunct => Form::RemovedDisjunct,
        Form::AddedNegation => Form::RemovedNegation,
        Form::AddedComparison => Form::RemovedComparison,
        Form::AddedGuard | Form::AddedElse => Form::RemovedGuard,
        Form::AddedMember | Form::AddedAddress => Form::RemovedMember,
        Form::AddedCall | Form::AddedArgument => Form::RemovedCall,
        Form::InsertedCall
        | Form::InsertedAssignment
        | Form::InsertedStep
        | Form::InsertedJump
        | Form::InsertedDeclaration => Form::RemovedStatement,
        Form::InsertedExit | Form::InsertedConditional | Form::InsertedSeveral => Form::RemovedCode,
        Form::Nothing => Form::Nothing,
        _ => Form::RemovedOperand,
    }
}

/// The shape of a condition that a change adds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Shape {
    /// The change adds no condition.
    #[default]
    None,
    Truth,
    Negated,
    EqualsZero,
    EqualsConstant,
    EqualsName,
    OrderedByZero,
    OrderedByConstant,
    OrderedByName,
    Calculated,
    Call,
    Compound,
    Constant,
}

impl Shape {
    /// Returns the name of the shape in feature names.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        let name = name.and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap_or_default()
    }

    /// Returns the shape of the condition that a change of this form adds.
    pub fn of(form: Form, old: &[&[u8]], new: &[&[u8]]) -> Self {
        let new = match form {
            Form::AddedConjunct | Form::AddedDisjunct => new,
            Form::AddedGuard | Form::InsertedExit | Form::InsertedConditional => {
                let new = new.strip_prefix(old).unwrap_or(new);
                let end = closing(new, 1).unwrap_or(new.len());
                new.get(2..end).unwrap_or_default()
            }
            _ => return Shape::None,
        };
        let is_condition = |token: &&&[u8]| !matches!(**token, b"(" | b")" | b"{" | b"}");
        let mut bare: Vec<&[u8]> = new.iter().filter(is_condition).copied().collect();
        let joins =
            |token: Option<&&[u8]>| token.is_some_and(|token| matches!(*token, b"&&" | b"||"));
        if joins(bare.first()) {
            bare.remove(0);
        }
        if joins(bare.last()) {
            bare.pop();
        }
        let calls = new.windows(2).any(|two| is_name(two[0]) && two[1] == b"(");
        Shape::of_condition(&bare, calls)
    }

    fn of_condition(bare: &[&[u8]], calls: bool) -> Self {
        if bare.iter().any(|token| matches!(*token, b"&&" | b"||")) {
            return Shape::Compound;
        }
        if calls {
            return Shape::Call;
        }
        let sign = bare
            .iter()
            .position(|token| is_order(token) || is_equality(token));
        let is_calculated = |tokens: &[&[u8]]| {
            let is_sign = |token: &&[u8]| {
                matches!(
                    *token,
                    b"+" | b"-" | b"*" | b"/" | b"%" | b"&" | b"|" | b"^" | b"<<" | b">>"
                )
            };
            tokens.len() > 2 && tokens[1..].iter().any(is_sign)
        };
        let Some(sign) = sign else {
            return match bare {
                [only] if is_constant(only) => Shape::Constant,
                [b"!", ..] => Shape::Negated,
                all if is_calculated(all) => Shape::Calculated,
                _ => Shape::Truth,
            };
        };
        let (left, right) = (&bare[..sign], &bare[sign + 1..]);
        if is_calculated(left) || is_calculated(right) {
            return Shape::Calculated;
        }
        let is_zero = matches!(right, [b"0" | b"NULL"]) || matches!(left, [b"0" | b"NULL"]);
        let last = right.last().copied().unwrap_or_default();
        let is_fixed = is_constant(last) || is_in_capitals(last);
        match (is_equality(bare[sign]), is_zero, is_fixed) {
            (true, true, _) => Shape::EqualsZero,
            (true, false, true) => Shape::EqualsConstant,
            (true, false, false) => Shape::EqualsName,
            (false, true, _) => Shape::OrderedByZero,
            (false, false, true) => Shape::OrderedByConstant,
            (false, false, false) => Shape::OrderedByName,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tokens::tokens, *};

    fn form(old: &str, new: &str) -> Form {
        Form::of(&tokens(old.as_bytes()), &tokens(new.as_bytes()))
    }

    #[test]
    fn forms_are_told_by_what_is_gone_and_what_is_new() {
        for (old, new, expected) in [
            ("<", "<=", Form::BoundaryOperator),
            ("<", ">", Form::MirroredOperator),
            ("&&", "||", Form::LogicalOperator),
            ("7", "8", Form::NumberByOne),
            ("7", "70", Form::OtherNumber),
            ("width", "height", Form::NameForName),
            ("", "+ 1", Form::AddedOne),
            ("", "- width", Form::AddedOperand),
            ("", "&& p", Form::AddedConjunct),
            ("", "p != NULL &&", Form::AddedConjunct),
            ("|| p", "", Form::RemovedDisjunct),
            ("", "if (p)", Form::AddedGuard),
            ("", "if (!p) return -1;", Form::InsertedExit),
            ("", "if (n > most) n = most;", Form::InsertedConditional),
            ("", "free(p);", Form::InsertedCall),
            ("", "n = 0;", Form::InsertedAssignment),
            ("", "n++;", Form::InsertedStep),
            ("", "break;", Form::InsertedJump),
            ("", "int n;", Form::InsertedDeclaration),
            ("count++;", "", Form::RemovedStatement),
            ("", "(unsigned char)", Form::AddedCast),
            ("p", "p -> next", Form::AddedMember),
            ("a , b", "b , a", Form::Moved),
            ("a + b", "f ( c )", Form::ReplacedExpression),
        ] {
            assert_eq!(form(old, new), expected, "{old} to {new}");
        }
    }

    #[test]
    fn conditions_that_are_added_have_shapes() {
        for (new, expected) in [
            ("&& p", Shape::Truth),
            ("!p ||", Shape::Negated),
            ("&& p != NULL", Shape::EqualsZero),
            ("&& n < 0", Shape::OrderedByZero),
            ("&& n < MOST", Shape::OrderedByConstant),
            ("&& n < most", Shape::OrderedByName),
            ("&& n + 1 < most", Shape::Calculated),
            ("if (is_open(p)) return;", Shape::Call),
            ("if (a && b) return;", Shape::Compound),
            ("if (1)", Shape::Constant),
            ("+ 1", Shape::None),
        ] {
            let new = tokens(new.as_bytes());
            let form = Form::of(&[], &new);
            assert_eq!(Shape::of(form, &[], &new), expected, "{new:?}");
        }
    }
}
