//! Writes a counterexample as a C file, which makes the inputs and calls the function.

use std::{collections::BTreeSet, fmt::Write as _};

use patchwright_csource::{TranslationUnit, types::TypeKind};
use patchwright_ir::Type;
use patchwright_symbolic::{
    InputKind, ParameterShape, Shape,
    inputs::{Target, given_members, order},
    naming,
};

pub use patchwright_symbolic::naming::number_of_pointer;

use crate::{
    inputs::{has_pointers, returned_record},
    source::{EntryError, Source, find},
    value::constant,
    verdict::Given,
};

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
    // Into which arrays others lead is known only when all pointers are made.
    let mut before = Filler::new(inputs, BTreeSet::new(), shown);
    before.all(shapes)?;
    let mut filler = Filler::new(inputs, before.reached, shown);
    if shapes.iter().any(|one| has_functions(&one.shape)) {
        filler.begin_functions();
    }
    let mut names = Vec::new();
    for (shape, &parameter) in shapes.iter().zip(&found.parameters) {
        let variable = unit.variable(parameter);
        // Pointers to functions have no plain spelling.
        let is_function = matches!(shape.shape, Shape::Function { .. });
        let spelled = match unit.types.spelling(variable.ty) {
            Some(spelled) => spelled,
            None if is_function => "void *".to_owned(),
            None => {
                let reason = format!("the type of the parameter `{}` has no name", variable.name);
                return Err(HarnessError::Inexpressible(reason));
            }
        };
        // What is made has to be written, so nothing is `const` here.
        let spelled = spelled.replace("const ", "");
        // The names of the shapes are those of the inputs, also where a reference has others.
        let _ = writeln!(filler.text, "    {spelled} {};", shape.name);
        names.push(shape.name.clone());
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
    initial_values(&mut text, inputs)?;
    text.push_str(&body);
    let arguments = names.join(", ");
    let is_void = matches!(unit.types.kind(found.return_type), TypeKind::Void);
    // A parameter may have this name.
    let mut result = "result".to_owned();
    while names.contains(&result) {
        result.push('_');
    }
    match (shown, is_void) {
        (true, false) => {
            // Pointers to functions have no plain spelling.
            let spelled = unit.types.spelling(found.return_type);
            let spelled = spelled.unwrap_or_else(|| format!("__typeof__({function}({arguments}))"));
            let is_pointer = matches!(unit.types.kind(found.return_type), TypeKind::Pointer(_));
            let _ = writeln!(text, "    {spelled} {result} = {function}({arguments});");
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

/// Makes what arguments are and lead to.
struct Filler<'a> {
    /// What is done before the call.
    text: String,
    /// Functions that arguments lead to.
    functions: String,
    inputs: &'a [Given],
    parameter: Option<&'a ParameterShape>,
    made: Vec<Made>,
    /// Pointers that lead to objects of their own.
    own: BTreeSet<String>,
    /// Pointers into whose arrays others lead.
    entered: BTreeSet<String>,
    /// Those of them that were met.
    reached: BTreeSet<String>,
    /// Calls of functions that arguments lead to are printed.
    shown: bool,
}

impl<'a> Filler<'a> {
    fn new(inputs: &'a [Given], entered: BTreeSet<String>, shown: bool) -> Filler<'a> {
        Filler {
            text: String::new(),
            functions: String::new(),
            inputs,
            parameter: None,
            made: Vec::new(),
            own: BTreeSet::new(),
            entered,
            reached: BTreeSet::new(),
            shown,
        }
    }

    /// Makes all arguments.
    fn all(&mut self, shapes: &'a [ParameterShape]) -> Result<(), HarnessError> {
        for at in order(shapes) {
            self.parameter = Some(&shapes[at]);
            self.fill(&shapes[at].shape, &shapes[at].name, 0)?;
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Option<&Given> {
        self.inputs.iter().find(|given| given.name == name)
    }

    /// Makes an object of a shape that C calls `name`, behind so many pointers.
    fn fill(&mut self, shape: &Shape, name: &str, depth: u32) -> Result<(), HarnessError> {
        match shape {
            Shape::Scalar(Type::Ptr) => self.set(name, "void *", "0", depth),
            Shape::Scalar(ty) => {
                let bits = self.value(name).map_or(0, |given| given.bits);
                self.set(name, spelled(*ty), &constant(*ty, bits), depth);
            }
            Shape::Record { members, .. } => {
                for (offset, member, shape) in given_members(members) {
                    let byte = format!("byte{offset}");
                    let inner = naming::member(name, member);
                    if *member == byte && *shape == Shape::Scalar(Type::U8) {
                        // What has no name of its own is written byte by byte.
                        let bits = self.value(&inner).map_or(0, |given| given.bits);
                        let _ = writeln!(
                            self.text,
                            "    ((unsigned char *)&({name}))[{offset}] = {};",
                            constant(Type::U8, bits)
                        );
                        continue;
                    }
                    self.fill(shape, &inner, depth)?;
                }
            }
            Shape::Array { element, count } => {
                for index in 0..*count {
                    self.fill(element, &naming::element(name, index), depth)?;
                }
            }
            Shape::Pointer { to: None, .. } => self.set(name, "void *", "0", depth),
            Shape::Function { nullable } => {
                if *nullable && self.is_null(name) {
                    self.set(name, "void *", "0", depth);
                } else if !self.leads_elsewhere(name, depth) {
                    let function = self.function(name)?;
                    self.set(name, "void *", &format!("(void *){function}"), depth);
                }
            }
            Shape::Pointer {
                to: Some(to),
                count,
                nullable,
                text,
                ..
            } => {
                if *nullable && self.is_null(name) {
                    self.set(name, "void *", "0", depth);
                    return Ok(());
                }
                if self.leads_elsewhere(name, depth) {
                    return Ok(());
                }
                let typed = shape.typed(name);
                // What lies between members is read where what is left is printed.
                let size = to.size();
                let (before, behind_it) = self.room(name, *count);
                let memory = match before {
                    0 => format!("calloc({behind_it}, {size})"),
                    _ => format!(
                        "(char *)calloc({}, {size}) + {}",
                        before + behind_it,
                        before * size
                    ),
                };
                self.set(name, "void *", &memory, depth);
                self.keep(name, &typed, to, *count, (before, behind_it));
                for index in 0..behind_it {
                    if *text && index + 1 == *count {
                        continue;
                    }
                    self.fill(to, &behind(&typed, *count, index), depth + 1)?;
                }
                for index in 1..=before {
                    self.fill(to, &naming::before_it(&typed, index), depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// Gives an object a value. What is far behind pointers may be `const` to C.
    fn set(&mut self, name: &str, ty: &str, value: &str, depth: u32) {
        let _ = match depth {
            0 | 1 => writeln!(self.text, "    {name} = {value};"),
            _ => writeln!(self.text, "    *({ty} *)&({name}) = {value};"),
        };
    }

    fn is_null(&self, name: &str) -> bool {
        let null = self.value(&format!("{name} == NULL"));
        null.is_some_and(|given| given.bits != 0)
    }

    /// How many of the objects that a pointer leads to lie before it, and how many behind.
    fn room(&self, name: &str, count: u64) -> (u64, u64) {
        let own = self.parameter.and_then(|own| own.before(name));
        match own.filter(|_| self.entered.contains(name)) {
            Some(before) => {
                let given = self.value(&before.name).map_or(0, |given| given.bits);
                let earlier = before.count(given);
                let shorter = if before.shortens { earlier } else { 0 };
                (earlier, count - shorter)
            }
            None => (0, count),
        }
    }

    /// Makes a pointer lead to something that is not its own, if it shall.
    fn leads_elsewhere(&mut self, name: &str, depth: u32) -> bool {
        let ways = self.parameter.map_or(&[][..], |own| own.ways(name));
        let chosen = ways.iter().find(|way| {
            let is_there = match &way.to {
                Target::Pointer { name, .. } => self.own.contains(name),
                Target::Global(_) => true,
            };
            is_there && self.value(&way.label).is_some_and(|given| given.bits != 0)
        });
        let Some(way) = chosen else {
            return false;
        };
        let distance = way.distance.as_ref();
        let bits = |name: &String| self.value(name).map_or(0, |given| given.bits);
        let before = way.before.as_ref().map_or(0, |before| bits(&before.name));
        let position = distance.map_or(0, |name| way.position(bits(name), before));
        if let (Some(_), Target::Pointer { name, .. }) = (distance, &way.to) {
            self.reached.insert(name.clone());
        }
        let value = match position * way.element as i64 {
            0 => format!("(void *){}", way.expression),
            bytes => format!("(void *)((char *){} + {bytes})", way.expression),
        };
        self.set(name, "void *", &value, depth);
        true
    }

    /// Keeps where an object is, which the call may change.
    fn keep(
        &mut self,
        name: &str,
        typed: &str,
        to: &Shape,
        count: u64,
        (before, behind_it): (u64, u64),
    ) {
        self.own.insert(name.to_owned());
        let index = self.made.len();
        let made = Made {
            pointer: name.to_owned(),
            typed: typed.to_owned(),
            pointed: naming::pointed(typed, count),
            size: (before + behind_it) * to.size(),
            origin: before * to.size(),
            is_plain: !has_pointers(to),
            gaps: Shape::Array {
                element: Box::new(to.clone()),
                count: before + behind_it,
            }
            .gaps(),
        };
        if self.shown {
            let first = match made.origin {
                0 => name.to_owned(),
                origin => format!("{name} - {origin}"),
            };
            let _ = writeln!(self.text, "    char *made_{index} = (char *){first};");
        }
        if self.shown && !self.functions.is_empty() {
            let _ = writeln!(
                self.text,
                "    {OWN}made[{OWN}count].at = made_{index};\n    {OWN}made[{OWN}count].size = {};\n    \
                 {OWN}made[{OWN}count].origin = {};\n    \
                 {OWN}made[{OWN}count].plain = {};\n    {OWN}made[{OWN}count++].number = {}UL;",
                made.size,
                made.origin,
                u8::from(made.is_plain),
                number_of_pointer(&made.pointed),
            );
        }
        self.made.push(made);
    }

    /// Begins with what functions need that arguments lead to.
    fn begin_functions(&mut self) {
        self.functions.push_str("static int patchwright_count;\n");
        if self.shown {
            self.functions.push_str(SHOWING);
            self.text.push_str("    patchwright_count = 0;\n");
        }
    }

    /// The function that a pointer leads to and nothing else: it gives what the inputs say, and prints how it is called.
    fn function(&mut self, name: &str) -> Result<String, HarnessError> {
        let number = self.functions.matches("/* called */").count();
        let function = format!("{OWN}function_{number}");
        let own: Vec<&Given> = self
            .inputs
            .iter()
            .filter(|given| {
                matches!(&given.kind, InputKind::Called { function, .. } if function == name)
            })
            .collect();
        let _ = writeln!(self.functions, "/* called */");
        let Some(InputKind::Called { parameters, ty, .. }) = own.first().map(|given| &given.kind)
        else {
            let _ = writeln!(self.functions, "static void {function}(void) {{ }}");
            return Ok(function);
        };
        let unknown = parameters.iter().any(|ty| spelled(*ty).is_empty());
        if unknown {
            let reason = format!("`{name}` gets values of a type that has no name here");
            return Err(HarnessError::Inexpressible(reason));
        }
        let (mut declared, mut printed) = (Vec::new(), String::new());
        for (index, ty) in parameters.iter().enumerate() {
            declared.push(format!("{} a{index}", spelled(*ty)));
            let _ = match ty {
                Type::Ptr => writeln!(printed, "    printf(\" %lu\", {OWN}place(a{index}));"),
                Type::F32 => writeln!(
                    printed,
                    "    unsigned b{index};\n    __builtin_memcpy(&b{index}, &a{index}, 4);\n    printf(\" %x\", b{index});"
                ),
                Type::F64 => writeln!(
                    printed,
                    "    unsigned long b{index};\n    __builtin_memcpy(&b{index}, &a{index}, 8);\n    \
                     printf(\" %lx\", b{index});"
                ),
                Type::I64 => writeln!(printed, "    printf(\" %ld\", a{index});"),
                Type::U64 => writeln!(printed, "    printf(\" %lu\", a{index});"),
                ty if ty.is_signed() || *ty == Type::Bool => {
                    writeln!(printed, "    printf(\" %d\", a{index});")
                }
                _ => writeln!(printed, "    printf(\" %u\", (unsigned)a{index});"),
            };
        }
        for (index, _) in parameters
            .iter()
            .enumerate()
            .filter(|(_, ty)| **ty == Type::Ptr)
        {
            let _ = writeln!(printed, "    {OWN}content(a{index});");
        }
        let declared = match declared.is_empty() {
            true => "void".to_owned(),
            false => declared.join(", "),
        };
        let result = match ty {
            Type::Void => "void",
            ty => spelled(*ty),
        };
        let _ = writeln!(
            self.functions,
            "static unsigned long {OWN}given_{number}[32];\nstatic int {OWN}called_{number};\n\
             static {result} {function}({declared})\n{{"
        );
        if self.shown {
            let _ = write!(
                self.functions,
                "    printf(\"[{name}\");\n{printed}    printf(\"]\\n\");\n"
            );
        }
        let _ = match ty {
            Type::Void => writeln!(self.functions, "}}"),
            ty => writeln!(
                self.functions,
                "    {result} value = 0;\n    if ({OWN}called_{number} < 32)\n        \
                 __builtin_memcpy(&value, &{OWN}given_{number}[{OWN}called_{number}++], {});\n    return value;\n}}",
                ty.size()
            ),
        };
        let _ = writeln!(self.text, "    {OWN}called_{number} = 0;");
        let values: Vec<(u32, u128)> = own
            .iter()
            .filter(|given| given.consumed && *ty != Type::Void)
            .filter_map(|given| match &given.kind {
                InputKind::Called { number, .. } => Some((*number, given.bits)),
                _ => None,
            })
            .collect();
        for (call, bits) in values {
            let _ = writeln!(
                self.text,
                "    {OWN}given_{number}[{}] = {}UL;",
                call - 1,
                bits as u64
            );
        }
        Ok(function)
    }
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

/// How C spells a type; nothing for those that are not handed to functions here.
const fn spelled(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "_Bool",
        Type::I8 => "signed char",
        Type::U8 => "unsigned char",
        Type::I16 => "short",
        Type::U16 => "unsigned short",
        Type::I32 => "int",
        Type::U32 => "unsigned",
        Type::I64 => "long",
        Type::U64 => "unsigned long",
        Type::F32 => "float",
        Type::F64 => "double",
        Type::Ptr => "void *",
        _ => "",
    }
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
