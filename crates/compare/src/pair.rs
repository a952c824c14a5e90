//! Two programs over the same inputs: their visible effects, and what is not known of them.

use patchwright_prove::excuse;
use patchwright_solve::{Rings, Term, Terms};
use patchwright_symbolic::{
    Difference, Encoding, FailureKind, Input, InputKind, LEFT_OPEN, MEMORY_IS_THERE, NOTHING_KEPT,
    Piece, Place, UnwindingKind, difference, printed_differently, reads_otherwise,
};

use crate::{
    behaviour,
    holders::Holder,
    leads::{Pointees, numbered},
};

/// OLD or NEW: one of the two compared programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The program before the change.
    Old,
    /// The program after the change.
    New,
}

impl Side {
    /// Both programs, OLD first.
    pub const BOTH: [Side; 2] = [Side::Old, Side::New];

    /// Returns `OLD` or `NEW`.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Old => "OLD",
            Side::New => "NEW",
        }
    }

    /// Returns 0 for the old version and 1 for the new one.
    pub(crate) const fn index(self) -> usize {
        match self {
            Side::Old => 0,
            Side::New => 1,
        }
    }
}

/// A visible effect of an execution, such as the result or a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// What the function returns, or the program's exit status.
    Result,
    /// Of which type it is.
    ResultType,
    /// What is left in a global, or in memory behind an argument.
    Object(String),
    /// What is printed.
    Output,
    /// What is printed to standard error.
    ErrorOutput,
    /// Whether `exit` is called, and with which status.
    Exit,
    /// Whether it ends.
    Ending,
    /// That it fails, and how.
    Failure,
}

/// A reason why nothing is known.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    /// Inputs for which it is so.
    pub(crate) condition: Term,
    pub(crate) reason: String,
    pub(crate) place: Option<Place>,
    /// It is the bound.
    pub(crate) is_bound: bool,
}

/// A failure that comes first in an execution.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) condition: Term,
    pub(crate) index: usize,
}

/// Two programs that are encoded in the same terms.
pub struct Pair {
    pub(crate) encodings: [Encoding; 2],
    /// The inputs that count satisfy this.
    pub(crate) domain: Term,
    /// Bytes of standard input at most.
    pub(crate) longest: u32,
    pub(crate) limits: Vec<Limit>,
    pub(crate) limited: Term,
    /// Failures of each, as they come first.
    pub(crate) failures: [Vec<First>; 2],
    /// Inputs for which only one of them fails.
    pub(crate) alone: [Term; 2],
    /// Inputs for which both fail, one by undefined behaviour and one by `abort`, or after they have printed something else.
    pub(crate) otherwise: Term,
    /// Inputs for which both end, and something differs.
    pub(crate) differences: Vec<(Seen, Term)>,
    /// Inputs for which both end, and anything differs.
    pub(crate) ended: Term,
    /// Inputs for which anything differs.
    pub(crate) different: Term,
    /// Inputs with which both come to their end, and neither fails.
    pub(crate) finishes: Term,
    /// What is not compared, for no input.
    pub(crate) not_compared: Vec<String>,
    /// What results lead to that are pointers.
    pub(crate) pointees: Pointees,
    /// Two different calculations may both give NaN.
    nans: bool,
}

/// The name of `errno` among the results.
pub const ERRNO: &str = "errno";

/// The note that all NaNs count as one.
pub const ONE_NAN: &str =
    "any NaN is the same as any other, also where it is printed, with or without a sign";

/// Whether a note says what the answer takes for granted, so that it does not hold for all inputs or all C libraries.
pub fn is_assumption(note: &str) -> bool {
    [ONE_NAN, MEMORY_IS_THERE, NOTHING_KEPT].contains(&note) || note.ends_with(LEFT_OPEN)
}

impl Pair {
    /// Finds the effects in which two encodings may differ. With `is_program` whole programs are
    /// compared, whose memory is not visible at the end. `holders` are the objects that hold
    /// pointers. `input` is the largest number of bytes of standard input.
    pub fn new(
        terms: &mut Terms,
        mut old: Encoding,
        mut new: Encoding,
        is_program: bool,
        holders: &[Holder],
        input: u32,
    ) -> Pair {
        for encoding in [&mut old, &mut new] {
            excuse(terms, encoding);
        }
        let alone_there = match is_program {
            true => Vec::new(),
            false => changed_alone(terms, &old, &new),
        };
        for encoding in [&mut old, &mut new] {
            for printed in &mut encoding.outcome.output {
                plain(terms, &mut printed.piece);
            }
        }
        for encoding in [&mut old, &mut new] {
            without_gaps(terms, encoding, holders);
        }
        let (pointees, not) = numbered(terms, [&mut old, &mut new], holders);
        let mut not_compared = not.reasons;
        for unseen in old.unseen.iter().chain(&new.unseen) {
            let reason = format!("{unseen} is not compared");
            if !not_compared.contains(&reason) {
                not_compared.push(reason);
            }
        }
        if old.outcome.uses_errno || new.outcome.uses_errno {
            for encoding in [&mut old, &mut new] {
                if let (false, Some(errno)) = (is_program, encoding.outcome.errno) {
                    let objects = &mut encoding.outcome.objects;
                    objects.push((ERRNO.to_owned(), vec![errno]));
                }
            }
        }
        let found = difference(terms, &old, &new);
        let nans = found.nans;
        not_compared.extend(found.unknown);
        let no = terms.truth(false);
        let alone = found.fails.map(|condition| condition.unwrap_or(no));
        let mut domain = terms.and(old.assumption, new.assumption);
        for given in old.inputs.iter().chain(&new.inputs) {
            if given.kind == InputKind::Length {
                // Longer ones are taken to be as long as that, which would be a partition of its own.
                let most = terms.constant(32, u128::from(input));
                let fits = terms.ule(given.term, most);
                domain = terms.and(domain, fits);
            }
        }
        let failures = [&old, &new].map(|encoding| firsts(terms, encoding));
        let undefined = [0, 1].map(|side| {
            let encoding = [&old, &new][side];
            let all = failures[side].iter().filter(|first| {
                let kind = encoding.failures[first.index].kind;
                matches!(kind, FailureKind::Undefined(_))
            });
            let all: Vec<Term> = all.map(|first| first.condition).collect();
            terms.or_all(all)
        });
        let fails = [0, 1].map(|side| {
            let all: Vec<Term> = failures[side].iter().map(|one| one.condition).collect();
            terms.or_all(all)
        });
        let ends = [&old, &new].map(|encoding| encoding.outcome.ends.unwrap_or(no));
        let fine = fails.map(|fails| terms.not(fails));
        let finishes = terms.and_all([ends[0], ends[1], fine[0], fine[1]]);
        let one = terms.xor(undefined[0], undefined[1]);
        let mut otherwise = terms.and_all([fails[0], fails[1], one]);
        match printed_before(terms, [&old, &new], &failures) {
            Ok(differs) => otherwise = terms.or(otherwise, differs),
            Err(reason) => not_compared.push(format!("what is printed before a failure: {reason}")),
        }
        let mut differences: Vec<(Seen, Term)> = found
            .found
            .into_iter()
            .map(|difference| (seen(&difference), difference.condition))
            .collect();
        // A loop that does nothing has no end, and is no failure.
        let endless = [&old, &new].map(|encoding| terms.or_all(encoding.endless.iter().copied()));
        let one_ends = terms.xor(endless[0], endless[1]);
        if terms.as_truth(one_ends) != Some(false) {
            differences.push((Seen::Ending, one_ends));
        }
        let both_endless = terms.and(endless[0], endless[1]);
        if terms.as_truth(both_endless) != Some(false) {
            match printed_differently(terms, &old.outcome.output, &new.outcome.output) {
                Ok(differs) => {
                    let differs = terms.and(both_endless, differs);
                    if terms.as_truth(differs) != Some(false) {
                        differences.push((Seen::Output, differs));
                    }
                }
                Err(reason) => {
                    not_compared.push(format!("what is printed before an endless loop: {reason}"));
                }
            }
        }
        let ended = terms.or_all(differences.iter().map(|(_, condition)| *condition));
        let different = terms.or_all([alone[0], alone[1], otherwise, ended]);
        let mut limits = limits(terms, &old, &new);
        limits.extend(not.unknown.into_iter().map(|condition| Limit {
            condition,
            reason: "where a pointer leads is not known".to_owned(),
            place: None,
            is_bound: false,
        }));
        limits.extend(alone_there);
        let mut limited = terms.or_all(limits.iter().map(|limit| limit.condition));
        // Of inputs that take another path than the one that was followed nothing is said.
        let turns = old.turns.iter().chain(&new.turns);
        let path = terms.and_all(turns.map(|turn| turn.condition));
        let elsewhere = terms.not(path);
        limited = terms.or(limited, elsewhere);
        let mut pair = Pair {
            encodings: [old, new],
            domain,
            longest: input,
            limits,
            limited,
            failures,
            alone,
            otherwise,
            differences,
            ended,
            different,
            finishes,
            not_compared,
            pointees,
            nans,
        };
        if terms.as_truth(pair.different) != Some(false) {
            pair.unify(terms);
        }
        pair
    }

    /// Makes those parts of all conditions one that are the same by the laws of arithmetic.
    fn unify(&mut self, terms: &mut Terms) {
        let mut all: Vec<&mut Term> = vec![
            &mut self.domain,
            &mut self.limited,
            &mut self.otherwise,
            &mut self.ended,
            &mut self.different,
            &mut self.finishes,
        ];
        all.extend(&mut self.alone);
        all.extend(self.limits.iter_mut().map(|limit| &mut limit.condition));
        all.extend(self.differences.iter_mut().map(|(_, condition)| condition));
        let failures = self.failures.iter_mut().flatten();
        all.extend(failures.map(|first| &mut first.condition));
        let roots: Vec<Term> = all.iter().map(|term| **term).collect();
        let unified = Rings::default().unified(terms, &roots);
        for (term, new) in all.into_iter().zip(unified) {
            *term = new;
        }
    }

    /// Returns the encoding of one of the programs.
    pub fn encoding(&self, side: Side) -> &Encoding {
        &self.encodings[side.index()]
    }

    /// Returns the inputs of both programs, each once.
    pub fn inputs(&self) -> Vec<&Input> {
        let mut all: Vec<&Input> = self.encodings[0].inputs.iter().collect();
        for input in &self.encodings[1].inputs {
            if !all.iter().any(|other| other.term == input.term) {
                all.push(input);
            }
        }
        all
    }

    /// Returns all terms on which the answers rest: the conditions of differences and of unknown effects, and the effects of each
    /// program. Callers look there for library functions and arguments.
    pub fn roots(&self) -> Vec<Term> {
        let seen: Vec<Seen> = self
            .differences
            .iter()
            .map(|(seen, _)| seen.clone())
            .collect();
        let mut all = vec![self.domain, self.limited, self.different];
        for encoding in &self.encodings {
            all.extend(behaviour::roots(encoding, &seen));
        }
        all
    }

    /// Returns the assumptions of both encodings, for the report.
    pub fn notes(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        if self.nans {
            all.push(ONE_NAN.to_owned());
        }
        for encoding in &self.encodings {
            for note in &encoding.notes {
                if !all.contains(note) {
                    all.push(note.clone());
                }
            }
        }
        all
    }
}

fn seen(difference: &Difference) -> Seen {
    match difference.what.as_str() {
        "the output" => Seen::Output,
        "the output to standard error" => Seen::ErrorOutput,
        "the exit status" => Seen::Exit,
        "the type of the result" => Seen::ResultType,
        what => match what
            .strip_prefix("what `")
            .and_then(|rest| rest.strip_suffix("` holds"))
        {
            Some(name) => Seen::Object(name.to_owned()),
            None => Seen::Result,
        },
    }
}

/// Objects that only one version has, and changes: what later calls make of that is not known.
fn changed_alone(terms: &Terms, old: &Encoding, new: &Encoding) -> Vec<Limit> {
    let mut all = Vec::new();
    for (side, own, other) in [(Side::Old, old, new), (Side::New, new, old)] {
        for (name, condition) in &own.outcome.changed {
            let has = other.outcome.objects.iter().any(|(known, _)| known == name);
            if has || terms.as_truth(*condition) == Some(false) {
                continue;
            }
            all.push(Limit {
                condition: *condition,
                reason: format!(
                    "`{name}`, which only {} has, is changed, and what later calls make of that is not compared",
                    side.name()
                ),
                place: None,
                is_bound: false,
            });
        }
    }
    all
}

/// What stands in bytes that belong to no member is the same in both: nobody may look at it.
fn without_gaps(terms: &mut Terms, encoding: &mut Encoding, holders: &[Holder]) {
    for (name, parts) in &mut encoding.outcome.objects {
        let mut own = holders.iter().filter(|one| one.name == *name);
        let Some(holder) = own.find(|one| !one.gaps.is_empty()) else {
            continue;
        };
        let mut at = 0;
        for part in parts {
            let width = terms.width(*part);
            let mut mask = u128::MAX >> (128 - width);
            for byte in 0..u64::from(width / 8) {
                let is_in = |&(from, to): &(u64, u64)| (from..to).contains(&(at + byte));
                if holder.gaps.iter().any(is_in) {
                    mask &= !(0xff << (8 * byte));
                }
            }
            if mask != u128::MAX >> (128 - width) {
                let mask = terms.constant(width, mask);
                *part = terms.bit_and(*part, mask);
            }
            at += u64::from(width / 8);
        }
    }
}

/// How many different failures, told apart by what is printed before them, are compared with each other at most.
const MOST_BEFORE: usize = 16;

/// Inputs for which both programs fail in the same way, after they have printed something else.
fn printed_before(
    terms: &mut Terms,
    encodings: [&Encoding; 2],
    failures: &[Vec<First>; 2],
) -> Result<Term, &'static str> {
    let mut differs = terms.truth(false);
    if encodings.iter().all(|one| one.outcome.output.is_empty()) {
        return Ok(differs);
    }
    for is_undefined in [true, false] {
        // By how much was printed: the failures, and the condition that one of them comes first.
        let mut groups: [Vec<(usize, Term)>; 2] = [Vec::new(), Vec::new()];
        for (side, group) in groups.iter_mut().enumerate() {
            for first in &failures[side] {
                let failure = &encodings[side].failures[first.index];
                if matches!(failure.kind, FailureKind::Undefined(_)) != is_undefined {
                    continue;
                }
                match group
                    .iter_mut()
                    .find(|(printed, _)| *printed == failure.printed)
                {
                    Some((_, condition)) => *condition = terms.or(*condition, first.condition),
                    None => group.push((failure.printed, first.condition)),
                }
            }
        }
        if groups[0].len() * groups[1].len() > MOST_BEFORE {
            return Err("there are too many places");
        }
        for &(old, old_fails) in &groups[0] {
            for &(new, new_fails) in &groups[1] {
                let both = terms.and(old_fails, new_fails);
                if terms.as_truth(both) == Some(false) {
                    continue;
                }
                let [a, b] = encodings.map(|one| &one.outcome.output[..]);
                let (a, b) = (&a[..old.min(a.len())], &b[..new.min(b.len())]);
                let here = printed_differently(terms, a, b)?;
                let here = terms.and(both, here);
                differs = terms.or(differs, here);
            }
        }
    }
    Ok(differs)
}

/// Turns a printed value into the text that its conversion prints, if that is known: `%d` of 5 becomes `5`.
pub(crate) fn plain(terms: &mut Terms, piece: &mut Piece) {
    let Piece::Value(spelled, ty, value) = piece else {
        return;
    };
    let (ty, value) = (*ty, *value);
    let width = 8 * ty.size() as u32;
    *piece = match (spelled.as_str(), terms.as_constant(value)) {
        ("%c", _) if width >= 8 => Piece::Byte(terms.extract(value, 7, 0)),
        ("%d" | "%i", Some(bits)) if width == 32 => {
            Piece::Text((bits as u32 as i32).to_string().into_bytes())
        }
        ("%u", Some(bits)) if width == 32 => Piece::Text((bits as u32).to_string().into_bytes()),
        _ => return,
    };
}

fn firsts(terms: &mut Terms, encoding: &Encoding) -> Vec<First> {
    let mut before = terms.truth(false);
    let mut all = Vec::new();
    for (index, failure) in encoding.failures.iter().enumerate() {
        let fine = terms.not(before);
        let condition = terms.and(failure.condition, fine);
        before = terms.or(before, failure.condition);
        if terms.as_truth(condition) != Some(false) {
            all.push(First { condition, index });
        }
    }
    all
}

fn limits(terms: &mut Terms, old: &Encoding, new: &Encoding) -> Vec<Limit> {
    let mut all = Vec::new();
    for encoding in [old, new] {
        all.extend(encoding.unknown.iter().map(|unknown| Limit {
            condition: unknown.condition,
            reason: unknown.reason.clone(),
            place: Some(unknown.place.clone()),
            is_bound: false,
        }));
        all.extend(encoding.unwinding.iter().map(|end| {
            Limit {
                condition: end.condition,
                reason: match end.kind {
                    UnwindingKind::Calls => "the call is nested more deeply than the bound",
                    UnwindingKind::Rounds => "the loop has more rounds than the bound",
                    UnwindingKind::Instructions => "more instructions would have to be encoded",
                }
                .to_owned(),
                place: Some(end.place.clone()),
                is_bound: true,
            }
        }));
    }
    if let Some(reason) = reads_otherwise(old, new) {
        all.push(Limit {
            condition: terms.truth(true),
            reason: reason.to_owned(),
            place: None,
            is_bound: false,
        });
    }
    let mut sequences: Vec<String> = Vec::new();
    for input in old.inputs.iter().chain(&new.inputs) {
        if let Some(name) = sequence(input)
            && !sequences.contains(&name)
        {
            sequences.push(name);
        }
    }
    for name in sequences {
        let condition = out_of_step(terms, old, new, &name);
        if terms.as_truth(condition) != Some(false) {
            all.push(Limit {
                condition,
                reason: format!("the versions read {name} in another order, which is not compared"),
                place: None,
                is_bound: false,
            });
        }
    }
    all
}

/// The sequence that an input is the next one of, when it is consumed.
fn sequence(input: &Input) -> Option<String> {
    match &input.kind {
        InputKind::Returned { function, .. } => Some(format!("the results of `{function}`")),
        InputKind::Scanned { .. } | InputKind::Present | InputKind::Unfit => {
            Some("standard input".to_owned())
        }
        _ => None,
    }
}

/// Both programs go on to consume inputs of a sequence after only one of them has consumed one: then equal names do not
/// mean the same element of it.
fn out_of_step(terms: &mut Terms, old: &Encoding, new: &Encoding, name: &str) -> Term {
    let of = |encoding: &Encoding| -> Vec<(Term, Term)> {
        let own = encoding.inputs.iter();
        own.filter(|input| sequence(input).is_some_and(|other| other == name))
            .map(|input| (input.term, input.condition))
            .collect()
    };
    let (a, b) = (of(old), of(new));
    let no = terms.truth(false);
    let (mut ahead_a, mut ahead_b, mut bad) = (no, no, no);
    for at in 0..a.len().max(b.len()) {
        let (x, y) = (a.get(at), b.get(at));
        let is_same = matches!((x, y), (Some(x), Some(y)) if x.0 == y.0);
        let consumes_a = x.map_or(no, |one| one.1);
        let consumes_b = y.map_or(no, |one| one.1);
        for (ahead, consumes) in [(ahead_a, consumes_b), (ahead_b, consumes_a)] {
            let here = terms.and(ahead, consumes);
            bad = terms.or(bad, here);
        }
        let (only_a, only_b) = match is_same {
            true => {
                let (not_a, not_b) = (terms.not(consumes_a), terms.not(consumes_b));
                (terms.and(consumes_a, not_b), terms.and(consumes_b, not_a))
            }
            false => {
                let both = terms.and(consumes_a, consumes_b);
                bad = terms.or(bad, both);
                (consumes_a, consumes_b)
            }
        };
        ahead_a = terms.or(ahead_a, only_a);
        ahead_b = terms.or(ahead_b, only_b);
    }
    bad
}
