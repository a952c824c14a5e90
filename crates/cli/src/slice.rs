//! `patchwright slice`: what a value depends on, or what depends on it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    os::unix::ffi::OsStringExt,
};

use clap::Args;
use patchwright_dependence::{
    self as dependence, Bits, Criterion, CriterionError, Graph, Line, Occurrence, Recorder,
    VertexId,
};
use patchwright_interpret::{Ending, Limits, Machine};
use patchwright_ir::Program;
use patchwright_report::{slice as report, text::Style};

use crate::{
    Exit,
    cached::CacheArgs,
    places::shown_path,
    run::{Host, environment},
    sources::{self, Source, program_name},
};

/// Flags of `patchwright slice`.
#[derive(Args, Debug)]
pub struct SliceArgs {
    /// The line, and the variable on it if only that is meant
    #[arg(value_name = "FILE:LINE[:VARIABLE]")]
    pub criterion: String,

    /// Another C file of the program; may be repeated
    #[arg(long = "with", value_name = "FILE", help_heading = "Program")]
    pub with: Vec<OsString>,

    /// Show what the line depends on; this is the default
    #[arg(long, conflicts_with = "forward", help_heading = "Slice")]
    pub backward: bool,

    /// Show what depends on the line
    #[arg(long, help_heading = "Slice")]
    pub forward: bool,

    /// Execute the program, and show what contributed in this execution
    #[arg(long, conflicts_with = "forward", help_heading = "Slice")]
    pub dynamic: bool,

    /// As --dynamic, and decisions that could have changed the value
    #[arg(long, conflicts_with_all = ["forward", "dynamic"], help_heading = "Slice")]
    pub relevant: bool,

    /// Look at each execution of the line, not only at the last
    #[arg(long, help_heading = "Slice")]
    pub every: bool,

    /// The program's arguments, for --dynamic and --relevant
    #[arg(value_name = "ARG", last = true)]
    pub arguments: Vec<OsString>,

    /// Give these flags to the compiler
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Program"
    )]
    pub cflags: Option<String>,

    #[command(flatten)]
    pub cache: CacheArgs,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Dependences of an execution that are kept, at 12 bytes each.
const MOST_DEPENDENCES: usize = 100_000_000;

/// Warnings that are printed; JSON has all of them.
const SHOWN_GAPS: usize = 12;

/// Runs `patchwright slice`: prints the lines on which a place depends, or that depend on it. Returns the exit status.
pub fn run(args: &SliceArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
    }
}

/// `FILE:LINE[:VARIABLE]`.
fn parse(text: &str) -> Result<Criterion, String> {
    let wrong = || {
        format!(
            "`{text}` is not a place: write FILE:LINE or FILE:LINE:VARIABLE, as in `sum.c:12:total`"
        )
    };
    let parts: Vec<&str> = text.split(':').collect();
    let (file, line, variable) = match parts[..] {
        [.., file, line] if line.parse::<u32>().is_ok() => (file, line, None),
        [.., file, line, variable] if !variable.is_empty() => (file, line, Some(variable)),
        _ => return Err(wrong()),
    };
    let end = text.len() - line.len() - variable.map_or(0, |variable| variable.len() + 1) - 1;
    let line = line.parse().map_err(|_| wrong())?;
    if file.is_empty() || line == 0 {
        return Err(wrong());
    }
    Ok(Criterion {
        file: text[..end].to_owned(),
        line,
        variable: variable.map(str::to_owned),
    })
}

fn try_run(args: &SliceArgs) -> Result<Exit, String> {
    let criterion = parse(&args.criterion)?;
    let mut files = vec![OsString::from(&criterion.file)];
    files.extend(args.with.iter().cloned());
    let lowered = sources::lower(&files, args.cflags.as_deref(), &args.cache)?;
    let modules = lowered.iter().map(|source| source.module.clone());
    let program = Program::link(modules.collect()).map_err(|e| e.to_string())?;
    let gaps = gaps_of(&program);
    for gap in gaps.iter().take(SHOWN_GAPS) {
        eprintln!("patchwright: warning: {gap}");
    }
    if gaps.len() > SHOWN_GAPS {
        eprintln!(
            "patchwright: warning: {} more parts of the program are not looked into (--json lists all)",
            gaps.len() - SHOWN_GAPS
        );
    }
    let graph = Graph::of(&program);
    let wanted = Criterion {
        file: lowered[0].file.to_string_lossy().into_owned(),
        ..criterion.clone()
    };
    let vertices = graph
        .criterion(&wanted)
        .map_err(|error| explain(&error, &criterion))?;
    let executed = args.dynamic || args.relevant;
    if !executed && !args.arguments.is_empty() {
        return Err("arguments of the program need --dynamic or --relevant".to_owned());
    }
    let mut execution = None;
    let slice = if executed {
        let (slice, how) = execute(args, &graph, &files[0], &vertices)?;
        if slice.is_empty() {
            eprintln!(
                "patchwright: this execution does not get to {}",
                args.criterion
            );
            return Ok(Exit::Nothing);
        }
        execution = Some(how);
        slice
    } else if args.forward {
        graph.forward(&vertices)
    } else {
        graph.backward(&vertices)
    };
    let all: Bits = (0..graph.vertex_count() as u32).collect();
    let found = report::Slice {
        kind: match (args.forward, args.dynamic, args.relevant) {
            (true, ..) => "forward",
            (_, true, _) => "dynamic",
            (.., true) => "relevant",
            _ => "backward",
        },
        criterion: args.criterion.clone(),
        files: by_files(&graph, &lowered, &slice, &vertices),
        executable_lines: graph.lines(&all).len(),
        execution,
        // An execution ends where something is not lowered, and takes the ways that it takes.
        may_be_incomplete: !args.dynamic && !gaps.is_empty(),
        gaps,
    };
    if args.json {
        println!("{}", found.json());
    } else {
        let colour = crate::shown::colour();
        print!("{}", found.text(Style { colour }));
    }
    Ok(Exit::Found)
}

/// What slices of the program do not look into.
fn gaps_of(program: &Program) -> Vec<report::Gap> {
    let shown = |gap: dependence::Gap| {
        let file = gap.place.map_or(0, |(file, _)| file);
        let files = &program.modules[gap.module].files;
        report::Gap {
            path: files.get(file as usize).map(|file| shown_path(&file.path)),
            line: gap.place.map(|(_, line)| line).filter(|&line| line > 0),
            name: gap.name,
            reason: gap.reason,
        }
    };
    dependence::gaps(program).into_iter().map(shown).collect()
}

fn explain(error: &CriterionError, criterion: &Criterion) -> String {
    let (file, line) = (&criterion.file, criterion.line);
    match error {
        CriterionError::NoFile => format!("nothing of {file} is part of the program"),
        CriterionError::NoCode(near) => {
            let near: Vec<String> = near.iter().map(u32::to_string).collect();
            match near.is_empty() {
                true => format!("{file} has no code that can be executed"),
                false => format!(
                    "nothing on line {line} of {file} is executed; the nearest lines with code: {}",
                    near.join(", ")
                ),
            }
        }
        CriterionError::NoVariable(names) => format!(
            "`{}` has no value on line {line} of {file}; variables of its function: {}",
            criterion.variable.as_deref().unwrap_or_default(),
            names.join(", ")
        ),
    }
}

/// Executes the program; the slice, empty if the criterion was not executed.
fn execute(
    args: &SliceArgs,
    graph: &Graph<'_>,
    first: &OsString,
    criterion: &[VertexId],
) -> Result<(Bits, report::Execution), String> {
    let mut recorder = Recorder::new(graph, MOST_DEPENDENCES);
    let mut world = Host::new(None).with_output_on_standard_error();
    let modules = graph.program().modules.clone();
    let mut machine =
        Machine::link(modules, Limits::default(), &mut world).map_err(|e| e.to_string())?;
    machine.observe(&mut recorder);
    let mut words = vec![program_name(first).into_vec()];
    words.extend(args.arguments.iter().cloned().map(OsStringExt::into_vec));
    let outcome = machine.run(&words, &environment());
    drop(machine);
    if recorder.is_full() {
        return Err(format!(
            "the execution is too long: it has more than {MOST_DEPENDENCES} dependences; give the program a smaller input"
        ));
    }
    let occurrence = match args.every {
        true => Occurrence::Every,
        false => Occurrence::Last,
    };
    let (instructions, _) = recorder.size();
    let found = recorder.slice(criterion, occurrence, args.relevant);
    let ending = match &outcome.ending {
        Ending::Exit(status) => format!("the program ended with status {status}"),
        Ending::Abort => "the program was aborted".to_owned(),
        Ending::Assumption => "an assumption does not hold".to_owned(),
        Ending::Undefined { kind, message } => {
            format!("undefined behaviour: {}: {message}", kind.code())
        }
        Ending::Unsupported(reason) => format!("not supported: {reason}"),
        Ending::Limit(what) => format!("the limit of {what} is reached"),
    };
    let how = report::Execution {
        instructions,
        in_slice: found.instances,
        occurrences: found.occurrences,
        ending,
    };
    Ok((found.vertices, how))
}

fn by_files(
    graph: &Graph<'_>,
    sources: &[Source],
    slice: &Bits,
    criterion: &[VertexId],
) -> Vec<report::File> {
    let marked: BTreeSet<Line> = criterion
        .iter()
        .filter_map(|&id| graph.line_of(id))
        .collect();
    let mut files: BTreeMap<(usize, u32), Vec<report::Line>> = BTreeMap::new();
    for &line in graph.lines(slice).keys() {
        let text = match line.file {
            0 => String::from_utf8_lossy(&sources[line.module].text)
                .lines()
                .nth(line.line as usize - 1)
                .unwrap_or_default()
                .to_owned(),
            // Headers are not read again.
            _ => String::new(),
        };
        files
            .entry((line.module, line.file))
            .or_default()
            .push(report::Line {
                line: line.line,
                function: graph.function_at(line).map(str::to_owned),
                criterion: marked.contains(&line),
                text,
            });
    }
    files
        .into_iter()
        .map(|((module, file), lines)| report::File {
            path: shown_path(&graph.program().modules[module].files[file as usize].path),
            lines,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_a_line_and_perhaps_a_variable() {
        let plain = parse("src/a.c:12").expect("a place");
        assert_eq!(
            (plain.file.as_str(), plain.line, plain.variable),
            ("src/a.c", 12, None)
        );
        let named = parse("a:b.c:3:n").expect("a place");
        assert_eq!(named.file, "a:b.c");
        assert_eq!((named.line, named.variable.as_deref()), (3, Some("n")));
        for wrong in ["a.c", "a.c:", "a.c:x", "a.c:0", ":3", "a.c:3:"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
