//! Reads the program to prove: its sources, its entry, its reference. Executes counterexamples.

use std::{collections::BTreeSet, path::Path, time::Instant};

use patchwright_clib::{Statement, statement};
use patchwright_csource::{ExprKind, lex, types::TypeKind};
use patchwright_exec::{CancelToken, Scratch};
use patchwright_interpret::Ending;
use patchwright_ir::Module;
use patchwright_lower::lower;
use patchwright_prove::{
    ArgumentsRead, Counterexample, For, Given, Replay, Source, Told, Trusted, WrongKind, agreement,
    arguments, arguments_read, beginning, compared, execute, find, harness, has_initial_values,
    initial_harness,
    inputs::{Wishes, check, connect, parameters},
    pointers_at_start, standard_input, told, unordered, want,
};
use patchwright_symbolic::{Check, Entry, InputKind, ParameterShape, Place, Shape, library};

use super::{ProveArgs, deeper};
use crate::{
    assume::{ASSUMING, assuming},
    encoded::{Problem, Reader},
    places::seen_from,
};

/// A reference program or function.
pub struct Reference {
    pub source: Source,
    pub entry: Entry,
}

/// The program to prove.
pub struct Program {
    pub sources: Vec<Source>,
    pub library: Module,
    pub entry: Entry,
    pub reference: Option<Reference>,
    /// Seconds that reading has taken.
    pub seconds: f64,
    looked_at: ArgumentsRead,
    function: Option<String>,
    shapes: Vec<ParameterShape>,
    wishes: Wishes,
    /// What is assumed of the variables that the function finds.
    beginning: Option<String>,
    /// What `--assume` says calls functions.
    assumes_by_calls: bool,
    /// Where operands stand whose order C leaves open.
    unordered: Vec<(String, u32)>,
    reader: std::sync::Mutex<Reader>,
}

/// The files of a counterexample: a C file, and standard input with arguments.
pub struct Test {
    pub file: String,
    pub input: Vec<u8>,
    pub arguments: String,
}

/// Reads the sources that the flags name.
pub fn program(
    args: &ProveArgs,
    scratch: &Scratch,
    cancel: CancelToken,
) -> Result<Program, Problem> {
    let started = Instant::now();
    let flags = args.cflags.as_deref();
    let mut reader = Reader::start(flags, &args.cache, scratch, "prove", cancel.clone())?;
    // Most of the time passes in the compiler, which reads two files at once.
    let (own, other) = std::thread::scope(|scope| {
        let other = args.like.as_ref().map(|like| {
            scope.spawn(|| {
                let mut reader = Reader::start(flags, &args.cache, scratch, "reference", cancel)?;
                let (file, _) = like_parts(like, &reader.here);
                read_one(&mut reader, file.as_ref())
            })
        });
        let files: Vec<_> = args
            .sources
            .iter()
            .map(|name| reader.here.join(name))
            .collect();
        reader.expect(&files);
        let own: Result<Vec<Source>, Problem> = args
            .sources
            .iter()
            .map(|name| read_one(&mut reader, name.as_ref()))
            .collect();
        let other = other.map(|thread| match thread.join() {
            Ok(read) => read,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (own, other)
    });
    let mut sources = own?;
    trust(args, &reader.here, &mut sources)?;
    assembled(args, reader, sources, other, started)
}

/// Reads a file of the command line.
fn read_one(reader: &mut Reader, name: &Path) -> Result<Source, Problem> {
    let (unit, path) = reader.parse(reader.here.join(name), None)?;
    Ok(Source {
        unit,
        path,
        trusted: Trusted::default(),
    })
}

/// The file of `--like`, and the function that it names.
fn like_parts<'l>(like: &'l str, here: &Path) -> (&'l str, Option<&'l str>) {
    match like.rsplit_once(':') {
        Some((file, function)) if !here.join(like).exists() => (file, Some(function)),
        _ => (like, None),
    }
}

/// Makes a program of sources that `reader` has read, since `started`. `other` is the reference, if it
/// was read already.
pub fn assembled(
    args: &ProveArgs,
    mut reader: Reader,
    mut sources: Vec<Source>,
    other: Option<Result<Source, Problem>>,
    started: Instant,
) -> Result<Program, Problem> {
    let library = library();
    let wishes = args.inputs.wishes(false)?;
    let (entry, shapes) = match &args.function {
        None => {
            let assume = (!args.assume.is_empty()).then_some("--assume");
            if let Some(flag) = assume.or(args.inputs.given()) {
                return Err(Problem::Input(format!(
                    "{flag} is about a function's parameters: name the function with --function (in `main`, write \
                     `__VERIFIER_assume(condition);`)"
                )));
            }
            let has_main = sources.iter().flat_map(|one| &one.unit.functions);
            if !has_main.into_iter().any(|function| function.name == "main") {
                let all = sources.iter().flat_map(|one| &one.unit.functions);
                let names: Vec<&str> = all.map(|function| function.name.as_str()).collect();
                return Err(Problem::Input(format!(
                    "no file that was given defines `main`; name a function with --function, one of: {}",
                    names.join(", ")
                )));
            }
            let entry = Entry::Main {
                arguments: 0,
                longest: args.longest.unwrap_or(deeper::LONGEST[0]),
            };
            (entry, Vec::new())
        }
        Some(name) => {
            want(&mut sources, name);
            let mut shapes = parameters(&sources, name, &wishes).map_err(Problem::of)?;
            check(&[&shapes], name, &wishes).map_err(Problem::of)?;
            connect(&mut [&mut shapes], &sources, name, &wishes);
            let entry = match args.assume.is_empty() {
                true => name.clone(),
                false => {
                    let own = |name: &str| name.to_owned();
                    assuming(&args.assume, &mut reader, &mut sources, name, &own)?;
                    ASSUMING.to_owned()
                }
            };
            let entry = Entry::Function {
                name: entry,
                parameters: shapes.clone(),
            };
            (entry, shapes)
        }
    };
    let mut reference = match &args.like {
        None => None,
        Some(like) => {
            let (file, _) = like_parts(like, &reader.here);
            let source = match other {
                Some(read) => read?,
                None => read_one(&mut reader, file.as_ref())?,
            };
            let here = &reader.here;
            Some(reference(args, here, source, like, &shapes, &wishes)?)
        }
    };
    // Both get the same arguments.
    let mut entry = entry;
    let mut looked_at = arguments_read(&sources);
    if let Some(other) = &reference {
        looked_at = looked_at.and(arguments_read(std::slice::from_ref(&other.source)));
    }
    let other = reference.as_mut().map(|other| &mut other.entry);
    for one in std::iter::once(&mut entry).chain(other) {
        if let Entry::Main { arguments, .. } = one {
            *arguments = args.arguments.unwrap_or(looked_at.count());
        }
    }
    let unordered = unordered(&sources, args.function.as_deref().unwrap_or("main"));
    let beginning = args.function.as_deref().and_then(|name| {
        let (position, _) = find(&sources, name).ok()?;
        let source = &sources[position];
        let module = lower(&source.unit, &source.path);
        beginning(&module, name, args.havoc)
    });
    let is_function = |name: &str| {
        let mut units = sources.iter().map(|source| &source.unit);
        units.any(|unit| {
            let mut all = unit.functions.iter().chain(&unit.functions_in_headers);
            all.any(|function| function.name == name)
        })
    };
    let mut assumed = args.assume.iter().flat_map(|text| lex::tokens(text));
    let assumes_by_calls = assumed.any(|(word, _)| is_function(word));
    Ok(Program {
        sources,
        library,
        entry,
        reference,
        looked_at,
        seconds: started.elapsed().as_secs_f64(),
        function: args.function.clone(),
        shapes,
        wishes,
        beginning,
        assumes_by_calls,
        unordered,
        reader: std::sync::Mutex::new(reader),
    })
}

/// `--trusted`
fn trust(args: &ProveArgs, here: &Path, sources: &mut [Source]) -> Result<(), Problem> {
    for text in &args.trusted {
        let (name, lines) = match text.rsplit_once(':') {
            Some((name, lines)) => (name, Some(lines)),
            None => (text.as_str(), None),
        };
        let path = here.join(name).to_string_lossy().into_owned();
        if let Some(source) = sources.iter_mut().find(|source| source.path == path) {
            match lines {
                None => source.trusted.everything = true,
                Some(lines) => {
                    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
                    let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else {
                        return Err(Problem::Input(format!(
                            "`--trusted {text}`: `{lines}` is no line and no range of lines"
                        )));
                    };
                    source.trusted.lines.push((first, last));
                }
            }
            continue;
        }
        let defines = |source: &&mut Source| {
            let mut functions = source.unit.functions.iter();
            functions.any(|function| function.name == *text)
        };
        let mut owners = sources.iter_mut().filter(defines).peekable();
        if owners.peek().is_none() {
            return Err(Problem::Input(format!(
                "`--trusted {text}` is neither a file that was given nor a function that one of them defines"
            )));
        }
        owners.for_each(|source| {
            source.trusted.functions.insert(text.clone());
        });
    }
    Ok(())
}

/// `--like`
fn reference(
    args: &ProveArgs,
    here: &Path,
    mut source: Source,
    like: &str,
    shapes: &[ParameterShape],
    wishes: &Wishes,
) -> Result<Reference, Problem> {
    let (file, named) = like_parts(like, here);
    let function = named.map(str::to_owned).or_else(|| args.function.clone());
    let entry = match (&function, &args.function) {
        (Some(name), Some(own)) => {
            want(std::slice::from_mut(&mut source), name);
            let sources = std::slice::from_ref(&source);
            // The parameters may have other names there.
            let by_position = find(sources, name).map_err(Problem::of)?.1;
            let names = by_position
                .parameters
                .iter()
                .map(|&id| source.unit.variable(id).name.clone());
            let ours = shapes.iter().map(|shape| shape.name.clone());
            let renamed: Vec<(String, String)> = names.zip(ours).collect();
            let theirs =
                parameters(sources, name, &wishes.renamed(&renamed)).map_err(Problem::of)?;
            let same = theirs.len() == shapes.len()
                && theirs
                    .iter()
                    .zip(shapes)
                    .all(|(a, b)| are_alike(&a.shape, &b.shape));
            if !same {
                return Err(Problem::Input(format!(
                    "--like: `{name}` of {file} takes other parameters than `{own}`: they cannot be given the same \
                     arguments"
                )));
            }
            Entry::Function {
                name: name.clone(),
                parameters: shapes.to_vec(),
            }
        }
        (_, None) => Entry::Main {
            arguments: args.arguments.unwrap_or(0),
            longest: args.longest.unwrap_or(deeper::LONGEST[0]),
        },
        (None, Some(own)) => Entry::Function {
            name: own.clone(),
            parameters: shapes.to_vec(),
        },
    };
    Ok(Reference { source, entry })
}

/// Whether one argument can be given to two parameters: how long what they lead to is, and whether they may be null, is said
/// for both at once.
fn are_alike(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Pointer { to: a, .. }, Shape::Pointer { to: b, .. }) => a == b,
        (Shape::Function { .. }, Shape::Function { .. }) => true,
        _ => a == b,
    }
}

impl Program {
    /// Returns the number of arguments of a whole program that reads arguments.
    pub fn arguments(&self) -> Option<u32> {
        match self.entry {
            Entry::Main { arguments, .. } => self.looked_at.some.then_some(arguments),
            Entry::Function { .. } => None,
        }
    }

    /// Returns the other numbers of arguments for which a program that looks at `argc` is proved, without `--arguments`.
    pub fn other_arguments(&self) -> Vec<u32> {
        let more = match self.looked_at.any {
            true => deeper::MOST_ARGUMENTS,
            false => 0,
        };
        match self.arguments() {
            Some(own) if self.looked_at.number => (0..own).rev().chain(own + 1..=more).collect(),
            _ => Vec::new(),
        }
    }

    /// Sizes just above those of arrays and constants in the program that are larger than `least`, from the smallest on.
    pub fn sizes_above(&self, least: u32) -> Vec<u32> {
        let mut all = BTreeSet::new();
        for unit in self.sources.iter().map(|source| &source.unit) {
            let locals = unit.functions.iter().flat_map(|one| &one.locals);
            for &id in locals.chain(&unit.globals) {
                if let TypeKind::Array(_, Some(count)) = unit.types.kind(unit.variable(id).ty) {
                    all.insert(i128::from(*count));
                }
            }
            for expr in unit.functions.iter().flat_map(|one| &one.exprs) {
                if let ExprKind::Integer { value, .. } = expr.kind {
                    all.insert(value);
                }
            }
        }
        let all = all.into_iter().filter_map(|size| u32::try_from(size).ok());
        let all = all.filter(|&size| size >= least && size < deeper::LARGEST);
        all.map(|size| size + 1).collect()
    }

    /// Lets pointers in structures point back, and several point to one. It returns the former
    /// parameters.
    pub fn link_structures(&mut self) -> Vec<ParameterShape> {
        let before = self.shapes.clone();
        self.wishes.links = true;
        if let Some(function) = &self.function {
            connect(
                &mut [&mut self.shapes],
                &self.sources,
                function,
                &self.wishes,
            );
        }
        self.give_shapes();
        before
    }

    /// Lets each pointer in structures point to its own object again.
    pub fn part_structures(&mut self, shapes: Vec<ParameterShape>) {
        self.wishes.links = false;
        self.shapes = shapes;
        self.give_shapes();
    }

    fn give_shapes(&mut self) {
        let other = self.reference.as_mut().map(|other| &mut other.entry);
        for one in std::iter::once(&mut self.entry).chain(other) {
            if let Entry::Function { parameters, .. } = one {
                parameters.clone_from(&self.shapes);
            }
        }
    }

    /// Returns the description of the inputs for the report.
    pub fn told(&self) -> Told {
        let mut told = told(&self.shapes, &self.wishes);
        told.assumed.extend(self.beginning.clone());
        told
    }

    /// Returns a note on operands that were evaluated in one order although C leaves the order open and another one may matter.
    pub fn order_taken(&self) -> Option<String> {
        const MOST: usize = 3;
        let places = self.unordered.iter().take(MOST);
        let places: Vec<String> = places
            .map(|(path, line)| format!("{}:{line}", self.shown(path)))
            .collect();
        let more = match self.unordered.len().saturating_sub(MOST) {
            0 => "",
            _ => " and elsewhere",
        };
        (!places.is_empty()).then(|| {
            format!(
                "operands are evaluated from left to right, which C leaves open and which may matter, at {}{more}",
                places.join(", ")
            )
        })
    }

    /// Returns the name of what is proved, for messages.
    pub fn name(&self) -> String {
        match &self.function {
            Some(function) => format!("`{function}`"),
            None => "the program".to_owned(),
        }
    }

    /// Returns a path as the user would write it.
    pub fn shown(&self, path: &str) -> String {
        let reader = self
            .reader
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        seen_from(&reader.here, path)
    }

    /// Whether a place lies in a file that the user has given.
    pub fn is_own(&self, place: &Place) -> bool {
        self.sources.iter().any(|source| source.path == place.file)
    }

    /// Whether the program calls a function that states what must hold.
    pub fn has_assertion(&self) -> bool {
        self.calls(|name| {
            matches!(
                statement(name),
                Some(Statement::Assert | Statement::Error | Statement::GiveUp)
            )
        })
    }

    /// Whether the program calls a function that must not be reached, such as `reach_error`. Then
    /// `abort` is a normal end.
    pub fn has_error_function(&self) -> bool {
        self.calls(|name| matches!(name, "reach_error" | "__VERIFIER_error"))
    }

    fn calls(&self, wanted: impl Fn(&str) -> bool) -> bool {
        let functions = self
            .sources
            .iter()
            .flat_map(|source| &source.unit.functions);
        functions
            .flat_map(|function| &function.exprs)
            .any(|expr| matches!(&expr.kind, ExprKind::Function(called) if wanted(called)))
    }

    /// Executes a counterexample in the interpreter. It also returns what the reference prints for
    /// its inputs.
    pub fn replayed(
        &self,
        found: &Counterexample,
        checks: &BTreeSet<Check>,
    ) -> (Replay, Option<Vec<u8>>) {
        match self.try_replay(found, checks) {
            Ok((Replay::Differs(how), output)) => match self.not_given(found) {
                Some(reason) => (Replay::Untold(reason), output),
                None => (Replay::Differs(how), output),
            },
            Ok(answer) => answer,
            Err(Problem::Input(reason)) => (Replay::Untold(reason), None),
            Err(Problem::Interrupted) => (Replay::Untold("it was interrupted".to_owned()), None),
        }
    }

    /// Why an execution with the inputs of a counterexample may be another one.
    fn not_given(&self, found: &Counterexample) -> Option<String> {
        let pointers = pointers_at_start(&self.sources, &found.inputs);
        let names: Vec<String> = pointers.iter().map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            return Some(format!(
                "{} {} pointers that may lead anywhere at the start, and an execution cannot be given such",
                names.join(", "),
                if names.len() == 1 { "holds" } else { "hold" }
            ));
        }
        // The assumptions are not evaluated when it is executed.
        self.assumes_by_calls.then(|| {
            "the functions that --assume calls are not executed, and it may be one of them that fails".to_owned()
        })
    }

    fn try_replay(
        &self,
        found: &Counterexample,
        checks: &BTreeSet<Check>,
    ) -> Result<(Replay, Option<Vec<u8>>), Problem> {
        let other = found.inputs.iter().find(|given| {
            given.consumed
                && matches!(&given.kind, InputKind::Returned { function, .. }
                    if statement(function) != Some(Statement::Any))
        });
        if let Some(given) = other {
            let reason = format!(
                "`{}` has no body, and is taken to return anything",
                given.name
            );
            return Ok((Replay::Untold(reason), None));
        }
        let differs = !matches!(found.kind, WrongKind::Failure(_));
        let (outcome, output) =
            self.executed(&self.sources, &self.function, &found.inputs, differs)?;
        let Some(reference) = self.reference.as_ref().filter(|_| differs) else {
            return Ok((agreement(found, &outcome, checks), None));
        };
        let name = match &reference.entry {
            Entry::Function { name, .. } => Some(name.clone()),
            Entry::Main { .. } => None,
        };
        let sources = std::slice::from_ref(&reference.source);
        let (theirs, expected) = self.executed(sources, &name, &found.inputs, true)?;
        let replay = match (&outcome.ending, &theirs.ending) {
            (Ending::Exit(own), Ending::Exit(other)) if own != other || output != expected => {
                Replay::Agrees
            }
            (Ending::Exit(_), Ending::Exit(_)) if matches!(found.kind, WrongKind::Object(_)) => {
                Replay::Untold("globals are not compared when it is executed".to_owned())
            }
            (Ending::Exit(_), Ending::Exit(_)) => Replay::Differs(
                "the program and its reference do the same for these inputs".to_owned(),
            ),
            _ => agreement(found, &outcome, checks),
        };
        Ok((replay, Some(expected)))
    }

    /// Executes the program, or one of its functions, with the inputs of a counterexample.
    fn executed(
        &self,
        sources: &[Source],
        function: &Option<String>,
        inputs: &[Given],
        shown: bool,
    ) -> Result<(patchwright_interpret::Outcome, Vec<u8>), Problem> {
        let mut modules = Vec::new();
        let mut replaced = None;
        let text = match function {
            Some(function) => {
                let (position, _) = find(sources, function).map_err(Problem::of)?;
                let path = &sources[position].path;
                let text = harness(
                    sources,
                    function,
                    &self.shapes,
                    inputs,
                    path,
                    For::Interpreter,
                    shown,
                );
                Some((position, text))
            }
            None if has_initial_values(inputs) => {
                let (position, _) = find(sources, "main").map_err(Problem::of)?;
                Some((position, initial_harness(sources, inputs)))
            }
            None => None,
        };
        if let Some((position, text)) = text {
            let mut reader = self
                .reader
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            modules.push(reader.module("harness.c", &text.map_err(Problem::of)?)?);
            replaced = Some(position);
        }
        for (position, source) in sources.iter().enumerate() {
            if replaced != Some(position) {
                modules.push(lower(&source.unit, &source.path));
            }
        }
        execute(modules, inputs).map_err(Problem::Input)
    }

    /// Returns a counterexample as a C file and as a case. `expected` is the output of the reference,
    /// if there is one.
    pub fn test(&self, found: &Counterexample, expected: Option<&[u8]>) -> Result<Test, Problem> {
        // What the program itself does wrong needs no reference.
        let expected = expected.filter(|_| !matches!(found.kind, WrongKind::Failure(_)));
        let input = standard_input(&found.inputs);
        let words: Vec<String> = arguments(&found.inputs)
            .into_iter()
            .map(|word| String::from_utf8_lossy(&word).into_owned())
            .collect();
        let file = match &self.function {
            Some(function) => {
                let (position, _) = find(&self.sources, function).map_err(Problem::of)?;
                let path = &self.sources[position].path;
                let text = harness(
                    &self.sources,
                    function,
                    &self.shapes,
                    &found.inputs,
                    path,
                    For::Compiler,
                    expected.is_some(),
                );
                text.map(|text| match expected {
                    Some(expected) => compared(&text, expected),
                    None => text,
                })
            }
            None => patchwright_prove::main_harness(&self.sources, &found.inputs, &input, &words),
        };
        let joined = shlex::try_join(words.iter().map(String::as_str)).map_err(Problem::of)?;
        let at = match &found.place {
            Some(place) => format!(" at {}:{}", self.shown(&place.file), place.line),
            None => String::new(),
        };
        // What stands in a comment must not end it.
        let message = found.message.replace("*/", "* /");
        let how = match found.compiled_by() {
            Some(command) => format!("\n   Compiled like this it fails:\n   {command}"),
            None => String::new(),
        };
        let file = file.map_err(Problem::of)?;
        Ok(Test {
            file: format!("/* {message}{at}.{how} */\n{file}"),
            input,
            arguments: joined,
        })
    }
}
