//! Inline assembly that has no instructions: its operands are evaluated, and some get the values of others.

use patchwright_csource::{ExprId, StmtId};
use patchwright_ir::{Operand, OriginId};

use crate::{function::FunctionLowerer, types::Class};

impl FunctionLowerer<'_, '_> {
    /// Lowers inline assembly without instructions: outputs get the values of their inputs. Instructions are not supported.
    pub(crate) fn assembly(&mut self, id: StmtId, origin: OriginId) {
        let source = self.source;
        let Some(assembly) = source.details.assembly.get(&id) else {
            return self.unsupported_effect(origin, "inline assembly");
        };
        let mut values: Vec<(ExprId, Operand)> = Vec::new();
        for &input in &assembly.inputs {
            let expr = source.expr(input);
            match self.class(input) {
                // What is in memory is not read.
                _ if expr.lvalue => {
                    self.location(input);
                }
                Class::Scalar(_) => {
                    let value = self.rvalue(input);
                    values.push((input, value));
                }
                _ => self.effect(input),
            }
        }
        for &(output, from) in &assembly.outputs {
            let location = self.location(output);
            let Some(from) = from else { continue };
            let value = values.iter().find(|(input, _)| *input == from);
            let (Some(&(_, value)), Class::Scalar(ty)) = (value, self.class(output)) else {
                self.unsupported_effect(origin, "inline assembly with an operand of another form");
                continue;
            };
            // Both are one register.
            let of = self.type_of(value);
            if of.is_float() != ty.is_float() || of.size() != ty.size() {
                self.unsupported_effect(origin, "inline assembly with operands of two sizes");
                continue;
            }
            let value = self.convert(value, of, ty, origin);
            self.store(location, ty, value, origin);
        }
    }
}
