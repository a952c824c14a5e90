//! What standard C leaves open of a function, and programs see.

use crate::plain;

/// Returns what is taken for granted of the function `name`, though standard C leaves it open. Of functions that order
/// ([`crate::Meaning::Order`]), it matters to who asks for more than the sign.
pub fn latitude(name: &str) -> Option<&'static str> {
    Some(match plain(name) {
        "qsort" | "qsort_r" => "the order of equal elements stays",
        "bsearch" => "of several equal elements it finds the same as here",
        "fmin" | "fmax" | "fminf" | "fmaxf" | "fminl" | "fmaxl" => {
            "of two zeros it gives the second"
        }
        "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "strcoll" | "memcmp" | "bcmp" => {
            "its result is the difference of the first bytes that differ"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_may_exchange_equal_elements() {
        assert!(latitude("qsort").is_some_and(|text| text.contains("equal")));
        assert!(latitude("strcmp").is_some_and(|text| text.contains("difference")));
        assert_eq!(latitude("strlen"), None);
    }
}
