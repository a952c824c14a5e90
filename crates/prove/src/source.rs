//! The sources of a program, linked, and the parameters of its functions.

use patchwright_csource::TranslationUnit;
use patchwright_ir::{LinkError, Module, Program};
use patchwright_lower::{alternatives::Alternatives, lower, lower_with};

use crate::trusted::Trusted;

/// A source file with its tree and its IR.
pub struct Source {
    /// It as a tree.
    pub unit: TranslationUnit,
    /// Its path, as the compiler names it.
    pub path: String,
    /// What is not to be changed in it.
    pub trusted: Trusted,
}

/// Why a function cannot be the entry: it does not exist, or a parameter or flag does not fit.
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
    /// A flag that speaks of no pointer among the inputs.
    #[error("`{flag}`: `{function}` has no such pointer input called `{name}`; {known}")]
    Flag {
        /// The flag, as it was given.
        flag: String,
        /// The function.
        function: String,
        /// What it names.
        name: String,
        /// The pointers that there are.
        known: String,
    },
    /// `--text` of something else.
    #[error("`--text {name}`: `{name}` is no pointer to bytes among the inputs of `{function}`")]
    Text {
        /// The function.
        function: String,
        /// What it names.
        name: String,
    },
}

fn defined_are(defined: &str) -> String {
    match defined {
        "" => "they define none: a declaration has no body".to_owned(),
        _ => format!("defined are: {defined}"),
    }
}

/// Links sources with the library functions that are written in C. With alternatives the result is a
/// meta-program.
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

/// Returns the position of the source that defines `name`, and the function.
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
    // A header's function is the same one in each source.
    let of_header = || {
        sources.iter().enumerate().find_map(|(position, source)| {
            let mut all = source.unit.functions_in_headers.iter();
            let found = all.find(|function| function.name == name)?;
            Some((position, found))
        })
    };
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(EntryError::Several(name.to_owned())),
        (None, _) => {
            if let Some(found) = of_header() {
                return Ok(found);
            }
            let all = sources.iter().flat_map(|source| &source.unit.functions);
            let names: Vec<&str> = all.map(|function| function.name.as_str()).collect();
            Err(EntryError::NoFunction {
                name: name.to_owned(),
                defined: names.join(", "),
            })
        }
    }
}

/// Makes a function of a header a part of the program, even if nothing uses it.
pub fn want(sources: &mut [Source], name: &str) {
    for source in sources {
        let mut all = source.unit.functions_in_headers.iter();
        if all.any(|function| function.name == name)
            && !source.unit.wanted.iter().any(|one| one == name)
        {
            source.unit.wanted.push(name.to_owned());
        }
    }
}
