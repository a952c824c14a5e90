//! The meaning of a function's result. A function is only exchanged for one whose result means the same.

use crate::plain;

/// The meaning of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// How two texts or pieces of memory are ordered: 0 where they are equal.
    Order,
    /// A number of characters.
    Length,
    /// Where something was found: an address or nothing.
    Place,
    /// The memory that was written.
    Target,
}

/// Returns the meaning of the result of the function `name`, if the function works on text or memory.
pub fn meaning(name: &str) -> Option<Meaning> {
    Some(match plain(name) {
        "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "strcoll" | "memcmp" | "bcmp"
        | "wcscmp" | "wcsncmp" | "wmemcmp" | "strverscmp" => Meaning::Order,
        "strlen" | "strnlen" | "strspn" | "strcspn" | "wcslen" | "strlcpy" | "strlcat"
        | "strxfrm" => Meaning::Length,
        "strchr" | "strrchr" | "strchrnul" | "index" | "rindex" | "memchr" | "memrchr"
        | "strstr" | "strpbrk" | "strcasestr" | "memmem" | "wcschr" | "wcsrchr" => Meaning::Place,
        "strcpy" | "strncpy" | "strcat" | "strncat" | "memcpy" | "memmove" | "memset"
        | "wmemcpy" | "wmemmove" | "wmemset" | "wcscpy" | "wcsncpy" => Meaning::Target,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_take_the_same_may_say_another_thing() {
        assert_eq!(meaning("strcmp"), meaning("strcasecmp"));
        assert_ne!(meaning("strcmp"), meaning("strspn"));
        assert_ne!(meaning("strchr"), meaning("memset"));
        assert_eq!(meaning("__builtin___memcpy_chk"), Some(Meaning::Target));
        assert_eq!(meaning("qsort"), None);
    }

    #[test]
    fn only_functions_of_the_table_have_a_meaning() {
        for name in ["strcmp", "strspn", "strpbrk", "memmove", "strxfrm", "bcmp"] {
            assert!(crate::is_known(name) && meaning(name).is_some(), "{name}");
        }
    }
}
