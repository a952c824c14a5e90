//! Statements.

use patchwright_csource::{ExprId, ExprKind, StmtId, StmtKind, Storage, VarId};
use patchwright_ir::{BlockId, Edge, OriginId, SwitchCase, TerminatorKind, Type, wide};

use crate::{
    function::{Exit, FunctionLowerer, SwitchArms},
    types::Class,
};

impl<'a> FunctionLowerer<'_, 'a> {
    pub(crate) fn statement(&mut self, id: StmtId) {
        let source = self.source;
        let origin = self.at_stmt(id);
        match &source.stmt(id).kind {
            StmtKind::Compound(inner) => {
                self.open_scope();
                for &statement in inner {
                    self.statement(statement);
                }
                self.close_scope(origin);
            }
            StmtKind::Declaration(variables) => {
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
                self.body(*body, end, test);
                self.goto(test, origin);
                self.continue_in(end);
            }
            StmtKind::Do { body, condition } => {
                let (inside, test, end) = (self.new_block(), self.new_block(), self.new_block());
                let body_origin = self.at_stmt(*body);
                self.goto(inside, body_origin);
                self.continue_in(inside);
                self.body(*body, end, test);
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
                self.body(*body, end, next);
                self.goto(next, origin);
                self.continue_in(next);
                if let Some(increment) = increment {
                    self.effect(*increment);
                }
                self.goto(test, origin);
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
                let target = self.label(name);
                self.goto(target, origin);
                self.continue_in(target);
                self.statement(*body);
            }
            StmtKind::Goto(name) => {
                let target = self.label(name);
                self.goto(target, origin);
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
                kind, statements, ..
            } => match kind.as_str() {
                "AttributedStmt" => {
                    for &statement in statements {
                        self.statement(statement);
                    }
                }
                "GCCAsmStmt" | "MSAsmStmt" => {
                    self.unsupported_effect(origin, "inline assembly");
                }
                "IndirectGotoStmt" => self.unsupported_effect(origin, "a computed goto"),
                _ => self.unsupported_effect(origin, "a statement of an unknown kind"),
            },
        }
    }

    /// The body of a loop.
    fn body(&mut self, body: StmtId, end: BlockId, next: BlockId) {
        let depth = self.depth();
        self.breaks.push(Exit { target: end, depth });
        self.continues.push(Exit {
            target: next,
            depth,
        });
        self.statement(body);
        self.breaks.pop();
        self.continues.pop();
    }

    fn leave(&mut self, exit: Option<Exit>, origin: OriginId) {
        match exit {
            Some(exit) => {
                self.leave_scopes(exit.depth, origin);
                self.goto(exit.target, origin);
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
        self.breaks.push(Exit { target: end, depth });
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
            let kind = if result == Type::Void {
                TerminatorKind::Return(None)
            } else {
                TerminatorKind::ReturnNothing
            };
            return self.terminate(kind, origin);
        };
        let returned = match self.class(value) {
            Class::Void => {
                self.effect(value);
                None
            }
            Class::Aggregate { .. } => Some(self.aggregate(value)),
            _ => Some(self.rvalue(value)),
        };
        let kind = match (returned, result) {
            (_, Type::Void) => TerminatorKind::Return(None),
            (None, _) => TerminatorKind::ReturnNothing,
            (Some(value), Type::Aggregate { .. }) => {
                TerminatorKind::Return(Some(self.as_type(value, Type::Ptr)))
            }
            (Some(value), ty) => TerminatorKind::Return(Some(self.as_type(value, ty))),
        };
        self.terminate(kind, origin);
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
                let local = self.declare(variable, origin);
                let Some(value) = declared.initializer else {
                    return;
                };
                match class {
                    Class::Scalar(ty) => {
                        let value = self.rvalue(value);
                        let value = self.as_type(value, ty);
                        self.store_local(local, ty, value, origin);
                    }
                    _ => {
                        let address = self.local_address(local, origin);
                        self.initialize(address, declared.ty, value, origin);
                    }
                }
            }
            Storage::Global => {}
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
            _ => {
                let condition = self.rvalue(id);
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

pub(crate) fn to(target: BlockId, origin: OriginId) -> Edge {
    Edge { target, origin }
}

/// A label's value converted to the type of the switch.
fn wrapped(ty: Type, value: i128) -> i128 {
    let bits = wide::canonical(ty, value as u128);
    match ty {
        _ if ty.is_signed() && ty.scalar().is_some() => i128::from(bits as u64 as i64),
        _ => bits as i128,
    }
}
