//! The running example of the thesis on regression verification (figures 2.1 to 2.5): dependences and slices.

use std::collections::BTreeSet;

use patchwright_flow::dependence::Dependence;
use patchwright_flow::{Cfg, Function, Node, read_default};

/// Figure 2.1: each statement on its own line, whose number is the figure's. `ch1` to `ch3` are the changed lines.
fn running_example(ch1: &str, ch2: &str, ch3: &str) -> Function {
    let source = format!(
        "void f(int i, int j) {{ input(&i, &j);\n a = {ch1};\n b = 0;\n o = 0;\n if (a > 0) {{\n b = {ch2};\n o = 1;\n }}\n \
         if (b > 0)\n o = {ch3};\n output(o); }}\n"
    );
    let mut outline = read_default(source.as_bytes());
    assert_eq!(outline.unclear, []);
    outline.functions.pop().unwrap()
}

fn original() -> Function {
    running_example("i", "j", "2")
}

fn modified() -> Function {
    running_example("i + 1", "j + 1", "o + 1")
}

struct Graph {
    function: Function,
    cfg: Cfg,
    dependence: Dependence,
}

impl Graph {
    fn of(function: Function) -> Self {
        let cfg = Cfg::new(&function);
        let dependence = Dependence::of(&function, &cfg);
        Graph {
            function,
            cfg,
            dependence,
        }
    }

    fn line(&self, node: usize) -> Option<u32> {
        match self.cfg.node(node) {
            Node::Action(action) => Some(self.function.action(action).line),
            _ => None,
        }
    }

    fn node(&self, line: u32) -> usize {
        (0..self.cfg.node_count())
            .find(|node| self.line(*node) == Some(line))
            .unwrap()
    }

    fn lines(&self, nodes: impl IntoIterator<Item = usize>) -> BTreeSet<u32> {
        nodes
            .into_iter()
            .filter_map(|node| self.line(node))
            .collect()
    }

    fn backward(&self, line: u32) -> BTreeSet<u32> {
        self.lines(self.dependence.backward_slice(&[self.node(line)]))
    }

    fn forward(&self, line: u32) -> BTreeSet<u32> {
        self.lines(self.dependence.forward_slice(&[self.node(line)]))
    }
}

#[test]
fn forward_slices_are_those_of_figure_2_3() {
    for function in [original(), modified()] {
        let graph = Graph::of(function);
        assert_eq!(graph.forward(2), [2, 5, 6, 7, 9, 10, 11].into());
        assert_eq!(graph.forward(6), [6, 9, 10, 11].into());
        assert_eq!(graph.forward(10), [10, 11].into());
    }
}

/// The figure leaves the criterion out of the slice of line 2 and has it in the others; here it is always in.
#[test]
fn backward_slices_are_those_of_figure_2_3() {
    let graph = Graph::of(original());
    assert_eq!(graph.backward(2), [1, 2].into());
    assert_eq!(graph.backward(6), [1, 2, 5, 6].into());
    assert_eq!(graph.backward(10), [1, 2, 3, 5, 6, 9, 10].into());
    let graph = Graph::of(modified());
    assert_eq!(graph.backward(2), [1, 2].into());
    assert_eq!(graph.backward(6), [1, 2, 5, 6].into());
    // The figure's table lacks line 4, on which section 2.2.2 says that line 10 depends: "a new dependence of the
    // statement in line 10 on those in lines 4 and 7".
    assert_eq!(graph.backward(10), [1, 2, 3, 4, 5, 6, 7, 9, 10].into());
}

#[test]
fn line_10_depends_directly_on_lines_4_and_7_after_the_change() {
    let graph = Graph::of(modified());
    let on = &graph.dependence.data[graph.node(10)];
    assert_eq!(graph.lines(on.iter().copied()), [4, 7].into());
    let on = &graph.dependence.control[graph.node(10)];
    assert_eq!(graph.lines(on.iter().copied()), [9].into());
}

#[test]
fn changes_can_interact_where_figure_2_5_says() {
    let graph = Graph::of(modified());
    let interference = |lines: &[u32]| -> BTreeSet<u32> {
        let mut slices = lines.iter().map(|line| graph.forward(*line));
        let first = slices.next().unwrap();
        slices.fold(first, |common, slice| &common & &slice)
    };
    assert_eq!(interference(&[2, 6]), [6, 9, 10, 11].into());
    assert_eq!(interference(&[2, 10]), [10, 11].into());
    assert_eq!(interference(&[6, 10]), [10, 11].into());
    assert_eq!(interference(&[2, 6, 10]), [10, 11].into());
}
