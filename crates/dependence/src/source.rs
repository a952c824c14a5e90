//! Maps lines of the source to vertices, and vertices to lines.

use std::collections::BTreeMap;

use patchwright_ir::{BlockId, InstructionKind, LocalId, OriginId, RoutineId, Target, Value};

use crate::{
    bits::Bits,
    graph::{Graph, Vertex, VertexId},
    points_to::{Location, LocationId},
};

/// A line of a source file, counted from 1, by the number of the module and of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// The module.
    pub module: usize,
    /// Its file.
    pub file: u32,
    /// The line.
    pub line: u32,
}

/// The line, and perhaps the variable on it, from which a slice begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// The path of the file, or the end of it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// A variable: its value there. Else all that the line does.
    pub variable: Option<String>,
}

/// Why a criterion names nothing that is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CriterionError {
    /// No file of the program has this name.
    NoFile,
    /// Nothing on that line is executed; the nearest lines of which something is.
    NoCode(Vec<u32>),
    /// The line's function has no such variable; those that it has.
    NoVariable(Vec<String>),
}

/// A path ends with another one, by whole components.
fn ends_with(path: &str, end: &str) -> bool {
    path == end
        || path
            .strip_suffix(end)
            .is_some_and(|rest| rest.ends_with('/') || end.starts_with('/'))
}

impl Graph<'_> {
    /// Returns the source line of an instruction, or `None` for other vertices.
    pub fn line_of(&self, id: VertexId) -> Option<Line> {
        let Vertex::Instruction(routine, block, position) = self.vertex(id) else {
            return None;
        };
        let function = self.program.function(routine);
        let block = function.block(block);
        let origin = match block.instructions.get(position as usize) {
            Some(instruction) => {
                if matches!(
                    instruction.kind,
                    InstructionKind::Live { .. }
                        | InstructionKind::Dead { .. }
                        | InstructionKind::Settle { .. }
                ) {
                    return None;
                }
                instruction.origin
            }
            None => block.terminator.origin,
        };
        self.line_at(routine, origin)
    }

    /// Returns the lines of a slice with the number of their instructions in it. The line of a loop
    /// or `switch` is included if a `break` or `continue` of it is. Instructions that lowering adds
    /// do not count.
    pub fn lines(&self, slice: &Bits) -> BTreeMap<Line, usize> {
        let mut lines = BTreeMap::new();
        for id in self.instructions_of(slice) {
            let both = [self.line_of(id), self.line_around(id)];
            for line in both.into_iter().flatten().filter(|line| line.line > 0) {
                *lines.entry(line).or_default() += 1;
            }
        }
        lines
    }

    /// The line of the loop or `switch` that a jump belongs to.
    fn line_around(&self, id: VertexId) -> Option<Line> {
        let Vertex::Instruction(routine, block, position) = self.vertex(id) else {
            return None;
        };
        let block = self.program.function(routine).block(block);
        let is_last = position as usize == block.instructions.len();
        let inside = block.terminator.inside.filter(|_| is_last)?;
        self.line_at(routine, inside)
    }

    fn line_at(&self, routine: RoutineId, origin: OriginId) -> Option<Line> {
        let (file, line) = self.program.function(routine).origin(origin).line?;
        Some(Line {
            module: self.program.routine(routine).module,
            file: file.0,
            line,
        })
    }

    /// Returns the vertices that a criterion names.
    ///
    /// # Errors
    /// When the line does nothing, or its function has no such variable.
    pub fn criterion(&self, criterion: &Criterion) -> Result<Vec<VertexId>, CriterionError> {
        let mut files: Vec<(usize, u32)> = Vec::new();
        for (module, found) in self.program.modules.iter().enumerate() {
            for (file, source) in found.files.iter().enumerate() {
                if ends_with(&source.path, &criterion.file) {
                    files.push((module, file as u32));
                }
            }
        }
        if files.is_empty() {
            return Err(CriterionError::NoFile);
        }
        let mut here = Vec::new();
        let mut others: Vec<u32> = Vec::new();
        for number in 0..self.vertex_count() as u32 {
            let Some(line) = self.line_of(VertexId(number)) else {
                continue;
            };
            if !files.contains(&(line.module, line.file)) {
                continue;
            }
            match line.line == criterion.line {
                true => here.push(VertexId(number)),
                false => others.push(line.line),
            }
        }
        if here.is_empty() {
            others.sort_unstable();
            others.dedup();
            let at = others.partition_point(|&line| line < criterion.line);
            let near = others[at.saturating_sub(1)..].iter().copied().take(2);
            return Err(CriterionError::NoCode(near.collect()));
        }
        let Some(variable) = &criterion.variable else {
            let handed: Vec<VertexId> = here
                .iter()
                .flat_map(|&vertex| self.site_vertices(vertex))
                // What a call does to memory is asked for by the variable.
                .filter(|&id| {
                    let slot = match self.vertex(id) {
                        Vertex::ActualIn(_, slot) | Vertex::ActualOut(_, slot) => slot,
                        _ => return false,
                    };
                    !matches!(slot, crate::graph::Slot::Memory(_))
                })
                .collect();
            here.extend(handed);
            return Ok(here);
        };
        self.values_of(&here, variable)
    }

    /// Where instructions touch a variable; else its value where control gets to them.
    fn values_of(&self, here: &[VertexId], name: &str) -> Result<Vec<VertexId>, CriterionError> {
        let mut found = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for &vertex in here {
            let Vertex::Instruction(routine, block, position) = self.vertex(vertex) else {
                continue;
            };
            if self.touches(routine, block, position, name) {
                found.push(vertex);
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
        let first = here.first().map(|&vertex| self.vertex(vertex));
        if let Some(Vertex::Instruction(routine, block, position)) = first {
            for (index, local) in self.program.function(routine).locals.iter().enumerate() {
                if !local.name.is_empty() && !names.contains(&local.name) {
                    names.push(local.name.clone());
                }
                if local.name == name {
                    let local = LocalId(index as u32);
                    found.extend(self.reaching(routine, block, position, local));
                }
            }
        }
        match found.is_empty() {
            true => Err(CriterionError::NoVariable(names)),
            false => Ok(found),
        }
    }

    fn touches(&self, routine: RoutineId, block: BlockId, position: u32, name: &str) -> bool {
        let function = self.program.function(routine);
        let block_ = function.block(block);
        let is_named = |local: LocalId| function.local(local).name == name;
        let Some(instruction) = block_.instructions.get(position as usize) else {
            return false;
        };
        match &instruction.kind {
            InstructionKind::Read { local, .. } | InstructionKind::Write { local, .. } => {
                is_named(*local)
            }
            InstructionKind::Load { .. }
            | InstructionKind::LoadBits { .. }
            | InstructionKind::Store { .. }
            | InstructionKind::StoreBits { .. }
            | InstructionKind::Copy { .. }
            | InstructionKind::Zero { .. } => {
                let module = self.program.routine(routine).module;
                // Only what names the variable itself, not what may point to it.
                let places = instruction.operands().into_iter().any(|operand| {
                    let global = match operand.value {
                        Value::Address {
                            target: Target::Global(global),
                            ..
                        } => Some(self.program.modules[module].global(global).name.as_str()),
                        _ => None,
                    };
                    global == Some(name)
                });
                places || self.is_local_named(routine, block, position, name)
            }
            _ => false,
        }
    }

    /// The only location that the instruction touches is the local of this name.
    fn is_local_named(
        &self,
        routine: RoutineId,
        block: BlockId,
        position: u32,
        name: &str,
    ) -> bool {
        let mut all = self.reads_of(routine, block, position);
        all.union(&self.writes_of(routine, block, position));
        // Parts of one object.
        let mut touched = all.iter().map(|id| self.points_to.location(LocationId(id)));
        let first = touched.next();
        match first {
            Some(Location::Local(of, local)) => {
                of == routine
                    && touched.all(|other| Some(other) == first)
                    && self.program.function(routine).local(local).name == name
            }
            _ => false,
        }
    }

    /// Returns the name of the function that has code on `line`.
    pub fn function_at(&self, line: Line) -> Option<&str> {
        let found = self.program.routine_ids().find(|&id| {
            let routine = self.program.routine(id);
            routine.defined && routine.module == line.module && {
                let function = self.program.function(id);
                let lines = function.origins.iter().filter_map(|origin| origin.line);
                let lines = lines.filter(|(file, _)| file.0 == line.file);
                let (mut low, mut high) = (u32::MAX, 0);
                for (_, line) in lines {
                    low = low.min(line);
                    high = high.max(line);
                }
                let start = function.origin(OriginId(0)).line;
                low.min(start.map_or(low, |(_, line)| line)) <= line.line && line.line <= high
            }
        });
        found.map(|id| self.program.routine(id).name.as_str())
    }
}
