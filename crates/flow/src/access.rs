//! Finds what an expression or declaration reads, writes, calls and takes the address of.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::outline::{Definition, MEMORY};
use crate::read::children;

/// What a piece of code reads, writes and calls. Names occur once in a list; calls are listed as often as they are written.
#[derive(Default)]
pub(crate) struct Access {
    pub calls: Vec<String>,
    pub definitions: Vec<Definition>,
    pub uses: Vec<String>,
    /// Variables whose address is taken.
    pub addressed: Vec<String>,
    /// Variables declared as arrays, and as pointers or arrays.
    pub arrays: Vec<String>,
    pub pointers: Vec<String>,
}

/// Looks at a node. `pointers` are the variables that are known to be pointers or arrays.
pub(crate) fn look(node: Node, text: &[u8], pointers: &FxHashSet<String>) -> Access {
    let mut looker = Looker {
        text,
        pointers,
        found: Access::default(),
    };
    looker.value(node);
    let mut found = looker.found;
    found.definitions.sort();
    found.definitions.dedup();
    found.uses.sort();
    found.uses.dedup();
    found
}

struct Looker<'a> {
    text: &'a [u8],
    pointers: &'a FxHashSet<String>,
    found: Access,
}

impl Looker<'_> {
    fn name(&self, node: Node) -> String {
        String::from_utf8_lossy(&self.text[node.byte_range()]).into_owned()
    }

    fn uses(&mut self, name: impl Into<String>) {
        self.found.uses.push(name.into());
    }

    fn defines(&mut self, name: impl Into<String>, whole: bool) {
        self.found.definitions.push(Definition {
            name: name.into(),
            whole,
        });
    }

    /// A node whose value is computed.
    fn value(&mut self, node: Node) {
        match node.kind() {
            "identifier" => {
                let name = self.name(node);
                self.uses(name);
            }
            "call_expression" => self.call(node),
            "assignment_expression" => {
                let (left, right) = (field(node, "left"), field(node, "right"));
                let plain = field(node, "operator").is_none_or(|operator| operator.kind() == "=");
                if let Some(right) = right {
                    self.value(right);
                }
                if let Some(left) = left {
                    if !plain {
                        self.value(left);
                    }
                    self.target(left, true);
                }
            }
            "update_expression" => {
                if let Some(argument) = field(node, "argument") {
                    self.value(argument);
                    self.target(argument, true);
                }
            }
            "pointer_expression" => {
                let Some(argument) = field(node, "argument") else {
                    return;
                };
                self.value(argument);
                if field(node, "operator").is_some_and(|operator| operator.kind() == "&") {
                    if let Some(name) = self.base(argument) {
                        self.found.addressed.push(name);
                    }
                } else {
                    self.uses(MEMORY);
                }
            }
            "subscript_expression" => {
                self.parts(node);
                self.uses(MEMORY);
            }
            "field_expression" => {
                if let Some(argument) = field(node, "argument") {
                    self.value(argument);
                }
                if field(node, "operator").is_some_and(|operator| operator.kind() == "->") {
                    self.uses(MEMORY);
                }
            }
            "init_declarator" => {
                if let Some(value) = field(node, "value") {
                    self.value(value);
                }
                if let Some(declarator) = field(node, "declarator") {
                    self.declarator(declarator, true);
                }
            }
            "pointer_declarator"
            | "array_declarator"
            | "parenthesized_declarator"
            | "function_declarator"
            | "attributed_declarator" => self.declarator(node, false),
            "macro_type_specifier" => {
                if let Some(name) = field(node, "name") {
                    let name = self.name(name);
                    self.found.calls.push(name);
                }
            }
            "declaration" => {
                for child in children(node) {
                    if child.kind() != "identifier" {
                        self.value(child);
                    }
                }
            }
            // Not evaluated, or no expression.
            "sizeof_expression"
            | "alignof_expression"
            | "offsetof_expression"
            | "parameter_list"
            | "struct_specifier"
            | "union_specifier"
            | "type_definition"
            | "comment" => {}
            _ => self.parts(node),
        }
    }

    fn parts(&mut self, node: Node) {
        for child in children(node) {
            self.value(child);
        }
    }

    fn call(&mut self, node: Node) {
        if let Some(function) = field(node, "function") {
            if function.kind() == "identifier" {
                let name = self.name(function);
                self.found.calls.push(name);
            } else {
                self.value(function);
            }
        }
        let Some(arguments) = field(node, "arguments") else {
            return;
        };
        for argument in children(arguments) {
            self.value(argument);
            match argument.kind() {
                "pointer_expression"
                    if field(argument, "operator").is_some_and(|o| o.kind() == "&") =>
                {
                    match field(argument, "argument").and_then(|inner| self.base(inner)) {
                        Some(name) => self.defines(name, false),
                        None => self.defines(MEMORY, false),
                    }
                }
                "identifier" => {
                    let name = self.name(argument);
                    if self.pointers.contains(&name) {
                        self.defines(name, false);
                        self.defines(MEMORY, false);
                    }
                }
                _ => {}
            }
        }
    }

    /// The variable of which a node is the whole, a member or an element; none behind a pointer.
    fn base(&self, node: Node) -> Option<String> {
        match node.kind() {
            "identifier" => Some(self.name(node)),
            "parenthesized_expression" => children(node)
                .into_iter()
                .find(|child| child.is_named())
                .and_then(|inner| self.base(inner)),
            "field_expression"
                if field(node, "operator").is_some_and(|operator| operator.kind() == ".") =>
            {
                self.base(field(node, "argument")?)
            }
            "subscript_expression" => self.base(field(node, "argument")?),
            _ => None,
        }
    }

    /// A node that is written to.
    fn target(&mut self, node: Node, whole: bool) {
        match node.kind() {
            "identifier" => {
                let name = self.name(node);
                self.defines(name, whole);
            }
            "parenthesized_expression" => {
                for child in children(node) {
                    if child.is_named() {
                        self.target(child, whole);
                    }
                }
            }
            "field_expression" => {
                let Some(argument) = field(node, "argument") else {
                    return;
                };
                if field(node, "operator").is_some_and(|operator| operator.kind() == ".") {
                    self.target(argument, false);
                } else {
                    self.value(argument);
                    self.defines(MEMORY, false);
                }
            }
            "subscript_expression" => {
                self.parts(node);
                self.defines(MEMORY, false);
                if let Some(name) = self.base(node) {
                    self.defines(name, false);
                }
            }
            "pointer_expression" => {
                if let Some(argument) = field(node, "argument") {
                    self.value(argument);
                }
                self.defines(MEMORY, false);
            }
            _ => self.value(node),
        }
    }

    /// A declarator: what it declares, and the sizes of its arrays.
    fn declarator(&mut self, node: Node, defined: bool) {
        let mut node = node;
        let (mut array, mut pointer) = (false, false);
        loop {
            match node.kind() {
                "identifier" => {
                    let name = self.name(node);
                    if array {
                        self.found.arrays.push(name.clone());
                    }
                    if array || pointer {
                        self.found.pointers.push(name.clone());
                    }
                    if defined {
                        self.defines(name, true);
                    }
                    return;
                }
                "array_declarator" => {
                    array = true;
                    if let Some(size) = field(node, "size") {
                        self.value(size);
                    }
                }
                "pointer_declarator" => pointer = true,
                _ => {}
            }
            let inner = field(node, "declarator").or_else(|| {
                children(node).into_iter().find(|child| {
                    child.kind().ends_with("declarator") || child.kind() == "identifier"
                })
            });
            match inner {
                Some(inner) => node = inner,
                None => return,
            }
        }
    }
}

/// Returns the child of a node in this field of the grammar.
pub(crate) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}
