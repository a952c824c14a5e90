//! Asks the project's own compiler whether a text compiles.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_exec::{
    CompileCommand, FileError, Limits, RunError, Worker, files,
    runner::{Outcome, Request},
};

use crate::expanded::Expanded;

/// A message of a compiler about a line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line of the source that it is about, from 1; where it comes from a macro, the line of the
    /// invocation. `None` when there is none.
    pub line: Option<u32>,
    /// It keeps the source from compiling.
    pub is_error: bool,
    /// What it says.
    pub message: String,
}

impl Diagnostic {
    /// Whether the message says that an undeclared function is called. Then the linker decides.
    pub fn is_undeclared_function(&self) -> bool {
        undeclared_name(&self.message).is_some()
    }

    /// Returns the label that the message says is defined twice in its function.
    pub fn repeated_label(&self) -> Option<&str> {
        let said = ["duplicate label", "redefinition of label"];
        let rest = said
            .iter()
            .find_map(|said| Some(self.message.split_once(said)?.1))?;
        Some(quoted_name(rest))
    }
}

/// The name at the beginning of a text, without the quotation mark before it.
fn quoted_name(text: &str) -> &str {
    let name = text.trim_start_matches([' ', '\'', '"', '`', '‘']);
    let end = name.find(['\'', '"', '`', '’']).unwrap_or(name.len());
    patchwright_csource::lex::first_word(&name[..end]).0
}

/// Returns the undeclared function that a message names.
pub fn undeclared_name(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("implicit declaration of function")?;
    Some(quoted_name(rest))
}

/// Why a compiler could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// It could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The source could not be put in its place.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Compilers look up for each block how its line begins. With hundreds of copies of a function that takes ten times as long as
/// everything else; whether the warning keeps a patch from compiling is found out with [`Depth::Full`].
const UNINDENTED: &str = "-Wno-misleading-indentation";

/// How much the compiler does: only syntax and types, or everything, because some warnings come late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Syntax and types.
    Syntax,
    /// All of it, for warnings that come late.
    Full,
}

/// A source file and the command that compiles it.
#[derive(Clone, Debug)]
pub struct Compiler {
    command: CompileCommand,
    relative: PathBuf,
    is_clang: bool,
}

impl Compiler {
    /// Prepares the compiler of the source file at `relative` in the project.
    ///
    /// # Errors
    /// A compiler that cannot be run.
    pub fn new(
        worker: &mut Worker,
        command: &CompileCommand,
        relative: &Path,
    ) -> Result<Self, CompilerError> {
        let program = command.arguments.first().cloned().unwrap_or_default();
        let request = Request::new(program, &command.directory)
            .arg("--version")
            .limits(Limits::with_wall(Duration::from_secs(60)));
        let outcome = worker.runner.run(&request)?;
        Ok(Self {
            command: command.clone(),
            relative: relative.to_path_buf(),
            is_clang: outcome.stdout.windows(5).any(|window| window == b"clang"),
        })
    }

    /// Whether warnings are errors (`-Werror`), other than those found with the syntax.
    pub fn warnings_are_errors(&self) -> bool {
        self.command.arguments.iter().any(|argument| {
            let argument = argument.to_string_lossy();
            argument == "-Werror"
                || argument.strip_prefix("-Werror=").is_some_and(|warning| {
                    !warning.starts_with("implicit")
                        && !warning.starts_with("format")
                        && warning != "return-type"
                })
        })
    }

    /// Whether the compiler optimizes, so that it finds unreachable code.
    pub fn optimizes(&self) -> bool {
        let mut flags = self.command.arguments.iter().rev();
        let last = flags.find(|flag| flag.to_string_lossy().starts_with("-O"));
        last.is_some_and(|flag| flag != "-O0")
    }

    /// Whether messages about a function depend only on that function and on declarations.
    pub fn judges_functions_alone(&self) -> bool {
        let mut flags = self.command.arguments.iter();
        !self.optimizes()
            && !self.links_optimized()
            && !flags.any(|flag| flag.to_string_lossy().starts_with("-fanalyzer"))
    }

    /// Whether the program is optimized again at link time, or the source is taken for the whole
    /// program.
    pub fn links_optimized(&self) -> bool {
        self.command.arguments.iter().any(|flag| {
            let flag = flag.to_string_lossy();
            flag.starts_with("-flto") || flag == "-fwhole-program"
        })
    }

    /// Returns those of `names` that the compiler knows as functions without a declaration. If it
    /// does not tell, these are all.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn built_in(
        &self,
        worker: &mut Worker,
        names: &BTreeSet<&str>,
    ) -> Result<BTreeSet<String>, CompilerError> {
        let ask = |name: &&str| {
            format!(
                "#if !defined __has_builtin\n__pw_known_{name}\n#elif __has_builtin(__builtin_{name})\n__pw_known_{name}\n#endif\n"
            )
        };
        let text: String = names.iter().map(ask).collect();
        let said = self.preprocess(worker, text.as_bytes())?;
        let said = said.map(|said| String::from_utf8_lossy(&said).into_owned());
        let is_known = |name: &&&str| {
            let line = format!("__pw_known_{name}");
            said.as_ref()
                .is_none_or(|said| said.lines().any(|said| said.trim() == line))
        };
        let known = names.iter().filter(is_known);
        Ok(known.map(|name| (*name).to_owned()).collect())
    }

    /// Whether the value of a floating-point calculation depends on the code around it. It does if
    /// the compiler fuses products and sums, reorders operations, or keeps more digits than the type
    /// has.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn rounds_by_surroundings(&self, worker: &mut Worker) -> Result<bool, CompilerError> {
        const ASKED: &[u8] = b"#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ \
            || defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0\n__pw_rounds\n#endif\n\
            #if !defined __clang__ && (defined __FP_FAST_FMA || defined __FP_FAST_FMAF \
            || defined __FMA__ || defined __FMA4__)\n__pw_fuses\n#endif\n";
        let said = self.preprocess(worker, ASKED)?.unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let has = |word: &str| said.lines().any(|line| line.trim() == word);
        let options = self.command.arguments.iter();
        let options: Vec<_> = options.map(|option| option.to_string_lossy()).collect();
        let contraction = options.iter().rev().find_map(|option| {
            let mode = option.strip_prefix("-ffp-contract=")?;
            Some(mode == "fast")
        });
        // A standard that is not GNU's says that each operation rounds.
        let is_strict = options.iter().any(|option| {
            option.starts_with("-std=c") || option.starts_with("-std=iso") || option == "-ansi"
        });
        Ok(has("__pw_rounds") || has("__pw_fuses") && contraction.unwrap_or(!is_strict))
    }

    /// Returns the object code of `text` in place of the source, without debugging information, or
    /// `None` if it does not compile. The source is restored.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn object(
        &self,
        worker: &mut Worker,
        text: &[u8],
    ) -> Result<Option<Vec<u8>>, CompilerError> {
        const NAME: &str = ".patchwright-object.o";
        let path = worker.sandbox.run_root().join(NAME);
        let path = path.to_string_lossy();
        let outcome = self.run(worker, text, &["-g0", UNINDENTED, "-c", "-o", &path])?;
        let made = worker.sandbox.folder().join(NAME);
        if !outcome.ending.is_success() || !made.exists() {
            return Ok(None);
        }
        let object = files::read(&made)?;
        files::remove_file(&made)?;
        Ok(Some(object))
    }

    /// Whether the flags make undefined behaviour be reported or trap.
    pub fn traps_undefined_behaviour(&self) -> bool {
        self.command.arguments.iter().any(|argument| {
            let argument = argument.to_string_lossy();
            argument == "-ftrapv"
                || argument.strip_prefix("-fsanitize=").is_some_and(|list| {
                    list.split(',')
                        .any(|name| !matches!(name, "address" | "leak" | "fuzzer-no-link"))
                })
        })
    }

    /// Returns the messages of the compiler about `text` in place of the source. The source is
    /// restored.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn check(
        &self,
        worker: &mut Worker,
        text: &[u8],
        depth: Depth,
    ) -> Result<Vec<Diagnostic>, CompilerError> {
        self.check_all(worker, &[(&self.relative, text)], depth)
    }

    /// Returns the messages of the compiler about the source when these files, relative to the project's root, have these
    /// texts: itself and what it includes. The files are restored.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn check_all(
        &self,
        worker: &mut Worker,
        texts: &[(&Path, &[u8])],
        depth: Depth,
    ) -> Result<Vec<Diagnostic>, CompilerError> {
        let mode: &[&str] = match depth {
            Depth::Syntax => &["-fsyntax-only", UNINDENTED],
            Depth::Full => &["-c", "-o", "/dev/null"],
        };
        let outcome = self.run_with(worker, texts, mode)?;
        let text = String::from_utf8_lossy(&outcome.stderr);
        let mut found = self.diagnostics(&text);
        if !outcome.ending.is_success() && !found.iter().any(|diagnostic| diagnostic.is_error) {
            found.push(Diagnostic {
                line: None,
                is_error: true,
                message: text.lines().next().unwrap_or("it fails").to_owned(),
            });
        }
        Ok(found)
    }

    fn request(&self, mode: &[&str]) -> Request {
        let mut limits = Limits::with_wall(Duration::from_secs(600));
        limits.output = 1 << 30;
        let mut command = self
            .command
            .without_products()
            .into_iter()
            .filter(|argument| argument != "-w" && argument != "-Wfatal-errors");
        let program = command.next().unwrap_or_default();
        let own: &[&str] = if self.is_clang {
            &[
                "-fno-caret-diagnostics",
                "-fno-color-diagnostics",
                "-ferror-limit=0",
            ]
        } else {
            &[
                "-fno-diagnostics-show-caret",
                "-fdiagnostics-color=never",
                "-fmax-errors=0",
            ]
        };
        Request::new(program, &self.command.directory)
            .args(command)
            .args(own.iter().chain(mode).copied())
            .env("LC_ALL", "C")
            .past_compiler_caches()
            .limits(limits)
    }

    /// Returns the preprocessed form of `text` in place of the source, with its macro definitions, or
    /// `None` if that fails. The source is restored.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn preprocess(
        &self,
        worker: &mut Worker,
        text: &[u8],
    ) -> Result<Option<Vec<u8>>, CompilerError> {
        let outcome = self.run(worker, text, &["-E", "-dD"])?;
        let succeeds = outcome.ending.is_success();
        Ok(succeeds.then(|| self.beginning_with_source(outcome.stdout)))
    }

    /// Returns the preprocessed source when these files, relative to the project's root, have these
    /// texts, or `None` if that fails. The files are restored.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn expand(
        &self,
        worker: &mut Worker,
        texts: &[(&Path, &[u8])],
    ) -> Result<Option<Expanded>, CompilerError> {
        let outcome = self.run_with(worker, texts, &["-E"])?;
        let succeeds = outcome.ending.is_success();
        Ok(succeeds.then(|| Expanded::read(&self.beginning_with_source(outcome.stdout))))
    }

    /// A preprocessed text that names first the source that is meant, if that is included by the one that is compiled.
    fn beginning_with_source(&self, text: Vec<u8>) -> Vec<u8> {
        if self.command.included.is_none() {
            return text;
        }
        let mut lines = text.split(|byte| *byte == b'\n');
        let is_own = |line: &&[u8]| {
            let marker = std::str::from_utf8(line)
                .ok()
                .filter(|line| line.starts_with("# "));
            let name = marker.and_then(|line| line.split('"').nth(1));
            name.is_some_and(|name| self.command.is_source(name))
        };
        match lines.find(is_own) {
            Some(line) => [line, b"\n", &text].concat(),
            None => text,
        }
    }

    /// Runs the compiler on `text` in the source's place. The source is put back.
    fn run(
        &self,
        worker: &mut Worker,
        text: &[u8],
        mode: &[&str],
    ) -> Result<Outcome, CompilerError> {
        self.run_with(worker, &[(&self.relative, text)], mode)
    }

    /// Runs the compiler on the source when these files have these texts. They are put back.
    fn run_with(
        &self,
        worker: &mut Worker,
        texts: &[(&Path, &[u8])],
        mode: &[&str],
    ) -> Result<Outcome, CompilerError> {
        let mut exchanged = Vec::with_capacity(texts.len());
        for (path, text) in texts {
            let path = worker.sandbox.folder().join(path);
            exchanged.push(files::Exchanged::put(&path, text)?);
        }
        let outcome = worker.runner.run(&self.request(mode));
        for file in exchanged {
            file.put_back()?;
        }
        let outcome = outcome?;
        let size: usize = texts.iter().map(|(_, text)| text.len()).sum();
        let name = self.relative.display();
        tracing::debug!("{name}: {size} bytes, {mode:?}: {:?}", outcome.cpu);
        Ok(outcome)
    }

    /// Reads `FILE:LINE:COLUMN: error: MESSAGE`. A message about another file is about the line of the source that the
    /// notes behind it name. One about the text of a macro is about the line where that is used in the end: gcc names the
    /// places from the inner to the outer macro.
    fn diagnostics(&self, output: &str) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        // Notes about macros that follow another note, such as "previous definition", are about that one.
        let mut is_elsewhere = false;
        for text in output.lines() {
            let Some((place, kind, message)) = split(text) else {
                continue;
            };
            let line = self.line_of(place);
            match kind {
                Kind::Note => {
                    let is_use = message.contains("in expansion of macro");
                    let of_macro = is_use || message.contains("macro");
                    is_elsewhere |= !of_macro;
                    if let (Some(last), Some(_), false) = (found.last_mut(), line, is_elsewhere)
                        && (is_use || last.line.is_none() && of_macro)
                    {
                        last.line = line;
                    }
                }
                _ => {
                    is_elsewhere = false;
                    found.push(Diagnostic {
                        line,
                        is_error: kind == Kind::Error,
                        message: message.to_owned(),
                    });
                }
            }
        }
        found
    }

    /// The line of the source that a place names: with a column, but for those at which the compiler gave up.
    fn line_of(&self, place: &str) -> Option<u32> {
        let (before, last) = place.rsplit_once(':')?;
        let last: u32 = last.parse().ok()?;
        let with_column = before.rsplit_once(':').and_then(|(file, line)| {
            let line: u32 = line.parse().ok()?;
            Some((file, line))
        });
        let (file, line) = with_column.unwrap_or((before, last));
        let is_source = self.command.is_source(file);
        let file = Path::new(file);
        let is_alike = file.file_name() == self.relative.file_name();
        (is_source || is_alike && self.is_named(file)).then_some(line)
    }

    /// Whether the command names the source in this way.
    fn is_named(&self, file: &Path) -> bool {
        self.command
            .arguments
            .iter()
            .any(|argument| Path::new(argument) == file)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Error,
    Warning,
    Note,
}

fn split(line: &str) -> Option<(&str, Kind, &str)> {
    [
        (": fatal error: ", Kind::Error),
        (": internal compiler error: ", Kind::Error),
        (BAILING_OUT, Kind::Error),
        (": error: ", Kind::Error),
        (": warning: ", Kind::Warning),
        (": note: ", Kind::Note),
    ]
    .into_iter()
    .filter_map(|(mark, kind)| {
        let at = line.find(mark)?;
        Some((at, &line[..at], kind, &line[at + mark.len()..]))
    })
    .min_by_key(|(at, ..)| *at)
    .map(|(at, place, kind, message)| match gave_up(line) {
        true => (place, kind, &line[at + 2..]),
        false => (place, kind, message),
    })
}

/// What gcc says at its end when it cannot go on after errors.
const BAILING_OUT: &str = ": confused by earlier errors, bailing out";

/// Whether a message says that the compiler gave up, so that the rest of the text was not checked.
pub fn gave_up(message: &str) -> bool {
    message.contains("internal compiler error: ") || message.contains(&BAILING_OUT[2..])
}

/// Whether a message reports an error of syntax, after which the compiler may have lost its place.
pub fn is_syntax_error(message: &str) -> bool {
    [
        "expected",
        "stray",
        "unterminated",
        "missing terminating",
        "at end of input",
        "without a previous",
    ]
    .iter()
    .any(|part| message.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_label_that_is_there_twice() {
        let said = |message: &str| {
            let diagnostic = Diagnostic {
                line: Some(3),
                is_error: true,
                message: message.to_owned(),
            };
            diagnostic.repeated_label().map(str::to_owned)
        };
        assert_eq!(said("duplicate label ‘end’").as_deref(), Some("end"));
        assert_eq!(
            said("redefinition of label 'end_1'").as_deref(),
            Some("end_1")
        );
        assert_eq!(said("label ‘end’ used but not defined"), None);
    }
}
