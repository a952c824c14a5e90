//! Lowers statements.

use patchwright_csource::{
    ExprId, ExprKind, StmtId, StmtKind, Storage, VarId,
    types::{TypeId, TypeKind},
};
use patchwright_ir::{
    BlockId, Edge, InstructionKind, OriginId, SwitchCase, Target, TerminatorKind, Type, wide,
};

use crate::{
    edge::to,
    function::{Exit, FunctionLowerer, SwitchArms},
    types::Class,
};

impl<'a> FunctionLowerer<'_, 'a> {
    /// Emits a statement with everything in it.
    pub(crate) fn statement(&mut self, id: StmtId) {
        let origin = self.at_stmt(id);
        self.around.push(id);
        self.statement_inside(id, origin);
        self.around.pop();
    }

    fn statement_inside(&mut self, id: StmtId, origin: OriginId) {
        let source = self.source;
        match &source.stmt(id).kind {
            StmtKind::Compound(inner) => {
                self.open_scope();
                for &statement in inner {
                    self.statement(statement);
                }
                self.close_scope(origin);
            }
            StmtKind::Declaration(variables) => {
                self.typedef_lengths(id);
                for &variable in variables {
                    self.declaration(variable);
                }
            }
            StmtKind::Expression(expr) => self.effect(*expr),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
                let then_origin = self.at_stmt(*then);
                let else_origin = match otherwise {
                    Some(otherwise) => self.at_stmt(*otherwise),
                    None => origin,
                };
                self.condition(
                    *condition,
                    Edge {
                        target: yes,
                        origin: then_origin,
                    },
                    Edge {
                        target: no,
                        origin: else_origin,
                    },
                );
                self.continue_in(yes);
                self.statement(*then);
                self.goto(end, origin);
                self.continue_in(no);
                if let Some(otherwise) = otherwise {
                    self.statement(*otherwise);
                }
                self.goto(end, origin);
                self.continue_in(end);
            }
            StmtKind::While { condition, body } => {
                let test = self.new_block();
                self.goto(test, origin);
                self.continue_in(test);
                let (inside, end) = (self.new_block(), self.new_block());
                let body_origin = self.at_stmt(*body);
                self.condition(*condition, to(inside, body_origin), to(end, origin));
                self.continue_in(inside);
                self.body(*body, [end, test], origin);
                self.goto(test, origin);
                self.continue_in(end);
            }
            StmtKind::Do { body, condition } => {
                let (inside, test, end) = (self.new_block(), self.new_block(), self.new_block());
                let body_origin = self.at_stmt(*body);
                self.repeated.push(inside);
                self.goto(inside, body_origin);
                self.continue_in(inside);
                self.body(*body, [end, test], origin);
                self.goto(test, origin);
                self.continue_in(test);
                self.condition(*condition, to(inside, body_origin), to(end, origin));
                self.continue_in(end);
            }
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => {
                self.open_scope();
                if let Some(init) = init {
                    self.statement(*init);
                }
                let test = self.new_block();
                self.goto(test, origin);
                self.continue_in(test);
                let (inside, next, end) = (self.new_block(), self.new_block(), self.new_block());
                let body_origin = self.at_stmt(*body);
                match condition {
                    Some(condition) => {
                        self.condition(*condition, to(inside, body_origin), to(end, origin));
                    }
                    None => self.goto(inside, body_origin),
                }
                self.continue_in(inside);
                self.body(*body, [end, next], origin);
                self.goto(next, origin);
                self.continue_in(next);
                if let Some(increment) = increment {
                    self.effect(*increment);
                }
                match condition {
                    Some(_) => self.goto(test, origin),
                    // No decision makes it a loop, but the way back.
                    None => self.jump_back(test, end, origin),
                }
                self.continue_in(end);
                self.close_scope(origin);
            }
            StmtKind::Switch { condition, body } => self.switch(*condition, *body, origin),
            StmtKind::Case(body) => {
                let target = self.new_block();
                self.goto(target, origin);
                self.continue_in(target);
                self.case(id, to(target, origin));
                self.statement(*body);
            }
            StmtKind::Default(body) => {
                let target = self.new_block();
                self.goto(target, origin);
                self.continue_in(target);
                if let Some(arms) = self.switches.last_mut() {
                    arms.default = Some(to(target, origin));
                }
                self.statement(*body);
            }
            StmtKind::Label { name, body } => {
                self.pass_label(name, origin);
                self.statement(*body);
            }
            StmtKind::Goto(name) => {
                if !source.details.cleanups.is_empty() {
                    self.clean_up_before_goto(name, origin);
                }
                let target = self.label(name);
                self.jump_to(target, origin);
            }
            StmtKind::Break => {
                let exit = self.breaks.last().copied();
                self.leave(exit, origin);
            }
            StmtKind::Continue => {
                let exit = self.continues.last().copied();
                self.leave(exit, origin);
            }
            StmtKind::Return(value) => self.return_statement(*value, origin),
            StmtKind::Null => {}
            StmtKind::Other {
                kind,
                expressions,
                statements,
            } => match kind.as_str() {
                "AttributedStmt" => {
                    for &statement in statements {
                        self.statement(statement);
                    }
                }
                "GCCAsmStmt" => self.assembly(id, origin),
                "MSAsmStmt" => {
                    self.unsupported_effect(origin, "inline assembly");
                }
                "IndirectGotoStmt" => match expressions[..] {
                    [address] => self.computed_goto(address, origin),
                    _ => self.unsupported_effect(origin, "a computed goto"),
                },
                _ => self.unsupported_effect(origin, "a statement of an unknown kind"),
            },
        }
    }

    /// Control comes to a label.
    pub(crate) fn pass_label(&mut self, name: &'a str, origin: OriginId) {
        let target = self.label(name);
        self.goto(target, origin);
        self.continue_in(target);
        let extent = self.extent();
        self.passed_labels.insert(name, extent);
    }

    /// Control goes to the label whose address a value is. Each label is a byte of an object, so a switch over the offset finds it.
    fn computed_goto(&mut self, address: ExprId, origin: OriginId) {
        let source = self.source;
        if !source.details.cleanups.is_empty() {
            self.unsupported_effect(origin, "a computed goto beside a cleanup");
            return;
        }
        let a = self.rvalue(address);
        let a = self.as_type(a, Type::Ptr);
        let object = self.lowerer.labels(source);
        let b = self.address_constant(Target::Global(object), origin);
        let size = self.constant(Type::U64, 1, origin);
        let value = self.emit_value(Type::I64, origin, |dst| {
            InstructionKind::PointerDifference { dst, a, b, size }
        });
        let mut cases = Vec::new();
        for (name, index) in source.labels.iter().zip(0..) {
            if source.details.label_addresses.contains(name) {
                let target = self.label(name);
                cases.push(SwitchCase {
                    low: index,
                    high: index,
                    edge: to(target, origin),
                });
            }
        }
        let nowhere = self.new_block();
        self.terminate_block(nowhere, TerminatorKind::Unreachable, origin);
        self.jump(
            TerminatorKind::Switch {
                value,
                ty: Type::I64,
                cases,
                default: to(nowhere, origin),
            },
            origin,
        );
    }

    /// Returns the `cleanup` functions of the locals that a `goto` leaves. These are locals declared between the label and the
    /// `goto`, and those of blocks around the `goto` that do not hold the label.
    fn clean_up_before_goto(&mut self, name: &'a str, origin: OriginId) {
        let Some(label) = self.label_scopes.get(name) else {
            return self.unsupported_effect(origin, "a goto to an unknown label");
        };
        let shared = label.iter().zip(&self.around).take_while(|(a, b)| a == b);
        let shared = shared.filter(|(a, _)| self.has_scope(**a)).count();
        let mut extent = match self.passed_labels.get(name) {
            Some(extent) => extent.clone(),
            None => self.extent(),
        };
        // The outermost scope is the function's own.
        extent.truncate(shared + 1);
        self.clean_up_beyond(&extent, origin);
    }

    /// A statement opens a scope of its own.
    fn has_scope(&self, id: StmtId) -> bool {
        matches!(
            self.source.stmt(id).kind,
            StmtKind::Compound(_) | StmtKind::For { .. }
        )
    }

    /// Notes the statements round each label.
    pub(crate) fn find_labels(&mut self, id: StmtId, around: &mut Vec<StmtId>) {
        let source = self.source;
        around.push(id);
        let kind = &source.stmt(id).kind;
        if let StmtKind::Label { name, .. } = kind {
            self.label_scopes.insert(name, around.clone());
        }
        for inner in kind.inner() {
            self.find_labels(inner, around);
        }
        around.pop();
    }

    /// The body of a loop.
    fn body(&mut self, body: StmtId, [end, next]: [BlockId; 2], inside: OriginId) {
        let depth = self.depth();
        let exit = |target| Exit {
            target,
            depth,
            inside,
        };
        self.breaks.push(exit(end));
        self.continues.push(exit(next));
        self.statement(body);
        self.breaks.pop();
        self.continues.pop();
    }

    /// The way back of a loop without a condition. Without the loop, its body would be executed once.
    fn jump_back(&mut self, test: BlockId, end: BlockId, origin: OriginId) {
        self.jump_to(test, origin);
        self.goto(end, origin);
    }

    fn leave(&mut self, exit: Option<Exit>, origin: OriginId) {
        match exit {
            Some(exit) => {
                self.leave_scopes(exit.depth, origin);
                self.jump_out(exit, origin);
            }
            None => self.unsupported_effect(origin, "a jump out of nothing"),
        }
    }

    fn switch(&mut self, condition: ExprId, body: StmtId, origin: OriginId) {
        let value = self.rvalue(condition);
        let ty = self.type_of(value);
        let end = self.new_block();
        let head = self.current();
        // Control enters the body through its labels only.
        let inside = self.new_block();
        self.continue_in(inside);
        let depth = self.depth();
        self.breaks.push(Exit {
            target: end,
            depth,
            inside: origin,
        });
        self.switches.push(SwitchArms {
            ty: ty.is_integer().then_some(ty),
            ..SwitchArms::default()
        });
        self.statement(body);
        self.breaks.pop();
        let arms = self.switches.pop().unwrap_or_default();
        self.goto(end, origin);
        let condition_origin = self.at_expr(condition);
        if ty.is_integer() {
            let cases = arms
                .cases
                .into_iter()
                .map(|(low, high, edge)| SwitchCase { low, high, edge })
                .collect();
            self.terminate_block(
                head,
                TerminatorKind::Switch {
                    value,
                    ty,
                    cases,
                    default: arms.default.unwrap_or(to(end, origin)),
                },
                condition_origin,
            );
        } else {
            self.continue_in(head);
            self.unsupported_effect(origin, "a switch over a value that is no integer");
            self.goto(end, origin);
        }
        self.continue_in(end);
    }

    fn case(&mut self, id: StmtId, edge: Edge) {
        let labels = self.source.details.cases.get(&id).copied();
        let ty = self.switches.last().and_then(|arms| arms.ty);
        let (Some((first, last)), Some(ty)) = (labels, ty) else {
            return self.unsupported_effect(edge.origin, "a case outside of a switch");
        };
        let low = self.scope().integer(first).map(|value| wrapped(ty, value));
        let high = match last {
            Some(last) => self.scope().integer(last).map(|value| wrapped(ty, value)),
            None => low,
        };
        match (low, high) {
            (Some(low), Some(high)) => {
                if let Some(arms) = self.switches.last_mut()
                    && low <= high
                {
                    arms.cases.push((low, high, edge));
                }
            }
            _ => {
                // No value can be trusted to go elsewhere: the function cannot be used.
                self.unsupported_first(edge.origin, "a case whose value is not known");
            }
        }
    }

    fn return_statement(&mut self, value: Option<ExprId>, origin: OriginId) {
        let result = self.result;
        let Some(value) = value else {
            if !self.source.details.cleanups.is_empty() {
                self.clean_up_beyond(&[], origin);
            }
            let kind = if result == Type::Void {
                TerminatorKind::Return(None)
            } else {
                TerminatorKind::ReturnNothing
            };
            return self.jump(kind, origin);
        };
        let returned = match self.class(value) {
            Class::Void => {
                self.effect(value);
                None
            }
            Class::Aggregate { .. } => Some(self.aggregate(value)),
            _ => Some(self.rvalue(value)),
        };
        let returned = match self.source.details.cleanups.is_empty() {
            true => returned,
            false => {
                // The value is what it is before.
                let kept = returned.map(|kept| match (self.class(value), kept) {
                    (Class::Aggregate { size, align }, from) => {
                        let local = self.temporary_object(size, align, origin);
                        let to = self.local_address(local, origin);
                        self.emit(InstructionKind::Copy { to, from, size }, origin);
                        to
                    }
                    (_, kept) => kept,
                });
                self.clean_up_beyond(&[], origin);
                kept
            }
        };
        let kind = match (returned, result) {
            (_, Type::Void) => TerminatorKind::Return(None),
            (None, _) => TerminatorKind::ReturnNothing,
            (Some(value), Type::Aggregate { .. }) => {
                TerminatorKind::Return(Some(self.as_type(value, Type::Ptr)))
            }
            (Some(value), ty) => TerminatorKind::Return(Some(self.as_type(value, ty))),
        };
        self.jump(kind, origin);
    }

    fn declaration(&mut self, variable: VarId) {
        let source = self.source;
        let unit = self.lowerer.unit;
        let declared = unit.variable(variable);
        let origin = self.at_variable(variable);
        match declared.storage {
            Storage::StaticLocal => {
                let global = self.lowerer.object(variable);
                match declared.initializer {
                    Some(value) => {
                        self.lowerer
                            .initialize_object(global, declared.ty, source, value);
                    }
                    None => {
                        let object = &mut self.lowerer.module.globals[global.index()];
                        object.data.get_or_insert_default();
                    }
                }
            }
            Storage::Local | Storage::Parameter => {
                let class = self.class_of(declared.ty);
                if let Class::Unknown(reason) = class {
                    self.unsupported_effect(origin, reason);
                    return;
                }
                if let Some(lengths) = source.details.declared_lengths.get(&variable) {
                    self.compute_lengths(lengths, origin);
                }
                if unit.types.is_variable(declared.ty) {
                    self.declare_array(variable, declared.ty, origin);
                    if declared.initializer.is_some()
                        || source.details.cleanups.contains_key(&variable)
                    {
                        let reason = "an initialiser or cleanup of a variable array";
                        self.unsupported_effect(origin, reason);
                    }
                    return;
                }
                let local = self.declare(variable, origin);
                match (declared.initializer, class) {
                    (None, _) => {}
                    (Some(value), Class::Scalar(ty)) => {
                        let value = self.rvalue(value);
                        let value = self.as_type(value, ty);
                        self.store_local(local, ty, value, origin);
                    }
                    (Some(value), _) => {
                        let address = self.local_address(local, origin);
                        self.initialize(address, declared.ty, value, origin);
                    }
                }
                if declared.initializer.is_some() && self.is_constant(declared.ty) {
                    self.settle(local, origin);
                }
                if source.details.cleanups.contains_key(&variable) {
                    self.clean_up_later(local, variable);
                }
            }
            Storage::Global => {}
        }
    }

    /// An object of the type must not be written.
    fn is_constant(&self, ty: TypeId) -> bool {
        let types = &self.lowerer.unit.types;
        match *types.kind(ty) {
            TypeKind::Array(element, _) => self.is_constant(element),
            _ => types.qualifiers(ty).is_const,
        }
    }

    /// Lowers a condition itself: control goes to `then` when it holds. `&&` and `||` are control flow;
    /// their own truth is never a value here.
    pub(crate) fn own_condition(&mut self, id: ExprId, then: Edge, otherwise: Edge) {
        use patchwright_csource::BinaryOperator::{LogicalAnd, LogicalOr};
        let source = self.source;
        match source.expr(id).kind {
            ExprKind::Paren(inner) => self.condition(inner, then, otherwise),
            ExprKind::Binary {
                operator: LogicalAnd,
                left,
                right,
            } => {
                let second = self.new_block();
                let origin = self.at_expr(id);
                self.condition(left, to(second, origin), otherwise);
                self.continue_in(second);
                self.condition(right, then, otherwise);
            }
            ExprKind::Binary {
                operator: LogicalOr,
                left,
                right,
            } => {
                let second = self.new_block();
                let origin = self.at_expr(id);
                self.condition(left, then, to(second, origin));
                self.continue_in(second);
                self.condition(right, then, otherwise);
            }
            _ if self.parts_of(id).is_some() => {
                let origin = self.at_expr(id);
                let condition = self.is_zero(id, origin);
                let ty = self.type_of(condition);
                self.terminate(
                    TerminatorKind::Branch {
                        condition,
                        ty,
                        then: otherwise,
                        otherwise: then,
                    },
                    origin,
                );
            }
            _ => {
                let condition = self.rvalue_alone(id);
                let origin = self.at_expr(id);
                let ty = self.type_of(condition);
                self.terminate(
                    TerminatorKind::Branch {
                        condition,
                        ty,
                        then,
                        otherwise,
                    },
                    origin,
                );
            }
        }
    }
}

/// A label's value converted to the type of the switch.
fn wrapped(ty: Type, value: i128) -> i128 {
    let bits = wide::canonical(ty, value as u128);
    match ty {
        _ if ty.is_signed() && ty.scalar().is_some() => i128::from(bits as u64 as i64),
        _ => bits as i128,
    }
}
