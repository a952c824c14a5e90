//! The versions that are compared, as sources and linked programs.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use patchwright_compare::{changed_lines, holds_pointer, is_same_code, same_parameters};
use patchwright_exec::{CancelToken, Scratch};
use patchwright_ir::Module;
use patchwright_lower::lower;
use patchwright_prove::{Source, Trusted, find, parameters};
use patchwright_symbolic::{Entry, LIBRARY_FILE, ParameterShape, library_source};

use super::CompareArgs;
use crate::encoded::{Problem, Reader, lengths};

/// One of the versions.
pub struct Version {
    /// Its source: a list of one.
    pub sources: Vec<Source>,
    /// The path, as the user wrote it.
    pub shown: String,
    /// Where it begins.
    pub entry: Entry,
    /// Parameters of the function.
    pub shapes: Vec<ParameterShape>,
    /// Lines that the other one does not have.
    pub changed: Vec<u32>,
}

impl Version {
    /// The source.
    pub fn source(&self) -> &Source {
        &self.sources[0]
    }

    /// It as a module.
    pub fn module(&self) -> Module {
        lower(&self.source().unit, &self.source().path)
    }
}

/// Both versions.
pub struct Versions {
    /// OLD and NEW.
    pub both: [Version; 2],
    /// What the symbolic encoding knows of the C library.
    pub library: Module,
    /// Objects that are not compared, since they hold pointers.
    pub skipped: Vec<String>,
    /// They are the same code.
    pub same_code: bool,
    pub reader: Reader,
}

/// Reads what the flags name.
pub fn versions(
    args: &CompareArgs,
    scratch: &Scratch,
    cancel: CancelToken,
) -> Result<Versions, Problem> {
    let mut reader = Reader::start(args.cflags.as_deref(), scratch, "compare", cancel)?;
    let library = reader.module(LIBRARY_FILE, library_source())?;
    let lengths = lengths(&args.length)?;
    let mut version = |name: &OsString| version(args, &mut reader, name, &lengths);
    let mut both = [version(&args.old)?, version(&args.new)?];
    if let Err(name) = same_parameters(&both[0].shapes, &both[1].shapes) {
        return Err(Problem::Input(format!(
            "the parameter `{name}` of `{}` has another type in {} than in {}: both cannot be given the same \
             argument; write a function in each file that converts it, and name that one with --function",
            args.function.as_deref().unwrap_or("main"),
            both[1].shown,
            both[0].shown
        )));
    }
    let texts = [0, 1].map(|side| both[side].source().unit.source.clone());
    both[0].changed = changed_lines(&texts[0], &texts[1]);
    both[1].changed = changed_lines(&texts[1], &texts[0]);
    let mut skipped = Vec::new();
    for version in &both {
        skipped.extend(holds_pointer(&version.source().unit, &version.shapes));
    }
    let same_code = is_same_code(&[both[0].module()], &[both[1].module()]);
    Ok(Versions {
        both,
        library,
        skipped,
        same_code,
        reader,
    })
}

fn version(
    args: &CompareArgs,
    reader: &mut Reader,
    name: &OsString,
    lengths: &BTreeMap<String, u64>,
) -> Result<Version, Problem> {
    let file = reader.here.join(name);
    if file.is_dir() {
        return Err(Problem::Input(format!(
            "{} is a folder; give a C file of it, in both versions",
            Path::new(name).display()
        )));
    }
    let (unit, path) = reader.parse(file, None)?;
    let sources = vec![Source {
        unit,
        path,
        trusted: Trusted::default(),
    }];
    let shown = name.to_string_lossy().into_owned();
    let (entry, shapes) =
        match &args.function {
            None => {
                if !lengths.is_empty() {
                    return Err(Problem::Input(
                        "--length speaks of a function's parameters: name it with --function"
                            .to_owned(),
                    ));
                }
                find(&sources, "main").map_err(|_| {
                let names: Vec<&str> =
                    sources[0].unit.functions.iter().map(|one| one.name.as_str()).collect();
                Problem::Input(format!(
                    "{shown} does not define `main`; name a function with --function, one of: {}",
                    names.join(", ")
                ))
            })?;
                let entry = Entry::Main {
                    arguments: args.arguments,
                    longest: args.longest,
                };
                (entry, Vec::new())
            }
            Some(function) => {
                let problem = |error| Problem::Input(format!("{shown}: {error}"));
                let (_, found) = find(&sources, function).map_err(problem)?;
                let unit = &sources[0].unit;
                let own = found
                    .parameters
                    .iter()
                    .map(|&id| unit.variable(id).name.as_str());
                let own: Vec<&str> = own.collect();
                // A parameter may be missing in one of the versions.
                let lengths: BTreeMap<String, u64> = lengths
                    .iter()
                    .filter(|(name, _)| own.contains(&name.as_str()))
                    .map(|(name, &count)| (name.clone(), count))
                    .collect();
                let shapes = parameters(&sources, function, &lengths).map_err(problem)?;
                let entry = Entry::Function {
                    name: function.clone(),
                    parameters: shapes.clone(),
                };
                (entry, shapes)
            }
        };
    Ok(Version {
        sources,
        shown,
        entry,
        shapes,
        changed: Vec::new(),
    })
}
