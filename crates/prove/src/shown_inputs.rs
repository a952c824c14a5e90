//! Shows the values of inputs to the user.

use std::collections::BTreeMap;

use patchwright_ir::Type;
use patchwright_symbolic::{
    InputKind,
    inputs::{self, Way},
    naming,
};

use crate::verdict::Given;

/// Returns the names and values of the inputs that matter. Each pointer's target is described as one.
/// Objects to which no pointer points are left out.
pub fn shown_inputs(given: &[&Given]) -> Vec<(String, String)> {
    let all: Vec<Given> = given.iter().map(|one| (*one).clone()).collect();
    // Pointers that lead to nothing of their own.
    let mut away: Vec<String> = Vec::new();
    for one in &all {
        match &one.kind {
            InputKind::Null if one.bits != 0 => {
                away.extend(one.name.strip_suffix(" == NULL").map(str::to_owned));
            }
            InputKind::Same { pointer, .. } if one.bits != 0 => away.push(pointer.clone()),
            _ => {}
        }
    }
    let missing = missing(&all);
    let is_behind = |name: &str| {
        away.iter().any(|pointer| naming::is_behind(name, pointer))
            || missing.iter().any(|own| name.starts_with(own))
    };
    let mut shown = Vec::new();
    // What lies before an array's other elements is shown before them.
    let mut given: Vec<&Given> = given.to_vec();
    before_others(&mut given);
    let zeros = objects_of_zeros(&given);
    let mut told = Vec::new();
    for one in given {
        if is_behind(&one.name) {
            continue;
        }
        if let Some((object, others)) = zeros.get_key_value(word_of(one).unwrap_or_default())
            && one.bits == 0
        {
            if !told.contains(object) {
                told.push(object);
                let value = match others {
                    0 => "0 in all bytes",
                    _ => "0 in all other bytes",
                };
                shown.push(((*object).to_owned(), value.to_owned()));
            }
            continue;
        }
        match &one.kind {
            InputKind::Null => {
                let pointer = one.name.strip_suffix(" == NULL").filter(|_| one.bits != 0);
                shown.extend(pointer.map(|pointer| (pointer.to_owned(), "NULL".to_owned())));
            }
            InputKind::Called { ty: Type::Void, .. } => {}
            _ => match leads_to(one, &all) {
                Some(place) => shown.extend(place),
                None => shown.push((one.name.clone(), one.text())),
            },
        }
    }
    shown
}

/// From this number on, words of an object that begin with zero are told as one.
const MANY_ZEROS: usize = 4;

/// The object of which an input is a word at the start.
fn word_of(given: &Given) -> Option<&str> {
    let is_word = matches!(given.kind, InputKind::Initial(_));
    let (object, _) = given.name.split_once('+').filter(|_| is_word)?;
    Some(object)
}

/// The objects of whose words many are zero at the start, and how many others each has.
fn objects_of_zeros<'g>(given: &[&'g Given]) -> BTreeMap<&'g str, usize> {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for one in given {
        if let Some(object) = word_of(one) {
            counts.entry(object).or_default()[usize::from(one.bits != 0)] += 1;
        }
    }
    counts.retain(|_, [zeros, _]| *zeros >= MANY_ZEROS);
    let others = counts
        .into_iter()
        .map(|(object, [_, others])| (object, others));
    others.collect()
}

/// Puts elements that lie before what a pointer leads to where they lie.
fn before_others(given: &mut Vec<&Given>) {
    for at in 0..given.len() {
        let InputKind::Before { typed, before, .. } = &given[at].kind else {
            continue;
        };
        let (typed, before) = (typed.clone(), before.clone());
        let mut to = at + 1;
        for number in (1..=before.most).rev() {
            let own = naming::before_it(&typed, number);
            while let Some(from) = (to..given.len()).find(|&at| given[at].name.starts_with(&own)) {
                let one = given.remove(from);
                given.insert(to, one);
                to += 1;
            }
        }
    }
}

/// Whether another pointer leads into the array of this one.
fn is_entered(pointer: &str, all: &[Given]) -> bool {
    all.iter().any(|one| {
        let is_it = |way: &Way| {
            way.distance.is_some()
                && matches!(&way.to, inputs::Target::Pointer { name, .. } if name == pointer)
        };
        one.bits != 0 && matches!(&one.kind, InputKind::Same { way, .. } if is_it(way))
    })
}

/// How inputs begin that are elements of arrays which are not there, for the array begins or ends before them.
fn missing(all: &[Given]) -> Vec<String> {
    let mut missing = Vec::new();
    for one in all {
        let InputKind::Before {
            pointer,
            typed,
            before,
        } = &one.kind
        else {
            continue;
        };
        let count = match is_entered(pointer, all) {
            true => before.count(one.bits),
            false => 0,
        };
        missing.extend((count..before.most).map(|at| naming::before_it(typed, at + 1)));
        if before.shortens {
            let last = before.most - count..before.most;
            missing.extend(last.map(|at| naming::element(typed, at)));
        }
    }
    missing
}

/// How an input that says where a pointer leads is shown: the pointer, and what it leads to. Nothing for one that says nothing.
/// `None` for other inputs.
fn leads_to(given: &Given, all: &[Given]) -> Option<Option<(String, String)>> {
    match &given.kind {
        InputKind::Distance { .. } => Some(None),
        InputKind::Before {
            pointer, before, ..
        } => {
            let count = before.count(given.bits);
            let is_said = count > 0 && is_entered(pointer, all);
            Some(is_said.then(|| (given.name.clone(), count.to_string())))
        }
        InputKind::Same { .. } if given.bits == 0 => Some(None),
        InputKind::Same { pointer, way } => {
            let is_null = |one: &&Given| one.name == format!("{pointer} == NULL") && one.bits != 0;
            if all.iter().any(|one| is_null(&one)) {
                return Some(None);
            }
            let first = all.iter().find(|one| {
                matches!(&one.kind, InputKind::Same { pointer: other, .. } if other == pointer)
                    && one.bits != 0
            });
            // What comes first is what it leads to.
            if first.is_some_and(|first| first.name != given.name) {
                return Some(None);
            }
            let bits = |name: &String| {
                let found = all.iter().find(|one| one.name == *name);
                found.map_or(0, |one| one.bits)
            };
            let before = way.before.as_ref().map_or(0, |before| bits(&before.name));
            let position = way.distance.as_ref();
            let position = position.map_or(0, |distance| way.position(bits(distance), before));
            Some(Some((pointer.clone(), way.place(position))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_object_that_are_zero_are_told_as_one() {
        let word = |at: u64, bits: u128| Given {
            name: format!("table+{at}"),
            kind: InputKind::Initial(Type::I32),
            ty: Some(Type::I32),
            bits,
            consumed: true,
        };
        let shown = |words: &[u128]| -> Vec<String> {
            let given: Vec<Given> = (0..)
                .map(|at| 4 * at)
                .zip(words)
                .map(|(at, bits)| word(at, *bits))
                .collect();
            let given: Vec<&Given> = given.iter().collect();
            let shown = shown_inputs(&given).into_iter();
            shown
                .map(|(name, value)| format!("{name} = {value}"))
                .collect()
        };
        assert_eq!(shown(&[0; 100]), ["table = 0 in all bytes"]);
        assert_eq!(
            shown(&[7, 0, 0, 0, 0, 9]),
            [
                "table+0 = 7",
                "table = 0 in all other bytes",
                "table+20 = 9"
            ]
        );
        assert_eq!(shown(&[0, 7]), ["table+0 = 0", "table+4 = 7"]);
    }
}
