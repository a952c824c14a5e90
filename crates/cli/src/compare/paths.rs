//! Follows both versions along inputs, in a thread beside the bounded encoding. It can find differences
//! in programs that are too large for one formula.

use std::{
    cell::Cell,
    collections::BTreeSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use patchwright_compare::{
    Case, Extent, Followed, Found, Holder, Known, Paths, Side, Stop, Turning,
};
use patchwright_exec::CancelToken;
use patchwright_ir::{Module, Program, Value};
use patchwright_solve::{Assignment, Sort, Term, Terms};
use patchwright_symbolic::{Entry, Options, Shape, encode_along};

use super::read::Versions;
use crate::{encoded::Problem, signals};

/// What is written as terms sooner needs no paths.
const PATIENCE: Duration = Duration::from_millis(30);
/// How long somebody who waits for nothing else waits between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// Time to show what was found when somebody has interrupted.
const LAST: Duration = Duration::from_secs(5);
/// Instructions of one execution at most; where some need more, and all others are known, so many, and so on.
const MOST_INSTRUCTIONS: [u64; 3] = [400_000, 4_000_000, 40_000_000];
/// Numbers of the versions that inputs are made of at most, and how large they are at most.
const MOST_NUMBERS: usize = 24;
const MOST_NUMBER: u128 = 100_000;
/// Calls of one function within each other at most.
const MOST_RECURSION: u32 = 400;

/// The two versions and how to encode them, as the thread that follows single paths needs them.
pub struct Setup {
    /// OLD and NEW, with what is known of the library.
    pub modules: [Vec<Module>; 2],
    /// Where they begin.
    pub entries: [Entry; 2],
    /// How they are encoded, their prefixes aside.
    pub options: Options,
    /// The files of the versions, and the lines that have changed.
    pub changed: [(String, Vec<u32>); 2],
    /// Objects that hold pointers.
    pub holders: Vec<Holder>,
    /// Whole programs are compared.
    pub is_program: bool,
    pub extent: Extent,
    pub turning: Turning,
    /// What an earlier exploration found.
    pub known: Vec<Known>,
    /// Inputs to begin with.
    pub cases: Vec<Case>,
    /// Sequences of changed lines that are looked for.
    pub sequences: Vec<Vec<u32>>,
}

impl Setup {
    /// Prepares the exploration of two versions.
    pub fn of(versions: &Versions, options: Options, extent: Extent, turning: Turning) -> Setup {
        let both = &versions.both;
        Setup {
            modules: [0, 1].map(|side| vec![both[side].module(), versions.library.clone()]),
            entries: [0, 1].map(|side| both[side].entry.clone()),
            options: Options {
                recursion: MOST_RECURSION,
                instructions: MOST_INSTRUCTIONS[0],
                lazy: false,
                ..options
            },
            changed: [0, 1].map(|side| {
                let version = &both[side];
                (version.source().path.clone(), version.changed.clone())
            }),
            holders: versions.holders.clone(),
            is_program: matches!(both[0].entry, Entry::Main { .. }),
            extent,
            turning,
            known: Vec::new(),
            cases: Vec::new(),
            sequences: Vec::new(),
        }
    }
}

impl Setup {
    /// Whether both versions end without failing for an input that consists of these numbers.
    pub fn some_end(&self, numbers: &[u128], interrupt: &dyn Fn() -> bool) -> bool {
        let programs = self
            .modules
            .each_ref()
            .map(|modules| Program::link(modules.clone()));
        let [Ok(old), Ok(new)] = programs else {
            return false;
        };
        let mut terms = Terms::new();
        let mut inputs: Vec<Term> = Vec::new();
        for &number in numbers {
            let mut input = Assignment::new();
            for &variable in &inputs {
                if let Sort::Bits(width) = terms.sort(variable) {
                    input.set_bits(&terms, variable, number & (u128::MAX >> (128 - width)));
                }
            }
            let mut ends = |side: usize, program: &Program| {
                let options = Options {
                    prefix: ["old.", "new."][side].to_owned(),
                    ..self.options.clone()
                };
                let entry = &self.entries[side];
                let found = encode_along(program, entry, &options, &mut terms, &input, interrupt);
                found.is_ok_and(|found| {
                    inputs.extend(found.inputs.iter().map(|one| one.term));
                    let is = |term: &Term| terms.evaluate(*term, &input).truth();
                    let known = found.unknown.is_empty() && found.unwinding.is_empty();
                    let fails = found.failures.iter().any(|one| is(&one.condition));
                    known
                        && !fails
                        && is(&found.assumption)
                        && found.outcome.ends.is_some_and(|ends| is(&ends))
                })
            };
            let old = ends(0, &old);
            if ends(1, &new) && old {
                return true;
            }
        }
        false
    }
}

/// The state that the thread for formulas and the thread for single paths share.
#[derive(Default)]
pub struct Shared {
    /// Nobody needs the paths any more.
    pub is_over: AtomicBool,
    /// All paths are known, or as many differences as were asked for.
    pub is_done: AtomicBool,
    /// Everything is the same as far as the bound of loops goes: only what is beyond counts.
    pub is_beyond: AtomicBool,
    /// Seconds to the first difference.
    pub first: Mutex<Option<f64>>,
    /// What was found, to be kept.
    news: Mutex<Vec<Known>>,
}

impl Shared {
    /// Returns the results since the last call.
    pub fn news(&self) -> Vec<Known> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *news)
    }

    /// Returns when the first difference was found, in seconds since the start of the command.
    pub fn first(&self) -> Option<f64> {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Explores until everything is known, time is over, or the other thread is done.
///
/// # Errors
/// What the user can mend.
pub fn explore(
    setup: &Setup,
    shared: &Shared,
    cancel: &CancelToken,
    started: Instant,
    end: Option<Instant>,
) -> Result<Option<Found>, Problem> {
    while started.elapsed() < PATIENCE {
        std::thread::sleep(PATIENCE / 10);
        if shared.is_over.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    let programs = setup
        .modules
        .each_ref()
        .map(|modules| Program::link(modules.clone()));
    let [old, new] = programs;
    let programs = [old.map_err(Problem::of)?, new.map_err(Problem::of)?];
    let interrupt = || {
        cancel.is_cancelled()
            || shared.is_over.load(Ordering::Relaxed)
            || end.is_some_and(|end| Instant::now() >= end)
    };
    let options = |argument_numbers: bool, instructions: u64, side: Side| Options {
        prefix: format!("{}.", side.name().to_lowercase()),
        argument_numbers,
        instructions,
        ..setup.options.clone()
    };
    // Numbers that are read from arguments are any numbers, where nobody looks at the digits as well.
    let mut argument_numbers = true;
    let mut limits = MOST_INSTRUCTIONS.into_iter();
    let mut instructions = limits.next().unwrap_or(u64::MAX);
    loop {
        let limit = Cell::new(instructions);
        let mut follow = |terms: &mut _, side: Side, input: &_| {
            let at = usize::from(side == Side::New);
            let (program, entry) = (&programs[at], &setup.entries[at]);
            let options = options(argument_numbers, limit.get(), side);
            encode_along(program, entry, &options, terms, input, &interrupt)
        };
        let changed = setup.changed.each_ref();
        let mut followed = Followed {
            follow: &mut follow,
            is_program: setup.is_program,
            holders: &setup.holders,
            input: setup.options.input,
            changed: changed.map(|(file, lines)| (file.as_str(), lines.as_slice())),
        };
        let mut paths = Paths::new(setup.extent, setup.turning);
        paths.interactions(&setup.sequences);
        for known in &setup.known {
            if let Known::Path(values) = known {
                paths.seed(values);
            }
        }
        for case in &setup.cases {
            paths.seed(&values(case, &setup.entries[0]));
        }
        let mut tell = |_: &_| {
            let mut first = shared.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| started.elapsed().as_secs_f64());
        };
        let mut keep = |known: Known| {
            let mut all = shared.news.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(known);
        };
        let now_beyond = || interrupt() || shared.is_beyond.load(Ordering::Relaxed);
        let mut stop = paths
            .explore(&mut followed, &now_beyond, &mut tell, &mut keep)
            .map_err(Problem::of)?;
        if stop == Stop::Interrupted && !interrupt() && !paths.differs() {
            // Numbers that the versions know may be those of the rounds that count, and those may be many.
            limit.set(MOST_INSTRUCTIONS[1].max(instructions));
            for values in known_numbers(setup) {
                paths.seed(&values);
            }
            stop = paths
                .explore(&mut followed, &interrupt, &mut tell, &mut keep)
                .map_err(Problem::of)?;
        }
        if cancel.is_cancelled() {
            // What was found is looked at once more, and shown.
            signals::give_time(LAST);
        }
        if stop == Stop::Mixed && argument_numbers {
            argument_numbers = false;
            continue;
        }
        if stop == Stop::All
            && paths.is_cut_off()
            && !interrupt()
            && let Some(more) = limits.next()
        {
            instructions = more;
            continue;
        }
        shared.is_done.store(paths.is_settled(), Ordering::Relaxed);
        if shared.is_beyond.load(Ordering::Relaxed) && !paths.differs() && !paths.is_settled() {
            // It says less than what is known within the bound.
            return Ok(None);
        }
        // Whoever waits for this wants it soon.
        let last = Instant::now() + LAST / 2;
        let is_late = || cancel.is_cancelled() || Instant::now() >= last;
        let found = paths.finish(&mut followed, &is_late);
        return found.map(Some).map_err(Problem::of);
    }
}

/// Inputs of numbers alone that stand in the versions, and of those next to them: each for all parameters that are numbers, and
/// for one alone.
fn known_numbers(setup: &Setup) -> Vec<Vec<(String, u32, u128)>> {
    let Entry::Function { parameters, .. } = &setup.entries[1] else {
        return Vec::new();
    };
    let numbers: Vec<(String, u32)> = parameters
        .iter()
        .filter_map(|parameter| match parameter.shape {
            Shape::Scalar(ty) if ty.is_integer() => {
                Some((format!("input.{}", parameter.name), ty.size() as u32 * 8))
            }
            _ => None,
        })
        .collect();
    let mut known: BTreeSet<u128> = BTreeSet::new();
    for modules in &setup.modules {
        let own = modules.first().into_iter().flat_map(|one| &one.functions);
        for block in own.flat_map(|function| &function.blocks) {
            let instructions = block.instructions.iter();
            let operands = instructions.flat_map(|instruction| instruction.operands());
            for operand in operands.chain(block.terminator.operand()) {
                if let Value::Constant { ty, bits } = operand.value
                    && ty.is_integer()
                    && bits > 1
                    && bits < MOST_NUMBER
                {
                    known.extend([bits - 1, bits, bits + 1]);
                }
            }
        }
    }
    let mut all = Vec::new();
    for bits in known.into_iter().take(MOST_NUMBERS) {
        let of = |(name, width): &(String, u32)| {
            let mask = u128::MAX >> (128 - width);
            (name.clone(), *width, bits & mask)
        };
        all.push(numbers.iter().map(of).collect());
        if numbers.len() > 1 {
            all.extend(numbers.iter().map(|one| vec![of(one)]));
        }
    }
    all
}

/// Waits for a thread, and calls `look` at its results meanwhile.
pub fn wait<T>(thread: &std::thread::ScopedJoinHandle<'_, T>, mut look: impl FnMut()) {
    while !thread.is_finished() {
        look();
        std::thread::sleep(PAUSE);
    }
    look();
}

/// A case as values of inputs.
fn values(case: &Case, entry: &Entry) -> Vec<(String, u32, u128)> {
    let mut all = Vec::new();
    let mut add =
        |name: String, width: u32, bits: u128| all.push((format!("input.{name}"), width, bits));
    for (at, byte) in case.input.iter().enumerate() {
        add(format!("stdin[{at}]"), 8, u128::from(*byte));
    }
    add("stdin.length".to_owned(), 32, case.input.len() as u128);
    if let Entry::Main { longest, .. } = entry {
        for (number, word) in (1..).zip(&case.arguments) {
            for (at, byte) in word.iter().enumerate().take(*longest as usize) {
                add(format!("argv[{number}][{at}]"), 8, u128::from(*byte));
            }
            let text = String::from_utf8_lossy(word);
            let digits = text.trim_start();
            let end = digits.char_indices().position(|(at, letter)| {
                !(letter.is_ascii_digit() || at == 0 && "+-".contains(letter))
            });
            let number_text = &digits[..end.unwrap_or(digits.len())];
            if let Ok(value) = number_text.parse::<i64>() {
                add(
                    format!("atoi(argv[{number}])"),
                    32,
                    u128::from(value as u32),
                );
                add(
                    format!("atol(argv[{number}])"),
                    64,
                    u128::from(value as u64),
                );
            }
        }
    }
    all
}
