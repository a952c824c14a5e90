//! What C becomes, and what it cannot become.
#![allow(clippy::disallowed_methods, reason = "tests write their own sources")]

use patchwright_csource::TranslationUnit;
use patchwright_ir::{
    InstructionKind, Module, Node, print_function, print_module, read_module, verify,
};
use patchwright_lower::lower;
use patchwright_semantics::BinaryOp;
use patchwright_testkit::Reader;

fn read(source: &str) -> (TranslationUnit, Module) {
    let (unit, path) = Reader::new().read("unit.c", source);
    let module = lower(&unit, &path);
    assert_eq!(verify(&module), Ok(()), "{}", print_module(&module));
    let again = read_module(&print_module(&module)).expect("the text reads back");
    assert_eq!(again, module);
    (unit, module)
}

/// The body of a function without origins and its declaration.
fn body(source: &str, name: &str) -> String {
    let (_, module) = read(source);
    let id = module.function_named(name).expect("it is there");
    print_function(module.function(id))
        .lines()
        .skip_while(|line| !line.starts_with("b0"))
        .map(|line| {
            let words: Vec<&str> = line
                .split_whitespace()
                .map(|word| match word.rfind('!') {
                    Some(at) if word[at + 1..].parse::<u32>().is_ok() => &word[..at],
                    _ => word,
                })
                .filter(|word| !word.is_empty())
                .collect();
            words.join(" ") + "\n"
        })
        .collect()
}

#[test]
fn a_comparison_of_mixed_types_has_its_conversions() {
    assert_eq!(
        body("int f(char c, unsigned u) { return c < u; }", "f"),
        "b0:\n\
         t0:i8 = read l0\n\
         t1:u32 = convert i8 u32 t0\n\
         t2:u32 = read l1\n\
         t3:i32 = binary < u32 t1 t2\n\
         return t3\n"
    );
}

#[test]
fn short_circuits_are_control_flow() {
    let text = body(
        "int g(void); int f(int a) { if (a && g()) return 1; return 2; }",
        "f",
    );
    assert!(text.starts_with("b0:\nt0:i32 = read l0\nbranch i32 t0 "));
    assert!(text.contains("call i32 fn"));
}

#[test]
fn a_parameter_whose_address_is_taken_lives_in_memory() {
    let text = body("int f(int a) { int *p = &a; return *p; }", "f");
    assert!(text.contains("address l0"), "{text}");
    assert!(text.contains("load i32"), "{text}");
}

#[test]
fn bit_fields_keep_their_width() {
    let text = body(
        "struct S { int a; unsigned b : 3; int c : 5; }; int f(struct S *s) { return s->c = 9; }",
        "f",
    );
    assert!(text.contains("storebits i32 3 5"), "{text}");
    assert!(text.contains("extend i32 5"), "{text}");
}

#[test]
fn what_cannot_be_lowered_says_so_where_it_stands() {
    let (_, module) = read(
        "int f(int a) { if (a) { __asm__(\"nop\"); } return a; } int g(int a) { return a + 1; }",
    );
    let reasons = |name: &str| -> Vec<String> {
        let id = module.function_named(name).expect("it is there");
        let function = module.function(id);
        function.unsupported().map(str::to_owned).collect()
    };
    assert_eq!(reasons("f"), ["inline assembly"]);
    assert_eq!(reasons("g"), Vec::<String>::new());
}

#[test]
fn every_operator_of_the_source_is_one_instruction_with_its_place() {
    let source = "int f(int a, int b) { return a * (b - 1) + a / b; }\n";
    let (unit, module) = read(source);
    let id = module.function_named("f").expect("it is there");
    let function = module.function(id);
    let mut found = Vec::new();
    for block in &function.blocks {
        for instruction in &block.instructions {
            if let InstructionKind::Binary { op, .. } = instruction.kind {
                let origin = function.origin(instruction.origin);
                assert!(matches!(origin.node, Some(Node::Expression(_))));
                let span = origin.span.expect("it is written in the file");
                found.push((op, unit.text(span).into_owned()));
                assert_eq!(origin.line.map(|(_, line)| line), Some(1));
            }
        }
    }
    let expected = [
        (BinaryOp::Sub, "b - 1"),
        (BinaryOp::Mul, "a * (b - 1)"),
        (BinaryOp::Div, "a / b"),
        (BinaryOp::Add, "a * (b - 1) + a / b"),
    ];
    assert_eq!(
        found,
        expected.map(|(op, text)| (op, text.to_owned())).to_vec()
    );
}

#[test]
fn initial_data_have_the_bytes_that_the_compiler_gives_them() {
    let (_, module) = read(
        "struct S { char c; int x[2]; unsigned b : 4; const char *t; };\n\
         struct S s = { 'a', { [1] = -1 }, 5, \"hi\" + 1 };\n",
    );
    let global = module
        .globals
        .iter()
        .find(|g| g.name == "s")
        .expect("it is there");
    let data = global.data.as_ref().expect("it is defined");
    assert_eq!(global.size, 24);
    assert_eq!(data.bytes, [97, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 5]);
    assert_eq!(data.relocations[0].offset, 16);
    assert_eq!(data.relocations[0].addend, 1);
}

/// The number that a function without parameters returns.
fn returned(source: &str) -> Option<u128> {
    let (_, module) = read(source);
    let id = module.function_named("f").expect("it is there");
    let function = module.function(id);
    assert_eq!(function.unsupported().next(), None);
    match function.blocks[0].terminator.operand()?.value {
        patchwright_ir::Value::Constant { bits, .. } => Some(bits),
        _ => None,
    }
}

#[test]
fn offsets_of_members_are_constants_also_in_macros() {
    let types = "#include <stddef.h>\n\
        struct S { char c; struct { short s; int a[4]; } in; };\n\
        #define AT(type, member) offsetof(type, member)\n";
    for (expression, offset) in [
        ("offsetof(struct S, in.a[2])", 16),
        ("AT(struct S, in.s)", 4),
        ("__builtin_offsetof(struct S, in)", 4),
    ] {
        let source = format!("{types}unsigned long f(void) {{ return {expression}; }}\n");
        assert_eq!(returned(&source), Some(offset), "{expression}");
    }
}

#[test]
fn packed_records_have_the_layout_that_the_pragma_asks_for() {
    let types = "#pragma pack(push, 1)\n\
        struct P { int a : 4; int b : 13; int c; unsigned d : 18; };\n\
        #pragma pack(2)\n\
        struct Q { char c; long l; struct P p; };\n\
        #pragma pack(pop)\n";
    for (of, size) in [("struct P", 10), ("struct Q", 20)] {
        let source = format!("{types}unsigned long f(void) {{ return sizeof({of}); }}\n");
        assert_eq!(returned(&source), Some(size), "{of}");
    }
}

#[test]
fn enumerations_are_as_wide_as_their_enumerators_need() {
    let types = "enum small { A = 7 }; enum wide { B = 1L << 40 }; enum low { C = -1, D = 1L << 32 };\n\
        enum __attribute__((packed)) tiny { E = 200 };\n";
    for (of, size) in [
        ("enum small", 4),
        ("enum wide", 8),
        ("enum low", 8),
        ("enum tiny", 1),
    ] {
        let source = format!("{types}unsigned long f(void) {{ return sizeof({of}); }}\n");
        assert_eq!(returned(&source), Some(size), "{of}");
    }
    let source = format!("{types}unsigned long f(void) {{ enum wide w = B; return w >> 32; }}\n");
    let (_, module) = read(&source);
    let id = module.function_named("f").expect("it is there");
    let text = print_function(module.function(id));
    assert!(text.contains("u64:1099511627776"), "{text}");
}
