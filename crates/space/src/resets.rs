//! INITIALIZATION of a member beside others: `s->longest = 0;` before `s->served = 0;`.
//!
//! Where some members of an object begin again, one that does not may have been forgotten.

use std::collections::BTreeMap;

use patchwright_csource::{ExprId, ExprKind, StmtId, StmtKind, types::TypeKind};
use patchwright_text::Span;

use crate::constants::null;
use crate::{
    choices::{Alternative, Finder, Form, Standing},
    insertion::insertion,
    leaves::is_private,
    space::Schema,
};

/// The statement, without what the one beside it says already.
const RESET_COST: u32 = 2;

/// Most members of one object.
const MOST_MEMBERS: usize = 6;

/// Most objects in one function.
const MOST_OBJECTS: usize = 12;

/// `object.member = constant;` or the same by a pointer.
struct Reset {
    standing: Standing,
    base: ExprId,
    arrow: bool,
    /// The members that get a constant in the block.
    members: Vec<String>,
}

/// Adds a member that becomes zero beside others.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    // By block and object.
    let mut resets: BTreeMap<(StmtId, String), Reset> = BTreeMap::new();
    for standing in finder.statements.clone() {
        let (Some((block, _)), Some((base, arrow, member))) =
            (standing.block, reset(finder, &standing))
        else {
            continue;
        };
        let Some(object) = finder.function.expr(base).place.editable() else {
            continue;
        };
        let object = finder.plain(object);
        let reset = resets.entry((block, object)).or_insert_with(|| Reset {
            standing,
            base,
            arrow,
            members: Vec::new(),
        });
        reset.members.push(member);
    }
    if resets.len() > MOST_OBJECTS {
        finder
            .found
            .refuse("INITIALIZATION of members of further objects");
    }
    let mut resets: Vec<(String, Reset)> = resets
        .into_iter()
        .map(|((_, object), reset)| (object, reset))
        .collect();
    resets.sort_by_key(|(_, reset)| reset.standing.span.start);
    for (object, reset) in resets.into_iter().take(MOST_OBJECTS) {
        let sign = if reset.arrow { "->" } else { "." };
        let others = others(finder, &reset);
        let span: Span = reset.standing.span;
        let source = &finder.builder.unit.source;
        let alternatives = others.into_iter().map(|(member, value)| {
            let statement = format!("{object}{sign}{member} = {value};");
            Alternative {
                schema: Schema::Initialization,
                cost: RESET_COST,
                edit: insertion(source, span, false, &statement),
                woven: statement,
            }
        });
        let alternatives = alternatives.collect();
        finder.add(span, None, Form::Before { is_body: false }, alternatives);
    }
}

/// The object, how its member is named, and the member, if the statement gives it a constant.
fn reset(finder: &Finder<'_, '_, '_>, standing: &Standing) -> Option<(ExprId, bool, String)> {
    let function = finder.function;
    let StmtKind::Expression(root) = function.stmt(standing.id).kind else {
        return None;
    };
    let ExprKind::Assign {
        operator: None,
        target,
        value,
    } = function.expr(function.stripped(root)).kind
    else {
        return None;
    };
    if !is_constant(finder, value) {
        return None;
    }
    let ExprKind::Member {
        base, arrow, name, ..
    } = &function.expr(function.stripped(target)).kind
    else {
        return None;
    };
    is_name(finder, *base).then(|| (function.stripped(*base), *arrow, name.clone()))
}

/// Whether an expression is a number or the null pointer.
fn is_constant(finder: &Finder<'_, '_, '_>, id: ExprId) -> bool {
    let id = finder.function.stripped(id);
    match finder.function.expr(id).kind {
        ExprKind::Integer { .. } | ExprKind::Float(_) => true,
        ExprKind::Cast { operand, .. } => is_constant(finder, operand),
        _ => false,
    }
}

/// Whether an expression is a variable, or a member of one.
fn is_name(finder: &Finder<'_, '_, '_>, id: ExprId) -> bool {
    match &finder.function.expr(finder.function.stripped(id)).kind {
        ExprKind::Variable(_) => true,
        ExprKind::Member { base, .. } => is_name(finder, *base),
        _ => false,
    }
}

/// The other members that can be assigned to, each with its zero.
fn others(finder: &Finder<'_, '_, '_>, reset: &Reset) -> Vec<(String, &'static str)> {
    let types = &finder.builder.unit.types;
    let mut ty = finder.function.expr(reset.base).ty;
    if reset.arrow {
        let Some(element) = types.element(ty) else {
            return Vec::new();
        };
        ty = element;
    }
    let TypeKind::Record(record) = *types.kind(ty) else {
        return Vec::new();
    };
    let record = types.record(record);
    if record.is_union || record.ambiguous || types.qualifiers(ty).is_const {
        return Vec::new();
    }
    let zero = |ty| match types.kind(ty) {
        TypeKind::Pointer(_) => Some(null(&finder.builder.unit.source)),
        TypeKind::Integer(_) => Some("0"),
        TypeKind::Float(_) => Some("0.0"),
        _ => None,
    };
    let fields = record.fields.iter().flatten();
    let free = fields.filter(|field| {
        !field.name.is_empty()
            && !reset.members.contains(&field.name)
            && !types.qualifiers(field.ty).is_const
            && !is_private(record, field)
    });
    let zeros = free.filter_map(|field| Some((field.name.clone(), zero(field.ty)?)));
    zeros.take(MOST_MEMBERS).collect()
}
