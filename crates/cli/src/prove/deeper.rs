//! How far loops are followed where the user names no bound.

/// Bytes of an argument at first, and then where the program holds.
pub const LONGEST: [u32; 3] = [8, 24, 72];

/// Rounds of each loop at first.
pub const FIRST: u32 = 16;
/// Rounds of each loop at the most.
pub const LAST: u32 = 256;
/// Conflicts of a question about more rounds at the most.
pub const CONFLICTS: u64 = 20_000;
/// Conflicts of a question before other ways are tried, at the most.
pub const FIRST_CONFLICTS: u64 = 2_000;
/// So many instructions are so many that a few paths are looked at before they are decided about.
pub const MANY: u64 = 20_000;

/// Instructions that are encoded before other ways are tried, at most.
pub const INSTRUCTIONS: u64 = 50_000;

/// Rounds of loops over structures whose pointers may lead back: most of these have no end.
pub const LINKED: u32 = 4;

/// Whether twice as many rounds are little work after one with so many instructions and conflicts: loops within each other
/// have four times as many instructions then.
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
