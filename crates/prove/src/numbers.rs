//! Replaces integer constants by other numbers.

use patchwright_csource::{ExprId, ExprKind, Place, types::IntegerKind};
use patchwright_lower::alternatives::Alternative;

use crate::{
    defines,
    enumerate::{Root, Walker},
    level::Level,
    mutation::Mutation,
    pieces::{Piece, Text, literal, replace},
    syntax::written,
};

impl Walker<'_> {
    /// Keeps a number that the definition of a macro may be the text of.
    fn written_by_macro(&mut self, id: ExprId, value: i128, kind: IntegerKind) {
        let (invocation, replaceable) = match self.function.expr(id).place {
            Place::Written(span) => (span, true),
            Place::MacroBody { invocation } => (invocation, false),
            _ => return,
        };
        let text = self.unit.text(invocation);
        let is_allowed = !self.spans.iter().any(|one| one.overlaps(invocation));
        if is_allowed
            && text
                .bytes()
                .next()
                .is_some_and(|byte| !byte.is_ascii_digit())
        {
            self.uses.push(defines::Use {
                function: self.function.name.clone(),
                id,
                invocation,
                value,
                kind,
                replaceable,
            });
        }
    }

    /// Adds the mutations of an integer constant.
    pub(crate) fn integer(
        &mut self,
        id: ExprId,
        parent: Option<ExprId>,
        (value, character): (i128, bool),
        root: &Root,
    ) {
        let Some(kind) = self.unit.types.integer_kind(self.function.expr(id).ty) else {
            return;
        };
        let Some((low, high)) = range(kind) else {
            return;
        };
        if self.level == Level::Three {
            self.written_by_macro(id, value, kind);
        }
        let Some(span) = self.editable(id) else {
            return;
        };
        let is_unsigned = low == 0;
        let tight = matches!(
            parent.map(|parent| &self.function.expr(parent).kind),
            Some(ExprKind::Binary { .. } | ExprKind::Unary { .. } | ExprKind::Cast { .. })
        );
        // `2[a]`
        if let Some(parent) = parent
            && let ExprKind::Other { kind, .. } = &self.function.expr(parent).kind
            && kind == "ArraySubscriptExpr"
        {
            return;
        }
        if self.level == Level::Three {
            let number = *self.next;
            *self.next += 1;
            let text = Text::Open {
                number,
                kind,
                parenthesised: tight,
            };
            let piece = Piece {
                span,
                text,
                extent: span.len(),
                closing: false,
                cautious: false,
            };
            let mut mutation = Mutation::new(vec![piece]);
            mutation.near = value as u64 as i64;
            self.add(id, span, vec![(Alternative::Open(number), mutation)]);
            self.variable_for_number(id, span, root);
            return;
        }
        let mut values: Vec<i128> = Vec::new();
        for other in [value + 1, value - 1, -value, 0] {
            let wrapped = match is_unsigned {
                true => other.rem_euclid(high + 1),
                false => other,
            };
            if wrapped != value && (low..=high).contains(&wrapped) && !values.contains(&wrapped) {
                values.push(wrapped);
            }
        }
        let source_text = self.unit.text(span).into_owned();
        let on_the_right_of = parent.and_then(|parent| match self.function.expr(parent).kind {
            ExprKind::Binary {
                operator, right, ..
            } if written(self.function, right) == id => Some((parent, operator)),
            _ => None,
        });
        let found = values
            .into_iter()
            .map(|other| {
                let text = match character && source_text.starts_with('\'') {
                    true => character_literal(other),
                    false => None,
                };
                let text = text.unwrap_or_else(|| literal(other, kind, tight));
                let mut mutation = Mutation::new(vec![replace(span, &text)]);
                mutation.alone = on_the_right_of
                    .and_then(|(operation, operator)| self.left_alone(operation, operator, other));
                // The canonical form of crate `semantics`: sign-extended for signed types.
                (Alternative::Constant(other as u64), mutation)
            })
            .collect();
        self.add(id, span, found);
    }
}

/// Returns the size of a type in bytes, if it is at most 8.
pub(crate) fn size_of(kind: IntegerKind) -> Option<u64> {
    (kind.size() <= 8).then(|| kind.size())
}

/// The values of a type that literals can have.
pub(crate) fn range(kind: IntegerKind) -> Option<(i128, i128)> {
    use IntegerKind::*;
    Some(match kind {
        Int => (i128::from(i32::MIN), i128::from(i32::MAX)),
        UnsignedInt => (0, i128::from(u32::MAX)),
        Long | LongLong => (i128::from(i64::MIN), i128::from(i64::MAX)),
        UnsignedLong | UnsignedLongLong => (0, i128::from(u64::MAX)),
        _ => return None,
    })
}

fn character_literal(value: i128) -> Option<String> {
    let byte = u8::try_from(value).ok()?;
    match byte {
        b'\'' | b'\\' => Some(format!("'\\{}'", byte as char)),
        b' '..=b'~' => Some(format!("'{}'", byte as char)),
        _ => None,
    }
}
