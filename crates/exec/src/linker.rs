//! Reads complaints of linkers about undefined symbols.

/// A symbol that a linker reports as undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndefinedReference<'o> {
    /// Its name.
    pub symbol: &'o str,
    /// The file's name and the line where it is named, if it was compiled with line numbers.
    pub place: Option<(&'o str, u32)>,
}

/// Returns the undefined symbols that the output of a linker names, in the order of its lines.
pub fn undefined_references(output: &str) -> Vec<UndefinedReference<'_>> {
    output
        .lines()
        .filter_map(|line| {
            let (before, rest) = line.split_once("undefined reference to ")?;
            let name = rest.trim_start_matches(['`', '\'', '‘']);
            let end = name.find(['\'', '’']).unwrap_or(name.len());
            let (symbol, _) = patchwright_ctext::first_word(&name[..end]);
            let place = before.trim_end().strip_suffix(':').and_then(|place| {
                let (file, line) = place.rsplit_once(':')?;
                let file = file.rsplit(['/', ' ']).next()?;
                Some((file, line.parse().ok()?))
            });
            Some(UndefinedReference { symbol, place })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linker_names_symbols_and_sometimes_lines() {
        let output = "/usr/bin/ld: /tmp/cc.o: in function `f':\n\
                      /tmp/a b/x.c:90: undefined reference to `string'\n\
                      /usr/bin/ld: x.c:(.text+0x12): undefined reference to `g'\n";
        assert_eq!(
            undefined_references(output),
            [
                UndefinedReference {
                    symbol: "string",
                    place: Some(("x.c", 90))
                },
                UndefinedReference {
                    symbol: "g",
                    place: None
                }
            ]
        );
    }
}
