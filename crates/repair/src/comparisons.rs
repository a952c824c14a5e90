//! Finds the comparisons of a function, and changes that compare what the function compares elsewhere.

use std::collections::BTreeMap;

use patchwright_csource::{BinaryOperator, ExprId, ExprKind, Function};

use crate::change_text::{is_of_name, tokens, without_blanks};

/// The comparisons of a function and their negations: texts without blanks. Each with its negation, and how often the function asks
/// for one of the two.
pub(crate) struct Comparisons(BTreeMap<Vec<u8>, (Vec<u8>, usize)>);

impl Comparisons {
    pub(crate) fn of(source: &[u8], function: &Function) -> Self {
        let text = |id: ExprId| {
            let span = function.expr(function.stripped(id)).place.editable()?;
            Some(without_blanks(&source[span.range()]))
        };
        let mut found = BTreeMap::new();
        for expr in &function.exprs {
            if let ExprKind::Binary {
                operator,
                left,
                right,
            } = &expr.kind
                && let Some(operators) = with_negation(*operator)
                && let (Some(left), Some(right)) = (text(*left), text(*right))
            {
                let [one, other] =
                    operators.map(|op| [&left[..], op.as_bytes(), &right[..]].concat());
                for (own, negation) in [(&one, &other), (&other, &one)] {
                    let known = found.entry(own.clone()).or_insert((negation.clone(), 0));
                    known.1 += 1;
                }
            }
        }
        Comparisons(found)
    }

    /// How strange a change is, from 0 to [`STRANGE`]. It is 0 if `after` has a comparison that the function has elsewhere, perhaps negated, and `before` has not: `c != '*'` where
    /// it asks for `c == '*'`, too. Of conditions that no test tells apart, the least strange is the likeliest one.
    pub(crate) fn strangeness(&self, before: &[u8], after: &[u8]) -> usize {
        let (before, after) = (without_blanks(before), without_blanks(after));
        let in_word =
            |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let count = |text: &[u8], wanted: &[u8]| {
            let windows = text.windows(wanted.len()).enumerate();
            let here = windows.filter(|(at, found)| {
                let before = at.checked_sub(1).and_then(|at| text.get(at));
                *found == wanted && !in_word(before) && !in_word(text.get(at + wanted.len()))
            });
            here.count()
        };
        let mut known = self.0.iter();
        // What is negated is no comparison from elsewhere.
        if known.any(|(own, (negation, times))| {
            let gone = count(&before, own) + count(&before, negation);
            count(&after, own) > 0 && count(&before, own) == 0 && *times > gone
        }) {
            return 0;
        }
        likeness(&before, &after).map_or(STRANGE, |others| others.min(STRANGE))
    }
}

/// A comparison in the same way with one of the two that are compared.
const LIKE_NEIGHBOUR: usize = STRANGE - 1;

/// What is like nothing else.
pub(crate) const STRANGE: usize = 10;

/// Whether `after` has a part like one of `before`, but with other names: `|| y + h > rows` beside `x + w > columns`. How many of these are
/// no members of what the others are members of.
fn likeness(before: &[u8], after: &[u8]) -> Option<usize> {
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    let known: Vec<&[u8]> = parts(&before).collect();
    let new = parts(&after).filter(|part| !known.contains(part));
    new.filter_map(|part| {
        let (shape, names) = shape(part);
        if !shape.iter().any(|byte| b"<>=".contains(byte)) {
            return None;
        }
        let others = known.iter().map(|other| self::shape(other));
        // The pair that is missing: `a == c` beside `a == b` and `b == c`.
        if names.len() == 2 {
            let alike: Vec<_> = (others.clone())
                .filter(|(other, others)| *other == shape && names != *others)
                .collect();
            let is_compared = |name: &&[u8]| alike.iter().any(|(_, others)| others.contains(name));
            if alike.len() > 1 && names.iter().all(is_compared) {
                return Some(0);
            }
            // `b == c` beside `a == b`: in the same way, and one of the two.
            let is_other = |(_, others): &&(Vec<u8>, Vec<&[u8]>)| {
                names.iter().any(|name| !others.contains(name))
            };
            if names[0] != names[1]
                && names.iter().any(is_compared)
                && alike.iter().any(|pair| is_other(&pair))
            {
                return Some(LIKE_NEIGHBOUR);
            }
        }
        // A single name is compared with everything.
        let alike = others.filter(|(other, _)| *other == shape && names.len() > 2);
        let strangers = alike.filter_map(|(_, others)| {
            let is_new = names.iter().all(|name| !others.contains(name));
            let pairs = names.iter().zip(&others);
            is_new.then(|| pairs.filter(|(a, b)| owner(a) != owner(b)).count())
        });
        strangers.min()
    })
    .min()
}

/// What `&&` and `||` join.
fn parts(text: &str) -> impl Iterator<Item = &[u8]> {
    let parts = text.split("&&").flat_map(|part| part.split("||"));
    parts.map(str::as_bytes)
}

/// What a name is a member of.
fn owner(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| matches!(byte, b'.' | b'>'));
    &name[..end.unwrap_or(0)]
}

/// A text without blanks with `#` in the place of each variable, with its members; and those.
fn shape(text: &[u8]) -> (Vec<u8>, Vec<&[u8]>) {
    let (mut shape, mut names) = (Vec::new(), Vec::new());
    for token in tokens(text) {
        match is_of_name(token[0]) {
            true => {
                shape.push(b'#');
                names.push(token);
            }
            false => shape.extend(token),
        }
    }
    (shape, names)
}

/// A comparing operator and its negation.
fn with_negation(operator: BinaryOperator) -> Option<[&'static str; 2]> {
    use BinaryOperator::*;
    Some(match operator {
        Eq | Ne => ["==", "!="],
        Lt | Ge => ["<", ">="],
        Gt | Le => [">", "<="],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_known_with_their_negations_and_as_whole_words() {
        let (one, other) = (b"c=='*'".to_vec(), b"c!='*'".to_vec());
        let pairs = [(one.clone(), (other.clone(), 1)), (other, (one, 1))];
        let known = Comparisons(pairs.into());
        assert_eq!(
            known.strangeness(b"st = BLOCK;", b"{ if (c != '*') st = BLOCK; }"),
            0
        );
        assert_eq!(
            known.strangeness(b"st = BLOCK;", b"{ if (c < '*') st = BLOCK; }"),
            STRANGE
        );
        assert_eq!(known.strangeness(b"x", b"abc != '*'"), STRANGE);
        assert_eq!(known.strangeness(b"c == '*'", b"c == '*' && x"), STRANGE);
        // The only one of the function, negated where it is.
        assert_eq!(
            known.strangeness(b"c == '*' && x", b"c != '*' && x"),
            STRANGE
        );
    }

    #[test]
    fn the_pair_that_is_missing_among_comparisons_is_known() {
        let of = |added: &str| {
            let before = "a==b||b==c";
            likeness(before.as_bytes(), format!("{before}||{added}").as_bytes())
        };
        assert_eq!(of("a==c"), Some(0));
        // One of them in the same way is a little more likely than in another way.
        assert_eq!(of("a==d"), Some(LIKE_NEIGHBOUR));
        assert_eq!(likeness(b"a==b", b"a==b||b==c"), Some(LIKE_NEIGHBOUR));
        assert_eq!(likeness(b"a==b", b"a==b||b>=c"), None);
        assert_eq!(of("a>=c"), None);
    }

    #[test]
    fn a_comparison_like_another_one_with_other_names_is_known() {
        let like = |before: &str, after: &str| likeness(before.as_bytes(), after.as_bytes());
        let old = "g->x+g->w>columns";
        assert_eq!(like(old, "g->x+g->w>columns||g->y+g->h>rows"), Some(0));
        assert_eq!(like(old, "g->x+g->w>columns||y+g->h>rows"), Some(1));
        assert_eq!(like(old, "g->x+g->w>columns||g->y<rows"), None);
        assert_eq!(like(old, "g->x+g->w>columns||g->x+g->h>rows"), None);
        assert_eq!([like(old, old), like("a>b", "a>b||c>d")], [None; 2]);
        let elements = "a[i].x+a[i].w>n";
        assert_eq!(like(elements, "a[i].x+a[i].w>n||a[i].y+a[i].h>m"), Some(0));
        // What is no comparison is like everything.
        assert_eq!(like("a[0].n", "b->rows[i].w"), None);
        assert_eq!(like("a+b-c", "x+y-z"), None);
    }
}
