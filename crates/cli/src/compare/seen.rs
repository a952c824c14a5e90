//! Searches for differences by executions: the first inputs, and the report.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_compare::{Case, Mutator, words};
use patchwright_exec::{CancelToken, Project, TestKind, files};
use patchwright_report::comparison::{self, Executions};

use super::{
    arguments::CompareArgs,
    cover::{Changed, lines_round},
    named::{Made, Named, What, functions_between},
    native::{Built, Extent, Ran, Search, Tally},
    recorded,
    symbolic::Compared,
};
use crate::encoded::Problem;

/// Kinds of differences that are looked for at most.
const KINDS: usize = 6;
/// Once something was found, so long it is looked for something else.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of sources whose words are used.
const MOST_SOURCE: usize = 1 << 20;

/// Searches for inputs for which two versions differ when they are executed.
pub fn search(
    args: &CompareArgs,
    pair: [&Named; 2],
    made: &mut [Made],
    cancel: &CancelToken,
    end: Instant,
) -> Result<Tally, Problem> {
    let (words, near) = words_of(pair, made);
    tell_what_changed(pair, made);
    let mut seeds = seeds(args, pair[0])?;
    if let (true, What::Project(project, _)) = (seeds.is_empty(), &pair[0].what) {
        let now = Instant::now();
        let half = now + end.saturating_duration_since(now) / 2;
        seeds = recorded::calls(project, &mut made[0], half, cancel)?;
    }
    let has_tests = !seeds.is_empty();
    if !has_tests {
        seeds = nothing_known(args);
    }
    let mut versions: Vec<Built> = Vec::new();
    for (made, named) in made.iter_mut().zip(pair) {
        match made.built.take() {
            Some(built) => versions.push(built),
            None => {
                return Err(Problem::Input(format!(
                    "{}: it is not known which program to execute; name it with --program, relative to the project's \
                     folder, and inputs with --seeds, or a function with --function",
                    named.shown
                )));
            }
        }
    }
    let search = Search {
        versions: &mut versions,
        seeds,
        mutator: Mutator::new(1, words).with_near(near),
        shrinks: true,
    };
    let extent = Extent {
        end,
        inputs: args.executions,
        kinds: KINDS,
        patience: args.budget.is_none().then_some(PATIENCE),
        interrupt: &|| cancel.is_cancelled(),
        confirms: true,
    };
    let mut tally = search.run(&extent, &mut |_, _, _| {})?;
    if !has_tests {
        tally.of_tests = 0;
    }
    Ok(tally)
}

/// Tells both versions what of theirs has changed, so that inputs are preferred that come near to it.
fn tell_what_changed(pair: [&Named; 2], made: &mut [Made]) {
    let [old, new] = made else {
        return;
    };
    let mut lines = [BTreeMap::new(), BTreeMap::new()];
    let mut functions = BTreeSet::new();
    for (relative, texts) in sources_of(pair, [old, new]) {
        if texts[0] != texts[1] {
            functions.extend(functions_between(&relative, texts.clone()));
            lines[0].insert(relative.clone(), lines_round(&texts[0], &texts[1]));
            lines[1].insert(relative, lines_round(&texts[1], &texts[0]));
        }
    }
    for (made, lines) in [old, new].into_iter().zip(lines) {
        if let Some(cover) = made.built.as_mut().and_then(|built| built.cover.as_mut()) {
            cover.set_changed(Changed {
                lines,
                functions: functions.clone(),
            });
        }
    }
}

/// The sources that both versions compile, by their paths from the root.
fn sources_of(pair: [&Named; 2], made: [&Made; 2]) -> Vec<(PathBuf, [Vec<u8>; 2])> {
    if let (What::File(old, _), What::File(new, _)) = (&pair[0].what, &pair[1].what) {
        return match (files::read(old), files::read(new)) {
            (Ok(old), Ok(new)) => vec![(PathBuf::from("program.c"), [old, new])],
            _ => Vec::new(),
        };
    }
    let mut all = Vec::new();
    for command in &made[1].commands {
        let Ok(relative) = command.source().strip_prefix(&made[1].folder) else {
            continue;
        };
        if let (Ok(old), Ok(new)) = (
            files::read(&made[0].folder.join(relative)),
            files::read(command.source()),
        ) {
            all.push((relative.to_path_buf(), [old, new]));
        }
    }
    all
}

/// Words of what differs between both versions, then of the rest; and how many of the former there are.
fn words_of(pair: [&Named; 2], made: &[Made]) -> (Vec<Vec<u8>>, usize) {
    let mut changed: Vec<u8> = Vec::new();
    let mut rest: Vec<Vec<u8>> = Vec::new();
    let mut total = 0;
    let mut add = |old: Vec<u8>, new: Vec<u8>| {
        if old != new {
            for (one, other) in [(&old, &new), (&new, &old)] {
                let lines: Vec<&[u8]> = one.split(|byte| *byte == b'\n').collect();
                for line in patchwright_compare::changed_lines(one, other) {
                    // And what stands near.
                    let from = (line as usize).saturating_sub(4);
                    for near in &lines[from..(line as usize + 3).min(lines.len())] {
                        changed.extend_from_slice(near);
                        changed.push(b'\n');
                    }
                }
            }
        }
        total += new.len();
        if total < MOST_SOURCE {
            rest.push(new);
        }
    };
    if let [old, new] = made {
        let mut both = sources_of(pair, [old, new]);
        both.sort_by_key(|(_, texts)| texts[0] == texts[1]);
        for (_, [one, other]) in both {
            add(one, other);
        }
    }
    let rest: Vec<&[u8]> = rest.iter().map(Vec::as_slice).collect();
    let near = words(&changed, &[]).len();
    (words(&changed, &rest), near)
}

/// Inputs where nobody gives any.
fn nothing_known(args: &CompareArgs) -> Vec<(String, Case)> {
    /// The largest number of arguments that are tried without `--arguments`.
    const MOST_ARGUMENTS: usize = 3;
    let counts = match args.arguments {
        Some(count) => vec![usize::try_from(count).unwrap_or(0)],
        None => (0..=MOST_ARGUMENTS).collect(),
    };
    let mut all = Vec::new();
    for count in counts {
        let case = |word: &[u8], input: &[u8]| Case {
            arguments: vec![word.to_vec(); count],
            input: input.to_vec(),
            files: Vec::new(),
        };
        let name = |text: &str| match count {
            0 => text.to_owned(),
            count => format!("{text} and {count} arguments"),
        };
        all.push((name("nothing"), case(b"", b"")));
        for text in ["1", "a", "0\n", "12 -3 7\n", "hello world\n", "a b\nc d\n"] {
            let told = name(&format!("{text:?}"));
            all.push((told, case(text.trim().as_bytes(), text.as_bytes())));
        }
    }
    all
}

/// Returns the inputs of a project's cases.
pub fn cases_of(project: &Project) -> Result<Vec<(String, Case)>, Problem> {
    let mut all = Vec::new();
    for test in project.tests.iter().flat_map(|tests| &tests.tests) {
        let TestKind::Case(case) = &test.kind else {
            continue;
        };
        use std::os::unix::ffi::OsStrExt;
        let input = match &case.stdin {
            Some(file) => files::read(file).map_err(Problem::of)?,
            None => Vec::new(),
        };
        let arguments = case.arguments.iter();
        all.push((
            test.name.clone(),
            Case {
                arguments: arguments.map(|word| word.as_bytes().to_vec()).collect(),
                input,
                files: Vec::new(),
            },
        ));
    }
    Ok(all)
}

/// Returns the inputs to execute first: those of `--seeds`, else the cases of the project, or those of
/// the C file (`--cases`, or the folder `cases` beside it).
///
/// # Errors
/// A folder that was named and has none.
pub fn seeds(args: &CompareArgs, old: &Named) -> Result<Vec<(String, Case)>, Problem> {
    if let Some(folder) = &args.seeds {
        return cases_in("--seeds", folder);
    }
    match (&old.what, &args.description.cases) {
        (What::Project(project, _), _) => cases_of(project),
        (What::File(..), Some(folder)) => cases_in("--cases", folder),
        (What::File(file, _), None) => {
            let beside = file.parent().map(|folder| folder.join("cases"));
            let beside = beside.filter(|folder| has_inputs(folder));
            beside.map_or(Ok(Vec::new()), |folder| cases_in("cases", &folder))
        }
    }
}

/// Whether a folder has inputs of cases.
fn has_inputs(folder: &Path) -> bool {
    let paths = files::regular_files_below(folder).unwrap_or_default();
    paths.iter().any(|path| is_input(path))
}

/// Whether a file is what a case gives to a program.
fn is_input(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("in" | "args"))
}

/// The inputs in a folder that was named by `flag`.
///
/// # Errors
/// When there are none.
fn cases_in(flag: &str, folder: &Path) -> Result<Vec<(String, Case)>, Problem> {
    if !folder.is_dir() {
        return Err(Problem::Input(format!(
            "{flag} {}: there is no such folder; it holds NAME.in and NAME.args for each input, or files that are \
             standard input",
            folder.display()
        )));
    }
    let mut paths = files::regular_files_below(folder).map_err(Problem::of)?;
    paths.sort();
    let ending = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.map(str::to_owned)
    };
    let has_parts = paths.iter().any(|path| is_input(path));
    let mut all: Vec<(String, Case)> = Vec::new();
    for path in &paths {
        if has_parts && !is_input(path) {
            continue;
        }
        let text = files::read(path).map_err(Problem::of)?;
        let own = path.strip_prefix(folder).unwrap_or(path);
        let name = match has_parts {
            true => own.with_extension("").display().to_string(),
            false => own.display().to_string(),
        };
        let at = match all.iter().position(|(other, _)| *other == name) {
            Some(at) => at,
            None => {
                all.push((name.clone(), Case::default()));
                all.len() - 1
            }
        };
        match ending(path).as_deref() {
            Some("args") if has_parts => {
                let text = String::from_utf8_lossy(&text).into_owned();
                let words = shlex::split(&text).ok_or_else(|| {
                    Problem::Input(format!("{}: a quote is open at its end", path.display()))
                })?;
                all[at].1.arguments = words.into_iter().map(String::into_bytes).collect();
            }
            _ => all[at].1.input = text,
        }
    }
    if all.is_empty() {
        return Err(Problem::Input(format!(
            "{flag} {}: the folder is empty",
            folder.display()
        )));
    }
    Ok(all)
}

/// Adds the differences that were seen to a report.
pub fn tell(compared: &mut Compared, tally: &Tally) {
    let report = &mut compared.report;
    report.executions = Some(Executions {
        inputs: tally.inputs,
        of_tests: tally.of_tests,
        differing: tally.differing,
        unsteady: tally.unsteady.clone(),
    });
    for seen in &tally.seen {
        report.seen.push(comparison::Seen {
            arguments: seen.case.arguments.iter().map(|word| text(word)).collect(),
            input: text(&seen.case.input),
            files: {
                let files = seen.case.files.iter();
                files.map(|(name, held)| (text(name), text(held))).collect()
            },
            of: seen.of.clone(),
            old: ran(&seen.ran[0]),
            new: ran(&seen.ran[seen.ran.len() - 1]),
            seconds: seen.after,
        });
    }
    // What was executed may have more arguments, and longer ones, than what was proved is about.
    let says_nothing = !matches!(report.verdict.as_str(), "different" | "void");
    let is_executed = compared.answer == super::symbolic::Answer::Executed;
    if !tally.seen.is_empty() && says_nothing {
        report.verdict = "seen-different".to_owned();
    } else if is_executed {
        report.verdict = "not-seen".to_owned();
    }
    compared.cases = tally.seen.clone();
}

/// Returns bytes as text, with invalid UTF-8 replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Converts an execution for the report.
pub fn ran(ran: &Ran) -> comparison::Ran {
    comparison::Ran {
        ending: ran.ending.clone(),
        output: text(&ran.output),
        errors: text(&ran.errors),
        written: {
            let written = ran.written.iter();
            written
                .map(|(name, held)| (text(name), held.as_deref().map(text)))
                .collect()
        },
    }
}
