//! Reads the compared versions: sources and linked programs.

use std::{collections::BTreeSet, path::PathBuf};

use patchwright_compare::{
    Holder, changed_lines, holders, is_same_code, renamed_parameters, same_parameters,
};
use patchwright_csource::lex;
use patchwright_exec::{CancelToken, CompileCommand, Scratch, files};
use patchwright_ir::Module;
use patchwright_lower::lower;
use patchwright_prove::{
    Source, Told, Trusted, arguments_read, beginning, find,
    inputs::{Wishes, check, connect, parameters, returned_record},
    told, want,
};
use patchwright_report::comparison::PageSource;
use patchwright_symbolic::{Entry, ParameterShape, Shape, library};

use super::{
    arguments::CompareArgs,
    named::{Made, Named, What},
};
use crate::{
    assume::{ASSUMING, assuming},
    encoded::{Problem, Reader},
};

/// One version: its source, its module and its entry.
pub struct Version {
    /// Its source: a list of one.
    pub sources: Vec<Source>,
    /// The path, as the user wrote it.
    pub shown: String,
    /// Where it begins.
    pub entry: Entry,
    /// Parameters of the function.
    pub shapes: Vec<ParameterShape>,
    /// Lines that the other one does not have.
    pub changed: Vec<u32>,
    /// How it is compiled, where it is a part of a project.
    pub command: Option<CompileCommand>,
}

impl Version {
    /// Returns the source of the version.
    pub fn source(&self) -> &Source {
        &self.sources[0]
    }

    /// Returns the version as a module of the IR.
    pub fn module(&self) -> Module {
        lower(&self.source().unit, &self.source().path)
    }
}

/// Both versions, with their linked programs.
pub struct Versions {
    /// OLD and NEW.
    pub both: [Version; 2],
    /// What the symbolic encoding knows of the C library.
    pub library: Module,
    /// Objects that hold pointers.
    pub holders: Vec<Holder>,
    /// The names of the objects that both have.
    pub shared: BTreeSet<String>,
    /// They are the same code.
    pub same_code: bool,
    /// How many arguments they get, if they are programs that look at them.
    pub arguments: Option<u32>,
    /// They may look at any number of arguments.
    pub any_arguments: bool,
    /// Parameters that have another name in NEW: that, and the name in OLD, by which they are called here.
    pub renamed: Vec<(String, String)>,
    /// What is told of the inputs.
    pub told: Told,
    pub reader: Reader,
}

impl Versions {
    /// Returns one of the sources for the HTML page.
    pub fn page_source(&self, side: usize) -> PageSource {
        let version = &self.both[side];
        PageSource {
            name: version.shown.clone(),
            text: String::from_utf8_lossy(&version.source().unit.source).into_owned(),
            changed: version.changed.clone(),
        }
    }
}

/// Where a version's source is.
struct Place {
    file: PathBuf,
    /// The folder whose headers it includes, if it is not its own.
    headers: Option<PathBuf>,
    shown: String,
    command: Option<CompileCommand>,
}

/// Reads the source files of the old and the new version of a function.
///
/// In a project it is the source that defines the function; `made` are the built projects then.
pub fn versions(
    args: &CompareArgs,
    pair: [&Named; 2],
    made: Option<[&Made; 2]>,
    scratch: &Scratch,
    folder: &str,
    cancel: CancelToken,
) -> Result<Versions, Problem> {
    let cflags = args.description.cflags.as_deref();
    let mut reader = Reader::start(cflags, &args.cache, scratch, folder, cancel)?;
    let library = library();
    let wishes = args.inputs.wishes(true)?;
    let [old, new] = places(args, pair, made)?;
    let mut version = |place: Place| version(args, &mut reader, place, &wishes);
    let mut both = [version(old)?, version(new)?];
    let renamed = give_names_of_old(args, &mut both, &wishes)?;
    // Both get the same arguments.
    let [old, new] = both
        .each_ref()
        .map(|version| arguments_read(&version.sources));
    let read = old.and(new);
    let given = args.arguments.unwrap_or(read.count());
    let mut arguments = None;
    for version in &mut both {
        if let Entry::Main { arguments: own, .. } = &mut version.entry {
            *own = given;
            arguments = read.some.then_some(given);
        }
    }
    if let Err(name) = same_parameters(&both[0].shapes, &both[1].shapes) {
        return Err(Problem::Input(format!(
            "the parameter `{name}` of `{}` has another type in {} than in {}: both cannot be given the same \
             argument; write a function in each file that converts it, and name that one with --function",
            args.function.as_deref().unwrap_or("main"),
            both[1].shown,
            both[0].shown
        )));
    }
    let mut told = describe(args, &mut both, &wishes)?;
    if !args.assume.is_empty() {
        assume(args, &mut reader, &mut both, &renamed)?;
        told.assumed
            .extend(args.assume.iter().map(|text| format!("`{text}`")));
    }
    if let Some(function) = &args.function {
        let mut all = both.iter();
        let begins = all.find_map(|version| beginning(&version.module(), function, args.havoc));
        told.assumed.extend(begins);
    }
    let texts = [0, 1].map(|side| both[side].source().unit.source.clone());
    both[0].changed = changed_lines(&texts[0], &texts[1]);
    both[1].changed = changed_lines(&texts[1], &texts[0]);
    let mut holding = Vec::new();
    for version in &both {
        let function = args.function.as_deref();
        let result = function.and_then(|name| returned_record(&version.sources, name));
        let unit = &version.source().unit;
        holding.extend(holders(unit, &version.shapes, result.as_ref()));
    }
    let shared = shared(&both);
    let same_code = is_same_code(&[both[0].module()], &[both[1].module()]);
    Ok(Versions {
        both,
        library,
        holders: holding,
        shared,
        same_code,
        arguments,
        any_arguments: read.any && args.function.is_none(),
        renamed,
        told,
        reader,
    })
}

/// The names of the variables of static storage that both versions have, of the same size.
fn shared(both: &[Version; 2]) -> BTreeSet<String> {
    let [old, new] = both.each_ref().map(|version| {
        let own = version.module().globals.into_iter();
        let own = own.filter(|global| !global.constant);
        let own = own.map(|global| (global.name, global.size));
        own.collect::<BTreeSet<(String, u64)>>()
    });
    old.intersection(&new).map(|one| one.0.clone()).collect()
}

/// Parameters of NEW that only have another name get the name that they have in OLD, if they are of the same type; these, with the
/// names in OLD.
fn give_names_of_old(
    args: &CompareArgs,
    both: &mut [Version; 2],
    wishes: &Wishes,
) -> Result<Vec<(String, String)>, Problem> {
    let Some(function) = &args.function else {
        return Ok(Vec::new());
    };
    let [old, new] = both;
    let mut renamed = renamed_parameters(&old.shapes, &new.shapes);
    // Where both lead to as much.
    let own = wishes.renamed(&renamed);
    let shapes = parameters(&new.sources, function, &own)
        .map_err(|error| Problem::Input(format!("{}: {error}", new.shown)))?;
    let is_same = |of_new: &str, of_old: &str| {
        let shape = |all: &[ParameterShape], name: &str| {
            let one = all.iter().find(|one| one.name == name);
            one.map(|one| plain(&one.shape))
        };
        shape(&shapes, of_new) == shape(&old.shapes, of_old)
    };
    renamed.retain(|(of_new, of_old)| is_same(of_new, of_old));
    new.shapes = shapes;
    for shape in &mut new.shapes {
        if let Some((_, of_old)) = renamed.iter().find(|(of_new, _)| *of_new == shape.name) {
            shape.name.clone_from(of_old);
        }
    }
    give_same_choices(both);
    Ok(renamed)
}

/// `--assume`, over the names of OLD.
fn assume(
    args: &CompareArgs,
    reader: &mut Reader,
    both: &mut [Version; 2],
    renamed: &[(String, String)],
) -> Result<(), Problem> {
    let Some(function) = &args.function else {
        return Err(Problem::Input(
            "--assume is about a function's parameters: name the function with --function (in `main`, write \
             `__VERIFIER_assume(condition);`)"
                .to_owned(),
        ));
    };
    for (side, version) in both.iter_mut().enumerate() {
        if let Some(command) = &version.command {
            reader.compile_as(command);
        }
        let called = |name: &str| {
            let other = renamed
                .iter()
                .find(|(of_new, _)| side == 1 && of_new == name);
            other.map_or(name, |(_, of_old)| of_old).to_owned()
        };
        assuming(
            &args.assume,
            reader,
            &mut version.sources,
            function,
            &called,
        )?;
        if let Entry::Function { name, .. } = &mut version.entry {
            ASSUMING.clone_into(name);
        }
    }
    Ok(())
}

/// What a parameter is, without what is said for both versions at once.
fn plain(shape: &Shape) -> Shape {
    match shape {
        Shape::Pointer { to, cast, .. } => Shape::Pointer {
            to: to.clone(),
            nullable: false,
            text: false,
            count: 1,
            cast: cast.clone(),
        },
        Shape::Function { .. } => Shape::Function { nullable: false },
        other => other.clone(),
    }
}

/// Says what the pointers may lead to, and what of all that is told.
fn describe(args: &CompareArgs, both: &mut [Version; 2], wishes: &Wishes) -> Result<Told, Problem> {
    let Some(function) = &args.function else {
        return Ok(Told::default());
    };
    let [old, new] = both;
    check(&[&old.shapes, &new.shapes], function, wishes).map_err(Problem::of)?;
    connect(
        &mut [&mut old.shapes, &mut new.shapes],
        &old.sources,
        function,
        wishes,
    );
    let mut all = old.shapes.clone();
    for one in &new.shapes {
        if !all.iter().any(|other| other.name == one.name) {
            all.push(one.clone());
        }
    }
    for version in [old, new] {
        if let Entry::Function { parameters, .. } = &mut version.entry {
            parameters.clone_from(&version.shapes);
        }
    }
    Ok(told(&all, wishes))
}

fn places(
    args: &CompareArgs,
    pair: [&Named; 2],
    made: Option<[&Made; 2]>,
) -> Result<[Place; 2], Problem> {
    let file = |named: &Named| match &named.what {
        What::File(file, headers) => Some(Place {
            file: file.clone(),
            headers: headers.clone(),
            shown: named.shown.clone(),
            command: None,
        }),
        What::Project(..) => None,
    };
    if let (Some(old), Some(new)) = (file(pair[0]), file(pair[1])) {
        return Ok([old, new]);
    }
    if let (None, Some([old, new])) = (&args.function, made)
        && let ([old], [new]) = (old.commands.as_slice(), new.commands.as_slice())
    {
        let place = |named: &Named, command: &CompileCommand| Place {
            file: command.file.clone(),
            headers: None,
            shown: named.shown.clone(),
            command: Some(command.clone()),
        };
        return Ok([place(pair[0], old), place(pair[1], new)]);
    }
    let (Some(function), Some([old, new])) = (&args.function, made) else {
        return Err(Problem::Input(
            "whole programs of projects can only be executed, which --no-native forbids; name a function with --function".to_owned(),
        ));
    };
    // The source that defines it, in both; one that differs rather than one that does not.
    let mut found: Vec<(bool, [Place; 2])> = Vec::new();
    for command in &old.commands {
        let Ok(relative) = command.source().strip_prefix(&old.folder) else {
            continue;
        };
        let there = new.folder.join(relative);
        let Some(other) = new.commands.iter().find(|other| other.source() == there) else {
            continue;
        };
        let (Ok(a), Ok(b)) = (files::read(command.source()), files::read(&there)) else {
            continue;
        };
        if !mentions(&a, function) || !mentions(&b, function) {
            continue;
        }
        let place = |named: &Named, command: &CompileCommand| Place {
            file: command.file.clone(),
            headers: None,
            shown: format!(
                "{}/{}",
                named.shown.trim_end_matches('/'),
                relative.display()
            ),
            command: Some(command.clone()),
        };
        let places = [place(pair[0], command), place(pair[1], other)];
        let defines = defines(&a, function);
        found.push((defines && a != b, places));
        if defines && a == b {
            // Better than one that only calls it.
            let last = found.len() - 1;
            found.swap(0, last);
        }
    }
    found.sort_by_key(|(differs, _)| !differs);
    match found.into_iter().next() {
        Some((_, places)) => Ok(places),
        None => Err(Problem::Input(format!(
            "no source that both {} and {} compile has a function `{function}`",
            pair[0].shown, pair[1].shown
        ))),
    }
}

fn mentions(text: &[u8], name: &str) -> bool {
    text.windows(name.len()).any(|part| part == name.as_bytes())
}

/// Whether a function `name` seems to be defined in a text: a body begins behind its name.
pub fn defines(text: &[u8], name: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    text.match_indices(name).any(|(at, _)| {
        let rest = text[at + name.len()..].trim_start();
        if text[..at].ends_with(lex::is_word_char) || !rest.starts_with('(') {
            return false;
        }
        let mut depth = 0;
        for (end, c) in rest.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth -= 1;
                    if depth == 0 {
                        return rest[end + 1..].trim_start().starts_with('{');
                    }
                }
                _ => {}
            }
        }
        false
    })
}

/// Makes parameters that the versions use in different ways fit both. An array gets the length of the longer one, a pointer may be
/// null if one version permits it, and a pointer to `void` leads to bytes if the versions take it for different types.
fn give_same_choices([old, new]: &mut [Version; 2]) {
    for one in &mut old.shapes {
        let other = new.shapes.iter_mut().find(|other| other.name == one.name);
        let Some(other) = other else {
            continue;
        };
        match (&mut one.shape, &mut other.shape) {
            (Shape::Function { nullable: a }, Shape::Function { nullable: b }) => {
                (*a, *b) = (*a || *b, *a || *b);
            }
            (
                Shape::Pointer {
                    to: Some(of_a),
                    count: a,
                    nullable: a_null,
                    text: a_text,
                    cast: a_cast,
                },
                Shape::Pointer {
                    to: Some(of_b),
                    count: b,
                    nullable: b_null,
                    text: b_text,
                    cast: b_cast,
                },
            ) => {
                if of_a != of_b && a_cast.is_some() && b_cast.is_some() {
                    let size = (of_a.size() * *a).max(of_b.size() * *b);
                    for (to, cast) in [(of_a, a_cast), (of_b, b_cast)] {
                        **to = Shape::Scalar(patchwright_ir::Type::U8);
                        *cast = Some("unsigned char *".to_owned());
                    }
                    (*a, *b) = (size, size);
                }
                let most = (*a).max(*b);
                (*a, *b) = (most, most);
                let null = *a_null || *b_null;
                (*a_null, *b_null) = (null, null);
                let text = *a_text && *b_text;
                (*a_text, *b_text) = (text, text);
            }
            _ => {}
        }
    }
}

fn version(
    args: &CompareArgs,
    reader: &mut Reader,
    place: Place,
    wishes: &Wishes,
) -> Result<Version, Problem> {
    let Place {
        file,
        headers,
        shown,
        command,
    } = place;
    let file = match &command {
        Some(command) => {
            reader.compile_as(command);
            file
        }
        None => reader.here.join(file),
    };
    if let Some(headers) = headers {
        reader.include_from(&headers);
    }
    let (unit, path) = reader.parse(file, None)?;
    let mut sources = vec![Source {
        unit,
        path,
        trusted: Trusted::default(),
    }];
    let (entry, shapes) =
        match &args.function {
            None => {
                if let Some(flag) = args.inputs.given() {
                    return Err(Problem::Input(format!(
                        "{flag} is about a function's parameters: name the function with --function"
                    )));
                }
                find(&sources, "main").map_err(|_| {
                let names: Vec<&str> =
                    sources[0].unit.functions.iter().map(|one| one.name.as_str()).collect();
                Problem::Input(format!(
                    "{shown} does not define `main`; name a function with --function, one of: {}",
                    names.join(", ")
                ))
            })?;
                let entry = Entry::Main {
                    arguments: 0,
                    longest: args.longest,
                };
                (entry, Vec::new())
            }
            Some(function) => {
                let problem = |error| Problem::Input(format!("{shown}: {error}"));
                want(&mut sources, function);
                let shapes = parameters(&sources, function, wishes).map_err(problem)?;
                let entry = Entry::Function {
                    name: function.clone(),
                    parameters: shapes.clone(),
                };
                (entry, shapes)
            }
        };
    Ok(Version {
        sources,
        shown,
        entry,
        shapes,
        changed: Vec::new(),
        command,
    })
}
