//! Writes drawings to files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use patchwright_exec::files::{self, FileError};
use patchwright_exec::runner::Stdin;
use patchwright_exec::{Limits, Request, Runner};
use patchwright_report::layered::Layered;
use patchwright_report::svg;

use crate::sources;

/// The format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Scalable vector graphics.
    Svg,
    /// The language of Graphviz.
    Dot,
}

/// The error that the name of a file does not tell the format of its drawing.
#[derive(Debug, thiserror::Error)]
#[error("--graph {}: the name must end in .svg or .dot", path.display())]
pub struct UnknownFormat {
    path: PathBuf,
}

/// A file for a drawing.
#[derive(Clone, Debug)]
pub struct Canvas<'a> {
    path: &'a Path,
    /// How it is drawn.
    format: Format,
}

impl<'a> Canvas<'a> {
    /// Takes the format from the extension of `path`.
    ///
    /// # Errors
    /// [`UnknownFormat`] if it does not.
    pub fn new(path: &'a Path) -> Result<Self, UnknownFormat> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Format::Svg,
            Some("dot") => Format::Dot,
            _ => {
                return Err(UnknownFormat {
                    path: path.to_path_buf(),
                });
            }
        };
        Ok(Canvas { path, format })
    }

    /// Draws a graph and writes it to the file.
    ///
    /// # Errors
    /// [`FileError`] where that is not possible.
    pub fn write(&self, graph: &Layered, title: &str) -> Result<(), FileError> {
        let drawn = match self.format {
            Format::Dot => graph.dot(title),
            Format::Svg => Graphviz::default().draw(graph, title),
        };
        files::write_atomic(self.path, drawn.as_bytes())
    }
}

/// For larger graphs Graphviz takes too long.
const MOST_NODES: usize = 300;

/// The longest time for a drawing.
const LONGEST: Duration = Duration::from_secs(10);

/// Draws graphs by Graphviz where it is installed, and itself elsewhere.
#[derive(Default)]
pub struct Graphviz {
    runner: Option<Runner>,
    is_missing: bool,
}

impl Graphviz {
    /// Returns the drawing of a graph as SVG.
    pub fn draw(&mut self, graph: &Layered, title: &str) -> String {
        let by_graphviz = || {
            let drawn = self.drawn(graph.dot(title));
            self.is_missing |= drawn.is_none();
            svg::of_graphviz(&drawn?, title)
        };
        let is_small = graph.nodes.len() <= MOST_NODES;
        let drawn = is_small.then(by_graphviz).flatten();
        drawn.unwrap_or_else(|| graph.draw(title))
    }

    fn drawn(&mut self, dot: String) -> Option<String> {
        if self.is_missing {
            return None;
        }
        let runner = match self.runner.take() {
            Some(runner) => runner,
            None => sources::runner().ok()?,
        };
        let limits = Limits {
            wall: LONGEST,
            ..Limits::for_build()
        };
        let request = Request::new("dot", "/").arg("-Tsvg").limits(limits);
        let request = request.stdin(Stdin::Bytes(dot.into_bytes()));
        let outcome = self.runner.insert(runner).run(&request).ok()?;
        let is_drawn = outcome.ending.is_success() && !outcome.output_truncated;
        is_drawn.then(|| String::from_utf8_lossy(&outcome.stdout).into_owned())
    }
}
