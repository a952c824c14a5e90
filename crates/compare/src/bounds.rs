//! Turns conditions on single inputs into ranges of values.

use patchwright_ir::Type;
use patchwright_solve::{Answer, Assignment, Backend, Budget, Node, Solver, Sort, Term, Terms};
use rustc_hash::FxHashMap;

use crate::{
    columns::Columns,
    shown::{Names, Printer},
};

/// The values that an input can have, the first and the last included, in the order of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) variable: Term,
    pub(crate) width: u32,
    pub(crate) is_signed: bool,
    pub(crate) first: i128,
    pub(crate) last: i128,
}

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// An input is in a range.
    Range(Range),
    /// An input is in one of several ranges, which are in order and do not meet.
    Set(Vec<Range>),
    /// Anything else.
    Term(Term),
}

/// So wide are inputs at most whose ranges are looked for.
const WIDEST: u32 = 64;
/// With more ranges than these a condition on an input is said as it was calculated.
const MOST_RANGES: usize = 4;
/// The largest number of literals on one input that are looked at by themselves.
const MOST_ALONE: usize = 6;
/// All values of inputs so wide are looked at.
pub(crate) const SMALL: u32 = 8;

/// What is known where literals are joined.
pub(crate) struct Context<'a> {
    pub(crate) names: &'a Names,
    /// What holds for all inputs that count.
    pub(crate) bounds: &'a [Term],
    /// An input for which the literals hold.
    pub(crate) model: &'a Assignment,
    pub(crate) budget: Budget<'a>,
}

/// Joins what is said of single inputs to ranges. All parts together imply all literals together, and hold for the model. They mean
/// the same but where the literals look past the sign of an input: then the sign of the model's is meant.
pub(crate) fn joined(terms: &mut Terms, context: &Context<'_>, literals: &[Term]) -> Vec<Part> {
    let names = context.names;
    let mut parts = Vec::new();
    let mut single: Vec<(Term, Vec<Term>)> = Vec::new();
    let mut place: FxHashMap<Term, usize> = FxHashMap::default();
    for &literal in literals {
        let variables = terms.variables_of(literal);
        let only = match variables.as_slice() {
            [only] => matches!(terms.sort(*only), Sort::Bits(width) if width <= WIDEST),
            _ => false,
        };
        let is_float = variables.first().is_some_and(|variable| {
            matches!(
                names.of.get(variable),
                Some((_, Some(Type::F32 | Type::F64)))
            )
        });
        if !only || is_float {
            parts.push(Part::Term(literal));
            continue;
        }
        let at = *place.entry(variables[0]).or_insert_with(|| {
            single.push((variables[0], Vec::new()));
            single.len() - 1
        });
        single[at].1.push(literal);
    }
    let mut found = Vec::new();
    for (variable, literals) in single {
        if terms.width(variable) <= SMALL {
            let mut ranges = ranges(terms, names, variable, &literals);
            match (ranges.len(), ranges.pop()) {
                (1, Some(only)) => found.push(Part::Range(only)),
                (..=MOST_RANGES, Some(last)) => {
                    ranges.push(last);
                    found.push(Part::Set(ranges));
                }
                (_, _) => found.extend(literals.into_iter().map(Part::Term)),
            }
            continue;
        }
        let literals = with_sign(terms, context, variable, literals);
        let whole = range(terms, context, variable, &literals)
            .or_else(|| to_an_end(terms, context, variable, &literals));
        if let Some(range) = whole {
            found.push(Part::Range(range));
            continue;
        }
        if let Some(set) = several(terms, context, variable, &literals) {
            found.push(Part::Set(set));
            continue;
        }
        // Those that are ranges by themselves are said as one.
        let (mut all, mut others): (Option<Range>, Vec<Term>) = (None, Vec::new());
        for &literal in &literals {
            let own = match literals.len() <= MOST_ALONE {
                true => range(terms, context, variable, &[literal])
                    .or_else(|| to_an_end(terms, context, variable, &[literal])),
                false => None,
            };
            match own {
                Some(own) => all = Some(all.map_or(own.clone(), |all| all.and(&own))),
                None => others.push(literal),
            }
        }
        found.extend(all.map(Part::Range));
        found.extend(others.into_iter().map(Part::Term));
    }
    found.extend(parts);
    found
}

/// Literals on an input; where one cuts off its sign, with the sign that it has in the model.
fn with_sign(
    terms: &mut Terms,
    context: &Context<'_>,
    variable: Term,
    mut literals: Vec<Term>,
) -> Vec<Term> {
    let width = terms.width(variable);
    let cuts_sign = terms.within(&literals).into_iter().any(|term| {
        let node = terms.node(term);
        matches!(node, Node::Extract { of, low: 0, high } if of == variable && high + 2 == width)
    });
    if cuts_sign && is_signed(context.names, variable) {
        let zero = terms.constant(width, 0);
        let negative = terms.slt(variable, zero);
        let holds = terms.evaluate(negative, context.model).truth();
        let sign = if holds { negative } else { terms.not(negative) };
        if !literals.contains(&sign) {
            literals.push(sign);
        }
    }
    literals
}

/// The ranges that literals on one byte leave.
fn ranges(terms: &Terms, names: &Names, variable: Term, literals: &[Term]) -> Vec<Range> {
    let width = terms.width(variable);
    let is_signed = is_signed(names, variable);
    let (least, most) = limits(width, is_signed);
    let mask = (1u128 << width) - 1;
    let inputs: Vec<Vec<u128>> = (least..=most)
        .map(|value| vec![value as u128 & mask])
        .collect();
    let columns = Columns::new(terms, literals, &[variable]).evaluate(&inputs);
    let mut all: Vec<Range> = Vec::new();
    for (at, value) in (least..=most).enumerate() {
        if columns.iter().any(|column| column[at] == 0) {
            continue;
        }
        match all.last_mut() {
            Some(range) if range.last + 1 == value => range.last = value,
            _ => all.push(Range {
                variable,
                width,
                is_signed,
                first: value,
                last: value,
            }),
        }
    }
    all
}

fn is_signed(names: &Names, variable: Term) -> bool {
    match names.of.get(&variable) {
        Some((_, Some(ty))) => ty.is_signed(),
        _ => false,
    }
}

/// The range that literals on one variable leave, if it is one without gaps.
fn range(
    terms: &mut Terms,
    context: &Context<'_>,
    variable: Term,
    literals: &[Term],
) -> Option<Range> {
    let budget = &context.budget;
    let width = terms.width(variable);
    let is_signed = is_signed(context.names, variable);
    let bounds = context.bounds.iter().copied();
    let bounds: Vec<Term> = bounds
        .filter(|bound| terms.variables_of(*bound) == [variable])
        .collect();
    let (least, most) = limits(width, is_signed);
    let mut solver = Solver::new(Backend::default());
    for &literal in literals.iter().chain(&bounds) {
        solver.assert(terms, literal);
    }
    if solver.check(terms, &[], budget) != Answer::Satisfiable {
        return None;
    }
    let seen = value(width, is_signed, solver.value(terms, variable).bits());
    let mut edge = |terms: &mut Terms, mut inside: i128, limit: i128, is_upper: bool| {
        // `inside` is a value that is possible; what is beyond `outside` is not.
        let mut outside = limit;
        while inside != outside {
            let middle = match is_upper {
                true => inside + (outside - inside + 1) / 2,
                false => inside - (inside - outside + 1) / 2,
            };
            let constant = terms.constant(width, middle as u128);
            let beyond = match (is_upper, is_signed) {
                (true, true) => terms.sle(constant, variable),
                (true, false) => terms.ule(constant, variable),
                (false, true) => terms.sle(variable, constant),
                (false, false) => terms.ule(variable, constant),
            };
            match solver.check(terms, &[beyond], budget) {
                Answer::Satisfiable => {
                    inside = value(width, is_signed, solver.value(terms, variable).bits());
                }
                Answer::Unsatisfiable if is_upper => outside = middle - 1,
                Answer::Unsatisfiable => outside = middle + 1,
                Answer::Unknown => return None,
            }
        }
        Some(inside)
    };
    let last = edge(terms, seen, most, true)?;
    let first = edge(terms, seen, least, false)?;
    let range = Range {
        variable,
        width,
        is_signed,
        first,
        last,
    };
    // Nothing in the range is left out.
    let inside = range.term(terms);
    let all = terms.and_all(literals.iter().copied());
    let not = terms.not(all);
    let mut solver = Solver::new(Backend::default());
    solver.assert(terms, inside);
    for &bound in &bounds {
        solver.assert(terms, bound);
    }
    let gap = solver.check(terms, &[not], budget);
    (gap == Answer::Unsatisfiable).then(|| range.widened(terms, &bounds, budget))
}

/// The range around the model's value in which literals on one variable hold, if it goes on to the greatest or the least value.
fn to_an_end(
    terms: &mut Terms,
    context: &Context<'_>,
    variable: Term,
    literals: &[Term],
) -> Option<Range> {
    let (width, is_signed) = (terms.width(variable), is_signed(context.names, variable));
    let seen = terms.evaluate(variable, context.model).bits();
    let seen = value(width, is_signed, seen);
    let (least, most) = limits(width, is_signed);
    let all = terms.and_all(literals.iter().copied());
    let not = terms.not(all);
    let mut solver = Solver::new(Backend::default());
    solver.assert(terms, not);
    let whole = Range::all(variable, width, is_signed);
    // The nearest value on each side for which they do not hold.
    let mut edge = |terms: &mut Terms, limit: i128| {
        let side = |from: i128, to: i128| Range {
            first: from.min(to),
            last: from.max(to),
            ..whole.clone()
        };
        let beyond = side(seen, limit).term(terms);
        match solver.check(terms, &[beyond], &context.budget) {
            Answer::Unsatisfiable => return Some(limit),
            Answer::Unknown => return None,
            Answer::Satisfiable => {}
        }
        let (mut fine, mut bad) = (
            seen,
            value(width, is_signed, solver.value(terms, variable).bits()),
        );
        while fine.abs_diff(bad) > 1 {
            let middle = fine + (bad - fine) / 2;
            let within = side(fine, middle).term(terms);
            match solver.check(terms, &[within], &context.budget) {
                Answer::Unsatisfiable => fine = middle,
                Answer::Satisfiable => {
                    bad = value(width, is_signed, solver.value(terms, variable).bits());
                }
                Answer::Unknown => return None,
            }
        }
        Some(fine)
    };
    let (first, last) = (edge(terms, least)?, edge(terms, most)?);
    (first == least || last == most).then_some(Range {
        first,
        last,
        ..whole
    })
}

/// The ranges that literals on one variable leave, if they are few; `None` also where the solver gives up.
fn several(
    terms: &mut Terms,
    context: &Context<'_>,
    variable: Term,
    literals: &[Term],
) -> Option<Vec<Range>> {
    let (width, is_signed) = (terms.width(variable), is_signed(context.names, variable));
    let (least, most) = limits(width, is_signed);
    let all = terms.and_all(literals.iter().copied());
    let not = terms.not(all);
    let (mut holding, mut failing) = (
        Solver::new(Backend::default()),
        Solver::new(Backend::default()),
    );
    holding.assert(terms, all);
    failing.assert(terms, not);
    let whole = Range::all(variable, width, is_signed);
    // The least value from `from` on that a solver has; none if there is none.
    let next = |terms: &mut Terms, solver: &mut Solver, from: i128| {
        let (mut first, mut last, mut found) = (from, most, None);
        while first <= last {
            let middle = match found {
                None => last,
                Some(_) => first + (last - first) / 2,
            };
            let range = Range {
                first,
                last: middle,
                ..whole.clone()
            };
            let within = range.term(terms);
            match solver.check(terms, &[within], &context.budget) {
                Answer::Satisfiable => {
                    let seen = value(width, is_signed, solver.value(terms, variable).bits());
                    found = Some(seen);
                    last = seen - 1;
                }
                Answer::Unsatisfiable if found.is_none() => return Some(None),
                Answer::Unsatisfiable => first = middle + 1,
                Answer::Unknown => return None,
            }
        }
        Some(found)
    };
    let mut ranges: Vec<Range> = Vec::new();
    let mut from = least;
    while from <= most {
        let Some(first) = next(terms, &mut holding, from)? else {
            break;
        };
        if ranges.len() == MOST_RANGES {
            return None;
        }
        let end = next(terms, &mut failing, first)?;
        let last = end.map_or(most, |end| end - 1);
        ranges.push(Range {
            first,
            last,
            ..whole.clone()
        });
        from = last + 1;
    }
    (!ranges.is_empty()).then_some(ranges)
}

/// Returns the least and the greatest number of `width` bits.
pub(crate) fn limits(width: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, ((1u128 << width) - 1) as i128),
    }
}

fn value(width: u32, is_signed: bool, bits: u128) -> i128 {
    match is_signed && bits >> (width - 1) & 1 == 1 {
        true => bits as i128 - (1i128 << width),
        false => bits as i128,
    }
}

impl Range {
    /// All values of an input.
    fn all(variable: Term, width: u32, is_signed: bool) -> Range {
        let (first, last) = limits(width, is_signed);
        Range {
            variable,
            width,
            is_signed,
            first,
            last,
        }
    }

    /// The input is in the range.
    pub(crate) fn term(&self, terms: &mut Terms) -> Term {
        let first = terms.constant(self.width, self.first as u128);
        let last = terms.constant(self.width, self.last as u128);
        if first == last {
            return terms.eq(self.variable, first);
        }
        let (low, high) = match self.is_signed {
            true => (
                terms.sle(first, self.variable),
                terms.sle(self.variable, last),
            ),
            false => (
                terms.ule(first, self.variable),
                terms.ule(self.variable, last),
            ),
        };
        terms.and(low, high)
    }

    /// It, up to the greatest or least value where all values beyond are out of bounds.
    fn widened(self, terms: &mut Terms, bounds: &[Term], budget: &Budget<'_>) -> Range {
        if bounds.is_empty() {
            return self;
        }
        let (least, most) = limits(self.width, self.is_signed);
        let mut solver = Solver::new(Backend::default());
        for &bound in bounds {
            solver.assert(terms, bound);
        }
        let mut is_out = |first: i128, last: i128| {
            let beyond = Range {
                first,
                last,
                ..self.clone()
            };
            let beyond = beyond.term(terms);
            solver.check(terms, &[beyond], budget) == Answer::Unsatisfiable
        };
        let first = match self.first > least && is_out(least, self.first - 1) {
            true => least,
            false => self.first,
        };
        let last = match self.last < most && is_out(self.last + 1, most) {
            true => most,
            false => self.last,
        };
        // A single value is said as such.
        if self.first == self.last {
            return self;
        }
        Range {
            first,
            last,
            ..self
        }
    }

    /// The values that are in both, of which there are some.
    fn and(&self, other: &Range) -> Range {
        Range {
            first: self.first.max(other.first),
            last: self.last.min(other.last),
            ..self.clone()
        }
    }

    /// Returns the values below the range if `bits` is below it, else those above it.
    pub(crate) fn beside(&self, bits: u128) -> Range {
        let (least, most) = limits(self.width, self.is_signed);
        match value(self.width, self.is_signed, bits) < self.first {
            true => Range {
                first: least,
                last: self.first - 1,
                ..self.clone()
            },
            false => Range {
                first: self.last + 1,
                last: most,
                ..self.clone()
            },
        }
    }

    /// Whether all values are in it.
    fn is_all(&self) -> bool {
        (self.first, self.last) == limits(self.width, self.is_signed)
    }

    /// Returns the range as a condition in C.
    pub(crate) fn text(&self, printer: &Printer<'_>) -> String {
        let (name, ty) = match printer.names.of.get(&self.variable) {
            Some((name, ty)) => (name.clone(), *ty),
            None => (
                printer.terms.name(self.variable).unwrap_or("?").to_owned(),
                None,
            ),
        };
        let ty = match (ty, self.is_signed) {
            (None, false) => Some(Type::U64),
            (ty, _) => ty,
        };
        if self.is_signed && matches!(ty, Some(Type::F32 | Type::F64)) {
            let (least, most) = limits(self.width, true);
            match (self.first, self.last) {
                (first, -1) if first == least => return format!("signbit({name})"),
                (0, last) if last == most => return format!("!signbit({name})"),
                _ => {}
            }
        }
        // The range is one of bits, which for floating-point numbers is none of their values.
        let float = ty.filter(|_| !self.is_signed);
        let (name, ty) = match (ty, self.is_signed) {
            (Some(Type::F32), true) => (format!("(int)bits({name})"), Some(Type::I32)),
            (Some(Type::F64), true) => (format!("(long)bits({name})"), Some(Type::I64)),
            (Some(Type::F32 | Type::F64), false) => (format!("bits({name})"), Some(Type::U64)),
            other => (name, other.0),
        };
        let constant = |value: i128| {
            let bits = match self.width {
                128 => value as u128,
                width => value as u128 & ((1 << width) - 1),
            };
            let of_float = float.and_then(|float| printer.bits_of(float, bits));
            of_float.unwrap_or_else(|| printer.constant_for(ty, self.width, bits))
        };
        let (least, most) = limits(self.width, self.is_signed);
        // `x > 0` is read more easily than `x >= 1`, `x < 0` than `x <= -1`.
        let above = |name: &str| match self.first {
            1 if self.is_signed || self.width > 8 => format!("{name} > 0"),
            first => format!("{name} >= {}", constant(first)),
        };
        let below = |name: &str| match self.last {
            -1 => format!("{name} < 0"),
            last => format!("{name} <= {}", constant(last)),
        };
        match (self.first == least, self.last == most) {
            _ if self.first == self.last => format!("{name} == {}", constant(self.first)),
            (true, true) => "1".to_owned(),
            (false, true) if !self.is_signed && self.first == 1 => format!("{name} != 0"),
            (false, true) => above(&name),
            (true, false) => below(&name),
            (false, false) => match self.first {
                1 if self.width > 8 || self.is_signed => {
                    let right = below(&name);
                    format!("0 < {name} && {right}")
                }
                first => {
                    let right = below(&name);
                    format!("{} <= {name} && {right}", constant(first))
                }
            },
        }
    }
}

/// Several ranges as C says them, or what they leave out, if that is shorter.
fn set(ranges: &[Range], printer: &Printer<'_>) -> String {
    let (least, most) = limits(ranges[0].width, ranges[0].is_signed);
    let mut gaps: Vec<Range> = Vec::new();
    let mut next = least;
    for range in ranges {
        if range.first > next {
            gaps.push(Range {
                first: next,
                last: range.first - 1,
                ..range.clone()
            });
        }
        next = range.last + 1;
    }
    if let (true, Some(last)) = (next <= most, ranges.last()) {
        gaps.push(Range {
            first: next,
            last: most,
            ..last.clone()
        });
    }
    // Values within one range that are left out are said as such.
    if let [first, .., last] = ranges {
        let hull = Range {
            last: last.last,
            ..first.clone()
        };
        let is_inner = |gap: &&Range| gap.first > hull.first && gap.last < hull.last;
        let inner: Vec<&Range> = gaps.iter().filter(is_inner).collect();
        if inner.iter().all(|gap| gap.first == gap.last) {
            let hull = (!hull.is_all()).then(|| hull.text(printer));
            let left_out = inner.iter();
            let left_out = left_out.map(|gap| gap.text(printer).replacen(" == ", " != ", 1));
            return hull
                .into_iter()
                .chain(left_out)
                .collect::<Vec<String>>()
                .join(" && ");
        }
    }
    if gaps.len() < ranges.len() {
        let all = gaps.iter().map(|gap| match gap.first == gap.last {
            true => gap.text(printer).replacen(" == ", " != ", 1),
            false => format!("!({})", gap.text(printer)),
        });
        return all.collect::<Vec<String>>().join(" && ");
    }
    let all = ranges.iter().map(|range| {
        let text = range.text(printer);
        match text.contains(" && ") {
            true => format!("({text})"),
            false => text,
        }
    });
    format!("({})", all.collect::<Vec<String>>().join(" || "))
}

impl Part {
    /// The part as a truth value.
    pub(crate) fn term(&self, terms: &mut Terms) -> Term {
        match self {
            Part::Range(range) => range.term(terms),
            Part::Set(ranges) => {
                let all: Vec<Term> = ranges.iter().map(|range| range.term(terms)).collect();
                terms.or_all(all)
            }
            Part::Term(term) => *term,
        }
    }

    fn text(&self, printer: &Printer<'_>, is_joined: bool) -> String {
        match self {
            Part::Range(range) => range.text(printer),
            Part::Set(ranges) => set(ranges, printer),
            Part::Term(term) => printer.condition(*term, is_joined),
        }
    }
}

/// Returns the parts as conditions in C. Joined by `&&` they are the whole condition.
pub(crate) fn texts(parts: &[Part], printer: &Printer<'_>) -> Vec<String> {
    // Where somebody interrupted, parts may be left that say nothing.
    let says_nothing = |part: &&Part| matches!(part, Part::Range(range) if range.is_all());
    let parts: Vec<&Part> = parts.iter().filter(|part| !says_nothing(part)).collect();
    let is_joined = parts.len() > 1;
    let texts = parts.iter().map(|part| part.text(printer, is_joined));
    texts.collect()
}

#[cfg(test)]
mod tests {
    use patchwright_solve::Sort;

    use super::*;

    #[test]
    fn values_that_a_range_leaves_out_are_said_as_such() {
        let mut terms = Terms::new();
        let variable = terms.variable("n", Sort::Bits(32));
        let names = Names {
            of: [(variable, ("n".to_owned(), Some(Type::I32)))]
                .into_iter()
                .collect(),
            ..Names::default()
        };
        let [zero, two, twelve] = [0, 2, 12].map(|number| terms.constant(32, number));
        let is_two = terms.eq(variable, two);
        let literals = [
            terms.sle(zero, variable),
            terms.ule(variable, twelve),
            terms.not(is_two),
        ];
        let said = |terms: &mut Terms, model: u128, literals: &[Term]| {
            let mut assignment = Assignment::new();
            assignment.set_bits(terms, variable, model);
            let context = Context {
                names: &names,
                bounds: &[],
                model: &assignment,
                budget: Budget::none(),
            };
            let parts = joined(terms, &context, literals);
            texts(&parts, &Printer::new(terms, &names))
        };
        let negative = terms.slt(variable, zero);
        let negative_or_two = terms.or(negative, is_two);
        assert_eq!(
            said(&mut terms, 2, &[negative_or_two]),
            ["(n < 0 || n == 2)"]
        );
        assert_eq!(
            said(&mut terms, 3, &literals),
            ["0 <= n && n <= 12 && n != 2"]
        );
    }

    #[test]
    fn a_range_of_all_values_is_no_part_of_a_condition() {
        let mut terms = Terms::new();
        let variable = terms.variable("a", Sort::Bits(8));
        let range = |first: i128, last: i128| {
            Part::Range(Range {
                variable,
                width: 8,
                is_signed: true,
                first,
                last,
            })
        };
        let names = Names::default();
        let printer = Printer::new(&terms, &names);
        assert_eq!(texts(&[range(-128, 127)], &printer), [""; 0]);
        assert_eq!(
            texts(&[range(-128, 127), range(-128, -1)], &printer),
            ["a < 0"]
        );
    }
}
