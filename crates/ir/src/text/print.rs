//! Prints modules in the text form.

use std::fmt::Write;

use crate::{
    function::{Edge, Function, Linkage, Local, LocalKind},
    instruction::{
        Callee, Instruction, InstructionKind, Operand, Subscript, Terminator, TerminatorKind,
        Value, Without,
    },
    module::{Global, Module, Node, Origin, Target},
    types::{TempId, Type},
};

/// Returns the text form of a module, which [`read_module`](crate::read_module) reads back.
pub fn print_module(module: &Module) -> String {
    let mut out = String::new();
    for file in &module.files {
        let _ = writeln!(out, "file {}", quoted(&file.path));
    }
    for global in &module.globals {
        print_global(&mut out, global);
    }
    for function in &module.functions {
        out.push_str(&print_function(function));
    }
    for (word, hooks) in [
        ("constructor", &module.constructors),
        ("destructor", &module.destructors),
    ] {
        for hook in hooks {
            let _ = writeln!(out, "{word} {} {}", hook.function, hook.priority);
        }
    }
    out
}

fn print_global(out: &mut String, global: &Global) {
    let _ = write!(
        out,
        "global {} {} size {} align {}",
        quoted(&global.name),
        linkage(global.linkage),
        global.size,
        global.align
    );
    for (holds, word) in [
        (global.constant, " constant"),
        (global.thread_local, " thread"),
        (global.tentative, " tentative"),
    ] {
        if holds {
            out.push_str(word);
        }
    }
    if let Some(reason) = &global.unsupported {
        let _ = write!(out, " unsupported {}", quoted(reason));
    }
    let _ = writeln!(out, " from {}", origin(&global.origin));
    if let Some(data) = &global.data {
        out.push_str("  data ");
        for byte in &data.bytes {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
        for relocation in &data.relocations {
            let _ = writeln!(
                out,
                "  at {} {}",
                relocation.offset,
                address(relocation.target, relocation.addend)
            );
        }
    }
}

/// Returns the text form of a function.
pub fn print_function(function: &Function) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "function {} {} {}",
        quoted(&function.name),
        linkage(function.linkage),
        function.result
    );
    for (holds, word) in [
        (function.variadic, " variadic"),
        (!function.prototyped, " unprototyped"),
        (function.no_return, " noreturn"),
    ] {
        if holds {
            out.push_str(word);
        }
    }
    out.push_str(" takes");
    for parameter in &function.parameters {
        let _ = write!(out, " {}", parameter.ty);
    }
    out.push('\n');
    for origin_of in &function.origins {
        let _ = writeln!(out, "  origin {}", origin(origin_of));
    }
    for local in &function.locals {
        let _ = writeln!(out, "  local {} {}", print_local(local), local.origin);
    }
    for id in function.block_ids() {
        let block = function.block(id);
        let _ = writeln!(out, "{id}:");
        for instruction in &block.instructions {
            let _ = writeln!(out, "  {}", print_instruction(function, instruction));
        }
        let _ = writeln!(out, "  {}", print_terminator(&block.terminator));
    }
    out
}

/// The name and the kind of a local.
pub(crate) fn print_local(local: &Local) -> String {
    let name = quoted(&local.name);
    match local.kind {
        LocalKind::Register(ty) => format!("{name} {ty}"),
        LocalKind::Memory { size, align } => format!("{name} memory {size} {align}"),
    }
}

/// Returns the line of an instruction in the text form.
pub(crate) fn print_instruction(function: &Function, instruction: &Instruction) -> String {
    use InstructionKind::*;
    let mut out = String::new();
    if let Some(dst) = instruction.defines() {
        let _ = write!(out, "{} = ", definition(function, dst));
    }
    let flag = |volatile: &bool| if *volatile { "volatile " } else { "" };
    let _ = match &instruction.kind {
        Read { local, .. } => write!(out, "read {local}"),
        Write { local, value } => write!(out, "write {local} {}", operand(value)),
        Live { local } => write!(out, "live {local}"),
        Dead { local } => write!(out, "dead {local}"),
        Settle { local } => write!(out, "settle {local}"),
        LocalAddress { local, .. } => write!(out, "address {local}"),
        Load {
            ty,
            address,
            volatile,
            ..
        } => write!(out, "load {}{ty} {}", flag(volatile), operand(address)),
        Store {
            ty,
            address,
            value,
            volatile,
        } => write!(
            out,
            "store {}{ty} {} {}",
            flag(volatile),
            operand(address),
            operand(value)
        ),
        LoadBits {
            ty,
            address,
            offset,
            width,
            ..
        } => write!(out, "loadbits {ty} {offset} {width} {}", operand(address)),
        StoreBits {
            ty,
            address,
            value,
            offset,
            width,
        } => write!(
            out,
            "storebits {ty} {offset} {width} {} {}",
            operand(address),
            operand(value)
        ),
        Extend {
            ty, value, width, ..
        } => write!(out, "extend {ty} {width} {}", operand(value)),
        Unary { op, ty, a, .. } => write!(out, "unary {} {ty} {}", op.spelling(), operand(a)),
        Binary { op, ty, a, b, .. } => write!(
            out,
            "binary {} {ty} {} {}",
            op.spelling(),
            operand(a),
            operand(b)
        ),
        Shift {
            op,
            ty,
            count,
            a,
            b,
            ..
        } => write!(
            out,
            "shift {} {ty} {count} {} {}",
            op.spelling(),
            operand(a),
            operand(b)
        ),
        Convert { from, to, a, .. } => write!(out, "convert {from} {to} {}", operand(a)),
        PointerAdd {
            a,
            index,
            ty,
            size,
            negative,
            subscript,
            ..
        } => {
            let of = match subscript {
                Some(Subscript { count, end: true }) => format!(" of {count} end"),
                Some(Subscript { count, end: false }) => format!(" of {count}"),
                None => String::new(),
            };
            write!(
                out,
                "{} {ty} {} {} {}{of}",
                if *negative { "retreat" } else { "advance" },
                operand(a),
                operand(index),
                operand(size)
            )
        }
        PointerDifference { a, b, size, .. } => write!(
            out,
            "distance {} {} {}",
            operand(a),
            operand(b),
            operand(size)
        ),
        MemberAddress {
            a, offset, array, ..
        } => {
            let array = match array {
                Some(u64::MAX) => " array open".to_owned(),
                Some(bytes) => format!(" array {bytes}"),
                None => String::new(),
            };
            write!(out, "member {} {offset}{array}", operand(a))
        }
        Copy { to, from, size } => write!(out, "copy {} {} {size}", operand(to), operand(from)),
        Zero { address, size } => write!(out, "zero {} {size}", operand(address)),
        Call {
            callee,
            arguments,
            fixed,
            result,
            result_address,
            ..
        } => {
            let _ = match callee {
                Callee::Direct(id) => write!(out, "call {result} {id} fixed {fixed}"),
                Callee::Indirect(callee) => {
                    write!(out, "icall {result} {} fixed {fixed}", operand(callee))
                }
            };
            if let Some(address) = result_address {
                let _ = write!(out, " into {}", operand(address));
            }
            for argument in arguments {
                let to = if argument.to_const { " const" } else { "" };
                let _ = write!(out, "{to} {} {}", argument.ty, operand(&argument.value));
            }
            Ok(())
        }
        VaStart { list } => write!(out, "vastart {}", operand(list)),
        VaArg { ty, list, .. } => write!(out, "vaarg {ty} {}", operand(list)),
        VaCopy { to, from } => write!(out, "vacopy {} {}", operand(to), operand(from)),
        Allocate { size, scope, .. } => match scope {
            Some(scope) => write!(out, "allocate {} {scope}", operand(size)),
            None => write!(out, "allocate {}", operand(size)),
        },
        Unsupported { reason, .. } => write!(out, "unsupported {}", quoted(reason)),
    };
    let _ = write!(out, " {}", instruction.origin);
    out
}

/// Returns the line of a terminator in the text form.
pub(crate) fn print_terminator(terminator: &Terminator) -> String {
    let mut out = match &terminator.kind {
        TerminatorKind::Goto(to) => format!("goto {}", edge(to)),
        TerminatorKind::Branch {
            condition,
            ty,
            then,
            otherwise,
        } => format!(
            "branch {ty} {} {} {}",
            operand(condition),
            edge(then),
            edge(otherwise)
        ),
        TerminatorKind::Switch {
            value,
            ty,
            cases,
            default,
        } => {
            let mut out = format!("switch {ty} {} {}", operand(value), edge(default));
            for case in cases {
                let _ = write!(out, " {} {} {}", case.low, case.high, edge(&case.edge));
            }
            out
        }
        TerminatorKind::Return(Some(value)) => format!("return {}", operand(value)),
        TerminatorKind::Return(None) => "return".to_owned(),
        TerminatorKind::ReturnNothing => "returnnothing".to_owned(),
        TerminatorKind::Unreachable => "unreachable".to_owned(),
    };
    let _ = write!(out, " {}", terminator.origin);
    match terminator.without {
        Without::Same => {}
        Without::Block(block) => {
            let _ = write!(out, " without {block}");
        }
        Without::End => out.push_str(" without end"),
    }
    if let Some(origin) = terminator.inside {
        let _ = write!(out, " inside {origin}");
    }
    out
}

fn definition(function: &Function, dst: TempId) -> String {
    match function.temporaries.get(dst.index()) {
        Some(temporary) => format!("{dst}:{}", temporary.ty),
        None => format!("{dst}:?"),
    }
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "internal",
        Linkage::External => "external",
        Linkage::Weak => "weak",
    }
}

fn edge(edge: &Edge) -> String {
    format!("{}{}", edge.target, edge.origin)
}

fn operand(operand: &Operand) -> String {
    format!("{}{}", value(operand.value), operand.origin)
}

fn value(value: Value) -> String {
    match value {
        Value::Temp(id) => id.to_string(),
        Value::Constant { ty, bits } => constant(ty, bits),
        Value::Address { target, addend } => address(target, addend),
    }
}

fn address(target: Target, addend: i64) -> String {
    match target {
        Target::Global(id) => format!("{id}{addend:+}"),
        Target::Function(id) => format!("{id}{addend:+}"),
    }
}

fn constant(ty: Type, bits: u128) -> String {
    match ty {
        Type::I8 | Type::I16 | Type::I32 | Type::I64 => format!("{ty}:{}", bits as u64 as i64),
        Type::I128 => format!("{ty}:{}", bits as i128),
        Type::F32 | Type::F64 | Type::F80 => format!("{ty}:0x{bits:x}"),
        _ => format!("{ty}:{bits}"),
    }
}

fn origin(origin: &Origin) -> String {
    let mut words = Vec::new();
    if let Some((file, line)) = origin.line {
        words.push(format!("{file}:{line}"));
    }
    if let Some(span) = origin.span {
        words.push(format!("{}..{}", span.start, span.end));
    }
    match origin.node {
        Some(Node::Expression(id)) => words.push(format!("e{id}")),
        Some(Node::Statement(id)) => words.push(format!("s{id}")),
        Some(Node::Variable(id)) => words.push(format!("v{id}")),
        None => {}
    }
    words.join(" ")
}

/// In quotes, with escapes for what would end the word or the line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
