//! The functions behind `INFINITY`, `HUGE_VAL` and `NAN`, which return one number.

/// Infinity or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Infinity.
    Infinity,
    /// Not a number.
    Nan,
}

/// Returns the number that the function `name` gives whatever its argument, in the type of its result.
pub fn special(name: &str) -> Option<Special> {
    let plain = name.strip_prefix("__builtin_");
    let is_nan = |name: &str| matches!(name, "nan" | "nanf" | "nanl");
    match plain {
        Some("inf" | "inff" | "infl" | "huge_val" | "huge_valf" | "huge_vall") => {
            Some(Special::Infinity)
        }
        Some(name) if is_nan(name) => Some(Special::Nan),
        None if is_nan(name) => Some(Special::Nan),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_macros_of_math_h_become_is_a_number() {
        assert_eq!(special("__builtin_inff"), Some(Special::Infinity));
        assert_eq!(special("__builtin_huge_val"), Some(Special::Infinity));
        assert_eq!(special("__builtin_nanf"), Some(Special::Nan));
        assert_eq!(special("nan"), Some(Special::Nan));
        assert_eq!(special("inf"), None);
    }
}
