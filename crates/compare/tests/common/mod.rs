//! Two versions of a function, read by clang, encoded and explored.
#![allow(clippy::disallowed_methods, reason = "a test's own files")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use patchwright_compare::{
    Explored, Explorer, Extent, Followed, Found, Holder, Kind, Known, Pair, Partition, Paths,
    Reason, Rounds, Side, Stop, Strategy, Together, Turning, Verdict, holders, reasons, verdict,
};
use patchwright_ir::Program;
use patchwright_lower::lower;
use patchwright_prove::{
    Source, Trusted,
    inputs::{Wishes, parameters},
};
use patchwright_solve::{Assignment, Budget, Term, Terms};
use patchwright_symbolic::{Check, Entry, Options, ParameterShape, encode, encode_along, library};
use patchwright_testkit::Reader;

fn with_reader<T>(work: impl FnOnce(&mut Reader) -> T) -> T {
    // A thread drops what is its own, with the folder of sources; nobody drops what is static.
    thread_local! {
        static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
    }
    READER.with_borrow_mut(|reader| work(reader.get_or_insert_with(Reader::new)))
}

/// The clang that sources are read with.
pub fn clang() -> String {
    let numbered = with_reader(|reader| format!("clang-{}", reader.clang.version));
    let starts = |name: &str| {
        let mut command = std::process::Command::new(name);
        command.arg("--version").output().is_ok()
    };
    match starts(&numbered) {
        true => numbered,
        false => "clang".to_owned(),
    }
}

/// How two versions are compared.
#[derive(Clone)]
pub struct Asked {
    /// The function; nothing for `main`.
    pub function: Option<&'static str>,
    pub lengths: Vec<(&'static str, u64)>,
    pub bound: u32,
    pub equal: usize,
    pub different: usize,
    /// Seconds after which exploration is interrupted, if it is.
    pub seconds: Option<u64>,
    /// Conflicts of a question to the solver at most.
    pub conflicts: Option<u64>,
    pub strategy: Strategy,
    /// What an earlier exploration found.
    pub known: Vec<Known>,
    /// Sequences of changed lines that are looked for.
    pub sequences: Vec<Vec<u32>>,
}

impl Asked {
    pub fn function(name: &'static str) -> Asked {
        Asked {
            function: Some(name),
            lengths: Vec::new(),
            bound: 10,
            equal: 1000,
            different: usize::MAX,
            seconds: None,
            conflicts: None,
            strategy: Strategy::Differences,
            known: Vec::new(),
            sequences: Vec::new(),
        }
    }

    pub fn program() -> Asked {
        Asked {
            function: None,
            ..Asked::function("main")
        }
    }
}

/// What came of it.
pub struct Answer {
    pub terms: Terms,
    pub pair: Pair,
    pub explored: Explored,
    pub reasons: Vec<Reason>,
    pub verdict: Verdict,
    /// What was found, for a later exploration.
    pub found: Vec<Known>,
}

impl Answer {
    /// The kind of each partition and its condition, in order.
    pub fn conditions(&self) -> Vec<(Kind, String)> {
        let all = self.explored.partitions.iter();
        all.map(|one| (one.kind, one.condition.join(" && ")))
            .collect()
    }

    /// The partition with this condition.
    pub fn with(&self, condition: &str) -> &Partition {
        let found = self.explored.partitions.iter();
        let mut found = found.filter(|one| one.condition.join(" && ") == condition);
        found
            .next()
            .unwrap_or_else(|| panic!("no `{condition}` in {:?}", self.conditions()))
    }
}

/// Compares, on a thread with a stack for nested calls.
pub fn compared(old: &str, new: &str, asked: &Asked) -> Answer {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || compare(old, new, asked))
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

/// Both versions, linked, and where they begin; objects that hold pointers.
struct Both {
    programs: Vec<(Program, Entry, Options)>,
    holders: Vec<Holder>,
    /// Where both are read.
    path: String,
}

fn both(old: &str, new: &str, asked: &Asked) -> Both {
    let mut programs = Vec::new();
    let mut holding = Vec::new();
    let mut place = String::new();
    for (prefix, text) in [("old.", old), ("new.", new)] {
        let (source, library) = with_reader(|reader| {
            let (unit, path) = reader.read("program.c", text);
            let source = Source {
                unit,
                path,
                trusted: Trusted::default(),
            };
            (source, library())
        });
        let module = lower(&source.unit, &source.path);
        place.clone_from(&source.path);
        let sources = [source];
        let lengths: BTreeMap<String, u64> = asked
            .lengths
            .iter()
            .map(|&(name, count)| (name.to_owned(), count))
            .collect();
        let entry = match asked.function {
            None => Entry::Main {
                arguments: 0,
                longest: 0,
            },
            Some(name) => {
                let shapes = {
                    let wishes = Wishes {
                        lengths,
                        ..Wishes::default()
                    };
                    parameters(&sources, name, &wishes).expect("parameters")
                };
                holding.extend(holders(&sources[0].unit, &shapes, None));
                Entry::Function {
                    name: name.to_owned(),
                    parameters: shapes,
                }
            }
        };
        let program = Program::link(vec![module, library]).expect("links");
        let options = Options {
            bound: asked.bound,
            recursion: asked.bound,
            checks: Check::ALL[..7].iter().copied().collect::<BTreeSet<_>>(),
            prefix: prefix.to_owned(),
            ..Options::default()
        };
        programs.push((program, entry, options));
    }
    Both {
        programs,
        holders: holding,
        path: place,
    }
}

/// What came of exploring path by path.
pub struct ByPaths {
    pub found: Found,
    /// The conditions of the pairs of paths, and whether all is known of them.
    pub paths: Vec<(Term, bool)>,
    /// Variables by the names of inputs.
    pub variables: Vec<(String, Term)>,
    pub stop: Stop,
    /// What was found, for a later exploration.
    pub known: Vec<Known>,
}

/// Compares path by path, as [`compared`]. `changed` are the lines that have changed.
pub fn by_paths(old: &str, new: &str, asked: &Asked, changed: [&[u32]; 2]) -> ByPaths {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || {
                let both = both(old, new, asked);
                let mut follow = |terms: &mut Terms, side: Side, input: &Assignment| {
                    let (program, entry, options) = &both.programs[usize::from(side == Side::New)];
                    encode_along(program, entry, options, terms, input, &|| false)
                };
                let file = both.path.as_str();
                let mut followed = Followed {
                    follow: &mut follow,
                    is_program: asked.function.is_none(),
                    holders: &both.holders,
                    input: 64,
                    changed: changed.map(|lines| (file, lines)),
                };
                let extent = Extent {
                    different: asked.different,
                    equal: asked.equal,
                    conflicts: asked.conflicts,
                    strategy: Strategy::Differences,
                };
                let begin = Instant::now();
                let interrupt =
                    || (asked.seconds).is_some_and(|most| begin.elapsed().as_secs() >= most);
                let mut paths = Paths::new(extent, Turning::Nearest);
                paths.interactions(&asked.sequences);
                for known in &asked.known {
                    if let Known::Path(values) = known {
                        paths.seed(values);
                    }
                }
                let mut known = Vec::new();
                let mut keep = |one: Known| known.push(one);
                let stop = paths.explore(&mut followed, &interrupt, &mut |_| {}, &mut keep);
                let looked_at = paths.looked_at();
                let mut found = paths.finish(&mut followed, &|| false).expect("follows");
                let names = ["a", "b"].map(str::to_owned);
                let mut variables = Vec::new();
                for name in names {
                    let variable = format!("input.{name}");
                    if let Some(sort) = found.terms.sort_of_variable(&variable) {
                        variables.push((name, found.terms.variable(&variable, sort)));
                    }
                }
                ByPaths {
                    found,
                    paths: looked_at,
                    known,
                    variables,
                    stop: stop.expect("follows"),
                }
            })
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

/// How many pairs of loops a proof by rounds needs, if there is one: see [`Rounds`].
pub fn by_rounds(old: &str, new: &str, asked: &Asked) -> Option<Together> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || {
                let both = both(old, new, asked);
                let [(old, ..), (new, ..)] = both.programs.as_slice() else {
                    panic!("two");
                };
                let shapes = both.programs.iter().map(|(_, entry, _)| match entry {
                    Entry::Function { parameters, .. } => parameters.as_slice(),
                    Entry::Main { .. } => &[],
                });
                let shapes: Vec<&[ParameterShape]> = shapes.collect();
                let begin = Instant::now();
                let rounds = Rounds {
                    modules: [&old.modules[0], &new.modules[0]],
                    library: &old.modules[1],
                    shapes: [shapes[0], shapes[1]],
                    options: &both.programs[0].2,
                    interrupt: &|| {
                        (asked.seconds).is_some_and(|most| begin.elapsed().as_secs() >= most)
                    },
                };
                rounds.together(asked.function.expect("a function"))
            })
            .expect("a thread")
            .join()
            .expect("no panic")
    })
}

fn compare(old: &str, new: &str, asked: &Asked) -> Answer {
    let mut terms = Terms::new();
    let both = both(old, new, asked);
    let holding = both.holders;
    let mut encodings = Vec::new();
    for (program, entry, options) in &both.programs {
        encodings.push(encode(program, entry, options, &mut terms, &|| false).expect("encodes"));
    }
    let new = encodings.pop().expect("two");
    let old = encodings.pop().expect("two");
    let is_program = asked.function.is_none();
    let pair = Pair::new(&mut terms, old, new, is_program, &holding, 64);
    let extent = Extent {
        different: asked.different,
        equal: asked.equal,
        conflicts: asked.conflicts,
        strategy: asked.strategy,
    };
    let begin = Instant::now();
    let interrupt = || (asked.seconds).is_some_and(|most| begin.elapsed().as_secs() >= most);
    let mut found = Vec::new();
    let mut log = |known: Known| found.push(known);
    let explored = Explorer::new(&mut terms, &pair, is_program, extent, &interrupt)
        .resumed(asked.known.clone(), &mut log)
        .run(&mut |_| {});
    let budget = Budget {
        conflicts: None,
        interrupt: Some(&interrupt),
    };
    let reasons = reasons(&mut terms, &pair, &budget);
    let verdict = verdict(&mut terms, &pair, &explored, &reasons, &budget);
    Answer {
        terms,
        pair,
        explored,
        reasons,
        verdict,
        found,
    }
}
