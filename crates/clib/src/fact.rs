//! The facts of which the table is made: each says one thing about a function.

/// The number of an argument, from 0.
pub type Argument = usize;

/// A number of bytes, as arguments give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The value of an argument.
    Of(Argument),
    /// The product of two arguments.
    Product(Argument, Argument),
}

/// Which bytes behind a pointer are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Some of the object.
    Some,
    /// A string to its end.
    Text,
    /// A string to its end, or as far as the argument says.
    TextOf(Argument),
    /// All of so many bytes.
    Exactly(Size),
    /// So many bytes, or fewer of them.
    AtMost(Size),
    /// As many as the string in the argument has, its end included.
    CopyOf(Argument),
    /// The same, behind the string that is there.
    CopyBehind(Argument),
}

/// The contents of memory to which a returned pointer leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing was written.
    Unwritten,
    /// Zeros.
    Zeros,
    /// What the function wrote.
    Written,
}

/// One fact about a function of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Reads what an argument points to.
    Read(Argument, Extent),
    /// Writes what an argument points to; unless the extent is exact, bytes may keep what they hold.
    Write(Argument, Extent),
    /// Reads the objects that this argument and all further ones point to.
    ReadFrom(Argument),
    /// Writes the objects that this argument and all further ones point to.
    WriteFrom(Argument),
    /// Copies pointers from the objects of the second argument to those of the first.
    CopyPointers(Argument, Argument),
    /// Looks the argument up in the tables of `<ctype.h>`: only characters and `EOF` have an entry.
    Classifies(Argument),
    /// The value may be the argument, or a pointer into what it points to.
    Gives(Argument),
    /// The value is the address of a new object, of a size if that is known.
    GivesNew(Content, Option<Size>),
    /// The value may be an address of memory of the library.
    GivesLibrary,
    /// The value may be a stream that is no standard one.
    GivesStream,
    /// The value is the address of `errno`.
    GivesErrno,
    /// Stores the address of a new object where the argument points to.
    StoresNew(Argument),
    /// Stores the second argument, or a pointer into what it points to, where the first points to.
    Stores(Argument, Argument),
    /// Stores addresses of memory of the library where the argument points to.
    StoresLibrary(Argument),
    /// Takes something from the input streams: what comes next depends on it.
    Input,
    /// Writes to the stream in an argument; to a standard one is no effect that later ones see.
    Output(Argument),
    /// Writes to a standard stream, or to a descriptor.
    Prints,
    /// Reads and changes what the library keeps between calls.
    State,
    /// Reads what the library keeps between calls.
    ReadsState,
    /// May set `errno`.
    Errno,
    /// Calls the function in an argument, with the addresses that these arguments hold; there may be none of those.
    Calls(Argument, [Option<Argument>; 2]),
    /// Reads what the `va_list` in an argument leads to.
    ReadsList(Argument),
    /// Writes what the `va_list` in an argument leads to.
    WritesList(Argument),
    /// The value differs between runs.
    Varies,
    /// Does not return, or not always.
    Exits,
    /// Never returns.
    NeverReturns,
    /// Ends the process without what `atexit` has noted.
    LeavesAtOnce,
    /// Changes more than the program: files, processes, the machine.
    System,
    /// Changes what later calculations and conversions mean: the direction of rounding, the locale.
    Environment,
    /// What the function does beyond this is not known.
    Unknown,
}

impl Fact {
    /// The fact that a word of the table means. A list of parameters is none.
    pub(crate) fn read(word: &str) -> Option<Fact> {
        let fixed = match word {
            "in" => Some(Fact::Input),
            "st" => Some(Fact::State),
            "rs" => Some(Fact::ReadsState),
            "e" => Some(Fact::Errno),
            "exit" => Some(Fact::Exits),
            "noreturn" => Some(Fact::NeverReturns),
            "raw" => Some(Fact::LeavesAtOnce),
            "sys" => Some(Fact::System),
            "env" => Some(Fact::Environment),
            "prints" => Some(Fact::Prints),
            "varies" => Some(Fact::Varies),
            "?" => Some(Fact::Unknown),
            "=lib" => Some(Fact::GivesLibrary),
            "=stream" => Some(Fact::GivesStream),
            "=errno" => Some(Fact::GivesErrno),
            _ => None,
        };
        if fixed.is_some() {
            return fixed;
        }
        // Longer beginnings first: `rl0` is none of `r`.
        const BEGINNINGS: &[&str] = &[
            "=new", "=zero", "=copy", "call", "new", "out", "lib", "r*", "w*", "rl", "wl", "=",
            "c", "k", "r", "s", "w",
        ];
        let kind = BEGINNINGS.iter().find(|kind| word.starts_with(**kind))?;
        let (digits, extent) = match word[kind.len()..].split_once(':') {
            Some((digits, extent)) => (digits, Some(extent)),
            None => (&word[kind.len()..], None),
        };
        let first = || argument(digits, 0);
        let second = || argument(digits, 1);
        Some(match *kind {
            "=new" => Fact::GivesNew(Content::Unwritten, size(extent)?),
            "=zero" => Fact::GivesNew(Content::Zeros, size(extent)?),
            "=copy" => Fact::GivesNew(Content::Written, size(extent)?),
            "call" => {
                let given = extent?;
                Fact::Calls(first()?, [argument(given, 0), argument(given, 1)])
            }
            "new" => Fact::StoresNew(first()?),
            "out" => Fact::Output(first()?),
            "lib" => Fact::StoresLibrary(first()?),
            "r*" => Fact::ReadFrom(first()?),
            "w*" => Fact::WriteFrom(first()?),
            "rl" => Fact::ReadsList(first()?),
            "wl" => Fact::WritesList(first()?),
            "=" => Fact::Gives(first()?),
            "c" => Fact::CopyPointers(first()?, second()?),
            "k" => Fact::Classifies(first()?),
            "s" => Fact::Stores(first()?, second()?),
            "r" => Fact::Read(first()?, Extent::read(extent)?),
            _ => Fact::Write(first()?, Extent::read(extent)?),
        })
    }
}

impl Extent {
    fn read(text: Option<&str>) -> Option<Extent> {
        let Some(text) = text else {
            return Some(Extent::Some);
        };
        Some(if text == "t" {
            Extent::Text
        } else if let Some(most) = text.strip_prefix('t') {
            Extent::TextOf(argument(most, 0)?)
        } else if let Some(of) = text.strip_prefix("+s") {
            Extent::CopyBehind(argument(of, 0)?)
        } else if let Some(of) = text.strip_prefix('s') {
            Extent::CopyOf(argument(of, 0)?)
        } else if let Some(most) = text.strip_prefix('<') {
            Extent::AtMost(Size::read(most)?)
        } else {
            Extent::Exactly(Size::read(text)?)
        })
    }
}

impl Size {
    fn read(text: &str) -> Option<Size> {
        Some(match text.split_once('*') {
            Some((a, b)) => Size::Product(argument(a, 0)?, argument(b, 0)?),
            None => Size::Of(argument(text, 0)?),
        })
    }

    /// The argument that counts: of a product the number of members.
    pub(crate) fn counting(self) -> Argument {
        match self {
            Size::Of(argument) | Size::Product(_, argument) => argument,
        }
    }
}

/// The size of what is given: none has to be known.
fn size(text: Option<&str>) -> Option<Option<Size>> {
    match text {
        Some(text) => Size::read(text).map(Some),
        None => Some(None),
    }
}

fn argument(digits: &str, position: usize) -> Option<Argument> {
    let digit = digits.chars().nth(position)?.to_digit(10)?;
    Some(digit as usize)
}
