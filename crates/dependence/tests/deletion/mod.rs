//! Slices by deletion: the lines that are not in the slice are left out of the source, and what is left is compiled and run.

mod programs;

use std::{
    error::Error,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use patchwright_csource::Clang;
use patchwright_dependence::{Bits, Criterion, Graph, Occurrence, Recorder};
use patchwright_exec::{
    CancelToken, CompileCommand, Limits, Request, Runner, RunnerProgram, files, runner::Ending,
};
use patchwright_interpret::{Closed, Limits as MachineLimits, Machine};
use patchwright_ir::{Module, Program};

use programs::{Lines, program};

/// The arguments that each program is run with.
const INPUTS: [[&str; 2]; 7] = [
    ["0", "0"],
    ["1", "0"],
    ["2", "1"],
    ["3", "7"],
    ["-1", "4"],
    ["12", "-3"],
    ["100", "31"],
];

/// Executions that are longer are left out.
const MOST_INSTRUCTIONS: u64 = 2_000_000;

/// What came of the slices.
#[derive(Debug, Default)]
pub struct Tally {
    /// Static slices, and relevant slices of one execution.
    pub fixed: usize,
    pub relevant: usize,
    /// Lines with statements in the programs, and in the static slices of them.
    pub lines: usize,
    pub left: usize,
    /// Runs of what a slice leaves, and the values at the criterion that were the same.
    pub runs: usize,
    pub values: usize,
    /// What was wrong.
    pub wrong: Vec<String>,
}

/// Where programs are sliced, compiled and run.
pub struct Bench {
    runner: Runner,
    clang: Clang,
    folder: PathBuf,
}

impl Bench {
    /// One that works in `folder`.
    pub fn new(mut runner: Runner, folder: &Path) -> Result<Bench, Box<dyn Error>> {
        let clang = Clang::find(&mut runner)?;
        Ok(Bench {
            runner,
            clang,
            folder: folder.to_path_buf(),
        })
    }

    /// Checks slices of the program with a seed: one for any input, one of an execution.
    pub fn check(&mut self, seed: u64, tally: &mut Tally) -> Result<(), Box<dyn Error>> {
        let lines = program(seed);
        let module = self.lowered(lines.text().as_bytes())?;
        let linked = Program::link(vec![module])?;
        let graph = Graph::of(&linked);
        let (line, tag) = &lines.prints[seed as usize % lines.prints.len()];
        let criterion = Criterion {
            file: "program.c".to_owned(),
            line: *line,
            variable: None,
        };
        // No execution gets to a line behind a jump.
        let Ok(criterion) = graph.criterion(&criterion) else {
            return Ok(());
        };
        let whole = self.compiled("whole", &lines.text())?;
        if let Some(message) = whole {
            return Err(format!("seed {seed}: {message}").into());
        }
        let mut expected = Vec::new();
        for input in INPUTS {
            expected.push(self.values("whole", input, tag)?);
        }
        let slice = graph.backward(&criterion);
        let place = format!("seed {seed}, line {line}");
        tally.fixed += 1;
        tally.lines += lines.statements();
        let cases = INPUTS.into_iter().zip(expected.iter().map(Vec::as_slice));
        let cases: Vec<([&str; 2], &[String])> = cases.collect();
        tally.left += graph.lines(&slice).len();
        self.deleted(&lines, &graph, &slice, tag, &cases, &place, tally)?;

        let at = seed as usize % INPUTS.len();
        let mut recorder = Recorder::new(&graph, 20_000_000);
        if expected[at].is_empty() || !record(&linked, &mut recorder, INPUTS[at])? {
            return Ok(());
        }
        let dynamic = recorder.slice(&criterion, Occurrence::Every, false);
        let relevant = recorder.slice(&criterion, Occurrence::Every, true);
        tally.relevant += 1;
        for (part, of, name) in [
            (&dynamic.vertices, &slice, "the static slice"),
            (&dynamic.vertices, &relevant.vertices, "the relevant slice"),
            (&relevant.vertices, &slice, "the static slice"),
        ] {
            let all = graph.lines(of);
            if let Some((missing, _)) = graph.lines(part).iter().find(|(l, _)| !all.contains_key(l))
            {
                tally.wrong.push(format!(
                    "{place}: {name} lacks line {} of an execution",
                    missing.line
                ));
            }
        }
        let place = format!("{place}, relevant with {:?}", INPUTS[at]);
        self.deleted(
            &lines,
            &graph,
            &relevant.vertices,
            tag,
            &cases[at..=at],
            &place,
            tally,
        )
    }

    /// Leaves out what is not in the slice, and compares the values at the criterion.
    #[allow(clippy::too_many_arguments)]
    fn deleted(
        &mut self,
        lines: &Lines,
        graph: &Graph<'_>,
        slice: &Bits,
        tag: &str,
        cases: &[([&str; 2], &[String])],
        place: &str,
        tally: &mut Tally,
    ) -> Result<(), Box<dyn Error>> {
        let has: Vec<u32> = graph.lines(slice).keys().map(|line| line.line).collect();
        let text = lines.without(&|line| has.contains(&line));
        if let Some(message) = self.compiled("part", &text)? {
            tally.wrong.push(format!("{place}: {message}"));
            return Ok(());
        }
        for (input, expected) in cases {
            let found = self.values("part", *input, tag)?;
            tally.runs += 1;
            if found != *expected {
                // A part that goes on for ever prints one value after the other.
                let found = &found[..found.len().min(expected.len() + 2)];
                tally.wrong.push(format!(
                    "{place}: with {input:?} the values {expected:?} become {found:?} …\nof\n{}\nis left\n{text}",
                    lines.text()
                ));
                return Ok(());
            }
            tally.values += found.len();
        }
        Ok(())
    }

    fn lowered(&mut self, source: &[u8]) -> Result<Module, Box<dyn Error>> {
        let file = self.folder.join("program.c");
        files::write_atomic(&file, source)?;
        let command = CompileCommand {
            directory: self.folder.clone(),
            arguments: ["cc", "-fwrapv", "-c", "program.c"]
                .map(OsString::from)
                .to_vec(),
            output: None,
            included: None,
            file: file.clone(),
        };
        let unit =
            patchwright_csource::parse(&self.clang, &mut self.runner, &command, source.to_vec())?;
        Ok(patchwright_lower::lower(&unit, &file.to_string_lossy()))
    }

    /// Compiles a program; the compiler's message, if it does not.
    fn compiled(&mut self, name: &str, text: &str) -> Result<Option<String>, Box<dyn Error>> {
        let source = format!("{name}.c");
        files::write_atomic(&self.folder.join(&source), text.as_bytes())?;
        let build = Request::new("gcc", &self.folder)
            .args(["-w", "-O0", "-fwrapv", "-o", name, &source])
            .limits(Limits::for_build());
        let outcome = self.runner.run(&build)?;
        let message = String::from_utf8_lossy(&outcome.stderr).into_owned();
        Ok((!outcome.ending.is_success()).then(|| {
            let error = message.lines().find(|line| line.contains("error"));
            error.unwrap_or("does not compile").to_owned()
        }))
    }

    /// What a program prints at the criterion; a last word where it takes too long.
    fn values(
        &mut self,
        name: &str,
        input: [&str; 2],
        tag: &str,
    ) -> Result<Vec<String>, Box<dyn Error>> {
        let run = Request::new(self.folder.join(name), &self.folder)
            .args(input)
            .limits(Limits::with_wall(Duration::from_secs(10)));
        let outcome = self.runner.run(&run)?;
        let text = String::from_utf8_lossy(&outcome.stdout);
        let values = text.lines().filter_map(|line| line.strip_prefix(tag));
        let mut values: Vec<String> = values.map(str::to_owned).collect();
        if !matches!(outcome.ending, Ending::Exited(_) | Ending::Signaled(_)) {
            values.push("goes on for ever".to_owned());
        }
        Ok(values)
    }
}

/// Executes the program; false if that is too long.
fn record(
    program: &Program,
    recorder: &mut Recorder<'_, '_>,
    input: [&str; 2],
) -> Result<bool, Box<dyn Error>> {
    let mut world = Closed::default();
    let limits = MachineLimits {
        instructions: MOST_INSTRUCTIONS,
        ..MachineLimits::default()
    };
    let mut machine = Machine::link(program.modules.clone(), limits, &mut world)?;
    machine.observe(recorder);
    let mut words = vec![b"program".to_vec()];
    words.extend(input.map(|word| word.as_bytes().to_vec()));
    let ending = machine.run(&words, &[]).ending;
    drop(machine);
    Ok(matches!(
        ending,
        patchwright_interpret::Ending::Exit(_) | patchwright_interpret::Ending::Abort
    ) && !recorder.is_full())
}

/// Set `PATCHWRIGHT_SLICED_PROGRAMS` for others than the first dozen: to a number, or to seeds as in `36..1000`.
#[test]
#[ignore = "nightly: 6 s; the_programs_have_jumps_of_all_kinds goes this way"]
fn what_a_slice_leaves_of_the_source_gives_the_same_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = CancelToken::new().expect("a pipe");
    let runner = Runner::start(&RunnerProgram::this_binary(), None, cancel).expect("starts");
    let mut bench = Bench::new(runner, folder.path()).expect("clang is installed");
    let wanted = std::env::var("PATCHWRIGHT_SLICED_PROGRAMS");
    let wanted = wanted.unwrap_or_else(|_| patchwright_testkit::cases(12, 36).to_string());
    let (first, end) = wanted.split_once("..").unwrap_or(("0", &wanted));
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let (first, end) = (number(first), number(end));
    let mut tally = Tally::default();
    for seed in first..end {
        let before = tally.wrong.len();
        bench.check(seed, &mut tally).expect("it runs");
        for wrong in &tally.wrong[before..] {
            println!("{wrong}");
        }
    }
    println!(
        "seeds {first} to {end}: {} static and {} relevant slices, {} runs, {} values, {} of {} lines",
        tally.fixed, tally.relevant, tally.runs, tally.values, tally.left, tally.lines
    );
    assert!(tally.wrong.is_empty(), "{} wrong slices", tally.wrong.len());
    assert!(tally.values > 30, "{tally:?}");
}
