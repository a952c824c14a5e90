//! The order in which mutants are taken, so that the first ones stand for the whole program.

use std::collections::BTreeMap;

use crate::generate::Mutant;

/// One more of the same form on a line is taken as if it were so many bits less likely.
const SAME_FORM: f64 = 6.0;

/// Orders mutants: the likeliest of each line, then the second of each, and so on. Within such a round functions take turns by
/// their numbers of lines, the likeliest first. A line gets other forms before it gets one a second time.
pub fn order(mutants: Vec<Mutant>) -> Vec<Mutant> {
    let mut by_line: BTreeMap<_, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        let mistake = &mutant.mistake;
        let line = (mistake.file.clone(), mistake.function.clone(), mistake.line);
        by_line.entry(line).or_default().push(mutant);
    }
    // By round, file and function.
    let mut rounds: BTreeMap<_, Vec<Mutant>> = BTreeMap::new();
    for ((file, function, _), of_line) in by_line {
        for (round, mutant) in varied(of_line).into_iter().enumerate() {
            let own = rounds.entry((round, file.clone(), function.clone()));
            own.or_default().push(mutant);
        }
    }
    let mut placed = Vec::new();
    for (number, ((round, ..), mut own)) in rounds.into_iter().enumerate() {
        own.sort_by(|a, b| {
            let (a, b) = (&a.mistake, &b.mistake);
            a.bits.total_cmp(&b.bits).then(a.line.cmp(&b.line))
        });
        let count = own.len() as f64;
        let places = own.into_iter().enumerate();
        placed.extend(
            places.map(|(at, mutant)| ((round, (at as f64 + 0.5) / count, number), mutant)),
        );
    }
    placed.sort_by(|(a, _), (b, _)| {
        let by_turn = a.1.total_cmp(&b.1);
        a.0.cmp(&b.0).then(by_turn).then(a.2.cmp(&b.2))
    });
    placed.into_iter().map(|(_, mutant)| mutant).collect()
}

/// The mutants of a line, the likeliest first, those of a form that was there already later.
fn varied(mut left: Vec<Mutant>) -> Vec<Mutant> {
    let mut taken: Vec<Mutant> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let cost = |mutant: &Mutant| {
            let form = mutant.mistake.form;
            let same = taken.iter().filter(|other| other.mistake.form == form);
            mutant.mistake.bits + SAME_FORM * same.count() as f64
        };
        let costs: Vec<f64> = left.iter().map(cost).collect();
        let least = (0..left.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        let Some(least) = least else { break };
        taken.push(left.remove(least));
    }
    taken
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use patchwright_repair::likelihood::Form;
    use patchwright_text::Edit;

    use super::*;
    use crate::generate::Mistake;

    fn mutant(function: &str, line: u32, form: Form, bits: f64) -> Mutant {
        Mutant {
            mistake: Mistake {
                file: PathBuf::from("a.c"),
                line,
                function: function.to_owned(),
                kind: "EXPRESSION".to_owned(),
                form,
                bits,
                edit: Edit::insert(line, ""),
            },
            source: Arc::from(&b""[..]),
            alone: Arc::from([]),
        }
    }

    #[test]
    fn lines_take_turns_and_vary_their_forms() {
        let (a, b) = (Form::BoundaryOperator, Form::NumberByOne);
        let all = vec![
            mutant("f", 1, a, 1.0),
            mutant("f", 1, a, 2.0),
            mutant("f", 1, b, 5.0),
            mutant("f", 2, a, 4.0),
            mutant("g", 9, a, 9.0),
        ];
        let order = order(all).into_iter().map(|one| one.mistake);
        let order: Vec<(u32, f64)> = order.map(|one| (one.line, one.bits)).collect();
        assert_eq!(order, [(1, 1.0), (9, 9.0), (2, 4.0), (1, 5.0), (1, 2.0)]);
    }
}
