//! Maps clang's positions to places in the file as the user wrote it.

use std::collections::BTreeMap;

use patchwright_text::Span;
use rustc_hash::FxHashMap;

use patchwright_ctext as lex;

use crate::{
    macros::MacroTable,
    raw::{Location, Node},
    tree::Place,
};

/// Fills in the file of every location of the dump: the compiler prints a file's name only
/// when it differs from the one printed before.
pub(crate) fn resolve_files(node: &mut Node, files: &mut Files) {
    let mut current = files.current;
    visit(node, files, &mut current);
    files.current = current;
}

/// The names of the files of a dump.
#[derive(Default)]
pub(crate) struct Files {
    names: Vec<String>,
    index: FxHashMap<String, u32>,
    /// File and line of the position that was printed last.
    current: (Option<u32>, u32),
    /// How many `offsetof` there are.
    pub(crate) offsets: u32,
}

impl Files {
    /// Returns the only file with such a name; `None` if there is none, or the compiler reached it by several names.
    pub(crate) fn only(&self, is_wanted: &dyn Fn(&str) -> bool) -> Option<u32> {
        let names = self.names.iter().zip(0..);
        let mut wanted = names.filter(|(name, _)| is_wanted(name));
        let (_, id) = wanted.next()?;
        wanted.next().is_none().then_some(id)
    }

    /// All of them, in order.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the path of a file as clang prints it.
    pub(crate) fn name(&self, id: u32) -> &str {
        &self.names[id as usize]
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.index.get(name) {
            return id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), id);
        id
    }
}

fn visit(node: &mut Node, files: &mut Files, current: &mut (Option<u32>, u32)) {
    if node.kind == "OffsetOfExpr" {
        node.offset_of = Some(files.offsets);
        files.offsets += 1;
    }
    let mut set = |location: &mut Location| {
        let mut next = |offset: Option<u32>, file: &mut Option<String>, line: &mut u32| {
            offset?;
            if let Some(name) = file.take() {
                current.0 = Some(files.intern(&name));
            }
            if *line == 0 {
                *line = current.1;
            }
            current.1 = *line;
            current.0
        };
        for bare in [&mut location.spelling, &mut location.expansion]
            .into_iter()
            .flatten()
        {
            bare.file_id = next(bare.offset, &mut bare.file, &mut bare.line);
        }
        location.file_id = next(location.offset, &mut location.file, &mut location.line);
    };
    if let Some(location) = &mut node.loc {
        set(location);
    }
    if let Some(range) = &mut node.range {
        set(&mut range.begin);
        set(&mut range.end);
    }
    for child in node.array_filler.iter_mut().chain(&mut node.inner) {
        visit(child, files, current);
    }
}

/// A token of the tree, mapped to the main file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// Written in the file, outside of macros.
    Plain(Span),
    /// Written in the file, in an argument of the invocation with this number.
    Argument { token: Span, invocation: u32 },
    /// From the body of the invocation with this number; where it is spelled.
    Body {
        spelled: (u32, u32),
        invocation: u32,
    },
    /// In another file.
    Elsewhere,
    /// The compiler gave no position.
    Nowhere,
}

impl Point {
    fn invocation(self) -> Option<u32> {
        match self {
            Point::Argument { invocation, .. } | Point::Body { invocation, .. } => Some(invocation),
            _ => None,
        }
    }
}

/// A macro invocation that is written in the main file.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub span: Span,
    pub arguments: Vec<Span>,
    /// An edit inside an argument also changes a string, or a pasted name.
    pub stringifies: bool,
    /// What its expansion does may depend on the types of its arguments.
    pub looks_at_types: bool,
    pub expression_like: bool,
    pub balanced: bool,
    /// Its extent is known.
    pub certain: bool,
}

/// How often an invocation's arguments are used in what it expands to.
#[derive(Default)]
struct Copies {
    /// Of tokens that are nodes without others in them, by where they begin.
    leaves: BTreeMap<u32, usize>,
    /// Of nodes, by where they begin and end.
    nodes: FxHashMap<(u32, u32), usize>,
}

/// Maps positions of one function; remembers which nodes touch which invocation.
pub(crate) struct Locator<'a> {
    source: &'a [u8],
    main_file: u32,
    macros: &'a MacroTable,
    invocations: Vec<Invocation>,
    by_offset: FxHashMap<u32, u32>,
    /// Nodes that touch each invocation.
    touching: Vec<Vec<u32>>,
    /// For each invocation, how often its arguments are used; see [`Self::count_copies`].
    copies: Vec<Copies>,
    nodes: Vec<Extent>,
    /// Tokens of arguments that macros use as names, not as expressions.
    names: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    begin: Point,
    end: Point,
    /// One more than the last node below this one, in order of entering.
    subtree_end: u32,
}

impl Extent {
    /// The text of the arguments of one invocation that it begins and ends in, and that invocation.
    fn in_argument(&self) -> Option<(Span, u32)> {
        let (
            Point::Argument {
                token: first,
                invocation: a,
            },
            Point::Argument {
                token: last,
                invocation: b,
            },
        ) = (self.begin, self.end)
        else {
            return None;
        };
        (a == b && first.start <= last.start).then(|| (Span::new(first.start, last.end), a))
    }
}

impl<'a> Locator<'a> {
    /// Makes the locator of a source whose main file has the number `main_file`.
    pub(crate) fn new(source: &'a [u8], main_file: u32, macros: &'a MacroTable) -> Self {
        Locator {
            source,
            main_file,
            macros,
            invocations: Vec::new(),
            by_offset: FxHashMap::default(),
            touching: Vec::new(),
            copies: Vec::new(),
            nodes: Vec::new(),
            names: Vec::new(),
        }
    }

    fn invocation_at(&mut self, offset: u32, length: u32) -> u32 {
        if let Some(&id) = self.by_offset.get(&offset) {
            return id;
        }
        let start = offset as usize;
        let name_end = (start + length as usize).min(self.source.len());
        let name = String::from_utf8_lossy(&self.source[start..name_end]).into_owned();
        let mut end = name_end;
        let mut arguments = Vec::new();
        let mut certain = true;
        match self.macros.takes_arguments(&name) {
            Some(false) => {}
            Some(true) => {
                let open = lex::skip_blank(self.source, name_end);
                match (self.source.get(open) == Some(&b'('))
                    .then(|| lex::arguments(self.source, open))
                    .flatten()
                {
                    Some((found, after)) => {
                        end = after;
                        arguments = found
                            .into_iter()
                            .map(|(start, end)| Span {
                                start: start as u32,
                                end: end as u32,
                            })
                            .collect();
                    }
                    None => certain = false,
                }
            }
            None => certain = false,
        }
        let next = lex::skip_blank(self.source, end);
        if self.source.get(next) == Some(&b'(') && self.macros.may_take_more(&name) {
            certain = false;
        }
        let id = self.invocations.len() as u32;
        self.invocations.push(Invocation {
            stringifies: self.macros.may_stringify(&name),
            looks_at_types: self.macros.may_look_at_types(&name),
            expression_like: self.macros.is_expression_like(&name),
            balanced: self.macros.is_balanced(&name),
            span: Span {
                start: offset,
                end: end as u32,
            },
            arguments,
            certain,
        });
        self.touching.push(Vec::new());
        self.by_offset.insert(offset, id);
        id
    }

    /// Maps a position to the main file, or to the invocation of a macro.
    pub(crate) fn point(&mut self, location: &Location) -> Point {
        if let (Some(spelling), Some(expansion)) = (&location.spelling, &location.expansion) {
            let (Some(offset), Some(spelled)) = (expansion.offset, spelling.offset) else {
                return Point::Nowhere;
            };
            if expansion.file_id != Some(self.main_file) {
                return Point::Elsewhere;
            }
            let invocation = self.invocation_at(offset, expansion.token_length);
            let token = Span {
                start: spelled,
                end: spelled + spelling.token_length,
            };
            let in_argument = spelling.file_id == Some(self.main_file)
                && self.invocations[invocation as usize]
                    .arguments
                    .iter()
                    .any(|argument| argument.start <= token.start && token.end <= argument.end);
            return if in_argument {
                Point::Argument { token, invocation }
            } else {
                Point::Body {
                    spelled: (spelling.file_id.unwrap_or(u32::MAX), spelled),
                    invocation,
                }
            };
        }
        match location.offset {
            None => Point::Nowhere,
            Some(_) if location.file_id != Some(self.main_file) => Point::Elsewhere,
            Some(start) => Point::Plain(Span {
                start,
                end: start + location.token_length,
            }),
        }
    }

    /// Registers a node before its children; the number is needed to [`Self::leave`] it.
    pub(crate) fn enter(&mut self, node: &Node) -> u32 {
        let (begin, end) = match &node.range {
            Some(range) => (self.point(&range.begin), self.point(&range.end)),
            None => (Point::Nowhere, Point::Nowhere),
        };
        let id = self.nodes.len() as u32;
        self.nodes.push(Extent {
            begin,
            end,
            subtree_end: id + 1,
        });
        for invocation in [begin.invocation(), end.invocation()].into_iter().flatten() {
            if self.touching[invocation as usize].last() != Some(&id) {
                self.touching[invocation as usize].push(id);
            }
        }
        id
    }

    /// Notes that `name` names a member or variable in something that begins at `begin`: if the
    /// whole is not written in one argument, a macro makes a name of its argument.
    pub(crate) fn names(&mut self, begin: &Location, name: &Location) {
        let (begin, name) = (self.point(begin), self.point(name));
        let Point::Argument { token, invocation } = name else {
            return;
        };
        let within = |argument: &&Span| argument.contains_span(token);
        let arguments = &self.invocations[invocation as usize].arguments;
        let together = match begin {
            Point::Argument {
                token: first,
                invocation: of_first,
            } => {
                of_first == invocation
                    && first.start < token.start
                    && arguments
                        .iter()
                        .find(within)
                        .is_some_and(|argument| argument.contains_span(first))
            }
            _ => false,
        };
        if !together {
            self.names.push(token);
        }
    }

    /// Whether a macro makes a name of a token in `span`.
    pub(crate) fn has_name(&self, span: Span) -> bool {
        self.names.iter().any(|&name| span.contains_span(name))
    }

    /// Closes a node after its children.
    pub(crate) fn leave(&mut self, id: u32) {
        self.nodes[id as usize].subtree_end = self.nodes.len() as u32;
    }

    /// Returns the only argument of the invocation at `span` that is a macro for a constant. The invocation has `count` arguments. `None`
    /// if several are, or if the invoked macro may add or change constants.
    pub(crate) fn constant_argument(&self, span: Span, count: usize) -> Option<Span> {
        let known = self.invocations.iter().find(|known| known.span == span)?;
        if !known.certain || known.stringifies || known.arguments.len() != count {
            return None;
        }
        let invoked = lex::words(span.slice(self.source)?).into_iter().next()?;
        let has_number = |text: &str| {
            let mut tokens = lex::Tokens::new(text.as_bytes());
            tokens.any(|token| token.kind == lex::Kind::Number)
        };
        let definitions = self.macros.definitions(&invoked);
        if definitions.len() != 1 || has_number(&definitions[0].body) {
            return None;
        }
        let trimmed = |argument: &Span| {
            let text = argument.slice(self.source).unwrap_or_default();
            let start = argument.start + (text.len() - text.trim_ascii_start().len()) as u32;
            Span::new(start, start + text.trim_ascii().len() as u32)
        };
        let is_macro = |span: &Span| {
            let name = span.slice(self.source).unwrap_or_default();
            let name = std::str::from_utf8(name).unwrap_or_default();
            let definitions = self.macros.definitions(name);
            !definitions.is_empty() && definitions.iter().all(|known| !known.function_like)
        };
        let mut found = known.arguments.iter().map(trimmed).filter(is_macro);
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// The arguments of invocations whose expansion may depend on their types.
    pub(crate) fn typed_arguments(&self) -> Vec<Span> {
        let typed = self.invocations.iter().filter(|known| known.looks_at_types);
        typed
            .flat_map(|known| known.arguments.iter().copied())
            .collect()
    }

    /// The invocation that `point` comes from.
    pub(crate) fn invocation(&self, point: Point) -> Option<&Invocation> {
        point.invocation().map(|id| &self.invocations[id as usize])
    }

    /// Counts how often the arguments of each invocation are used, after the whole function has been entered and left.
    pub(crate) fn count_copies(&mut self) {
        self.copies = (0..self.invocations.len() as u32)
            .map(|invocation| self.copies_of(invocation))
            .collect();
    }

    fn copies_of(&self, invocation: u32) -> Copies {
        let mut copies = Copies::default();
        let mut counted: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for &id in &self.touching[invocation as usize] {
            let node = self.nodes[id as usize];
            let in_argument = node.in_argument().filter(|(_, of)| *of == invocation);
            let Some((span, _)) = in_argument.filter(|_| self.reads_once(id, invocation)) else {
                continue;
            };
            if node.subtree_end == id + 1 {
                *copies.leaves.entry(span.start).or_default() += 1;
            }
            // What has the same extent within it is the same copy. Nodes come before what is in them.
            let extent = (span.start, span.end);
            let end = counted.entry(extent).or_default();
            if id >= *end {
                *end = node.subtree_end;
                *copies.nodes.entry(extent).or_default() += 1;
            }
        }
        copies
    }

    /// Wherever the expansion has what stands in this span of an argument, it is a node of its own. `b - 1` of `SQUARE(b - 1)` is
    /// none in the second copy of `#define SQUARE(x) x * x`.
    fn is_one_in_every_copy(&self, span: Span, invocation: u32) -> bool {
        let copies = &self.copies[invocation as usize];
        let first = copies.leaves.range(span.start..span.end).next();
        let nodes = copies.nodes.get(&(span.start, span.end));
        first.is_none_or(|(_, uses)| nodes == Some(uses))
    }

    /// Returns the place of a node. Call it after the whole function was entered and left, and [`Self::count_copies`].
    pub(crate) fn place(&self, id: u32, is_comma: bool, statement: bool) -> Place {
        let Extent { begin, end, .. } = self.nodes[id as usize];
        let start = match begin {
            Point::Nowhere => return Place::Unknown,
            Point::Elsewhere => return Place::OtherFile,
            Point::Plain(span) => span.start,
            Point::Argument { invocation, .. } | Point::Body { invocation, .. } => {
                self.invocations[invocation as usize].span.start
            }
        };
        let stop = match end {
            Point::Nowhere => return Place::Unknown,
            Point::Elsewhere => return Place::OtherFile,
            Point::Plain(span) => span.end,
            Point::Argument { invocation, .. } | Point::Body { invocation, .. } => {
                self.invocations[invocation as usize].span.end
            }
        };
        if let Some((span, a)) = self.nodes[id as usize].in_argument() {
            let invocation = &self.invocations[a as usize];
            let text = &self.source[span.start as usize..span.end as usize];
            if invocation
                .arguments
                .iter()
                .any(|argument| argument.start <= span.start && span.end <= argument.end)
                && lex::is_balanced(text, is_comma)
                && self.reads_once(id, a)
                && self.is_one_in_every_copy(span, a)
            {
                return if invocation.stringifies {
                    Place::Stringified {
                        invocation: invocation.span,
                    }
                } else {
                    Place::MacroArgument {
                        span,
                        invocation: invocation.span,
                    }
                };
            }
        }
        if start >= stop {
            return Place::Unknown;
        }
        let span = Span { start, end: stop };
        for point in [begin, end] {
            if let Some(invocation) = point.invocation()
                && !self.covers(id, invocation, statement)
            {
                return Place::MacroBody {
                    invocation: self.invocations[invocation as usize].span,
                };
            }
        }
        Place::Written(span)
    }

    /// The node has what it takes from arguments of the invocation in its order, and nothing twice: it stands in one copy of
    /// an argument. `a * b` of `#define SQUARE(x) x * x` has one for each operand, and of `SQUARE(a + b)` the sum of `a`,
    /// `b * a` and `b` begins and ends as the argument does.
    fn reads_once(&self, id: u32, invocation: u32) -> bool {
        let mut last = None;
        let below = id + 1..self.nodes[id as usize].subtree_end;
        below
            .filter(|&node| self.nodes[node as usize].subtree_end == node + 1)
            .all(|leaf| match self.nodes[leaf as usize].begin {
                Point::Argument {
                    token,
                    invocation: of,
                } if of == invocation => last
                    .replace(token.start)
                    .is_none_or(|before| before < token.start),
                _ => true,
            })
    }

    /// The node consists of all that the invocation expands to, and possibly more.
    fn covers(&self, id: u32, invocation: u32, statement: bool) -> bool {
        let known = &self.invocations[invocation as usize];
        if !known.certain || !known.balanced || !(statement || known.expression_like) {
            return false;
        }
        let node = self.nodes[id as usize];
        let starts_here = node.begin.invocation() == Some(invocation);
        let ends_here = node.end.invocation() == Some(invocation);
        self.touching[invocation as usize].iter().all(|&other| {
            let extent = self.nodes[other as usize];
            if other >= id && other < node.subtree_end {
                return true;
            }
            let ancestor = other < id && extent.subtree_end >= node.subtree_end;
            ancestor
                && (extent.begin.invocation() != Some(invocation)
                    || (starts_here && extent.begin == node.begin))
                && (extent.end.invocation() != Some(invocation)
                    || (ends_here && extent.end == node.end))
        })
    }
}
