//! Holes of a source that is compiled in several ways: what is the same in all of them.
//!
//! A candidate is one text for all ways, and its value is computed once for all of them. So a hole must have the same kind, type and
//! original term in all ways. Its candidates consist of atoms and constants that mean the same in all ways.

use patchwright_csource::Function;

use crate::{
    common_leaves::{CommonLeaves, describe, describe_type},
    distant::Leaves,
    holes::{Hole, HoleKind},
    term::{Context, Pointees},
};

/// The same hole in another way of compiling the source, with its leaves.
pub struct OtherHole<'a> {
    /// The hole; its atoms include those of the leaves.
    pub hole: &'a Hole,
    /// The leaves.
    pub leaves: &'a Leaves,
    /// What pointers of that way point to.
    pub pointees: &'a Pointees,
}

/// What another way of compiling the source has at the place of a hole: nothing, something different, or
/// the same hole.
pub enum Twin<'a> {
    /// It leaves out the text.
    LeftOut,
    /// The same text, but no such hole.
    Different,
    /// The same hole.
    Same(OtherHole<'a>),
}

/// Returns the leaves that mean the same in all other ways. It is `None` if no other way compiles the
/// text, so that all leaves are permitted.
///
/// # Errors
/// In some way there is no such hole.
pub fn common(twins: &[Twin<'_>]) -> Result<Option<CommonLeaves>, Disagreement> {
    let mut leaves: Option<CommonLeaves> = None;
    for twin in twins {
        match twin {
            Twin::LeftOut => {}
            Twin::Different => return Err(Disagreement),
            Twin::Same(other) => {
                let found =
                    CommonLeaves::of(&other.hole.atoms, other.leaves.iter(), other.pointees);
                match &mut leaves {
                    Some(leaves) => leaves.intersect(found),
                    None => leaves = Some(found),
                }
            }
        }
    }
    Ok(leaves)
}

/// The error that the ways in which a source is compiled disagree about a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement;

/// Finds what another way has at the place of `hole`, whose pointers point to `own`. `holes` are those of
/// `function`, which is the same function in the other way, with its `pointees`.
pub fn twin<'a>(
    hole: &Hole,
    own: &Pointees,
    function: &Function,
    holes: &'a [(Hole, Leaves)],
    pointees: &'a Pointees,
) -> Twin<'a> {
    let signature_here = signature(hole, own);
    let same = holes
        .iter()
        .find(|(other, _)| other.span == hole.span && signature(other, pointees) == signature_here);
    if let Some((hole, leaves)) = same {
        return Twin::Same(OtherHole {
            hole,
            leaves,
            pointees,
        });
    }
    let exprs = function.exprs.iter().map(|expr| expr.place);
    let stmts = function.stmts.iter().map(|stmt| stmt.place);
    let is_there = exprs
        .chain(stmts)
        .any(|place| place.editable() == Some(hole.span));
    if is_there {
        Twin::Different
    } else {
        Twin::LeftOut
    }
}

/// What must be the same about a hole itself.
fn signature(hole: &Hole, pointees: &Pointees) -> String {
    let kind = match &hole.kind {
        HoleKind::Expression {
            original,
            condition,
        } => format!("{condition} {}", describe(original, &hole.atoms, pointees)),
        HoleKind::Refinement(added) => format!("{added:?}"),
        HoleKind::Guard { is_body, .. } => format!("guard {is_body}"),
        // Places of one way only: never compared.
        HoleKind::Assignment(at) => format!("{at:?}"),
        HoleKind::Choice(choice) => format!("{choice:?}"),
        HoleKind::Exit(exits) => format!("{exits:?}"),
    };
    let context = match hole.context {
        Context::Convert(to) => format!("convert {}", describe_type(to, pointees)),
        other => format!("{other:?}"),
    };
    let ctype = hole.ctype.map(|ctype| describe_type(ctype, pointees));
    let captured = hole.captured.as_ref();
    let captured = captured.map(|part| (part.span, describe_type(part.ctype, pointees)));
    format!(
        "{kind} {context} {ctype:?} {captured:?} {}",
        hole.in_macro_argument
    )
}
