//! Makes a compile database for a project that has none, by watching its build.
//!
//! The build runs with a folder of *shims* first in `PATH`: for each C compiler that `PATH` offers,
//! a shell script of the same name that notes its arguments and becomes the real compiler. Every C
//! file of the copy is touched before, so that `make` compiles it again. A build that names its
//! compiler by an absolute path is not seen; for CMake, which does so, a database is asked for
//! through the environment instead, and others are run once more under `ptrace`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::build::{BuildError, BuildLog, run_build};
use crate::compile_commands::{CompileCommand, DatabaseError, read_compile_database};
use crate::files::{self, Context, FileError};
use crate::included::{OTHER_LANGUAGES, is_of_other_language};
use crate::limits::Limits;
use crate::runner::supervisor::trace::compilers;
use crate::runner::{Environment, Runner, RunnerProgram};
use crate::sandbox::{Sandbox, normalize, touch_all};

/// Why watching a build gave no compile database.
#[derive(Debug, thiserror::Error)]
pub enum InterceptError {
    /// The build failed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A file of ours could not be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The database that CMake wrote during the build is unusable.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No C compiler was found in `PATH`.
    #[error("there is no C compiler in PATH ({})", path.display())]
    NoCompiler {
        /// The value of `PATH`.
        path: OsString,
    },
    /// The build succeeded without a C file of the project being compiled.
    #[error(
        "the build executed no C compiler on a file of the project; \
         write a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or bear) \
         and name it with --compile-commands"
    )]
    NothingCompiled,
}

/// Builds the project in the sandbox and notes how its C files are compiled. Commands are for the
/// project's own root, whatever path the copy has; each file's own, sorted by file. `workplace` is
/// an empty folder outside the project that the build may see. Of a tree that has been built, only
/// the files `wanted` (relative to the root) are compiled again, or all C files if it is empty.
///
/// # Errors
/// See [`InterceptError`].
pub fn intercept_build(
    runner: &mut Runner,
    sandbox: &Sandbox,
    workplace: &Path,
    command: &OsStr,
    wanted: &[PathBuf],
    environment: &Environment,
    limits: &Limits,
) -> Result<(Vec<CompileCommand>, BuildLog), InterceptError> {
    let (shims, records) = (workplace.join("shims"), workplace.join("records"));
    files::create_private_folder(&shims)?;
    files::create_private_folder(&records)?;
    let variable = |name: &str| {
        let inherited = || std::env::var_os(name).filter(|_| !environment.clear);
        environment
            .set
            .get(OsStr::new(name))
            .cloned()
            .or_else(inherited)
    };
    let path = variable("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let compilers = compilers_in_path(&path, variable("CC").as_deref());
    if compilers.is_empty() {
        return Err(InterceptError::NoCompiler { path });
    }
    for (name, compiler) in &compilers {
        let shim = shims.join(name);
        files::write_atomic(&shim, &shim_script(compiler, &records))?;
        files::make_executable(&shim)?;
    }
    let mut environment = environment.clone();
    let mut search = shims.into_os_string();
    search.push(":");
    search.push(path);
    environment.set.insert("PATH".into(), search);
    // A cached result would be used without a compiler.
    environment.set.insert("CCACHE_DISABLE".into(), "1".into());
    environment
        .set
        .insert("CMAKE_EXPORT_COMPILE_COMMANDS".into(), "ON".into());
    touch_sources(sandbox, wanted)?;
    let log = run_build(runner, sandbox, command, &environment, limits)?;
    let mut commands = read_records(&records, sandbox)?;
    let has_c = |commands: &[CompileCommand]| {
        let mut files = commands.iter().map(|command| &command.file);
        files.any(|file| !is_of_other_language(file))
    };
    if !has_c(&commands) {
        commands = exported_database(sandbox)?;
    }
    if !has_c(&commands) {
        commands = exported_by_cmake(runner, sandbox, &environment, limits)?;
    }
    if !has_c(&commands) {
        touch_sources(sandbox, wanted)?;
        let (command, environment) = traced(runner.program(), command, &records, &environment);
        run_build(runner, sandbox, &command, &environment, limits)?;
        commands = read_records(&records, sandbox)?;
    }
    if !has_c(&commands) {
        return Err(InterceptError::NothingCompiled);
    }
    commands.sort();
    commands.dedup();
    Ok((commands, log))
}

/// Lets `make` compile the files that are wanted again, or all C files.
fn touch_sources(sandbox: &Sandbox, wanted: &[PathBuf]) -> Result<(), FileError> {
    if wanted.is_empty() {
        touch_all(sandbox.folder(), OsStr::new("c"))?;
        for extension in OTHER_LANGUAGES {
            touch_all(sandbox.folder(), OsStr::new(extension))?;
        }
    }
    let wanted = wanted.iter().map(|file| sandbox.folder().join(file));
    let mut wanted = wanted.filter(|file| file.exists());
    wanted.try_for_each(|file| files::touch(&file))
}

/// The command and environment by which our own program runs a build and notes the compilers that it executes.
fn traced(
    program: &RunnerProgram,
    command: &OsStr,
    records: &Path,
    environment: &Environment,
) -> (OsString, Environment) {
    let mut environment = environment.clone();
    for (name, value) in [
        (compilers::COMMAND, command),
        (compilers::RECORDS, records.as_os_str()),
    ] {
        environment.set.insert(name.into(), value.to_owned());
    }
    let words = [program.exe.as_os_str()].into_iter();
    let words = words.chain(program.args.iter().map(OsString::as_os_str));
    let quoted: Vec<Vec<u8>> = words.map(shell_quote).collect();
    let mut line = b"exec ".to_vec();
    line.extend(quoted.join(&b' '));
    (OsString::from_vec(line), environment)
}

/// The C compilers in `PATH`, each name with the first file of that name, and the one that the
/// variable `CC` names if it is a bare name.
pub(crate) fn compilers_in_path(path: &OsStr, cc: Option<&OsStr>) -> BTreeMap<OsString, PathBuf> {
    let cc = cc.map(|cc| {
        cc.as_bytes()
            .split(|byte| *byte == b' ')
            .next()
            .unwrap_or_default()
    });
    let mut compilers = BTreeMap::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let wanted = is_compiler(name.as_bytes()) || Some(name.as_bytes()) == cc;
            if wanted && !compilers.contains_key(&name) && files::is_executable(&entry.path()) {
                compilers.insert(name, entry.path());
            }
        }
    }
    compilers
}

/// Whether this is the name of a compiler of C or C++, perhaps with a target before and a version after it. Those of C++ tell which
/// headers do not belong to C alone.
pub(crate) fn is_compiler(name: &[u8]) -> bool {
    is_named(name, &["cc", "gcc", "clang", "c89", "c99", "tcc", "icx"]) || is_compiler_of_cpp(name)
}

/// Whether this is the name of a compiler of C++.
pub(crate) fn is_compiler_of_cpp(name: &[u8]) -> bool {
    is_named(name, &["c++", "g++", "clang++", "icpx"])
}

fn is_named(name: &[u8], compilers: &[&str]) -> bool {
    let is_version = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_digit)
            && part
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    let mut parts: Vec<&[u8]> = name.split(|byte| *byte == b'-').collect();
    if parts.len() > 1 && parts.last().is_some_and(|part| is_version(part)) {
        parts.pop();
    }
    let compiler = parts.pop().unwrap_or_default();
    // A target has three or four parts: x86_64-linux-gnu, x86_64-pc-linux-gnu.
    let is_one = compilers.iter().any(|one| one.as_bytes() == compiler);
    is_one && matches!(parts.len(), 0 | 2..=4)
}

/// A script that appends one record to a file of its own process and becomes the compiler. A
/// process id may be used again later in the build, never at the same time.
fn shim_script(compiler: &Path, records: &Path) -> Vec<u8> {
    let compiler = shell_quote(compiler.as_os_str());
    let records = shell_quote(records.as_os_str());
    let script: [&[u8]; 7] = [
        // In a subshell: the folder's physical name must not change the compiler's PWD.
        b"#!/bin/sh\n(cd -P . && printf '%s\\0' \"$#\" \"$PWD\" ",
        &compiler,
        b" \"$@\") >> ",
        &records,
        b"/$$\nexec ",
        &compiler,
        b" \"$@\"\n",
    ];
    script.concat()
}

/// Quotes a word for the shell.
pub(crate) fn shell_quote(word: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    quoted
}

fn read_records(records: &Path, sandbox: &Sandbox) -> Result<Vec<CompileCommand>, FileError> {
    let mut commands = Vec::new();
    for entry in fs::read_dir(records).context("read the folder", records)? {
        let path = entry.context("read the folder", records)?.path();
        for (directory, arguments) in parse_records(&files::read(&path)?) {
            let arguments = expand_response_files(&directory, arguments);
            commands.extend(compilations(&directory, &arguments));
        }
    }
    let root = sandbox.run_root();
    commands.retain(|command| {
        // Gone are the files on which `configure` tries the compiler.
        command.file.starts_with(root) && {
            let relative = command.file.strip_prefix(root).unwrap_or(&command.file);
            sandbox.folder().join(relative).is_file()
        }
    });
    Ok(commands
        .iter()
        .map(|command| command.rebase(root, sandbox.project()))
        .collect())
}

/// Splits the records of one file: number of arguments, folder, compiler, arguments, each ended
/// by a NUL byte.
fn parse_records(bytes: &[u8]) -> Vec<(PathBuf, Vec<OsString>)> {
    let mut fields = bytes.split(|byte| *byte == 0);
    let mut records = Vec::new();
    loop {
        let count: Option<usize> = fields
            .next()
            .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        let (Some(count), Some(directory)) = (count, fields.next()) else {
            return records;
        };
        // The compiler comes on top of its arguments.
        let words: Vec<&[u8]> = fields.by_ref().take(count + 1).collect();
        if words.len() <= count {
            return records;
        }
        let arguments = words
            .into_iter()
            .map(|word| OsString::from_vec(word.to_vec()))
            .collect();
        records.push((OsStr::from_bytes(directory).into(), arguments));
    }
}

/// Replaces `@file` by the arguments in the file, where it still exists.
fn expand_response_files(directory: &Path, arguments: Vec<OsString>) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let words = argument.as_bytes().strip_prefix(b"@").and_then(|file| {
            let text = fs::read(directory.join(OsStr::from_bytes(file))).ok()?;
            let words: Vec<Vec<u8>> = shlex::bytes::split(&text)?;
            Some(words)
        });
        match words {
            Some(words) => expanded.extend(words.into_iter().map(OsString::from_vec)),
            None => expanded.push(argument),
        }
    }
    expanded
}

/// Options whose value is the next argument.
const WITH_VALUE: [&str; 38] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "--sysroot",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "--param",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-dumpbase-ext",
    "-wrapper",
];

/// The compilations of C files that an invocation of a compiler stands for: one for each C file,
/// without the others. None for an invocation that only preprocesses, lists dependencies or
/// checks.
fn compilations(directory: &Path, arguments: &[OsString]) -> Vec<CompileCommand> {
    let mut sources = Vec::new();
    let mut output: Option<&[u8]> = None;
    let mut language: Option<&[u8]> = None;
    let mut index = 1;
    while let Some(argument) = arguments.get(index) {
        let bytes = argument.as_bytes();
        let value = arguments.get(index + 1);
        match bytes {
            b"-E" | b"-M" | b"-MM" | b"-fsyntax-only" | b"-###" => return Vec::new(),
            b"-x" => {
                language = value
                    .map(|value| value.as_bytes())
                    .filter(|value| value != b"none");
                index += 1;
            }
            b"-o" => {
                output = value.map(|value| value.as_bytes());
                index += 1;
            }
            _ if WITH_VALUE.iter().any(|option| option.as_bytes() == bytes) => index += 1,
            _ if bytes.starts_with(b"-x") => {
                language = Some(&bytes[2..]).filter(|value| value != b"none");
            }
            _ if bytes.starts_with(b"-o") && bytes.len() > 2 => {
                output = Some(&bytes[2..]);
            }
            _ if bytes.starts_with(b"-") => {}
            _ => {
                let is_source = match language {
                    Some(language) => language == b"c",
                    None => {
                        let path = Path::new(argument);
                        path.extension() == Some(OsStr::new("c")) || is_of_other_language(path)
                    }
                };
                if is_source {
                    sources.push(index);
                }
            }
        }
        index += 1;
    }
    sources
        .iter()
        .map(|source| {
            let others = |index: &usize| *index == *source || !sources.contains(index);
            let kept = (0..arguments.len()).filter(others);
            CompileCommand {
                file: normalize(&directory.join(&arguments[*source])),
                directory: directory.to_path_buf(),
                arguments: kept.map(|index| arguments[index].clone()).collect(),
                output: output.map(|output| normalize(&directory.join(OsStr::from_bytes(output)))),
                included: None,
            }
        })
        .collect()
}

/// The database that CMake has written into the copy during the build, if any.
fn exported_database(sandbox: &Sandbox) -> Result<Vec<CompileCommand>, InterceptError> {
    let Some(path) = find_database(sandbox.folder(), 3)? else {
        return Ok(Vec::new());
    };
    let commands = read_compile_database(&path)?;
    let rebase = |command: &CompileCommand| command.rebase(sandbox.run_root(), sandbox.project());
    Ok(commands.iter().map(rebase).collect())
}

/// A folder that CMake has configured calls compilers by their paths. It is asked for its commands; whatever goes wrong with
/// that, there are none.
fn exported_by_cmake(
    runner: &mut Runner,
    sandbox: &Sandbox,
    environment: &Environment,
    limits: &Limits,
) -> Result<Vec<CompileCommand>, InterceptError> {
    let Some(cache) = find_file(sandbox.folder(), "CMakeCache.txt", 3)? else {
        return Ok(Vec::new());
    };
    let folder = cache.parent().unwrap_or(sandbox.folder());
    let relative = folder.strip_prefix(sandbox.folder()).unwrap_or(folder);
    let mut command = b"cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ".to_vec();
    command.extend(shell_quote(Path::new(".").join(relative).as_os_str()));
    let command = OsStr::from_bytes(&command);
    match run_build(runner, sandbox, command, environment, limits) {
        Ok(_) => exported_database(sandbox),
        Err(_) => Ok(Vec::new()),
    }
}

/// Returns the first `compile_commands.json`, in the order of paths, in `folder` or at most `depth`
/// folders below it.
pub fn find_database(folder: &Path, depth: u32) -> Result<Option<PathBuf>, FileError> {
    find_file(folder, "compile_commands.json", depth)
}

fn find_file(folder: &Path, name: &str, depth: u32) -> Result<Option<PathBuf>, FileError> {
    let here = folder.join(name);
    if here.is_file() {
        return Ok(Some(here));
    }
    if depth == 0 {
        return Ok(None);
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).context("read the folder", folder)? {
        let entry = entry.context("read the folder", folder)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    folders.sort();
    for folder in folders {
        if let Some(found) = find_file(&folder, name, depth - 1)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(line: &str) -> Vec<String> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let commands = compilations(Path::new("/p/build"), &arguments);
        let show = |command: &CompileCommand| {
            let words: Vec<_> = command
                .arguments
                .iter()
                .map(|a| a.to_string_lossy())
                .collect();
            let output = command.output.as_ref().map(|o| o.display().to_string());
            format!(
                "{}: {} > {}",
                command.file.display(),
                words.join(" "),
                output.unwrap_or_default()
            )
        };
        commands.iter().map(show).collect()
    }

    #[test]
    fn each_source_of_an_invocation_gets_a_command_of_its_own() {
        assert_eq!(
            compile("cc -O2 ../a.c b.c b.o -o prog -lm"),
            [
                "/p/a.c: cc -O2 ../a.c b.o -o prog -lm > /p/build/prog",
                "/p/build/b.c: cc -O2 b.c b.o -o prog -lm > /p/build/prog",
            ]
        );
    }

    #[test]
    fn values_of_options_are_no_sources() {
        assert_eq!(
            compile("cc -include cfg.c -MF x.c -c a.c -o a.o"),
            ["/p/build/a.c: cc -include cfg.c -MF x.c -c a.c -o a.o > /p/build/a.o"]
        );
        assert!(compile("cc -o x.c y.o").is_empty());
    }

    #[test]
    fn invocations_that_produce_no_code_are_left_out() {
        for line in [
            "cc -E a.c",
            "cc -M a.c",
            "cc -fsyntax-only a.c",
            "cc --version",
            "cc a.o",
        ] {
            assert!(compile(line).is_empty(), "{line}");
        }
        assert_eq!(compile("cc -MD -c a.c").len(), 1);
    }

    #[test]
    fn the_language_option_decides_what_is_c() {
        assert_eq!(compile("cc -x c a.inc").len(), 1);
        assert!(compile("cc -xc++ a.c").is_empty());
        assert_eq!(compile("cc -x c++ a.c -x none b.c").len(), 1);
    }

    #[test]
    fn compilers_are_known_by_their_names() {
        for name in [
            "cc",
            "gcc",
            "gcc-12",
            "clang-19",
            "x86_64-linux-gnu-gcc-12",
            "c99",
            "tcc",
            "g++",
            "clang++-19",
        ] {
            assert!(is_compiler(name.as_bytes()), "{name}");
        }
        for name in ["gcc-ar", "gcc-nm-12", "clang-format", "ccache", "cpp"] {
            assert!(!is_compiler(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn records_hold_any_bytes_but_nul() {
        let bytes = b"2\0/a b\n\0/usr/bin/cc\0-c\0x \xff.c\x001\0/d\0cc\0y.c\0";
        let records = parse_records(bytes);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].0, Path::new("/a b\n"));
        assert_eq!(records[0].1.len(), 3);
        assert_eq!(records[0].1[2].as_bytes(), b"x \xff.c");
        assert_eq!(records[1].1, ["cc", "y.c"].map(OsString::from));
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(shell_quote(OsStr::new("it's $x")), b"'it'\\''s $x'");
    }
}
