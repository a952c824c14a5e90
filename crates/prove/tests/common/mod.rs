//! Programs of the tests, read by clang.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make projects and start programs"
)]
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;

use patchwright_csource::TranslationUnit;
use patchwright_ir::Module;
use patchwright_prove::{
    Counterexample, Extent, Followed, For, Found, Level, Mutations, OneByOne, Paths, PathsFound,
    Prover, Repair, Replay, Search, Source, Trusted, Verdict, agreement, choices, execute, harness,
    inputs::{Wishes, parameters},
    link, mutations, patched, question, spec,
};
use patchwright_solve::{Assignment, Budget, Terms};
use patchwright_symbolic::{Check, Encoding, Entry, Options, ParameterShape, encode_along};

pub struct Reader(patchwright_testkit::Reader);

impl Reader {
    pub fn new() -> Reader {
        Reader(patchwright_testkit::Reader::new())
    }

    pub fn read(&mut self, name: &str, source: &str) -> (TranslationUnit, String) {
        self.0.read(name, source)
    }

    pub fn library(&mut self) -> Module {
        patchwright_symbolic::library()
    }

    pub fn source(&mut self, name: &str, text: &str) -> Source {
        let (unit, path) = self.read(name, text);
        Source {
            unit,
            path,
            trusted: Trusted::default(),
        }
    }
}

/// How a program is to be proved: what its first lines say.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub function: Option<String>,
    pub lengths: BTreeMap<String, u64>,
    pub bound: Option<u32>,
    pub checks: Vec<String>,
    pub answer: String,
    /// Level, edits, and a text that some repaired program has.
    pub repairs: Vec<(u8, u32, String)>,
}

impl Asked {
    /// The parameters of the function, none of which leads to what is another's.
    pub fn shapes(&self, sources: &[Source], function: &str) -> Vec<ParameterShape> {
        let wishes = Wishes {
            lengths: self.lengths.clone(),
            ..Wishes::default()
        };
        parameters(sources, function, &wishes).expect("shapes")
    }

    pub fn read(text: &str) -> Asked {
        let mut asked = Asked::default();
        for line in text.lines() {
            let Some(line) = line.strip_prefix("// ") else {
                break;
            };
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match key.split(' ').collect::<Vec<_>>().as_slice() {
                ["function"] => asked.function = Some(value.to_owned()),
                ["length"] => {
                    let (name, count) = value.split_once('=').expect("NAME=COUNT");
                    asked
                        .lengths
                        .insert(name.to_owned(), count.parse().expect("a number"));
                }
                ["bound"] => asked.bound = value.parse().ok(),
                ["check"] => asked.checks.push(value.to_owned()),
                ["answer"] => asked.answer = value.to_owned(),
                ["repair", level, edits] => asked.repairs.push((
                    level.parse().expect("a level"),
                    edits.parse().expect("a number"),
                    value.to_owned(),
                )),
                _ => {}
            }
        }
        asked
    }

    pub fn options(&self) -> Options {
        let mut options = Options::default();
        if let Some(bound) = self.bound {
            options.bound = bound;
        }
        if self.checks.iter().any(|name| name == "none") {
            options.checks.clear();
        }
        for name in self.checks.iter().filter(|name| *name != "none") {
            let check = Check::ALL.iter().find(|check| check.name() == name);
            options.checks.insert(*check.expect("a check"));
        }
        options
    }

    pub fn entry(&self, sources: &[Source]) -> Entry {
        match &self.function {
            None => Entry::Main {
                arguments: 0,
                longest: 0,
            },
            Some(name) => Entry::Function {
                name: name.clone(),
                parameters: self.shapes(sources, name),
            },
        }
    }
}

/// Encodes on a stack that is large enough.
pub fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(1 << 30)
            .spawn_scoped(scope, work)
            .expect("a thread")
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

pub fn encode(
    terms: &mut Terms,
    sources: &[Source],
    library: &Module,
    entry: &Entry,
    options: &Options,
    own: Option<&[Mutations]>,
) -> Encoding {
    let alternatives = own.map(|own| own.iter().map(|one| &one.alternatives).collect::<Vec<_>>());
    let program = link(sources, alternatives.as_deref(), library).expect("links");
    let options = match own {
        Some(own) => with_choices(sources, library, entry, options, own),
        None => options.clone(),
    };
    patchwright_symbolic::encode(&program, entry, &options, terms, &|| false).expect("encodes")
}

/// How a meta-program is encoded: a loop may have the rounds that it has without alternatives, and the bound.
pub fn with_choices(
    sources: &[Source],
    library: &Module,
    entry: &Entry,
    options: &Options,
    own: &[Mutations],
) -> Options {
    let plain = link(sources, None, library).expect("links");
    let mut others = Terms::new();
    let plain = patchwright_symbolic::encode(&plain, entry, options, &mut others, &|| false);
    Options {
        decided_rounds: Some(plain.expect("encodes").counts.longest),
        choices: choices(own),
        ..options.clone()
    }
}

pub fn verdict(sources: &[Source], library: &Module, asked: &Asked) -> Verdict {
    let mut terms = Terms::new();
    let entry = asked.entry(sources);
    let encoding = encode(&mut terms, sources, library, &entry, &asked.options(), None);
    let spec = spec(&mut terms, &encoding, None);
    let mut prover = Prover {
        terms: &mut terms,
        encoding: &encoding,
        spec: &spec,
        budget: Budget::none(),
    };
    prover.verdict().0
}

/// The verdict path by path, of so many paths at most.
pub fn verdict_by_paths(
    sources: &[Source],
    library: &Module,
    asked: &Asked,
    most: u64,
) -> PathsFound {
    let entry = asked.entry(sources);
    let program = link(sources, None, library).expect("links");
    let options = Options {
        instructions: 100_000,
        ..asked.options()
    };
    let mut follow = |terms: &mut Terms, input: &Assignment| {
        let program = encode_along(&program, &entry, &options, terms, input, &|| false)?;
        let spec = spec(terms, &program, None);
        Ok(Followed {
            program,
            reference: None,
            spec,
        })
    };
    let paths = Paths {
        follow: &mut follow,
        most,
        work: (u64::MAX, u64::MAX),
        longest: options.input,
        budget: Budget::none(),
    };
    paths
        .explore(&mut Terms::new())
        .expect("it can be followed")
}

/// All minimal repairs, as changes and as the text of the first source.
pub fn repairs(
    sources: &[Source],
    library: &Module,
    asked: &Asked,
    level: Level,
    edits: u32,
) -> (Found, Vec<(Repair, String)>) {
    let mut terms = Terms::new();
    let own = mutations(sources, level);
    let entry = asked.entry(sources);
    let encoding = encode(
        &mut terms,
        sources,
        library,
        &entry,
        &asked.options(),
        Some(&own),
    );
    let spec = spec(&mut terms, &encoding, None);
    let question = question(&mut terms, &spec, &own, &Budget::none());
    let extent = Extent {
        changes: edits,
        ..Extent::default()
    };
    let never = || false;
    let alternatives: Vec<_> = own.iter().map(|one| &one.alternatives).collect();
    let program = link(sources, Some(&alternatives), library).expect("links");
    let options = with_choices(sources, library, &entry, &asked.options(), &own);
    let mut decider = OneByOne::new((&program, &entry), None, &options, Budget::none());
    let search = Search::new(&mut terms, &question, extent, &mut decider, &never);
    let found = search.run(&mut |_| ());
    let texts = found
        .repairs
        .iter()
        .map(|repair| {
            let new = patched(sources, &own, repair).expect("it fits");
            let text = String::from_utf8(new[0].1.clone()).expect("text");
            (repair.clone(), text)
        })
        .collect();
    (found, texts)
}

/// What the interpreter says of a counterexample.
pub fn replayed(
    reader: &mut Reader,
    sources: &[Source],
    asked: &Asked,
    found: &Counterexample,
) -> Replay {
    let module = match &asked.function {
        None => patchwright_lower::lower(&sources[0].unit, &sources[0].path),
        Some(name) => {
            let shapes = asked.shapes(sources, name);
            let path = &sources[0].path;
            let text = harness(
                sources,
                name,
                &shapes,
                &found.inputs,
                path,
                For::Interpreter,
                false,
            );
            let (unit, path) = reader.read("harness.c", &text.expect("it can be called"));
            patchwright_lower::lower(&unit, &path)
        }
    };
    let (outcome, _) = execute(vec![module], &found.inputs).expect("links");
    agreement(found, &outcome, &asked.options().checks)
}
