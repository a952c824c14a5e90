//! Checks slices of generated programs: reduced programs compute the same, and dynamic slices lie in
//! static ones.

use std::{collections::BTreeMap, error::Error, ffi::OsString, path::Path};

use patchwright_csource::Clang;
use patchwright_dependence::{Graph, Occurrence, Recorder, Vertex, VertexId, reduce};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram, files};
use patchwright_interpret::{Access, Closed, Ending, Limits, Machine, Observer, Step};
use patchwright_ir::{BlockId, Module, Program, RoutineId, verify};

use crate::programs::program;

/// The numbers of slices by result.
#[derive(Debug, Default)]
pub struct Tally {
    /// Slices that were checked.
    pub slices: usize,
    /// Instructions of the programs, and how many of them the slices have, added up.
    pub instructions: usize,
    pub in_static: usize,
    pub in_relevant: usize,
    pub in_dynamic: usize,
    /// Values that the reduced programs computed again.
    pub values: usize,
    /// What was wrong.
    pub wrong: Vec<String>,
}

/// The values of some instructions, in the order in which they are computed.
struct Values<'a> {
    /// The instruction that a step is; `None` for one that does not count.
    wanted: &'a dyn Fn(Step) -> Option<VertexId>,
    /// The active calls: what the last step of each was.
    last: Vec<Option<VertexId>>,
    found: BTreeMap<VertexId, Vec<u128>>,
}

impl Observer for Values<'_> {
    fn step(&mut self, step: Step) {
        if let Some(last) = self.last.last_mut() {
            *last = (self.wanted)(step);
        }
    }

    fn value(&mut self, bits: u128) {
        if let Some(Some(vertex)) = self.last.last() {
            self.found.entry(*vertex).or_default().push(bits);
        }
    }

    fn access(&mut self, _: Access) {}

    fn enter(&mut self, _: RoutineId) {
        self.last.push(None);
    }

    fn leave(&mut self) {
        self.last.pop();
    }
}

const LIMITS: u64 = 20_000_000;

fn execute(modules: Vec<Module>, observer: &mut dyn Observer) -> Result<Ending, Box<dyn Error>> {
    let mut world = Closed::default();
    let limits = Limits {
        instructions: LIMITS,
        ..Limits::default()
    };
    let mut machine = Machine::link(modules, limits, &mut world)?;
    machine.observe(observer);
    Ok(machine.run(&[b"program".to_vec()], &[]).ending)
}

/// Executes a sample of a program's slices, and compares their values with those of the program.
pub fn check(name: &str, modules: Vec<Module>, tally: &mut Tally) -> Result<(), Box<dyn Error>> {
    let program = Program::link(modules)?;
    let graph = Graph::of(&program);
    let mut recorder = Recorder::new(&graph, 50_000_000);
    let ending = execute(program.modules.clone(), &mut recorder)?;
    if !matches!(ending, Ending::Exit(_)) || recorder.is_full() {
        return Ok(());
    }
    let every = |step: Step| graph.instruction(step.routine, BlockId(step.block), step.index);
    let mut values = Values {
        wanted: &every,
        last: Vec::new(),
        found: BTreeMap::new(),
    };
    execute(program.modules.clone(), &mut values)?;
    let whole = values.found;
    // Values of scalars: an address may be another one in another program.
    let candidates: Vec<VertexId> = whole
        .keys()
        .copied()
        .filter(|&id| match graph.vertex(id) {
            Vertex::Instruction(routine, block, position) => {
                let function = program.function(routine);
                let instruction = &function.block(block).instructions[position as usize];
                instruction.defines().is_some_and(|dst| {
                    function
                        .temporary(dst)
                        .scalar()
                        .is_some_and(|ty| ty.is_integer())
                })
            }
            _ => false,
        })
        .collect();
    let total = graph
        .instructions_of(&(0..graph.vertex_count() as u32).collect())
        .count();
    const EACH: usize = 12;
    for &criterion in candidates.iter().step_by((candidates.len() / EACH).max(1)) {
        let place = match graph.line_of(criterion) {
            Some(line) => format!("{name}, line {}", line.line),
            None => name.to_owned(),
        };
        let value = graph.with_value(criterion);
        let fixed = graph.backward(&value);
        let dynamic = recorder.slice(&value, Occurrence::Every, false);
        let relevant = recorder.slice(&value, Occurrence::Every, true);
        tally.slices += 1;
        tally.instructions += total;
        tally.in_static += graph.instructions_of(&fixed).count();
        tally.in_dynamic += dynamic.vertices.count();
        tally.in_relevant += relevant.vertices.count();
        for missing in dynamic.vertices.without(&fixed).iter().take(1) {
            let line = graph.line_of(VertexId(missing)).map_or(0, |line| line.line);
            tally.wrong.push(format!(
                "{place}: line {line} contributed, and is not in the slice"
            ));
        }
        for missing in dynamic.vertices.without(&relevant.vertices).iter().take(1) {
            let line = graph.line_of(VertexId(missing)).map_or(0, |line| line.line);
            tally.wrong.push(format!(
                "{place}: line {line} contributed, and is not relevant"
            ));
        }
        let reduced = reduce(&graph, &value);
        for module in &reduced.modules {
            if let Err(violations) = verify(module) {
                tally
                    .wrong
                    .push(format!("{place}: reduced: {}", violations[0]));
            }
        }
        let before = |step: Step| {
            let position = reduced.before(step.routine, step.block, step.index)?;
            graph.instruction(step.routine, BlockId(step.block), position)
        };
        let mut again = Values {
            wanted: &before,
            last: Vec::new(),
            found: BTreeMap::new(),
        };
        let ending = execute(reduced.modules.clone(), &mut again)?;
        let (expected, found) = (whole.get(&criterion), again.found.get(&criterion));
        tally.values += found.map_or(0, Vec::len);
        if expected != found {
            tally.wrong.push(format!(
                "{place}: the reduced program computes {} values, {:?}; the whole one {}",
                found.map_or(0, Vec::len),
                ending,
                expected.map_or(0, Vec::len),
            ));
        }
    }
    Ok(())
}

/// Returns a generated program in the IR.
pub fn lowered(
    clang: &Clang,
    runner: &mut Runner,
    folder: &Path,
    source: &[u8],
) -> Result<Module, Box<dyn Error>> {
    let file = folder.join("program.c");
    files::write_atomic(&file, source)?;
    let command = CompileCommand {
        directory: folder.to_path_buf(),
        arguments: ["cc", "-c", "program.c"].map(OsString::from).to_vec(),
        output: None,
        included: None,
        file: file.clone(),
    };
    let unit = patchwright_csource::parse(clang, runner, &command, source.to_vec())?;
    Ok(patchwright_lower::lower(&unit, &file.to_string_lossy()))
}

/// Prints the table. The result is false if a slice was wrong.
pub fn run(programs: u64, first: u64, keep: Option<&Path>) -> Result<bool, Box<dyn Error>> {
    let scratch = patchwright_exec::Scratch::in_default_place()?;
    let folder = scratch.create_folder("programs")?;
    let program_of = RunnerProgram::current_exe(["__runner"])?;
    let mut runner = Runner::start(&program_of, None, CancelToken::new()?)?;
    let clang = Clang::find(&mut runner)?;
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let source = program(seed);
        let module = lowered(&clang, &mut runner, &folder, source.as_bytes())?;
        let before = tally.wrong.len();
        check(&seed.to_string(), vec![module], &mut tally)?;
        if tally.wrong.len() > before
            && let Some(keep) = keep
        {
            files::write_atomic(&keep.join(format!("{seed}.c")), source.as_bytes())?;
        }
    }
    for wrong in &tally.wrong {
        eprintln!("{wrong}");
    }
    let share = |part: usize| 100.0 * part as f64 / tally.instructions.max(1) as f64;
    println!(
        "| programs | slices | wrong | instructions in a static slice | in a relevant one | in a dynamic one | values \
         computed again |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    println!(
        "| {programs} | {} | {} | {:.1} % | {:.1} % | {:.1} % | {} |",
        tally.slices,
        tally.wrong.len(),
        share(tally.in_static),
        share(tally.in_relevant),
        share(tally.in_dynamic),
        tally.values,
    );
    Ok(tally.wrong.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "nightly: 3 s; crate dependence tests slices"]
    fn generated_programs_reduced_to_a_slice_compute_what_they_did() {
        let folder = tempfile::tempdir().expect("a folder");
        let cancel = CancelToken::new().expect("a pipe");
        let mut runner =
            Runner::start(&RunnerProgram::this_binary(), None, cancel).expect("starts");
        let clang = Clang::find(&mut runner).expect("clang is installed");
        let mut tally = Tally::default();
        for seed in 1..=4 {
            let source = program(seed);
            let module = lowered(&clang, &mut runner, folder.path(), source.as_bytes());
            let module = module.expect("it is C");
            check(&seed.to_string(), vec![module], &mut tally).expect("it runs");
        }
        assert_eq!(tally.wrong, Vec::<String>::new());
        assert!(tally.slices > 20 && tally.values > 20, "{tally:?}");
    }
}
