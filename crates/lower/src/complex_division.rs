//! Division of complex integers, as gcc does it: by Smith's method, whose steps round.

use patchwright_ir::{InstructionKind, LocalKind, Operand, OriginId, TerminatorKind, Type};
use patchwright_semantics::BinaryOp;

use crate::{edge::to, function::FunctionLowerer};

impl FunctionLowerer<'_, '_> {
    /// The parts of `(ar + ai i) / (br + bi i)`.
    pub(crate) fn divided_integers(
        &mut self,
        [ar, ai, br, bi]: [Operand; 4],
        of: Type,
        origin: OriginId,
    ) -> (Operand, Operand) {
        // The larger part by its square, which has room.
        let square = |this: &mut Self, part: Operand| {
            let wide = this.convert(part, of, Type::I128, origin);
            this.emit_value(Type::I128, origin, |dst| InstructionKind::Binary {
                dst,
                op: BinaryOp::Mul,
                ty: Type::I128,
                a: wide,
                b: wide,
            })
        };
        let (a, b) = (square(self, br), square(self, bi));
        let condition = self.emit_value(Type::I32, origin, |dst| InstructionKind::Binary {
            dst,
            op: BinaryOp::Lt,
            ty: Type::I128,
            a,
            b,
        });
        let mut local = || self.new_local(String::new(), LocalKind::Register(of), origin);
        let (re, im) = (local(), local());
        let (less, more, end) = (self.new_block(), self.new_block(), self.new_block());
        self.terminate(
            TerminatorKind::Branch {
                condition,
                ty: Type::I32,
                then: to(less, origin),
                otherwise: to(more, origin),
            },
            origin,
        );
        use BinaryOp::{Add, Div, Mul, Sub};
        for (block, [small, large]) in [(less, [br, bi]), (more, [bi, br])] {
            self.continue_in(block);
            let mut on = |op, a, b| self.on_part(op, a, b, of, origin);
            let ratio = on(Div, small, large);
            let by = on(Mul, small, ratio);
            let by = on(Add, by, large);
            let (real, imaginary) = match block == less {
                true => (on(Mul, ar, ratio), on(Mul, ai, ratio)),
                false => (on(Mul, ai, ratio), on(Mul, ar, ratio)),
            };
            let (real, imaginary) = match block == less {
                true => (on(Add, real, ai), on(Sub, imaginary, ar)),
                false => (on(Add, real, ar), on(Sub, ai, imaginary)),
            };
            let (real, imaginary) = (on(Div, real, by), on(Div, imaginary, by));
            self.write(re, real, origin);
            self.write(im, imaginary, origin);
            self.goto(end, origin);
        }
        self.continue_in(end);
        (self.read(re, of, origin), self.read(im, of, origin))
    }
}
