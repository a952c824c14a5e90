//! The running example of the thesis on regression verification (figures 2.1 to 2.5): dependences,
//! static slices, and the dynamic and the relevant slice of section 2.2.3.

use std::collections::BTreeSet;

use crate::common::{at, backward, forward, lines, program};
use patchwright_dependence::{DependenceKind, Graph, Occurrence, Recorder, VertexId};
use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::Program;

/// Figure 2.1: each statement on its own line, whose number is the figure's.
fn running_example(ch1: &str, ch2: &str, ch3: &str) -> Program {
    program(&format!(
        "int scanf(const char *, ...); int printf(const char *, ...); int i, j, a, b, o; int main(void) {{ scanf(\"%d %d\", &i, &j);\n \
         a = {ch1};\n b = 0;\n o = 0;\n if (a > 0) {{\n b = {ch2};\n o = 1;\n }}\n \
         if (b > 0)\n o = {ch3};\n printf(\"%d\", o);\n return 0; }}\n"
    ))
}

fn original() -> Program {
    running_example("i", "j", "2")
}

fn modified() -> Program {
    running_example("i + 1", "j + 1", "o + 1")
}

#[test]
fn forward_slices_are_those_of_figure_2_3() {
    for program in [original(), modified()] {
        let graph = Graph::of(&program);
        assert_eq!(forward(&graph, 2), [2, 5, 6, 7, 9, 10, 11].into());
        assert_eq!(forward(&graph, 6), [6, 9, 10, 11].into());
        assert_eq!(forward(&graph, 10), [10, 11].into());
    }
}

/// The figure leaves the criterion out of the slice of line 2 and has it in the others; here it is
/// always in.
#[test]
fn backward_slices_are_those_of_figure_2_3() {
    let program = original();
    let graph = Graph::of(&program);
    assert_eq!(backward(&graph, 2), [1, 2].into());
    assert_eq!(backward(&graph, 6), [1, 2, 5, 6].into());
    assert_eq!(backward(&graph, 10), [1, 2, 3, 5, 6, 9, 10].into());
    let program = modified();
    let graph = Graph::of(&program);
    assert_eq!(backward(&graph, 2), [1, 2].into());
    assert_eq!(backward(&graph, 6), [1, 2, 5, 6].into());
    // The figure's table lacks line 4, on which section 2.2.2 says that line 10 depends: "a new
    // dependence of the statement in line 10 on those in lines 4 and 7".
    assert_eq!(backward(&graph, 10), [1, 2, 3, 4, 5, 6, 7, 9, 10].into());
}

/// The lines on which a line depends directly, through temporaries and where definitions meet.
fn direct(graph: &Graph<'_>, line: u32, kind: DependenceKind) -> BTreeSet<u32> {
    let mut todo = at(graph, line, None);
    let mut seen: BTreeSet<VertexId> = todo.iter().copied().collect();
    let mut found = BTreeSet::new();
    while let Some(vertex) = todo.pop() {
        for (to, how) in graph.dependences(vertex) {
            match graph.line_of(to) {
                Some(other) if other.line != line => {
                    if how == kind {
                        found.insert(other.line);
                    }
                }
                _ if how == DependenceKind::Control || !seen.insert(to) => {}
                _ => todo.push(to),
            }
        }
    }
    found
}

#[test]
fn direct_dependences_are_those_of_figure_2_2() {
    use DependenceKind::{Control, Data};
    let program = original();
    let graph = Graph::of(&program);
    assert_eq!(direct(&graph, 10, Data), [].into());
    assert_eq!(direct(&graph, 10, Control), [9].into());
    assert_eq!(direct(&graph, 9, Data), [3, 6].into());
    assert_eq!(direct(&graph, 7, Control), [5].into());
    assert_eq!(direct(&graph, 11, Data), [4, 7, 10].into());
    let program = modified();
    let graph = Graph::of(&program);
    assert_eq!(direct(&graph, 10, Data), [4, 7].into());
    assert_eq!(direct(&graph, 10, Control), [9].into());
}

#[test]
fn changes_can_interact_where_figure_2_5_says() {
    let program = modified();
    let graph = Graph::of(&program);
    let interference = |lines: &[u32]| -> BTreeSet<u32> {
        let mut slices = lines.iter().map(|&line| forward(&graph, line));
        let first = slices.next().expect("there is one");
        slices.fold(first, |common, slice| &common & &slice)
    };
    assert_eq!(interference(&[2, 6]), [6, 9, 10, 11].into());
    assert_eq!(interference(&[2, 10]), [10, 11].into());
    assert_eq!(interference(&[6, 10]), [10, 11].into());
    assert_eq!(interference(&[2, 6, 10]), [10, 11].into());
}

fn executed(program: &Program, input: &str, relevant: bool) -> BTreeSet<u32> {
    let graph = Graph::of(program);
    let mut recorder = Recorder::new(&graph, 1_000_000);
    let mut world = Closed::with_input(input);
    let modules = program.modules.clone();
    let mut machine = Machine::link(modules, Limits::default(), &mut world).expect("links");
    machine.observe(&mut recorder);
    let outcome = machine.run(&[b"prog".to_vec()], &[]);
    assert_eq!(outcome.ending, Ending::Exit(0));
    drop(machine);
    let criterion = at(&graph, 11, None);
    let slice = recorder.slice(&criterion, Occurrence::Last, relevant);
    lines(&graph, &slice.vertices)
}

/// "only the statement in line 4 was contributing directly to the value o = 0 in line 11".
#[test]
fn the_dynamic_slice_has_what_contributed_directly() {
    assert_eq!(executed(&original(), "0 0", false), [4, 11].into());
    assert_eq!(
        executed(&original(), "1 1", false),
        [1, 2, 5, 6, 9, 10, 11].into()
    );
}

/// "the statements in lines 5, 2, and 1 indirectly contributed to the value": had line 5 been
/// decided in another way, line 7 would have been executed. So would line 9's branch: it is decided
/// by b, which line 3 defines.
#[test]
fn the_relevant_slice_has_the_decisions_that_mattered_too() {
    let slice = executed(&original(), "0 0", true);
    assert!(slice.is_superset(&[1, 2, 4, 5, 11].into()), "{slice:?}");
    assert_eq!(slice, [1, 2, 3, 4, 5, 9, 11].into());
}
