//! Converts candidates to edits of the source.

use patchwright_text::{Beside, Edit, Span};

use crate::{
    holes::{Added, HoleKind},
    insertion::{delete_statement, guard_statement, insertion, insertion_after, insertion_as_else},
    space::{Block, CandidateId, Schema, Space, Template},
    term::{Atom, CType, Kind, Pointees, Precedence, Term},
};

/// A text in brackets where its first sign would make another token of the one in front of it: `- -1`.
fn apart(source: &[u8], span: Span, text: String) -> String {
    let before = source[..span.start as usize].last();
    match (before, text.as_bytes().first()) {
        (Some(b'-'), Some(b'-')) | (Some(b'+'), Some(b'+')) | (Some(b'&'), Some(b'&')) => {
            format!("({text})")
        }
        _ => text,
    }
}

/// `v = e;`, or the step that it is.
fn assignment(lvalue: &str, value: &str) -> String {
    let stepped = match value.strip_prefix(lvalue) {
        Some(" + 1") => "++",
        Some(" - 1") => "--",
        _ => return format!("{lvalue} = {value};"),
    };
    match lvalue.starts_with('*') {
        true => format!("({lvalue}){stepped};"),
        false => format!("{lvalue}{stepped};"),
    }
}

impl Space {
    /// Whether a candidate reads elements behind a pointer to an object of unknown size that the
    /// original does not read.
    pub fn reads_unbounded(&self, id: CandidateId, pointees: &Pointees) -> bool {
        let atoms = &self.hole.atoms;
        let own = crate::space::original(&self.hole).atoms();
        let candidate = self.term(id, pointees);
        candidate.is_some_and(|term| {
            let new = term.atoms().into_iter().filter(|atom| !own.contains(atom));
            new.into_iter().any(|atom| atoms.is_unbounded(atom))
        })
    }

    /// Returns the edit of the source that makes this candidate, or `None` if it has no C text.
    pub fn edit(&self, id: CandidateId, source: &[u8], pointees: &Pointees) -> Option<Edit> {
        let block = &self.blocks[id.block as usize];
        let site = &self.sites[block.site as usize];
        // Parts of the original keep the text, and the line breaks, that they have.
        let mut table = self.hole.atoms.table.clone();
        let filling = self.filling_with(id, pointees, &mut |term| {
            let kept = self.sites.iter().find(|site| site.term == term);
            let kept = kept.map(|site| (site.span, term.precedence(&table)));
            // A name or a call.
            let used = self.uses.iter().find(|(used, _)| *used == term);
            let used = used.map(|(_, span)| (*span, Precedence::Postfix));
            match (kept.or(used), term.kind()) {
                (Some((span, precedence)), kind)
                    if !matches!(kind, Kind::Atom(_) | Kind::Constant(..)) =>
                {
                    let text = String::from_utf8_lossy(&source[span.range()]).into_owned();
                    let ctype = term.ctype();
                    let atom = table.add(Atom {
                        spelling: text,
                        precedence,
                        ctype,
                        slot: 0,
                    });
                    Term::atom(atom, &table)
                }
                _ => term,
            }
        })?;
        match &self.hole.kind {
            // Nobody writes what is never executed.
            HoleKind::Guard { is_body, .. }
                if block.schema == Schema::Deletion
                    || matches!(filling.kind(), Kind::Constant(0, _)) =>
            {
                Some(delete_statement(source, self.hole.span, *is_body))
            }
            HoleKind::Guard { is_body, .. } => {
                let condition = filling.display(&table, pointees).to_string();
                Some(guard_statement(
                    source,
                    self.hole.span,
                    *is_body,
                    &condition,
                ))
            }
            HoleKind::Assignment(at) => {
                let lvalue = &at.target()?.lvalue;
                let text = |term: &Term| term.display(&table, pointees).to_string();
                let statement = match (block.template, filling.kind()) {
                    // What it has otherwise is what it has already.
                    (Template::Select(..), Kind::Conditional(condition, value, _)) => {
                        let assigned = assignment(lvalue, &text(value));
                        format!("if ({}) {assigned}", text(condition))
                    }
                    _ => assignment(lvalue, &text(&filling)),
                };
                let insert = match at.beside {
                    Beside::Before => insertion,
                    Beside::Behind => insertion_after,
                    Beside::Else => insertion_as_else,
                };
                Some(insert(source, self.hole.span, at.is_body, &statement))
            }
            HoleKind::Choice(choice) => {
                let number = self.number_of(block)?;
                Some(choice.alternatives.get(number)?.edit.clone())
            }
            HoleKind::Exit(exits) => {
                let Kind::Conditional(condition, ..) = filling.kind() else {
                    return None;
                };
                let condition = condition.display(&table, pointees).to_string();
                let way = exits.ways.get(self.number_of(block)?)?;
                let statement = format!("if ({condition}) {}", way.text);
                Some(insertion(source, self.hole.span, exits.is_body, &statement))
            }
            _ => {
                let filling = match &self.hole.kind {
                    HoleKind::Refinement(
                        added @ (Added::AndBefore(precedence) | Added::OrBefore(precedence)),
                    ) => {
                        let whole = table.add(Atom {
                            spelling: String::from_utf8_lossy(&source[site.span.range()])
                                .into_owned(),
                            precedence: *precedence,
                            ctype: CType::Int,
                            slot: 0,
                        });
                        let whole = Term::atom(whole, &table);
                        match added {
                            Added::AndBefore(_) => Term::logical_and(filling, whole),
                            _ => Term::logical_or(filling, whole),
                        }
                    }
                    _ => filling,
                };
                let atoms = &table;
                let least = match filling.kind() {
                    Kind::LogicalOr(..) if site.below_or => Precedence::LogicalOr,
                    _ => site.least,
                };
                let text = filling.display_within(least, atoms, pointees).to_string();
                Some(Edit::replace(site.span, apart(source, site.span, text)))
            }
        }
    }
}

impl Space {
    /// Which of a location's alternatives or ways out the candidates of a block are, from 0.
    fn number_of(&self, block: &Block) -> Option<usize> {
        let pool = match block.template {
            Template::One(number) | Template::Select(_, number, _) => number,
            _ => return None,
        };
        match self.part(pool, 0)?.kind() {
            Kind::Constant(number, _) => usize::try_from(*number).ok()?.checked_sub(1),
            _ => None,
        }
    }
}
