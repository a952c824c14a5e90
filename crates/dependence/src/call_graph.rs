//! The call graph of a program.

use patchwright_clib::Fact;
use patchwright_graph::components;
use patchwright_ir::{
    BlockId, Callee, Instruction, InstructionKind, Operand, Program, RoutineId, Target, Type, Value,
};
use rustc_hash::FxHashSet;

use crate::points_to::{PointsTo, may_be_called};

/// The functions that jump back to the call of one of [`LANDINGS`].
pub(crate) const JUMPS: [&str; 5] = [
    "longjmp",
    "siglongjmp",
    "_longjmp",
    "__longjmp_chk",
    "__builtin_longjmp",
];

/// The functions to which a `longjmp` comes back.
pub(crate) const LANDINGS: [&str; 5] = [
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "__builtin_setjmp",
];

/// A call: its place and the routines that it may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The block of the call.
    pub block: BlockId,
    /// Its position there.
    pub position: u32,
    /// The routines with a body that it may call, in order: directly, through a pointer, or as a
    /// function that a library function is given.
    pub bodies: Vec<RoutineId>,
    /// The routines without a body that it may call.
    pub libraries: Vec<RoutineId>,
    /// Those of `bodies` that are called with the call's own arguments; the others are called back
    /// by a library function.
    pub own: Vec<RoutineId>,
}

/// All calls of a program.
#[derive(Clone, Debug)]
pub struct CallGraph {
    sites: Vec<Vec<CallSite>>,
    recursive: Vec<bool>,
    bottom_up: Vec<RoutineId>,
    returns_always: Vec<bool>,
    jumps: Vec<bool>,
}

impl CallGraph {
    /// Computes the calls of a program. Calls through pointers may call what the points-to analysis
    /// says.
    pub fn of(program: &Program, points_to: &PointsTo) -> CallGraph {
        CallGraph::with(program, &|routine, block, position| {
            points_to.callees(routine, block, position).to_vec()
        })
    }

    /// Computes the calls of a program. Calls through pointers may call every function of a fitting
    /// type whose address is taken. Calls by library functions are not known then.
    pub fn by_type(program: &Program) -> CallGraph {
        let taken = address_taken(program);
        CallGraph::with(program, &|routine, block, position| {
            let Some(function) = program.body(routine) else {
                return Vec::new();
            };
            let instruction = &function.block(block).instructions[position as usize];
            let InstructionKind::Call {
                callee: Callee::Indirect(_),
                arguments,
                result,
                ..
            } = &instruction.kind
            else {
                return Vec::new();
            };
            let types: Vec<Type> = arguments.iter().map(|argument| argument.ty).collect();
            let mut all: Vec<RoutineId> = taken
                .iter()
                .copied()
                .filter(|&id| may_be_called(program.function(id), &types, *result))
                .collect();
            all.sort_unstable();
            all
        })
    }

    fn with(
        program: &Program,
        through_pointers: &dyn Fn(RoutineId, BlockId, u32) -> Vec<RoutineId>,
    ) -> CallGraph {
        let mut sites = Vec::with_capacity(program.routines.len());
        for routine in program.routine_ids() {
            let mut list = Vec::new();
            let module = program.routine(routine).module;
            for (block, position, instruction) in
                program.body(routine).into_iter().flat_map(instructions)
            {
                let InstructionKind::Call { callee, .. } = &instruction.kind else {
                    continue;
                };
                let mut called = through_pointers(routine, block, position);
                let direct = match callee {
                    Callee::Direct(id) => Some(program.routine_of(module, *id)),
                    Callee::Indirect(_) => None,
                };
                let library = direct.is_some_and(|id| !program.routine(id).defined);
                let own = match direct {
                    Some(id) if library => {
                        if !called.contains(&id) {
                            called.push(id);
                        }
                        Vec::new()
                    }
                    Some(id) => {
                        called = vec![id];
                        vec![id]
                    }
                    None => called.clone(),
                };
                let (bodies, libraries): (Vec<RoutineId>, Vec<RoutineId>) = called
                    .into_iter()
                    .partition(|&id| program.routine(id).defined);
                let own = bodies
                    .iter()
                    .copied()
                    .filter(|id| own.contains(id))
                    .collect();
                list.push(CallSite {
                    block,
                    position,
                    bodies,
                    libraries,
                    own,
                });
            }
            sites.push(list);
        }
        let mut graph = CallGraph {
            recursive: vec![false; sites.len()],
            returns_always: vec![true; sites.len()],
            jumps: vec![false; sites.len()],
            bottom_up: Vec::new(),
            sites,
        };
        graph.order();
        graph.returns(program);
        graph.jump(program);
        graph
    }

    /// Returns the calls of a routine, in the order of their places.
    pub fn sites(&self, routine: RoutineId) -> &[CallSite] {
        &self.sites[routine.index()]
    }

    /// Returns the call at a place, if there is one.
    pub fn site(&self, routine: RoutineId, block: BlockId, position: u32) -> Option<&CallSite> {
        let sites = self.sites(routine);
        let found = sites.binary_search_by_key(&(block, position), |s| (s.block, s.position));
        Some(&sites[found.ok()?])
    }

    /// Whether several calls of the routine may be active at once.
    pub fn is_recursive(&self, routine: RoutineId) -> bool {
        self.recursive[routine.index()]
    }

    /// Returns all routines, callees before callers as far as there is no recursion.
    pub fn bottom_up(&self) -> &[RoutineId] {
        &self.bottom_up
    }

    /// Whether every call of the routine that ends returns to its caller, so that none calls `exit`.
    pub fn always_returns(&self, routine: RoutineId) -> bool {
        self.returns_always[routine.index()]
    }

    /// Whether every execution of the call that ends returns.
    pub fn site_always_returns(&self, program: &Program, site: &CallSite) -> bool {
        site.bodies.iter().all(|&id| self.always_returns(id))
            && site.libraries.iter().all(|&id| {
                let function = program.function(id);
                let exits = patchwright_clib::facts(&function.name).is_some_and(|effects| {
                    effects
                        .iter()
                        .any(|fact| matches!(fact, Fact::Exits | Fact::NeverReturns))
                });
                !exits && !function.no_return
            })
    }

    /// The call may end by `longjmp`, in what it calls.
    pub(crate) fn site_may_jump(&self, program: &Program, site: &CallSite) -> bool {
        site.bodies.iter().any(|id| self.jumps[id.index()])
            || site
                .libraries
                .iter()
                .any(|&id| JUMPS.contains(&program.routine(id).name.as_str()))
    }

    /// Control may come back to the call by `longjmp`.
    pub(crate) fn is_landing(program: &Program, site: &CallSite) -> bool {
        site.libraries
            .iter()
            .any(|&id| LANDINGS.contains(&program.routine(id).name.as_str()))
    }

    /// Callees before callers; whoever comes to itself by calls is recursive.
    fn order(&mut self) {
        let count = self.sites.len();
        let callees = |node: usize| -> Vec<usize> {
            let bodies = self.sites[node].iter().flat_map(|site| &site.bodies);
            bodies.map(|id| id.index()).collect()
        };
        let (recursive, bottom_up) = (&mut self.recursive, &mut self.bottom_up);
        components(count, 0..count, callees, |members| {
            for &member in members.iter().rev() {
                recursive[member] = members.len() > 1 || callees(member).contains(&member);
                bottom_up.push(RoutineId(member as u32));
            }
        });
    }

    fn jump(&mut self, program: &Program) {
        let mut changed = true;
        while changed {
            changed = false;
            for id in self.bottom_up.clone() {
                let sites = self.sites(id).iter();
                let jumps = sites.clone().any(|site| self.site_may_jump(program, site));
                changed |= jumps && !std::mem::replace(&mut self.jumps[id.index()], jumps);
            }
        }
    }

    fn returns(&mut self, program: &Program) {
        loop {
            let mut changed = false;
            for id in self.bottom_up.clone() {
                let Some(function) = program.body(id) else {
                    continue;
                };
                let ends = function.blocks.iter().any(|block| {
                    block.terminator.kind == patchwright_ir::TerminatorKind::Unreachable
                });
                let exits = ends
                    || self
                        .sites(id)
                        .iter()
                        .any(|site| !self.site_always_returns(program, site));
                if exits && self.returns_always[id.index()] {
                    self.returns_always[id.index()] = false;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// The instructions of a function with their places.
pub(crate) fn instructions(
    function: &patchwright_ir::Function,
) -> impl Iterator<Item = (BlockId, u32, &Instruction)> {
    function.block_ids().flat_map(move |id| {
        let list = function.block(id).instructions.iter();
        list.enumerate()
            .map(move |(position, instruction)| (id, position as u32, instruction))
    })
}

/// The routines whose address is taken somewhere.
fn address_taken(program: &Program) -> FxHashSet<RoutineId> {
    let mut taken = FxHashSet::default();
    for routine in program.routine_ids() {
        let module = program.routine(routine).module;
        let Some(function) = program.body(routine) else {
            continue;
        };
        let mut note = |operand: Operand| {
            if let Value::Address {
                target: Target::Function(id),
                ..
            } = operand.value
            {
                taken.insert(program.routine_of(module, id));
            }
        };
        for block in &function.blocks {
            for instruction in &block.instructions {
                instruction.operands().into_iter().for_each(&mut note);
            }
            block.terminator.operand().into_iter().for_each(&mut note);
        }
    }
    for object in program.objects.iter().filter(|object| object.defined) {
        let global = program.modules[object.module].global(object.global);
        for relocation in global.data.iter().flat_map(|data| &data.relocations) {
            if let Target::Function(id) = relocation.target {
                taken.insert(program.routine_of(object.module, id));
            }
        }
    }
    taken
}
