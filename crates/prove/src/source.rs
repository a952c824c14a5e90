//! The program: its sources, linked, and what its functions take.

use std::collections::BTreeMap;

use patchwright_csource::{
    TranslationUnit,
    types::{TypeId, TypeKind, TypeTable},
};
use patchwright_ir::{LinkError, Module, Program, Type};
use patchwright_lower::{alternatives::Alternatives, lower, lower_with, scalar};
use patchwright_symbolic::{ParameterShape, Shape};

use crate::trusted::Trusted;

/// A source file.
pub struct Source {
    /// It as a tree.
    pub unit: TranslationUnit,
    /// Its path, as the compiler names it.
    pub path: String,
    /// What is not to be changed in it.
    pub trusted: Trusted,
}

/// What is wrong with the function that is named as the entry, or its parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// No such function.
    #[error("no function `{name}` is defined in the files that were given; {}", defined_are(.defined))]
    NoFunction {
        /// The name.
        name: String,
        /// The functions that there are.
        defined: String,
    },
    /// Several of them.
    #[error("several files define a function `{0}`; give only one of these files, or rename one")]
    Several(String),
    /// A parameter whose type is not known.
    #[error(
        "`{function}`: the parameter `{parameter}` is of a type that no argument can be made for; \
         write a function that calls `{function}`, and name that one with --function"
    )]
    Parameter {
        /// The function.
        function: String,
        /// The parameter.
        parameter: String,
    },
    /// `--length` of something else.
    #[error(
        "`--length {parameter}=…`: `{function}` has no parameter `{parameter}` that is a pointer"
    )]
    Length {
        /// The function.
        function: String,
        /// What was named.
        parameter: String,
    },
}

fn defined_are(defined: &str) -> String {
    match defined {
        "" => "they define none: a declaration has no body".to_owned(),
        _ => format!("defined are: {defined}"),
    }
}

/// Links sources and the functions of the library that are written in C; with alternatives, as a meta-program.
///
/// # Errors
/// When a name is defined twice.
pub fn link(
    sources: &[Source],
    alternatives: Option<&[&Alternatives]>,
    library: &Module,
) -> Result<Program, LinkError> {
    let mut modules: Vec<Module> = sources
        .iter()
        .enumerate()
        .map(|(position, source)| match alternatives {
            None => lower(&source.unit, &source.path),
            Some(all) => lower_with(&source.unit, &source.path, all[position]),
        })
        .collect();
    modules.push(library.clone());
    Program::link(modules)
}

/// The source and the function of this name.
///
/// # Errors
/// When there is none, or several.
pub fn find<'s>(
    sources: &'s [Source],
    name: &str,
) -> Result<(usize, &'s patchwright_csource::Function), EntryError> {
    let mut found = sources.iter().enumerate().flat_map(|(position, source)| {
        let functions = source.unit.functions.iter();
        functions
            .filter(|function| function.name == name)
            .map(move |function| (position, function))
    });
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(EntryError::Several(name.to_owned())),
        (None, _) => {
            let all = sources.iter().flat_map(|source| &source.unit.functions);
            let names: Vec<&str> = all.map(|function| function.name.as_str()).collect();
            Err(EntryError::NoFunction {
                name: name.to_owned(),
                defined: names.join(", "),
            })
        }
    }
}

/// What the parameters of a function are. Pointers point to one object, or to as many as `lengths` says for a parameter.
///
/// # Errors
/// When there is no such function, or a parameter has a type that is not known.
pub fn parameters(
    sources: &[Source],
    name: &str,
    lengths: &BTreeMap<String, u64>,
) -> Result<Vec<ParameterShape>, EntryError> {
    let (position, function) = find(sources, name)?;
    let unit = &sources[position].unit;
    let mut left: BTreeMap<&str, u64> = lengths.iter().map(|(k, &v)| (k.as_str(), v)).collect();
    let mut shapes = Vec::new();
    for &parameter in &function.parameters {
        let variable = unit.variable(parameter);
        let is_pointer = matches!(unit.types.kind(variable.ty), TypeKind::Pointer(_));
        let length = match is_pointer {
            true => left.remove(variable.name.as_str()),
            false => None,
        };
        let shape = shape(&unit.types, variable.ty, length, 0);
        let unknown = || EntryError::Parameter {
            function: name.to_owned(),
            parameter: variable.name.clone(),
        };
        shapes.push(ParameterShape {
            name: variable.name.clone(),
            shape: shape.ok_or_else(unknown)?,
        });
    }
    match left.keys().next() {
        None => Ok(shapes),
        Some(parameter) => Err(EntryError::Length {
            function: name.to_owned(),
            parameter: (*parameter).to_owned(),
        }),
    }
}

/// What a function returns, if that is a structure or a union whose members are known.
pub fn returned_record(sources: &[Source], name: &str) -> Option<Shape> {
    let (position, function) = find(sources, name).ok()?;
    let types = &sources[position].unit.types;
    let shape = shape(types, function.return_type, None, 0)?;
    matches!(shape, Shape::Record { .. }).then_some(shape)
}

/// How deep pointers in what pointers point to are followed.
const DEEPEST: u32 = 3;

fn shape(types: &TypeTable, ty: TypeId, length: Option<u64>, depth: u32) -> Option<Shape> {
    match types.kind(ty) {
        TypeKind::Pointer(to) => {
            if depth >= DEEPEST {
                return Some(Shape::Scalar(Type::Ptr));
            }
            // What is not a complete type cannot be made; there is no object, then.
            let to = shape(types, *to, None, depth + 1).filter(|to| to.size() > 0);
            Some(Shape::Pointer {
                to: to.map(Box::new),
                count: length.unwrap_or(1),
                nullable: depth > 0,
            })
        }
        TypeKind::Array(of, Some(count)) => Some(Shape::Array {
            element: Box::new(shape(types, *of, None, depth)?),
            count: *count,
        }),
        TypeKind::Record(record) => {
            let layout = types.layout(*record)?;
            let fields = types.record(*record).fields.as_ref()?;
            let has_bits = fields.iter().any(|field| field.bit_width.is_some());
            let members = match has_bits || fields.iter().any(|field| field.name.is_empty()) {
                // What is not whole bytes, or has no name, is given byte by byte.
                true => (0..layout.size)
                    .map(|at| (at, format!("byte{at}"), Shape::Scalar(Type::U8)))
                    .collect(),
                false => {
                    let mut members = Vec::new();
                    for (field, bits) in fields.iter().zip(&layout.offsets) {
                        let inner = shape(types, field.ty, None, depth)?;
                        members.push((bits / 8, field.name.clone(), inner));
                    }
                    members
                }
            };
            Some(Shape::Record {
                size: layout.size,
                members,
            })
        }
        _ => scalar(types, ty).map(Shape::Scalar),
    }
}
