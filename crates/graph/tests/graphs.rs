//! What is computed of graphs agrees with what the words mean, on graphs of a few nodes.

use std::collections::BTreeSet;

use patchwright_graph::{
    DominatorTree, Nested, components, connected_parts, nested, postorder, reachable, reversed,
};
use proptest::prelude::*;

type Successors = Vec<Vec<usize>>;

/// Graphs of up to eight nodes; the first is the root.
fn graphs() -> impl Strategy<Value = Successors> {
    (1_usize..8).prop_flat_map(|count| {
        let next = prop::collection::vec(0..count, 0..4);
        prop::collection::vec(next, count)
    })
}

/// The nodes that can be reached without passing one of them.
fn without(graph: &Successors, root: usize, passed: usize) -> Vec<bool> {
    let mut cut = graph.clone();
    cut[passed].clear();
    match root == passed {
        true => vec![false; graph.len()],
        false => reachable(&cut, [root]),
    }
}

fn all_components(graph: &Successors) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let count = graph.len();
    components(
        count,
        0..count,
        |node| graph[node].clone(),
        |members| found.push(members.to_vec()),
    );
    found
}

/// The nodes of an order, each with the first nodes of the loops round it.
fn flat(order: &[Nested], around: &mut Vec<usize>, found: &mut Vec<(usize, Vec<usize>)>) {
    for one in order {
        match one {
            Nested::Node(node) => found.push((*node, around.clone())),
            Nested::Loop(head, inner) => {
                around.push(*head);
                found.push((*head, around.clone()));
                flat(inner, around, found);
                around.pop();
            }
        }
    }
}

proptest! {
    #[test]
    fn a_node_dominates_what_is_not_reached_without_it(graph in graphs()) {
        let tree = DominatorTree::of(&graph, 0);
        let reached = reachable(&graph, [0]);
        for above in 0..graph.len() {
            let cut = without(&graph, 0, above);
            for below in (0..graph.len()).filter(|&node| reached[node]) {
                let passes = above == below || reached[above] && !cut[below];
                prop_assert_eq!(tree.dominates(above, below), passes, "{} {}", above, below);
            }
            prop_assert_eq!(tree.is_reachable(above), reached[above]);
        }
        for &node in tree.order() {
            let above: BTreeSet<usize> = tree.up(node, None).collect();
            let dominators = (0..graph.len()).filter(|&other| reached[other] && tree.dominates(other, node));
            prop_assert_eq!(above, dominators.collect::<BTreeSet<usize>>());
        }
    }

    #[test]
    fn what_never_ends_counts_as_if_it_ended(graph in graphs()) {
        let exit = graph.len() - 1;
        let tree = DominatorTree::post(&graph, exit, (0..graph.len()).rev());
        for node in 0..graph.len() {
            prop_assert!(tree.is_reachable(node));
        }
        let ends = reachable(&reversed(&graph), [exit]);
        if ends.iter().all(|ends| *ends) {
            let turned = DominatorTree::of(&reversed(&graph), exit);
            for node in 0..graph.len() {
                prop_assert_eq!(tree.immediate(node), turned.immediate(node));
            }
        }
    }

    #[test]
    fn an_order_has_each_reached_node_once(graph in graphs()) {
        let order = postorder(&graph, 0);
        let reached = reachable(&graph, [0]);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let expected: Vec<usize> = (0..graph.len()).filter(|&node| reached[node]).collect();
        prop_assert_eq!(sorted, expected);
        prop_assert_eq!(order.last(), Some(&0));
    }

    #[test]
    fn nodes_of_a_component_reach_each_other_and_no_earlier_one_a_later_one(graph in graphs()) {
        let found = all_components(&graph);
        let place = |node: usize| found.iter().position(|members| members.contains(&node)).unwrap();
        prop_assert_eq!(found.iter().map(Vec::len).sum::<usize>(), graph.len());
        for one in 0..graph.len() {
            let reached = reachable(&graph, [one]);
            for other in (0..graph.len()).filter(|&other| reached[other]) {
                let back = reachable(&graph, [other])[one];
                prop_assert_eq!(place(one) == place(other), back);
                prop_assert!(place(other) <= place(one));
            }
        }
    }

    #[test]
    fn an_edge_backward_in_a_weak_order_leads_to_the_head_of_a_loop_round_it(graph in graphs()) {
        let (mut all, reached) = (Vec::new(), reachable(&graph, [0]));
        flat(&nested(&graph, 0), &mut Vec::new(), &mut all);
        let place = |node: usize| all.iter().position(|(other, _)| *other == node);
        for (node, reached) in reached.into_iter().enumerate() {
            prop_assert_eq!(place(node).is_some(), reached);
        }
        for (at, (node, around)) in all.iter().enumerate() {
            for &next in &graph[*node] {
                prop_assert!(place(next).unwrap() > at || around.contains(&next));
            }
        }
    }

    #[test]
    fn parts_that_hang_together_are_components_of_the_graph_in_both_directions(graph in graphs()) {
        let edges = graph.iter().enumerate();
        let edges = edges.flat_map(|(node, next)| next.iter().map(move |&next| (node, next)));
        let parts = connected_parts(graph.len(), edges.collect::<Vec<_>>());
        let back = reversed(&graph);
        let both: Successors = graph.iter().zip(&back).map(|(a, b)| [&a[..], b].concat()).collect();
        prop_assert_eq!(parts, all_components(&both).len());
    }
}
