//! The options of the encoding.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_ir::{Type, Undefined};

use crate::{
    inputs::{self, Before, Way},
    naming,
};

/// A group of undefined behaviour that is looked for beside failed assertions (`--check`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// Accesses out of bounds, of dead objects, of constants; wrong calls of the library.
    Bounds,
    /// Accesses through null pointers.
    Null,
    /// Division by zero, and of the least number by -1.
    Div,
    /// Overflow of signed integers.
    Overflow,
    /// Shifts by too much, or out of the type.
    Shift,
    /// Use of what has no value.
    Uninitialized,
    /// Floats that do not fit the integer that they become.
    Conversion,
    /// Memory that is not freed when the program ends.
    Leak,
    /// Loops that never end.
    Termination,
}

impl Check {
    /// All checks, in the order of the command line's help.
    pub const ALL: [Check; 9] = [
        Check::Bounds,
        Check::Null,
        Check::Div,
        Check::Overflow,
        Check::Shift,
        Check::Uninitialized,
        Check::Conversion,
        Check::Leak,
        Check::Termination,
    ];

    /// Returns the checks that are on by default: errors that end or corrupt a program.
    pub fn usual() -> BTreeSet<Check> {
        BTreeSet::from([Check::Bounds, Check::Null, Check::Div])
    }

    /// Returns the name of the check on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Bounds => "bounds",
            Check::Null => "null",
            Check::Div => "div",
            Check::Overflow => "overflow",
            Check::Shift => "shift",
            Check::Uninitialized => "uninitialized",
            Check::Conversion => "conversion",
            Check::Leak => "leak",
            Check::Termination => "termination",
        }
    }

    /// Returns the check that looks for this kind of undefined behaviour.
    pub const fn of(kind: Undefined) -> Check {
        match kind {
            Undefined::NullPointer => Check::Null,
            Undefined::DivisionByZero => Check::Div,
            Undefined::SignedOverflow => Check::Overflow,
            Undefined::BadShift => Check::Shift,
            Undefined::UninitializedRead | Undefined::MissingReturn => Check::Uninitialized,
            Undefined::BadConversion => Check::Conversion,
            Undefined::OutOfBounds
            | Undefined::UseAfterFree
            | Undefined::UseAfterScope
            | Undefined::WildPointer
            | Undefined::WriteToConstant
            | Undefined::DoubleFree
            | Undefined::InvalidFree
            | Undefined::BadDifference
            | Undefined::BadPointerArithmetic
            | Undefined::BadCall
            | Undefined::BadVariadic
            | Undefined::Unreachable
            | Undefined::BadArgument => Check::Bounds,
        }
    }
}

/// The shape of a parameter, from which an argument is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A number; any value of the type. Pointers in it are null.
    Scalar(Type),
    /// A structure or union: its size, and its members with their offsets.
    Record {
        /// Bytes.
        size: u64,
        /// Offset, name and shape of each member; those of a union overlap, and the first counts.
        members: Vec<(u64, String, Shape)>,
    },
    /// An array.
    Array {
        /// The element.
        element: Box<Shape>,
        /// How many.
        count: u64,
    },
    /// A pointer to the first of `count` fresh objects that follow each other.
    Pointer {
        /// What it points to; `None` where nobody knows what that is: the pointer is null.
        to: Option<Box<Shape>>,
        /// How many.
        count: u64,
        /// It may be null instead.
        nullable: bool,
        /// They are bytes of a text, the last of which is 0.
        text: bool,
        /// The type to which C has to cast it before what it points to has a name: `unsigned char *` for `void *`.
        cast: Option<String>,
    },
    /// A pointer to a function: any that has its type.
    Function {
        /// It may be null instead.
        nullable: bool,
    },
}

impl Shape {
    /// Returns the size in bytes of an object of this shape.
    pub fn size(&self) -> u64 {
        match self {
            Shape::Scalar(ty) => ty.size(),
            Shape::Record { size, .. } => *size,
            Shape::Array { element, count } => element.size() * count,
            Shape::Pointer { .. } | Shape::Function { .. } => 8,
        }
    }

    /// Returns the padding of an object of this shape, as ranges of bytes: first, and behind the
    /// last.
    pub fn gaps(&self) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        self.add_gaps(0, &mut gaps);
        gaps
    }

    fn add_gaps(&self, at: u64, gaps: &mut Vec<(u64, u64)>) {
        match self {
            Shape::Scalar(_) | Shape::Pointer { .. } | Shape::Function { .. } => {}
            Shape::Array { element, count } => {
                for index in 0..*count {
                    element.add_gaps(at + index * element.size(), gaps);
                }
            }
            Shape::Record { size, members } => {
                let overlap = inputs::given_members(members).count() < members.len();
                let mut end = 0;
                for (offset, _, member) in members {
                    if *offset > end {
                        gaps.push((at + end, at + offset));
                    }
                    // Which member a union holds is not known.
                    if !overlap {
                        member.add_gaps(at + offset, gaps);
                    }
                    end = end.max(offset + member.size());
                }
                if *size > end {
                    gaps.push((at + end, at + size));
                }
            }
        }
    }

    /// Returns pointer `name` as a C expression of the type that the shape needs, with a cast if its
    /// declared type is another one.
    pub fn typed(&self, name: &str) -> String {
        match self {
            Shape::Pointer {
                cast: Some(cast), ..
            } => naming::cast(name, cast),
            _ => name.to_owned(),
        }
    }

    /// Returns the depth to which pointers are followed, if deeper ones are taken to be null.
    pub fn cut(&self) -> Option<u32> {
        match self {
            Shape::Scalar(Type::Ptr) => Some(0),
            Shape::Scalar(_) | Shape::Pointer { to: None, .. } | Shape::Function { .. } => None,
            Shape::Record { members, .. } => {
                members.iter().filter_map(|(_, _, shape)| shape.cut()).max()
            }
            Shape::Array { element, .. } => element.cut(),
            Shape::Pointer { to: Some(to), .. } => to.cut().map(|depth| depth + 1),
        }
    }
}

/// A parameter of the encoded function: its name, its shape and what its pointers may point to.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterShape {
    /// Its name.
    pub name: String,
    /// What it is.
    pub shape: Shape,
    /// What else the pointers in it and behind it may lead to, by their names.
    pub ways: Vec<(String, Vec<Way>)>,
    /// What lies before what pointers in it and behind it lead to, by their names, where others lead into their arrays.
    pub before: Vec<(String, Before)>,
    /// Objects to a part of which it is taken not to lead, though C would let it.
    pub outside: Vec<(String, Vec<String>)>,
}

impl ParameterShape {
    /// Returns what else the pointer called `pointer` may point to.
    pub fn ways(&self, pointer: &str) -> &[Way] {
        let found = self.ways.iter().find(|(name, _)| name == pointer);
        found.map_or(&[], |(_, ways)| ways)
    }

    /// Returns which elements lie before the one that `pointer` points to. Returns `None` if no other pointer leads into the same
    /// array, because then nothing lies before it.
    pub fn before(&self, pointer: &str) -> Option<&Before> {
        let found = self.before.iter().find(|(name, _)| name == pointer);
        found.map(|(_, before)| before)
    }
}

/// Where the encoded program begins: at `main`, or at a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// `main`, with this many arguments beside the program's name, each of at most `longest` bytes.
    Main {
        /// How many arguments.
        arguments: u32,
        /// Bytes of each, without the zero at the end.
        longest: u32,
    },
    /// This function, with any arguments of these shapes.
    Function {
        /// Its name.
        name: String,
        /// Its parameters in order.
        parameters: Vec<ParameterShape>,
    },
}

/// The choices that make one patched program out of a meta-program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The alternative of each choice that is not the original, counted from 1.
    pub choices: BTreeMap<u32, u32>,
    /// The values of open constants, by their numbers.
    pub constants: BTreeMap<u32, i64>,
}

/// The options of an encoding: bounds, checks and what is assumed.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rounds that a loop is unwound for, where its condition is not decided by constants.
    pub bound: u32,
    /// Rounds of a loop that are followed where its condition is decided by constants; further ones count towards `bound`.
    /// Of a program with choices, as many as it needs without them: an alternative may make a loop endless.
    pub decided_rounds: Option<u64>,
    /// Like `decided_rounds`, for loops that some executions leave early, as by a failing assertion. Each round adds to the
    /// formula, so the number is smaller.
    pub checked_rounds: u64,
    /// Calls of one function within each other.
    pub recursion: u32,
    /// What is looked for.
    pub checks: BTreeSet<Check>,
    /// Globals that have no initial value in the source hold any value at the start.
    pub havoc: bool,
    /// `abort` is a failure, not an end.
    pub abort_fails: bool,
    /// For each number of a choice, how many alternatives it has beside the original.
    pub choices: BTreeMap<u32, u32>,
    /// At most one of the choices is made: on a path that rests on one, all others are the original.
    pub single: bool,
    /// These choices are made and no others, instead of leaving all of them open: one patched program is encoded.
    pub made: Option<Made>,
    /// The value of each statement may be any, where the variable `location.N` holds.
    pub locations: bool,
    /// Instructions that are encoded at most, all unwindings and inlined calls together.
    pub instructions: u64,
    /// Terms that are made at most.
    pub terms: usize,
    /// Bytes of standard input at most.
    pub input: u32,
    /// What tells inputs apart from those of another program in the same terms; inputs of the same
    /// name are the same. Only what is not an input gets it in front of its name.
    pub prefix: String,
    /// What `atoi`, `atol` and `strtol` read from the program's arguments is any number, instead of the one that the
    /// argument's bytes say. Right as long as nothing depends on those bytes; whoever sets it has to look at the inputs
    /// of kind [`InputKind::ArgumentByte`](crate::InputKind::ArgumentByte) on which the result depends.
    pub argument_numbers: bool,
    /// Executions that never leave a loop that does nothing are told apart from those that go on beyond the bound, also where a
    /// state of several variables comes back.
    pub lassos: bool,
    /// Asks a solver whether another round of a loop is possible at all.
    pub lazy: bool,
    /// Calls of these functions are not followed: each gives what the same arguments gave before, whatever that is. That one
    /// is called, and with which arguments, is part of the [`Outcome::output`](crate::Outcome::output), as if it were
    /// printed. Whoever names one knows that it does nothing but calculate.
    pub opaque: BTreeSet<String>,
    /// Set when two versions are compared: the names of the objects that both have. Calls of functions without a body are part of the
    /// output then, and their results and effects are inputs that both versions share.
    pub outside: Option<BTreeSet<String>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            bound: 16,
            decided_rounds: None,
            checked_rounds: 64,
            recursion: 16,
            checks: Check::usual(),
            havoc: false,
            abort_fails: true,
            choices: BTreeMap::new(),
            single: false,
            made: None,
            locations: false,
            instructions: 5_000_000,
            terms: 20_000_000,
            input: 64,
            prefix: String::new(),
            argument_numbers: false,
            lassos: false,
            lazy: true,
            opaque: BTreeSet::new(),
            outside: None,
        }
    }
}
