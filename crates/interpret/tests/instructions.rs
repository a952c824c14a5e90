//! Each instruction of the IR by itself: the text in `tests/ir`, and what executing it gives, or
//! what the verifier says.
#![allow(clippy::disallowed_methods, reason = "the cases are files")]

use std::{collections::BTreeSet, path::Path};

use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::{print_module, read_module, verify};

/// The functions that cases can call, by the names that they have there.
const FUNCTIONS: [&str; 6] = ["main", "malloc", "free", "twice", "second", "nothing"];

/// What comes before `main`'s locals.
const HEAD: &str = "file \"case.ir\"\n";

const OTHERS: &str = r#"function "malloc" external ptr takes u64
  origin 
function "free" external void takes ptr
  origin 
function "twice" internal i32 takes i32
  origin 
  local "n" i32 !0
b0:
  t0:i32 = read l0 !0
  t1:i32 = binary * i32 t0!0 i32:2!0 !0
  return t1!0 !0
function "second" internal i32 variadic takes i32
  origin 
  local "n" i32 !0
  local "list" memory 24 8 !0
  local "copy" memory 24 8 !0
b0:
  t0:ptr = address l1 !0
  vastart t0!0 !0
  t1:i32 = vaarg i32 t0!0 !0
  t2:ptr = address l2 !0
  vacopy t2!0 t0!0 !0
  t3:i32 = vaarg i32 t2!0 !0
  return t3!0 !0
function "nothing" internal i32 takes
  origin 
b0:
  returnnothing !0
function "same" internal agg24 takes agg24
  origin 
  local "x" memory 24 8 !0
b0:
  t0:ptr = address l0 !0
  return t0!0 !0
"#;

/// Operands and edges get an origin.
fn with_origins(line: &str) -> String {
    let is_name = |word: &str, prefix: &str| {
        word.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let words: Vec<&str> = line.split(' ').collect();
    let mut out: Vec<String> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let is_definition = words.get(index + 1) == Some(&"=");
        let (word, is_function) = match FUNCTIONS
            .iter()
            .chain(&["same"])
            .position(|name| word.split('+').next() == Some(name))
        {
            Some(number) => {
                let rest = word.split_once('+').map(|(_, rest)| rest);
                match rest {
                    Some(rest) => (format!("fn{number}+{rest}"), false),
                    None => (format!("fn{number}"), true),
                }
            }
            None => ((*word).to_owned(), false),
        };
        let is_operand = !is_definition
            && !is_function
            && (is_name(&word, "t")
                || is_name(&word, "b")
                || word.starts_with("fn")
                || word
                    .split_once(':')
                    .is_some_and(|(ty, _)| patchwright_ir::Type::parse(ty).is_some()));
        out.push(if is_operand {
            format!("{word}!0")
        } else {
            word
        });
    }
    out.join(" ")
}

/// The module of a case.
fn module(body: &str) -> String {
    let mut text = String::from(HEAD);
    text.push_str("function \"main\" external i32 takes\n  origin \n");
    for line in body.lines() {
        if line.ends_with(':') || line.trim().is_empty() {
            text.push_str(line);
        } else {
            text.push_str(&with_origins(line));
            text.push_str(" !0");
        }
        text.push('\n');
    }
    text + OTHERS
}

fn outcome(body: &str) -> String {
    let text = module(body);
    let module = match read_module(&text) {
        Ok(module) => module,
        Err(error) => return format!("unreadable: {error}\n{text}"),
    };
    let again = read_module(&print_module(&module));
    assert_eq!(again.as_ref(), Ok(&module), "the text reads back");
    if let Err(violations) = verify(&module) {
        let all: BTreeSet<String> = violations
            .iter()
            .map(|violation| format!("{:?}", violation.invariant))
            .collect();
        return format!("invalid {}", Vec::from_iter(all).join(" "));
    }
    let mut world = Closed::default();
    let limits = Limits {
        instructions: 10_000,
        ..Limits::default()
    };
    let mut machine = Machine::link(vec![module], limits, &mut world).expect("links");
    match machine.run(&[b"case".to_vec()], &[]).ending {
        Ending::Exit(status) => format!("exit {status}"),
        Ending::Undefined { kind, .. } => format!("undefined {}", kind.code()),
        Ending::Unsupported(_) => "unsupported".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn every_case_of_an_instruction_has_its_result() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut wrong = Vec::new();
    let mut mentioned = String::new();
    for file in ["arithmetic", "memory", "control", "calls"] {
        let text = std::fs::read_to_string(folder.join(format!("{file}.ir"))).expect("it is there");
        for case in text
            .split("\ncase ")
            .skip(usize::from(!text.starts_with("case ")))
        {
            let case = case.strip_prefix("case ").unwrap_or(case);
            let (head, body) = case.split_once('\n').expect("a case has a body");
            let (name, expected) = head.split_once(": ").expect("a case has a result");
            let found = outcome(body.trim_end());
            if found != expected {
                wrong.push(format!("{file}: {name}: {found}, not {expected}"));
            }
        }
        mentioned += &text;
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    mentioned += OTHERS;
    for instruction in [
        "read",
        "write",
        "live",
        "dead",
        "address",
        "load",
        "store",
        "loadbits",
        "storebits",
        "extend",
        "unary",
        "binary",
        "shift",
        "convert",
        "advance",
        "retreat",
        "distance",
        "member",
        "copy",
        "zero",
        "call",
        "icall",
        "vastart",
        "vaarg",
        "vacopy",
        "allocate",
        "unsupported",
        "goto",
        "branch",
        "switch",
        "return",
        "returnnothing",
        "unreachable",
    ] {
        let used = mentioned.split_whitespace().any(|word| word == instruction);
        assert!(used, "no case has `{instruction}`");
    }
}
