//! C as text: tokens, comments, line splices and directives.
//!
//! This is the only place that knows where a token of C begins and ends. Nothing is known here of types or of macros.
//! A text need not be a whole file, and any bytes are a text.
//!
//! # Invariants
//! * A line splice (a backslash at the end of a line) may stand anywhere, also inside of a token. It changes no token.
//! * Signs are read as the compiler reads them: the longest one first.
//! * Trigraphs and raw strings are not known.

mod brackets;
mod directive;
mod layout;
mod token;
mod words;

pub use brackets::{arguments, is_balanced, sign_between};
pub use directive::{
    Directive, LineMark, Piece, branches, conditional_groups, directives, is_balanced_in_branches,
    lasting_directives, line_marks, pieces, without_open_conditionals,
};
pub use layout::{on_one_line, statements, without_comments};
pub use token::{Kind, Token, Tokens, comment_end, skip_blank, step, tokens, without_splices};
pub use words::{
    first_word, is_name, is_word, is_word_char, is_word_start, is_words, last_word, places_of,
    runs, words, words_with_places,
};
