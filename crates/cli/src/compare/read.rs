//! The versions that are compared, as sources and linked programs.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt::Display,
    path::{Path, PathBuf},
};

use patchwright_compare::{changed_lines, holds_pointer, is_same_code, same_parameters};
use patchwright_csource::{Clang, TranslationUnit, parse};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram, Scratch, files};
use patchwright_ir::Module;
use patchwright_lower::lower;
use patchwright_prove::{Source, Trusted, find, parameters};
use patchwright_symbolic::{Entry, LIBRARY_FILE, ParameterShape, library_source};

use super::CompareArgs;

/// Why the command cannot go on.
#[derive(Debug)]
pub enum Problem {
    /// What the user gave is wrong: a message.
    Input(String),
    /// It was interrupted.
    Interrupted,
}

impl Problem {
    /// Something that the user can mend.
    pub fn of(error: impl Display) -> Problem {
        Problem::Input(error.to_string())
    }
}

/// What reads C.
pub struct Reader {
    runner: Runner,
    clang: Clang,
    here: PathBuf,
    folder: PathBuf,
    flags: Vec<OsString>,
}

impl Reader {
    fn parse(&mut self, file: PathBuf) -> Result<(TranslationUnit, String), Problem> {
        let bytes = files::read(&file).map_err(Problem::of)?;
        let path = file.to_string_lossy().into_owned();
        let mut arguments: Vec<OsString> = vec!["cc".into()];
        arguments.extend(self.flags.iter().cloned());
        arguments.extend(["-c".into(), file.clone().into_os_string()]);
        let command = CompileCommand {
            directory: self.here.clone(),
            arguments,
            output: None,
            included: None,
            file,
        };
        let unit = parse(&self.clang, &mut self.runner, &command, bytes).map_err(Problem::of)?;
        Ok((unit, path))
    }

    /// A file of our own, as a module.
    pub fn module(&mut self, name: &str, text: &str) -> Result<Module, Problem> {
        let file = self.folder.join(name);
        files::write_atomic(&file, text.as_bytes()).map_err(Problem::of)?;
        let (unit, path) = self.parse(file)?;
        Ok(lower(&unit, &path))
    }
}

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
    let program = RunnerProgram::current_exe(["__runner"]).map_err(Problem::of)?;
    let mut runner = Runner::start(&program, None, cancel).map_err(Problem::of)?;
    let clang = Clang::find(&mut runner).map_err(Problem::of)?;
    let flags = match &args.cflags {
        None => Vec::new(),
        Some(flags) => shlex::split(flags)
            .ok_or_else(|| Problem::Input(format!("`--cflags {flags}` has an open quote")))?,
    };
    let mut reader = Reader {
        runner,
        clang,
        here: std::env::current_dir().map_err(Problem::of)?,
        folder: scratch.create_folder("compare").map_err(Problem::of)?,
        flags: flags.into_iter().map(OsString::from).collect(),
    };
    let library = reader.module(LIBRARY_FILE, library_source())?;
    let lengths = lengths(args)?;
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
    let (unit, path) = reader.parse(file)?;
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

/// `--length`
fn lengths(args: &CompareArgs) -> Result<BTreeMap<String, u64>, Problem> {
    let mut found = BTreeMap::new();
    for text in &args.length {
        let pair = text.split_once('=');
        let pair = pair.and_then(|(name, count)| Some((name, count.parse::<u64>().ok()?)));
        match pair {
            Some((name, count)) if count > 0 => {
                found.insert(name.to_owned(), count);
            }
            _ => {
                return Err(Problem::Input(format!(
                    "`--length {text}`: write it as PARAMETER=COUNT, as in `--length p=8`"
                )));
            }
        }
    }
    Ok(found)
}
