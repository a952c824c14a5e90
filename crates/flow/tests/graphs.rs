//! What is read of a function, and the control-flow graphs made of it.

use patchwright_flow::dominators::{control_dependence, dominators, post_dominators};
use patchwright_flow::{Cfg, Function, Node, Outline, read_default};

fn outline(source: &str) -> Outline {
    read_default(source.as_bytes())
}

fn function(body: &str) -> (String, Function) {
    let source = format!("int f(int a, int b) {{\n{body}\n}}\n");
    let mut outline = outline(&source);
    (source, outline.functions.pop().unwrap())
}

fn name(source: &str, function: &Function, node: Node) -> String {
    match node {
        Node::Entry => "entry".to_owned(),
        Node::Exit => "exit".to_owned(),
        Node::Action(action) => function
            .action(action)
            .tokens
            .iter()
            .map(|token| &source[token.span.range()])
            .collect(),
        Node::Deleted(number) => format!("deleted {number}"),
    }
}

/// `node -> successor, successor` for each node, in the order of the source.
fn graph(body: &str) -> Vec<String> {
    let (source, function) = function(body);
    let cfg = Cfg::new(&function);
    (0..cfg.node_count())
        .filter(|node| *node != Cfg::EXIT)
        .map(|node| {
            let to: Vec<String> = cfg
                .successors(node)
                .iter()
                .map(|next| name(&source, &function, cfg.node(*next)))
                .collect();
            format!(
                "{} -> {}",
                name(&source, &function, cfg.node(node)),
                to.join(" ")
            )
        })
        .collect()
}

#[test]
fn operands_of_a_condition_are_nodes() {
    assert_eq!(
        graph("if (a && !(b || c)) x; else y;"),
        [
            "entry -> a",
            "a -> b y",
            "b -> c y",
            "c -> x y",
            "x -> exit",
            "y -> exit"
        ]
    );
}

#[test]
fn loops_lead_back() {
    assert_eq!(
        graph("for (i = 0; i < a; i++) { if (b) continue; if (c) break; x; }"),
        [
            "entry -> i=0",
            "i=0 -> i<a",
            "i<a -> b exit",
            "b -> continue c",
            "continue -> i++",
            "c -> break x",
            "break -> exit",
            "x -> i++",
            "i++ -> i<a",
        ]
    );
    assert_eq!(
        graph("do { x; } while (0); while (1) { y; }"),
        ["entry -> x", "x -> 0", "0 -> 1", "1 -> y", "y -> 1"]
    );
}

#[test]
fn cases_are_reached_from_their_switch_and_from_above() {
    assert_eq!(
        graph("switch (a) { case 1: x; case 2: y; break; default: z; }"),
        [
            "entry -> (a)",
            "(a) -> case1: case2: default:",
            "case1: -> x",
            "x -> case2:",
            "case2: -> y",
            "y -> break",
            "break -> exit",
            "default: -> z",
            "z -> exit",
        ]
    );
}

#[test]
fn goto_leads_to_what_follows_the_label() {
    assert_eq!(
        graph("again: x; if (a) goto again; if (b) goto out; exit(1); out: return 1;"),
        [
            "entry -> x",
            "x -> a",
            "a -> gotoagain b",
            "gotoagain -> x",
            "b -> gotoout exit(1)",
            "gotoout -> return1",
            "exit(1) -> exit",
            "return1 -> exit",
        ]
    );
}

#[test]
fn macros_make_loops_and_statements_without_semicolons() {
    for body in [
        "list_for_each (p, list) { x; }\nCHECK (a)\ny;",
        "FOR_CARDS (card) { x; }",
    ] {
        assert_eq!(function(body).1.unclear_line, None);
    }
    assert_eq!(
        graph("list_for_each (p, list) { x; }\nCHECK (a)\n;y;"),
        [
            "entry -> list_for_each(p,list)",
            "list_for_each(p,list) -> x CHECK(a)",
            "x -> list_for_each(p,list)",
            "CHECK(a) -> y",
            "y -> exit",
        ]
    );
}

#[test]
fn functions_have_their_names_whatever_macros_stand_before() {
    let outline = outline(
        "local int one(a, b)\n int a; char *b;\n{ return a; }\nATTR static bool two (int a) { }\n\
         int (*three (void)) (int) { }\nextern \"C\" { static void *four (void) { } }\n",
    );
    let names: Vec<_> = outline
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.is_static, f.parameters.len()))
        .collect();
    assert_eq!(
        names,
        [
            ("one", false, 2),
            ("two", true, 1),
            ("three", false, 0),
            ("four", true, 0)
        ]
    );
}

#[test]
fn functions_that_macros_make_are_named_after_them() {
    let outline = outline(
        "MODULE_INIT (disk)\n{\n  x ();\n}\nDEFINE2 (name, int, a)\n{\n  y ();\n}\nint z;\n",
    );
    assert_eq!(outline.unclear, []);
    let names: Vec<_> = outline.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["MODULE_INIT(disk)", "DEFINE2(name)"]);
}

#[test]
fn declarations_execute_what_they_initialise() {
    assert_eq!(
        graph("int x; int y = g(); static int z = 3; extern int w; register int v = 1;"),
        [
            "entry -> inty=g()",
            "inty=g() -> registerintv=1",
            "registerintv=1 -> exit"
        ]
    );
}

#[test]
fn what_is_no_c_is_still_there_and_is_named() {
    let outline =
        outline("int f(void) { x = 1; @ y = ; if (a { z; } w; }\nint g(void) { return 1; }\n");
    let names: Vec<_> = outline.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["f", "g"]);
    assert_eq!(outline.functions[0].unclear_line, Some(1));
    assert_eq!(outline.functions[1].unclear_line, None);
}

#[test]
fn any_text_has_an_outline() {
    for text in [
        "",
        "}",
        "#",
        "#if\n",
        "int f(",
        "\u{0}\u{ff}",
        "/*",
        "\"",
        "int f() { if (",
        "int f() { case 1: break; }",
    ] {
        for function in outline(text).functions {
            let cfg = Cfg::new(&function);
            control_dependence(&cfg);
        }
    }
}

#[test]
fn a_branch_dominates_what_it_decides() {
    let (source, function) = function("if (a) x; else y; z;");
    let cfg = Cfg::new(&function);
    let find = |text: &str| {
        (0..cfg.node_count())
            .find(|node| name(&source, &function, cfg.node(*node)) == text)
            .unwrap()
    };
    let (a, x, z) = (find("a"), find("x"), find("z"));
    let dominators = dominators(&cfg);
    assert!(dominators.dominates(a, x) && dominators.dominates(a, z));
    assert!(!dominators.dominates(x, z));
    assert_eq!(post_dominators(&cfg).immediate(a), Some(z));
    let depends = control_dependence(&cfg);
    assert_eq!(depends[x], [a]);
    assert_eq!(depends[z], [0usize; 0]);
}

#[test]
fn a_range_of_cases_is_one_label() {
    let text = "int f(int n, ...)\n{\n  switch (n) {\n  case 'a' ... 'z':\n    return 1;\n  }\n  return 0;\n}\n";
    let outline = patchwright_flow::read_default(text.as_bytes());
    assert_eq!(outline.unclear, []);
    let function = &outline.functions[0];
    assert_eq!(function.unclear_line, None);
    let texts: Vec<String> = function
        .actions
        .iter()
        .map(|action| action.text(text.as_bytes()))
        .collect();
    assert!(
        texts[1].starts_with("case 'a' ") && texts[1].ends_with(" 'z' :"),
        "{texts:?}"
    );
}
