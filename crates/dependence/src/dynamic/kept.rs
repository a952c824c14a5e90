//! The state that the library keeps between calls: streams, files, and its own variables.
//!
//! The static graph tells which of this state a call reads and changes. The interpreter tells which stream it is. A call that only
//! adds to the state, such as printing, does not depend on earlier calls. A later read depends on all of them.

use patchwright_ir::RoutineId;
use rustc_hash::FxHashMap;

use super::{
    Pending, Read, Recorder,
    instance::{Instance, NONE},
};
use crate::graph::{Graph, Vertex, VertexId};

/// A thing that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    /// The stream whose object has this address.
    Stream(u64),
    /// What is in files and descriptors.
    Files,
    /// What functions of one kind keep.
    State(&'static str),
}

/// What a call reads and writes.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    reads: bool,
    writes: bool,
}

/// What calls of an instruction do to what is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    streams: Way,
    state: Way,
    family: &'static str,
    /// It opens or closes streams, or writes out what they hold.
    opens: bool,
    closes: bool,
}

/// The instances that left things as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    cells: FxHashMap<Cell, Instance>,
    known: FxHashMap<u32, Known>,
}

impl Recorder<'_, '_> {
    /// A call of the library uses a stream.
    pub(super) fn uses_stream(&mut self, pending: &mut Pending, file: u64) {
        let known = self.known_call(pending);
        if known.streams.reads || known.streams.writes {
            let by = self.native(pending);
            pending.used_stream = true;
            self.keep(by, Cell::Stream(file), known.streams);
        }
    }

    /// A call of the library is over.
    pub(super) fn uses_state(&mut self, pending: &mut Pending) {
        let known = self.known_call(pending);
        let by = self.native(pending);
        if known.state.reads || known.state.writes {
            self.keep(by, Cell::State(known.family), known.state);
        }
        if !pending.used_stream || known.opens {
            self.keep(by, Cell::Files, known.streams);
        } else if known.closes {
            let way = Way {
                reads: false,
                writes: true,
            };
            self.keep(by, Cell::Files, way);
        }
    }

    fn keep(&mut self, by: Instance, cell: Cell, way: Way) {
        let before = self.kept.cells.get(&cell).copied().unwrap_or(NONE);
        if way.reads {
            self.depends(by, before, Read::Memory);
        }
        if !way.writes {
            return;
        }
        let now = match way.reads || before == NONE {
            true => by,
            // It adds something: both count from here on.
            false => {
                let both = self.instance(self.instances[by as usize]);
                self.depends(both, by, Read::Fixed);
                self.depends(both, before, Read::Fixed);
                both
            }
        };
        self.kept.cells.insert(cell, now);
    }

    fn known_call(&mut self, pending: &Pending) -> Known {
        let vertex = self.instances[pending.instance as usize];
        if let Some(&known) = self.kept.known.get(&vertex) {
            return known;
        }
        let known = known(self.graph, VertexId(vertex));
        self.kept.known.insert(vertex, known);
        known
    }
}

fn known(graph: &Graph<'_>, vertex: VertexId) -> Known {
    let Vertex::Instruction(routine, block, position) = graph.vertex(vertex) else {
        return Known::default();
    };
    let reads = graph.reads_of(routine, block, position);
    let writes = graph.writes_of(routine, block, position);
    let way = |location: crate::LocationId| Way {
        reads: reads.contains(location.0),
        writes: writes.contains(location.0),
    };
    let site = graph.calls().site(routine, block, position);
    let libraries: &[RoutineId] = site.map_or(&[], |site| &site.libraries);
    let names = libraries
        .iter()
        .map(|&id| graph.program().routine(id).name.as_str());
    let mut known = Known {
        streams: way(graph.points_to().streams()),
        state: way(graph.points_to().library()),
        ..Known::default()
    };
    for name in names {
        let facts = patchwright_clib::facts(name);
        known.opens |= facts.is_some_and(|all| {
            all.iter()
                .any(|fact| matches!(fact, patchwright_clib::Fact::GivesStream))
        });
        known.closes |= matches!(name, "fclose" | "fflush" | "pclose" | "fflush_unlocked");
        known.family = family(name);
    }
    known
}

/// The functions that share what they keep, by the name of one of them; what no family has is kept by all others together.
fn family(name: &str) -> &'static str {
    match name {
        "rand" | "srand" | "random" | "srandom" => "rand",
        "drand48" | "lrand48" | "mrand48" | "srand48" => "drand48",
        "getenv" | "secure_getenv" | "setenv" | "putenv" | "unsetenv" => "getenv",
        "strtok" => "strtok",
        "getopt" | "getopt_long" | "getopt_long_only" | "__posix_getopt" => "getopt",
        "signal" | "raise" | "sigaction" | "sigprocmask" | "kill" | "pthread_sigmask" => "signal",
        _ => "",
    }
}
