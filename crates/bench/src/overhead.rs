//! Measures how much slower instrumentation makes a program: with nothing selected, and with one active
//! location.

use std::{collections::BTreeSet, error::Error, ffi::OsString, path::PathBuf, time::Duration};

use patchwright_exec::{
    CancelToken, FileSelection, Limits, Outcome, Project, ProjectFlags, Request, RunnerProgram,
    Scratch, Worker, WorkerOptions, files, record_build, runner::Sink,
};
use patchwright_probe_image::{Candidate, Channel, PROBE};
use patchwright_repair::{
    Event, RepairOptions, Surroundings,
    instrumented::{HoleEntry, probe_slots},
    whole::WovenCopy,
};
use patchwright_space::{HoleKind, space::original, term};

/// Flags of `patchwright-bench overhead`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program's folder, as it is built (with `CFLAGS=-O2`, say)
    project: PathBuf,
    /// The build command, instead of the one in patchwright.toml
    #[arg(long, value_name = "CMD")]
    build: Option<OsString>,
    /// The shell command to time, run from the program's root; `$INPUT` is a file of text
    #[arg(long, value_name = "CMD")]
    run: OsString,
    /// Megabytes of `$INPUT`
    #[arg(long, default_value_t = 50)]
    input_mb: usize,
    /// Pairs of runs
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Also activates the first location on this line
    #[arg(long, value_name = "FILE:LINE")]
    hot: Option<OsString>,
}

/// Measures, and prints the ratios of the times with and without instrumentation.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let flags = ProjectFlags {
        build: arguments.build.clone(),
        ..ProjectFlags::default()
    };
    let mut project = Project::load(&arguments.project, &flags)?;
    project.files.clear();
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let show = |event: Event| {
        if let Event::Warning(text) = event {
            eprintln!("warning: {text}");
        }
    };
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new()?,
        events: &show,
    };
    let options = RepairOptions::default();
    let mut plain = Worker::start(
        0,
        "plain",
        &WorkerOptions {
            program: &program,
            scratch: &scratch,
            project: &project.root,
            source: &project.root,
            prepare: None,
            view: true,
            exclude: Vec::new(),
            build_timeout: None,
            cancel: surroundings.cancel.clone(),
        },
    )?;
    let commands = record_build(&mut plain, &project)?;
    let input = scratch.path().join("input");
    files::write_atomic(&input, &text(arguments.input_mb << 20))?;
    let probe = scratch.path().join("probe.so");
    files::write_atomic(&probe, PROBE)?;
    let timed = Timed {
        arguments,
        input: &input,
    };
    let mut woven = WovenCopy::weave(
        &mut plain,
        &commands,
        "woven",
        &project,
        &options,
        &surroundings,
    )?;
    println!(
        "{} locations woven in {} files; medians of {} pairs, processor time",
        woven.holes.len(),
        woven.files.len(),
        arguments.pairs
    );
    println!("\n| what | plain, s | instrumented, s | ratio |\n| --- | ---: | ---: | ---: |");
    timed.pairs(
        "nothing selected, no run",
        &mut plain,
        &mut woven.worker,
        &[],
    )?;
    let mut channel = Channel::create(
        &scratch.shared_path(),
        woven.holes.len() as u32,
        Default::default(),
    )?;
    channel.set_off();
    let environment = channel.environment(&probe);
    timed.pairs(
        "nothing selected, probe loaded",
        &mut plain,
        &mut woven.worker,
        &environment,
    )?;
    let Some(hot) = &arguments.hot else {
        return Ok(true);
    };
    let hot = FileSelection::parse(hot)?;
    let root = project.root.clone();
    let file = hot.file.strip_prefix(&root).unwrap_or(&hot.file).to_owned();
    let place = |hole: &HoleEntry| {
        matches!(hole.hole.kind, HoleKind::Expression { .. })
            && hole.place == format!("{}:{}", file.display(), hole.line)
            && hot.contains_line(hole.line)
    };
    let hole = woven.holes.iter().find(|hole| place(hole)).ok_or_else(|| {
        let of_file = woven.holes.iter().filter(|hole| {
            matches!(hole.hole.kind, HoleKind::Expression { .. })
                && hole.place == format!("{}:{}", file.display(), hole.line)
        });
        let lines: BTreeSet<u32> = of_file.map(|hole| hole.line).collect();
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        format!(
            "there is no expression that is a location there; lines of {} with one: {}",
            file.display(),
            lines.join(", ")
        )
    })?;
    let types = &woven.files[hole.file].types;
    let atoms = &hole.hole.atoms;
    let code = term::compile(
        &original(&hole.hole),
        hole.hole.context,
        &atoms.table,
        types.pointees(),
    )?;
    let slots = probe_slots(&atoms.slots);
    channel.set_candidate(&Candidate {
        hole: hole.id,
        function: hole.function,
        slots: &slots,
        code: &code,
    })?;
    let what = format!(
        "{} active, {} values at each visit",
        hole.place,
        slots.len()
    );
    let environment = channel.environment(&probe);
    timed.pairs(&what, &mut plain, &mut woven.worker, &environment)?;
    let observation = channel.observation();
    println!(
        "\n{} visits in {} runs, {} distinct states{}",
        observation.visits,
        arguments.pairs + 1,
        observation.states.len(),
        if observation.overflow {
            " (the log is full)"
        } else {
            ""
        }
    );
    Ok(true)
}

struct Timed<'a> {
    arguments: &'a Arguments,
    input: &'a std::path::Path,
}

impl Timed<'_> {
    /// One run in one copy.
    fn once(
        &self,
        worker: &mut Worker,
        environment: &[(&'static str, OsString)],
    ) -> Result<Duration, Box<dyn Error>> {
        let root = worker.sandbox.run_root().to_path_buf();
        let mut request = Request::shell(&self.arguments.run, root)
            .env("INPUT", self.input)
            .limits(Limits::for_build());
        request.stdout = Sink::Null;
        for (name, value) in environment {
            request = request.env(*name, value);
        }
        let Outcome {
            ending,
            cpu,
            stderr,
            ..
        } = worker.runner.run(&request)?;
        if !ending.is_success() {
            let text = String::from_utf8_lossy(&stderr).into_owned();
            return Err(format!("the command fails: {ending:?} {text}").into());
        }
        Ok(cpu)
    }

    /// Runs both programs alternately, after one run of each that is not counted.
    fn pairs(
        &self,
        what: &str,
        plain: &mut Worker,
        woven: &mut Worker,
        environment: &[(&'static str, OsString)],
    ) -> Result<(), Box<dyn Error>> {
        self.once(plain, &[])?;
        self.once(woven, environment)?;
        let (mut times, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..self.arguments.pairs.max(1) {
            let a = self.once(plain, &[])?.as_secs_f64();
            let b = self.once(woven, environment)?.as_secs_f64();
            times[0].push(a);
            times[1].push(b);
            ratios.push(b / a);
        }
        println!(
            "| {what} | {:.2} | {:.2} | {:.3} |",
            median(&mut times[0]),
            median(&mut times[1]),
            median(&mut ratios)
        );
        Ok(())
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Text of words that repeat as those of a language do, the same each time.
fn text(length: usize) -> Vec<u8> {
    const LETTERS: &[u8] = b"etaoinshrdlucmfwypvbgkjqxz";
    let mut state = 1u64;
    let mut random = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let words: Vec<Vec<u8>> = (0..5000)
        .map(|_| {
            let length = 2 + random(9);
            (0..length)
                .map(|_| LETTERS[random(26).min(random(26)) as usize])
                .collect()
        })
        .collect();
    let mut text = Vec::with_capacity(length + 16);
    while text.len() < length {
        let rank = random(5000).min(random(5000)).min(random(5000));
        text.extend_from_slice(&words[rank as usize]);
        text.push(if random(12) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(length);
    text
}
