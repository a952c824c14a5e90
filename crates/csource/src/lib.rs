//! The view of C: from a compile command to a typed tree with exact places in the file as the
//! user wrote it.
//!
//! Clang reads the C; this crate reads clang. It runs `clang -fsyntax-only` with the flags of the
//! project's own compile command, reads the JSON dump of the syntax tree (`raw`), maps
//! positions to the file as written (`locate`), and builds the tree ([`tree`]). What the dump
//! lacks is asked for in a file of constants (`questions`).
//!
//! # Invariants
//! * No other crate knows clang, its flags or its dumps.
//! * A place that is [`Place::editable`] can be replaced in the text without touching anything
//!   else: `check` shows it by putting parentheses round all of them at once and comparing the
//!   object code.
//! * What is not understood is refused with a [`Refusal`], never guessed.

mod build;
mod clang;
mod ctype;
pub mod detail;
mod dialect;
mod dump;
mod flags;
mod large;
mod layout;
mod locate;
pub mod locations;
pub mod macros;
mod memory;
mod offsets;
mod questions;
mod raw;
pub mod scope;
mod several;
pub mod tree;
pub mod types;
pub mod variants;
mod walk;

use patchwright_exec::{CompileCommand, Runner};

pub use clang::{Clang, OLDEST_VERSION, ParseError};
pub use ctype::CTYPE_FUNCTIONS;
pub use dialect::Dialect;
pub use layout::RecordLayout;
pub use patchwright_ctext as lex;
pub use scope::{Scope, ScopeMap, mentioned_for_certain, scopes};
pub use tree::*;
pub use walk::{Part, Role, Slot};

/// Reads one source file as `command` compiles it; `source` is its text, which the compiler finds
/// at [`CompileCommand::source`].
///
/// # Errors
/// When the compiler rejects the source, cannot be run, or says what we do not understand.
pub fn parse(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    source: Vec<u8>,
) -> Result<TranslationUnit, ParseError> {
    parse_with(clang, runner, command, source, Detail::Everything)
}

/// Reads a source as [`parse`] does, for callers who only want its meaning. The values of macros and the
/// sizes of types that the source does not use are missing.
///
/// # Errors
/// As [`parse`].
pub fn parse_meaning(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    source: Vec<u8>,
) -> Result<TranslationUnit, ParseError> {
    parse_with(clang, runner, command, source, Detail::Meaning)
}

fn parse_with(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    source: Vec<u8>,
    detail: Detail,
) -> Result<TranslationUnit, ParseError> {
    if let Some(flag) = Dialect::not_known(command) {
        return Err(ParseError::Rejected {
            path: command.file.clone(),
            message: format!(
                "`{flag}` changes what types are, which is not supported; leave it out"
            ),
        });
    }
    let (preprocessed, clang) = clang.preprocess_first(runner, command)?;
    let clang = &clang;
    read(clang, runner, command, &preprocessed, source, detail)
}

/// How much is asked of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Statements,
    /// Also all that its meaning rests on: layouts that the tree leaves open.
    Meaning,
    /// Also the values of macros and the sizes of types, which cost another run of the compiler.
    Everything,
}

/// Reads one source file in all the ways in which `commands` compile it: a tree for each way that
/// differs from those before. What the trees disagree about is refused in all of them (see
/// [`variants`]). Calls of [`CTYPE_FUNCTIONS`] are calls, also where the C library has macros for them.
///
/// # Errors
/// As [`parse`], for any of the commands.
pub fn parse_variants(
    clang: &Clang,
    runner: &mut Runner,
    commands: &[CompileCommand],
    source: &[u8],
) -> Result<Vec<TranslationUnit>, ParseError> {
    variants_with(clang, runner, commands, source, Detail::Everything)
}

/// Reads a source as [`parse_variants`] does, for callers who only want functions with statements and
/// expressions. The values of macros and the sizes of types are missing.
///
/// # Errors
/// As [`parse`], for any of the commands.
pub fn parse_statements(
    clang: &Clang,
    runner: &mut Runner,
    commands: &[CompileCommand],
    source: &[u8],
) -> Result<Vec<TranslationUnit>, ParseError> {
    variants_with(clang, runner, commands, source, Detail::Statements)
}

fn variants_with(
    clang: &Clang,
    runner: &mut Runner,
    commands: &[CompileCommand],
    source: &[u8],
    detail: Detail,
) -> Result<Vec<TranslationUnit>, ParseError> {
    let mut ways: Vec<(CompileCommand, String)> = Vec::new();
    for command in commands {
        let text = clang.preprocess(runner, command)?;
        let (command, text) = match detail {
            Detail::Statements => (command.clone(), text),
            Detail::Meaning | Detail::Everything => {
                ctype::as_functions(clang, runner, command, text, source)?
            }
        };
        let known = ways.iter().any(|(other, known)| {
            flags::has_same_types(&command, other) && macros::is_alike(&text, known, source)
        });
        if !known {
            ways.push((command, text));
        }
    }
    let mut units = Vec::new();
    for (command, preprocessed) in ways {
        let source = source.to_vec();
        units.push(read(
            clang,
            runner,
            &command,
            &preprocessed,
            source,
            detail,
        )?);
    }
    variants::agree(&mut units);
    Ok(units)
}

fn read(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    preprocessed: &str,
    source: Vec<u8>,
    detail: Detail,
) -> Result<TranslationUnit, ParseError> {
    let (dump, reduced) = clang.dump(runner, command, &source)?;
    let macros = macros::MacroTable::from_preprocessor(preprocessed);
    let file = command.file.to_string_lossy();
    let dialect = Dialect::of(command);
    let is_main = |name: &str| match command.included {
        Some(_) => command.is_source(name),
        None => name == file,
    };
    let built = on_deep_stack(|| {
        let is_system = |file: &str| file.starts_with("/usr/") || file.starts_with('<');
        let convert = |hidden: &_| {
            let text = build::Text {
                source: &source,
                macros: &macros,
                folder: &command.directory,
            };
            build::UnitBuilder::convert(&dump, dialect, hidden, &is_main, text, &is_system).map_err(
                |error| ParseError::Dump {
                    path: command.file.clone(),
                    message: error.to_string(),
                },
            )
        };
        let mut builder = convert(&Default::default())?;
        let hidden = builder.hidden_tags(preprocessed);
        if !hidden.is_empty() {
            builder = convert(&hidden)?;
        }
        Ok::<_, ParseError>((
            builder.types,
            builder.variables,
            builder.globals,
            builder.functions,
            builder.functions_elsewhere,
            builder.enumerations,
            (
                builder.functions_in_headers,
                builder.files,
                builder.declarations,
                builder.declared,
                builder.initializers,
                builder.offsets,
                builder.aliases,
            ),
        ))
    })?;
    let mentions_line = macros.mention(&source, "__LINE__");
    let (mut types, variables, globals, mut functions, functions_elsewhere, enumerations, more) =
        built;
    for function in &mut functions {
        if reduced.is_left_out(function.body_span) {
            function.refusal = Some(Refusal::TooLarge);
        }
    }
    let (
        mut functions_in_headers,
        files,
        declarations,
        declared,
        mut initializers,
        offsets,
        aliases,
    ) = more;
    let constants = match detail {
        Detail::Statements => Vec::new(),
        Detail::Meaning | Detail::Everything => {
            let all = functions
                .iter_mut()
                .chain(&mut functions_in_headers)
                .chain(initializers.iter_mut().map(|one| &mut one.arena));
            layout::ask(clang, runner, command, &mut types, all)?;
            let details = functions
                .iter_mut()
                .chain(&mut functions_in_headers)
                .chain(initializers.iter_mut().map(|one| &mut one.arena))
                .map(|function| &mut function.details);
            offsets::ask(clang, runner, command, offsets, &mut types, details)?;
            match detail {
                Detail::Everything => {
                    questions::ask(clang, runner, command, &source, &macros, &mut types)?
                }
                _ => Vec::new(),
            }
        }
    };
    Ok(TranslationUnit {
        source,
        dialect,
        aliases,
        types,
        variables,
        globals,
        functions,
        functions_elsewhere,
        functions_in_headers,
        wanted: Vec::new(),
        files,
        declarations,
        declared,
        initializers,
        macros: constants,
        enumerations,
        replaced_names: macros.replaced_names(),
        project_macros: macros.of_the_project(),
        mentions_line,
    })
}

/// Syntax trees of generated code nest thousands of levels deep.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const STACK: usize = 1 << 30;
    std::thread::scope(|scope| {
        let handle = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .expect("address space for a stack is available");
        match handle.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
