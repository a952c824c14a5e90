//! Candidates that are evaluated by whole rows fall into the groups into which their terms,
//! compiled and evaluated one by one, put them.

use crate::common;

use std::collections::BTreeMap;

use patchwright_csource::{TranslationUnit, scopes};
use patchwright_semantics::{Ty, evaluate};
use patchwright_space::{
    AtomBuilder, CandidateId, Hole, LeafLimits, Leaves, Level, Parents, Shown, Slot, Space,
    SpaceLimits, StateSet, TermTypes, distant, holes, leaves, mentions, term,
};

const SOURCE: &str = r#"
struct part { int weight; unsigned char kind; double price; struct part *next; };

int integers(int a, unsigned b, long c, short d) {
  int result = a;
  if (a > 3 && b < 7u)
    result = a * d + (int)(b >> 2);
  if (c == d || !a)
    result = a < d ? a : -d;
  return result;
}

unsigned long widths(unsigned char small, signed char sign, unsigned long large, _Bool flag) {
  unsigned long total = large + small;
  if (flag || sign < 0)
    total = large / (small - 1);
  total = ~large % 10ul;
  return total;
}

double floating(float f, double d, int n) {
  double sum = d;
  if (f > d)
    sum = d - f;
  if (n / 2 > 1)
    sum = d * n;
  return sum;
}

int pointers(struct part *list, struct part *end, int limit) {
  int weight = 0;
  while (list != end && list->weight < limit) {
    weight = weight + list->weight;
    list = list->next;
  }
  if (list && list->kind == 2)
    weight = list->kind + limit;
  return weight;
}
"#;

/// Values and states that are the same in each run.
struct Random(patchwright_testkit::Random);

impl Random {
    fn new(seed: u64) -> Random {
        Random(patchwright_testkit::Random::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A value of type `ty`, often one at an edge of its range.
    fn value(&mut self, ty: Ty) -> u64 {
        let choice = self.next() % 8;
        let wide = self.next() as i64;
        let number = match choice {
            0 => 0,
            1..=3 => wide % 8,
            4 => wide % 300,
            5 => i64::from(i32::MIN) + wide.rem_euclid(2),
            6 => i64::from(i32::MAX) - wide.rem_euclid(2),
            _ => wide,
        };
        match ty {
            Ty::F32 | Ty::F64 if choice == 7 => {
                f64_of(ty, [f64::NAN, 1e30, -0.0, 0.5][(wide & 3) as usize])
            }
            Ty::F32 | Ty::F64 => f64_of(ty, number as f64 / 4.0),
            _ => patchwright_semantics::convert(Ty::I64, ty, number as u64).unwrap(),
        }
    }

    /// A state of a hole: the values of its slots, some of them undefined.
    fn state(&mut self, slots: &[Slot]) -> (Vec<u64>, Vec<u8>) {
        slots
            .iter()
            .map(|slot| {
                let undefined = u8::from(self.next().is_multiple_of(16));
                (self.value(slot.ty), undefined)
            })
            .unzip()
    }
}

fn f64_of(ty: Ty, value: f64) -> u64 {
    match ty {
        Ty::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// All holes of the source with their leaves and spaces.
fn spaces(mut unit: TranslationUnit) -> (TermTypes, Vec<Space>) {
    let functions = std::mem::take(&mut unit.functions);
    let mut types = TermTypes::of(&mut unit.types, &functions);
    let limits = LeafLimits {
        atoms: 5,
        constants: 2,
        distant: 3,
    };
    let mut found: Vec<(usize, Hole, Leaves)> = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        assert!(function.refusal.is_none(), "{:?}", function.refusal);
        let scope_map = scopes(&unit, function);
        let mut builder = AtomBuilder {
            unit: &mut unit,
            types: &mut types,
        };
        let mentioned: Vec<_> = functions
            .iter()
            .map(|function| mentions(&mut builder, function))
            .collect();
        for mut hole in holes(&mut builder, index, function, &scope_map) {
            let own = &mentioned[index];
            let near = leaves(&mut builder, function, own, &mut hole, limits);
            let shown = Shown::default();
            let distant = distant(
                &mut builder,
                &mentioned,
                index,
                &shown,
                &mut hole,
                &near,
                limits,
            );
            found.push((
                index,
                hole,
                Leaves {
                    near,
                    distant,
                    ..Leaves::default()
                },
            ));
        }
    }
    let spaces = found
        .into_iter()
        .map(|(index, hole, terms)| {
            let function = &functions[index];
            let expr = hole.expr;
            let limits = SpaceLimits {
                wanted: 8_000,
                term_size: 7,
                most: 40_000,
                ..SpaceLimits::default()
            };
            let parents = Parents::of(function);
            Space::build(
                hole,
                terms,
                function,
                &parents,
                expr,
                types.pointees(),
                limits,
            )
        })
        .collect();
    (types, spaces)
}

#[test]
#[ignore = "nightly: 7 s; candidates_followed_through_many_states_part_where_single_evaluation_tells_them_apart goes this way"]
fn groups_of_rows_are_the_groups_of_terms_evaluated_one_by_one() {
    let (types, spaces) = spaces(common::read(SOURCE));
    assert!(spaces.len() > 20, "{} holes", spaces.len());
    let pointees = types.pointees();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let (mut compared, mut undefined_values) = (0_u64, 0_u64);
    for space in &spaces {
        let atoms = &space.hole.atoms.table;
        let costs: std::collections::BTreeSet<u32> =
            space.blocks.iter().map(|block| block.cost).collect();
        for cost in costs {
            for _ in 0..4 {
                let (values, undefined) = random.state(&space.hole.atoms.slots);
                let mut level = Level::new(space, pointees, cost, 3);
                let before = level.group(0).map_or(0, |group| group.count);
                let parts = level.split(&[0], &values, &undefined);
                let mut group_of: BTreeMap<Option<u64>, (u32, CandidateId)> = BTreeMap::new();
                let mut total = 0;
                for part in &parts {
                    let group = part.group;
                    let mut count = 0;
                    for id in level.members(group) {
                        count += 1;
                        let term = space.term(id, pointees).expect("a candidate has a term");
                        let code = term::compile(&term, space.hole.context, atoms, pointees)
                            .expect("a candidate's term compiles");
                        let value = evaluate(&code, &values, &undefined);
                        assert_eq!(value, part.value);
                        compared += 1;
                        undefined_values += u64::from(value.is_none());
                        let (known, first) = *group_of.entry(value).or_insert((group, id));
                        let describe = |id| {
                            let term = space.term(id, pointees).unwrap();
                            let block = &space.blocks[id.block as usize];
                            format!("`{}` ({:?})", term.display(atoms, pointees), block.template)
                        };
                        assert_eq!(
                            known,
                            group,
                            "{} and {} are both {value:?} in state {values:?} {undefined:?}",
                            describe(first),
                            describe(id)
                        );
                    }
                    assert_eq!(count, level.group(group).map_or(0, |group| group.count));
                    total += count;
                }
                assert_eq!(total, before);
                // As many groups as values, so no group holds candidates of different values.
                assert_eq!(group_of.len(), parts.len());
            }
        }
    }
    println!(
        "{} holes, {compared} values, {undefined_values} undefined",
        spaces.len()
    );
    assert!(compared > 100_000 && undefined_values > compared / 1000);
}

#[test]
fn only_the_groups_that_are_asked_for_are_split_and_none_loses_a_candidate() {
    let (types, spaces) = spaces(common::read(SOURCE));
    let pointees = types.pointees();
    let mut random = Random::new(1);
    for space in &spaces {
        let Some(cost) = space.blocks.first().map(|block| block.cost) else {
            continue;
        };
        let mut level = Level::new(space, pointees, cost, 3);
        let all: Vec<CandidateId> = level.members(0).collect();
        let (values, undefined) = random.state(&space.hole.atoms.slots);
        level.split(&[0], &values, &undefined);
        let whole: Vec<(u32, Vec<CandidateId>)> = (0..level.group_count() as u32)
            .filter(|group| group % 2 == 0)
            .map(|group| (group, level.members(group).collect()))
            .collect();
        let asked: Vec<u32> = (0..level.group_count() as u32)
            .filter(|group| group % 2 == 1)
            .collect();
        let (values, undefined) = random.state(&space.hole.atoms.slots);
        let parts = level.split(&asked, &values, &undefined);
        assert!(parts.iter().all(|part| part.from % 2 == 1));
        for (group, members) in whole {
            assert_eq!(level.members(group).collect::<Vec<_>>(), members);
        }
        let mut now: Vec<CandidateId> = (0..level.group_count() as u32)
            .flat_map(|group| level.members(group).collect::<Vec<_>>())
            .collect();
        now.sort();
        assert_eq!(now, all);
        let first = level.isolate(0);
        assert_eq!(level.members(first).collect::<Vec<_>>(), all[..1]);
    }
}

#[test]
fn few_candidates_have_the_values_that_they_have_among_all() {
    let (types, spaces) = spaces(common::read(SOURCE));
    let pointees = types.pointees();
    let mut random = Random::new(2);
    for space in &spaces {
        let Some(cost) = space.blocks.last().map(|block| block.cost) else {
            continue;
        };
        let (values, undefined) = random.state(&space.hole.atoms.slots);
        let mut together = Level::new(space, pointees, cost, 3);
        let mut value_of: BTreeMap<CandidateId, Option<u64>> = BTreeMap::new();
        for part in together.split(&[0], &values, &undefined) {
            value_of.extend(together.members(part.group).map(|id| (id, part.value)));
        }
        let mut singly = Level::new(space, pointees, cost, 3);
        for _ in 0..40.min(value_of.len()) {
            let one = singly.isolate(0);
            let id = singly.members(one).next().expect("it is one");
            let parts = singly.split(&[one], &values, &undefined);
            assert_eq!(parts.len(), 1);
            assert_eq!(parts[0].value, value_of[&id]);
        }
    }
}

#[test]
fn candidates_followed_through_many_states_part_where_single_evaluation_tells_them_apart() {
    let (types, spaces) = spaces(common::read(SOURCE));
    let pointees = types.pointees();
    let mut random = Random::new(3);
    let (mut compared, mut agreed, mut undefined_values) = (0_u64, 0_u64, 0_u64);
    for space in &spaces {
        let atoms = &space.hole.atoms.table;
        let costs: std::collections::BTreeSet<u32> =
            space.blocks.iter().map(|block| block.cost).collect();
        let mut states = StateSet::default();
        let ids: Vec<u32> = (0..12)
            .map(|_| {
                let (values, undefined) = random.state(&space.hole.atoms.slots);
                states.insert(&values, &undefined).0
            })
            .collect();
        for cost in costs {
            let mut level = Level::new(space, pointees, cost, 3);
            let Some(first) = level.members(0).next() else {
                continue;
            };
            let values_of = |id: CandidateId| -> Vec<Option<u64>> {
                let term = space.term(id, pointees).expect("a candidate has a term");
                let code = term::compile(&term, space.hole.context, atoms, pointees)
                    .expect("a candidate's term compiles");
                ids.iter()
                    .map(|&id| {
                        let (values, undefined) = states.get(id);
                        evaluate(&code, values, undefined)
                    })
                    .collect()
            };
            // What is expected is what the first candidate gives.
            let expected = values_of(first);
            for part in level.split_along(0, &states, &ids, &expected) {
                for id in level.members(part.group) {
                    let values = values_of(id);
                    let differs = values.iter().zip(&expected).position(|(a, b)| a != b);
                    assert_eq!(part.agrees, differs.unwrap_or(ids.len()));
                    assert_eq!(part.value, differs.and_then(|at| values[at]));
                    compared += 1;
                    agreed += u64::from(differs.is_none());
                    undefined_values +=
                        values.iter().filter(|value| value.is_none()).count() as u64;
                }
            }
        }
    }
    println!("{compared} candidates, {agreed} agree, {undefined_values} undefined values");
    assert!(compared > 100_000 && agreed > 1_000 && undefined_values > compared / 100);
}
