//! What functions of the C library do with the memory that they are given.

/// What a call does with what an argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// It writes so many bytes of it: the value of the argument with this number.
    Writes(usize),
    /// It may write to it.
    MayWrite,
    /// It reads so many bytes of it.
    Reads(u64),
    /// It reads some of it.
    ReadsSome,
    /// Nothing.
    Nothing,
}

/// What a call gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// New memory, in which nothing is written.
    Fresh,
    /// Anything else.
    Other,
}

/// What the function called `name` does with what its argument with this number points to; `None` if it is not known by name.
pub(crate) fn does(name: &str, argument: usize) -> Option<Does> {
    let name = plain(name);
    if name.contains("scanf") {
        // What is read from, and the format.
        let before = match name.trim_start_matches('v') {
            "scanf" => 1,
            _ => 2,
        };
        return Some(match argument < before {
            true => Does::ReadsSome,
            false => Does::MayWrite,
        });
    }
    if name.ends_with("printf") && name != "asprintf" && name != "vasprintf" {
        let to = matches!(name, "sprintf" | "snprintf" | "vsprintf" | "vsnprintf");
        return Some(match argument {
            0 if to => Does::MayWrite,
            _ => Does::ReadsSome,
        });
    }
    Some(match (name, argument) {
        ("memset", 0) => Does::Writes(2),
        ("bzero", 0) => Does::Writes(1),
        ("memcpy" | "memmove", 0) => Does::Writes(2),
        ("memcpy" | "memmove", 1) => Does::ReadsSome,
        ("strlen" | "atoi" | "atol" | "atof" | "puts", 0) => Does::Reads(1),
        ("strcat" | "strncat", 0) => Does::Reads(1),
        ("free", 0) => Does::Nothing,
        ("va_end", 0) => Does::Nothing,
        _ => return None,
    })
}

/// What the function called `name` gives.
pub(crate) fn gives(name: &str) -> Gives {
    match plain(name) {
        "malloc" | "aligned_alloc" | "memalign" | "valloc" | "alloca" => Gives::Fresh,
        _ => Gives::Other,
    }
}

/// The name without what compilers and libraries put round it.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let checked = name
        .strip_prefix("__")
        .and_then(|name| name.strip_suffix("_chk"));
    let name = checked.unwrap_or(name);
    name.strip_prefix("__isoc99_").unwrap_or(name)
}
