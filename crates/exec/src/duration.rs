//! Reads and writes durations as a whole number with a unit, in flags and in `patchwright.toml`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// The units, each with its milliseconds.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Why a text is not a duration. The message says what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDuration {
    /// A number alone.
    #[error(
        "`{number}` has no unit; write `{number}{usual}`, or another time such as 500ms, 10s, 10m or 1h"
    )]
    NoUnit {
        /// The number.
        number: String,
        /// The unit that is most likely meant.
        usual: &'static str,
    },
    /// Something else.
    #[error("`{0}` is no time; write a whole number with a unit, such as 500ms, 10s, 10m or 1h")]
    NoTime(String),
}

/// Reads a duration such as `500ms`, `10s`, `10m` or `1h`. `usual` is the unit that the error proposes if
/// there is none.
///
/// # Errors
/// When the text is no whole number with a unit of `ms`, `s`, `m` or `h`, or is longer than can be counted.
pub fn parse(text: &str, usual: &'static str) -> Result<Duration, NoDuration> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    if unit.is_empty() && !number.is_empty() {
        let number = number.to_owned();
        return Err(NoDuration::NoUnit { number, usual });
    }
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let number: Option<u64> = number.parse().ok();
    number
        .zip(unit)
        .and_then(|(number, (_, milliseconds))| number.checked_mul(*milliseconds))
        .map(Duration::from_millis)
        .ok_or_else(|| NoDuration::NoTime(text.to_owned()))
}

/// Returns a duration as [`parse`] reads it, in the largest unit that is exact. Parts of a millisecond
/// are dropped.
pub fn written(time: Duration) -> String {
    let all = time.as_millis();
    let fits = |(_, milliseconds): &&(&str, u64)| all.is_multiple_of(u128::from(*milliseconds));
    let (unit, milliseconds) = match all {
        0 => ("s", 1_000),
        _ => *UNITS.iter().rfind(fits).unwrap_or(&UNITS[0]),
    };
    format!("{}{unit}", all / u128::from(milliseconds))
}

/// A duration in a description, a text such as `"10s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written(pub(crate) Duration);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Written;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a time such as \"10s\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Written, E> {
                parse(text, "s").map(Written).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Written, E> {
                self.visit_str(&number.to_string())
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_whole_number_with_a_unit() {
        for (text, milliseconds) in [
            ("0s", 0),
            ("500ms", 500),
            ("10s", 10_000),
            ("10m", 600_000),
            ("1h", 3_600_000),
        ] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(parse(text, "s"), Ok(time), "{text}");
            assert_eq!(written(time), text);
        }
        assert_eq!(written(Duration::from_millis(90_000)), "90s");
    }

    #[test]
    fn what_is_no_duration_is_told_with_what_to_write() {
        let told = |text: &str| parse(text, "ms").unwrap_err().to_string();
        assert!(told("300").contains("write `300ms`"), "{}", told("300"));
        for text in [
            "",
            "s",
            "-1s",
            "1.5s",
            "1 s",
            "10 m",
            "1d",
            "99999999999999999999s",
            "9999999999999999h",
        ] {
            assert!(told(text).contains("is no time"), "{text}");
        }
    }
}
