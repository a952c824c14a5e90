//! Joins two changes of one source to one.

use patchwright_text::{Edit, LineMap, Span, apply_edits, unified_diff};

use crate::patch::Patch;

/// How a repair of two places is called where patches have a kind of change.
const NAME: &str = "two_places";

/// Joins a change and a second change of the changed program to one change of the source. Returns it with the text. `changed` is the text
/// after the first change.
pub(crate) fn completed(
    source: &[u8],
    first: &Patch,
    second: &Patch,
    changed: &[u8],
) -> Option<(Patch, Vec<u8>)> {
    let text = apply_edits(changed, &second.edits).ok()?;
    let edits = match moved_back(&first.edits, &second.edits) {
        Some(moved) => [&first.edits[..], &moved].concat(),
        None => vec![whole(source, &text)],
    };
    let cost = first.cost + second.cost;
    joined(source, first, second, edits, text, cost)
}

/// Edits of the text with other edits, as edits of the source; `None` if they touch what those have put there.
fn moved_back(first: &[Edit], second: &[Edit]) -> Option<Vec<Edit>> {
    let moved = |edit: &Edit| {
        let mut shift = 0;
        for known in first {
            let start = i64::from(known.span.start) + shift;
            let end = start + known.text.len() as i64;
            if i64::from(edit.span.end) < start {
                break;
            }
            if i64::from(edit.span.start) <= end {
                return None;
            }
            shift += known.text.len() as i64 - i64::from(known.span.end - known.span.start);
        }
        let back = |at: u32| u32::try_from(i64::from(at) - shift).ok();
        let span = Span::new(back(edit.span.start)?, back(edit.span.end)?);
        Some(Edit::replace(span, &edit.text[..]))
    };
    second.iter().map(moved).collect()
}

/// What makes one text of another, as a single edit.
fn whole(old: &[u8], new: &[u8]) -> Edit {
    let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let before = old.iter().zip(new).take_while(same).count();
    let shorter = old.len().min(new.len()) - before;
    let backwards = old.iter().rev().zip(new.iter().rev());
    let behind = backwards.take(shorter).take_while(same).count();
    let span = Span::new(before as u32, (old.len() - behind) as u32);
    Edit::replace(span, &new[before..new.len() - behind])
}

/// Both changes as one, and the text; `None` if they touch each other. What is done in the same way at both places costs little more
/// than at one.
pub(crate) fn twofold(source: &[u8], first: &Patch, second: &Patch) -> Option<(Patch, Vec<u8>)> {
    let mut edits = [&first.edits[..], &second.edits].concat();
    edits.sort_by_key(|edit| edit.span);
    let parted = |pair: &[Edit]| pair[0].span.end < pair[1].span.start;
    if !edits.windows(2).all(parted) {
        return None;
    }
    let text = apply_edits(source, &edits).ok()?;
    let cost = match is_twin(source, &first.edits, &second.edits) {
        true => first.cost.max(second.cost) + 1,
        false => first.cost + second.cost,
    };
    joined(source, first, second, edits, text, cost)
}

/// The patch that these edits are, and the text; `None` if they change nothing.
fn joined(
    source: &[u8],
    first: &Patch,
    second: &Patch,
    mut edits: Vec<Edit>,
    text: Vec<u8>,
    cost: u32,
) -> Option<(Patch, Vec<u8>)> {
    edits.sort_by_key(|edit| edit.span);
    let (start, path) = (edits.first()?.span.start, first.file.to_string_lossy());
    let earlier = match first.edits.first()?.span.start == start {
        true => first,
        false => second,
    };
    let patch = Patch {
        file: first.file.clone(),
        line: LineMap::new(source).line(start),
        function: earlier.function.clone(),
        schema: NAME,
        kind: None,
        cost,
        diff: unified_diff(path.as_bytes(), source, &text),
        edits,
        class: 0,
        class_size: 1,
        representative: true,
        code_differs: true,
        undefined: None,
        distinct: 0,
        proposal: None,
        rank: first.rank.and(second.rank),
        code: None,
    };
    (!patch.diff.is_empty()).then_some((patch, text))
}

/// Whether both take away the same and add the same, blanks aside.
fn is_twin(source: &[u8], first: &[Edit], second: &[Edit]) -> bool {
    let change = |edit: &Edit| {
        let blank = |text: &[u8]| -> Vec<u8> {
            let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
            bytes.copied().collect()
        };
        let (mut old, mut new) = (
            blank(edit.span.slice(source).unwrap_or_default()),
            blank(&edit.text),
        );
        let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
        let prefix = old.iter().zip(&new).take_while(same).count();
        old.drain(..prefix);
        new.drain(..prefix);
        let suffix = old.iter().rev().zip(new.iter().rev()).take_while(same);
        let suffix = suffix.count();
        old.truncate(old.len() - suffix);
        new.truncate(new.len() - suffix);
        (old, new)
    };
    let changes = |edits: &[Edit]| -> Vec<_> { edits.iter().map(change).collect() };
    changes(first) == changes(second)
}

#[cfg(test)]
mod tests {
    use patchwright_text::Span;

    use super::*;
    use crate::patch::Rank;

    const SOURCE: &[u8] = b"a = 1 << n;\nb = x;\nc = 1 << m;\n";

    fn patch(edit: Edit) -> Patch {
        Patch {
            file: "x.c".into(),
            line: 1,
            function: "f".into(),
            schema: "expression",
            kind: None,
            cost: 2,
            diff: Vec::new(),
            edits: vec![edit],
            class: 1,
            class_size: 1,
            representative: true,
            code_differs: true,
            undefined: None,
            distinct: 0,
            proposal: None,
            rank: Rank::default(),
            code: None,
        }
    }

    fn replaced(from: usize, to: usize, text: &str) -> Patch {
        patch(Edit::replace(Span::new(from as u32, to as u32), text))
    }

    #[test]
    fn an_edit_of_a_changed_text_is_one_of_the_source_if_it_lies_elsewhere() {
        let known = [Edit::replace(Span::new(4, 6), "longer")];
        let moved = |from: u32, to: u32| {
            let edit = Edit::replace(Span::new(from, to), "x");
            let moved = moved_back(&known, std::slice::from_ref(&edit))?;
            Some((moved[0].span.start, moved[0].span.end))
        };
        assert_eq!(moved(1, 3), Some((1, 3)));
        assert_eq!(moved(12, 14), Some((8, 10)));
        assert_eq!(moved(8, 9), None);
        assert_eq!(moved(3, 4), None);
    }

    #[test]
    fn what_makes_one_text_of_another_is_as_short_as_it_can_be() {
        let edit = whole(b"a = b + c;", b"a = d - c;");
        assert_eq!((edit.span.start, edit.span.end), (4, 7));
        assert_eq!(&edit.text[..], b"d -");
        let edit = whole(b"aa", b"aaa");
        assert_eq!(&edit.text[..], b"a");
    }

    #[test]
    fn the_same_change_at_both_places_costs_little_more_than_at_one() {
        let (first, second) = (replaced(4, 10, "1ULL << n"), replaced(23, 24, "1ULL"));
        let (both, text) = twofold(SOURCE, &second, &first).unwrap();
        assert_eq!(text, b"a = 1ULL << n;\nb = x;\nc = 1ULL << m;\n");
        assert_eq!((both.cost, both.line, both.edits.len()), (3, 1, 2));
        let (other, _) = twofold(SOURCE, &first, &replaced(16, 17, "y")).unwrap();
        assert_eq!(other.cost, 4);
    }

    #[test]
    fn changes_that_touch_each_other_are_no_pair() {
        let pair = twofold(SOURCE, &replaced(4, 5, "2"), &replaced(5, 10, " << 1"));
        assert!(pair.is_none());
    }
}
