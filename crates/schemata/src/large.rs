//! Finds large objects that patches add. A woven function has the variables of all patches, so a large
//! one takes stack or memory from the others.

/// With more elements an array is large.
const MOST_ELEMENTS: u64 = 1 << 14;

/// Whether a text declares an array with a large constant number of elements.
pub fn has_large_array(text: &[u8]) -> bool {
    let brackets = text.split(|&byte| byte == b'[').skip(1);
    let mut sizes = brackets.filter_map(|rest| rest.split(|&byte| byte == b']').next());
    sizes.any(|size| {
        let size = std::str::from_utf8(size).ok();
        size.and_then(magnitude)
            .is_some_and(|size| size > MOST_ELEMENTS)
    })
}

/// About how much a constant expression is, sums by their largest part; `None` if it has a name in it.
fn magnitude(expression: &str) -> Option<u64> {
    let sum = expression.split(['+', '-']).map(|part| {
        part.split('*').try_fold(1u64, |product, factor| {
            let mut shifted = factor.split("<<").map(number);
            let first = shifted.next()??;
            let value = shifted.try_fold(first, |value, by| {
                let by = u32::try_from(by?).ok()?.min(63);
                Some(value.saturating_mul(1 << by))
            })?;
            Some(product.saturating_mul(value))
        })
    });
    sum.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// A literal, perhaps with brackets round it.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || "()".contains(c));
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::has_large_array;

    #[test]
    fn a_constant_number_of_elements_is_understood() {
        for large in [
            "char b[1 << 20];",
            "static char pool[30 * 1024*1024];",
            "int a[4][(1UL<<16) + 1];",
            "char b[0x10000];",
            "char b[100000u];",
        ] {
            assert!(has_large_array(large.as_bytes()), "{large}");
        }
        for small in [
            "char b[4096];",
            "a[i] = b[1 << 3];",
            "char b[SIZE];",
            "a[",
            "x[]",
        ] {
            assert!(!has_large_array(small.as_bytes()), "{small}");
        }
    }
}
