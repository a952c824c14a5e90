//! Arguments that a macro uses several times, and those that are macros themselves.

use patchwright_text::Span;
use rustc_hash::FxHashMap;

use super::FunctionBuilder;
use crate::tree::*;

impl FunctionBuilder<'_, '_> {
    /// Finds arguments that are constants from macros. Of `fgets(line, BUFSIZ, file)`, where `fgets` is a macro, clang places `BUFSIZ` in
    /// the body of a macro. If the call has one constant and the invocation one argument that is a macro for a constant, that argument is
    /// its place.
    pub(super) fn find_constant_arguments(&mut self) {
        for number in 0..self.exprs.len() {
            let expr = &self.exprs[number];
            let (ExprKind::Call { arguments, .. }, Place::Written(whole)) =
                (&expr.kind, expr.place)
            else {
                continue;
            };
            let is_constant = |id: &ExprId| {
                let expr = &self.exprs[self.stripped(*id).0 as usize];
                matches!(expr.kind, ExprKind::Integer { .. })
                    && expr.place == (Place::MacroBody { invocation: whole })
            };
            let mut constants = arguments.iter().copied().filter(is_constant);
            let (Some(argument), None) = (constants.next(), constants.next()) else {
                continue;
            };
            let Some(span) = self.locator.constant_argument(whole, arguments.len()) else {
                continue;
            };
            let mut id = argument;
            loop {
                let expr = &mut self.exprs[id.0 as usize];
                if expr.place != (Place::MacroBody { invocation: whole }) {
                    break;
                }
                expr.place = Place::MacroArgument {
                    span,
                    invocation: whole,
                };
                match expr.kind {
                    ExprKind::Cast { operand, .. } | ExprKind::Paren(operand) => id = operand,
                    _ => break,
                }
            }
        }
    }

    /// An argument that a macro uses several times gives several nodes with one text. Unless
    /// they are alike, changing the text would mean different changes.
    pub(super) fn compare_uses(&mut self) {
        let mut uses: FxHashMap<Span, Vec<usize>> = FxHashMap::default();
        for (i, expr) in self.exprs.iter().enumerate() {
            let implicit = matches!(expr.kind, ExprKind::Cast { implicit: true, .. });
            if let Place::MacroArgument { span, .. } = expr.place
                && !implicit
            {
                uses.entry(span).or_default().push(i);
            }
        }
        // What one use reads and another one writes to cannot be replaced by a value.
        let mut is_read = vec![false; self.exprs.len()];
        for (i, expr) in self.exprs.iter().enumerate().rev() {
            match expr.kind {
                ExprKind::Cast {
                    operand,
                    cast: CastKind::LValueToRValue | CastKind::ArrayToPointer,
                    ..
                } => is_read[operand.0 as usize] = true,
                ExprKind::Paren(inner) => is_read[inner.0 as usize] = is_read[i],
                _ => {}
            }
        }
        let mut different = rustc_hash::FxHashSet::default();
        for (span, nodes) in uses {
            let first = &self.exprs[nodes[0]];
            // Parentheses of the argument and what they contain are one text, but two nodes.
            let bare = |i: usize| {
                let id = self.stripped(ExprId(i as u32));
                is_read[id.0 as usize]
            };
            let alike = nodes.iter().all(|&i| {
                let expr = &self.exprs[i];
                (!expr.lvalue || bare(i) == bare(nodes[0]))
                    && expr.ty == first.ty
                    && expr.evaluated == first.evaluated
                    && expr.lvalue == first.lvalue
                    && std::mem::discriminant(&expr.kind) == std::mem::discriminant(&first.kind)
            });
            if !alike {
                different.insert(span);
            }
        }
        for expr in &mut self.exprs {
            if let Place::MacroArgument { span, invocation } = expr.place
                && (different.contains(&span) || self.locator.has_name(span))
            {
                expr.place = Place::SeveralMeanings { invocation };
            }
        }
    }
}
