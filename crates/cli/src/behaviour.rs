//! `--compare`: executes all patches on the same inputs, and reports what they change. The user's answers
//! count like tests.

mod natural;
mod partitions;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{BufRead, IsTerminal},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_compare::{Case, Mutator, words};
use patchwright_exec::{CancelToken, Project, Scratch, Worker, files};
use patchwright_repair::RepairOutcome;
use patchwright_report::behaviour::{
    Answer, Behaviour, Distinguishing, Example, Group, Partitions, answers,
};
use patchwright_text::apply_edits;

use crate::{
    args::BehaviourArgs,
    compare::{
        named::{Builder, Made, program_of},
        native::{Built, Extent, Ran, Search},
        seen::{cases_of, ran, text},
        tests_of::joined,
    },
    encoded::Problem,
};
use partitions::Symbols;

/// Inputs that everything is executed with at most.
const MOST_INPUTS: usize = 4000;
/// Patches that are built and executed at most.
const MOST_PATCHES: usize = 20;
/// Groups whose pairs get an input.
const LEADING: usize = 4;
/// Questions that are asked at most.
const QUESTIONS: usize = 5;
/// This share of the time is for building the patches: the first ones are likelier than the rest.
const BUILDING: f64 = 0.4;
/// This share of what is left then is for executions, if partitions of all inputs can be made.
const EXECUTING: f64 = 0.5;
/// Wall-clock time of an execution at most.
const WALL: Duration = Duration::from_secs(5);
/// One that has less is not begun.
const LEAST_WALL: Duration = Duration::from_millis(50);

/// A function that changes a copy of the project.
pub type Changing<'a> = Box<dyn Fn(&Worker) -> Result<(), Problem> + 'a>;

/// A patch and how it changes a copy of the project.
pub struct Variant<'a> {
    /// What it is called, in messages.
    pub name: String,
    /// Changes a copy.
    pub change: Changing<'a>,
    /// How likely it is beside others, as far as its text tells: a patch that costs one more is a quarter as likely. 0 where nobody knows.
    pub weight: u64,
}

/// The weight of a patch of this cost.
fn weight(cost: u32) -> u64 {
    const MOST: u32 = 24;
    1 << (2 * MOST.saturating_sub(cost))
}

/// What is known of an input: the test that it was made of, and what the program does, without a patch and with each.
struct Row {
    of: String,
    case: Case,
    did: Vec<u32>,
}

/// Compares the behaviour of a repair's patches, and orders the patches by it.
pub fn of_repair(
    args: &BehaviourArgs,
    project: &Project,
    outcome: &mut RepairOutcome,
    scratch: &Scratch,
    cancel: &CancelToken,
    output: Option<&Path>,
) -> Option<Behaviour> {
    let patches = outcome.patches.clone();
    let variants: Vec<Variant<'_>> = patches
        .iter()
        .enumerate()
        .map(|(at, patch)| Variant {
            name: format!("patch {}", at + 1),
            weight: weight(patch.cost),
            change: Box::new(move |worker: &Worker| {
                let path = worker.sandbox.folder().join(&patch.file);
                let old = files::read(&path).map_err(Problem::of)?;
                let new = apply_edits(&old, &patch.edits).map_err(Problem::of)?;
                worker
                    .sandbox
                    .write(&patch.file, &new, None)
                    .map_err(Problem::of)
            }),
        })
        .collect();
    let (behaviour, order) = told(look(args, project, &variants, scratch, cancel, output))?;
    outcome.patches = order
        .into_iter()
        .map(|at| outcome.patches[at].clone())
        .collect();
    Some(behaviour)
}

/// Prints an error, and returns `None` so that the patches are reported as they were.
pub fn told<T>(result: Result<T, Problem>) -> Option<T> {
    match result {
        Ok(found) => Some(found),
        Err(Problem::Interrupted) => None,
        Err(Problem::Input(message)) => {
            eprintln!("patchwright: the patches' behaviour was not compared: {message}");
            None
        }
    }
}

/// Executes all variants. It returns the report and the order in which the patches are to be shown.
///
/// # Errors
/// What keeps them from being executed at all.
pub fn look(
    args: &BehaviourArgs,
    project: &Project,
    variants: &[Variant<'_>],
    scratch: &Scratch,
    cancel: &CancelToken,
    output: Option<&Path>,
) -> Result<(Behaviour, Vec<usize>), Problem> {
    let given = match &args.answers {
        None => Vec::new(),
        Some(file) => read_answers(file)?,
    };
    let begun = Instant::now();
    let budget = args.compare_budget;
    let end = begun + budget;
    let Some(program) = program_of(project) else {
        return Err(Problem::Input(
            "the project's tests are run by a driver, and it is not known how the program is executed; describe a program \
             and cases ([tests] program, cases)"
                .to_owned(),
        ));
    };
    let builder = Builder {
        scratch,
        cancel: cancel.clone(),
        program: Some(program.clone()),
        cflags: Vec::new(),
        covers: false,
    };
    let mut behaviour = Behaviour::default();
    let mut built: Vec<Built> = Vec::new();
    // Which patch each version has, the first none.
    let mut of: Vec<usize> = Vec::new();
    let weights: Vec<u64> = variants.iter().map(|variant| variant.weight).collect();
    let made = builder.made(
        project,
        Some(program.clone()),
        "the project",
        "without",
        &|_| Ok(()),
    )?;
    let words = words_of(&made.folder, &made.commands);
    let mut sources: Vec<Made> = Vec::new();
    let mut keep_built = |mut made: Made, built: &mut Vec<Built>| {
        if let Some(own) = made.built.take() {
            built.push(own);
            sources.push(made);
        }
    };
    keep_built(made, &mut built);
    if variants.len() > MOST_PATCHES {
        behaviour.notes.push(format!(
            "only the first {MOST_PATCHES} of {} patches were executed",
            variants.len()
        ));
    }
    for (at, variant) in variants.iter().enumerate().take(MOST_PATCHES) {
        if at > 1 && begun.elapsed() > budget.mul_f64(BUILDING) {
            behaviour.notes.push(format!(
                "only the first {at} of {} patches were executed before time ran out; give a larger --compare-budget",
                variants.len()
            ));
            break;
        }
        let name = format!("with-{at}");
        match builder.made(
            project,
            Some(program.clone()),
            &variant.name,
            &name,
            &variant.change,
        ) {
            Ok(made) => {
                keep_built(made, &mut built);
                of.push(at);
            }
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            Err(Problem::Input(message)) => behaviour.notes.push(message),
        }
    }
    let seeds = cases_of(project)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut known: HashMap<Ran, u32> = HashMap::new();
    let mut all: Vec<Ran> = Vec::new();
    let mut number = |ran: &Ran| -> u32 {
        let plain = plain(ran.clone());
        *known.entry(plain.clone()).or_insert_with(|| {
            all.push(plain);
            all.len() as u32 - 1
        })
    };
    let search = Search {
        versions: &mut built,
        seeds: seeds.iter().cloned().chain(natural::of(&seeds)).collect(),
        mutator: Mutator::new(1, words),
        shrinks: false,
    };
    let left = end.saturating_duration_since(Instant::now());
    let share = match sources[0].commands.len() {
        1 => EXECUTING,
        _ => 1.0,
    };
    let extent = Extent {
        end: Instant::now() + left.mul_f64(share),
        inputs: MOST_INPUTS,
        kinds: usize::MAX,
        patience: None,
        interrupt: &|| cancel.is_cancelled(),
        confirms: false,
    };
    let tally = search.run(&extent, &mut |of, case, ran| {
        rows.push(Row {
            of: of.to_owned(),
            case: case.clone(),
            did: ran.iter().map(&mut number).collect(),
        });
    })?;
    if !tally.unsteady.is_empty() {
        return Err(Problem::Input(format!(
            "the program does not always do the same with inputs like {}",
            tally.unsteady.join(", ")
        )));
    }
    let passing = passing(project, &seeds, &rows, &all);
    let mut look = Look {
        rows,
        all,
        partitions: vec![None; of.len()],
        weights: of.iter().map(|at| weights[*at]).collect(),
        of,
        passing,
        groups: Vec::new(),
        answers: Vec::new(),
    };
    look.group();
    let mut symbols = Symbols {
        project,
        scratch,
        cancel,
        end,
        number: 0,
    };
    look.partition(&mut symbols, &sources, &mut built)?;
    for answer in given {
        look.answer(&mut built, answer)?;
    }
    if args.ask {
        look.ask(output)?;
    }
    behaviour.answers = look.answers.len();
    let order = look.order(variants.len());
    look.tell(&mut behaviour, &order);
    Ok((behaviour, order))
}

/// How long something takes to be ended, and what it prints until then, is no behaviour.
fn plain(mut ran: Ran) -> Ran {
    if ran.endless {
        ran.output.clear();
        ran.errors.clear();
    }
    ran
}

fn read_answers(file: &Path) -> Result<Vec<Answer>, Problem> {
    let text = files::read(file).map_err(Problem::of)?;
    answers(&String::from_utf8_lossy(&text)).map_err(|(line, error)| {
        Problem::Input(format!(
            "{}:{line}: this is not an answer: {error}; write {{\"arguments\": [\"-5\"], \"input\": \"\", \"output\": \
             \"0\\n\", \"status\": 0}}",
            file.display()
        ))
    })
}

fn words_of(folder: &Path, commands: &[patchwright_exec::CompileCommand]) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for command in commands {
        if command.source().starts_with(folder)
            && let Ok(text) = files::read(command.source())
        {
            texts.push(text);
        }
    }
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    words(&[], &texts)
}

/// The tests that the program passes as it is, of those that were executed.
fn passing(
    project: &Project,
    seeds: &[(String, Case)],
    rows: &[Row],
    all: &[Ran],
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for test in project.tests.iter().flat_map(|tests| &tests.tests) {
        let patchwright_exec::TestKind::Case(expected) = &test.kind else {
            continue;
        };
        let Some((name, case)) = seeds.iter().find(|(name, _)| *name == test.name) else {
            continue;
        };
        let Some(row) = rows.iter().find(|row| row.case == *case) else {
            continue;
        };
        let ran = &all[row.did[0] as usize];
        let ends = format!("exit {}", expected.expected_code);
        if ran.ending == ends && ran.output == expected.expected_stdout {
            found.insert(name.clone());
        }
    }
    found
}

/// Versions that did the same for all inputs.
struct Members {
    /// Their numbers among the executed ones, from 1; 0 is the program without a patch.
    versions: Vec<usize>,
    changed: usize,
    changed_like_passing: usize,
    contradicts: Option<usize>,
}

struct Look {
    rows: Vec<Row>,
    /// Partitions of all inputs for each patch that was executed, where they are known.
    partitions: Vec<Option<Partitions>>,
    all: Vec<Ran>,
    of: Vec<usize>,
    /// See [`Variant::weight`].
    weights: Vec<u64>,
    passing: BTreeSet<String>,
    groups: Vec<Members>,
    answers: Vec<Answer>,
}

impl Look {
    fn group(&mut self) {
        let mut groups: Vec<(Vec<u32>, Members)> = Vec::new();
        for version in 1..=self.of.len() {
            let did: Vec<u32> = self.rows.iter().map(|row| row.did[version]).collect();
            if let Some((_, group)) = groups.iter_mut().find(|(other, _)| *other == did) {
                group.versions.push(version);
                continue;
            }
            let changed: Vec<&Row> = self
                .rows
                .iter()
                .filter(|row| row.did[version] != row.did[0])
                .collect();
            let like_passing = changed.iter().filter(|row| self.passing.contains(&row.of));
            let members = Members {
                versions: vec![version],
                changed: changed.len(),
                changed_like_passing: like_passing.count(),
                contradicts: None,
            };
            groups.push((did, members));
        }
        self.groups = groups.into_iter().map(|(_, group)| group).collect();
    }

    /// Adds what is known of all inputs, and executes inputs of the partitions that patches change, and such as tell
    /// members of one group apart.
    fn partition(
        &mut self,
        symbols: &mut Symbols<'_>,
        sources: &[Made],
        built: &mut [Built],
    ) -> Result<(), Problem> {
        let count = self.of.len();
        for version in 1..=count {
            let waiting = count - version;
            let Some(found) = symbols.of_patch(&sources[0], &sources[version], waiting) else {
                continue;
            };
            self.partitions[version - 1] = Some(found.told);
            for case in found.cases {
                self.execute_until(symbols.end, case, built)?;
            }
        }
        let ranked = self.ranked();
        let leading: Vec<(usize, usize)> = ranked
            .into_iter()
            .take(LEADING)
            .filter_map(|group| match self.groups[group].versions[..] {
                [first, second, ..] => Some((first, second)),
                _ => None,
            })
            .collect();
        for (at, &(one, other)) in leading.iter().enumerate() {
            let waiting = leading.len() - at - 1;
            if let Some(case) = symbols.apart(&sources[one], &sources[other], waiting) {
                self.execute_until(symbols.end, case, built)?;
            }
        }
        self.group();
        Ok(())
    }

    /// Executes all versions with one more input, unless that takes longer than there is time.
    fn execute_until(
        &mut self,
        end: Instant,
        case: Case,
        built: &mut [Built],
    ) -> Result<(), Problem> {
        if self.rows.iter().any(|row| row.case == case) {
            return Ok(());
        }
        let wall = WALL.min(end.saturating_duration_since(Instant::now()) / built.len() as u32);
        if wall < LEAST_WALL {
            return Ok(());
        }
        let mut all = Vec::new();
        for version in built.iter_mut() {
            all.push(plain(version.run(&case, wall)?));
        }
        // It may have been ended for want of time.
        if wall < WALL && all.iter().any(|ran| ran.endless) {
            return Ok(());
        }
        let mut did = Vec::new();
        for ran in all {
            let known = self.all.iter().position(|other| *other == ran);
            did.push(known.unwrap_or(self.all.len()) as u32);
            if known.is_none() {
                self.all.push(ran);
            }
        }
        self.rows.push(Row {
            of: String::new(),
            case,
            did,
        });
        Ok(())
    }

    /// Returns the numbers of the groups in the order of the report. Four measures decide, the first difference counts:
    ///
    /// 1. Groups that no answer of the user contradicts come first.
    /// 2. Fewer inputs near passing tests for which the group changes the program.
    /// 3. Fewer changed partitions of all inputs.
    /// 4. A greater summed likelihood of the group's patches. Behaviour on which several patches agree rarely overfits.
    ///
    /// Measures 2 to 4 are compared by their power of two, because small differences say nothing.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|&at| {
            let group = &self.groups[at];
            let halves = (group.changed_like_passing + 1).ilog2();
            let own = self.partitions[group.versions[0] - 1];
            let partitions = own.map_or(0, |one| (one.changed + 1).ilog2());
            let weights = group
                .versions
                .iter()
                .map(|version| self.weights[version - 1]);
            let likely = weights.sum::<u64>().checked_ilog2();
            let first = group.versions[0];
            (
                group.contradicts.is_some(),
                halves,
                partitions,
                Reverse(likely),
                first,
            )
        });
        order
    }

    /// The patches in the order of the report; those that could not be executed come last.
    fn order(&self, patches: usize) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        for at in self.ranked() {
            let versions = self.groups[at].versions.iter();
            order.extend(versions.map(|version| self.of[version - 1]));
        }
        let rest: Vec<usize> = (0..patches).filter(|at| !order.contains(at)).collect();
        order.extend(rest);
        order
    }

    /// What somebody says of an input.
    fn answer(&mut self, built: &mut [Built], answer: Answer) -> Result<(), Problem> {
        let case = Case {
            arguments: answer
                .arguments
                .iter()
                .map(|word| word.clone().into_bytes())
                .collect(),
            input: answer.input.clone().into_bytes(),
            files: Vec::new(),
        };
        let number = self.answers.len() + 1;
        for group in &mut self.groups {
            let ran = built[group.versions[0]].run(&case, WALL)?;
            if !is_right(&ran, &answer) && group.contradicts.is_none() {
                group.contradicts = Some(number);
            }
        }
        self.answers.push(answer);
        Ok(())
    }

    /// The input that tells most of the groups apart that nobody contradicts, and is small.
    fn question(&self) -> Option<usize> {
        let open: Vec<usize> = self
            .groups
            .iter()
            .filter(|group| group.contradicts.is_none())
            .map(|group| group.versions[0])
            .collect();
        let mut best: Option<(usize, usize, usize)> = None;
        for (at, row) in self.rows.iter().enumerate() {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for &version in &open {
                *counts.entry(row.did[version]).or_default() += 1;
            }
            if counts.len() < 2 {
                continue;
            }
            let left = counts.values().copied().max().unwrap_or(0);
            let key = (left, size(&row.case), at);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map(|(_, _, at)| at)
    }

    /// Asks the user.
    fn ask(&mut self, output: Option<&Path>) -> Result<(), Problem> {
        if !std::io::stdin().is_terminal() {
            return Err(Problem::Input(
                "--ask needs a terminal; give answers with --answers".to_owned(),
            ));
        }
        for _ in 0..QUESTIONS {
            let Some(at) = self.question() else {
                break;
            };
            let row = &self.rows[at];
            let mut choices: Vec<(u32, Vec<usize>)> = Vec::new();
            for at in self.ranked() {
                let group = &self.groups[at];
                if group.contradicts.is_some() {
                    continue;
                }
                let did = row.did[group.versions[0]];
                let numbers = group
                    .versions
                    .iter()
                    .map(|version| self.of[version - 1] + 1);
                match choices.iter_mut().find(|(other, _)| *other == did) {
                    Some((_, all)) => all.extend(numbers),
                    None => choices.push((did, numbers.collect())),
                }
            }
            eprintln!("\nWhich is right for {}?", shown(&row.case));
            for (number, (did, patches)) in (1..).zip(&choices) {
                let patches: Vec<String> = patches.iter().map(usize::to_string).collect();
                let ran = &self.all[*did as usize];
                eprintln!(
                    "  {number}: {:?}, {}   (patches {})",
                    text(&ran.output),
                    ran.ending,
                    patches.join(", ")
                );
            }
            eprint!("A number, 0 for none of them, nothing if you do not know: ");
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            let line = line.trim().to_owned();
            if read.map_or(true, |bytes| bytes == 0) || line.is_empty() {
                break;
            }
            let number: usize = line
                .parse()
                .map_err(|_| Problem::Input(format!("`{line}` is not one of the numbers")))?;
            let right = match number {
                0 => None,
                _ => match choices.get(number - 1) {
                    Some((did, _)) => Some(*did),
                    None => {
                        return Err(Problem::Input(format!(
                            "`{line}` is not one of the numbers"
                        )));
                    }
                },
            };
            let case = row.case.clone();
            let answered = self.answers.len() + 1;
            let did: Vec<u32> = row.did.clone();
            for group in &mut self.groups {
                let wrong = right.is_none_or(|right| did[group.versions[0]] != right);
                if wrong && group.contradicts.is_none() {
                    group.contradicts = Some(answered);
                }
            }
            if let Some(right) = right {
                let ran = &self.all[right as usize];
                let status = ran
                    .ending
                    .strip_prefix("exit ")
                    .and_then(|status| status.parse().ok());
                let answer = Answer {
                    arguments: case.arguments.iter().map(|word| text(word)).collect(),
                    input: text(&case.input),
                    output: text(&ran.output),
                    status: status.unwrap_or(0),
                };
                keep(output, answered, &case, &ran.output, answer.status)?;
                self.answers.push(answer);
            }
        }
        Ok(())
    }

    fn tell(&self, behaviour: &mut Behaviour, order: &[usize]) {
        behaviour.inputs = self.rows.len();
        let like = self
            .rows
            .iter()
            .filter(|row| self.passing.contains(&row.of));
        behaviour.like_passing = like.count();
        let place = |version: &usize| {
            let patch = self.of[*version - 1];
            order
                .iter()
                .position(|at| *at == patch)
                .map_or(0, |at| at + 1)
        };
        let ranked = self.ranked();
        for &at in &ranked {
            let group = &self.groups[at];
            let version = group.versions[0];
            let differing = self
                .rows
                .iter()
                .filter(|row| row.did[version] != row.did[0]);
            let smallest = differing.min_by_key(|row| size(&row.case));
            behaviour.groups.push(Group {
                patches: group.versions.iter().map(place).collect(),
                changed: group.changed,
                changed_like_passing: group.changed_like_passing,
                example: smallest.map(|row| Example {
                    arguments: row.case.arguments.iter().map(|word| text(word)).collect(),
                    input: text(&row.case.input),
                    old: ran(&self.all[row.did[0] as usize]),
                    new: ran(&self.all[row.did[version] as usize]),
                }),
                partitions: self.partitions[version - 1],
                contradicts: group.contradicts,
            });
        }
        let leading: Vec<usize> = ranked.into_iter().take(LEADING).collect();
        for (at, &one) in leading.iter().enumerate() {
            for &other in &leading[at + 1..] {
                let [a, b] = [one, other].map(|group| self.groups[group].versions[0]);
                let differing = self.rows.iter().filter(|row| row.did[a] != row.did[b]);
                if let Some(row) = differing.min_by_key(|row| size(&row.case)) {
                    behaviour.distinguishing.push(Distinguishing {
                        patches: [place(&a), place(&b)],
                        arguments: row.case.arguments.iter().map(|word| text(word)).collect(),
                        input: text(&row.case.input),
                        outputs: [a, b].map(|version| ran(&self.all[row.did[version] as usize])),
                    });
                }
            }
        }
    }
}

fn size(case: &Case) -> usize {
    let arguments = case.arguments.iter().map(|word| word.len() + 1);
    arguments.sum::<usize>() + case.input.len()
}

fn shown(case: &Case) -> String {
    let arguments: Vec<String> = case.arguments.iter().map(|word| text(word)).collect();
    patchwright_report::behaviour::input(&arguments, &text(&case.input))
}

fn is_right(ran: &Ran, answer: &Answer) -> bool {
    ran.output == answer.output.as_bytes() && ran.ending == format!("exit {}", answer.status)
}

/// Writes an answer as a test.
fn keep(
    output: Option<&Path>,
    number: usize,
    case: &Case,
    expected: &[u8],
    status: i32,
) -> Result<(), Problem> {
    let Some(folder) = output else {
        return Ok(());
    };
    let folder: PathBuf = folder.join("tests");
    files::create_output_folder(&folder).map_err(Problem::of)?;
    let write = |ending: &str, contents: &[u8]| {
        let path = folder.join(format!("answer-{number}.{ending}"));
        files::write_atomic(&path, contents).map_err(Problem::of)
    };
    write("in", &case.input)?;
    write("args", &joined(&case.arguments)?)?;
    write("out", expected)?;
    if status != 0 {
        write("code", status.to_string().as_bytes())?;
    }
    Ok(())
}
