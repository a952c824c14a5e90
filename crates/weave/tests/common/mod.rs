//! Small C programs, woven by hand, compiled and run.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.
#![allow(dead_code)] // Every test file uses a part of this.

use patchwright_probe_image::{Candidate, Channel, Limits, Observation, PROBE, Patience, Slot};
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_text::Span;
use patchwright_weave::{
    CapturedPart, FunctionId, HoleId, Hook, HookKind, Moved, WeaveError, WovenFunction,
    on_one_line, weave_file,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A C file in which functions and holes are found by their text.
pub struct Program {
    source: String,
    functions: Vec<WovenFunction>,
    run: Option<PathBuf>,
}

impl Program {
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            functions: Vec::new(),
            run: None,
        }
    }

    /// Lets processes find the run in this folder.
    pub fn run_folder(mut self, run: PathBuf) -> Self {
        self.run = Some(run);
        self
    }

    /// Weaves the function whose head is `head`, up to its `{`; later holes lie in it.
    pub fn function(mut self, id: u32, head: &str, labels: &[&str]) -> Self {
        let found = self.source.find(head);
        let head_start = found.unwrap_or_else(|| panic!("no function `{head}`"));
        let start = head_start + self.source[head_start..].find('{').unwrap();
        let mut depth = 0;
        let length = self.source[start..]
            .find(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth == 0
            })
            .unwrap();
        self.functions.push(WovenFunction {
            id: FunctionId(id),
            body: Span::new(start as u32, (start + length + 1) as u32),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            hooks: Vec::new(),
            assignments: Vec::new(),
            touches: Vec::new(),
            moved: Vec::new(),
            always: false,
        });
        self
    }

    /// Adds a hole at the first `text` in the last function, or at what stands between `[[` and `]]` in it.
    pub fn hole(mut self, id: u32, text: &str, kind: HookKind, slots: &[&str]) -> Self {
        let function = self.functions.last_mut().unwrap();
        let body = function.body.slice(self.source.as_bytes()).unwrap();
        let (before, rest) = text.split_once("[[").unwrap_or(("", text));
        let (text, after) = rest.split_once("]]").unwrap_or((rest, ""));
        let context = format!("{before}{text}{after}");
        let place = std::str::from_utf8(body).unwrap().find(&context);
        let place = place.unwrap_or_else(|| panic!("no `{context}`")) + before.len();
        let start = function.body.start + place as u32;
        function.hooks.push(Hook {
            id: HoleId(id),
            span: Span::new(start, start + text.len() as u32),
            kind,
            slots: slots.iter().map(|slot| (*slot).to_owned()).collect(),
            captured: None,
        });
        self
    }

    /// A copy of the last hole's statement before or after the first `beside` in the last function.
    pub fn moved(mut self, value: u64, beside: &str, after: bool) -> Self {
        let function = self.functions.last_mut().unwrap();
        let hook = function.hooks.last().unwrap();
        let text = hook.span.slice(self.source.as_bytes()).unwrap();
        let body = function.body.slice(self.source.as_bytes()).unwrap();
        let place = std::str::from_utf8(body).unwrap().find(beside).unwrap();
        let start = function.body.start + place as u32;
        let moved = Moved {
            id: hook.id,
            value,
            span: Span::new(start, start + beside.len() as u32),
            after,
            text: on_one_line(text).unwrap(),
        };
        function.moved.push(moved);
        self
    }

    /// Weaves; the copies of statements belong to another hole, if one is given.
    pub fn try_woven(mut self, hole: Option<u32>) -> Result<Vec<u8>, WeaveError> {
        let copies = self
            .functions
            .iter_mut()
            .flat_map(|function| &mut function.moved);
        if let Some(hole) = hole {
            copies.for_each(|copy| copy.id = HoleId(hole));
        }
        weave_file(self.source.as_bytes(), &self.functions, self.run.as_deref())
    }

    /// What the last hole takes in advance.
    pub fn capturing(mut self, text: &str, ctype: &str) -> Self {
        let hook = self.functions.last_mut().unwrap().hooks.last_mut().unwrap();
        let inside = hook.span.slice(self.source.as_bytes()).unwrap();
        let place = std::str::from_utf8(inside).unwrap().find(text).unwrap() as u32;
        let start = hook.span.start + place;
        hook.captured = Some(CapturedPart {
            span: Span::new(start, start + text.len() as u32),
            ctype: ctype.to_owned(),
        });
        self
    }

    pub fn woven(&self) -> Vec<u8> {
        weave_file(self.source.as_bytes(), &self.functions, self.run.as_deref()).unwrap()
    }

    pub fn source(&self) -> &str {
        &self.source
    }
}

pub fn integer(ctype: &str) -> HookKind {
    HookKind::Integer {
        ctype: ctype.to_owned(),
    }
}

/// A folder with the probe, a channel and compiled programs.
pub struct Bench {
    folder: TempDir,
    pub channel: Channel,
}

impl Bench {
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub fn with_limits(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("probe"), PROBE).unwrap();
        let channel = Channel::create(folder.path(), 64, limits).unwrap();
        Self { folder, channel }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs a compiler (with words of flags) in the folder; it must succeed silently.
    pub fn compile(&self, command: &str) {
        let output = self.try_compile(command);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{messages}");
        assert_eq!(messages, "", "{command}");
    }

    pub fn try_compile(&self, command: &str) -> Output {
        let mut words = command.split_whitespace();
        Command::new(words.next().unwrap())
            .args(words)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    /// A command that runs with the channel in its environment.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.plain_command(program);
        command.envs(self.channel.environment(&self.path("probe")));
        command
    }

    /// A command that runs without it.
    pub fn plain_command(&self, program: &str) -> Command {
        let own = self.path(program);
        let program = if own.exists() { own } else { program.into() };
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env_remove("PATCHWRIGHT_PROBE")
            .env_remove("PATCHWRIGHT_CHANNEL");
        command
    }

    /// Standard output of a run without the channel, which must succeed.
    pub fn plain(&self, program: &str, arguments: &[&str]) -> String {
        stdout(self.plain_command(program).args(arguments))
    }

    /// Standard output of a run with the channel, which must succeed.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        stdout(self.command(program).args(arguments))
    }

    /// Selects a candidate.
    pub fn candidate(&mut self, function: u32, hole: u32, slots: &[Slot], code: &[Instruction]) {
        self.channel
            .set_candidate(&Candidate {
                hole: HoleId(hole),
                function: FunctionId(function),
                slots,
                code,
            })
            .unwrap();
    }

    /// For the candidate that was selected last.
    pub fn patience(&mut self, patience: Patience) {
        self.channel.set_patience(patience);
    }

    pub fn observation(&self) -> Observation {
        self.channel.observation()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

pub fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// `slot0 OP slot1` on `int`s.
pub fn int_operation(op: BinaryOp) -> Vec<Instruction> {
    vec![
        Instruction::slot(0),
        Instruction::slot(1),
        Instruction::binary(op, Ty::I32),
    ]
}

/// The values of all states.
pub fn rows(observation: &Observation) -> Vec<Vec<u64>> {
    let states = &observation.states;
    (0..states.len())
        .map(|state| states.values(state).to_vec())
        .collect()
}
