//! A counterexample as a C file: it makes the inputs, and calls the function.

use std::fmt::Write as _;

use patchwright_csource::{TranslationUnit, types::TypeKind};
use patchwright_ir::Type;
use patchwright_symbolic::{InputKind, ParameterShape, Shape, naming};

use crate::{
    source::{EntryError, Source, find},
    value::constant,
    verdict::Given,
};

/// Who is going to execute the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// A compiler makes a program of it, which has to bring all functions with it.
    Compiler,
    /// The interpreter, which knows the functions of verifiers.
    Interpreter,
}

/// Why there is no such file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HarnessError {
    /// The function cannot be called.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// Something that C cannot say.
    #[error("{0}")]
    Inexpressible(String),
}

/// The file: `include` is how it names the source that defines the function; `shown` says whether it prints what the
/// function leaves behind.
///
/// # Errors
/// When the function cannot be called from C like that.
pub fn harness(
    sources: &[Source],
    function: &str,
    shapes: &[ParameterShape],
    inputs: &[Given],
    include: &str,
    whom: For,
    shown: bool,
) -> Result<String, HarnessError> {
    let (position, found) = find(sources, function)?;
    let unit = &sources[position].unit;
    let mut text = String::from("/* Calls a function with the inputs for which it fails. */\n");
    let _ = writeln!(
        text,
        "#define main main_of_the_program\n#include \"{include}\"\n#undef main"
    );
    text.push_str("void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);\n");
    if shown {
        text.push_str("int printf(const char *, ...);\n");
    }
    if whom == For::Compiler {
        text.push_str("void abort(void);\nvoid _Exit(int);\n");
        functions(&mut text, unit, inputs)?;
    }
    define_elsewhere(&mut text, sources, inputs);
    text.push_str("\nint main(void)\n{\n");
    initial_values(&mut text, inputs)?;
    let (mut names, mut made) = (Vec::new(), Vec::new());
    for (shape, &parameter) in shapes.iter().zip(&found.parameters) {
        let variable = unit.variable(parameter);
        let spelled = unit.types.spelling(variable.ty).ok_or_else(|| {
            let reason = format!("the type of the parameter `{}` has no name", variable.name);
            HarnessError::Inexpressible(reason)
        })?;
        // What is made has to be written, so nothing is `const` here.
        let spelled = spelled.replace("const ", "");
        // The names of the shapes are those of the inputs, also where a reference has others.
        let _ = writeln!(text, "    {spelled} {};", shape.name);
        fill(&mut text, &shape.shape, &shape.name, inputs, &mut made)?;
        names.push(shape.name.clone());
    }
    let arguments = names.join(", ");
    let is_void = matches!(unit.types.kind(found.return_type), TypeKind::Void);
    match (shown, is_void) {
        (true, false) => {
            // Pointers to functions have no plain spelling.
            let spelled = unit.types.spelling(found.return_type);
            let spelled = spelled.unwrap_or_else(|| format!("__typeof__({function}({arguments}))"));
            let is_pointer = matches!(unit.types.kind(found.return_type), TypeKind::Pointer(_));
            if is_pointer {
                // The call may exchange them.
                for (index, (name, _)) in made.iter().enumerate() {
                    let _ = writeln!(text, "    char *made_{index} = (char *){name};");
                }
            }
            let _ = writeln!(text, "    {spelled} result = {function}({arguments});");
            if is_pointer {
                place_of_result(&mut text, &made);
                print_bytes(&mut text, "result", "&where", "sizeof where");
            } else {
                print_bytes(&mut text, "result", "&result", "sizeof result");
            }
        }
        _ => {
            let _ = writeln!(text, "    {function}({arguments});");
        }
    }
    if shown {
        for shape in shapes {
            if let Shape::Pointer {
                to: Some(_), count, ..
            } = &shape.shape
            {
                let name = &shape.name;
                print_bytes(&mut text, name, name, &format!("{count} * sizeof *{name}"));
            }
        }
    }
    text.push_str("    return 0;\n}\n");
    Ok(text)
}

/// What a harness prints of a result that is a pointer, which means the same in another program: the upper 16 bits are the
/// [`number_of_pointer`] of what it leads to, the others how many bytes behind its first. Null is 0, and all other memory 0xffff.
fn place_of_result(text: &mut String, made: &[(String, u64)]) {
    text.push_str("    unsigned long where = result ? 0xffffUL << 48 : 0;\n");
    for (index, (name, size)) in made.iter().enumerate() {
        let _ = writeln!(
            text,
            "    for (__SIZE_TYPE__ at = 0; at <= {size}; at++)\n        if ((char *)result == made_{index} + at)\n            \
             where = {}UL << 48 | at;",
            number_of_pointer(name)
        );
    }
}

/// The pointers among arguments and behind them: how C names them, and the bytes of one of the objects that they lead to.
pub fn pointers(shapes: &[ParameterShape]) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for shape in shapes {
        pointers_of(&shape.shape, &shape.name, &mut all);
    }
    all
}

fn pointers_of(shape: &Shape, name: &str, all: &mut Vec<(String, u64)>) {
    match shape {
        Shape::Scalar(_) | Shape::Pointer { to: None, .. } => {}
        Shape::Record { members, .. } => {
            for (_, member, shape) in members {
                pointers_of(shape, &naming::member(name, member), all);
            }
        }
        Shape::Array { element, count } => {
            for index in 0..*count {
                pointers_of(element, &naming::element(name, index), all);
            }
        }
        Shape::Pointer {
            to: Some(to),
            count,
            ..
        } => {
            all.push((name.to_owned(), to.size()));
            match count {
                1 => pointers_of(to, &format!("*{name}"), all),
                _ => {
                    for index in 0..*count {
                        pointers_of(to, &naming::element(name, index), all);
                    }
                }
            }
        }
    }
}

/// The number of a pointer among [`pointers`] in what [`harness`] prints of a result that leads to the same.
pub fn number_of_pointer(name: &str) -> u16 {
    // Fowler, Noll and Vo's sum, of 32 bits.
    let mixed = name.bytes().fold(0x811c_9dc5_u32, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    ((mixed >> 16 ^ mixed) as u16).clamp(1, 0xfffe)
}

fn print_bytes(text: &mut String, name: &str, address: &str, size: &str) {
    let _ = writeln!(
        text,
        "    printf(\"{name}:\");\n    for (__SIZE_TYPE__ at = 0; at < {size}; at++)\n        \
         printf(\" %d\", ((unsigned char *){address})[at]);\n    printf(\"\\n\");"
    );
}

/// Makes an object of a shape that C calls `name`.
fn fill(
    text: &mut String,
    shape: &Shape,
    name: &str,
    inputs: &[Given],
    made: &mut Vec<(String, u64)>,
) -> Result<(), HarnessError> {
    let value = |name: &str| inputs.iter().find(|given| given.name == name);
    match shape {
        Shape::Scalar(Type::Ptr) => {
            let _ = writeln!(text, "    {name} = 0;");
        }
        Shape::Scalar(ty) => {
            let bits = value(name).map_or(0, |given| given.bits);
            let _ = writeln!(text, "    {name} = {};", constant(*ty, bits));
        }
        Shape::Record { members, .. } => {
            for (offset, member, shape) in members {
                let byte = format!("byte{offset}");
                let inner = naming::member(name, member);
                if *member == byte && *shape == Shape::Scalar(Type::U8) {
                    // What has no name of its own is written byte by byte.
                    let bits = value(&inner).map_or(0, |given| given.bits);
                    let _ = writeln!(
                        text,
                        "    ((unsigned char *)&({name}))[{offset}] = {};",
                        constant(Type::U8, bits)
                    );
                    continue;
                }
                fill(text, shape, &inner, inputs, made)?;
            }
        }
        Shape::Array { element, count } => {
            for index in 0..*count {
                fill(text, element, &naming::element(name, index), inputs, made)?;
            }
        }
        Shape::Pointer { to: None, .. } => {
            let _ = writeln!(text, "    {name} = 0;");
        }
        Shape::Pointer {
            to: Some(to),
            count,
            nullable,
        } => {
            let null = value(&format!("{name} == NULL"));
            if *nullable && null.is_some_and(|given| given.bits != 0) {
                let _ = writeln!(text, "    {name} = 0;");
                return Ok(());
            }
            // What lies between members is read where what is left is printed.
            let _ = writeln!(text, "    {name} = calloc({count}, sizeof *{name});");
            made.push((name.to_owned(), count * to.size()));
            match count {
                1 => fill(text, to, &format!("*{name}"), inputs, made)?,
                _ => {
                    for index in 0..*count {
                        fill(text, to, &naming::element(name, index), inputs, made)?;
                    }
                }
            }
        }
    }
    Ok(())
}

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
fn define_elsewhere(text: &mut String, sources: &[Source], inputs: &[Given]) {
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
fn initial_values(text: &mut String, inputs: &[Given]) -> Result<(), HarnessError> {
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
fn functions(
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
                given.consumed
                    && matches!(&given.kind, InputKind::Returned { function, .. } if function == name)
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

/// The file for a whole program: it gives standard input and the arguments, and starts the program.
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

/// The file for a whole program that the interpreter executes with objects that hold any value at the start: they get
/// theirs, and the program begins.
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

/// Whether objects of the program hold any value at the start, and it matters which.
pub fn has_initial_values(inputs: &[Given]) -> bool {
    initial(inputs).next().is_some()
}

/// Standard input, as the execution reads it.
pub fn standard_input(inputs: &[Given]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let length = inputs.iter().find(|given| given.kind == InputKind::Length);
    for given in inputs {
        if let InputKind::Byte(at) = given.kind {
            let at = at as usize;
            if bytes.len() <= at {
                bytes.resize(at + 1, 0);
            }
            bytes[at] = given.bits as u8;
        }
    }
    if let Some(length) = length {
        // Bytes that no execution asks for do not matter, however long the input is said to be.
        bytes.truncate(length.bits.min(bytes.len() as u128) as usize);
    }
    let mut more = true;
    let mut word_ended = false;
    for given in inputs.iter().filter(|given| given.consumed) {
        match &given.kind {
            InputKind::Present => more &= given.bits != 0,
            InputKind::Scanned { conversion, ty } if more => match conversion.as_str() {
                "s" => {
                    let first = given.name.ends_with("[0]");
                    word_ended &= !first;
                    if first && !bytes.is_empty() {
                        bytes.push(b'\n');
                    }
                    let byte = given.bits as u8;
                    word_ended |= byte == 0 || byte.is_ascii_whitespace();
                    if !word_ended {
                        bytes.push(byte);
                    }
                }
                "c" => bytes.push(given.bits as u8),
                _ => {
                    if !bytes.is_empty() {
                        bytes.push(b'\n');
                    }
                    bytes.extend(scanned(conversion, *ty, given.bits).into_bytes());
                }
            },
            _ => {}
        }
    }
    bytes
}

/// A number as a conversion of `scanf` reads it.
fn scanned(conversion: &str, ty: Type, bits: u128) -> String {
    match (conversion.chars().last(), ty) {
        (_, Type::F32) => format!("{:?}", f32::from_bits(bits as u32)),
        (_, Type::F64) => format!("{:?}", f64::from_bits(bits as u64)),
        (Some('x' | 'X'), _) => format!("{:x}", crate::value::signed(unsigned(ty), bits)),
        (Some('o'), _) => format!("{:o}", crate::value::signed(unsigned(ty), bits)),
        _ => crate::value::signed(ty, bits).to_string(),
    }
}

fn unsigned(ty: Type) -> Type {
    match ty.size() {
        1 => Type::U8,
        2 => Type::U16,
        8 => Type::U64,
        _ => Type::U32,
    }
}

/// The arguments of the program, without its name.
pub fn arguments(inputs: &[Given]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut put = |number: u32, at: usize, bytes: &[u8]| {
        let number = number as usize;
        if all.len() < number {
            all.resize(number, Vec::new());
        }
        let argument = &mut all[number - 1];
        let end = at + bytes.len();
        if argument.len() < end {
            argument.resize(end, 0);
        }
        argument[at..end].copy_from_slice(bytes);
    };
    for given in inputs {
        if let InputKind::ArgumentByte(number, at) = given.kind {
            put(number, at as usize, &[given.bits as u8]);
        }
    }
    for given in inputs {
        if let InputKind::ArgumentNumber(number, ty) = given.kind {
            let text = crate::value::signed(ty, given.bits).to_string();
            put(number, 0, format!("{text}\0").as_bytes());
        }
    }
    for argument in &mut all {
        let end = argument.iter().position(|&byte| byte == 0);
        argument.truncate(end.unwrap_or(argument.len()));
    }
    all
}
