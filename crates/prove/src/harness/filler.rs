//! Gives the inputs of a function their values, and what pointers lead to.

use std::{collections::BTreeSet, fmt::Write as _};

use patchwright_csource::{
    TranslationUnit, VarId,
    types::{TypeId, TypeKind, TypeTable},
};
use patchwright_ir::Type;
use patchwright_symbolic::{
    InputKind, ParameterShape, Shape,
    inputs::{Target, given_members, order},
    naming::{self, number_of_pointer},
};

use super::{HarnessError, Made, OWN, SHOWING, behind};
use crate::{inputs::has_pointers, value::constant, verdict::Given};

/// The types of the parameters that get the arguments.
#[derive(Clone)]
pub(super) struct Types<'a> {
    table: &'a TypeTable,
    parameters: Vec<TypeId>,
}

impl<'a> Types<'a> {
    /// Collects the types of a function's parameters.
    pub(super) fn of(unit: &'a TranslationUnit, parameters: &[VarId]) -> Types<'a> {
        let types = parameters.iter().map(|&id| unit.variable(id).ty);
        Types {
            table: &unit.types,
            parameters: types.collect(),
        }
    }

    /// Whether an object of this type is `const`.
    fn is_const(&self, ty: TypeId) -> bool {
        match self.table.kind(ty) {
            TypeKind::Array(of, _) => self.is_const(*of),
            _ => self.table.qualifiers(ty).is_const,
        }
    }

    fn member(&self, ty: TypeId, name: &str) -> Option<TypeId> {
        let TypeKind::Record(record) = self.table.kind(ty) else {
            return None;
        };
        let fields = self.table.record(*record).fields.as_ref()?;
        let field = fields.iter().find(|field| field.name == name)?;
        Some(field.ty)
    }
}

/// What C takes an object for that is given a value.
#[derive(Clone, Copy)]
struct Spot {
    /// Its type, if that is known.
    ty: Option<TypeId>,
    /// It is `const`.
    is_const: bool,
    /// A structure declares it. The variables that hold arguments are declared without `const`.
    within: bool,
}

impl Spot {
    fn member(self, name: &str, types: &Types<'_>) -> Spot {
        let ty = self.ty.and_then(|ty| types.member(ty, name));
        Spot {
            ty,
            is_const: self.is_const || ty.is_some_and(|ty| types.is_const(ty)),
            within: true,
        }
    }

    fn element(self, types: &Types<'_>) -> Spot {
        let ty = self.ty.and_then(|ty| types.table.element(ty));
        Spot { ty, ..self }
    }

    /// What a pointer leads to, which is cast to another one before if `is_cast`.
    fn pointed(self, is_cast: bool, types: &Types<'_>) -> Spot {
        if is_cast {
            return Spot {
                ty: None,
                is_const: false,
                within: false,
            };
        }
        let ty = self.ty.and_then(|ty| types.table.element(ty));
        Spot {
            ty,
            is_const: self.within && ty.is_some_and(|ty| types.is_const(ty)),
            within: self.within,
        }
    }

    /// Whether an assignment gives it a value.
    fn is_assignable(self) -> bool {
        !self.is_const && (self.ty.is_some() || !self.within)
    }
}

/// Makes what arguments are and lead to.
pub(super) struct Filler<'a> {
    /// What is done before the call.
    pub(super) text: String,
    /// Functions that arguments lead to.
    pub(super) functions: String,
    pub(super) inputs: &'a [Given],
    types: Types<'a>,
    pub(super) parameter: Option<&'a ParameterShape>,
    pub(super) made: Vec<Made>,
    /// Pointers that lead to objects of their own.
    pub(super) own: BTreeSet<String>,
    /// Pointers into whose arrays others lead.
    pub(super) entered: BTreeSet<String>,
    /// Those of them that were met.
    pub(super) reached: BTreeSet<String>,
    /// Calls of functions that arguments lead to are printed.
    pub(super) shown: bool,
}

impl<'a> Filler<'a> {
    /// Starts a C program that makes these inputs. `entered` are pointers into whose arrays others lead; `shown` prints calls of functions
    /// that arguments lead to.
    pub(super) fn new(
        inputs: &'a [Given],
        types: Types<'a>,
        entered: BTreeSet<String>,
        shown: bool,
    ) -> Filler<'a> {
        Filler {
            text: String::new(),
            functions: String::new(),
            inputs,
            types,
            parameter: None,
            made: Vec::new(),
            own: BTreeSet::new(),
            entered,
            reached: BTreeSet::new(),
            shown,
        }
    }

    /// Makes all arguments.
    pub(super) fn all(&mut self, shapes: &'a [ParameterShape]) -> Result<(), HarnessError> {
        for at in order(shapes) {
            self.parameter = Some(&shapes[at]);
            let spot = Spot {
                ty: self.types.parameters.get(at).copied(),
                is_const: false,
                within: false,
            };
            self.fill(&shapes[at].shape, &shapes[at].name, spot)?;
        }
        Ok(())
    }

    /// Returns the value of an input by its name.
    pub(super) fn value(&self, name: &str) -> Option<&Given> {
        self.inputs.iter().find(|given| given.name == name)
    }

    /// Makes an object of a shape that C calls `name`.
    fn fill(&mut self, shape: &Shape, name: &str, spot: Spot) -> Result<(), HarnessError> {
        match shape {
            Shape::Scalar(Type::Ptr) => self.set(name, "void *", "0", spot),
            Shape::Scalar(ty) => {
                let bits = self.value(name).map_or(0, |given| given.bits);
                let spelled = match *ty {
                    Type::I128 => "__int128",
                    Type::U128 => "unsigned __int128",
                    Type::F80 => "long double",
                    ty => spelled(ty),
                };
                self.set(name, spelled, &constant(*ty, bits), spot);
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
                    let spot = spot.member(member, &self.types);
                    self.fill(shape, &inner, spot)?;
                }
            }
            Shape::Array { element, count } => {
                let spot = spot.element(&self.types);
                for index in 0..*count {
                    self.fill(element, &naming::element(name, index), spot)?;
                }
            }
            Shape::Pointer { to: None, .. } => self.set(name, "void *", "0", spot),
            Shape::Function { nullable } => {
                if *nullable && self.is_null(name) {
                    self.set(name, "void *", "0", spot);
                } else if !self.leads_elsewhere(name, spot) {
                    let function = self.function(name)?;
                    self.set(name, "void *", &format!("(void *){function}"), spot);
                }
            }
            Shape::Pointer {
                to: Some(to),
                count,
                nullable,
                text,
                cast,
            } => {
                if *nullable && self.is_null(name) {
                    self.set(name, "void *", "0", spot);
                    return Ok(());
                }
                if self.leads_elsewhere(name, spot) {
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
                self.set(name, "void *", &memory, spot);
                self.keep(name, &typed, to, *count, (before, behind_it));
                let spot = spot.pointed(cast.is_some(), &self.types);
                for index in 0..behind_it {
                    if *text && index + 1 == *count {
                        continue;
                    }
                    self.fill(to, &behind(&typed, *count, index), spot)?;
                }
                for index in 1..=before {
                    self.fill(to, &naming::before_it(&typed, index), spot)?;
                }
            }
        }
        Ok(())
    }

    /// Gives an object a value, also one that is `const` to C.
    fn set(&mut self, name: &str, ty: &str, value: &str, spot: Spot) {
        let _ = match spot.is_assignable() {
            true => writeln!(self.text, "    {name} = {value};"),
            false => writeln!(self.text, "    *({ty} *)&({name}) = {value};"),
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
    fn leads_elsewhere(&mut self, name: &str, spot: Spot) -> bool {
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
        self.set(name, "void *", &value, spot);
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
            let _ = writeln!(
                self.text,
                "    static char *volatile made_{index};\n    made_{index} = (char *){first};"
            );
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
    pub(super) fn begin_functions(&mut self) {
        self.functions.push_str("static int patchwright_count;\n");
        if self.shown {
            self.functions.push_str(SHOWING);
            self.text.push_str("    patchwright_count = 0;\n");
        }
    }

    /// Writes the function to which only this pointer leads. It returns what the inputs say, and prints its calls.
    pub(super) fn function(&mut self, name: &str) -> Result<String, HarnessError> {
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

/// Returns the C name of a type; empty for types that functions do not get here.
pub(super) const fn spelled(ty: Type) -> &'static str {
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
