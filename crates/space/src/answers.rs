//! EXIT with an answer: `if (n == 0) { printf("no values\n"); return 0; }`, before a statement.
//!
//! A case that a program forgets mostly has an answer of its own. A failing test tells the answer: it expected a line and got another one, or none.
//! The condition is a comparison, and its values make classes as those of other exits do.

use patchwright_csource::{ExprKind, StmtKind, types::TypeKind};

use crate::{
    choices::Finder,
    exits::{returned, values},
    holes::HoleKind,
    ways_out::{Conditions, Exit, Exits},
};

/// Functions that print a line, and what stands around its text.
const PRINTING: [(&str, &str, &str); 2] = [
    ("printf", "printf(\"", "\\n\");"),
    ("puts", "puts(\"", "\");"),
];

/// Most lines that are answered with.
const MOST_LINES: usize = 3;

/// Most values that are returned behind one line.
const MOST_RETURNED: usize = 2;

/// Most places of a function.
const MOST_PLACES: usize = 24;

/// A call and its text.
const COST: u32 = 1;

/// Adds exits that print a line which a failing test misses.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    if finder.shown.missing.is_empty() {
        return;
    }
    let calls = |name: &str| {
        let mut exprs = finder.function.exprs.iter();
        exprs.any(|expr| matches!(&expr.kind, ExprKind::Function(other) if other == name))
    };
    // What the program can say already is no answer that it lacks.
    let literals = literals(finder);
    let lines: Vec<String> = finder
        .shown
        .missing
        .iter()
        .filter(|line| is_plain(line) && !literals.iter().any(|text| text.contains(&line[..])))
        .take(MOST_LINES)
        .cloned()
        .collect();
    // A function that prints nothing hands its answer to others.
    let prints = PRINTING.iter().any(|(name, ..)| calls(name));
    let printing = PRINTING
        .iter()
        .filter(|(name, ..)| finder.can_name(name))
        .max_by_key(|(name, ..)| calls(name));
    let Some(&(name, before, after)) = printing.filter(|_| prints && !lines.is_empty()) else {
        return;
    };
    let is_void = matches!(
        finder.builder.unit.types.kind(finder.function.return_type),
        TypeKind::Void
    );
    let returned = returned(finder);
    let mut places = 0;
    for standing in finder.statements.clone() {
        let kind = &finder.function.stmt(standing.id).kind;
        let is_place = kind.is_step() || matches!(kind, StmtKind::Return(_));
        if standing.is_body || !is_place {
            continue;
        }
        if places == MOST_PLACES {
            finder.found.refuse("EXIT with an answer in further places");
            break;
        }
        places += 1;
        let mut leave: Vec<(String, u32)> = Vec::new();
        if standing.in_loop {
            leave.push(("continue;".to_owned(), 0));
        }
        if is_void {
            leave.push(("return;".to_owned(), 0));
        } else {
            let values = values(&returned, &standing).into_iter().take(MOST_RETURNED);
            leave.extend(values.map(|(value, size)| (format!("return {value};"), size - 1)));
        }
        let mut ways = Vec::new();
        for line in &lines {
            let text = match name {
                "printf" => line.replace('%', "%%"),
                _ => line.clone(),
            };
            for (leave, size) in &leave {
                ways.push(Exit {
                    text: format!("{{ {before}{text}{after} {leave} }}"),
                    cost: COST + size,
                });
            }
        }
        if ways.is_empty() {
            continue;
        }
        let kind = HoleKind::Exit(Exits {
            is_body: standing.is_body,
            ways,
            under: Conditions::Answer,
        });
        finder.push(standing.span, kind, None, standing.scope.clone());
    }
}

/// The string literals of all functions of the source, as they are written.
fn literals(finder: &Finder<'_, '_, '_>) -> Vec<String> {
    let functions = finder.builder.unit.functions.iter();
    let exprs = functions.flat_map(|function| &function.exprs);
    exprs
        .filter(|expr| matches!(expr.kind, ExprKind::String))
        .filter_map(|expr| Some(finder.text(expr.place.editable()?)))
        .collect()
}

/// Whether a line can stand between quotes as it is, and says something: a line with digits is a result, which is calculated.
fn is_plain(line: &str) -> bool {
    let is_written = |byte: u8| {
        (byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\') || byte == b' ')
            && !byte.is_ascii_digit()
    };
    line.bytes().any(|byte| byte.is_ascii_alphabetic()) && line.bytes().all(is_written)
}
