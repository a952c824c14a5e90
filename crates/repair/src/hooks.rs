//! Converts holes to the hooks that are woven for them.

use patchwright_space::{Added, Choice, Form, HoleKind, Target, TouchPoint, term::CType};
use patchwright_weave::{
    AssignmentPlace, CapturedPart, Hook, HookKind, Moved, Store, StoreKind, Touch, on_one_line,
};

use crate::instrumented::{HoleEntry, SourceFile};

/// The hook of a hole that is no place for assignments. With `unset`, the bytes of variables without a value hold that.
pub(crate) fn hook(entry: &HoleEntry, file: &SourceFile, unset: Option<u8>) -> Option<Hook> {
    let kind = match (&entry.hole.kind, entry.hole.ctype) {
        (HoleKind::Assignment(_), _) => return None,
        (HoleKind::Guard { .. }, _) => HookKind::Guard,
        (HoleKind::Choice(choice), ctype) => choice_kind(choice, ctype, file, unset),
        (HoleKind::Exit(exits), _) => HookKind::Before {
            is_body: exits.is_body,
            alternatives: exits.ways.iter().map(|way| way.text.clone()).collect(),
        },
        (HoleKind::Refinement(Added::Behind), _) => HookKind::AfterImpure,
        (HoleKind::Refinement(Added::AndBefore(_)), _) => HookKind::AndBefore,
        (HoleKind::Refinement(Added::OrBefore(_)), _) => HookKind::OrBefore,
        (HoleKind::Expression { .. }, None) => HookKind::Condition,
        (HoleKind::Expression { .. }, Some(CType::Float)) => HookKind::Float,
        (HoleKind::Expression { .. }, Some(CType::Double)) => HookKind::Double,
        (HoleKind::Expression { .. }, Some(CType::Pointer(id))) => HookKind::Pointer {
            ctype: file.types.pointees().pointer_spelling(id),
        },
        (HoleKind::Expression { .. }, Some(ctype)) => HookKind::Integer {
            ctype: ctype.keywords().unwrap_or("int").to_owned(),
        },
    };
    let slots = entries(entry);
    let captured = entry.hole.captured.as_ref().map(|part| CapturedPart {
        span: part.span,
        ctype: type_name(part.ctype, file),
    });
    Some(Hook {
        id: entry.id,
        span: entry.hole.span,
        kind,
        slots,
        captured,
    })
}

/// How a location with alternatives is woven.
fn choice_kind(
    choice: &Choice,
    ctype: Option<CType>,
    file: &SourceFile,
    pattern: Option<u8>,
) -> HookKind {
    let alternatives = || woven(choice).collect();
    match &choice.form {
        Form::Expression => HookKind::Choice {
            ctype: ctype.map(|ctype| type_name(ctype, file)),
            alternatives: alternatives(),
        },
        Form::FunctionPointer { named } => HookKind::Choice {
            ctype: Some(format!("__typeof__(&{named})")),
            alternatives: alternatives(),
        },
        Form::Before { is_body } => HookKind::Before {
            is_body: *is_body,
            alternatives: alternatives(),
        },
        Form::Instead => HookKind::Instead {
            alternatives: alternatives(),
        },
        Form::After { unset } => HookKind::After {
            alternatives: alternatives(),
            always: pattern.map_or_else(String::new, |byte| filled(unset, byte)),
        },
        Form::Moved(_) => HookKind::Skip,
    }
}

/// Statements that set each byte of these variables.
fn filled(variables: &[String], byte: u8) -> String {
    let fill =
        |name: &String| format!("__builtin_memset((void *)&{name},{byte:#x},sizeof({name}));");
    variables.iter().map(fill).collect()
}

/// The texts of alternatives, each on one line: the others have been left out by [`crate::locate`].
fn woven(choice: &Choice) -> impl Iterator<Item = String> {
    let alternatives = choice.alternatives.iter();
    alternatives.map(|alternative| {
        on_one_line(alternative.woven.as_bytes()).unwrap_or_else(|| alternative.woven.clone())
    })
}

/// The copies of a statement that can be moved.
pub(crate) fn moved(entry: &HoleEntry) -> Vec<Moved> {
    let HoleKind::Choice(choice) = &entry.hole.kind else {
        return Vec::new();
    };
    let Form::Moved(destinations) = &choice.form else {
        return Vec::new();
    };
    let texts = woven(choice).zip(destinations).enumerate();
    texts
        .map(|(place, (text, destination))| Moved {
            id: entry.id,
            value: place as u64 + 1,
            span: destination.beside,
            after: destination.after,
            text,
        })
        .collect()
}

/// A type's name in casts and declarations.
fn type_name(ctype: CType, file: &SourceFile) -> String {
    match ctype {
        CType::Pointer(id) => file.types.pointees().pointer_spelling(id),
        _ => ctype.keywords().map(str::to_owned),
    }
    .unwrap_or_else(|| "int".to_owned())
}

fn entries(entry: &HoleEntry) -> Vec<String> {
    let slots = entry.hole.atoms.slots.iter();
    slots.map(|slot| slot.entry.clone()).collect()
}

/// The woven place of a hole for assignments.
pub(crate) fn assignment_place(entry: &HoleEntry) -> Option<AssignmentPlace> {
    let HoleKind::Assignment(at) = &entry.hole.kind else {
        return None;
    };
    Some(AssignmentPlace {
        id: entry.id,
        span: entry.hole.span,
        is_body: at.is_body,
        beside: at.beside,
        stores: stores(&at.nameable),
        assignable: at
            .targets
            .iter()
            .fold(0, |mask, target| mask | 1 << target.variable),
        touches: at.touches,
        slots: entries(entry),
    })
}

/// Converts a touch for weaving.
pub(crate) fn touch(point: &TouchPoint) -> Touch {
    Touch {
        span: point.span,
        mask: point.mask,
        stores: stores(&point.nameable),
    }
}

fn stores(targets: &[Target]) -> Vec<Store> {
    targets
        .iter()
        .map(|target| Store {
            variable: target.variable,
            lvalue: target.lvalue.clone(),
            kind: match target.ctype {
                CType::Float => StoreKind::Float,
                CType::Double => StoreKind::Double,
                _ => StoreKind::Scalar,
            },
        })
        .collect()
}
