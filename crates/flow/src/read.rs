//! Reads the outline of a text by tree-sitter's grammar of C.
//!
//! The grammar does not know macros. What it makes of their usual uses is undone here: a call without a semicolon
//! before a block is a loop, a specifier before a function's name may be a macro. What it cannot read it wraps in error
//! nodes; they become plain statements, and the function says so.

use rustc_hash::FxHashSet;
use tree_sitter::{Node, Parser};

use patchwright_ctext::runs;
use patchwright_text::Span;

use crate::access::{self, field};
use crate::declared::variables;
use crate::directives::Directives;
use crate::headers::Setting;
use crate::outline::*;

/// Trees of generated code nest deep; address space costs nothing.
const STACK: usize = 1 << 28;

/// Reads `source` with the branches of its conditionals in `choice` (see [`Directives`]).
pub fn read(source: &[u8], directives: &Directives, choice: &[Option<usize>]) -> Outline {
    let mut text = directives.configured(source, choice);
    join_ranges(&mut text);
    let mut outline = std::thread::scope(|scope| {
        let handle = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || read_configured(&text))
            .expect("address space for a stack is available");
        match handle.join() {
            Ok(outline) => outline,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    for directive in &directives.others {
        if directives.keeps(choice, directive.line) {
            outline.top_level.push(TopLevel {
                text: directive.text.clone(),
                line: directive.line,
                last_line: directive.last_line,
                variables: Vec::new(),
            });
        }
    }
    outline
}

/// Reads `source` with the first possible branch of each conditional.
pub fn read_default(source: &[u8]) -> Outline {
    read_in(source, &Setting::default())
}

/// Reads `source` with the first branch of each conditional that the known macros permit.
pub fn read_in(source: &[u8], setting: &Setting) -> Outline {
    let directives = Directives::read_in(source, setting);
    read(source, &directives, &directives.defaults())
}

/// The grammar does not know ranges of GNU C, `case 1 ... 5:`: they become one expression. Every byte keeps its offset.
fn join_ranges(text: &mut [u8]) {
    const DOTS: &[u8] = b"...";
    let mut from = 0;
    while let Some(at) = text[from..].windows(DOTS.len()).position(|w| w == DOTS) {
        let at = from + at;
        let start = text[..at]
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b';' | b'{' | b'}'))
            .map_or(0, |end| end + 1);
        if runs(&text[start..at]).any(|word| word == b"case") {
            text[at..at + DOTS.len()].copy_from_slice(b" + ");
        }
        from = at + DOTS.len();
    }
}

fn read_configured(text: &[u8]) -> Outline {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .expect("the grammar is of the parser's version");
    let tree = parser
        .parse(text, None)
        .expect("a parser with a language and without a time limit returns a tree");
    let mut reader = FileReader {
        text,
        outline: Outline::default(),
        mentioned: FxHashSet::default(),
    };
    reader.top_level(tree.root_node());
    let mut outline = reader.outline;
    outline.mentioned = reader.mentioned.into_iter().collect();
    outline.mentioned.sort();
    outline
}

/// Returns the children of a node in the order of the text.
pub(crate) fn children(node: Node) -> Vec<Node> {
    node.children(&mut node.walk()).collect()
}

/// The first and last line of a node, from 1.
fn lines(node: Node) -> (u32, u32) {
    (
        node.start_position().row as u32 + 1,
        node.end_position().row as u32 + 1,
    )
}

fn span(node: Node) -> Span {
    Span::new(node.start_byte() as u32, node.end_byte() as u32)
}

/// Appends the tokens of a node; a string is one token.
fn add_tokens(node: Node, tokens: &mut Vec<Token>) {
    let is_token = node.child_count() == 0
        || matches!(
            node.kind(),
            "string_literal" | "char_literal" | "system_lib_string"
        );
    if !is_token {
        for child in children(node) {
            add_tokens(child, tokens);
        }
    } else if node.kind() != "comment" && !node.byte_range().is_empty() {
        tokens.push(Token {
            span: span(node),
            line: lines(node).0,
        });
    }
}

/// Returns the tokens of a node.
pub(crate) fn tokens(node: Node) -> Vec<Token> {
    let mut tokens = Vec::new();
    add_tokens(node, &mut tokens);
    tokens
}

/// Returns the texts of tokens, with blanks between them.
pub(crate) fn words(tokens: &[Token], text: &[u8]) -> String {
    let words: Vec<_> = tokens
        .iter()
        .map(|token| String::from_utf8_lossy(&text[token.span.range()]))
        .collect();
    words.join(" ")
}

/// Whether something in the node could not be read; semicolons that macros leave out do not count.
fn first_unclear(node: Node) -> Option<u32> {
    if !node.has_error() {
        return None;
    }
    if node.is_error() || node.is_missing() && node.kind() != ";" {
        return Some(lines(node).0);
    }
    children(node).into_iter().find_map(first_unclear)
}

struct FileReader<'a> {
    text: &'a [u8],
    outline: Outline,
    mentioned: FxHashSet<String>,
}

impl FileReader<'_> {
    fn top_level(&mut self, node: Node) {
        let nodes = children(node);
        let mut i = 0;
        while i < nodes.len() {
            let child = nodes[i];
            i += 1;
            let follows = nodes
                .get(i)
                .filter(|next| next.kind() == "compound_statement");
            if let Some(body) = follows
                && lacks_semicolon(child)
            {
                // `SYSCALL_DEFINE2 (name, …) { … }`
                let name = macro_name(&tokens(child), self.text);
                let function = read_function(name, None, &[child], *body, self);
                self.outline.functions.push(function);
                i += 1;
                continue;
            }
            match child.kind() {
                "function_definition" => match field(child, "body") {
                    Some(body) => {
                        let mut head = children(child);
                        head.retain(|part| *part != body);
                        let function = match name_and_parameters(child, self.text) {
                            Some((name, parameters)) => {
                                read_function(name, Some(parameters), &head, body, self)
                            }
                            // `MODULE_INIT (name) { … }`
                            None => {
                                let name = macro_name(&tokens(child), self.text);
                                read_function(name, None, &head, body, self)
                            }
                        };
                        self.outline.functions.push(function);
                    }
                    None => self.outline.unclear.push(lines(child)),
                },
                "linkage_specification" | "declaration_list" => self.top_level(child),
                "ERROR" => {
                    self.outline.unclear.push(lines(child));
                    self.top_level(child);
                }
                "comment" => {}
                _ if child.is_named() => {
                    let (line, last_line) = lines(child);
                    let access = access::look(child, self.text, &FxHashSet::default());
                    self.mentioned.extend(access.uses);
                    self.mentioned.extend(access.addressed);
                    self.outline.top_level.push(TopLevel {
                        text: words(&tokens(child), self.text),
                        line,
                        last_line,
                        variables: variables(child, self.text),
                    });
                }
                // A brace or semicolon that an error left over.
                _ => {}
            }
        }
    }
}

/// The token before a function's parameters is its name, whatever macros stand before.
fn name_and_parameters<'t>(definition: Node<'t>, text: &[u8]) -> Option<(String, Node<'t>)> {
    let mut declarator = field(definition, "declarator")?;
    loop {
        if declarator.kind() == "function_declarator" {
            let inner = field(declarator, "declarator")?;
            // `int (*f(void))(int)`: a function that returns a pointer to one.
            let nested = matches!(
                inner.kind(),
                "parenthesized_declarator" | "pointer_declarator" | "function_declarator"
            );
            if !nested {
                break;
            }
            declarator = inner;
        } else {
            declarator = field(declarator, "declarator").or_else(|| {
                children(declarator)
                    .into_iter()
                    .find(|child| child.kind().ends_with("declarator"))
            })?;
        }
    }
    let parameters = field(declarator, "parameters")?;
    let before: Vec<Token> = tokens(declarator)
        .into_iter()
        .filter(|token| token.span.end as usize <= parameters.start_byte())
        .collect();
    let name = before.last()?;
    let name = String::from_utf8_lossy(&text[name.span.range()]).into_owned();
    Some((name, parameters))
}

/// The name of a function that a macro makes: the macro's, and its first argument.
fn macro_name(tokens: &[Token], text: &[u8]) -> String {
    let word = |i: usize| {
        let token = tokens.get(i);
        token.map_or_else(String::new, |token| {
            String::from_utf8_lossy(&text[token.span.range()]).into_owned()
        })
    };
    let open = (0..tokens.len()).find(|i| word(*i) == "(").unwrap_or(0);
    format!("{}({})", word(open.saturating_sub(1)), word(open + 1))
}

fn read_function(
    name: String,
    parameter_list: Option<Node>,
    head: &[Node],
    body: Node,
    file: &mut FileReader,
) -> Function {
    let text = file.text;
    let mut header = Vec::new();
    for part in head {
        add_tokens(*part, &mut header);
    }
    let is_static = header
        .iter()
        .any(|token| &text[token.span.range()] == b"static");
    let mut reader = FunctionReader {
        text,
        actions: Vec::new(),
        blocks: 0,
        addressed: FxHashSet::default(),
        pointers: FxHashSet::default(),
        mentioned: &mut file.mentioned,
        unclear: None,
    };
    let mut parameters = Vec::new();
    for child in parameter_list.map(children).unwrap_or_default() {
        parameters.extend(reader.parameter(child));
    }
    for child in head.iter().copied() {
        // The declarations of old-style parameters.
        if child.kind() == "declaration" {
            let access = access::look(child, text, &reader.pointers);
            reader.pointers.extend(access.pointers);
        }
    }
    let block = reader.body(Some(body));
    let mut addressed: Vec<String> = reader.addressed.into_iter().collect();
    addressed.sort();
    let first = head.first().copied().unwrap_or(body);
    Function {
        name,
        span: Span::new(span(first).start, span(body).end),
        line: lines(first).0,
        is_static,
        header,
        parameters,
        actions: reader.actions,
        body: block,
        block_count: reader.blocks,
        addressed,
        unclear_line: reader.unclear,
    }
}

struct FunctionReader<'a> {
    text: &'a [u8],
    actions: Vec<Action>,
    blocks: u32,
    addressed: FxHashSet<String>,
    pointers: FxHashSet<String>,
    mentioned: &'a mut FxHashSet<String>,
    unclear: Option<u32>,
}

impl FunctionReader<'_> {
    fn word(&self, node: Node) -> String {
        String::from_utf8_lossy(&self.text[node.byte_range()]).into_owned()
    }

    /// The names that a parameter declares.
    fn parameter(&mut self, node: Node) -> Option<String> {
        match node.kind() {
            "identifier" => Some(self.word(node)),
            "parameter_declaration" => {
                let mut node = field(node, "declarator")?;
                let mut pointer = false;
                while node.kind() != "identifier" {
                    pointer |= matches!(node.kind(), "pointer_declarator" | "array_declarator");
                    node = field(node, "declarator")?;
                }
                let name = self.word(node);
                if pointer {
                    self.pointers.insert(name.clone());
                }
                Some(name)
            }
            _ => None,
        }
    }

    fn new_block(&mut self) -> BlockId {
        self.blocks += 1;
        BlockId(self.blocks - 1)
    }

    /// An action of the tokens of `nodes`.
    fn action(&mut self, kind: ActionKind, context: String, nodes: &[Node]) -> Option<ActionId> {
        let mut tokens = Vec::new();
        let (mut calls, mut definitions, mut uses) = (Vec::new(), Vec::new(), Vec::new());
        let mut declares = Vec::new();
        for node in nodes {
            declares.extend(variables(*node, self.text));
            add_tokens(*node, &mut tokens);
            if let Some(line) = first_unclear(*node) {
                self.unclear.get_or_insert(line);
            }
            let access = access::look(*node, self.text, &self.pointers);
            self.pointers.extend(access.pointers);
            self.addressed.extend(access.arrays);
            self.addressed.extend(access.addressed);
            self.mentioned.extend(access.uses.iter().cloned());
            calls.extend(access.calls);
            definitions.extend(access.definitions);
            uses.extend(access.uses);
        }
        // `CHECK (x)` and `CHECK (x);` are the same.
        if tokens.len() > 1
            && tokens
                .last()
                .is_some_and(|last| &self.text[last.span.range()] == b";")
        {
            tokens.pop();
        }
        let (first, last) = (tokens.first()?, tokens.last()?);
        self.actions.push(Action {
            kind,
            span: Span::new(first.span.start, last.span.end),
            line: first.line,
            tokens,
            context,
            calls,
            definitions,
            uses,
            declares,
        });
        Some(ActionId(self.actions.len() as u32 - 1))
    }

    /// The body of a statement or function: what stands in its braces, or the one statement.
    fn body(&mut self, node: Option<Node>) -> Block {
        let id = self.new_block();
        let nodes = match node {
            Some(node) if node.kind() == "compound_statement" => children(node),
            Some(node) => vec![node],
            None => Vec::new(),
        };
        Block {
            id,
            statements: self.list(&nodes),
        }
    }

    fn list(&mut self, nodes: &[Node]) -> Vec<Statement> {
        let mut statements = Vec::new();
        let mut i = 0;
        while i < nodes.len() {
            let node = nodes[i];
            let block_follows = nodes
                .get(i + 1)
                .is_some_and(|next| next.kind() == "compound_statement");
            if block_follows && lacks_semicolon(node) {
                if let Some(head) = self.action(ActionKind::MacroLoop, String::new(), &[node]) {
                    let body = self.body(Some(nodes[i + 1]));
                    statements.push(Statement::MacroLoop { head, body });
                }
                i += 2;
                continue;
            }
            self.statement(node, &mut statements);
            i += 1;
        }
        statements
    }

    fn simple(&mut self, kind: ActionKind, nodes: &[Node], into: &mut Vec<Statement>) {
        if let Some(action) = self.action(kind, String::new(), nodes) {
            into.push(Statement::Simple(action));
        }
    }

    fn statement(&mut self, node: Node, into: &mut Vec<Statement>) {
        match node.kind() {
            "comment" | ";" | "{" | "}" => {}
            "compound_statement" => {
                let block = self.body(Some(node));
                into.push(Statement::Block(block));
            }
            "expression_statement" => {
                if node.named_child_count() > 0 {
                    self.simple(ActionKind::Statement, &[node], into);
                }
            }
            "declaration" => {
                let kind = declaration_kind(node, self.text);
                self.simple(kind, &[node], into);
            }
            "type_definition"
            | "struct_specifier"
            | "union_specifier"
            | "enum_specifier"
            | "attributed_declarator" => self.simple(ActionKind::Declaration, &[node], into),
            "if_statement" => {
                let Some(condition) = self.condition_of(node) else {
                    return self.unclear_statement(node, into);
                };
                let then = self.body(field(node, "consequence"));
                let otherwise = field(node, "alternative").and_then(|clause| {
                    children(clause)
                        .into_iter()
                        .find(|child| child.is_named() && child.kind() != "comment")
                });
                let otherwise = self.body(otherwise);
                into.push(Statement::If {
                    condition,
                    then,
                    otherwise,
                });
            }
            "while_statement" => {
                let Some(condition) = self.condition_of(node) else {
                    return self.unclear_statement(node, into);
                };
                let body = self.body(field(node, "body"));
                into.push(Statement::While { condition, body });
            }
            "do_statement" => {
                let body = self.body(field(node, "body"));
                match self.condition_of(node) {
                    Some(condition) => into.push(Statement::Do { body, condition }),
                    None => {
                        self.unclear.get_or_insert(lines(node).0);
                        into.push(Statement::Block(body));
                    }
                }
            }
            "for_statement" => {
                let init = field(node, "initializer").and_then(|init| {
                    let kind = match init.kind() {
                        "declaration" => declaration_kind(init, self.text),
                        _ => ActionKind::Statement,
                    };
                    self.action(kind, String::new(), &[init])
                });
                let condition =
                    field(node, "condition").and_then(|node| self.condition(node, "", false));
                let step = field(node, "update")
                    .and_then(|step| self.action(ActionKind::Statement, String::new(), &[step]));
                let body = self.body(field(node, "body"));
                into.push(Statement::For {
                    init,
                    condition,
                    step,
                    body,
                });
            }
            "switch_statement" => {
                let value = field(node, "condition")
                    .and_then(|value| self.action(ActionKind::Switch, String::new(), &[value]));
                let Some(value) = value else {
                    return self.unclear_statement(node, into);
                };
                let body = self.body(field(node, "body"));
                into.push(Statement::Switch { value, body });
            }
            "case_statement" => {
                let parts = children(node);
                let colon = parts
                    .iter()
                    .position(|part| part.kind() == ":")
                    .map_or(parts.len(), |at| at + 1);
                let (label, rest) = parts.split_at(colon);
                let kind = match label.first().map(|word| word.kind()) {
                    Some("default") => ActionKind::Default,
                    _ => ActionKind::Case,
                };
                self.simple(kind, label, into);
                into.extend(self.list(rest));
            }
            "labeled_statement" => {
                let label = field(node, "label");
                let rest: Vec<Node> = children(node)
                    .into_iter()
                    .filter(|child| Some(*child) != label && child.kind() != ":")
                    .collect();
                if let Some(label) = label {
                    let kind = ActionKind::Label(self.word(label));
                    self.simple(kind, &[label], into);
                }
                into.extend(self.list(&rest));
            }
            "goto_statement" => {
                let kind = match field(node, "label") {
                    Some(label) => ActionKind::Goto(self.word(label)),
                    None => ActionKind::ComputedGoto,
                };
                self.simple(kind, &[node], into);
            }
            "break_statement" => self.simple(ActionKind::Break, &[node], into),
            "continue_statement" => self.simple(ActionKind::Continue, &[node], into),
            "return_statement" => self.simple(ActionKind::Return, &[node], into),
            "attributed_statement" => {
                let parts: Vec<Node> = children(node)
                    .into_iter()
                    .filter(|child| child.kind() != "attribute_declaration")
                    .collect();
                into.extend(self.list(&parts));
            }
            // `for_each_entry (entry) { … }` may look like a function without a type.
            "function_definition" => {
                let body = field(node, "body");
                let head: Vec<Node> = children(node)
                    .into_iter()
                    .filter(|child| Some(*child) != body)
                    .collect();
                // Or be a function inside of a function, which is none of a loop.
                if name_and_parameters(node, self.text).is_some() {
                    self.unclear.get_or_insert(lines(node).0);
                }
                if let Some(head) = self.action(ActionKind::MacroLoop, String::new(), &head) {
                    let body = self.body(body);
                    into.push(Statement::MacroLoop { head, body });
                }
            }
            "ERROR" => self.unclear_statement(node, into),
            _ => self.simple(ActionKind::Statement, &[node], into),
        }
    }

    /// What could not be read: the statements in it, and the tokens between them as statements of their own.
    fn unclear_statement(&mut self, node: Node, into: &mut Vec<Statement>) {
        self.unclear.get_or_insert(lines(node).0);
        let mut loose = Vec::new();
        for child in children(node) {
            let is_statement =
                child.kind().ends_with("_statement") || child.kind() == "declaration";
            if is_statement {
                self.loose(&mut loose, into);
                self.statement(child, into);
            } else if child.kind() == "{" || child.kind() == "}" || child.kind() == ";" {
                self.loose(&mut loose, into);
            } else if child.kind() != "comment" {
                loose.push(child);
            }
        }
        self.loose(&mut loose, into);
    }

    fn loose<'t>(&mut self, nodes: &mut Vec<Node<'t>>, into: &mut Vec<Statement>) {
        self.simple(ActionKind::Statement, nodes, into);
        nodes.clear();
    }

    fn condition_of(&mut self, node: Node) -> Option<Condition> {
        let condition = field(node, "condition")?;
        self.condition(condition, "", false)
    }

    /// A condition; `joined` is the operator that joins it to what stands before.
    fn condition(&mut self, node: Node, joined: &str, negated: bool) -> Option<Condition> {
        match node.kind() {
            "parenthesized_expression" => {
                let mut inner = children(node)
                    .into_iter()
                    .filter(|child| child.is_named() && child.kind() != "comment");
                if let (Some(only), None) = (inner.next(), inner.next())
                    && !only.is_error()
                {
                    return self.condition(only, joined, negated);
                }
            }
            "binary_expression" => {
                let operator = field(node, "operator").map_or("", |operator| operator.kind());
                if matches!(operator, "&&" | "||")
                    && let (Some(left), Some(right)) = (field(node, "left"), field(node, "right"))
                {
                    let left = self.condition(left, joined, negated)?;
                    let right = self.condition(right, operator, negated)?;
                    let (left, right) = (Box::new(left), Box::new(right));
                    return Some(match operator {
                        "&&" => Condition::And(left, right),
                        _ => Condition::Or(left, right),
                    });
                }
            }
            "unary_expression" => {
                if field(node, "operator").is_some_and(|operator| operator.kind() == "!")
                    && let Some(inner) = field(node, "argument")
                {
                    let inner = self.condition(inner, joined, !negated)?;
                    return Some(Condition::Not(Box::new(inner)));
                }
            }
            _ => {}
        }
        let mut context = joined.to_owned();
        if negated {
            context.push('!');
        }
        let kind = ActionKind::Condition(constant(&self.word(node)));
        self.action(kind, context, &[node]).map(Condition::Leaf)
    }
}

/// The truth of a constant, as it is usually written.
fn constant(text: &str) -> Option<bool> {
    match text {
        "true" | "TRUE" => Some(true),
        "false" | "FALSE" => Some(false),
        _ => text.parse::<u64>().ok().map(|number| number != 0),
    }
}

/// Whether this is a call that ends without a semicolon, as invocations of macros can.
fn lacks_semicolon(node: Node) -> bool {
    node.kind() == "expression_statement"
        && children(node)
            .last()
            .is_some_and(|last| last.kind() == ";" && last.is_missing())
        && node
            .named_child(0)
            .is_some_and(|child| child.kind() == "call_expression")
}

fn declaration_kind(node: Node, text: &[u8]) -> ActionKind {
    let parts = children(node);
    let is_static = parts.iter().any(|part| {
        part.kind() == "storage_class_specifier"
            && &text[part.byte_range()] != b"register"
            && &text[part.byte_range()] != b"auto"
    });
    let initialised = parts.iter().any(|part| part.kind() == "init_declarator");
    let invocation = parts
        .iter()
        .any(|part| part.kind() == "macro_type_specifier");
    if is_static {
        ActionKind::Declaration
    } else if initialised {
        ActionKind::Initialisation
    } else if invocation {
        ActionKind::Statement
    } else {
        ActionKind::Declaration
    }
}
