//! What standard C leaves open of a function, and programs see.

use crate::plain;

/// Returns what is taken for granted of the function `name`, though standard C leaves it open.
pub fn latitude(name: &str) -> Option<&'static str> {
    Some(match plain(name) {
        "qsort" | "qsort_r" => "the order of equal elements stays",
        "bsearch" => "of several equal elements it finds the same as here",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_may_exchange_equal_elements() {
        assert!(latitude("qsort").is_some_and(|text| text.contains("equal")));
        assert_eq!(latitude("strlen"), None);
    }
}
