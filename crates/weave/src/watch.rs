//! Places where a variable can be assigned, and the touches of the variables that are watched there.
//!
//! A function numbers its variables that can be watched; a *mask* has one bit for each, and
//! [`CALLS_TOUCH`] for expressions that contain a call. What is pending is stored at the next touch, so each touch
//! lists the variables that it may have to store to.

use patchwright_probe_abi::{HoleId, window::CALLS_TOUCH};
use patchwright_text::{Beside, Span};
use std::fmt::Write;

/// How a pending value is stored into a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Number of the variable in its function, below 63.
    pub variable: u32,
    /// C text of an lvalue without side effects, valid wherever the store is listed.
    pub lvalue: String,
    /// How the value in canonical form becomes one of its type.
    pub kind: StoreKind,
}

/// How a value in canonical form is converted to the type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// An integer, an enumeration or a pointer.
    Scalar,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
}

/// A statement beside which variables can be assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentPlace {
    /// The hole.
    pub id: HoleId,
    /// The statement.
    pub span: Span,
    /// It stands alone where the grammar wants one statement, so that braces are needed.
    pub is_body: bool,
    /// Where they are assigned, seen from it.
    pub beside: Beside,
    /// The variables that can be named here.
    pub stores: Vec<Store>,
    /// Mask of those that can be assigned here.
    pub assignable: u64,
    /// Mask of what is touched first, before anything else is visited.
    pub touches: u64,
    /// The entries handed to the probe, as for other holes.
    pub slots: Vec<String>,
}

/// An expression that reads or writes watched variables when its evaluation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The expression, or an empty span behind the last statement of the function.
    pub span: Span,
    /// Mask of what it touches.
    pub mask: u64,
    /// The variables that can be stored to here.
    pub stores: Vec<Store>,
}

/// A number as C writes it.
fn mask(bits: u64) -> String {
    format!("{bits:#x}ul")
}

impl Store {
    /// The statement that stores `__pw_v`, without its semicolon.
    ///
    /// With sanitizers, a store to memory behind a pointer is some dozens of instructions, and there are as many stores as places times
    /// variables. So one function does it. The address of a variable itself is not taken: that would keep it out of registers.
    fn text(&self) -> String {
        let lvalue = &self.lvalue;
        if lvalue.contains(['>', '[', '*']) {
            let value = match self.kind {
                StoreKind::Scalar => {
                    format!("(__pw_u64)(__typeof__({lvalue}))(__pw_uptr)__pw_v")
                }
                StoreKind::Float | StoreKind::Double => "__pw_v".to_owned(),
            };
            return format!("__pw_put((void*)&({lvalue}),sizeof({lvalue}),{value})");
        }
        match self.kind {
            StoreKind::Scalar => format!("{lvalue}=(__typeof__({lvalue}))(__pw_uptr)__pw_v"),
            StoreKind::Float => format!("{lvalue}=__pw_as_f32(__pw_v)"),
            StoreKind::Double => format!("{lvalue}=__pw_as_f64(__pw_v)"),
        }
    }
}

/// `switch` to the store of the watched variable, from `__pw_v`.
fn switch(stores: &[Store], wanted: u64, suffix: &str) -> String {
    let mut text = format!("switch(__pw_unit_{suffix}.watch&{}){{", mask(!CALLS_TOUCH));
    for store in stores {
        let bit = 1 << store.variable;
        if wanted & (bit | CALLS_TOUCH) == 0 {
            continue;
        }
        // Writing into a string cannot fail.
        let _ = write!(text, "case {}:{};break;", mask(bit), store.text());
    }
    text.push_str("default:;}");
    text
}

/// Whether a value waits that is stored at a touch: it is in `__pw_v` then.
fn touched(mask_of_touches: u64, suffix: &str) -> String {
    format!(
        "(__pw_unit_{suffix}.watch&{})&&__pw_unit_{suffix}.touch(&__pw_v)",
        mask(mask_of_touches)
    )
}

fn touch(mask_of_touches: u64, stores: &[Store], suffix: &str) -> String {
    let touched = touched(mask_of_touches, suffix);
    format!("if({touched}){}", switch(stores, mask_of_touches, suffix))
}

impl AssignmentPlace {
    /// The text that stands beside the statement; `hole` is its index in the file.
    pub(crate) fn text(&self, hole: usize, suffix: &str) -> String {
        let (own, touches) = (self.assignable, self.touches);
        let mut text = format!("if(__pw_holes_{suffix}[{hole}])(void)__pw_on_{suffix}({hole});");
        let watched = own | touches;
        let _ = write!(
            text,
            "if(__pw_unit_{suffix}.watch&{}){{__pw_u64 __pw_v=0;",
            mask(watched)
        );
        let enters = format!(
            "(__pw_unit_{suffix}.watch&{})&&__pw_unit_{suffix}.enter(__pw_hole_ids_{suffix}[{hole}],&__pw_v)",
            mask(own)
        );
        let mut visit = format!("__pw_visit_{suffix}({hole},{}", self.slots.len());
        for slot in &self.slots {
            let _ = write!(visit, ",{slot}");
        }
        visit.push_str(");");
        let stores = switch(&self.stores, watched, suffix);
        let _ = match (own, touches) {
            (0, _) => write!(text, "{}", touch(touches, &self.stores, suffix)),
            (_, 0) => write!(text, "if({enters}){stores}{visit}"),
            // The stores are long and stand once: the first time they are those of the place, the second time those of the touch.
            _ => write!(
                text,
                "int __pw_t=0;for(;__pw_t<2;__pw_t++){{if(__pw_t?{}:{enters}){stores}if(!__pw_t&&(__pw_unit_{suffix}.watch&{})){visit}}}",
                touched(touches, suffix),
                mask(own)
            ),
        };
        text.push('}');
        text
    }
}

impl Touch {
    /// The text in front of the expression, or instead of nothing at the function's end.
    pub(crate) fn text(&self, suffix: &str) -> String {
        let body = format!(
            "__pw_u64 __pw_v=0;{}",
            touch(self.mask, &self.stores, suffix)
        );
        if self.span.is_empty() {
            format!("{{{body}}}")
        } else {
            format!("(__extension__({{{body}}}),")
        }
    }
}
