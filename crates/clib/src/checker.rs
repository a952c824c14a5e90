//! The functions by which a program tells a verifier what must hold: `assert`, `__VERIFIER_assume` and
//! their relatives.

/// What a call tells a verifier: an assertion, an assumption, an error, a nondeterministic value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// The argument is true.
    Assert,
    /// Only executions are meant in which the argument is true.
    Assume,
    /// This call is not reached.
    Error,
    /// The program gives up: that is an error where it has no function of its own for errors.
    GiveUp,
    /// The value is any one of the type.
    Any,
}

/// Returns what a call of the function `name` tells a verifier, or `None` for an ordinary function. The
/// names are those of `<assert.h>`, of the competition on software verification, of CBMC and ESBMC, and
/// of AllRepair's programs.
pub fn statement(name: &str) -> Option<Statement> {
    Some(match name {
        "__VERIFIER_assert"
        | "__CPROVER_assert"
        | "__CPROVER_precondition"
        | "__CPROVER_postcondition"
        | "__ESBMC_assert"
        | "assert" => Statement::Assert,
        "__VERIFIER_assume"
        | "__CPROVER_assume"
        | "__ESBMC_assume"
        | "__builtin_assume"
        | "assume_abort_if_not"
        | "assume" => Statement::Assume,
        "__assert_fail"
        | "__assert"
        | "__assert_perror_fail"
        | "reach_error"
        | "__VERIFIER_error" => Statement::Error,
        "abort" => Statement::GiveUp,
        _ if ["__VERIFIER_nondet_", "__CPROVER_nondet_", "nondet_"]
            .iter()
            .any(|start| name.starts_with(start)) =>
        {
            Statement::Any
        }
        _ => return None,
    })
}

/// What a call asks a verifier about a pointer: whether it is accessible, its object, its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// So many bytes may be read, or written, there: pointer and size.
    Accessible,
    /// Two pointers lead into the same object.
    SameObject,
    /// Bytes of the object that a pointer leads to.
    ObjectSize,
    /// Bytes between the start of the object and the pointer.
    Offset,
}

/// Returns what a call of the function `name` asks about a pointer. The names are those of CBMC and
/// ESBMC.
pub fn question(name: &str) -> Option<Question> {
    Some(match name {
        "__CPROVER_r_ok" | "__CPROVER_w_ok" | "__CPROVER_rw_ok" => Question::Accessible,
        "__CPROVER_same_object" => Question::SameObject,
        "__CPROVER_OBJECT_SIZE" | "__ESBMC_get_object_size" => Question::ObjectSize,
        "__CPROVER_POINTER_OFFSET" | "__ESBMC_POINTER_OFFSET" => Question::Offset,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_in_several_ways_what_shall_hold() {
        assert_eq!(statement("__CPROVER_assume"), Some(Statement::Assume));
        assert_eq!(statement("nondet_uint"), Some(Statement::Any));
        assert_eq!(statement("reach_error"), Some(Statement::Error));
        assert_eq!(statement("printf"), None);
    }
}
