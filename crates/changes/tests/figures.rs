//! The examples of the thesis: figures 4.3, 4.5, 4.6 and 5.1 to 5.3.

use std::collections::BTreeSet;

use crate::common::{change, edges, sequences};
use patchwright_changes::interaction::interaction_graph;
use patchwright_flow::{Cfg, Function, Node, read_default};

/// Text that begins at line `first`.
fn at_line(first: usize, text: &str) -> String {
    format!("{}{text}", "\n".repeat(first - 1))
}

#[test]
fn the_fix_of_a_simple_error_has_complexity_1() {
    // Figure 5.1, and figure 5.3 on the left.
    let source = |last: &str| {
        at_line(
            350,
            &format!(
                "intmax_t parse(char *valuestring) {{\nintmax_t value = 0;\nint sign = (*valuestring == '-' ? -1 : 1);\n\
                 if (sign < 0)\n  valuestring++;\ndo {{\n  if (ISDIGIT(*valuestring))\n    \
                 value = 10*value + sign * (*valuestring-'0');\n}} while (++valuestring);\n{last}\n}}\n"
            ),
        )
    };
    let measured = change(&source("return value * sign;"), &source("return value;"));
    assert_eq!(edges(&measured.graph), ["359->exit", "entry->359"]);
    assert_eq!(sequences(&measured.graph), ["359"]);
    assert_eq!(measured.complexity(), 1);
    assert_eq!(measured.changed_lines, 1);
}

#[test]
fn the_fix_of_a_complex_error_has_complexity_4() {
    // Figure 5.2, and figure 5.3 in the middle.
    let before = "void consider(FTSENT *ent) {\nif (ent->fts_info == FTS_DNR) {\n  error();\n}\n";
    let fix = "else if (ent->fts_info == FTS_NS) {\n  if (ent->fts_level == 0){\n    reportSymlinkLoop();\n  } else {\n    \
               if (symlink_loop(ent->fts_accpath)){\n      reportSymlinkLoop();\n    }\n  }\n}\n";
    let old = at_line(443, &format!("{before}}}\n"));
    let new = at_line(443, &format!("{before}{fix}}}\n"));
    let measured = change(&old, &new);
    assert_eq!(
        edges(&measured.graph),
        [
            "447->448",
            "447->exit",
            "448->449",
            "448->451",
            "449->exit",
            "451->452",
            "451->exit",
            "452->exit",
            "entry->447"
        ]
    );
    assert_eq!(measured.complexity(), 4);
    // In the caption: (447), (447-448-449), (447-448-451), (447-448-451-452).
    assert_eq!(
        sequences(&measured.graph),
        ["447", "447-448-449", "447-448-451", "447-448-451-452"]
    );
    assert_eq!(measured.changed_lines, 5);
}

#[test]
fn short_circuit_evaluation_gives_the_same_fix_the_same_complexity() {
    // Section 5.2.2: "Assuming short-circuit evaluation for these conditions …  The error is of complexity four."
    let source = |fix: &str| {
        format!(
            "void consider(FTSENT *ent) {{\nif (ent->fts_info == FTS_DNR)\n  error();\n{fix}}}\n"
        )
    };
    let fix = "else if (ent->fts_info == FTS_NS\n && (ent->fts_level == 0\n || symlink_loop(ent->fts_accpath)))\n  report();\n";
    assert_eq!(change(&source(""), &source(fix)).complexity(), 4);
}

#[test]
fn two_changes_in_a_loop_have_complexity_5() {
    // Figure 5.3 on the right; the thesis gives the graph, not the program.
    let program = |a: &str, b: &str| {
        format!(
            "{}{}{}",
            at_line(97, "void f(void) {\nagain:\nif (p)\n"),
            format_args!("  {a};\nwhile (q) {{\n{}", "\n".repeat(98)),
            format_args!("  {b};\n  if (r)\n    goto again;\n}}\n}}\n"),
        )
    };
    let measured = change(&program("x = 1", "y = 1"), &program("x = 2", "y = 2"));
    assert_eq!(
        edges(&measured.graph),
        [
            "100->200",
            "100->exit",
            "200->100",
            "200->200",
            "200->exit",
            "entry->100",
            "entry->200"
        ]
    );
    assert_eq!(measured.complexity(), 5);
    // In the caption: (100), (200), (100-200), (200-100), (200-200).
    let listed: BTreeSet<String> = sequences(&measured.graph).into_iter().collect();
    assert_eq!(
        listed,
        ["100", "200", "100-200", "200-100", "200-200"]
            .map(String::from)
            .into()
    );
}

/// Figure 4.5: line n of the figure is line n of the text.
const CUT_V1: &str = "void parse(char *fs) { int v, c, init;
while(true){
if(isDigit(*fs)){
v = rdDigit(*fs);

} else if(*fs == '-') {
c = v;
init = (c)? v : 1;
} else if (*fs == EOL) {
assert(init != 0);
break;
}
fs++;
} }
";
const CUT_V2: &str = "void parse(char *fs) { int v, c, init; bool lhs = false;
while(true){
if(isDigit(*fs)){
v = rdDigit(*fs);
lhs = true;
} else if(*fs == '-') {
c = lhs;
init = (c)? v : 1; //IL
} else if (*fs == EOL) {
assert(init != 0);
break;
}
fs++;
} }
";

#[test]
fn the_changed_statements_of_cut_are_those_of_figure_4_5() {
    let measured = change(CUT_V1, CUT_V2);
    // Section 4.3.4: "{1, 5, 7}"; definition 14.
    assert_eq!(
        edges(&measured.graph),
        [
            "1->5", "1->7", "1->exit", "5->5", "5->7", "5->exit", "7->5", "7->7", "7->exit",
            "entry->1"
        ]
    );
    assert_eq!(measured.complexity(), 7);
    assert_eq!(measured.functions[0].interactions, [(8, vec![1, 5, 7])]);
}

struct Lines {
    function: Function,
    cfg: Cfg,
}

impl Lines {
    fn line(&self, node: usize) -> u32 {
        match self.cfg.node(node) {
            Node::Action(action) => self.function.action(action).line,
            _ => 99,
        }
    }

    fn nodes(&self, lines: &[u32]) -> BTreeSet<usize> {
        (0..self.cfg.node_count())
            .filter(|node| lines.contains(&self.line(*node)))
            .collect()
    }
}

#[test]
fn the_change_sequence_graph_of_cut_is_that_of_figure_4_6() {
    let function = read_default(CUT_V2.as_bytes()).functions.pop().unwrap();
    let cfg = Cfg::new(&function);
    let lines = Lines { function, cfg };
    // Changes in lines 1, 5, 7; the output is observed in line 10.
    let graph = interaction_graph(
        &lines.function,
        &lines.cfg,
        &lines.nodes(&[1, 5, 7]),
        &lines.nodes(&[10]),
    );
    let interactions: Vec<_> = graph.interactions.keys().map(|n| lines.line(*n)).collect();
    // "The statement at line 8 is a potential interaction location of the changed statements in lines 5 and 7."
    assert_eq!(interactions, [8]);
    let edges: BTreeSet<(u32, u32)> = graph
        .edges
        .iter()
        .map(|(from, to)| (lines.line(*from), lines.line(*to)))
        .collect();
    let expected = [
        (1, 5),
        (1, 7),
        (1, 10),
        (5, 5),
        (5, 7),
        (5, 10),
        // Lines 16 to 18 of algorithm 5: from each change on which line 8 depends.
        (1, 8),
        (5, 8),
        (7, 8),
        (8, 5),
        (8, 7),
        (8, 10),
    ];
    assert_eq!(edges, expected.into());
}

#[test]
fn the_three_changes_of_the_buffer_overflow_are_found() {
    // Figure 4.3: C.3 is the deletion of lines 503 and 504, C.1 is line 508, C.2 is line 534.
    let source = |c3: &str, c1: &str, c2: &str| {
        format!(
            "static bool is_printable_field (size_t i) {{\n  return printable_field[i];\n}}\n\
             static void set_fields (void) {{\n{c3}{c1}  printable_field = malloc (max_range_endpoint + 1);\n\
             if (output_delimiter_specified\n    && !complement\n    && eol_range_start\n{c2}    \
             && !is_printable_field (eol_range_start))\n  mark_range_start (eol_range_start);\n}}\n"
        )
    };
    let old = source(
        "if (max_range_endpoint < eol_range_start)\n  max_range_endpoint = eol_range_start;\n",
        "",
        "",
    );
    let new = source(
        "",
        "if (max_range_endpoint)\n",
        "    && max_range_endpoint\n",
    );
    let measured = change(&old, &new);
    let changed: Vec<String> = sequences(&measured.graph);
    // The deletion is next to C.1, which stands for it.
    assert_eq!(
        edges(&measured.graph),
        ["10->exit", "5->10", "5->exit", "entry->5"]
    );
    assert_eq!(changed, ["5", "5-10"]);
    assert_eq!(measured.complexity(), 2);
}
