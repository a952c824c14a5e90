//! What was printed to standard output and is still in its buffer: `_exit` and `abort` lose it, unless the output is a terminal.

use patchwright_ir::Type;
use patchwright_solve::Term;

use crate::{
    encoder::{Encoder, World},
    encoding::{Output, Piece},
};

/// The beginning of an output piece that says how much of the output before it is lost, in bytes of text and values.
pub const LOST: &str = "lost, for it was not flushed";

/// A call that writes the buffer out.
struct Flush {
    condition: Term,
    /// How many pieces were printed before it.
    behind: usize,
    /// Nothing is held back from there on.
    always: bool,
}

/// The output that a stream holds back, as far as it was looked at.
#[derive(Default)]
pub(crate) struct Buffer {
    flushes: Vec<Flush>,
    /// Pieces and flushes that were looked at.
    pieces: usize,
    flushed: usize,
    /// Something is in the buffer; how many pieces were printed, and how many of them are not in it; everything is written at once.
    state: Option<(Term, Term, Term, Term)>,
}

impl Buffer {
    /// The buffer is written out after so many pieces, where the condition holds.
    pub(crate) fn flush(&mut self, condition: Term, behind: usize, always: bool) {
        self.flushes.push(Flush {
            condition,
            behind,
            always,
        });
    }
}

impl Encoder<'_> {
    /// The program ends at once, or fails. Where versions are compared, it is seen how much of what was printed is lost.
    pub(crate) fn lose_output(&mut self, world: &World) {
        if self.options.outside.is_none() || self.has_ended() {
            return;
        }
        let (pending, _, kept, _) = self.buffered();
        let condition = self.terms.and(world.path.term(), pending);
        if self.terms.as_truth(condition) == Some(false) {
            return;
        }
        let spelled = format!("[{LOST}: all behind unit %u]");
        self.output.push(Output {
            condition,
            error: false,
            piece: Piece::Value(spelled, Type::U32, kept),
        });
    }

    fn buffered(&mut self) -> (Term, Term, Term, Term) {
        let terms = &mut *self.terms;
        let buffer = &mut self.buffer;
        let (no, none) = (terms.truth(false), terms.constant(32, 0));
        let (mut pending, mut count, mut kept, mut at_once) =
            buffer.state.unwrap_or((no, none, none, no));
        loop {
            if let Some(flush) = buffer.flushes.get(buffer.flushed)
                && flush.behind <= buffer.pieces
            {
                pending = terms.ite(flush.condition, no, pending);
                kept = terms.ite(flush.condition, count, kept);
                if flush.always {
                    at_once = terms.or(at_once, flush.condition);
                }
                buffer.flushed += 1;
                continue;
            }
            let Some(printed) = self.output.get(buffer.pieces) else {
                break;
            };
            buffer.pieces += 1;
            if printed.error {
                continue;
            }
            let length = match &printed.piece {
                Piece::Text(bytes) => bytes.len(),
                _ => 1,
            };
            let held = terms.not(at_once);
            let held = terms.and(printed.condition, held);
            pending = terms.or(pending, held);
            let length = terms.constant(32, length as u128);
            let next = terms.add(count, length);
            count = terms.ite(printed.condition, next, count);
            let written = terms.and(printed.condition, at_once);
            kept = terms.ite(written, count, kept);
        }
        let state = (pending, count, kept, at_once);
        buffer.state = Some(state);
        state
    }
}
