//! The state of lowering one function: its variables, blocks, origins.

use patchwright_csource::{
    self as c, ExprId, Place, Refusal, StmtId, Storage, VarId,
    detail::Priority,
    types::{LengthId, TypeId},
};
use patchwright_ir::{
    Block, BlockId, Edge, Function, FunctionId, Instruction, InstructionKind, Local, LocalId,
    LocalKind, Node, Operand, Origin, OriginId, TempId, Temporary, Terminator, TerminatorKind,
    Type, Value, Without,
};
use patchwright_text::Span;
use rustc_hash::FxHashMap;

use crate::{alternatives::Choice, constant::Scope, prune::prune, types::Class, unit::Lowerer};

/// A block in the making.
#[derive(Default)]
struct Open {
    instructions: Vec<Instruction>,
    terminator: Option<Terminator>,
}

/// Where `break` and `continue` go, and the number of scopes that are open there.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    pub(crate) target: BlockId,
    pub(crate) depth: usize,
    /// The loop or `switch`.
    pub(crate) inside: OriginId,
}

/// A switch whose body is being lowered.
#[derive(Default)]
pub(crate) struct SwitchArms {
    pub(crate) cases: Vec<(i128, i128, Edge)>,
    pub(crate) default: Option<Edge>,
    /// The type of the value, promoted; `None` when it is not known.
    pub(crate) ty: Option<Type>,
}

/// What is done when a scope is left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Leaving {
    /// The life of a local ends.
    Dead(LocalId),
    /// A function is called with the address of a local.
    Cleanup(LocalId, VarId),
}

/// Lowers one function to IR.
pub(crate) struct FunctionLowerer<'l, 'a> {
    pub(crate) lowerer: &'l mut Lowerer<'a>,
    pub(crate) source: &'a c::Function,
    /// The alternatives of its expressions.
    pub(crate) choices: Option<&'a FxHashMap<ExprId, Choice>>,
    /// Those of its constants whose text stands elsewhere.
    pub(crate) shared: Option<&'a FxHashMap<ExprId, Choice>>,
    locals: Vec<Local>,
    temporaries: Vec<Temporary>,
    blocks: Vec<Open>,
    current: BlockId,
    origins: Vec<Origin>,
    origin_of: FxHashMap<Node, OriginId>,
    variables: FxHashMap<VarId, LocalId>,
    /// Registers of lengths, and of the places of variable arrays.
    pub(crate) lengths: FxHashMap<LengthId, LocalId>,
    pub(crate) arrays: FxHashMap<VarId, LocalId>,
    /// What is accessed where its address is taken: `a[i]` of `a[i][j]`, but not of `&a[i]`.
    pub(crate) accessed: Option<ExprId>,
    labels: FxHashMap<&'a str, BlockId>,
    pub(crate) breaks: Vec<Exit>,
    pub(crate) continues: Vec<Exit>,
    pub(crate) switches: Vec<SwitchArms>,
    /// The first blocks of the bodies of `do`, which the conditions behind them lead back to.
    pub(crate) repeated: Vec<BlockId>,
    /// What each open scope has to end.
    scopes: Vec<Vec<Leaving>>,
    /// The scopes that are open at each label that was passed: how many, and how much each had to end.
    pub(crate) passed_labels: FxHashMap<&'a str, Vec<usize>>,
    /// The compound statements and loops round each label, and round the current statement.
    pub(crate) label_scopes: FxHashMap<&'a str, Vec<StmtId>>,
    pub(crate) around: Vec<StmtId>,
    pub(crate) result: Type,
}

impl<'l, 'a> FunctionLowerer<'l, 'a> {
    /// Lowers a function that the module declares as `id`.
    pub(crate) fn lower(
        lowerer: &'l mut Lowerer<'a>,
        source: &'a c::Function,
        id: FunctionId,
    ) -> Function {
        let mut function = lowerer.module.functions[id.index()].clone();
        let own = Origin {
            node: Some(Node::Statement(source.body.0)),
            span: (!source.span.is_empty()).then_some(source.span),
            line: source
                .details
                .stmt_lines
                .get(source.body.0 as usize)
                .map(|&(file, line)| (lowerer.file(file), line)),
        };
        let declared = function.prototyped;
        let mut this = FunctionLowerer {
            choices: lowerer
                .alternatives
                .and_then(|all| all.of.get(&source.name)),
            shared: lowerer
                .alternatives
                .and_then(|all| all.shared.get(&source.name)),
            lowerer,
            source,
            locals: Vec::new(),
            temporaries: Vec::new(),
            blocks: vec![Open::default()],
            current: BlockId(0),
            origins: vec![own],
            origin_of: FxHashMap::default(),
            variables: FxHashMap::default(),
            lengths: FxHashMap::default(),
            accessed: None,
            arrays: FxHashMap::default(),
            labels: FxHashMap::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            repeated: Vec::new(),
            scopes: vec![Vec::new()],
            passed_labels: FxHashMap::default(),
            label_scopes: FxHashMap::default(),
            around: Vec::new(),
            result: function.result,
        };
        if !declared {
            // An old-style definition, or a type that the declaration does not tell.
            match this.lowerer.passed(source.return_type) {
                Some(result) => this.result = result,
                None => {
                    this.unsupported_effect(OriginId(0), "a result type that is not known");
                }
            }
        }
        let parameters = this.parameters(&function, declared);
        this.parameter_lengths();
        match source.refusal {
            Some(Refusal::NestedFunction) => {
                this.unsupported_effect(OriginId(0), "a nested function");
            }
            Some(Refusal::TooLarge) => {
                this.unsupported_effect(
                    OriginId(0),
                    "a function with more levels of nesting than the parser can handle",
                );
            }
            Some(Refusal::NotAccepted) => {
                this.unsupported_effect(OriginId(0), "a source that is not accepted");
            }
            _ => {}
        }
        if let Some(declaration) = this.lowerer.unit.declarations.get(&source.name)
            && [declaration.constructor, declaration.destructor].contains(&Some(Priority::Unknown))
        {
            this.unsupported_effect(OriginId(0), "a constructor whose priority is not known");
        }
        if !source.details.cleanups.is_empty() {
            this.find_labels(source.body, &mut Vec::new());
        }
        this.statement(source.body);
        this.finish();
        function.parameters = parameters;
        function.result = this.result;
        function.locals = this.locals;
        function.temporaries = this.temporaries;
        function.origins = this.origins;
        function.blocks = this
            .blocks
            .into_iter()
            .map(|open| Block {
                instructions: open.instructions,
                terminator: open.terminator.unwrap_or(Terminator {
                    kind: TerminatorKind::Unreachable,
                    origin: OriginId(0),
                    without: Without::Same,
                    inside: None,
                }),
            })
            .collect();
        prune(&mut function, &this.repeated);
        function
    }

    /// The locals of the parameters. A parameter of an old-style definition is passed promoted.
    fn parameters(
        &mut self,
        function: &Function,
        declared: bool,
    ) -> Vec<patchwright_ir::Parameter> {
        let mut passed = Vec::new();
        let mut pending = Vec::new();
        for (index, &variable) in self.source.parameters.iter().enumerate() {
            let origin = self.at_variable(variable);
            let ty = self.lowerer.unit.variable(variable).ty;
            let class = self.lowerer.class(ty);
            let own = match class {
                Class::Scalar(ty) => ty,
                Class::Aggregate { size, .. } => Type::Aggregate { size },
                _ => {
                    self.unsupported_effect(origin, "a parameter whose type is not known");
                    Type::Ptr
                }
            };
            let given = match function.parameters.get(index) {
                Some(parameter) if declared => parameter.ty,
                _ => promoted(own),
            };
            passed.push(patchwright_ir::Parameter { ty: given });
            if given == own {
                let kind = match class {
                    Class::Scalar(_) | Class::Aggregate { .. } => self.kind(variable, class),
                    _ => LocalKind::Memory { size: 8, align: 8 },
                };
                let local = self.new_local(
                    self.lowerer.unit.variable(variable).name.clone(),
                    kind,
                    origin,
                );
                self.variables.insert(variable, local);
            } else {
                let local = self.new_local(String::new(), LocalKind::Register(given), origin);
                pending.push((variable, local, given, own));
            }
        }
        for (variable, local, given, own) in pending {
            let origin = self.at_variable(variable);
            let target = self.declare(variable, origin);
            let value = self.emit_value(given, origin, |dst| InstructionKind::Read { dst, local });
            let value = self.convert(value, given, own, origin);
            self.store_local(target, own, value, origin);
        }
        passed
    }

    /// Stores a scalar in a local of either kind.
    pub(crate) fn store_local(
        &mut self,
        local: LocalId,
        ty: Type,
        value: Operand,
        origin: OriginId,
    ) {
        match self.locals[local.index()].kind {
            LocalKind::Register(_) => self.emit(InstructionKind::Write { local, value }, origin),
            LocalKind::Memory { .. } => {
                let address = self.local_address(local, origin);
                self.emit(
                    InstructionKind::Store {
                        ty,
                        address,
                        value,
                        volatile: false,
                    },
                    origin,
                );
            }
        }
    }

    /// How a variable with automatic storage is touched.
    fn kind(&self, variable: VarId, class: Class) -> LocalKind {
        let unit = self.lowerer.unit;
        let declared = unit.variable(variable);
        let volatile = unit.types.qualifiers(declared.ty).is_volatile;
        match class {
            Class::Scalar(ty)
                if !volatile
                    && !self.source.address_taken.contains(&variable)
                    && !self.source.details.cleanups.contains_key(&variable) =>
            {
                LocalKind::Register(ty)
            }
            _ => {
                let (size, align) = unit.types.size_and_align(declared.ty).unwrap_or((1, 1));
                let asked = unit.declared[variable.0 as usize].align.unwrap_or(1);
                LocalKind::Memory {
                    size,
                    align: align.max(asked),
                }
            }
        }
    }

    /// Adds a local to the function.
    pub(crate) fn new_local(&mut self, name: String, kind: LocalKind, origin: OriginId) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name, kind, origin });
        id
    }

    /// An object for an intermediate value.
    pub(crate) fn temporary_object(&mut self, size: u64, align: u64, origin: OriginId) -> LocalId {
        self.new_local(String::new(), LocalKind::Memory { size, align }, origin)
    }

    /// The local of a variable, which comes to life here.
    pub(crate) fn declare(&mut self, variable: VarId, origin: OriginId) -> LocalId {
        let local = self.local(variable);
        self.emit(InstructionKind::Live { local }, origin);
        self.in_scope(local);
        local
    }

    /// `local` dies where the innermost scope ends.
    pub(crate) fn in_scope(&mut self, local: LocalId) {
        if let Some(scope) = self.scopes.last_mut()
            && !scope.contains(&Leaving::Dead(local))
        {
            scope.push(Leaving::Dead(local));
        }
    }

    /// The local of a variable with automatic storage.
    pub(crate) fn local(&mut self, variable: VarId) -> LocalId {
        if let Some(&local) = self.variables.get(&variable) {
            return local;
        }
        let origin = self.at_variable(variable);
        let declared = self.lowerer.unit.variable(variable);
        let class = self.lowerer.class(declared.ty);
        let kind = self.kind(variable, class);
        let local = self.new_local(declared.name.clone(), kind, origin);
        self.variables.insert(variable, local);
        local
    }

    /// Returns whether a local is a register or an object, with its layout.
    pub(crate) fn local_kind(&self, local: LocalId) -> LocalKind {
        self.locals[local.index()].kind
    }

    /// A variable has automatic storage.
    pub(crate) fn is_automatic(&self, variable: VarId) -> bool {
        matches!(
            self.lowerer.unit.variable(variable).storage,
            Storage::Local | Storage::Parameter
        )
    }

    /// Begins a scope: its locals end with it.
    pub(crate) fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Ends the innermost scope, in the current block.
    pub(crate) fn close_scope(&mut self, origin: OriginId) {
        // What is called may open scopes of its own, in this one.
        if let Some(scope) = self.scopes.last().cloned() {
            self.end_lives(&scope, origin);
            self.scopes.pop();
        }
    }

    /// Returns the number of open scopes.
    pub(crate) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Ends the lives of all locals in scopes deeper than `depth`, which control leaves here.
    pub(crate) fn leave_scopes(&mut self, depth: usize, origin: OriginId) {
        for scope in self.scopes[depth..].to_vec().iter().rev() {
            self.end_lives(scope, origin);
        }
    }

    /// `cleanup`: a function is called for a local when its scope is left.
    pub(crate) fn clean_up_later(&mut self, local: LocalId, variable: VarId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Leaving::Cleanup(local, variable));
        }
    }

    /// Returns for each open scope the number of locals that end with it.
    pub(crate) fn extent(&self) -> Vec<usize> {
        self.scopes.iter().map(Vec::len).collect()
    }

    /// Calls the functions of `cleanup` for all locals beyond an extent, which control leaves here.
    pub(crate) fn clean_up_beyond(&mut self, extent: &[usize], origin: OriginId) {
        for (depth, scope) in self.scopes.clone().iter().enumerate().rev() {
            let kept = extent.get(depth).copied().unwrap_or(0).min(scope.len());
            self.clean_up(&scope[kept..], origin);
        }
    }

    fn end_lives(&mut self, leaving: &[Leaving], origin: OriginId) {
        self.clean_up(leaving, origin);
        for one in leaving {
            // A register that is out of scope cannot be read again.
            if let Leaving::Dead(local) = *one
                && matches!(self.local_kind(local), LocalKind::Memory { .. })
            {
                self.emit(InstructionKind::Dead { local }, origin);
            }
        }
    }

    fn clean_up(&mut self, leaving: &[Leaving], origin: OriginId) {
        let source = self.source;
        for one in leaving.iter().rev() {
            let Leaving::Cleanup(local, variable) = *one else {
                continue;
            };
            match source.details.cleanups.get(&variable) {
                Some(name) if !name.is_empty() => {
                    let address = self.local_address(local, origin);
                    self.call_with_address(name, address, origin);
                }
                _ => self.unsupported_effect(origin, "a cleanup whose function is not known"),
            }
        }
    }

    /// Adds an empty block.
    pub(crate) fn new_block(&mut self) -> BlockId {
        self.blocks.push(Open::default());
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Makes `block` the current one: instructions go to its end from now on.
    pub(crate) fn continue_in(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Returns the block to which instructions go.
    pub(crate) fn current(&self) -> BlockId {
        self.current
    }

    /// Returns the block of a label, which is made at its first use.
    pub(crate) fn label(&mut self, name: &'a str) -> BlockId {
        if let Some(&block) = self.labels.get(name) {
            return block;
        }
        let block = self.new_block();
        self.labels.insert(name, block);
        block
    }

    /// Adds an instruction to the current block, unless the block has ended.
    pub(crate) fn emit(&mut self, kind: InstructionKind, origin: OriginId) {
        let block = &mut self.blocks[self.current.index()];
        if block.terminator.is_none() {
            block.instructions.push(Instruction { kind, origin });
        }
    }

    /// Emits an instruction that defines a temporary of type `ty`.
    pub(crate) fn emit_value(
        &mut self,
        ty: Type,
        origin: OriginId,
        kind: impl FnOnce(TempId) -> InstructionKind,
    ) -> Operand {
        let dst = self.new_temporary(ty);
        self.emit(kind(dst), origin);
        Operand {
            value: Value::Temp(dst),
            origin,
        }
    }

    /// Adds a temporary of a type.
    pub(crate) fn new_temporary(&mut self, ty: Type) -> TempId {
        self.temporaries.push(Temporary { ty });
        TempId(self.temporaries.len() as u32 - 1)
    }

    /// Ends the current block; what follows cannot be reached until a block is continued.
    pub(crate) fn terminate(&mut self, kind: TerminatorKind, origin: OriginId) {
        self.end_block(kind, origin, |_| Without::Same, None);
    }

    /// Ends the current block by a jump of the source. The block also notes where control would go without the jump.
    pub(crate) fn jump(&mut self, kind: TerminatorKind, origin: OriginId) {
        self.end_block(kind, origin, Without::Block, None);
    }

    /// Ends the block by a `break` or `continue`.
    pub(crate) fn jump_out(&mut self, exit: Exit, origin: OriginId) {
        let target = exit.target;
        let kind = TerminatorKind::Goto(Edge { target, origin });
        self.end_block(kind, origin, Without::Block, Some(exit.inside));
    }

    /// What comes next is lowered into a new block.
    fn end_block(
        &mut self,
        kind: TerminatorKind,
        origin: OriginId,
        without: impl Fn(BlockId) -> Without,
        inside: Option<OriginId>,
    ) {
        let next = self.new_block();
        let block = &mut self.blocks[self.current.index()];
        if block.terminator.is_none() {
            block.terminator = Some(Terminator {
                kind,
                origin,
                without: without(next),
                inside,
            });
        }
        self.current = next;
    }

    /// Ends `block`, which was left open on purpose.
    pub(crate) fn terminate_block(
        &mut self,
        block: BlockId,
        kind: TerminatorKind,
        origin: OriginId,
    ) {
        self.blocks[block.index()].terminator = Some(Terminator {
            kind,
            origin,
            without: Without::Same,
            inside: None,
        });
    }

    /// Ends the current block by a jump that is no `goto` of the source.
    pub(crate) fn goto(&mut self, target: BlockId, origin: OriginId) {
        self.terminate(TerminatorKind::Goto(Edge { target, origin }), origin);
    }

    /// A local has the value that it keeps.
    pub(crate) fn settle(&mut self, local: LocalId, origin: OriginId) {
        if matches!(self.locals[local.index()].kind, LocalKind::Memory { .. }) {
            self.emit(InstructionKind::Settle { local }, origin);
        }
    }

    /// Ends the current block by a jump of the source, such as `break`.
    pub(crate) fn jump_to(&mut self, target: BlockId, origin: OriginId) {
        self.jump(TerminatorKind::Goto(Edge { target, origin }), origin);
    }

    /// The end of the body: returns.
    fn finish(&mut self) {
        let origin = OriginId(0);
        let is_main = self.source.name == "main";
        let kind = if self.result == Type::Void {
            TerminatorKind::Return(None)
        } else if is_main && self.result == Type::I32 {
            TerminatorKind::Return(Some(self.constant(Type::I32, 0, origin)))
        } else {
            TerminatorKind::ReturnNothing
        };
        self.terminate(kind, origin);
    }

    /// Returns a constant operand.
    pub(crate) fn constant(&self, ty: Type, bits: u128, origin: OriginId) -> Operand {
        Operand {
            value: Value::Constant { ty, bits },
            origin,
        }
    }

    /// Returns the type of an operand.
    pub(crate) fn type_of(&self, operand: Operand) -> Type {
        match operand.value {
            Value::Temp(id) => self.temporaries[id.index()].ty,
            Value::Constant { ty, .. } => ty,
            Value::Address { .. } => Type::Ptr,
        }
    }

    /// Emits the address of a local object.
    pub(crate) fn local_address(&mut self, local: LocalId, origin: OriginId) -> Operand {
        self.emit_value(Type::Ptr, origin, |dst| InstructionKind::LocalAddress {
            dst,
            local,
        })
    }

    /// Emits a conversion between two types, if they differ.
    pub(crate) fn convert(
        &mut self,
        value: Operand,
        from: Type,
        to: Type,
        origin: OriginId,
    ) -> Operand {
        if from == to {
            return value;
        }
        let value = self.as_type(value, from);
        self.emit_value(to, origin, |dst| InstructionKind::Convert {
            dst,
            from,
            to,
            a: value,
        })
    }

    /// Returns the operand if it has type `ty`; for another type, something is not supported.
    pub(crate) fn as_type(&mut self, operand: Operand, ty: Type) -> Operand {
        if self.type_of(operand) == ty {
            return operand;
        }
        self.unsupported_value(
            operand.origin,
            "an operand whose type is not understood",
            ty,
        )
    }

    /// Stands for an effect that cannot be lowered.
    pub(crate) fn unsupported_effect(&mut self, origin: OriginId, reason: &str) {
        self.emit(
            InstructionKind::Unsupported {
                dst: None,
                reason: reason.to_owned(),
            },
            origin,
        );
    }

    /// Stands, at the very beginning, for what makes the whole function unusable.
    pub(crate) fn unsupported_first(&mut self, origin: OriginId, reason: &str) {
        let kind = InstructionKind::Unsupported {
            dst: None,
            reason: reason.to_owned(),
        };
        self.blocks[0]
            .instructions
            .insert(0, Instruction { kind, origin });
    }

    /// Stands for a value that cannot be lowered.
    pub(crate) fn unsupported_value(
        &mut self,
        origin: OriginId,
        reason: &str,
        ty: Type,
    ) -> Operand {
        let ty = if ty.is_value() { ty } else { Type::Ptr };
        self.emit_value(ty, origin, |dst| InstructionKind::Unsupported {
            dst: Some(dst),
            reason: reason.to_owned(),
        })
    }

    /// Returns how values of a type are lowered.
    pub(crate) fn class_of(&self, ty: TypeId) -> Class {
        self.lowerer.class(ty)
    }

    /// Returns how the value of an expression is lowered.
    pub(crate) fn class(&self, id: ExprId) -> Class {
        self.lowerer.class(self.source.expr(id).ty)
    }

    /// Returns the scope in which constants of this function are computed.
    pub(crate) fn scope(&mut self) -> Scope<'_, 'a> {
        Scope {
            lowerer: self.lowerer,
            arena: self.source,
        }
    }

    fn intern(&mut self, node: Node, span: Option<Span>, line: Option<(u32, u32)>) -> OriginId {
        if let Some(&id) = self.origin_of.get(&node) {
            return id;
        }
        let id = OriginId(self.origins.len() as u32);
        let line = line.map(|(file, line)| (self.lowerer.file(file), line));
        self.origins.push(Origin {
            node: Some(node),
            span,
            line,
        });
        self.origin_of.insert(node, id);
        id
    }

    /// Returns the origin of instructions that an expression makes.
    pub(crate) fn at_expr(&mut self, id: ExprId) -> OriginId {
        let span = span(self.source.expr(id).place);
        let line = self.source.details.expr_lines.get(id.0 as usize).copied();
        self.intern(Node::Expression(id.0), span, line)
    }

    /// Returns the origin of instructions that a statement makes.
    pub(crate) fn at_stmt(&mut self, id: StmtId) -> OriginId {
        let span = span(self.source.stmt(id).place);
        let line = self.source.details.stmt_lines.get(id.0 as usize).copied();
        self.intern(Node::Statement(id.0), span, line)
    }

    /// Returns the origin of instructions that a declaration makes.
    pub(crate) fn at_variable(&mut self, id: VarId) -> OriginId {
        let variable = self.lowerer.unit.variable(id);
        let lowerer = &self.lowerer;
        // What an included file declares has no place in this one.
        let length = lowerer.unit.source.len() as u32;
        let span = variable
            .declared_at
            .filter(|&start| start < length)
            .map(|start| Span::new(start, start + variable.name.len() as u32));
        let line = span.map(|span| (lowerer.main_file, lowerer.lines.line(span.start)));
        self.intern(Node::Variable(id.0), span, line)
    }
}

/// The type of an argument of type `ty` after the default promotions.
pub(crate) fn promoted(ty: Type) -> Type {
    match ty {
        Type::F32 => Type::F64,
        Type::Bool | Type::I8 | Type::U8 | Type::I16 | Type::U16 => Type::I32,
        _ => ty,
    }
}

/// The type that `++` computes in.
pub(crate) fn promoted_integer(ty: Type) -> Type {
    match ty {
        Type::F32 => Type::F32,
        _ => promoted(ty),
    }
}

fn span(place: Place) -> Option<Span> {
    match place {
        Place::Written(span) | Place::MacroArgument { span, .. } => Some(span),
        Place::MacroBody { invocation }
        | Place::Stringified { invocation }
        | Place::SeveralMeanings { invocation } => Some(invocation),
        Place::Disagreement | Place::OtherFile | Place::Unknown => None,
    }
}
