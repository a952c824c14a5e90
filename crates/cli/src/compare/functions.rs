//! Compares the changed functions of a file of two revisions, or of projects without a known program, one
//! after the other.

use std::time::Instant;

use patchwright_exec::{CancelToken, Scratch, files, hash_files};
use patchwright_text::Hasher;

use super::{
    USUAL_TIME, Work,
    arguments::CompareArgs,
    named::{self, Named, What},
    parts::{self, Found, Told, Unit},
    print, revisions, two,
};
use crate::{Exit, encoded::Problem, shards::PartFile};

/// Returns the functions of a file that are compared one by one; `None` if its program or a named function is compared.
pub(super) fn functions(
    args: &CompareArgs,
    revisions: &revisions::Revisions,
) -> Result<Option<Vec<String>>, Problem> {
    let Some(functions) = &revisions.functions else {
        return Ok(None);
    };
    if args.function.is_some() || revisions::has_main(&revisions.versions[1])? {
        return Ok(None);
    }
    if functions.is_empty() {
        let [old, new] = revisions.versions.each_ref().map(|path| files::read(path));
        let (old, new) = (old.map_err(Problem::of)?, new.map_err(Problem::of)?);
        let [shown, _] = &revisions.shown;
        return match old == new {
            true => Ok(Some(Vec::new())),
            false => Err(Problem::Input(format!(
                "{shown}: no function of both revisions has a changed body; name a function that uses the change with --function"
            ))),
        };
    }
    Ok(Some(functions.clone()))
}

/// Returns the functions of two C files that are compared one by one. `None` if the files are programs, or if the user names a function.
pub(super) fn of_files(
    args: &CompareArgs,
    named: &[Named],
) -> Result<Option<Vec<String>>, Problem> {
    let [old, new] = named else {
        return Ok(None);
    };
    let (What::File(old_file, _), What::File(new_file, _)) = (&old.what, &new.what) else {
        return Ok(None);
    };
    if args.function.is_some() || args.native || args.seeds.is_some() {
        return Ok(None);
    }
    if revisions::has_main(old_file)? || revisions::has_main(new_file)? {
        return Ok(None);
    }
    let texts = [files::read(old_file), files::read(new_file)];
    let [old_text, new_text] = texts.map(|text| text.map_err(Problem::of));
    let (old_text, new_text) = (old_text?, new_text?);
    if old_text == new_text {
        return Ok(Some(Vec::new()));
    }
    let functions = named::functions_between(new_file, [old_text, new_text]);
    match functions.is_empty() {
        true => Err(Problem::Input(format!(
            "{} and {} define no `main`, and no function of both has a changed body; name a function that uses the change with --function",
            old.shown, new.shown
        ))),
        false => Ok(Some(functions)),
    }
}

/// Compares functions of two files, one after the other. One that cannot be compared does not keep others from it.
pub(super) fn each_function(
    args: &CompareArgs,
    functions: &[String],
    named: &[Named],
    scratch: &Scratch,
    cancel: &CancelToken,
) -> Result<Vec<Exit>, Problem> {
    let (mut exits, mut problem) = (Vec::new(), None);
    if functions.is_empty() && !args.json {
        print("Both versions have the same text.\n")?;
    }
    for (at, function) in functions.iter().enumerate() {
        let own = CompareArgs {
            function: Some(function.clone()),
            ..args.clone()
        };
        let mut work = Work {
            args: &own,
            scratch,
            cancel,
            number: at,
            told: Told::default(),
        };
        match work.pair([&named[0], &named[1]], functions.len() > 1, &mut None) {
            Ok(exit) => exits.push(exit),
            Err(Problem::Input(message)) => {
                eprintln!("patchwright: warning: {}", not_compared(function, &message));
                problem = Some(message);
            }
            Err(Problem::Interrupted) => exits.push(Exit::Interrupted),
        }
        if cancel.is_cancelled() {
            break;
        }
    }
    match problem {
        Some(message) if exits.is_empty() => Err(Problem::Input(message)),
        _ => Ok(exits),
    }
}

fn not_compared(function: &str, message: &str) -> String {
    format!("`{function}` is not compared: {message}")
}

/// Compares the functions of this part of a run, and writes what is found out: those of two files, or of two projects.
pub(super) fn part(
    args: &CompareArgs,
    functions: Option<&[String]>,
    named: &[Named],
    scratch: &Scratch,
    cancel: &CancelToken,
) -> Result<Vec<Exit>, Problem> {
    let [old, new] = named else {
        return Err(parts::indivisible());
    };
    let pair = [old, new];
    let work = Work {
        args,
        scratch,
        cancel,
        number: 0,
        told: Told::default(),
    };
    if functions.is_none() && (old.is_file() || !work.is_of_functions(pair)) {
        return Err(parts::indivisible());
    }
    let Some(file) = PartFile::begin(&args.sharding).map_err(Problem::of)? else {
        return Ok(Vec::new());
    };
    let (mut made, all) = match functions {
        Some(functions) => (None, functions.to_vec()),
        None => {
            let made = work.built(pair)?;
            let all = two(&made).map(named::changed_functions);
            (Some(made), all.unwrap_or_default())
        }
    };
    let texts = pair.map(|named| match &named.what {
        What::File(file, _) => files::read(file).map_err(Problem::of),
        What::Project(project, _) => {
            let mut hasher = Hasher::new();
            let hashed = hash_files(project, &mut hasher).map_err(Problem::of);
            hashed.map(|()| hasher.finish().to_string().into_bytes())
        }
    });
    let [old_text, new_text] = texts;
    let key = parts::key(args, &all, &[old_text?, new_text?]);
    let is_project = made.is_some();
    let own: Vec<usize> = (0..all.len())
        .filter(|&number| file.shard.has(number))
        .collect();
    let end = Instant::now() + args.budget.unwrap_or(USUAL_TIME);
    let (mut exits, mut units) = (Vec::new(), Vec::new());
    for (done, &number) in own.iter().enumerate() {
        let function = &all[number];
        let left = end.saturating_duration_since(Instant::now());
        let own = CompareArgs {
            function: Some(function.clone()),
            budget: match is_project {
                true => Some(left / (own.len() - done) as u32),
                false => args.budget,
            },
            ..args.clone()
        };
        let mut work = Work {
            args: &own,
            scratch,
            cancel,
            number,
            told: Told::default(),
        };
        let of_several = is_project || all.len() > 1;
        let (status, warning) = match work.pair(pair, of_several, &mut made) {
            Ok(exit) => (Some(exit), None),
            Err(Problem::Input(message)) => {
                let warning = not_compared(function, &message);
                eprintln!("patchwright: warning: {warning}");
                (None, Some(warning))
            }
            Err(Problem::Interrupted) => (Some(Exit::Interrupted), None),
        };
        exits.extend(status);
        units.push(Unit {
            number,
            told: work.told,
            status: status.map(|exit| exit as u8),
            warning,
        });
        if cancel.is_cancelled() {
            break;
        }
    }
    if all.is_empty() && file.shard.number == 1 {
        let text = "Both versions have the same text.\n".to_owned();
        units.push(Unit {
            number: 0,
            told: Told {
                text,
                ..Told::default()
            },
            status: None,
            warning: None,
        });
    }
    let schema = (parts::SCHEMA, parts::VERSION);
    let written = file.write(schema, key, cancel.is_cancelled(), Found { units });
    written.map_err(Problem::of)?;
    Ok(exits)
}

impl Work<'_> {
    /// Nobody says which program of two projects is executed, nor which function is compared.
    pub(super) fn is_of_functions(&self, pair: [&Named; 2]) -> bool {
        let args = self.args;
        let has_program = match &pair[0].what {
            What::Project(project, _) => {
                args.description.program.is_some() || named::program_of(project).is_some()
            }
            What::File(..) => true,
        };
        !has_program && args.function.is_none() && !args.native && args.seeds.is_none()
    }

    /// Compares the functions of two projects that differ, one by one.
    pub(super) fn functions(&mut self, pair: [&Named; 2]) -> Result<Vec<Exit>, Problem> {
        let args = self.args;
        let mut made = Some(self.built(pair)?);
        let all = match made.as_deref().and_then(two) {
            Some(made) => named::changed_functions(made),
            None => Vec::new(),
        };
        if all.is_empty() {
            return Err(Problem::Input(format!(
                "no function that {} and {} both compile has a changed body; name a function that uses the change with --function, or the program to execute with --program, relative to the projects' folder",
                pair[0].shown, pair[1].shown
            )));
        }
        let end = Instant::now() + args.budget.unwrap_or(USUAL_TIME);
        let (mut exits, mut problem) = (Vec::new(), None);
        for (at, function) in all.iter().enumerate() {
            let left = end.saturating_duration_since(Instant::now());
            let own = CompareArgs {
                function: Some(function.clone()),
                budget: Some(left / (all.len() - at) as u32),
                ..args.clone()
            };
            let mut work = Work {
                args: &own,
                scratch: self.scratch,
                cancel: self.cancel,
                number: self.number,
                told: Told::default(),
            };
            let found = work.pair(pair, true, &mut made);
            self.number = work.number;
            match found {
                Ok(exit) => exits.push(exit),
                Err(Problem::Input(message)) => {
                    eprintln!("patchwright: warning: {}", not_compared(function, &message));
                    problem = Some(message);
                }
                Err(Problem::Interrupted) => exits.push(Exit::Interrupted),
            }
            if self.cancel.is_cancelled() {
                break;
            }
        }
        match problem {
            Some(message) if exits.is_empty() => Err(Problem::Input(message)),
            _ => Ok(exits),
        }
    }
}
