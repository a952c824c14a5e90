//! Other numbers in tables: `30` for the `31` of a month, `-1` for the `1` of a direction.
//!
//! A table that is `const` is none in the woven program, so that `main` can begin with an assignment to an element.

use patchwright_csource::{Storage, TranslationUnit, Variable, lex, types::TypeKind};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder},
    space::Schema,
};

/// A number of a table, of which there are many, and the change is far from what is seen to go wrong.
const COST: u32 = 2;

/// A table with more numbers is left alone.
const MOST_NUMBERS: usize = 64;

/// Most numbers of all tables.
const MOST_OF_ALL: usize = 96;

/// A table of whole numbers at file scope.
struct Table {
    name: String,
    /// The words `const` of its declaration.
    constants: Vec<Span>,
    numbers: Vec<Number>,
}

/// One of its numbers.
struct Number {
    span: Span,
    value: i64,
    /// `[3]`, `[0][1]`.
    subscripts: String,
}

/// Returns the source with the `const` of tables of numbers replaced by blanks, so that elements can be
/// assigned.
pub fn writable(unit: &TranslationUnit) -> Vec<u8> {
    let mut source = unit.source.clone();
    if !lex::words(&source).iter().any(|word| word == "main") {
        return source;
    }
    for table in tables(unit) {
        for span in table.constants {
            source[span.range()].fill(b' ');
        }
    }
    source
}

/// Returns alternatives that change an element of a table.
pub(super) fn alternatives(finder: &mut Finder<'_, '_, '_>) -> Vec<Alternative> {
    let unit = &finder.builder.unit;
    let start = finder.function.span.start;
    let mut found = Vec::new();
    let mut count = 0;
    for table in tables(unit) {
        let is_hidden = {
            let mut own = finder
                .function
                .locals
                .iter()
                .chain(&finder.function.parameters);
            own.any(|&own| unit.variable(own).name == table.name)
        };
        let is_before = table.numbers.iter().all(|number| number.span.end <= start);
        if is_hidden || !is_before {
            continue;
        }
        count += table.numbers.len();
        if count > MOST_OF_ALL {
            finder
                .found
                .refuse("INITIALIZATION of further elements of tables");
            break;
        }
        for number in &table.numbers {
            for value in others(number.value) {
                found.push(Alternative {
                    schema: Schema::Initialization,
                    cost: COST,
                    woven: format!("{}{} = {value};", table.name, number.subscripts),
                    edit: Edit::replace(number.span, value.to_string()),
                });
            }
        }
    }
    found
}

/// Numbers that may be meant where one stands: those beside it, and that with the other sign.
fn others(value: i64) -> Vec<i64> {
    let all = [
        value.checked_add(1),
        value.checked_sub(1),
        value.checked_neg(),
    ];
    let mut found: Vec<i64> = Vec::new();
    for other in all.into_iter().flatten() {
        if other != value && !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

fn tables(unit: &TranslationUnit) -> Vec<Table> {
    let globals = unit.globals.iter();
    let found = globals.filter_map(|&id| {
        let (variable, declared) = (unit.variable(id), &unit.declared[id.0 as usize]);
        let is_alias = unit.aliases.contains_key(&variable.name)
            || unit.aliases.values().any(|of| *of == variable.name);
        if variable.storage != Storage::Global
            || declared.is_extern
            || variable.thread_local
            || variable.in_system_header
            || is_alias
        {
            return None;
        }
        let (dimensions, is_const) = shape(unit, variable)?;
        // Another file may say `const` as well.
        if is_const && !declared.internal {
            return None;
        }
        let at = variable.declared_at? as usize;
        let constants = match is_const {
            true => constants(&unit.source, at),
            false => Vec::new(),
        };
        if is_const && constants.is_empty() {
            return None;
        }
        Some(Table {
            name: variable.name.clone(),
            constants,
            numbers: numbers(&unit.source, at + variable.name.len(), dimensions)?,
        })
    });
    found.collect()
}

/// How many dimensions an array of whole numbers has, and whether these are constant.
fn shape(unit: &TranslationUnit, variable: &Variable) -> Option<(usize, bool)> {
    let types = &unit.types;
    let mut ty = variable.ty;
    let mut dimensions = 0;
    while let TypeKind::Array(element, ..) = *types.kind(ty) {
        ty = element;
        dimensions += 1;
    }
    let qualifiers = types.qualifiers(ty);
    let is_number = matches!(types.kind(ty), TypeKind::Integer(_));
    (dimensions > 0 && is_number && !qualifiers.is_volatile)
        .then_some((dimensions, qualifiers.is_const))
}

/// The words `const` in front of what is declared at `at`, if that is the only one of its declaration.
fn constants(source: &[u8], at: usize) -> Vec<Span> {
    let begin = source[..at]
        .iter()
        .rposition(|byte| b";}\n".contains(byte))
        .map_or(0, |place| place + 1);
    let before = &source[begin..at];
    if before.contains(&b',') || before.contains(&b'#') {
        return Vec::new();
    }
    let words = lex::words_with_places(before).into_iter();
    words
        .filter(|(word, _)| word == "const")
        .map(|(word, start)| {
            let start = (begin + start) as u32;
            Span::new(start, start + word.len() as u32)
        })
        .collect()
}

/// The numbers of `[…] = {…};` if they are written out, one after the other, in as many braces as there are dimensions.
fn numbers(source: &[u8], at: usize, dimensions: usize) -> Option<Vec<Number>> {
    let mut found: Vec<Number> = Vec::new();
    // The place in each list that is open.
    let mut places: Vec<usize> = Vec::new();
    let mut at = at;
    let mut has_begun = false;
    let mut sign = None;
    while at < source.len() {
        let end = lex::step(source, at).max(at + 1);
        let token = &source[at..end];
        match (token[0], has_begun) {
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            (b'/', _) if token.len() > 1 => {}
            (b'=', false) => has_begun = true,
            (b';' | b',', false) => return None,
            (_, false) => {}
            (b'{', true) if places.len() < dimensions => places.push(0),
            (b'}', true) => {
                places.pop()?;
                if places.is_empty() {
                    let is_large = found.len() > MOST_NUMBERS;
                    return (!is_large && !found.is_empty()).then_some(found);
                }
            }
            (b',', true) => *places.last_mut()? += 1,
            (b'-', true) if sign.is_none() => {
                sign = Some(at);
                at = end;
                continue;
            }
            (b'0'..=b'9', true) if places.len() == dimensions => {
                let text = std::str::from_utf8(token).ok()?;
                // `010` is eight.
                if text.len() > 1 && text.starts_with('0') {
                    return None;
                }
                let value: i64 = text.parse().ok()?;
                let start = sign.unwrap_or(at);
                let subscripts = places.iter().map(|place| format!("[{place}]"));
                let subscripts: String = subscripts.collect();
                let is_part = found
                    .last()
                    .is_some_and(|last| last.subscripts == subscripts);
                if is_part {
                    return None;
                }
                found.push(Number {
                    span: Span::new(start as u32, end as u32),
                    value: match sign {
                        Some(_) => -value,
                        None => value,
                    },
                    subscripts,
                });
            }
            _ => return None,
        }
        if !token[0].is_ascii_whitespace() {
            sign = None;
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, dimensions: usize) -> Option<Vec<String>> {
        let found = numbers(source.as_bytes(), 0, dimensions)?.into_iter();
        let texts = found.map(|number| {
            assert_eq!(
                source[number.span.range()].replace(' ', ""),
                number.value.to_string()
            );
            format!("{}={}", number.subscripts, number.value)
        });
        Some(texts.collect())
    }

    #[test]
    fn the_numbers_of_a_table_are_found_with_their_places() {
        assert_eq!(
            read("[] = {1, -2, /* three */ 3,};", 1).unwrap(),
            ["[0]=1", "[1]=-2", "[2]=3"]
        );
        assert_eq!(
            read("[2][2] = {{0, 1},\n {- 1, 0}};", 2).unwrap(),
            ["[0][0]=0", "[0][1]=1", "[1][0]=-1", "[1][1]=0"]
        );
    }

    #[test]
    fn other_tables_are_left_alone() {
        for (text, dimensions) in [
            ("[3];", 1),
            ("[] = {1, N, 3};", 1),
            ("[] = {[2] = 1};", 1),
            ("[] = {1 + 1};", 1),
            ("[] = {1 - 1};", 1),
            ("[2][2] = {0, 1, 2, 3};", 2),
            ("[] = {010, 1};", 1),
            ("[] = {0x1f};", 1),
        ] {
            assert_eq!(read(text, dimensions), None, "{text}");
        }
    }
}
