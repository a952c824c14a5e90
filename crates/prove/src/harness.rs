//! Writes a counterexample as a C file, which makes the inputs and calls the function.

mod declared;
mod filler;
mod whole;

use std::{collections::BTreeSet, fmt::Write as _};

use patchwright_csource::types::TypeKind;
use patchwright_symbolic::{ParameterShape, Shape, inputs::given_members, naming};

pub use patchwright_symbolic::naming::number_of_pointer;

use crate::{
    inputs::returned_record,
    source::{EntryError, Source, find},
    verdict::Given,
};
use declared::argument;
pub use declared::writable;
use filler::{Filler, Types};
use whole::{define_elsewhere, functions, initial_values};
pub use whole::{has_initial_values, initial_harness, main_harness, pointers_at_start};

/// Who executes the file: a compiler's program or the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// A compiler makes a program of it, which has to bring all functions with it.
    Compiler,
    /// The interpreter, which knows the functions of verifiers.
    Interpreter,
}

/// Why a counterexample cannot be written in C.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HarnessError {
    /// The function cannot be called.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// Something that C cannot say.
    #[error("{0}")]
    Inexpressible(String),
}

/// Returns the C file of a counterexample. `include` is the name of the source that defines the function.
/// With `shown` it prints what the function leaves behind.
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
    let mut text = String::from("/* Calls a function with these inputs. */\n");
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
    define_elsewhere(&mut text, sources, inputs)?;
    // Into which arrays others lead is known only when all pointers are made.
    let types = Types::of(unit, &found.parameters);
    let mut before = Filler::new(inputs, types.clone(), BTreeSet::new(), shown);
    before.all(shapes)?;
    let mut filler = Filler::new(inputs, types, before.reached, shown);
    if shapes.iter().any(|one| has_functions(&one.shape)) {
        filler.begin_functions();
    }
    let mut names = Vec::new();
    let mut passed = Vec::new();
    for (shape, &parameter) in shapes.iter().zip(&found.parameters) {
        let variable = unit.variable(parameter);
        // The names of the shapes are those of the inputs, also where a reference has others.
        let Some((declared, handed)) =
            argument(&unit.types, variable.ty, &shape.shape, &shape.name)
        else {
            let reason = format!("the type of the parameter `{}` has no name", variable.name);
            return Err(HarnessError::Inexpressible(reason));
        };
        let _ = writeln!(filler.text, "    {declared};");
        names.push(shape.name.clone());
        passed.push(handed);
    }
    filler.all(shapes)?;
    let Filler {
        text: body,
        functions,
        made,
        ..
    } = filler;
    if !functions.is_empty() {
        let _ = write!(text, "{FUNCTIONS}{functions}");
    }
    text.push_str("\nint main(void)\n{\n");
    initial_values(&mut text, sources, inputs)?;
    text.push_str(&body);
    let arguments = passed.join(", ");
    let is_void = matches!(unit.types.kind(found.return_type), TypeKind::Void);
    // A parameter may have this name.
    let mut result = "result".to_owned();
    while names.contains(&result) {
        result.push('_');
    }
    match (shown, is_void) {
        (true, false) => {
            let declared = writable(&unit.types, found.return_type, &result);
            let declared =
                declared.unwrap_or_else(|| format!("__typeof__({function}({arguments})) {result}"));
            let is_pointer = matches!(unit.types.kind(found.return_type), TypeKind::Pointer(_));
            // Where it differs from the function's type, C has it converted.
            let cast = if is_pointer { "(void *)" } else { "" };
            let _ = writeln!(text, "    {declared} = {cast}{function}({arguments});");
            if is_pointer {
                place_of_result(&mut text, &result, &made);
                print_bytes(&mut text, "result", "&where", "sizeof where", &[]);
            } else {
                let record = returned_record(sources, function);
                let gaps = record.map(|record| record.gaps()).unwrap_or_default();
                let (address, size) = (format!("&{result}"), format!("sizeof {result}"));
                print_bytes(&mut text, "result", &address, &size, &gaps);
            }
        }
        _ => {
            let _ = writeln!(text, "    {function}({arguments});");
        }
    }
    if shown {
        for shape in shapes {
            let name = &shape.name;
            let own = made.iter().position(|one| one.pointer == *name);
            if let Some(index) = own {
                let size = made[index].size.to_string();
                let gaps = &made[index].gaps;
                print_bytes(&mut text, name, &format!("made_{index}"), &size, gaps);
            }
        }
    }
    text.push_str("    return 0;\n}\n");
    Ok(text)
}

/// What stands before the functions that arguments lead to.
const FUNCTIONS: &str = "\n/* Functions that arguments lead to. */\n";
/// How the names begin of what these need.
const OWN: &str = "patchwright_";

/// The parts of a C file that [`harness`] wrote: declarations, functions for function pointers, and `main`.
pub struct Parts<'t> {
    /// What does not depend on the inputs.
    pub before: &'t str,
    functions: &'t str,
    main: &'t str,
}

impl<'t> Parts<'t> {
    /// Splits a C file that [`harness`] wrote into its parts. Returns `None` for a text without `int main(void)`.
    pub fn of(text: &'t str) -> Option<Parts<'t>> {
        let (before, main) = text.split_once("int main(void)")?;
        let (before, functions) = before.split_once(FUNCTIONS).unwrap_or((before, ""));
        Some(Parts {
            before,
            functions,
            main,
        })
    }

    /// Returns the functions and `main`, with `main` called `name`, so that one file can have
    /// several.
    pub fn called(&self, name: &str) -> String {
        let own = format!("{OWN}{name}_");
        format!(
            "{}\nstatic int {name}(void){}",
            self.functions.replace(OWN, &own),
            self.main.replace(OWN, &own)
        )
    }
}

/// An object that a harness has made.
struct Made {
    /// The pointer that leads to it.
    pointer: String,
    /// How C calls the pointer where it speaks of what it leads to.
    typed: String,
    /// What the encoding calls it.
    pointed: String,
    /// Bytes.
    size: u64,
    /// Bytes before what the pointer leads to.
    origin: u64,
    /// No pointers lie in it.
    is_plain: bool,
    /// Bytes that belong to no member.
    gaps: Vec<(u64, u64)>,
}

/// Writes C statements that encode a resulting pointer in a form that means the same in another program.
///
/// The upper 16 bits are the [`number_of_pointer`] of the object that it leads to; the others are the offset in bytes. Null is 0.
/// All other memory is 0xffff with offset 0, except for a null pointer that was moved, which keeps its offset.
fn place_of_result(text: &mut String, result: &str, made: &[Made]) {
    let _ = writeln!(
        text,
        "    unsigned long where = {result} ? 0xffffUL << 48 : 0;\n    \
         if ({result} && (unsigned long){result} + 65536 < 131072)\n        \
         where |= (unsigned long){result} & 0xffffffffffff;"
    );
    for (index, one) in made.iter().enumerate() {
        let _ = writeln!(
            text,
            "    for (__SIZE_TYPE__ at = 0; at <= {size}; at++)\n        if ((char *){result} == made_{index} + at)\n            \
             where = {number}UL << 48 | {place};",
            size = one.size,
            place = match one.origin {
                0 => "at".to_owned(),
                origin => format!("(at - {origin} & 0xffffffffffff)"),
            },
            number = number_of_pointer(&one.typed),
        );
    }
}

/// Returns the C expressions of the pointers among arguments and behind them, each with the size in bytes
/// of one object behind it.
pub fn pointers(shapes: &[ParameterShape]) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for shape in shapes {
        pointers_of(&shape.shape, &shape.name, &mut all);
    }
    all
}

fn pointers_of(shape: &Shape, name: &str, all: &mut Vec<(String, u64)>) {
    match shape {
        Shape::Scalar(_) | Shape::Function { .. } | Shape::Pointer { to: None, .. } => {}
        Shape::Record { members, .. } => {
            for (_, member, shape) in given_members(members) {
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
            let typed = shape.typed(name);
            all.push((typed.clone(), to.size()));
            for index in 0..*count {
                pointers_of(to, &behind(&typed, *count, index), all);
            }
        }
    }
}

/// One of the objects that a pointer leads to, as C calls it.
fn behind(typed: &str, count: u64, index: u64) -> String {
    match count {
        1 => format!("*{typed}"),
        _ => naming::element(typed, index),
    }
}

fn has_functions(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(_) | Shape::Pointer { to: None, .. } => false,
        Shape::Function { .. } => true,
        Shape::Record { members, .. } => members.iter().any(|(_, _, shape)| has_functions(shape)),
        Shape::Array { element, .. } => has_functions(element),
        Shape::Pointer { to: Some(to), .. } => has_functions(to),
    }
}

/// Prints bytes; those that belong to no member are zero.
fn print_bytes(text: &mut String, name: &str, address: &str, size: &str, gaps: &[(u64, u64)]) {
    let byte = format!("((unsigned char *){address})[at]");
    let is_gap: Vec<String> = gaps
        .iter()
        .map(|(from, to)| format!("at >= {from} && at < {to}"))
        .collect();
    let value = match is_gap.is_empty() {
        true => byte,
        false => format!("{} ? 0 : {byte}", is_gap.join(" || ")),
    };
    let _ = writeln!(
        text,
        "    printf(\"{name}:\");\n    for (__SIZE_TYPE__ at = 0; at < {size}; at++)\n        \
         printf(\" %d\", {value});\n    printf(\"\\n\");"
    );
}

/// What prints the place of a pointer, and what is there, of functions that arguments lead to.
const SHOWING: &str = "static struct {
    char *at;
    unsigned long size, origin, number;
    int plain;
} patchwright_made[256];
static unsigned long patchwright_place(void *p)
{
    if (!p)
        return 0;
    for (int i = 0; i < patchwright_count; i++)
        for (unsigned long at = 0; at <= patchwright_made[i].size; at++)
            if ((char *)p == patchwright_made[i].at + at)
                return patchwright_made[i].number << 48 | (at - patchwright_made[i].origin & 0xffffffffffff);
    return 0xffffUL << 48;
}
static void patchwright_content(void *p)
{
    for (int i = 0; i < patchwright_count; i++)
        for (unsigned long at = 0; at <= patchwright_made[i].size; at++)
            if (patchwright_made[i].plain && (char *)p == patchwright_made[i].at + at)
                for (unsigned long k = 0; k < patchwright_made[i].size; k++)
                    printf(\" %u\", (unsigned)(unsigned char)patchwright_made[i].at[k]);
}
";
