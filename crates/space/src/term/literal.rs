//! Spells constants from their values.

use super::ctype::{CType, TypeError};
use super::tree::Term;

impl Term {
    /// Makes a constant of this type and canonical value, spelled as a decimal literal.
    ///
    /// The smallest `int` and the smallest `long`, for which C has no literal, are spelled as a
    /// difference in parentheses.
    ///
    /// # Errors
    /// When C has no literals of the type (types narrower than `int`, pointers) or none for the
    /// value (infinities, NaN).
    pub fn literal(value: u64, ctype: CType) -> Result<Term, TypeError> {
        let value = ctype.value_type().canonical(value);
        let signed = |suffix: &str, min: i64| {
            let value = value as i64;
            if value == min {
                format!("({}{suffix} - 1)", value + 1)
            } else {
                format!("{value}{suffix}")
            }
        };
        let spelling = match ctype {
            CType::Int => signed("", i64::from(i32::MIN)),
            CType::Long => signed("L", i64::MIN),
            CType::LongLong => signed("LL", i64::MIN),
            CType::UInt => format!("{value}U"),
            CType::ULong => format!("{value}UL"),
            CType::ULongLong => format!("{value}ULL"),
            // Rust's `Debug` form is the shortest that reads back as the same number, and one
            // that C reads as floating (`1.0`, `1e300`).
            CType::Float if f32::from_bits(value as u32).is_finite() => {
                format!("{:?}f", f32::from_bits(value as u32))
            }
            CType::Double if f64::from_bits(value).is_finite() => {
                format!("{:?}", f64::from_bits(value))
            }
            _ => return Err(TypeError::NoSpelling { ctype }),
        };
        Ok(Term::constant(value, ctype, spelling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CType::*;

    #[test]
    fn a_literal_has_the_suffix_of_its_type() {
        let spelled = |value: i64, ctype| match Term::literal(value as u64, ctype)
            .expect("a literal")
            .kind()
        {
            crate::term::Kind::Constant(_, spelling) => spelling.to_string(),
            other => panic!("not a constant: {other:?}"),
        };
        assert_eq!(spelled(-1, Int), "-1");
        assert_eq!(spelled(-1, UInt), "4294967295U");
        assert_eq!(spelled(7, Long), "7L");
        assert_eq!(spelled(7, ULongLong), "7ULL");
        assert_eq!(spelled(i64::from(i32::MIN), Int), "(-2147483647 - 1)");
        assert_eq!(spelled(i64::MIN, Long), "(-9223372036854775807L - 1)");
        assert_eq!(spelled(0.1_f64.to_bits() as i64, Double), "0.1");
        assert_eq!(spelled(i64::from(2_f32.to_bits()), Float), "2.0f");
    }

    #[test]
    fn what_c_cannot_write_as_a_literal_is_refused() {
        for (value, ctype) in [
            (1, Char),
            (1, Bool),
            (f64::NAN.to_bits(), Double),
            (u64::from(f32::INFINITY.to_bits()), Float),
        ] {
            assert_eq!(
                Term::literal(value, ctype),
                Err(TypeError::NoSpelling { ctype })
            );
        }
    }
}
