//! Writes the inputs of a whole program: what its variables and the functions of nobody give.

use std::fmt::Write as _;

use patchwright_csource::{TranslationUnit, types::TypeKind};
use patchwright_ir::Type;
use patchwright_symbolic::InputKind;

use super::HarnessError;
use crate::{
    source::{Source, find},
    value::constant,
    verdict::Given,
};

/// Objects that hold a value at the start, and their offsets: `table+8` is a part of `table`.
fn initial(inputs: &[Given]) -> impl Iterator<Item = (&Given, Type, &str, Option<&str>)> {
    inputs.iter().filter_map(|given| match given.kind {
        InputKind::Initial(ty) if given.consumed => match given.name.split_once('+') {
            Some((name, offset)) => Some((given, ty, name, Some(offset))),
            None => Some((given, ty, given.name.as_str(), None)),
        },
        _ => None,
    })
}

/// Defines the objects that the sources only declare, and that hold any value at the start.
pub(super) fn define_elsewhere(text: &mut String, sources: &[Source], inputs: &[Given]) {
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
        let element =
            declarations.find_map(|(unit, id)| match unit.types.kind(unit.variable(id).ty) {
                TypeKind::Array(of, None) => {
                    let size = unit.types.size(*of).filter(|&size| size > 0)?;
                    Some((unit.types.spelling(*of)?, size))
                }
                _ => None,
            });
        let _ = match element {
            None => writeln!(text, "__typeof__({name}) {name};"),
            Some((spelled, size)) => {
                // As much of it as is encoded.
                let parts = inputs.iter().filter_map(|given| given.name.split_once('+'));
                let own = parts.filter(|(own, _)| *own == name);
                let last = own
                    .filter_map(|(_, offset)| offset.parse::<u64>().ok())
                    .max();
                let count = (last.unwrap_or(0) + 8).div_ceil(size);
                writeln!(text, "{spelled} {name}[{count}];")
            }
        };
    }
}

/// Gives objects the values that they hold at the start.
pub(super) fn initial_values(text: &mut String, inputs: &[Given]) -> Result<(), HarnessError> {
    for (given, ty, name, offset) in initial(inputs) {
        if name.contains('.') {
            let reason = format!("the initial value of `{}` cannot be written", given.name);
            return Err(HarnessError::Inexpressible(reason));
        }
        // As bytes: their type may be another one.
        let _ = writeln!(
            text,
            "    {{\n        __typeof__({value}) value = {value};\n        \
             __builtin_memcpy((char *)&{name} + {offset}, &value, {size});\n    }}",
            value = constant(ty, given.bits),
            offset = offset.unwrap_or("0"),
            size = ty.size()
        );
    }
    Ok(())
}

/// Functions that the sources only declare: those that give inputs, and those of verifiers.
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
            .map(|(index, &ty)| {
                let spelled = spelled(ty)?;
                Some(format!("{spelled} a{index}"))
            })
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
    define_elsewhere(&mut text, sources, inputs);
    text.push_str("\nint main(void)\n{\n");
    initial_values(&mut text, inputs)?;
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
    define_elsewhere(&mut text, sources, inputs);
    text.push_str("\nint main(int count, char **words, char **environment)\n{\n");
    initial_values(&mut text, inputs)?;
    let all = ["count", "words", "environment"];
    let given = all[..found.parameters.len().min(all.len())].join(", ");
    let _ = writeln!(text, "    return main_of_the_program({given});\n}}");
    Ok(text)
}

/// Whether the values of objects at the start are among the inputs.
pub fn has_initial_values(inputs: &[Given]) -> bool {
    initial(inputs).next().is_some()
}
