//! Dynamic and relevant slices of one execution.

mod instance;
mod jumps;
mod kept;
mod known;
mod relevant;
mod shadow;

use patchwright_interpret::{Access, Observer, Step};
use patchwright_ir::{BlockId, LocalKind, RoutineId};
use rustc_hash::FxHashMap;

use crate::{
    bits::Bits,
    control::Decider,
    graph::{Graph, Slot, VertexId, find},
};

use instance::{Instance, NONE};
use jumps::Jumps;
use kept::Kept;
use known::{Known, What};
use relevant::Potential;
use shadow::Shadow;

/// Which executions of a criterion count: the last one, or each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// Every one.
    Every,
    /// The last one of each instruction.
    Last,
}

/// The instructions that contributed to a criterion in one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicSlice {
    /// The instructions.
    pub vertices: Bits,
    /// How many executions of instructions.
    pub instances: usize,
    /// How often the criterion was executed.
    pub occurrences: usize,
}

/// What is read by a dependence, so that one can ask what else might have been written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// A value that nothing else can change, or a decision.
    Fixed,
    /// A register local of this number.
    Register(u32),
    /// Memory.
    Memory,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Instance,
    /// [`NONE`] when what is read was not written by an instruction.
    to: Instance,
    read: Read,
}

/// A decision that was made: the end of a segment with several ways out.
#[derive(Clone, Copy, Debug)]
struct Decision {
    instance: Instance,
    activation: u32,
    routine: RoutineId,
    segment: u32,
    /// The node of [`Control`] that control went to.
    taken: u32,
}

/// A call that is not over.
#[derive(Clone, Debug)]
struct Pending {
    instance: Instance,
    arguments: Vec<Instance>,
    defines: Option<u32>,
    /// The routines that it calls with its own arguments.
    own: Vec<RoutineId>,
    /// The instance of the library function, once it has done something.
    native: Instance,
    /// The instance of the value.
    result: Instance,
    /// A stream was used.
    used_stream: bool,
}

#[derive(Clone, Debug)]
struct Activation {
    routine: RoutineId,
    number: u32,
    temporaries: Vec<Instance>,
    locals: Vec<Instance>,
    rest: Vec<Instance>,
    entry: Instance,
    /// For each segment, the last instance of its end.
    ends: Vec<Instance>,
    /// For each segment, where control went from there.
    taken: Vec<u32>,
    /// The segment whose end was executed last, until control gets elsewhere.
    left: Option<u32>,
    pending: Option<Pending>,
    /// The instance that is being executed.
    now: Instance,
    /// Parameters in memory that the call still has to fill.
    unfilled: Vec<Instance>,
    returned: Instance,
}

/// Observes an execution in the interpreter, and records the dependences of each executed instruction.
pub struct Recorder<'g, 'p> {
    graph: &'g Graph<'p>,
    known: FxHashMap<RoutineId, Vec<Vec<Known>>>,
    activations: Vec<Activation>,
    count: u32,
    instances: Vec<u32>,
    /// The activation of each instance; none for those that only stand for a part of a call.
    owners: Vec<u32>,
    edges: Vec<Edge>,
    decisions: Vec<Decision>,
    memory: Shadow,
    kept: Kept,
    /// The call of `longjmp` that routines are being left by.
    jumped: Instance,
    limit: usize,
    full: bool,
    sorted: bool,
}

impl<'g, 'p> Recorder<'g, 'p> {
    /// Makes a recorder for executions of the graph's program that keeps at most `limit` dependences.
    pub fn new(graph: &'g Graph<'p>, limit: usize) -> Self {
        Recorder {
            graph,
            known: FxHashMap::default(),
            activations: Vec::new(),
            count: 0,
            instances: Vec::new(),
            owners: Vec::new(),
            edges: Vec::new(),
            decisions: Vec::new(),
            memory: Shadow::default(),
            kept: Kept::default(),
            jumped: NONE,
            limit,
            full: false,
            sorted: false,
        }
    }

    /// Whether the execution had more dependences than the limit, so that its end is not recorded.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Returns the number of executed instructions, and of the dependences between them.
    pub fn size(&self) -> (usize, usize) {
        let executed = self.owners.iter().filter(|&&owner| owner != NONE);
        (executed.count(), self.edges.len())
    }

    fn instance(&mut self, vertex: u32) -> Instance {
        if self.edges.len() >= self.limit {
            self.full = true;
        }
        self.sorted = false;
        self.instances.push(vertex);
        self.owners.push(NONE);
        self.instances.len() as u32 - 1
    }

    fn depends(&mut self, from: Instance, to: Instance, read: Read) {
        if to != NONE || read != Read::Fixed {
            self.edges.push(Edge { from, to, read });
        }
    }

    /// The instance that decided that a segment is executed.
    fn decided(&self, activation: &Activation, deciders: &[Decider]) -> Instance {
        let control = self.graph.parts[activation.routine.index()]
            .control
            .as_ref();
        let Some(control) = control else { return NONE };
        let mut found = NONE;
        for &decider in deciders {
            let candidate = match decider {
                Decider::Entry => activation.entry,
                Decider::End(segment, way) => {
                    let target = control.ways[segment as usize][way as usize] as u32;
                    match activation.taken[segment as usize] == target {
                        true => activation.ends[segment as usize],
                        false => NONE,
                    }
                }
            };
            if candidate != NONE && (found == NONE || candidate > found) {
                found = candidate;
            }
        }
        found
    }

    /// The last decision of an activation: to return, or to end in a call that is not over. What ended that call is `ended`.
    ///
    /// Returns the instance that stands for the end of the call.
    fn leaves(&mut self, activation: &mut Activation, ended: Instance) -> Instance {
        let control = self.graph.parts[activation.routine.index()]
            .control
            .as_ref();
        let Some(control) = control else { return ended };
        let taken = match activation.pending {
            None => control.exit(),
            Some(_) => control.gone(),
        };
        let ended = match activation.pending {
            None => ended,
            Some(_) => self.never_returned(activation, ended),
        };
        if let Some(left) = activation.left
            && control.decides(left as usize)
        {
            self.decisions.push(Decision {
                instance: activation.ends[left as usize],
                activation: activation.number,
                routine: activation.routine,
                segment: left,
                taken,
            });
        }
        ended
    }

    /// The pending call of an activation did not return: whatever that decides depends on the call, and on what ended it.
    fn never_returned(&mut self, activation: &mut Activation, ended: Instance) -> Instance {
        let Some(pending) = &activation.pending else {
            return ended;
        };
        let Some(left) = activation.left.filter(|_| ended != NONE) else {
            return pending.instance;
        };
        let call = pending.instance;
        let instance = self.instance(self.instances[call as usize]);
        self.depends(instance, call, Read::Fixed);
        self.depends(instance, ended, Read::Fixed);
        activation.ends[left as usize] = instance;
        instance
    }

    /// Where a call was left by `longjmp`, what `setjmp` gives comes from there.
    fn land(&mut self, activation: &mut Activation, info: &Known) {
        let Some(value) = info.lands else { return };
        let Some(pending) = &mut activation.pending else {
            return;
        };
        if pending.defines == Some(value) {
            return;
        }
        let from = match std::mem::replace(&mut self.jumped, NONE) {
            NONE => self.native(pending),
            jumped => jumped,
        };
        activation.temporaries[value as usize] = from;
        self.never_returned(activation, from);
        activation.pending = None;
    }

    /// The call that was pending is over: its value is there.
    fn finish_call(&mut self, activation: &mut Activation) {
        if let Some(mut pending) = activation.pending.take() {
            if pending.result == NONE {
                pending.result = self.native(&mut pending);
                if pending.own.is_empty() {
                    self.uses_state(&mut pending);
                }
            }
            if let Some(dst) = pending.defines {
                activation.temporaries[dst as usize] = pending.result;
            }
        }
    }

    /// The instance of what a library function does.
    fn native(&mut self, pending: &mut Pending) -> Instance {
        if pending.native == NONE {
            let vertex = self.instances[pending.instance as usize];
            let native = self.instance(vertex);
            self.depends(native, pending.instance, Read::Fixed);
            for &argument in &pending.arguments {
                self.depends(native, argument, Read::Fixed);
            }
            pending.native = native;
        }
        pending.native
    }

    /// Returns the dynamic slice of the criteria, with jumps that kept parts of the slice from being
    /// executed elsewhere. With `relevant` it also has decisions that would have led to other values
    /// if made in another way (T. Gyimóthy et al., "An efficient relevant slicing method for
    /// debugging", 1999), as far as the static slice has them.
    pub fn slice(
        &mut self,
        criteria: &[VertexId],
        occurrence: Occurrence,
        relevant: bool,
    ) -> DynamicSlice {
        // Calls that the program ended in.
        let mut ended = NONE;
        for mut activation in std::mem::take(&mut self.activations).into_iter().rev() {
            ended = self.leaves(&mut activation, ended);
        }
        if !self.sorted {
            self.edges.sort_by_key(|edge| edge.from);
            self.sorted = true;
        }
        let wanted: Bits = criteria.iter().map(|vertex| vertex.0).collect();
        let mut start: Vec<Instance> = Vec::new();
        let mut last: FxHashMap<u32, Instance> = FxHashMap::default();
        for (instance, &vertex) in self.instances.iter().enumerate() {
            if wanted.contains(vertex) {
                start.push(instance as u32);
                last.insert(vertex, instance as u32);
            }
        }
        let mut times: FxHashMap<u32, usize> = FxHashMap::default();
        for &instance in &start {
            if self.owners[instance as usize] != NONE {
                *times.entry(self.instances[instance as usize]).or_default() += 1;
            }
        }
        let occurrences = times.into_values().max().unwrap_or(0);
        if occurrence == Occurrence::Last {
            start = last.into_values().collect();
        }
        let mut first = vec![0u32; self.instances.len() + 1];
        for edge in &self.edges {
            first[edge.from as usize + 1] += 1;
        }
        for index in 0..self.instances.len() {
            first[index + 1] += first[index];
        }
        let possible = relevant.then(|| self.graph.backward(criteria));
        let mut potential = relevant.then(|| Potential::of(self, &wanted));
        let mut jumps = Jumps::of(self);
        let mut decisions = Vec::new();
        let mut seen = Bits::default();
        let mut vertices = Bits::default();
        let mut count = 0;
        // Whether the criterion is executed once more is decided behind its last execution, or behind any.
        if let Some(potential) = &potential {
            let behind = match occurrence {
                Occurrence::Every => 0,
                Occurrence::Last => start.iter().copied().max().unwrap_or(0),
            };
            let all = potential.to_criterion.iter().copied();
            decisions.extend(all.filter(|&decision| decision > behind && !start.is_empty()));
        }
        let mut todo = start;
        while let Some(instance) = todo.pop() {
            let vertex = self.instances[instance as usize];
            if !seen.insert(instance) {
                continue;
            }
            count += usize::from(self.owners[instance as usize] != NONE);
            vertices.insert(vertex);
            let (a, b) = (first[instance as usize], first[instance as usize + 1]);
            for edge in &self.edges[a as usize..b as usize] {
                if edge.to != NONE {
                    todo.push(edge.to);
                }
                if let Some(potential) = &mut potential {
                    potential.decisions(self, *edge, &mut decisions);
                }
            }
            jumps.that_left_out(self, instance, &mut todo, &mut vertices);
            // What contributed is in the slice, whatever the static one has.
            todo.extend(decisions.drain(..).filter(|&decision| {
                let vertex = self.instances[decision as usize];
                possible.as_ref().is_none_or(|all| all.contains(vertex))
            }));
        }
        DynamicSlice {
            vertices,
            instances: count,
            occurrences,
        }
    }
}

impl Observer for Recorder<'_, '_> {
    fn step(&mut self, step: Step) {
        if self.full {
            return;
        }
        self.know(step.routine);
        let Some(mut activation) = self.activations.pop() else {
            return;
        };
        let Some(known) = self.known.remove(&step.routine) else {
            self.activations.push(activation);
            return;
        };
        let info = &known[step.block as usize][step.index as usize];
        self.land(&mut activation, info);
        self.finish_call(&mut activation);
        let graph = self.graph;
        let control = graph.parts[step.routine.index()].control.as_ref();
        if let (Some(left), Some(control)) = (activation.left.take(), control) {
            activation.taken[left as usize] = info.segment;
            if control.decides(left as usize) {
                self.decisions.push(Decision {
                    instance: activation.ends[left as usize],
                    activation: activation.number,
                    routine: step.routine,
                    segment: left,
                    taken: info.segment,
                });
            }
        }
        let instance = self.instance(info.vertex);
        self.owners[instance as usize] = activation.number;
        activation.now = instance;
        if let Some(control) = control {
            let deciders = &control.deciders[info.segment as usize];
            let decided = self.decided(&activation, deciders);
            self.depends(instance, decided, Read::Fixed);
        }
        for &temporary in &info.uses {
            let to = activation.temporaries[temporary as usize];
            self.depends(instance, to, Read::Fixed);
        }
        match &info.what {
            What::Read(local) => {
                let to = activation.locals[*local as usize];
                self.depends(instance, to, Read::Register(*local));
            }
            What::Write(local) => activation.locals[*local as usize] = instance,
            What::VaStart => {
                for index in 0..activation.rest.len() {
                    self.depends(instance, activation.rest[index], Read::Fixed);
                }
            }
            What::Call(arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|temporary| {
                        temporary.map_or(NONE, |id| activation.temporaries[id as usize])
                    })
                    .collect();
                let own = graph
                    .calls
                    .site(step.routine, BlockId(step.block), step.index)
                    .map_or(Vec::new(), |site| site.own.clone());
                activation.pending = Some(Pending {
                    instance,
                    arguments,
                    defines: info.defines,
                    own,
                    native: NONE,
                    result: NONE,
                    used_stream: false,
                });
            }
            What::Return => activation.returned = instance,
            What::Plain => {}
        }
        if let Some(dst) = info.defines {
            activation.temporaries[dst as usize] = instance;
        }
        if info.ends_segment {
            activation.ends[info.segment as usize] = instance;
            activation.left = Some(info.segment);
        }
        self.known.insert(step.routine, known);
        self.activations.push(activation);
    }

    fn value(&mut self, _: u128) {}

    fn access(&mut self, access: Access) {
        if self.full || access.size == 0 {
            return;
        }
        let Some(mut activation) = self.activations.pop() else {
            return;
        };
        let by = if let Some(&parameter) = activation.unfilled.first() {
            if access.write {
                activation.unfilled.remove(0);
            }
            parameter
        } else if let Some(pending) = &mut activation.pending {
            self.native(pending)
        } else {
            activation.now
        };
        if by != NONE {
            if access.write {
                self.memory.write(access, by);
            } else {
                for writer in self.memory.writers(access) {
                    self.depends(by, writer, Read::Memory);
                }
            }
        }
        self.activations.push(activation);
    }

    fn stream(&mut self, file: u64) {
        if self.full {
            return;
        }
        let Some(mut activation) = self.activations.pop() else {
            return;
        };
        if let Some(pending) = &mut activation.pending {
            self.uses_stream(pending, file);
        }
        self.activations.push(activation);
    }

    fn enter(&mut self, routine: RoutineId) {
        if self.full {
            return;
        }
        let graph = self.graph;
        let function = graph.program.function(routine);
        let mut arguments: Vec<Instance> = Vec::new();
        let mut entry = NONE;
        if let Some(mut caller) = self.activations.pop() {
            if let Some(pending) = &mut caller.pending {
                if pending.own.contains(&routine) {
                    entry = pending.instance;
                    let call = self.instances[entry as usize];
                    let site = graph
                        .sites
                        .binary_search_by_key(&VertexId(call), |site| site.node);
                    let ins = site.map_or(&[][..], |site| &graph.sites[site].ins);
                    for index in 0..pending.arguments.len() {
                        let declared = find(ins, Slot::Parameter(index as u32));
                        let vertex = declared.or_else(|| find(ins, Slot::Rest));
                        let actual = self.instance(vertex.map_or(call, |vertex| vertex.0));
                        self.depends(actual, entry, Read::Fixed);
                        self.depends(actual, pending.arguments[index], Read::Fixed);
                        arguments.push(actual);
                    }
                } else {
                    // The library calls back.
                    entry = self.native(pending);
                    arguments = vec![entry; function.parameters.len()];
                }
            }
            self.activations.push(caller);
        }
        let segments = graph.parts[routine.index()]
            .control
            .as_ref()
            .map_or(0, |control| control.segments.len());
        let mut activation = Activation {
            routine,
            number: self.count,
            temporaries: vec![NONE; function.temporaries.len()],
            locals: vec![NONE; function.locals.len()],
            rest: Vec::new(),
            entry,
            ends: vec![NONE; segments],
            taken: vec![u32::MAX; segments],
            left: None,
            pending: None,
            now: NONE,
            unfilled: Vec::new(),
            returned: NONE,
        };
        self.count += 1;
        for (index, argument) in arguments.into_iter().enumerate() {
            if index >= function.parameters.len() {
                activation.rest.push(argument);
                continue;
            }
            match function.locals[index].kind {
                LocalKind::Register(_) => activation.locals[index] = argument,
                LocalKind::Memory { .. } => activation.unfilled.push(argument),
            }
        }
        self.activations.push(activation);
    }

    fn leave(&mut self) {
        if self.full {
            return;
        }
        let Some(mut callee) = self.activations.pop() else {
            return;
        };
        self.leaves(&mut callee, self.jumped);
        let Some(mut caller) = self.activations.pop() else {
            return;
        };
        if let Some(mut pending) = callee.pending {
            // Left by `longjmp`: the innermost call is that one.
            if self.jumped == NONE {
                self.jumped = self.native(&mut pending);
            }
            self.activations.push(caller);
            return;
        }
        let decided = match &self.graph.parts[callee.routine.index()].control {
            Some(control) => self.decided(&callee, &control.return_deciders),
            None => NONE,
        };
        if let Some(pending) = &mut caller.pending {
            if pending.own.contains(&callee.routine) {
                let vertex = self.instances[pending.instance as usize];
                let result = self.instance(vertex);
                self.depends(result, pending.instance, Read::Fixed);
                self.depends(result, callee.returned, Read::Fixed);
                pending.result = result;
                // What comes behind the call depends on it that it returned.
                if decided != NONE
                    && let Some(left) = caller.left
                {
                    let completed = self.instance(vertex);
                    self.depends(completed, pending.instance, Read::Fixed);
                    self.depends(completed, decided, Read::Fixed);
                    caller.ends[left as usize] = completed;
                }
            } else {
                let native = self.native(pending);
                self.depends(native, callee.returned, Read::Fixed);
            }
        }
        self.activations.push(caller);
    }
}
