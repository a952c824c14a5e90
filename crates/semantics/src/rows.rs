//! The operators on rows: one operand value per state, for many states at once.
//!
//! Every function here computes what its scalar counterpart computes, element by element, and is
//! built from it; operator and types are looked at once per row instead of once per element.
//!
//! A row is a slice of canonical values and a slice of bytes that tell which of them are undefined
//! (nonzero: ⊥). Results are normal: the byte is 0 or 1, and the value beside a 1 is 0, so two
//! result rows stand for the same values exactly when their slices are equal. All slices of a call
//! must be of one length; elements beyond the shortest are neither read nor written.

use crate::{
    BinaryOp, Ty, UnaryOp, binary, convert, pointer_add, pointer_difference, pointer_index,
    pointer_sub, shift, unary, within,
};

/// An operand of a whole row.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The same value in every state, and whether it is undefined.
    Scalar(u64, bool),
    /// A value for each state, and for each a byte that is nonzero if it is undefined.
    Row(&'a [u64], &'a [u8]),
}

/// Where an operand's elements come from, resolved outside the loops.
trait Source: Copy {
    fn len(self) -> usize;
    /// The same source, of at most `len` elements.
    fn truncated(self, len: usize) -> Self;
    /// The value of an element below the length, and 0 or a nonzero byte if it is undefined.
    fn get(self, index: usize) -> (u64, u8);
}

#[derive(Clone, Copy)]
struct Repeated(u64, u8);

impl Source for Repeated {
    #[inline(always)]
    fn len(self) -> usize {
        usize::MAX
    }
    #[inline(always)]
    fn truncated(self, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn get(self, _: usize) -> (u64, u8) {
        (self.0, self.1)
    }
}

#[derive(Clone, Copy)]
struct Elements<'a>(&'a [u64], &'a [u8]);

impl Source for Elements<'_> {
    #[inline(always)]
    fn len(self) -> usize {
        self.0.len().min(self.1.len())
    }
    #[inline(always)]
    fn truncated(self, len: usize) -> Self {
        let len = len.min(self.len());
        Self(&self.0[..len], &self.1[..len])
    }
    #[inline(always)]
    fn get(self, index: usize) -> (u64, u8) {
        (self.0[index], self.1[index])
    }
}

/// Runs `$body` with `$source` bound to the source behind an operand, once per shape.
macro_rules! with_source {
    ($operand:expr, $source:ident, $body:expr) => {
        match $operand {
            Operand::Scalar(value, undefined) => {
                let $source = Repeated(value, u8::from(undefined));
                $body
            }
            Operand::Row(values, undefined) => {
                let $source = Elements(values, undefined);
                $body
            }
        }
    };
}

/// Runs `$body` with the constant `$name` equal to `$value`, for each of the variants, so that what
/// is inlined into the body is specialised; any other value runs `$otherwise`.
macro_rules! with_constant {
    ($value:expr, $name:ident: $enum:ident { $($variant:ident)* }, $body:expr, $rest:pat => $otherwise:expr) => {
        match $value {
            $($enum::$variant => {
                const $name: $enum = $enum::$variant;
                $body
            })*
            $rest => $otherwise,
        }
    };
}

/// Where results go.
struct Output<'a> {
    values: &'a mut [u64],
    undefined: &'a mut [u8],
}

impl<'a> Output<'a> {
    fn new(values: &'a mut [u64], undefined: &'a mut [u8]) -> Self {
        debug_assert_eq!(
            values.len(),
            undefined.len(),
            "rows of a call differ in length"
        );
        Self { values, undefined }
    }

    fn fill(self, value: u64, undefined: bool) {
        self.values.fill(if undefined { 0 } else { value });
        self.undefined.fill(u8::from(undefined));
    }

    /// Sets each of the first `len` elements to `element(i)`, a value and a flag that is nonzero if
    /// it is ⊥.
    #[inline(always)]
    fn set(self, len: usize, element: impl Fn(usize) -> (u64, u8)) {
        let (values, undefined) = (&mut self.values[..len], &mut self.undefined[..len]);
        for i in 0..len {
            let (value, flag) = element(i);
            let is_undefined = flag != 0;
            values[i] = if is_undefined { 0 } else { value };
            undefined[i] = u8::from(is_undefined);
        }
    }

    /// The number of elements to compute when the inputs have `inputs` of them.
    #[inline(always)]
    fn common_len(&self, inputs: usize) -> usize {
        let len = self.values.len().min(self.undefined.len());
        debug_assert!(inputs >= len, "rows of a call differ in length");
        len.min(inputs)
    }
}

/// A partial result as a value and a flag.
#[inline(always)]
fn flagged(result: Option<u64>) -> (u64, u8) {
    match result {
        Some(value) => (value, 0),
        None => (0, 1),
    }
}

#[inline(always)]
fn map(a: Operand, output: Output, f: impl Fn(u64) -> Option<u64>) {
    match a {
        Operand::Scalar(a, undefined) => {
            let result = if undefined { None } else { f(a) };
            output.fill(result.unwrap_or(0), result.is_none());
        }
        Operand::Row(values, undefined) => {
            let a = Elements(values, undefined);
            let len = output.common_len(a.len());
            let a = a.truncated(len);
            output.set(len, |i| {
                let (value, undefined) = a.get(i);
                let (result, flag) = flagged(f(value));
                (result, undefined | flag)
            });
        }
    }
}

#[inline(always)]
fn map2(a: Operand, b: Operand, output: Output, f: impl Fn(u64, u64) -> Option<u64>) {
    #[inline(always)]
    fn run(a: impl Source, b: impl Source, output: Output, f: impl Fn(u64, u64) -> Option<u64>) {
        let len = output.common_len(a.len().min(b.len()));
        let (a, b) = (a.truncated(len), b.truncated(len));
        output.set(len, |i| {
            let ((a, a_undefined), (b, b_undefined)) = (a.get(i), b.get(i));
            let (result, flag) = flagged(f(a, b));
            (result, a_undefined | b_undefined | flag)
        });
    }
    if let (Operand::Scalar(a, a_undefined), Operand::Scalar(b, b_undefined)) = (a, b) {
        let result = if a_undefined | b_undefined {
            None
        } else {
            f(a, b)
        };
        return output.fill(result.unwrap_or(0), result.is_none());
    }
    with_source!(a, a, with_source!(b, b, run(a, b, output, f)))
}

/// The type whose canonical values are compared, tested and converted like those of `ty`, so that
/// fewer loops need to be compiled.
fn representative(ty: Ty) -> Ty {
    match ty {
        Ty::F32 | Ty::F64 => ty,
        _ if ty.is_signed_integer() => Ty::I64,
        _ => Ty::U64,
    }
}

/// Computes [`binary`] for each pair of values of two rows.
pub fn binary_row(
    op: BinaryOp,
    ty: Ty,
    left: Operand,
    right: Operand,
    out: &mut [u64],
    out_undefined: &mut [u8],
) {
    if op.is_shift() {
        return shift_row(op, ty, ty, left, right, out, out_undefined);
    }
    let output = Output::new(out, out_undefined);
    if op.is_comparison() {
        return with_constant!(op, OP: BinaryOp { Lt Le Gt Ge Eq Ne },
            with_constant!(representative(ty), TY: Ty { I64 U64 F32 F64 },
                map2(left, right, output, |a, b| binary(OP, TY, a, b)),
                _ => output.fill(0, true)),
            _ => output.fill(0, true));
    }
    with_constant!(op, OP: BinaryOp { Add Sub Mul Div Rem And Or Xor },
        with_constant!(ty, TY: Ty { I32 U32 I64 U64 F32 F64 },
            map2(left, right, output, |a, b| binary(OP, TY, a, b)),
            _ => output.fill(0, true)),
        _ => output.fill(0, true))
}

/// Computes [`shift`] for each pair of values of two rows.
pub fn shift_row(
    op: BinaryOp,
    left_ty: Ty,
    right_ty: Ty,
    left: Operand,
    right: Operand,
    out: &mut [u64],
    out_undefined: &mut [u8],
) {
    let output = Output::new(out, out_undefined);
    if !right_ty.is_integer() {
        return output.fill(0, true);
    }
    with_constant!(op, OP: BinaryOp { Shl Shr },
        with_constant!(left_ty, LEFT: Ty { I32 U32 I64 U64 },
            // Canonical counts of all integer types are read alike.
            map2(left, right, output, |a, b| shift(OP, LEFT, Ty::I64, a, b)),
            _ => output.fill(0, true)),
        _ => output.fill(0, true))
}

/// Computes [`unary`] for each value of a row.
pub fn unary_row(op: UnaryOp, ty: Ty, operand: Operand, out: &mut [u64], out_undefined: &mut [u8]) {
    let output = Output::new(out, out_undefined);
    if op == UnaryOp::Not {
        return with_constant!(representative(ty), TY: Ty { I64 U64 F32 F64 },
            map(operand, output, |a| unary(UnaryOp::Not, TY, a)),
            _ => output.fill(0, true));
    }
    with_constant!(op, OP: UnaryOp { Neg Complement },
        with_constant!(ty, TY: Ty { I32 U32 I64 U64 F32 F64 },
            map(operand, output, |a| unary(OP, TY, a)),
            _ => output.fill(0, true)),
        _ => output.fill(0, true))
}

/// Converts each value of a row from `from` to `to`, as [`convert`] does.
pub fn convert_row(from: Ty, to: Ty, operand: Operand, out: &mut [u64], out_undefined: &mut [u8]) {
    let output = Output::new(out, out_undefined);
    if from == Ty::Ptr && to.is_float() {
        return output.fill(0, true);
    }
    with_constant!(representative(from), FROM: Ty { I64 U64 F32 F64 },
        with_constant!(to, TO: Ty { Bool I8 U8 I16 U16 I32 U32 I64 U64 F32 F64 },
            map(operand, output, |a| convert(FROM, TO, a)),
            Ty::Ptr => map(operand, output, |a| convert(FROM, Ty::Ptr, a))),
        _ => output.fill(0, true))
}

/// Computes [`truth`](crate::truth) for each value of a row: 1 if it compares unequal to zero, else 0.
pub fn truth_row(ty: Ty, operand: Operand, out: &mut [u64], out_undefined: &mut [u8]) {
    convert_row(ty, Ty::Bool, operand, out, out_undefined);
}

/// [`pointer_add`] on rows, with an index of the integer type `index_ty`.
pub fn pointer_add_row(
    index_ty: Ty,
    size: u64,
    pointer: Operand,
    index: Operand,
    out: &mut [u64],
    out_undefined: &mut [u8],
) {
    map2(pointer, index, Output::new(out, out_undefined), |a, b| {
        pointer_add(a, pointer_index(index_ty, b)?, size)
    });
}

/// [`pointer_sub`] on rows, with an index of the integer type `index_ty`.
pub fn pointer_sub_row(
    index_ty: Ty,
    size: u64,
    pointer: Operand,
    index: Operand,
    out: &mut [u64],
    out_undefined: &mut [u8],
) {
    map2(pointer, index, Output::new(out, out_undefined), |a, b| {
        pointer_sub(a, pointer_index(index_ty, b)?, size)
    });
}

/// Computes [`pointer_difference`] for each pair of values of two rows.
pub fn pointer_difference_row(
    size: u64,
    left: Operand,
    right: Operand,
    out: &mut [u64],
    out_undefined: &mut [u8],
) {
    map2(left, right, Output::new(out, out_undefined), |a, b| {
        pointer_difference(a, b, size)
    });
}

/// Computes [`within`] for each index of a row.
pub fn within_row(count: u64, indices: Operand, out: &mut [u64], out_undefined: &mut [u8]) {
    map(indices, Output::new(out, out_undefined), |a| {
        within(a, count)
    });
}

/// `left && right` on rows of truth values (0 or 1): where the left one is 0, an undefined right
/// one does no harm.
pub fn logical_and_row(left: Operand, right: Operand, out: &mut [u64], out_undefined: &mut [u8]) {
    select_row(left, right, Operand::Scalar(0, false), out, out_undefined);
}

/// `left || right` on rows of truth values (0 or 1): where the left one is 1, an undefined right
/// one does no harm.
pub fn logical_or_row(left: Operand, right: Operand, out: &mut [u64], out_undefined: &mut [u8]) {
    select_row(left, Operand::Scalar(1, false), right, out, out_undefined);
}

/// `condition ? then : otherwise` on rows, the condition being a row of truth values (0 or 1): the
/// operand that is not chosen may be undefined.
pub fn select_row(
    condition: Operand,
    then: Operand,
    otherwise: Operand,
    out: &mut [u64],
    out_undefined: &mut [u8],
) {
    #[inline(always)]
    fn run(condition: impl Source, then: impl Source, otherwise: impl Source, output: Output) {
        let inputs = condition.len().min(then.len()).min(otherwise.len());
        let len = output.common_len(inputs);
        let (condition, then, otherwise) = (
            condition.truncated(len),
            then.truncated(len),
            otherwise.truncated(len),
        );
        output.set(len, |i| {
            let (condition, undefined) = condition.get(i);
            let (then, otherwise) = (then.get(i), otherwise.get(i));
            let chosen = if condition != 0 { then } else { otherwise };
            (chosen.0, undefined | chosen.1)
        });
    }
    let output = Output::new(out, out_undefined);
    with_source!(
        condition,
        condition,
        with_source!(
            then,
            then,
            with_source!(
                otherwise,
                otherwise,
                run(condition, then, otherwise, output)
            )
        )
    )
}
