//! The text form reads back, and the verifier sees what is wrong.

use patchwright_ir::{Invariant, drawing, print_module, read_module, verify};

const SAMPLE: &str = r#"file "max.c"
global "table" internal size 16 align 8 constant from file0:2 10..20 v3
  data 01000000ff
  at 8 g0+4
global ".string.0" internal size 3 align 1 unsupported "a \"quoted\" reason" from 
function "printf" external i32 variadic takes ptr
  origin 
function "max" external i32 takes i32 i32
  origin file0:4 30..90
  origin 40..45 e2
  local "a" i32 !0
  local "b" i32 !0
  local "buffer" memory 64 16 !1
b0:
  live l2 !1
  t0:ptr = address l2 !1
  t1:i32 = read l0 !1
  t2:i32 = read l1 !1
  t3:i32 = binary != i32 t1!1 t2!0 !1
  branch i32 t3!1 b1!0 b2!1 !1
b1:
  t4:i32 = unary ! ptr t0!1 !1
  t5:f64 = convert i32 f64 t4!0 !1
  t6:ptr = advance i32 t0!0 i32:-2!1 u64:8!0 !0
  store volatile f64 t6!0 f64:0x3ff0000000000000!0 !1
  t7:i32 = call i32 fn0 fixed 1 ptr g1+0!0 f64 t5!0 !0
  t8:i32 = icall i32 fn1+0!0 fixed 2 i32 t7!0 i32 t1!0 !0
  unsupported "inline assembly" !0
  dead l2 !1
  switch i32 t8!0 b2!0 -3 -3 b1!1 4 9 b2!1 !0
b2:
  return t1!1 !0
"#;

#[test]
fn a_module_reads_back_from_its_text() {
    let module = read_module(SAMPLE).unwrap();
    let text = print_module(&module);
    assert_eq!(text, SAMPLE);
    assert_eq!(verify(&module), Ok(()));
}

#[test]
fn a_bad_line_is_named() {
    let error = read_module("file \"a.c\"\nfunction \"f\" external i32 takes\n  frob l0 !0\n");
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "line 3: `frob` is no instruction");
}

/// The invariants that are violated when `from` is replaced by `to` in the sample.
fn violated(from: &str, to: &str) -> Vec<Invariant> {
    assert!(SAMPLE.contains(from), "the sample has no `{from}`");
    let module = read_module(&SAMPLE.replacen(from, to, 1)).unwrap();
    let mut found: Vec<Invariant> = verify(&module)
        .err()
        .unwrap_or_default()
        .iter()
        .map(|violation| violation.invariant)
        .collect();
    found.dedup();
    found
}

#[test]
fn each_invariant_is_checked() {
    use Invariant::*;
    for (from, to, invariant) in [
        ("t1!1 t2!0", "t1!1 t77!0", NamesExist),
        ("t2:i32 = read l1", "t1:i32 = read l1", DefinedOnce),
        (
            "binary != i32 t1!1 t2!0",
            "binary != i32 t1!1 t5!0",
            TypesAgree,
        ),
        ("return t1!1", "return t7!1", DefinedBeforeUse),
        ("i32:-2!1", "i8:-2000!1", CanonicalConstants),
        ("read l0", "read l2", LocalsByKind),
        ("memory 64 16", "memory 64 12", LocalsWellFormed),
        ("takes i32 i32", "takes i32 i64", ParametersFirst),
        ("binary != i32", "binary << i32", OperatorsApply),
        ("4 9 b2!1", "-3 9 b2!1", CasesDisjoint),
        ("return t1!1", "return", ReturnsAgree),
        ("call i32 fn0", "call i32 fn1", CallsAgree),
        ("at 8 g0+4", "at 9 g0+4", DataFits),
        ("4 9 b2!1", "4 9 b0!1", EntryFirst),
    ] {
        let found = violated(from, to);
        assert!(
            found.contains(&invariant),
            "`{from}` → `{to}`: {found:?}, not {invariant:?}"
        );
    }
}

#[test]
fn the_graph_is_drawn_with_what_the_edges_stand_for() {
    let module = read_module(SAMPLE).unwrap();
    let drawing = drawing::control_flow(&module.functions[1]);
    assert_eq!(drawing.boxes[0][..2], ["max", "l0 \"a\" i32"]);
    let edges: Vec<String> = drawing
        .edges
        .iter()
        .map(|(from, to, name)| format!("{from} {to} {name}"))
        .collect();
    assert_eq!(
        edges,
        [
            "0 1 ",
            "1 2 true",
            "1 3 false",
            "2 2 -3",
            "2 3 4…9",
            "2 3 default"
        ]
    );
}
