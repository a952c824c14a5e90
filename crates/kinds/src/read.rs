//! Reads lists of kinds.
//!
//! ```text
//! kind exchanged-subscripts: swap, cost 2
//!   about Two indices of an element are exchanged.
//!   find $a[$i][$j]
//!   where $i differs from $j
//!   replace $a[$j][$i]
//!   example
//!     int at(int g[3][3], int r, int c) { return g[r][c]; }
//!   becomes
//!     int at(int g[3][3], int r, int c) { return g[c][r]; }
//! ```
//! A kind begins at the left margin, its clauses are indented by two blanks, and what goes on for several lines by four or more. `#` at the beginning of a line is a
//! comment.

use std::fmt;

use crate::{
    c_text::{Wrong, pattern},
    clause::{Condition, Domain, Each, condition, each},
    syntax::{Class, Node, Operator, Pattern, Root},
};

/// One kind of change.
#[derive(Clone, Debug)]
pub struct Kind {
    pub(crate) name: String,
    pub(crate) schema: String,
    pub(crate) cost: u32,
    pub(crate) about: String,
    pub(crate) find: Vec<Pattern>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) each: Vec<Each>,
    pub(crate) actions: Vec<Action>,
    pub(crate) together: bool,
    pub(crate) on_request: bool,
    pub(crate) most: usize,
    pub(crate) examples: Vec<Example>,
    pub(crate) text: String,
}

/// What a kind does where its pattern is found.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Replace(Pattern),
    /// What fills a hole becomes something else.
    Change(String, Pattern),
    InsertBefore(Pattern),
    InsertAfter(Pattern),
    Delete,
}

impl Action {
    /// Returns the pattern of the new text; `None` for a deletion.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        match self {
            Action::Replace(pattern)
            | Action::Change(_, pattern)
            | Action::InsertBefore(pattern)
            | Action::InsertAfter(pattern) => Some(pattern),
            Action::Delete => None,
        }
    }
}

/// A source before a change and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
}

impl Kind {
    /// Returns the kind's name, in kebab case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the schema under which the kind's changes are reported, in lower case.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns the cost of each of the kind's changes, in the unit of candidates' costs.
    pub fn cost(&self) -> u32 {
        self.cost
    }

    /// Whether only `--schemas all` tries the kind, because few of its changes are real fixes.
    pub fn is_on_request(&self) -> bool {
        self.on_request
    }

    /// Returns the sentence that describes the kind in lists.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Returns the kind's examples, each a source before and after the change. Tests try them.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Returns the kind's definition as it stands in its file.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Why a list of kinds cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    /// The name of the file.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}; {}",
            self.file, self.line, self.column, self.message, self.remedy
        )
    }
}

/// The names of the schemas that kinds can belong to.
pub const SCHEMAS: [&str; 13] = [
    "expression",
    "refinement",
    "guard",
    "assignment",
    "initialization",
    "function",
    "swap",
    "format",
    "operator",
    "break",
    "loop",
    "move",
    "exit",
];

/// The largest cost of a kind.
const MOST_COST: u32 = 20;

/// The largest number of changes of one kind that are tried in one function, unless the kind sets it.
const MOST_OF_FUNCTION: usize = 40;

/// A file with more bytes is no list of kinds.
const LONGEST_FILE: usize = 1 << 20;

/// Reads a list of kinds; `file` is what errors call it.
///
/// # Errors
/// If the text is no list of kinds.
pub fn read(text: &str, file: &str) -> Result<Vec<Kind>, ReadError> {
    let mut reader = Reader {
        file,
        kinds: Vec::new(),
    };
    if text.len() > LONGEST_FILE {
        return Err(reader.error(1, 1, "the file is too long", "split it into several files"));
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_blank = |line: &str| line.trim().is_empty() || line.starts_with('#');
    let mut at = 0;
    while at < lines.len() {
        if is_blank(lines[at]) {
            at += 1;
            continue;
        }
        let begins = |line: &&str| !line.starts_with(char::is_whitespace) && !is_blank(line);
        let rest = &lines[at + 1..];
        let end = rest.iter().position(begins).unwrap_or(rest.len());
        reader.kind(&lines[at..at + 1 + end], at + 1)?;
        at += 1 + end;
    }
    Ok(reader.kinds)
}

struct Reader<'t> {
    file: &'t str,
    kinds: Vec<Kind>,
}

/// The text of a clause with all its lines, and where each of them begins: the line, the column, and the byte of the text.
struct Clause<'t> {
    keyword: &'t str,
    text: String,
    places: Vec<(usize, usize, usize)>,
}

impl Clause<'_> {
    /// Line and column of a byte of the text.
    fn place(&self, at: usize) -> (usize, usize) {
        let own = self.places.iter().rev().find(|(_, _, byte)| *byte <= at);
        let (line, column, byte) = own.copied().unwrap_or((1, 1, 0));
        let before = self.text.get(byte..at).unwrap_or_default();
        (line, column + before.chars().count())
    }
}

impl Reader<'_> {
    fn error(
        &self,
        line: usize,
        column: usize,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ReadError {
        ReadError {
            file: self.file.to_owned(),
            line,
            column,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    fn wrong(&self, clause: &Clause<'_>, wrong: Wrong) -> ReadError {
        let (line, column) = clause.place(wrong.at);
        let remedy = match clause.keyword {
            "where" => {
                "write a condition such as `$x is pure`, `$x differs from $y`, or `function has PATTERN`"
            }
            "each" => "write a list such as `$v of variables with the type of $x`",
            _ => "write C with holes such as `$x`, and `$S;` for a statement",
        };
        self.error(line, column, wrong.message, remedy)
    }

    fn clauses<'t>(&self, lines: &[&'t str], first: usize) -> Result<Vec<Clause<'t>>, ReadError> {
        let mut found: Vec<Clause<'t>> = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let place = first + number;
            if line.starts_with('#') {
                continue;
            }
            let own = line.trim_start();
            let indent = line.len() - own.len();
            let is_more = line.trim().is_empty() || indent >= 4;
            match (is_more, found.last_mut()) {
                (true, Some(clause)) => {
                    let kept = line.get(4..).unwrap_or_default().trim_end();
                    clause.text.push('\n');
                    clause.places.push((place, 5, clause.text.len()));
                    clause.text.push_str(kept);
                }
                (true, None) if line.trim().is_empty() => {}
                (true, None) => {
                    return Err(self.error(
                        place,
                        1,
                        "this line continues nothing",
                        "indent the clauses of a kind by two blanks",
                    ));
                }
                (false, _) => {
                    let end = own.find(char::is_whitespace).unwrap_or(own.len());
                    let rest = own[end..].trim();
                    let column = own[..own.len() - own[end..].trim_start().len()]
                        .chars()
                        .count();
                    found.push(Clause {
                        keyword: &own[..end],
                        text: rest.to_owned(),
                        places: vec![(place, indent + column + 1, 0)],
                    });
                }
            }
        }
        for clause in &mut found {
            let kept = clause.text.trim_end().len();
            clause.text.truncate(kept);
        }
        Ok(found)
    }

    fn kind(&mut self, lines: &[&str], first: usize) -> Result<(), ReadError> {
        let head = lines[0];
        let shape = "write `kind NAME: SCHEMA, cost NUMBER`";
        let rest = head
            .strip_prefix("kind ")
            .ok_or_else(|| self.error(first, 1, "a kind begins with `kind`", shape))?;
        let (name, rest) = rest
            .split_once(':')
            .ok_or_else(|| self.error(first, 6, "the schema is missing", shape))?;
        let name = name.trim();
        let is_kebab = name.split('-').all(|part| {
            let mut bytes = part.bytes();
            !part.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        });
        if !is_kebab {
            return Err(self.error(
                first,
                6,
                format!("`{name}` is no name of a kind"),
                "write small letters, digits and single hyphens",
            ));
        }
        if self.kinds.iter().any(|kind| kind.name == name) {
            return Err(self.error(
                first,
                6,
                format!("there are two kinds `{name}`"),
                "give each a name of its own",
            ));
        }
        let (schema, cost) = rest
            .split_once(',')
            .ok_or_else(|| self.error(first, 1, "the cost is missing", shape))?;
        let schema = schema.trim();
        if !SCHEMAS.contains(&schema) {
            return Err(self.error(
                first,
                1,
                format!("`{schema}` is no schema"),
                format!("choose one of {}", SCHEMAS.join(", ")),
            ));
        }
        let number = cost.trim().strip_prefix("cost").map(str::trim);
        let cost: u32 = number
            .and_then(|number| number.parse().ok())
            .filter(|cost| (1..=MOST_COST).contains(cost))
            .ok_or_else(|| {
                let remedy = format!("write `cost` and a number from 1 to {MOST_COST}");
                self.error(first, 1, format!("`{}` is no cost", cost.trim()), remedy)
            })?;
        let clauses = self.clauses(&lines[1..], first + 1)?;
        let mut text = String::new();
        for line in lines.iter().filter(|line| !line.starts_with('#')) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let mut kind = Kind {
            name: name.to_owned(),
            schema: schema.to_owned(),
            cost,
            about: String::new(),
            find: Vec::new(),
            conditions: Vec::new(),
            each: Vec::new(),
            actions: Vec::new(),
            together: false,
            on_request: false,
            most: MOST_OF_FUNCTION,
            examples: Vec::new(),
            text: text.trim_end().to_owned(),
        };
        for clause in &clauses {
            self.clause(&mut kind, clause)?;
        }
        self.check(&kind, first)?;
        self.kinds.push(kind);
        Ok(())
    }

    fn clause(&self, kind: &mut Kind, clause: &Clause<'_>) -> Result<(), ReadError> {
        let (line, column) = clause.place(0);
        let read = |skipped: usize| {
            let text = &clause.text[skipped..];
            let blanks = text.len() - text.trim_start().len();
            pattern(text.trim_start()).map_err(|error| {
                let at = skipped + blanks + error.at;
                self.wrong(clause, Wrong { at, ..error })
            })
        };
        match clause.keyword {
            "about" => kind.about = clause.text.replace('\n', " "),
            "find" => kind.find.push(read(0)?),
            "where" => {
                let found = condition(&clause.text).map_err(|error| self.wrong(clause, error))?;
                kind.conditions.push(found);
            }
            "each" => {
                let found = each(&clause.text).map_err(|error| self.wrong(clause, error))?;
                kind.each.push(found);
            }
            "replace" => kind.actions.push(Action::Replace(read(0)?)),
            "insert" => {
                let action: fn(Pattern) -> Action = match clause.text.split_whitespace().next() {
                    Some("before") => Action::InsertBefore,
                    Some("after") => Action::InsertAfter,
                    _ => {
                        return Err(self.error(
                            line,
                            column,
                            "it is not said where to insert",
                            "write `insert before` or `insert after`",
                        ));
                    }
                };
                let skipped = clause.text.find(char::is_whitespace);
                kind.actions
                    .push(action(read(skipped.unwrap_or(clause.text.len()))?));
            }
            "change" => {
                let (hole, rest) = clause
                    .text
                    .split_once(char::is_whitespace)
                    .unwrap_or_default();
                let name = hole.strip_prefix('$').filter(|name| !name.is_empty());
                let text = rest.trim_start().strip_prefix("to ");
                let (Some(name), Some(text)) = (name, text) else {
                    return Err(self.error(
                        line,
                        column,
                        "it is not said what becomes what",
                        "write `change $x to PATTERN`",
                    ));
                };
                let pattern = read(clause.text.len() - text.len())?;
                kind.actions.push(Action::Change(name.to_owned(), pattern));
            }
            "delete" => kind.actions.push(Action::Delete),
            "together" => kind.together = true,
            "on" if clause.text == "request" => kind.on_request = true,
            "at" => {
                let number = clause.text.strip_prefix("most").map(str::trim);
                kind.most = number.and_then(|n| n.parse().ok()).ok_or_else(|| {
                    self.error(line, column, "no number is told", "write `at most 4`")
                })?;
            }
            "example" => kind.examples.push(Example {
                before: clause.text.trim_start_matches('\n').to_owned(),
                after: String::new(),
            }),
            "becomes" => match kind.examples.last_mut() {
                Some(example) if example.after.is_empty() => {
                    clause
                        .text
                        .trim_start_matches('\n')
                        .clone_into(&mut example.after);
                }
                _ => {
                    return Err(self.error(
                        line,
                        column,
                        "`becomes` stands behind no example",
                        "write `example` with a source before it",
                    ));
                }
            },
            other => {
                return Err(self.error(
                    line,
                    3,
                    format!("`{other}` is no clause of a kind"),
                    "write about, find, where, each, replace, change, insert, delete, together, at most, on request, example, or becomes",
                ));
            }
        }
        Ok(())
    }

    /// What a kind needs besides clauses that can be read.
    fn check(&self, kind: &Kind, line: usize) -> Result<(), ReadError> {
        let missing = |what: &str, remedy: &str| {
            Err(self.error(line, 1, format!("`{}` has no {what}", kind.name), remedy))
        };
        if kind.about.is_empty() {
            return missing("sentence for people", "add `about SENTENCE`");
        }
        if kind.find.is_empty() {
            return missing("pattern", "add `find PATTERN`");
        }
        if kind.actions.is_empty() {
            return missing(
                "change",
                "add `replace PATTERN`, `insert before PATTERN`, `insert after PATTERN`, or `delete`",
            );
        }
        if kind.examples.is_empty() || kind.examples.iter().any(|one| one.after.is_empty()) {
            return missing("example", "add `example` and `becomes`, each with a source");
        }
        self.check_shapes(kind, line)?;
        for find in &kind.find {
            let mut bound: Vec<&str> = find.holes();
            for each in &kind.each {
                let domains = each.domains.iter();
                let needed = domains.flat_map(|domain| -> Vec<&str> {
                    match domain {
                        Domain::Copies { of: hole }
                        | Domain::Variables { like: hole }
                        | Domain::Functions { like: hole }
                        | Domain::Members { beside: hole }
                        | Domain::Lengths { index: hole }
                        | Domain::Neighbours { of: hole }
                        | Domain::Others { of: hole }
                        | Domain::Elements { of: hole } => vec![hole],
                        Domain::Parts { .. }
                        | Domain::Statements { .. }
                        | Domain::Numbers
                        | Domain::Exits
                        | Domain::Jumps => Vec::new(),
                    }
                });
                let needed: Vec<&str> = needed.collect();
                self.check_bound(&bound, &needed, line)?;
                bound.push(&each.hole);
            }
            for condition in &kind.conditions {
                let needed: Vec<&str> = match condition {
                    Condition::Is { hole, .. } if hole.is_empty() => Vec::new(),
                    Condition::Is { hole, .. } | Condition::Compared { hole, .. } => vec![hole],
                    Condition::Equal { one, other, .. }
                    | Condition::SameType { one, other }
                    | Condition::Before { one, other } => {
                        vec![one, other]
                    }
                    Condition::Mentions { whole, part, .. } => vec![whole, part],
                    Condition::Has { .. } | Condition::Declared(_) => Vec::new(),
                };
                self.check_bound(&bound, &needed, line)?;
            }
            for action in &kind.actions {
                if let Action::Change(hole, _) = action {
                    self.check_bound(&find.holes(), &[hole], line)?;
                }
                let needed = action.pattern().map(Pattern::holes).unwrap_or_default();
                self.check_bound(&bound, &needed, line)?;
            }
        }
        Ok(())
    }

    fn check_bound(&self, bound: &[&str], needed: &[&str], line: usize) -> Result<(), ReadError> {
        match needed.iter().find(|hole| !bound.contains(hole)) {
            None => Ok(()),
            Some(hole) => Err(self.error(
                line,
                1,
                format!("nothing fills the hole `{hole}`"),
                "name it in `find` or in an `each` that comes before",
            )),
        }
    }

    /// An expression becomes an expression, and what is inserted or deleted are statements.
    fn check_shapes(&self, kind: &Kind, line: usize) -> Result<(), ReadError> {
        let is_expression = |pattern: &Pattern| matches!(pattern.root, Root::Expression(_));
        for find in &kind.find {
            for action in &kind.actions {
                let fits = match action {
                    Action::Replace(new) => is_expression(find) == is_expression(new),
                    Action::Change(_, new) => is_expression(new),
                    Action::InsertBefore(new) | Action::InsertAfter(new) => !is_expression(new),
                    Action::Delete => true,
                };
                if !fits {
                    return Err(self.error(
                        line,
                        1,
                        "an expression and statements cannot stand in one another's place",
                        "end both texts with a semicolon or a brace, or none",
                    ));
                }
            }
        }
        let chosen = |pattern: &Pattern| {
            pattern.nodes.iter().any(|node| {
                matches!(
                    node,
                    Node::Binary(Operator::Any(_, Class::Chosen), ..)
                        | Node::Assign(Some(Operator::Any(_, Class::Chosen)), ..)
                )
            })
        };
        if kind.find.iter().any(chosen) {
            return Err(self.error(
                line,
                1,
                "`<new>` stands in a pattern that is looked for",
                "write `<cmp>` there, and `each <new> of others of <cmp>`",
            ));
        }
        Ok(())
    }
}
