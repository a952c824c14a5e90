//! Calls of library functions and the memory that they may touch.

use patchwright_clib::Parameter;
use patchwright_csource::{ExprId, ExprKind, Place};
use patchwright_text::{Edit, Span};
use patchwright_weave::Captured;

use super::{Walker, Wrap};
use crate::{
    library::{self, Check},
    scan,
    uncaptured::Uncaptured,
};

impl<'a> Walker<'a> {
    /// A call of a function of the library whose effects are known.
    pub(super) fn library_call(
        &mut self,
        call: ExprId,
        name: &str,
        arguments: &[ExprId],
    ) -> Result<(), Uncaptured> {
        let is_own = self.text.unit.functions.iter().any(|own| own.name == name);
        let known = library::known(name).filter(|known| known.parameters.len() == arguments.len());
        let (Some(known), false) = (known, is_own) else {
            return Err(Uncaptured::Call);
        };
        let written = |id: ExprId| {
            let place = self.text.function.expr(id).place.editable();
            place.ok_or(Uncaptured::Macro)
        };
        let whole = written(call)?;
        if !self.wraps(whole, Wrap::Call)? {
            return Ok(());
        }
        let (first, last) = (
            written(arguments[0])?,
            written(arguments[arguments.len() - 1])?,
        );
        // A macro could stand there that has other arguments.
        let between = Span::new(whole.start, first.start);
        if !scan::contains_word(&self.text.unit.source, between, name) {
            return Err(Uncaptured::Macro);
        }
        self.edits.push(Edit::replace(between, ""));
        for pair in arguments.windows(2) {
            let (left, right) = (written(pair[0])?, written(pair[1])?);
            self.edits
                .push(Edit::replace(Span::new(left.end, right.start), ""));
        }
        self.edits
            .push(Edit::replace(Span::new(last.end, whole.end), ""));
        let parameters: Vec<(ExprId, Parameter)> = arguments
            .iter()
            .copied()
            .zip(known.parameters.iter().copied())
            .collect();
        self.checked_call(&parameters, &|pieces, first| {
            let all =
                (first..first + known.parameters.len()).map(|number| format!("__pw_p{number}"));
            let all: Vec<String> = all.collect();
            let bad = known.checks.iter().map(|check| bad(pieces, *check, first));
            let bad: Vec<String> = bad.collect();
            pieces.checked_value(&bad.join("||"), &format!("{name}({})", all.join(",")))
        })
    }

    /// Makes variables of arguments; `end` gives what follows, for the number of the first of them.
    pub(super) fn checked_call(
        &mut self,
        arguments: &[(ExprId, Parameter)],
        end: &dyn Fn(&Captured<'_>, usize) -> String,
    ) -> Result<(), Uncaptured> {
        let first = self.number + 1;
        self.number += arguments.len();
        for (index, (argument, parameter)) in arguments.iter().enumerate() {
            let place = self.function().expr(*argument).place;
            let span = place.editable().ok_or(Uncaptured::Macro)?;
            let c_type = library::c_type(*parameter);
            let (before, after) = self.pieces.operand(c_type, first + index, index == 0);
            self.edits.push(Edit::insert(span.start, before));
            self.expr(*argument)?;
            self.edits.push(Edit::insert(span.end, after));
            if index + 1 == arguments.len() {
                let end = end(&self.pieces, first);
                self.edits.push(Edit::insert(span.end, end));
            }
        }
        Ok(())
    }

    /// Returns the argument of a macro of `<ctype.h>` that is expanded to a look-up in a table; `None` for other expressions.
    pub(super) fn classified(&self, id: ExprId) -> Option<ExprId> {
        let function = self.text.function;
        let Place::Written(whole) = function.expr(id).place else {
            return None;
        };
        let source = &self.text.unit.source;
        let start = whole.start as usize;
        let end = patchwright_csource::lex::step(source, start);
        let name = std::str::from_utf8(source.get(start..end)?).ok()?;
        if !patchwright_clib::is_character_class(name) {
            return None;
        }
        let (mut looks_up, mut argument) = (false, None);
        let mut todo = vec![id];
        while let Some(id) = todo.pop() {
            match (&function.expr(id).kind, function.expr(id).place) {
                (ExprKind::Function(name), _) if name == "__ctype_b_loc" => looks_up = true,
                (_, Place::MacroArgument { invocation, .. }) if invocation == whole => {
                    // The macro uses it once.
                    if argument.replace(id).is_some() {
                        return None;
                    }
                    continue;
                }
                _ => {}
            }
            todo.extend(function.children(id));
        }
        argument.filter(|_| looks_up)
    }
}

/// C that is true where the tables of `<ctype.h>` have no entry for a value.
pub(super) fn out_of_table(value: &str) -> String {
    format!("{value}<-128||{value}>255")
}

/// C that is true where a check of arguments, of which the first has this number, fails.
fn bad(pieces: &Captured<'_>, check: Check, first: usize) -> String {
    let name = |argument: usize| format!("__pw_p{}", first + argument);
    let length = |argument: usize| format!("__builtin_strlen((const char*){})", name(argument));
    match check {
        Check::Text(text) => pieces.bad_text(first + text, None),
        Check::TextOf(text, size) => pieces.bad_text(first + text, Some(first + size)),
        Check::Read(start, size) => pieces.bad_read(&name(start), &name(size)),
        Check::Write(start, size) => pieces.bad_write(&name(start), &name(size)),
        Check::Room(start, text) => pieces.bad_write(&name(start), &format!("{}+1", length(text))),
        Check::RoomBehind(start, text) => {
            let end = format!("(char*){}+{}", name(start), length(start));
            pieces.bad_write(&end, &format!("{}+1", length(text)))
        }
        Check::Classified(value) => out_of_table(&name(value)),
    }
}
