//! Finds the functions of a built program that a test executes, without building it again.
//!
//! The first byte of each function is replaced by a breakpoint in the programs and libraries of a copy, for a while. The test then runs
//! under `ptrace`. That needs symbol tables and a processor of the x86-64 kind; where something is missing, nothing is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind, SymbolSection};

use crate::compile_commands::CompileCommand;
use crate::files::{self, Context, FileError};
use crate::limits::Limits;
use crate::pool::Worker;
use crate::runner::supervisor::trace::functions::{
    BREAKPOINT, EXECUTED, REQUEST, Request, WithBreakpoints,
};
use crate::runner::{Environment, RunError};
use crate::suite::Test;
use crate::verdict::{TestError, test_request};

/// Programs and libraries of a copy with breakpoints. They get their functions back when this is dropped.
struct Breakpoints {
    /// Files with breakpoints, and where they lie as they were.
    kept: Vec<(PathBuf, PathBuf)>,
    files: Vec<WithBreakpoints>,
    /// What tells the functions from others, in the order of the breakpoints.
    names: Vec<Vec<u8>>,
    /// A program or a library has no symbol table.
    is_stripped: bool,
    folder: PathBuf,
}

/// Why it could not be found out which functions tests execute.
#[derive(Debug, thiserror::Error)]
pub enum ExecutedError {
    /// A file of the copy, or one of ours, cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A test cannot be run.
    #[error(transparent)]
    Test(#[from] TestError),
}

/// Functions, by what tells them from others.
type Names = BTreeSet<Vec<u8>>;

/// Returns the sources of which one of the tests executes a function, or may execute one because the
/// program has no symbol table. The result is `None` if nothing is known of any source.
///
/// Each source has the commands that compile it, as [`crate::record_build`] gives them. A source without an object in the copy counts as no
/// part of the build. The copy is as before when this returns.
///
/// # Errors
/// When files of the copy cannot be read or written, or a test cannot be run.
pub fn executed_sources(
    worker: &mut Worker,
    sources: &[(PathBuf, Vec<CompileCommand>)],
    tests: &[(&Test, Limits)],
    environment: &Environment,
) -> Result<Option<BTreeSet<PathBuf>>, ExecutedError> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(None);
    }
    let mut defined: BTreeMap<&Path, Option<Names>> = BTreeMap::new();
    for (source, commands) in sources {
        defined.insert(source, functions_of(commands, worker));
    }
    let mut wanted: BTreeSet<&[u8]> = BTreeSet::new();
    for names in defined.values().flatten() {
        wanted.extend(names.iter().map(Vec::as_slice));
    }
    let breakpoints = Breakpoints::plant(worker, &wanted)?;
    let mut executed = Names::new();
    for (test, limits) in tests {
        match breakpoints.run(worker, test, environment, limits)? {
            Some(names) => executed.extend(names),
            None => return Ok(None),
        }
    }
    let placed: BTreeSet<&[u8]> = breakpoints.names.iter().map(Vec::as_slice).collect();
    let is_executed = |names: &Option<Names>| match names {
        None => true,
        Some(names) if names.iter().any(|name| placed.contains(name.as_slice())) => {
            names.iter().any(|name| executed.contains(name))
        }
        // It may be part of what has no symbol table.
        Some(names) => breakpoints.is_stripped && !names.is_empty(),
    };
    let of_tests = defined.iter().filter(|(_, names)| is_executed(names));
    let of_tests = of_tests.map(|(source, _)| source.to_path_buf()).collect();
    Ok(Some(of_tests).filter(|_| !executed.is_empty()))
}

/// The functions that the objects have which these commands make, as far as the build has made them; `None` if that is not known.
fn functions_of(commands: &[CompileCommand], worker: &Worker) -> Option<Names> {
    let mut names = Names::new();
    for command in commands {
        let object = worker.sandbox.host_path(&command.object()?);
        // A database also tells how to compile what is no part of this build.
        if !object.exists() {
            continue;
        }
        let bytes = files::read(&object).ok()?;
        let object = object::File::parse(&*bytes).ok()?;
        let is_of_linker = |name: &str| name.starts_with(".gnu.lto_");
        // What is compiled when it is linked.
        if object
            .sections()
            .any(|section| section.name().is_ok_and(is_of_linker))
        {
            return None;
        }
        names.extend(functions(&object).map(|(_, _, name)| name));
    }
    Some(names)
}

/// How the names of functions begin that compilers make, for example for a sanitizer: they are executed when a program starts.
const MADE_BY_COMPILERS: [&[u8]; 4] = [b"_sub_I_", b"_sub_D_", b"_GLOBAL__", b"asan.module_"];

/// The functions of an object, a program or a library, each with its address and section. Its name and size tell it from
/// functions of other sources; a static function also has its source.
fn functions<'d>(
    file: &'d object::File<'d>,
) -> impl Iterator<Item = (u64, SymbolSection, Vec<u8>)> + 'd {
    let mut source: Vec<u8> = Vec::new();
    file.symbols().filter_map(move |symbol| {
        let name = symbol.name_bytes().ok()?;
        if symbol.kind() == SymbolKind::File {
            source = name.to_vec();
        }
        let is_function =
            symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() > 0;
        let mut made = MADE_BY_COMPILERS.iter();
        if !is_function || made.any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        // Each program has a function `main`.
        let size = symbol.size().to_string();
        let source = if symbol.is_local() { &source } else { &b""[..] };
        let whole = [name, size.as_bytes(), source].join(&b' ');
        Some((symbol.address(), symbol.section(), whole))
    })
}

impl Breakpoints {
    /// Puts a breakpoint at the beginning of each function of these names.
    fn plant(worker: &Worker, wanted: &BTreeSet<&[u8]>) -> Result<Self, FileError> {
        let folder = worker.folder.join("untouched-programs");
        files::create_private_folder(&folder)?;
        let mut breakpoints = Breakpoints {
            kept: Vec::new(),
            files: Vec::new(),
            names: Vec::new(),
            is_stripped: false,
            folder,
        };
        let tree = worker.sandbox.folder();
        let mut programs = files::regular_files_below(tree)?;
        programs.sort();
        for path in programs {
            let Some(bytes) = program(&path)? else {
                continue;
            };
            let Some(found) = entries(&bytes, wanted) else {
                breakpoints.is_stripped = true;
                continue;
            };
            match found.is_empty() {
                false => breakpoints.put(&path, bytes, found, worker)?,
                // It is known that there is nothing to see.
                true => breakpoints.add(&path, Vec::new(), worker),
            }
        }
        Ok(breakpoints)
    }

    /// Puts breakpoints into a file; `found` tells of each the offset and the name of the function.
    fn put(
        &mut self,
        path: &Path,
        mut bytes: Vec<u8>,
        found: BTreeMap<u64, Vec<u8>>,
        worker: &Worker,
    ) -> Result<(), FileError> {
        let mut places = Vec::new();
        for (offset, name) in found {
            let Some(byte) = bytes.get_mut(offset as usize) else {
                continue;
            };
            places.push((offset, std::mem::replace(byte, BREAKPOINT)));
            self.names.push(name);
        }
        let about = fs::metadata(path).context("read", path)?;
        let changed = self.folder.join("changed");
        fs::write(&changed, bytes).context("write", &changed)?;
        fs::set_permissions(&changed, about.permissions()).context("set the mode of", &changed)?;
        let time = about.modified().context("read the time of", path)?;
        files::set_modified(&changed, time).context("set the time of", &changed)?;
        let kept = self.folder.join(self.kept.len().to_string());
        fs::rename(path, &kept).context("move", path)?;
        self.kept.push((path.to_path_buf(), kept));
        fs::rename(&changed, path).context("write", path)?;
        self.add(path, places, worker);
        Ok(())
    }

    fn add(&mut self, path: &Path, places: Vec<(u64, u8)>, worker: &Worker) {
        let seen = worker.sandbox.run_root();
        let relative = path.strip_prefix(worker.sandbox.folder()).unwrap_or(path);
        self.files.push(WithBreakpoints {
            path: seen.join(relative),
            places,
        });
    }

    /// The functions that a test executes, among those with breakpoints; `None` if it also executes a program of the project, or a new one,
    /// that has none, or cannot be watched.
    fn run(
        &self,
        worker: &mut Worker,
        test: &Test,
        environment: &Environment,
        limits: &Limits,
    ) -> Result<Option<Names>, ExecutedError> {
        let mut request = test_request(&worker.runner, &worker.sandbox, test, environment, limits);
        request.repeated = false;
        let failed = |source: RunError| TestError::Run {
            test: test.name.clone(),
            source,
        };
        let (notes, asked) = (worker.shared.join("executed"), worker.shared.join("watch"));
        files::remove_file(&notes)?;
        files::create_zeroed(&notes, self.names.len() as u64 + 1)?;
        let words = request.command.iter();
        let watch = Request {
            notes: notes.clone(),
            root: worker.sandbox.run_root().to_path_buf(),
            arguments: words.map(|word| word.as_encoded_bytes().to_vec()).collect(),
            files: &self.files,
        };
        files::write_atomic(&asked, &watch.to_bytes())?;
        let program = worker.runner.program();
        request.command = [program.exe.clone().into_os_string()]
            .into_iter()
            .chain(program.args.iter().cloned())
            .collect();
        request = request.env(REQUEST, &asked);
        // It does not work under `ptrace`, and would end the program with an error.
        for name in ["ASAN_OPTIONS", "LSAN_OPTIONS"] {
            let inherited = || std::env::var_os(name).filter(|_| !request.environment.clear);
            let set = request.environment.set.get(std::ffi::OsStr::new(name));
            let mut value = set.cloned().or_else(inherited).unwrap_or_default();
            value.push(":detect_leaks=0");
            request = request.env(name, value);
        }
        worker.runner.run(&request).map_err(failed)?;
        let notes = files::read(&notes)?;
        let (functions, unseen) = notes.split_at(self.names.len().min(notes.len()));
        if unseen != [0] {
            return Ok(None);
        }
        let executed = functions.iter().zip(&self.names);
        let executed = executed.filter(|(note, _)| **note == EXECUTED);
        Ok(Some(executed.map(|(_, name)| name.clone()).collect()))
    }
}

impl Drop for Breakpoints {
    fn drop(&mut self) {
        for (path, kept) in &self.kept {
            // Without its program the copy is of no use to anybody, and the first who needs it tells.
            let _ = fs::rename(kept, path);
        }
        let _ = files::remove_tree(&self.folder);
    }
}

/// The bytes of a program or a library for this machine; `None` if the file is none.
fn program(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    use io::Read;
    let mut head = [0; 4];
    let mut file = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        file => file.context("read", path)?,
    };
    if file.read_exact(&mut head).is_err() || head != object::elf::ELFMAG {
        return Ok(None);
    }
    let bytes = files::read(path)?;
    let kind = object::File::parse(&*bytes).ok().map(|file| file.kind());
    let is_program = matches!(
        kind,
        Some(object::ObjectKind::Executable | object::ObjectKind::Dynamic)
    );
    Ok(is_program.then_some(bytes))
}

/// Where in a program the functions of these names begin, with their names; `None` if it has no symbol table, or is for another machine.
fn entries(bytes: &[u8], wanted: &BTreeSet<&[u8]>) -> Option<BTreeMap<u64, Vec<u8>>> {
    let file = object::File::parse(bytes).ok()?;
    file.symbol_table()?;
    if file.architecture() != object::Architecture::X86_64 {
        return None;
    }
    let mut found = BTreeMap::new();
    for (address, section, name) in functions(&file) {
        let SymbolSection::Section(index) = section else {
            continue;
        };
        let Ok(section) = file.section_by_index(index) else {
            continue;
        };
        let Some((offset, _)) = section.file_range() else {
            continue;
        };
        if wanted.contains(name.as_slice()) && section.kind() == object::SectionKind::Text {
            found.insert(address - section.address() + offset, name);
        }
    }
    Some(found)
}
