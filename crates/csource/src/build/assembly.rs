//! Inline assembly without instructions: a barrier, or a value that the compiler shall not look through. The dump has its operands, and
//! neither its template nor its constraints, which are read from the text.

use super::FunctionBuilder;
use crate::{detail::Assembly, raw::Node, tree::ExprId};
use patchwright_ctext::{self as lex, Kind};

impl FunctionBuilder<'_, '_> {
    /// Returns how inline assembly without instructions connects its operands, which are its outputs and inputs; `None` with instructions.
    pub(super) fn assembly(&self, node: &Node, operands: &[ExprId]) -> Option<Assembly> {
        let begin = &node.range.as_ref()?.begin;
        let is_assembly = |text: &String| text.trim_start_matches('_').starts_with("asm");
        let elsewhere = || self.unit.text_elsewhere(begin).filter(is_assembly);
        let text = match self
            .unit
            .text_at(begin)
            .map(str::to_owned)
            .or_else(elsewhere)
        {
            Some(text) => text,
            None => {
                // It comes from a macro of a header: from the one that is used here, if its body has it.
                let name = self.unit.text_at_use(begin)?;
                let (name, _) = lex::first_word(name);
                let [definition] = self.unit.macros.definitions(name) else {
                    return None;
                };
                let at = definition.body.find("asm")?;
                definition.body[at..].to_owned()
            }
        };
        understand(&text, operands)
    }
}

fn understand(text: &str, operands: &[ExprId]) -> Option<Assembly> {
    let open = text.find('(')?;
    let words = text[..open].split_whitespace();
    if words.into_iter().any(|word| word.contains("goto")) {
        return None;
    }
    let sections = sections(&text[open + 1..])?;
    let (template, rest) = sections.split_first()?;
    let [template] = template.as_slice() else {
        return None;
    };
    // Comments are no instructions.
    let code = |line: &str| {
        line.split('#')
            .next()
            .is_some_and(|code| !code.trim().is_empty())
    };
    if template.lines().any(code) {
        return None;
    }
    let empty = Vec::new();
    let outputs = rest.first().unwrap_or(&empty);
    let inputs = rest.get(1).unwrap_or(&empty);
    if rest.len() > 3 || outputs.len() + inputs.len() != operands.len() {
        return None;
    }
    let mut copies = Vec::new();
    for (number, constraint) in outputs.iter().enumerate() {
        let same = inputs.iter().position(|input| input == &number.to_string());
        copies.push(match (constraint.chars().next()?, same) {
            (_, Some(input)) => Some(outputs.len() + input),
            ('+', None) => None,
            // Memory keeps what it holds.
            ('=', None) if constraint.trim_start_matches(['=', '&']) == "m" => None,
            _ => return None,
        });
    }
    Some(Assembly {
        inputs: operands[outputs.len()..].to_vec(),
        outputs: operands[..outputs.len()]
            .iter()
            .zip(copies)
            .map(|(&output, from)| (output, from.map(|from| operands[from])))
            .collect(),
    })
}

/// The strings of each section between colons, those of one operand as one, up to the parenthesis that closes it all.
fn sections(text: &str) -> Option<Vec<Vec<String>>> {
    let mut found: Vec<Vec<String>> = vec![Vec::new()];
    let mut depth = 0;
    // Whether the next string begins an operand.
    let mut begins = true;
    for token in lex::Tokens::new(text.as_bytes()) {
        let said = token.text();
        match (token.kind, &*said) {
            (Kind::String, [b'"', inner @ .., b'"']) => {
                let string = unescaped(inner);
                let last = found.last_mut()?;
                match last.last_mut() {
                    _ if depth > 0 => {}
                    Some(known) if !begins => known.push_str(&string),
                    _ => last.push(string),
                }
                begins = false;
            }
            (_, b"(" | b"[") => depth += 1,
            (_, b")") if depth == 0 => return Some(found),
            (_, b")" | b"]") => depth -= 1,
            (_, b",") if depth == 0 => begins = true,
            (_, colons @ (b":" | b"::")) if depth == 0 => {
                found.extend(colons.iter().map(|_| Vec::new()));
                begins = true;
            }
            // An operand is an expression.
            (kind, _) if depth > 0 && kind != Kind::Other => {}
            // A macro in the place of a string.
            _ => return None,
        }
    }
    None
}

/// The text of a string, with line breaks and blanks in place of their escapes.
fn unescaped(inner: &[u8]) -> String {
    let inner = String::from_utf8_lossy(inner);
    let mut chars = inner.chars();
    let mut string = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => string.push('\n'),
                Some('t') => string.push(' '),
                other => string.extend(other),
            },
            other => string.push(other),
        }
    }
    string
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(text: &str, count: u32) -> Option<Vec<Option<u32>>> {
        let operands: Vec<ExprId> = (0..count).map(ExprId).collect();
        let known = understand(text, &operands)?;
        let from = |&(_, from): &(ExprId, Option<ExprId>)| from.map(|id| id.0);
        Some(known.outputs.iter().map(from).collect())
    }

    #[test]
    fn templates_without_instructions_are_understood_and_no_others() {
        for (text, operands, expected) in [
            ("asm volatile (\"\" ::: \"memory\")", 0, Some(vec![])),
            ("__asm__(\" \" \"\\n\")", 0, Some(vec![])),
            ("asm(\"\" : \"+r\"(x))", 1, Some(vec![None])),
            (
                "asm(\"\" : \"=r\"(x) : \"0\"(f(\")\", 1)))",
                2,
                Some(vec![Some(1)]),
            ),
            (
                "asm(\"\" : [a] \"=m\"(x), \"=r\" (y) : \"r\"(2), \"1\"(z) : \"cc\")",
                4,
                Some(vec![None, Some(3)]),
            ),
            (
                "asm volatile (\n \"# nothing is done\" /* it seems */\n : \"=r\" (x) // out\n : /*in*/ \"0\" (y))",
                2,
                Some(vec![Some(1)]),
            ),
            ("asm(\"# one\\n\\tnop\")", 0, None),
            ("asm(\"\" : \"=r\"(x))", 1, None),
            ("asm(\"nop\")", 0, None),
            ("asm goto(\"\" :::: l)", 0, None),
            ("asm(\"\" : \"+r\"(x))", 2, None),
            ("asm(TEXT)", 0, None),
        ] {
            assert_eq!(copies(text, operands), expected, "{text}");
        }
    }
}
