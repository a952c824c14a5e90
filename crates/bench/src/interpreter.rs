//! Compares the interpreter with compilers on generated programs.

use std::{
    error::Error,
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_csource::Clang;
use patchwright_exec::runner::Ending as HowEnded;
use patchwright_exec::{
    CancelToken, CompileCommand, Limits, Request, Runner, RunnerProgram, files,
};
use patchwright_interpret::{Closed, Ending, Limits as MachineLimits, Machine};

use crate::{forms, programs::program};

/// The compilers, and how they optimise.
const COMPILERS: [(&str, &str); 4] = [
    ("gcc", "-O0"),
    ("gcc", "-O2"),
    ("clang-19", "-O0"),
    ("clang-19", "-O2"),
];

/// What says what the programs about forms mean: many of them tell more than many ways to compile one.
const PLAIN: [(&str, &str); 2] = [("gcc", "-O0"), ("clang-19", "-O0")];

/// What csmith's programs are to have.
const CSMITH: [&str; 5] = [
    "--packed-struct",
    "--bitfields",
    "--unions",
    "--volatiles",
    "--math64",
];

/// Programs that take longer, or more instructions, are left out.
const MOST_INSTRUCTIONS: u64 = 500_000_000;

/// The numbers of programs by result.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Output and status were the same for all compilers and the interpreter.
    pub same: usize,
    /// The compilers do not agree, or the program takes too long.
    pub skipped: usize,
    /// The interpreter does not support something.
    pub unsupported: Vec<String>,
    /// The interpreter differs.
    pub different: Vec<String>,
    /// IR instructions that were executed.
    pub instructions: u64,
    /// Nanoseconds that took.
    pub nanoseconds: u128,
}

/// The folder and the runner with which programs are compiled and run.
pub struct Bench {
    runner: Runner,
    clang: Clang,
    folder: PathBuf,
}

impl Bench {
    /// Makes a bench that works in `folder`.
    pub fn new(mut runner: Runner, folder: &Path) -> Result<Bench, Box<dyn Error>> {
        let clang = Clang::find(&mut runner)?;
        Ok(Bench {
            runner,
            clang,
            folder: folder.to_path_buf(),
        })
    }

    /// Compares the interpreter with `compilers` on one program, and adds the result to `tally`.
    pub fn compare(
        &mut self,
        name: &str,
        source: &[u8],
        flags: &[&str],
        compilers: &[(&str, &str)],
        tally: &mut Tally,
    ) -> Result<(), Box<dyn Error>> {
        let file = self.folder.join("program.c");
        files::write_atomic(&file, source)?;
        let mut expected: Option<(i32, Vec<u8>)> = None;
        for &(compiler, level) in compilers {
            let build = Request::new(compiler, &self.folder)
                .args([
                    "-w",
                    level,
                    "-fno-strict-aliasing",
                    "-o",
                    "program",
                    "program.c",
                ])
                .args(flags.iter().copied())
                .limits(Limits::for_build());
            if !self.runner.run(&build)?.ending.is_success() {
                tally.skipped += 1;
                return Ok(());
            }
            let run = Request::new(self.folder.join("program"), &self.folder)
                .limits(Limits::with_wall(Duration::from_secs(10)));
            let outcome = self.runner.run(&run)?;
            let HowEnded::Exited(status) = outcome.ending else {
                tally.skipped += 1;
                return Ok(());
            };
            let found = (status, outcome.stdout);
            if expected.get_or_insert_with(|| found.clone()) != &found {
                tally.skipped += 1;
                return Ok(());
            }
        }
        let Some((status, output)) = expected else {
            return Ok(());
        };
        let mut arguments: Vec<OsString> = vec!["cc".into()];
        arguments.extend(flags.iter().map(OsString::from));
        arguments.extend(["-c".into(), "program.c".into()]);
        let command = CompileCommand {
            directory: self.folder.clone(),
            arguments,
            output: None,
            included: None,
            file: file.clone(),
        };
        let unit =
            patchwright_csource::parse(&self.clang, &mut self.runner, &command, source.to_vec())?;
        let module = patchwright_lower::lower(&unit, &file.to_string_lossy());
        if let Err(violations) = patchwright_ir::verify(&module) {
            tally.different.push(format!("{name}: {}", violations[0]));
            return Ok(());
        }
        let mut world = Closed::default();
        let limits = MachineLimits {
            instructions: MOST_INSTRUCTIONS,
            ..MachineLimits::default()
        };
        let mut machine = match Machine::link(vec![module], limits, &mut world) {
            Ok(machine) => machine,
            Err(error) => {
                tally.unsupported.push(format!("{name}: {error}"));
                return Ok(());
            }
        };
        let started = Instant::now();
        let outcome = machine.run(&[b"program".to_vec()], &[]);
        tally.nanoseconds += started.elapsed().as_nanos();
        tally.instructions += outcome.instructions;
        match outcome.ending {
            Ending::Exit(found) if found == status && world.output == output => tally.same += 1,
            Ending::Limit(_) => tally.skipped += 1,
            Ending::Unsupported(reason) => tally.unsupported.push(format!("{name}: {reason}")),
            ending => {
                let place = outcome.trace.first();
                let place = place.map_or(String::new(), |place| format!(" at {place}"));
                tally.different.push(format!("{name}: {ending:?}{place}"));
            }
        }
        Ok(())
    }
}

/// Prints the table. The result is false if the interpreter differs from the compilers.
pub fn run(
    [programs, forms, csmith]: [u64; 3],
    first: u64,
    keep: Option<&Path>,
) -> Result<bool, Box<dyn Error>> {
    let scratch = patchwright_exec::Scratch::in_default_place()?;
    let folder = scratch.create_folder("programs")?;
    let program_of = RunnerProgram::current_exe(["__runner"])?;
    let runner = Runner::start(&program_of, None, CancelToken::new()?)?;
    let mut bench = Bench::new(runner, &folder)?;
    println!(
        "| programs | same | differ | not supported | left out | IR instructions | instructions a second |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut good = true;
    for (kind, count) in [
        ("our generator", programs),
        ("forms", forms),
        ("csmith", csmith),
    ] {
        let mut tally = Tally::default();
        for seed in first..first + count {
            let name = format!("{kind} {seed}");
            let before = tally.different.len();
            let source = if kind == "csmith" {
                let request = Request::new("csmith", &folder)
                    .args(["--seed", &seed.to_string(), "--max-funcs", "5"])
                    .args(CSMITH)
                    .limits(Limits::with_wall(Duration::from_secs(60)));
                match bench.runner.run(&request) {
                    Ok(outcome) if outcome.ending.is_success() => outcome.stdout,
                    _ => {
                        tally.skipped += 1;
                        continue;
                    }
                }
            } else if kind == "forms" {
                forms::program(seed).into_bytes()
            } else {
                program(seed).into_bytes()
            };
            let flags: &[&str] = match kind {
                "csmith" => &["-I/usr/include/csmith"],
                _ => &[],
            };
            let compilers: &[(&str, &str)] = match kind {
                "forms" => &PLAIN,
                _ => &COMPILERS,
            };
            bench.compare(&name, &source, flags, compilers, &mut tally)?;
            if tally.different.len() > before
                && let Some(keep) = keep
            {
                files::write_atomic(&keep.join(format!("{seed}.c")), &source)?;
            }
        }
        if count == 0 {
            continue;
        }
        for problem in tally.different.iter().chain(&tally.unsupported) {
            eprintln!("{problem}");
        }
        good &= tally.different.is_empty();
        let rate = u128::from(tally.instructions) * 1_000_000_000 / tally.nanoseconds.max(1);
        println!(
            "| {kind}, {count} | {} | {} | {} | {} | {} | {rate} |",
            tally.same,
            tally.different.len(),
            tally.unsupported.len(),
            tally.skipped,
            tally.instructions,
        );
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "nightly: 8 s; crate interpret runs programs and compares them with compiled ones"]
    fn generated_programs_do_in_the_interpreter_what_they_do_compiled() {
        let folder = tempfile::tempdir().expect("a folder");
        let cancel = CancelToken::new().expect("a pipe");
        let runner = Runner::start(&RunnerProgram::this_binary(), None, cancel).expect("starts");
        let mut bench = Bench::new(runner, folder.path()).expect("clang is installed");
        let mut tally = Tally::default();
        let seeds = patchwright_testkit::cases(8, 24);
        for seed in 1..=seeds {
            // All four by turns, to be quick.
            let compiler = COMPILERS[seed as usize % 4];
            let plain = PLAIN[seed as usize % 2];
            for (source, compiler) in [(program(seed), compiler), (forms::program(seed), plain)] {
                bench
                    .compare(
                        &seed.to_string(),
                        source.as_bytes(),
                        &[],
                        &[compiler],
                        &mut tally,
                    )
                    .expect("compares");
            }
        }
        assert_eq!(tally.different, Vec::<String>::new());
        assert_eq!(tally.unsupported, Vec::<String>::new());
        assert_eq!(tally.same as u64, 2 * seeds);
    }
}
