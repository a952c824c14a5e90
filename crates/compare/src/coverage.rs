//! Computes which share of the inputs partitions cover: exactly if all of them are boxes, else by an
//! estimate.

use patchwright_solve::{Assignment, Sort, Term, Terms};
use patchwright_symbolic::InputKind;
use rustc_hash::FxHashMap;

use crate::{
    bounds::{Part, limits},
    pair::Pair,
    partition::Partition,
    random::Random,
};

/// The part of the input space that a condition describes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// A range for each variable that is bounded, and whether that is all of the condition.
    sides: FxHashMap<Term, (i128, i128, u32, bool)>,
    is_box: bool,
}

impl Region {
    /// Makes the region of all inputs that satisfy the parts of a partition's condition.
    pub(crate) fn of(terms: &Terms, parts: &[Part]) -> Region {
        let mut region = Region {
            is_box: true,
            ..Region::default()
        };
        for part in parts {
            match part {
                Part::Range(range) => {
                    let side = (range.first, range.last, range.width, range.is_signed);
                    region.sides.insert(range.variable, side);
                }
                Part::Set(_) => region.is_box = false,
                Part::Term(term) => region.is_box &= terms.as_truth(*term) == Some(true),
            }
        }
        region
    }
}

/// A share of all inputs, exact or estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// It is known exactly.
    Exact(f64),
    /// It was estimated from random inputs, and lies between these with a confidence of 95 %.
    Between(f64, f64),
}

/// Boxes that a union is cut into at most.
const MOST_BOXES: usize = 20_000;
/// Random inputs that are looked at.
const SAMPLES: u32 = 4096;

/// Returns which share of the inputs within the assumptions the partitions cover.
pub fn covered(terms: &mut Terms, pair: &Pair, partitions: &[Partition]) -> Share {
    if terms.as_truth(pair.domain) == Some(true)
        && partitions.iter().all(|partition| partition.region.is_box)
        && let Some(share) = volume(partitions)
    {
        return Share::Exact(share);
    }
    sampled(terms, pair, partitions)
}

/// The first and the last value of each variable.
type Cuboid = Vec<(i128, i128)>;

/// The share of the union of boxes in the whole.
fn volume(partitions: &[Partition]) -> Option<f64> {
    let mut variables: Vec<Term> = Vec::new();
    let mut whole: Cuboid = Vec::new();
    for partition in partitions {
        for (&variable, &(_, _, width, is_signed)) in &partition.region.sides {
            if !variables.contains(&variable) {
                variables.push(variable);
                whole.push(limits(width, is_signed));
            }
        }
    }
    let mut disjoint: Vec<Cuboid> = Vec::new();
    for partition in partitions {
        let own: Cuboid = variables
            .iter()
            .zip(&whole)
            .map(|(variable, &all)| {
                let side = partition.region.sides.get(variable);
                side.map_or(all, |&(first, last, ..)| (first, last))
            })
            .collect();
        let mut pieces = vec![own];
        for other in &disjoint {
            pieces = pieces
                .into_iter()
                .flat_map(|piece| without(piece, other))
                .collect();
            if pieces.len() + disjoint.len() > MOST_BOXES {
                return None;
            }
        }
        disjoint.extend(pieces);
    }
    let shares = disjoint.iter().map(|piece| {
        let sides = piece.iter().zip(&whole);
        sides
            .map(|(own, all)| (own.1 - own.0 + 1) as f64 / (all.1 - all.0 + 1) as f64)
            .product::<f64>()
    });
    Some(shares.sum())
}

/// The boxes that are left of one without another one.
fn without(mut piece: Cuboid, other: &Cuboid) -> Vec<Cuboid> {
    let meets = piece
        .iter()
        .zip(other)
        .all(|(a, b)| a.0 <= b.1 && b.0 <= a.1);
    if !meets {
        return vec![piece];
    }
    let mut left = Vec::new();
    for side in 0..piece.len() {
        let ((first, last), (low, high)) = (piece[side], other[side]);
        if first < low {
            let mut part = piece.clone();
            part[side] = (first, low - 1);
            left.push(part);
        }
        if high < last {
            let mut part = piece.clone();
            part[side] = (high + 1, last);
            left.push(part);
        }
        piece[side] = (first.max(low), last.min(high));
    }
    left
}

/// The share by random inputs.
fn sampled(terms: &mut Terms, pair: &Pair, partitions: &[Partition]) -> Share {
    let variables: Vec<(Term, bool)> = pair
        .inputs()
        .iter()
        .map(|input| (input.term, input.kind == InputKind::Length))
        .collect();
    let union = terms.or_all(partitions.iter().map(|partition| partition.term));
    let mut random = Random::new(1);
    let (mut tried, mut inside) = (0, 0);
    for _ in 0..SAMPLES {
        let mut assignment = Assignment::new();
        for &(variable, is_length) in &variables {
            let bits = random.wide();
            match terms.sort(variable) {
                _ if is_length => {
                    let length = (bits >> 64) % (u128::from(pair.longest) + 1);
                    assignment.set_bits(terms, variable, length);
                }
                Sort::Bool => assignment.set_bits(terms, variable, bits >> 64 & 1),
                Sort::Bits(width) => {
                    assignment.set_bits(terms, variable, bits >> (128 - width));
                }
                Sort::Array { .. } => {}
            }
        }
        let values = terms.evaluate_all(&[pair.domain, union], &assignment);
        if values[0].truth() {
            tried += 1;
            inside += u32::from(values[1].truth());
        }
    }
    wilson(inside, tried)
}

/// A share of which random samples were looked at: Wilson's interval.
pub(crate) fn wilson(inside: u32, tried: u32) -> Share {
    if tried == 0 {
        return Share::Between(0.0, 1.0);
    }
    let (n, z) = (f64::from(tried), 1.96_f64);
    let share = f64::from(inside) / n;
    let centre = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    Share::Between(
        ((centre - spread) / whole).max(0.0),
        ((centre + spread) / whole).min(1.0),
    )
}
