//! Writes the inputs of a whole program: what its variables and the functions of nobody give.

use std::fmt::Write as _;

use patchwright_csource::{
    TranslationUnit,
    types::{TypeId, TypeKind, TypeTable},
};
use patchwright_ir::Type;
use patchwright_lower::scalar;
use patchwright_symbolic::InputKind;

use super::HarnessError;
use crate::{
    source::{Source, find},
    value::constant,
    verdict::Given,
};

/// Objects that hold a value at the start, and their offsets: `table+8` is a part of `table`.
fn initial(inputs: &[Given]) -> impl Iterator<Item = (&Given, Type, &str, Option<&str>)> {
    all_initial(inputs).filter(|one| one.0.consumed)
}

/// Them, and those whose values do not matter.
fn all_initial(inputs: &[Given]) -> impl Iterator<Item = (&Given, Type, &str, Option<&str>)> {
    inputs.iter().filter_map(|given| match given.kind {
        InputKind::Initial(ty) => match given.name.split_once('+') {
            Some((name, offset)) => Some((given, ty, name, Some(offset))),
            None => Some((given, ty, given.name.as_str(), None)),
        },
        _ => None,
    })
}

/// Defines the objects that the sources only declare, and that hold any value at the start.
///
/// # Errors
/// When such a value of a `const` object cannot be written as its initializer.
pub(super) fn define_elsewhere(
    text: &mut String,
    sources: &[Source],
    inputs: &[Given],
) -> Result<(), HarnessError> {
    let mut done: Vec<&str> = Vec::new();
    for given in inputs {
        let name = given.name.split('+').next().unwrap_or_default();
        if !matches!(given.kind, InputKind::Initial(_)) || done.contains(&name) {
            continue;
        }
        done.push(name);
        let mut declarations = sources.iter().flat_map(|source| {
            let unit = &source.unit;
            let own = unit.globals.iter().copied();
            own.filter(|&id| unit.variable(id).name == name)
                .map(move |id| (unit, id))
        });
        if declarations
            .clone()
            .any(|(unit, id)| !unit.declared[id.0 as usize].is_extern)
        {
            continue;
        }
        let Some((unit, id)) = declarations.next() else {
            continue;
        };
        let types = &unit.types;
        let (ty, mut declarator) = (unit.variable(id).ty, name.to_owned());
        let element = match types.kind(ty) {
            TypeKind::Array(of, None) => Some(*of),
            _ => None,
        };
        if let Some(size) = element
            .and_then(|of| types.size(of))
            .filter(|&size| size > 0)
        {
            // As much of it as is encoded.
            let bytes = bytes_of(inputs, name).len() as u64;
            declarator = format!("{name}[{}]", bytes.max(8).div_ceil(size));
        }
        let declared = types.declaration(element.unwrap_or(ty), &declarator);
        let declared = declared.unwrap_or_else(|| format!("__typeof__({name}) {name}"));
        let _ = match is_const(types, ty) {
            false => writeln!(text, "{declared};"),
            // It is not written later.
            true => match initializer(types, ty, 0, &bytes_of(inputs, name)) {
                Some(value) => writeln!(text, "{declared} = {value};"),
                None => {
                    let reason = format!("the initial value of `{name}` cannot be written");
                    return Err(HarnessError::Inexpressible(reason));
                }
            },
        };
    }
    Ok(())
}

/// Whether all of an object is `const`.
fn is_const(types: &TypeTable, ty: TypeId) -> bool {
    match types.kind(ty) {
        TypeKind::Array(of, _) => is_const(types, *of),
        _ => types.qualifiers(ty).is_const,
    }
}

/// The bytes that an object holds at the start.
fn bytes_of(inputs: &[Given], name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (given, ty, own, offset) in all_initial(inputs).filter(|one| one.2 == name) {
        let Ok(at) = offset.unwrap_or("0").parse::<usize>() else {
            continue;
        };
        let end = at + ty.size() as usize;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        if given.consumed && own == name {
            bytes[at..end].copy_from_slice(&given.bits.to_le_bytes()[..end - at]);
        }
    }
    bytes
}

/// An initializer that gives an object of a type the bytes from `at` on; those that are missing are 0.
fn initializer(types: &TypeTable, ty: TypeId, at: u64, bytes: &[u8]) -> Option<String> {
    let at_end = bytes.len() as u64 <= at;
    match types.kind(ty) {
        TypeKind::Array(of, count) => {
            let size = types.size(*of).filter(|&size| size > 0)?;
            let rest = (bytes.len() as u64).saturating_sub(at).div_ceil(size);
            let count = count.unwrap_or(rest).min(rest).max(1);
            let all: Option<Vec<String>> = (0..count)
                .map(|index| initializer(types, *of, at + index * size, bytes))
                .collect();
            Some(format!("{{{}}}", all?.join(", ")))
        }
        TypeKind::Record(_) if at_end => Some("{0}".to_owned()),
        TypeKind::Record(id) => {
            let (record, layout) = (types.record(*id), types.layout(*id)?);
            let mut all = Vec::new();
            for (field, offset) in record.fields.as_ref()?.iter().zip(&layout.offsets) {
                if field.name.is_empty() || field.bit_width.is_some() || record.is_union {
                    return None;
                }
                let value = initializer(types, field.ty, at + offset / 8, bytes)?;
                all.push(format!(".{} = {value}", field.name));
            }
            Some(format!("{{{}}}", all.join(", ")))
        }
        kind => {
            let scalar = scalar(types, ty)?;
            let mut value = [0; 16];
            for (to, from) in value.iter_mut().zip(bytes.iter().skip(at as usize)) {
                *to = *from;
            }
            value[scalar.size() as usize..].fill(0);
            let bits = u128::from_le_bytes(value);
            match kind {
                TypeKind::Pointer(_) if bits != 0 => Some(format!("(void *){}UL", bits as u64)),
                _ => Some(constant(scalar, bits)),
            }
        }
    }
}

/// Sets bytes of an object to zero.
fn clear(text: &mut String, zeros: Option<(&str, u64, u64)>) {
    if let Some((name, from, to)) = zeros {
        let size = to - from;
        let _ = writeln!(
            text,
            "    __builtin_memset((char *)&{name} + {from}, 0, {size});"
        );
    }
}

/// Gives objects the values that they hold at the start.
pub(super) fn initial_values(
    text: &mut String,
    sources: &[Source],
    inputs: &[Given],
) -> Result<(), HarnessError> {
    // An object, and the bytes of it that are zero: from where, to where.
    let mut zeros: Option<(&str, u64, u64)> = None;
    for (given, ty, name, offset) in initial(inputs) {
        let mut declarations = sources.iter().flat_map(|source| {
            let unit = &source.unit;
            let own = unit.globals.iter().map(|&id| unit.variable(id));
            own.filter(|variable| variable.name == name)
                .map(|variable| is_const(&unit.types, variable.ty))
        });
        // Its definition says what it is.
        if declarations.next() == Some(true) {
            continue;
        }
        if name.contains('.') {
            let reason = format!("the initial value of `{}` cannot be written", given.name);
            return Err(HarnessError::Inexpressible(reason));
        }
        let at = offset.unwrap_or("0");
        if given.bits == 0 {
            // Large objects are mostly zero.
            match zeros {
                Some((of, from, to)) if of == name && at.parse() == Ok(to) => {
                    zeros = Some((of, from, to + ty.size()));
                }
                _ => {
                    clear(text, zeros);
                    let from = at.parse().unwrap_or(0);
                    zeros = Some((name, from, from + ty.size()));
                }
            }
            continue;
        }
        // As bytes: their type may be another one.
        let _ = writeln!(
            text,
            "    {{\n        __typeof__({value}) value = {value};\n        \
             __builtin_memcpy((char *)&{name} + {offset}, &value, {size});\n    }}",
            value = constant(ty, given.bits),
            offset = at,
            size = ty.size()
        );
    }
    clear(text, zeros);
    Ok(())
}

/// Writes the functions that the sources only declare: those that give inputs, and those of verifiers.
pub(super) fn functions(
    text: &mut String,
    unit: &TranslationUnit,
    inputs: &[Given],
) -> Result<(), HarnessError> {
    let mut names: Vec<&String> = unit.declarations.keys().collect();
    names.sort();
    for name in names {
        let declaration = &unit.declarations[name];
        let is_defined = unit.functions.iter().any(|function| function.name == *name);
        if is_defined || declaration.in_system_header {
            continue;
        }
        let answers: Vec<&Given> = inputs
            .iter()
            .filter(|given| {
                let gives = || given.name.starts_with(&format!("{name}_gives"));
                given.consumed
                    && match &given.kind {
                        InputKind::Returned { function, .. } => function == name,
                        InputKind::Outside { function, .. } => function == name && gives(),
                        _ => false,
                    }
            })
            .collect();
        let body = match name.as_str() {
            "__VERIFIER_assume" | "__CPROVER_assume" => "if (!a0) _Exit(0);".to_owned(),
            "__VERIFIER_assert" | "__CPROVER_assert" => "if (!a0) abort();".to_owned(),
            "reach_error" | "__VERIFIER_error" => "abort();".to_owned(),
            _ => match answers.first().and_then(|given| given.ty) {
                None => continue,
                Some(_) => {
                    let values: Vec<String> = answers
                        .iter()
                        .map(|given| constant(given.ty.unwrap_or(Type::I32), given.bits))
                        .collect();
                    format!(
                        "static int call; switch (call++) {{ {} default: return 0; }}",
                        cases(&values)
                    )
                }
            },
        };
        let spelled = |ty| unit.types.spelling(ty);
        let result = declaration
            .result
            .and_then(spelled)
            .unwrap_or_else(|| "int".to_owned());
        let parameters: Option<Vec<String>> = declaration
            .parameters
            .iter()
            .enumerate()
            .map(|(index, &ty)| unit.types.declaration(ty, &format!("a{index}")))
            .collect();
        let Some(parameters) = parameters else {
            let reason = format!("the types of the parameters of `{name}` have no names");
            return Err(HarnessError::Inexpressible(reason));
        };
        let parameters = match (
            parameters.is_empty(),
            declaration.prototyped,
            body.contains("a0"),
        ) {
            (true, _, true) => "int a0".to_owned(),
            (true, true, _) => "void".to_owned(),
            (true, false, _) => String::new(),
            _ => parameters.join(", "),
        };
        let _ = writeln!(text, "{result} {name}({parameters}) {{ {body} }}");
    }
    Ok(())
}

fn cases(values: &[String]) -> String {
    let all = values.iter().enumerate();
    let all = all.map(|(index, value)| format!("case {index}: return {value};"));
    all.collect::<Vec<_>>().join(" ")
}

/// Returns the C file of a counterexample for a whole program. It sets standard input and the arguments,
/// and starts the program.
///
/// # Errors
/// When that cannot be said in C.
pub fn main_harness(
    sources: &[Source],
    inputs: &[Given],
    input: &[u8],
    arguments: &[String],
) -> Result<String, HarnessError> {
    let (position, found) = find(sources, "main")?;
    let source = &sources[position];
    let mut text = String::from("/* Starts a program with the inputs for which it fails. */\n");
    let _ = writeln!(
        text,
        "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#define main main_of_the_program\n\
         #include \"{}\"\n#undef main",
        source.path
    );
    functions(&mut text, &source.unit, inputs)?;
    let bytes: Vec<String> = input.iter().map(u8::to_string).collect();
    let words: Vec<String> = arguments
        .iter()
        .map(|word| {
            let bytes: Vec<String> = word.bytes().map(|byte| byte.to_string()).collect();
            format!(
                "(char[]){{{}0}}",
                bytes
                    .iter()
                    .map(|byte| format!("{byte}, "))
                    .collect::<String>()
            )
        })
        .collect();
    define_elsewhere(&mut text, sources, inputs)?;
    text.push_str("\nint main(void)\n{\n");
    initial_values(&mut text, sources, inputs)?;
    let _ = writeln!(
        text,
        "    static unsigned char input[] = {{{}0}};\n    stdin = fmemopen(input, {}, \"r\");\n    \
         if (!stdin)\n        stdin = fopen(\"/dev/null\", \"r\");\n    \
         char *arguments[] = {{(char[]){{\"program\"}}, {}0}};",
        bytes
            .iter()
            .map(|byte| format!("{byte}, "))
            .collect::<String>(),
        input.len(),
        words
            .iter()
            .map(|word| format!("{word}, "))
            .collect::<String>(),
    );
    let call = match found.parameters.len() {
        0 => "main_of_the_program()".to_owned(),
        1 => format!("main_of_the_program({})", arguments.len() + 1),
        2 => format!("main_of_the_program({}, arguments)", arguments.len() + 1),
        _ => format!(
            "main_of_the_program({}, arguments, arguments + {})",
            arguments.len() + 1,
            arguments.len() + 1
        ),
    };
    let _ = writeln!(text, "    (void)arguments;\n    return {call};\n}}");
    Ok(text)
}

/// Returns the C file for the interpreter that gives objects of the program their values at the start, if
/// these are inputs, and starts the program.
///
/// # Errors
/// When that cannot be said in C.
pub fn initial_harness(sources: &[Source], inputs: &[Given]) -> Result<String, HarnessError> {
    let (position, found) = find(sources, "main")?;
    let mut text = format!(
        "#define main main_of_the_program\n#include \"{}\"\n#undef main\n",
        sources[position].path
    );
    define_elsewhere(&mut text, sources, inputs)?;
    text.push_str("\nint main(int count, char **words, char **environment)\n{\n");
    initial_values(&mut text, sources, inputs)?;
    let all = ["count", "words", "environment"];
    let given = all[..found.parameters.len().min(all.len())].join(", ");
    let _ = writeln!(text, "    return main_of_the_program({given});\n}}");
    Ok(text)
}

/// Whether the values of objects at the start are among the inputs.
pub fn has_initial_values(inputs: &[Given]) -> bool {
    initial(inputs).next().is_some()
}

/// Returns the names of the objects that hold pointers and any value at the start. Where a pointer among them leads may be what no
/// execution can be given.
pub fn pointers_at_start(sources: &[Source], inputs: &[Given]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, _, name, _) in all_initial(inputs) {
        let holds = sources.iter().any(|source| {
            let unit = &source.unit;
            unit.globals.iter().any(|&id| {
                let variable = unit.variable(id);
                variable.name == name && has_pointer(&unit.types, variable.ty)
            })
        });
        if holds && !found.iter().any(|one| one == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn has_pointer(types: &TypeTable, ty: TypeId) -> bool {
    match types.kind(ty) {
        TypeKind::Pointer(_) => true,
        TypeKind::Array(of, _) => has_pointer(types, *of),
        TypeKind::Record(id) => {
            let fields = types.record(*id).fields.as_deref().unwrap_or_default();
            fields.iter().any(|field| has_pointer(types, field.ty))
        }
        _ => false,
    }
}
