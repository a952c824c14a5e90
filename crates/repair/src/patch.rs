//! A patch in the report of a repair.

use std::path::PathBuf;

use patchwright_text::Edit;

/// A plausible patch that has been verified.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// The line on which the changed location begins.
    pub line: u32,
    /// The function whose body is changed; empty if the change lies outside of bodies.
    pub function: String,
    /// The schema, as JSON has it: `EXPRESSION`, `two_places`.
    pub schema: &'static str,
    /// The name of the kind of change, of those that `patchwright kinds` lists.
    pub kind: Option<String>,
    /// Its cost.
    pub cost: u32,
    /// A unified diff that `patch -p1` and `git apply` take.
    pub diff: Vec<u8>,
    /// The same as edits of the file, sorted.
    pub edits: Vec<Edit>,
    /// The number of its test-equivalence class among the plausible ones, from 1.
    pub class: usize,
    /// Number of candidates in the class, of its cost.
    pub class_size: usize,
    /// It is the first of its class.
    pub representative: bool,
    /// The compiler makes other code of it than of every patch before it: if they are of one class, they are equal on
    /// every test, but hardly equivalent. Of one that is not the first of its class this is said only where one before it is of its class.
    pub code_differs: bool,
    /// What the compiler's sanitizers say against it: it passes the tests, but not for sure.
    pub undefined: Option<String>,
    /// With `all`: of the first candidates of the class, itself included, how many are programs of their own, by the code that the
    /// compiler makes of them. 0 where that is not known.
    pub distinct: usize,
    /// What somebody calls it who has proposed it, too ([`crate::proposer`]).
    pub proposal: Option<String>,
}

impl Patch {
    /// Returns the schema as reports for people write it: `TWO PLACES` for `two_places`.
    pub fn schema_in_words(&self) -> String {
        self.schema.replace('_', " ").to_uppercase()
    }
}
