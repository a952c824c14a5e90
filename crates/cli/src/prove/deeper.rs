//! How far loops are followed if the user gives no bound.

/// The lengths of arguments in bytes, tried one after the other while the program holds.
pub const LONGEST: [u32; 3] = [8, 24, 72];

/// The largest number of bytes of arguments and standard input that is tried because the program names a size as large.
pub const LARGEST: u32 = 520;

/// Standard input has at most so many bytes, if nobody says how many.
pub const INPUT: u32 = 64;

/// So many bytes are tried first where more take much work.
pub const SHORT_INPUT: u32 = 8;

/// The largest number of arguments of a program that reads any number of them, without `--arguments`.
pub const MOST_ARGUMENTS: u32 = 3;

/// The first bound of the rounds of loops.
pub const FIRST: u32 = 16;
/// The largest bound of the rounds of loops.
pub const LAST: u32 = 256;
/// The limit of conflicts for a question with more rounds.
pub const CONFLICTS: u64 = 20_000;
/// The limit of conflicts for a question before other methods are tried.
pub const FIRST_CONFLICTS: u64 = 2_000;
/// The number of instructions from which a few paths are explored first.
pub const MANY: u64 = 20_000;

/// The limit of encoded instructions before other methods are tried.
pub const INSTRUCTIONS: u64 = 50_000;

/// The bound of loops over structures whose pointers may point back. Most such loops have no end.
pub const LINKED: u32 = 4;

/// Whether twice as many rounds are little work, after an encoding of so many instructions and conflicts.
/// Nested loops then have four times as many instructions.
pub fn is_little((instructions, conflicts): (u64, u64)) -> bool {
    instructions <= 20_000 && conflicts <= 5_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_the_first_one_doubled_some_times() {
        assert!((LAST / FIRST).is_power_of_two());
        assert!(is_little((20_000, 0)) && !is_little((20_001, 0)) && !is_little((0, 5_001)));
    }
}
