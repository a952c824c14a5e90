//! Texts that are cut off, or miss a line, are compared like others.

use crate::common::change;

const SAMPLE: &str = r#"#include <stdio.h>
#ifdef A
static int one(int a)
#else
static int one(long a)
#endif
{
  for (int i = 0; i < a && (a || !i); i++) {
    if (i % 2) continue; else if (a == 3) goto out;
    switch (i) { case 1: f(i); break; case 2: case 3: g(&i); default: h(); }
  }
  LIST_FOR_EACH (x, list) { x->n++; }
out:
  do { a--; } while (a > 0 && one(a - 1));
  return a ? 1 : 0;
}
local int two(p, q)
    char *p; int q;
{
  while (*p++ != q) { CHECK (p) if (!p) exit(1); }
  return one(q);
}
#if 0
nothing
#endif
int (*table[])(int) = { one };
INIT (name)
{
  two("}", '{');
}
"#;

#[test]
fn a_text_does_not_differ_from_itself() {
    let measured = change(SAMPLE, SAMPLE);
    assert!(measured.graph.is_empty() && measured.functions.is_empty());
    assert_eq!(measured.outside, Default::default());
}

#[track_caller]
fn is_sound(old: &str, new: &str) {
    let measured = change(old, new);
    let graph = &measured.graph;
    let places = graph.vertices.len();
    assert!(
        graph
            .edges
            .iter()
            .all(|(from, to)| *from < places && *to < places)
    );
    assert_eq!(graph.sequences().len(), graph.sequence_count());
    if graph.components() == 1 {
        assert_eq!(graph.sequence_count(), graph.complexity());
    }
    if !graph.is_empty() {
        assert!(graph.complexity() > 0);
    }
}

#[test]
fn a_text_that_is_cut_off_can_be_compared() {
    for cut in (0..SAMPLE.len()).step_by(11) {
        is_sound(SAMPLE, &SAMPLE[..cut]);
        is_sound(&SAMPLE[..cut], SAMPLE);
    }
}

#[test]
fn a_text_without_one_of_its_lines_can_be_compared() {
    let lines: Vec<&str> = SAMPLE.split_inclusive('\n').collect();
    for left_out in 0..lines.len() {
        let rest: String = (0..lines.len())
            .filter(|line| *line != left_out)
            .map(|line| lines[line])
            .collect();
        is_sound(SAMPLE, &rest);
        is_sound(&rest, SAMPLE);
    }
}
