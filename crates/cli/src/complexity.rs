//! `patchwright complexity`.

use std::path::{Path, PathBuf};

use clap::Args;
use patchwright_changes::git::{Commit, GitError, History};
use patchwright_changes::paths::{PathError, between};
use patchwright_changes::{Change, Definitions, Flags, Outlines, measure_with};
use patchwright_exec::{
    DatabaseError,
    files::{self, FileError},
    read_compile_database,
};
use patchwright_report::complexity::{Measured, json, table, text};
use patchwright_report::layered::Layered;
use patchwright_report::page;
use patchwright_report::svg;
use patchwright_report::text::Style;

use crate::{
    Exit,
    drawing::{Canvas, Graphviz, UnknownFormat},
};

/// Flags of `patchwright complexity`.
#[derive(Args, Debug)]
pub struct ComplexityArgs {
    /// A revision, a range, or the old version [default: uncommitted]
    #[arg(value_name = "REV | A..B | OLD")]
    pub what: Option<String>,

    /// The new file, folder or revision
    #[arg(value_name = "NEW")]
    pub new: Option<String>,

    /// A folder in the git repository
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "What is measured"
    )]
    pub repo: PathBuf,

    /// Measure only the N newest commits of a range
    #[arg(short = 'n', long, value_name = "N", help_heading = "What is measured")]
    pub max_count: Option<usize>,

    /// Follow calls through all C files, also unchanged ones
    #[arg(long, help_heading = "What is measured")]
    pub whole_program: bool,

    /// Decide conditionals (#if) by these flags of the compiler: -DNAME, -IDIR
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "What is measured"
    )]
    pub cflags: Option<String>,

    /// Take such flags for each file from this compile database
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "cflags",
        help_heading = "What is measured"
    )]
    pub compile_commands: Option<PathBuf>,

    /// Draw the change sequence graph: .svg or .dot
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub graph: Option<PathBuf>,

    /// Draw the complexity of a range into this SVG file
    ///
    /// The page has complexity over time, and complexity against changed lines.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,

    /// Also write a page with all of it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// What is wrong with what the user asked for.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}{advice}", advice = match .0 {
        GitError::NotARepository { .. } => "; name one with --repo, or give two files or two folders: OLD NEW",
        _ => "",
    })]
    Git(#[from] GitError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("`{given}` is a path; give two to compare, OLD NEW, or a revision of a git repository")]
    OnePath { given: String },
    #[error(
        "`{given}` is a patch, and NEW is a file, a folder or a revision: `patch -o changed.c {old} {given}` makes the changed file"
    )]
    Patch { old: String, given: String },
    #[error("`{given}`: ranges are written A..B, and mean the commits of B that A does not have")]
    ThreeDots { given: String },
    #[error(
        "--graph draws one change, and `{given}` has {commits} commits; name one of them, or use --plot"
    )]
    GraphOfSeveral { given: String, commits: usize },
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("`--cflags {given}` has an open quote")]
    OpenQuote { given: String },
    #[error(transparent)]
    Format(#[from] UnknownFormat),
}

/// Runs `patchwright complexity`: prints the CyCC of each change, and returns the exit status.
pub fn run(args: &ComplexityArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(error) => {
            eprintln!("patchwright: error: {error}");
            Exit::BadInput
        }
    }
}

fn try_run(args: &ComplexityArgs) -> Result<Exit, Problem> {
    let canvas = args.graph.as_deref().map(Canvas::new).transpose()?;
    let (changes, is_range) = changes(args)?;
    if let Some(canvas) = canvas {
        let [change] = &changes[..] else {
            return Err(Problem::GraphOfSeveral {
                given: args.what.clone().unwrap_or_default(),
                commits: changes.len(),
            });
        };
        let graph = &change.measurement.graph;
        let title = format!("{} · CyCC {}", change.title, graph.complexity());
        canvas.write(&svg::graph(graph), &title)?;
    }
    if let Some(path) = &args.plot {
        let title = args.what.as_deref().unwrap_or("uncommitted changes");
        files::write_atomic(path, svg::plot(&changes, title).as_bytes())?;
    }
    if let Some(file) = &args.html {
        let mut graphviz = Graphviz::default();
        let mut draw = |graph: &Layered, title: &str| graphviz.draw(graph, title);
        files::write_atomic(file, page::complexity(&changes, &mut draw).as_bytes())?;
    }
    let style = Style {
        colour: crate::shown::colour(),
    };
    if args.json {
        print!("{}", json(&changes));
    } else if is_range {
        print!("{}", table(&changes, style));
    } else {
        for change in &changes {
            print!("{}", text(change, style));
        }
    }
    let found = changes
        .iter()
        .any(|change| !change.measurement.graph.is_empty());
    Ok(if found { Exit::Found } else { Exit::Nothing })
}

/// The changes asked for, and whether they are a range of commits.
fn changes(args: &ComplexityArgs) -> Result<(Vec<Measured>, bool), Problem> {
    let definitions = definitions(args)?;
    let mut outlines = Outlines::default();
    let mut one = |title: String, commit: Option<Commit>, change: Change| Measured {
        title,
        commit,
        measurement: measure_with(
            &Change {
                definitions: definitions.clone(),
                ..change
            },
            &mut outlines,
        ),
    };
    let whole = args.whole_program;
    if let (Some(old), Some(new)) = (&args.what, &args.new) {
        let title = format!("{old} → {new}");
        let (old_path, new_path) = (Path::new(old), Path::new(new));
        if old_path.is_file() && is_patch(new_path) {
            return Err(Problem::Patch {
                old: old.clone(),
                given: new.clone(),
            });
        }
        if old_path.exists() && new_path.exists() {
            return Ok((vec![one(title, None, between(old_path, new_path)?)], false));
        }
        let history = match History::open(&args.repo) {
            // Two paths were meant, and one is not there.
            Err(GitError::NotARepository { .. }) => {
                return Ok((vec![one(title, None, between(old_path, new_path)?)], false));
            }
            history => history?,
        };
        for (revision, path) in [(old, old_path), (new, new_path)] {
            if !history.knows(revision) && (path.exists() || revision.contains(['/', '.'])) {
                // Tells which of the paths is not there.
                return Ok((vec![one(title, None, between(old_path, new_path)?)], false));
            }
        }
        let change = history.between(old, new, whole)?;
        return Ok((vec![one(title, None, change)], false));
    }
    let Some(what) = &args.what else {
        let change = History::open(&args.repo)?.uncommitted(whole)?;
        return Ok((vec![one("uncommitted changes".into(), None, change)], false));
    };
    let history = History::open(&args.repo)?;
    if what.contains("...") && !history.knows(what) {
        return Err(Problem::ThreeDots {
            given: what.clone(),
        });
    }
    if let Some((from, to)) = what.split_once("..")
        && !Path::new(what).exists()
    {
        let mut commits = history.range(from, to)?;
        if let Some(limit) = args.max_count {
            commits.drain(..commits.len().saturating_sub(limit));
        }
        let mut changes = Vec::new();
        for commit in commits {
            let change = history.change(&commit, whole)?;
            changes.push(one(title(&commit), Some(commit), change));
        }
        return Ok((changes, true));
    }
    if !history.knows(what) && Path::new(what).exists() {
        return Err(Problem::OnePath {
            given: what.clone(),
        });
    }
    let commit = history.commit(what)?;
    let change = history.change(&commit, whole)?;
    Ok((vec![one(title(&commit), Some(commit), change)], false))
}

/// A file whose name says that it is a patch.
fn is_patch(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    path.is_file() && matches!(ending, Some("diff" | "patch"))
}

/// The macros that the flags define.
fn definitions(args: &ComplexityArgs) -> Result<Definitions, Problem> {
    let mut definitions = Definitions::default();
    if let Some(flags) = &args.cflags {
        let words = shlex::split(flags).ok_or_else(|| Problem::OpenQuote {
            given: flags.clone(),
        })?;
        let words = words.iter().map(String::as_str);
        definitions.all = Some(Flags::new(words, Path::new("")));
    }
    if let Some(path) = &args.compile_commands {
        for command in read_compile_database(path)? {
            let words: Vec<_> = command
                .arguments
                .iter()
                .map(|word| word.to_string_lossy())
                .collect();
            let words = words.iter().map(|word| &**word);
            let flags = Flags::new(words, &command.directory);
            definitions.files.push((command.file, flags));
        }
    }
    Ok(definitions)
}

/// Returns a commit as one line.
pub fn title(commit: &Commit) -> String {
    format!(
        "{} · {} · {}",
        commit.short(),
        commit.date(),
        commit.subject
    )
}
