//! Asks clang about several sources with the same flags at once, because starting clang takes as long as
//! reading thousands of lines.
//!
//! Nothing depends on it: where it fails, or where what is printed does not look as expected, sources are asked about one by one.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStringExt,
    sync::{Arc, Mutex, PoisonError},
};

use patchwright_exec::{CompileCommand, Request, Runner, files};
use patchwright_text::Digest;
use rustc_hash::FxHashMap;

use crate::{
    Clang,
    flags::{flags, other_language},
    large::Reduced,
    memory::{About, key_of, plan_without, unescaped},
};

/// Bytes of preprocessed text whose trees are printed at once: a dump may have five hundred times as many, and its size is limited.
const AT_ONCE: usize = 4 << 20;

/// Answers that were had before anybody asked, by the key of their request. Each is asked for once.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    preprocessed: Mutex<FxHashMap<Digest, Preprocessed>>,
    dumps: Mutex<FxHashMap<Digest, Vec<u8>>>,
}

/// What the preprocessor printed for a source, and what further answers depend on.
pub(crate) type Preprocessed = (String, Option<Arc<About>>);

impl Ahead {
    /// Takes the text that the preprocessor has made for a request, if it was made ahead.
    pub(crate) fn preprocessed(&self, request: &Request) -> Option<Preprocessed> {
        let mut all = lock(&self.preprocessed);
        all.remove(&key_of(None, request))
    }

    /// Takes clang's dump for a request, if it was made ahead.
    pub(crate) fn dump(&self, request: &Request) -> Option<Vec<u8>> {
        lock(&self.dumps).remove(&key_of(None, request))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clang {
    /// Returns this clang with answers for [`parse_meaning`](crate::parse_meaning) about the sources
    /// of `commands`, as far as it could be asked about several at once.
    pub fn ask_ahead(&self, runner: &mut Runner, commands: &[CompileCommand]) -> Clang {
        let commands: Vec<&CompileCommand> = commands.iter().filter(|one| is_plain(one)).collect();
        let Some(first) = commands.first() else {
            return self.clone();
        };
        let is_same =
            |one: &&CompileCommand| one.directory == first.directory && flags(one) == flags(first);
        let alike: Vec<&CompileCommand> = commands.iter().copied().filter(is_same).collect();
        let ahead = self.preprocess_together(runner, &alike);
        let mut clang = self.clone();
        clang.ahead = ahead.map(Arc::new);
        clang
    }

    fn preprocess_together(
        &self,
        runner: &mut Runner,
        commands: &[&CompileCommand],
    ) -> Option<Ahead> {
        let request = |command: &CompileCommand| self.preprocess_request(command);
        let outcome = runner.run(&together(commands, request)?).ok()?;
        if !outcome.ending.is_success() {
            return None;
        }
        let printed = String::from_utf8(outcome.stdout).ok()?;
        let texts = split(&printed, commands)?;
        let own: Vec<&OsStr> = commands.iter().map(|one| one.file.as_os_str()).collect();
        let plan = plan_without(&outcome.stderr, &own);
        let ahead = Ahead::default();
        let (mut waiting, mut size) = (Vec::new(), 0);
        for (command, text) in commands.iter().zip(texts) {
            let about = self.about(command, text, &plan);
            let key = key_of(None, &request(command).arg(&command.file));
            lock(&ahead.preprocessed).insert(key, (text.to_owned(), about.clone()));
            let dump = self.dump_request(command).arg(&command.file);
            match about.as_ref().and_then(|about| about.recall(&dump)) {
                Some(known) => {
                    lock(&ahead.dumps).insert(key_of(None, &dump), known);
                }
                None if is_shallow(command) => {
                    size += text.len();
                    waiting.push((*command, about));
                }
                None => {}
            }
            if size > AT_ONCE {
                self.dump_together(runner, &waiting, &ahead);
                (waiting, size) = (Vec::new(), 0);
            }
        }
        self.dump_together(runner, &waiting, &ahead);
        Some(ahead)
    }

    fn dump_together(
        &self,
        runner: &mut Runner,
        waiting: &[(&CompileCommand, Option<Arc<About>>)],
        ahead: &Ahead,
    ) -> Option<()> {
        let commands: Vec<&CompileCommand> = waiting.iter().map(|(command, _)| *command).collect();
        let request = |command: &CompileCommand| self.dump_request(command);
        let outcome = runner.run(&together(&commands, request)?).ok()?;
        let dumps = frames(&outcome.stdout)?;
        if !outcome.ending.is_success() || dumps.len() != waiting.len() {
            return None;
        }
        for ((command, about), dump) in waiting.iter().zip(dumps) {
            let request = request(command).arg(&command.file);
            if let Some(about) = about {
                about.keep(&request, dump);
            }
            lock(&ahead.dumps).insert(key_of(None, &request), dump.to_vec());
        }
        Some(())
    }
}

/// A C file that the command names as it is.
fn is_plain(command: &CompileCommand) -> bool {
    command.included.is_none()
        && command.file.is_absolute()
        && command.file.extension() == Some(OsStr::new("c"))
        && other_language(command).is_none()
        && !flags(command)
            .iter()
            .any(|flag| flag.as_encoded_bytes().starts_with(b"-x"))
}

/// None of its functions is left out for its size.
fn is_shallow(command: &CompileCommand) -> bool {
    let text = files::read(&command.file);
    text.is_ok_and(|text| Reduced::new(&text).text.is_none())
}

/// One request for all the files: clang itself takes as many as it is given. `None` for less than two.
fn together(
    commands: &[&CompileCommand],
    request: impl Fn(&CompileCommand) -> Request,
) -> Option<Request> {
    let (last, others) = commands.split_last().filter(|(_, rest)| !rest.is_empty())?;
    let more = others
        .iter()
        .flat_map(|one| [OsStr::new("-Xclang"), one.file.as_os_str()]);
    Some(request(last).args(more).arg(&last.file))
}

/// What the preprocessor printed for each file: it begins with the file's name and the compiler's own definitions.
fn split<'t>(printed: &'t str, commands: &[&CompileCommand]) -> Option<Vec<&'t str>> {
    const BUILT_IN: &str = "\n# 1 \"<built-in>\" 1\n";
    let mut begins = Vec::new();
    for (at, _) in printed.match_indices(BUILT_IN) {
        let line = printed[..at].rfind('\n').map_or(0, |end| end + 1);
        let name = printed[line..at]
            .strip_prefix("# 1 \"")?
            .strip_suffix('"')?;
        let name = OsString::from_vec(unescaped(name.as_bytes()));
        (commands.get(begins.len())?.file.as_os_str() == name).then_some(())?;
        begins.push(line);
    }
    if begins.len() != commands.len() || begins.first() != Some(&0) {
        return None;
    }
    begins.push(printed.len());
    Some(
        begins
            .windows(2)
            .map(|ends| &printed[ends[0]..ends[1]])
            .collect(),
    )
}

/// The frames that a compressed output consists of.
fn frames(mut compressed: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    while !compressed.is_empty() {
        let size = zstd::zstd_safe::find_frame_compressed_size(compressed).ok()?;
        let (frame, rest) = compressed.split_at_checked(size)?;
        found.push(frame);
        compressed = rest;
    }
    Some(found)
}
