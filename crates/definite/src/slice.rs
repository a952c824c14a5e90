//! Computes a digest of everything in a function that decides about some objects. Two versions with the
//! same digest agree about them.
//!
//! A use without a value may lie on a path that no execution takes, because two conditions agree. A change that touches neither the
//! conditions nor what they read cannot make that path possible. So the digest covers the part of a function that decides
//! whether the objects are written and used. That part has the writes, the uses and the conditions round them. It also has the objects
//! that these conditions read, and the writes of those in turn. Memory behind unknown pointers counts by the text of its address.

use std::hash::{Hash, Hasher};

use patchwright_graph::DominatorTree;
use patchwright_ir::{
    Block, BlockId, Callee, Function, Instruction, InstructionKind, LocalId, LocalUse, Module,
    Operand, Target, TempId, TerminatorKind, Value,
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::flow::{Kind, Outcome, Pointer};

/// What is asked about.
pub(crate) struct Question<'q> {
    /// Whether these objects of the function are written and used.
    pub objects: &'q FxHashSet<usize>,
    /// Whether it ends without its value.
    pub end: bool,
    /// Which value it returns.
    pub result: bool,
    /// Where in arrays of its frame it reads and writes.
    pub indices: bool,
}

/// What a condition or an index reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Source {
    Object(usize),
    /// Memory whose address has this text.
    Memory(u64),
}

struct Slicer<'a> {
    module: &'a Module,
    function: &'a Function,
    outcome: &'a Outcome,
    /// Who defines a temporary.
    definitions: FxHashMap<TempId, &'a Instruction>,
    /// The text of what temporaries stand for.
    texts: Vec<u64>,
    /// Of each block the branches that decide whether it is executed, and how.
    governed: Vec<Vec<(BlockId, usize)>>,
}

/// The number of what decides about the question.
pub(crate) fn fingerprint(
    module: &Module,
    function: &Function,
    outcome: &Outcome,
    question: &Question<'_>,
) -> u64 {
    let order = function.reverse_postorder();
    let mut slicer = Slicer {
        module,
        function,
        outcome,
        definitions: FxHashMap::default(),
        texts: vec![0; function.temporaries.len()],
        governed: governed(function),
    };
    for block in &order {
        for instruction in &function.block(*block).instructions {
            if let Some(dst) = instruction.defines() {
                slicer.definitions.insert(dst, instruction);
                slicer.texts[dst.index()] = slicer.text(instruction);
            }
        }
    }
    slicer.run(question)
}

impl Slicer<'_> {
    fn run(&self, question: &Question<'_>) -> u64 {
        let mut sources: FxHashSet<Source> = FxHashSet::default();
        // Places of instructions, and ends of blocks as those behind the last one.
        // With whether all of it counts, or only that it happens.
        let mut taken_in: FxHashMap<(usize, usize), bool> = FxHashMap::default();
        loop {
            let before = (sources.len(), taken_in.clone());
            for (number, block) in self.function.blocks.iter().enumerate() {
                for (at, instruction) in block.instructions.iter().enumerate() {
                    if taken_in.get(&(number, at)) == Some(&true) {
                        continue;
                    }
                    if let Some(values) = self.matters(instruction, question, &sources) {
                        let all = values.len() == instruction.operands().len();
                        taken_in.insert((number, at), all);
                        self.read_by(&values, &mut sources);
                    }
                }
                let end = (number, block.instructions.len());
                let is_end = match &block.terminator.kind {
                    TerminatorKind::ReturnNothing => question.end,
                    TerminatorKind::Return(_) => question.result || question.end,
                    _ => false,
                };
                let is_new = is_end && taken_in.insert(end, question.result).is_none();
                if is_new && question.result {
                    let value = block.terminator.operand();
                    self.read_by(&value.into_iter().collect::<Vec<_>>(), &mut sources);
                }
            }
            let blocks: FxHashSet<usize> = taken_in.keys().map(|(block, _)| *block).collect();
            for block in blocks {
                for (branch, _) in &self.governed[block] {
                    let decides = self.function.block(*branch);
                    let end = (branch.index(), decides.instructions.len());
                    if taken_in.insert(end, true) != Some(true) {
                        let condition = decides.terminator.operand();
                        self.read_by(&condition.into_iter().collect::<Vec<_>>(), &mut sources);
                    }
                }
            }
            if before.0 == sources.len() && before.1 == taken_in {
                break;
            }
        }
        self.number(&taken_in)
    }

    /// Whether an instruction decides about the question or writes what is read by what decides; the operands whose values
    /// matter for that.
    fn matters(
        &self,
        instruction: &Instruction,
        question: &Question<'_>,
        sources: &FxHashSet<Source>,
    ) -> Option<Vec<Operand>> {
        use InstructionKind::*;
        let asked = |object: usize| question.objects.contains(&object);
        let read = |object: usize| sources.contains(&Source::Object(object));
        let at = |operand: &Operand| self.object(operand);
        match &instruction.kind {
            Read { local, .. } => asked(local.index()).then(Vec::new),
            Write { local, value } => match (read(local.index()), asked(local.index())) {
                (true, _) => Some(vec![*value]),
                (_, true) => Some(Vec::new()),
                _ => None,
            },
            Live { local } => asked(local.index()).then(Vec::new),
            Load { address, .. } | LoadBits { address, .. } => {
                let is_indexed = question.indices && self.is_in_frame(address);
                let object = at(address).is_some_and(asked);
                (object || is_indexed).then(|| vec![*address])
            }
            Store { address, value, .. } | StoreBits { address, value, .. } => {
                let is_indexed = question.indices && self.is_in_frame(address);
                let is_read = match at(address) {
                    Some(object) => read(object),
                    None => sources.contains(&Source::Memory(self.operand(address))),
                };
                match is_read {
                    true => Some(vec![*value, *address]),
                    false if is_indexed || at(address).is_some_and(asked) => Some(vec![*address]),
                    false => None,
                }
            }
            Zero { address, .. } => {
                let object = at(address)?;
                (asked(object) || read(object)).then(Vec::new)
            }
            Copy { to, from, .. } => {
                let touched = [to, from].into_iter().filter_map(at);
                touched
                    .into_iter()
                    .any(|object| asked(object) || read(object))
                    .then(|| vec![*to, *from])
            }
            Call { arguments, dst, .. } => {
                let touches = arguments.iter().any(|argument| {
                    let object = at(&argument.value);
                    object.is_some_and(|object| asked(object) || read(object))
                        || question.indices && self.is_of_frame(&argument.value)
                });
                let gives = dst.and_then(|dst| self.heap(dst)).is_some_and(asked);
                let handed = || arguments.iter().map(|argument| argument.value).collect();
                (touches || gives).then(handed)
            }
            VaStart { list } | VaArg { list, .. } => {
                at(list).filter(|list| asked(*list)).map(|_| Vec::new())
            }
            Unsupported { .. } => Some(Vec::new()),
            _ => None,
        }
    }

    /// The object that an address points into.
    fn object(&self, address: &Operand) -> Option<usize> {
        let Value::Temp(temp) = address.value else {
            return None;
        };
        match self.outcome.pointers[temp.index()] {
            Pointer::Into(object, _) => Some(object),
            Pointer::Nowhere | Pointer::Unknown => None,
        }
    }

    fn heap(&self, dst: TempId) -> Option<usize> {
        let objects = &self.outcome.objects;
        objects
            .iter()
            .position(|object| object.kind == Kind::Heap(dst))
    }

    /// An address at a place of a variable of the frame that is not always the same.
    fn is_in_frame(&self, address: &Operand) -> bool {
        let Value::Temp(temp) = address.value else {
            return false;
        };
        matches!(self.outcome.pointers[temp.index()], Pointer::Into(object, None)
            if matches!(self.outcome.objects[object].kind, Kind::Local(_)))
    }

    /// An address of an array or structure of the frame.
    fn is_of_frame(&self, address: &Operand) -> bool {
        self.object(address).is_some_and(|object| {
            let object = &self.outcome.objects[object];
            matches!(object.kind, Kind::Local(_)) && object.size.is_none_or(|size| size > 8)
        })
    }

    /// Adds what the values of these operands are read from.
    fn read_by(&self, operands: &[Operand], sources: &mut FxHashSet<Source>) {
        let mut open: Vec<Operand> = operands.to_vec();
        let mut seen: FxHashSet<TempId> = FxHashSet::default();
        while let Some(operand) = open.pop() {
            let Value::Temp(temp) = operand.value else {
                continue;
            };
            if !seen.insert(temp) {
                continue;
            }
            let Some(definition) = self.definitions.get(&temp) else {
                continue;
            };
            match &definition.kind {
                InstructionKind::Read { local, .. } => {
                    sources.insert(Source::Object(local.index()));
                }
                InstructionKind::Load { address, .. }
                | InstructionKind::LoadBits { address, .. } => {
                    sources.insert(match self.object(address) {
                        Some(object) => Source::Object(object),
                        None => Source::Memory(self.operand(address)),
                    });
                }
                _ => {}
            }
            open.extend(definition.operands());
        }
    }

    /// A number for the part that was taken in: its instructions by their text, in order, each with the branches it stands under.
    fn number(&self, taken_in: &FxHashMap<(usize, usize), bool>) -> u64 {
        let mut places: Vec<(usize, usize)> = taken_in.keys().copied().collect();
        places.sort_unstable();
        let mut ends: FxHashMap<usize, usize> = FxHashMap::default();
        for (block, at) in &places {
            if *at == self.function.blocks[*block].instructions.len() {
                let next = ends.len();
                ends.entry(*block).or_insert(next);
            }
        }
        let mut hasher = FxHasher::default();
        for (block, at) in places {
            let own: &Block = &self.function.blocks[block];
            match own.instructions.get(at) {
                Some(instruction) => match taken_in[&(block, at)] {
                    true => self.text(instruction).hash(&mut hasher),
                    false => self.happening(instruction).hash(&mut hasher),
                },
                None => {
                    std::mem::discriminant(&own.terminator.kind).hash(&mut hasher);
                    if let (Some(operand), true) =
                        (own.terminator.operand(), taken_in[&(block, at)])
                    {
                        self.operand(&operand).hash(&mut hasher);
                    }
                    if let TerminatorKind::Switch { cases, .. } = &own.terminator.kind {
                        for case in cases {
                            (case.low, case.high).hash(&mut hasher);
                        }
                    }
                }
            }
            let mut under: Vec<(Option<usize>, usize)> = self.governed[block]
                .iter()
                .map(|(branch, way)| (ends.get(&branch.index()).copied(), *way))
                .collect();
            under.sort_unstable();
            under.hash(&mut hasher);
        }
        hasher.finish()
    }

    fn operand(&self, operand: &Operand) -> u64 {
        let mut hasher = FxHasher::default();
        match operand.value {
            Value::Temp(temp) => self.texts[temp.index()].hash(&mut hasher),
            Value::Constant { ty, bits } => (ty, bits).hash(&mut hasher),
            Value::Address { target, addend } => {
                addend.hash(&mut hasher);
                match target {
                    Target::Function(id) => self.module.function(id).name.hash(&mut hasher),
                    Target::Global(id) => {
                        let global = self.module.global(id);
                        match (global.name.split_once('.'), &global.data) {
                            (Some(("", _)), Some(data)) => data.bytes.hash(&mut hasher),
                            (Some((name, _)), _) => name.hash(&mut hasher),
                            (None, _) => global.name.hash(&mut hasher),
                        }
                    }
                }
            }
        }
        hasher.finish()
    }

    fn local(&self, local: LocalId, hasher: &mut FxHasher) {
        let name = &self.function.local(local).name;
        let mut same = self.function.locals[..local.index()].iter();
        let number = same.by_ref().filter(|other| other.name == *name).count();
        // Those that lowering adds are told apart by what is written to them.
        if !name.is_empty() {
            (name, number).hash(hasher);
        }
    }

    /// That an instruction happens, and where: what it writes does not count.
    fn happening(&self, instruction: &Instruction) -> u64 {
        use InstructionKind::*;
        match &instruction.kind {
            Store { address, ty, .. } => {
                let mut hasher = FxHasher::default();
                (ty, self.operand(address)).hash(&mut hasher);
                hasher.finish()
            }
            Write { local, .. } => {
                let mut hasher = FxHasher::default();
                self.local(*local, &mut hasher);
                hasher.finish()
            }
            _ => self.text(instruction),
        }
    }

    /// The text of an instruction.
    fn text(&self, instruction: &Instruction) -> u64 {
        use InstructionKind::*;
        let mut hasher = FxHasher::default();
        std::mem::discriminant(&instruction.kind).hash(&mut hasher);
        if let Some((local, used)) = instruction.local()
            && used != LocalUse::Scope
        {
            self.local(local, &mut hasher);
        }
        match &instruction.kind {
            Read { local, .. }
            | Write { local, .. }
            | Live { local }
            | Dead { local }
            | Settle { local }
            | LocalAddress { local, .. } => self.local(*local, &mut hasher),
            Load { ty, .. } | Store { ty, .. } | VaArg { ty, .. } => ty.hash(&mut hasher),
            LoadBits {
                ty, offset, width, ..
            }
            | StoreBits {
                ty, offset, width, ..
            } => {
                (ty, offset, width).hash(&mut hasher);
            }
            Extend { ty, width, .. } => (ty, width).hash(&mut hasher),
            Unary { op, ty, .. } => (format!("{op:?}"), ty).hash(&mut hasher),
            Binary { op, ty, .. } => (format!("{op:?}"), ty).hash(&mut hasher),
            Shift { op, ty, count, .. } => (format!("{op:?}"), ty, count).hash(&mut hasher),
            Convert { from, to, .. } => (from, to).hash(&mut hasher),
            PointerAdd { ty, negative, .. } => (ty, negative).hash(&mut hasher),
            MemberAddress { offset, .. } => offset.hash(&mut hasher),
            Copy { size, .. } | Zero { size, .. } => size.hash(&mut hasher),
            Call {
                callee: Callee::Direct(id),
                ..
            } => self.module.function(*id).name.hash(&mut hasher),
            Unsupported { reason, .. } => reason.hash(&mut hasher),
            _ => {}
        }
        for operand in instruction.operands() {
            self.operand(&operand).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Of each block the branches, with the number of the way out, that decide whether it is executed.
fn governed(function: &Function) -> Vec<Vec<(BlockId, usize)>> {
    let exit = function.blocks.len();
    let ways = function.ways();
    let mut ends = ways.clone();
    for targets in ends.iter_mut().filter(|targets| targets.is_empty()) {
        targets.push(exit);
    }
    ends.push(Vec::new());
    // Loops without an end, the last block of each first.
    let tree = DominatorTree::post(&ends, exit, (0..exit).rev());
    let mut governed = vec![Vec::new(); exit];
    for (branch, targets) in ways.iter().enumerate() {
        if targets.len() < 2 {
            continue;
        }
        for (way, target) in targets.iter().enumerate() {
            let blocks = tree.up(*target, tree.immediate(branch));
            for block in blocks.filter(|block| *block != exit) {
                governed[block].push((BlockId(branch as u32), way));
            }
        }
    }
    governed
}
