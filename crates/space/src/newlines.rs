//! FORMAT by a statement: `printf("\n");` behind what prints a line, or a table row by row.
//!
//! No text that is printed can have that newline: it ends what a loop, or one of several cases, has printed.

use patchwright_csource::{ExprKind, StmtKind};
use patchwright_text::Span;

use crate::{
    choices::{Alternative, Finder, Form},
    else_joined::{LONGEST, is_repeatable},
    insertion::insertion_after,
    space::Schema,
};

/// A call and its argument.
const NEWLINE_COST: u32 = 3;

/// Functions that print.
const PRINTING: [&str; 5] = ["printf", "putchar", "puts", "fputs", "putc"];

/// How a line is ended, by the function that does it.
const ENDING: [(&str, &str); 2] = [
    ("printf", "printf(\"\\n\");"),
    ("putchar", "putchar('\\n');"),
];

/// Most places of a function.
const MOST_PLACES: usize = 12;

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let prints: Vec<Span> = (finder.function.exprs.iter())
        .filter(
            |expr| matches!(&expr.kind, ExprKind::Function(name) if PRINTING.contains(&&name[..])),
        )
        .filter_map(|expr| expr.place.editable())
        .collect();
    let ending = ENDING.iter().find(|(name, _)| finder.can_name(name));
    let Some((_, ending)) = ending.filter(|_| !prints.is_empty()) else {
        return;
    };
    let mut places = 0;
    for standing in finder.statements.clone() {
        let kind = &finder.function.stmt(standing.id).kind;
        let is_place = matches!(
            kind,
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. }
        );
        let span = standing.span;
        if !is_place || !prints.iter().any(|print| span.contains_span(*print)) {
            continue;
        }
        if !finder.is_short(span, LONGEST)
            || !is_repeatable(finder.function, span)
            || places == MOST_PLACES
        {
            finder
                .found
                .refuse("FORMAT by a newline behind a long text, or in further places");
            continue;
        }
        places += 1;
        let source = &finder.builder.unit.source;
        let alternative = Alternative {
            schema: Schema::Format,
            cost: NEWLINE_COST,
            woven: format!("{} {ending}", finder.text(span)),
            edit: insertion_after(source, span, standing.is_body, ending),
        };
        finder.add(span, None, Form::Instead, vec![alternative]);
    }
}
