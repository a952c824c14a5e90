//! Lowers calls.

use patchwright_csource::{ExprId, ExprKind, types::TypeKind};
use patchwright_ir::{
    Argument, Callee, InstructionKind, Operand, OriginId, Target, TerminatorKind, Type,
};

use crate::{function::FunctionLowerer, types::Class};

impl FunctionLowerer<'_, '_> {
    /// The value is what a call gives, perhaps converted.
    pub(crate) fn is_call(&self, id: ExprId) -> bool {
        match self.source.expr(id).kind {
            ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => self.is_call(inner),
            ExprKind::Call { .. } => true,
            _ => false,
        }
    }

    /// A call; its value, or the address of the record that it returns.
    pub(crate) fn call(&mut self, id: ExprId) -> Option<Operand> {
        let source = self.source;
        let origin = self.at_expr(id);
        let ExprKind::Call {
            callee,
            arguments,
            prototyped,
        } = &source.expr(id).kind
        else {
            return None;
        };
        let name = match &source.expr(source.stripped(*callee)).kind {
            ExprKind::Function(name) => Some(name.as_str()),
            _ => None,
        };
        if let Some(name) = name
            && let Some(value) = self.builtin(id, name, arguments)
        {
            return value;
        }
        let result = match self.class(id) {
            Class::Void => Type::Void,
            Class::Scalar(ty) => ty,
            Class::Aggregate { size, .. } => Type::Aggregate { size },
            _ => {
                let value = self.unsupported_expr(id);
                return Some(value);
            }
        };
        let indirect = match name {
            Some(_) => None,
            None => {
                let callee = self.rvalue(*callee);
                Some(self.as_type(callee, Type::Ptr))
            }
        };
        let arguments = self.arguments(arguments);
        let arguments = self.in_chosen_order(id, arguments);
        let (callee, no_return) = match (name, indirect) {
            (Some(name), _) => {
                let types: Vec<Type> = arguments.iter().map(|a| a.ty).collect();
                self.callee(name, &types, *prototyped, result, origin)
            }
            (None, Some(callee)) => (Callee::Indirect(callee), false),
            (None, None) => return None,
        };
        let value = self.emit_call(callee, arguments, *prototyped, result, id);
        if no_return {
            self.jump(TerminatorKind::Unreachable, origin);
        }
        value
    }

    /// Evaluates arguments, the last one first.
    pub(crate) fn arguments(&mut self, arguments: &[ExprId]) -> Vec<Argument> {
        let mut passed: Vec<Argument> = arguments
            .iter()
            .rev()
            .map(|&argument| {
                let (ty, value) = match self.class(argument) {
                    Class::Aggregate { size, .. } => {
                        (Type::Aggregate { size }, self.aggregate(argument))
                    }
                    _ => {
                        let value = self.rvalue(argument);
                        (self.type_of(value), value)
                    }
                };
                let types = &self.lowerer.unit.types;
                let to_const = match types.kind(self.source.expr(argument).ty) {
                    TypeKind::Pointer(to) => types.qualifiers(*to).is_const,
                    _ => false,
                };
                Argument {
                    ty,
                    value,
                    to_const,
                }
            })
            .collect();
        passed.reverse();
        passed
    }

    /// Returns the function of a name if a call of this form fits its declaration, else its address, so that the call is checked when it
    /// happens.
    pub(crate) fn callee(
        &mut self,
        name: &str,
        arguments: &[Type],
        fixed: usize,
        result: Type,
        origin: OriginId,
    ) -> (Callee, bool) {
        let variadic = arguments.len() > fixed && fixed > 0;
        let parameters = arguments[..fixed.min(arguments.len())].to_vec();
        let function = self.lowerer.declare_as(name, result, parameters, variadic);
        let declared = self.lowerer.module.function(function);
        let no_return = declared.no_return;
        let count = declared.parameters.len();
        let fits = !declared.prototyped
            || (declared.result == result
                && (arguments.len() == count || declared.variadic && arguments.len() >= count)
                && declared
                    .parameters
                    .iter()
                    .zip(arguments)
                    .all(|(parameter, argument)| parameter.ty == *argument));
        let callee = if fits {
            Callee::Direct(function)
        } else {
            Callee::Indirect(self.address_constant(Target::Function(function), origin))
        };
        (callee, no_return)
    }

    /// Emits a call, and returns its result; `None` without a result. The first `fixed` arguments are parameters, the others variadic.
    pub(crate) fn emit_call(
        &mut self,
        callee: Callee,
        arguments: Vec<Argument>,
        fixed: usize,
        result: Type,
        id: ExprId,
    ) -> Option<Operand> {
        let origin = self.at_expr(id);
        let result_address = match (result, self.class(id)) {
            (Type::Aggregate { size }, Class::Aggregate { align, .. }) => {
                let local = self.temporary_object(size, align, origin);
                Some(self.local_address(local, origin))
            }
            _ => None,
        };
        let dst = result.is_value().then(|| self.new_temporary(result));
        self.emit(
            InstructionKind::Call {
                dst,
                callee,
                arguments,
                fixed,
                result,
                result_address,
            },
            origin,
        );
        match dst {
            Some(dst) => Some(Operand {
                value: patchwright_ir::Value::Temp(dst),
                origin,
            }),
            None => result_address,
        }
    }

    /// Calls a function, whose result is not used, with an address.
    pub(crate) fn call_with_address(&mut self, name: &str, address: Operand, origin: OriginId) {
        let id = self.lowerer.declare(name);
        let declared = self.lowerer.module.function(id);
        let result = declared.result;
        let fits = matches!(declared.parameters.as_slice(), [one] if one.ty == Type::Ptr);
        if !fits || matches!(result, Type::Aggregate { .. }) {
            self.unsupported_effect(origin, "a cleanup by a function of another form");
            return;
        }
        let dst = result.is_value().then(|| self.new_temporary(result));
        let argument = Argument {
            ty: Type::Ptr,
            value: address,
            to_const: false,
        };
        self.emit(
            InstructionKind::Call {
                dst,
                callee: Callee::Direct(id),
                arguments: vec![argument],
                fixed: 1,
                result,
                result_address: None,
            },
            origin,
        );
    }

    /// Calls a function of the library by name, with arguments of these types.
    pub(crate) fn call_library(
        &mut self,
        id: ExprId,
        name: &str,
        arguments: Vec<Argument>,
        result: Type,
    ) -> Option<Operand> {
        let origin = self.at_expr(id);
        let types: Vec<Type> = arguments.iter().map(|a| a.ty).collect();
        let (callee, _) = self.callee(name, &types, types.len(), result, origin);
        let fixed = types.len();
        self.emit_call(callee, arguments, fixed, result, id)
    }
}
