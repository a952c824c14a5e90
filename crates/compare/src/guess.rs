//! Guesses inputs for which two programs differ. Thousands of guesses take less time than one hard
//! question to the solver.

use patchwright_ir::Type;
use patchwright_prove::Real;
use patchwright_solve::{Assignment, Sort, Term, Terms};
use patchwright_symbolic::InputKind;

use crate::{columns::Columns, pair::Pair, random::Random, shown::Names};

/// Values of terms that are calculated at most, and inputs that are tried.
const MOST_VALUES: usize = 20_000_000;
const FEWEST: usize = 64;
const MOST: usize = 4096;
/// Constants of the programs that are put in.
const MOST_CONSTANTS: usize = 256;

/// Tries random inputs within the domain. For each goal it returns an input for which the goal holds, if one was found and both programs'
/// behaviour is known for it.
pub(crate) fn guessed(
    terms: &mut Terms,
    pair: &Pair,
    names: &Names,
    goals: &[Term],
    interrupt: &dyn Fn() -> bool,
) -> Vec<Option<Assignment>> {
    let mut found = vec![None; goals.len()];
    let is_open = |terms: &Terms, goal: Term| terms.as_truth(goal) != Some(false);
    if interrupt() || !goals.iter().any(|&goal| is_open(terms, goal)) {
        return found;
    }
    let known = terms.not(pair.limited);
    let counts = terms.and(pair.domain, known);
    let mut roots = vec![counts];
    roots.extend(goals);
    let within = terms.within(&roots);
    let variables: Vec<Variable> = pair
        .inputs()
        .into_iter()
        .filter(|input| !matches!(terms.sort(input.term), Sort::Array { .. }))
        .map(|input| Variable {
            term: input.term,
            width: match terms.sort(input.term) {
                Sort::Bits(width) => width,
                _ => 1,
            },
            is_length: input.kind == InputKind::Length,
            float: match names.of.get(&input.term) {
                Some((_, Some(ty @ (Type::F32 | Type::F64)))) => Some(*ty),
                _ => None,
            },
        })
        .collect();
    let mut constants: Vec<(u32, u128)> = Vec::new();
    for &term in &within {
        if let (Sort::Bits(width), Some(bits)) = (terms.sort(term), terms.as_constant(term))
            && constants.len() < MOST_CONSTANTS
        {
            constants.push((width, bits));
        }
    }
    let count = (MOST_VALUES / within.len().max(1)).clamp(FEWEST, MOST);
    let mut random = Random::new(1);
    let inputs: Vec<Vec<u128>> = (0..count)
        .map(|_| input(&mut random, &variables, &constants, pair.longest))
        .collect();
    let terms_of: Vec<Term> = variables.iter().map(|variable| variable.term).collect();
    let columns = Columns::new(terms, &roots, &terms_of);
    let real = Real::of(terms, &pair.roots());
    for block in inputs.chunks(FEWEST) {
        if interrupt() {
            break;
        }
        let values = columns.evaluate(block);
        for (goal, found) in found.iter_mut().enumerate() {
            let holds = |at: &usize| values[0][*at] != 0 && values[goal + 1][*at] != 0;
            if found.is_none()
                && let Some(at) = (0..block.len()).find(holds)
            {
                let mut assignment = Assignment::new();
                for (variable, &bits) in terms_of.iter().zip(&block[at]) {
                    assignment.set_bits(terms, *variable, bits);
                }
                *found = Some(real.truthful(terms, &assignment));
            }
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    found
}

struct Variable {
    term: Term,
    width: u32,
    is_length: bool,
    float: Option<Type>,
}

/// Values of all variables: numbers that the programs know and those beside them, small ones, those of other variables, limits,
/// any.
fn input(
    random: &mut Random,
    variables: &[Variable],
    constants: &[(u32, u128)],
    longest: u32,
) -> Vec<u128> {
    let mut all: Vec<u128> = Vec::new();
    for variable in variables {
        let mask = u128::MAX >> (128 - variable.width);
        let any = u128::from(random.next()) << 48 ^ u128::from(random.next());
        let bits = match (variable.float, random.below(8)) {
            _ if variable.is_length => random.below(longest as usize + 1) as u128,
            (Some(ty), kind @ 0..=5) => {
                let number = match kind {
                    0 => random.below(8) as f64,
                    1 => random.below(400) as f64 / 4.0 - 50.0,
                    2 => -(random.below(2000) as f64),
                    _ => random.below(100_000) as f64 / 100.0,
                };
                match ty {
                    Type::F32 => u128::from((number as f32).to_bits()),
                    _ => u128::from(number.to_bits()),
                }
            }
            (_, 0..=2) => {
                let fitting = |one: &&(u32, u128)| one.0 == variable.width || one.1 <= mask;
                let known: Vec<u128> = constants.iter().filter(fitting).map(|one| one.1).collect();
                match known.len() {
                    0 => any,
                    count => {
                        let near = [0, 1, u128::MAX][random.below(3)];
                        known[random.below(count)].wrapping_add(near)
                    }
                }
            }
            (_, 3) => random.below(16) as u128,
            (_, 4) => (random.below(200) as u128).wrapping_sub(100),
            (_, 5) if !all.is_empty() => all[random.below(all.len())],
            (_, 6) => [0, mask, mask >> 1, (mask >> 1) + 1][random.below(4)],
            _ => any,
        };
        all.push(bits & mask);
    }
    all
}
