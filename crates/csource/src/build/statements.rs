//! Reads the statements of clang's dump.

use super::{
    FunctionBuilder,
    expressions::{is_expression, is_present, line_of},
};
use crate::{raw::Node, tree::*};

impl FunctionBuilder<'_, '_> {
    /// Whether a semicolon stands behind the statement, which clang does not count as a part of it.
    pub(super) fn needs_semicolon(&self, stmt: usize) -> bool {
        match &self.stmts[stmt].kind {
            StmtKind::Compound(_)
            | StmtKind::Declaration(_)
            | StmtKind::Null
            | StmtKind::Other { .. } => false,
            StmtKind::If {
                then, otherwise, ..
            } => self.needs_semicolon(otherwise.unwrap_or(*then).0 as usize),
            StmtKind::While { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Switch { body, .. }
            | StmtKind::Case(body)
            | StmtKind::Default(body)
            | StmtKind::Label { body, .. } => self.needs_semicolon(body.0 as usize),
            _ => true,
        }
    }

    /// Adds a statement of the node `raw`, and returns its number. `node` is the number of the node, for its place.
    pub(super) fn push_stmt(&mut self, raw: &Node, node: u32, kind: StmtKind) -> StmtId {
        self.details.stmt_lines.push(line_of(raw));
        self.locator.leave(node);
        let id = StmtId(self.stmts.len() as u32);
        self.stmts.push(Stmt {
            kind,
            place: Place::Unknown,
        });
        self.stmt_nodes.push(node);
        id
    }

    /// Adds a statement with all statements and expressions in it, and returns its number.
    pub(super) fn stmt(&mut self, node: &Node) -> StmtId {
        if is_expression(node) {
            // An expression statement has no node of its own.
            let entered = self.locator.enter(node);
            let expr = self.expr(node);
            return self.push_stmt(node, entered, StmtKind::Expression(expr));
        }
        let entered = self.locator.enter(node);
        let inner = &node.inner;
        let has_scope = matches!(node.kind.as_str(), "CompoundStmt" | "ForStmt");
        if has_scope {
            self.unit.open_scope();
        }
        let kind = match node.kind.as_str() {
            "CompoundStmt" => StmtKind::Compound(inner.iter().map(|n| self.stmt(n)).collect()),
            "DeclStmt" => {
                let found = self.local_declarations(inner);
                let lengths = std::mem::take(&mut self.typedef_lengths);
                let id = self.push_stmt(node, entered, StmtKind::Declaration(found));
                if !lengths.is_empty() {
                    self.details.typedef_lengths.insert(id, lengths);
                }
                return id;
            }
            "NullStmt" => StmtKind::Null,
            "IfStmt" if (2..=3).contains(&inner.len()) => StmtKind::If {
                condition: self.expr(&inner[0]),
                then: self.stmt(&inner[1]),
                otherwise: inner.get(2).map(|n| self.stmt(n)),
            },
            "WhileStmt" if inner.len() == 2 => StmtKind::While {
                condition: self.expr(&inner[0]),
                body: self.stmt(&inner[1]),
            },
            "DoStmt" if inner.len() == 2 => StmtKind::Do {
                body: self.stmt(&inner[0]),
                condition: self.expr(&inner[1]),
            },
            "ForStmt" if inner.len() == 5 => StmtKind::For {
                init: is_present(&inner[0]).then(|| self.stmt(&inner[0])),
                condition: is_present(&inner[2]).then(|| self.expr(&inner[2])),
                increment: is_present(&inner[3]).then(|| self.expr(&inner[3])),
                body: self.stmt(&inner[4]),
            },
            "SwitchStmt" if inner.len() == 2 => StmtKind::Switch {
                condition: self.expr(&inner[0]),
                body: self.stmt(&inner[1]),
            },
            "CaseStmt" if inner.len() >= 2 => {
                let labels: Vec<ExprId> = inner[..inner.len() - 1]
                    .iter()
                    .map(|label| self.unevaluated(label))
                    .collect();
                let body = self.stmt(&inner[inner.len() - 1]);
                let id = self.push_stmt(node, entered, StmtKind::Case(body));
                self.details
                    .cases
                    .insert(id, (labels[0], labels.get(1).copied()));
                return id;
            }
            "DefaultStmt" if inner.len() == 1 => StmtKind::Default(self.stmt(&inner[0])),
            "LabelStmt" if inner.len() == 1 => {
                // GNU C's local labels may have a name twice.
                let mut name = node.name.clone();
                if self.labels.contains(&name) {
                    name = format!("{name} ({})", self.labels.len());
                }
                self.labels.push(name.clone());
                self.label_names.insert(node.label_decl, name.clone());
                StmtKind::Label {
                    name,
                    body: self.stmt(&inner[0]),
                }
            }
            "GotoStmt" => {
                let id = self.push_stmt(node, entered, StmtKind::Goto(String::new()));
                self.gotos.push((id, node.target_label));
                return id;
            }
            "BreakStmt" => StmtKind::Break,
            "ContinueStmt" => StmtKind::Continue,
            "ReturnStmt" => {
                let value = inner.first().map(|n| self.expr(n));
                if let (Some(value), Some(ty)) = (value, self.return_type) {
                    self.tell(value, ty);
                }
                StmtKind::Return(value)
            }
            other => {
                match other {
                    "GCCAsmStmt" | "MSAsmStmt" => self.refuse(Refusal::InlineAssembly),
                    "IndirectGotoStmt" => self.refuse(Refusal::ComputedGoto),
                    _ => {}
                }
                let (mut expressions, mut statements) = (Vec::new(), Vec::new());
                for child in inner.iter().filter(|n| is_present(n)) {
                    if is_expression(child) {
                        expressions.push(self.expr(child));
                    } else if child.kind.ends_with("Stmt") {
                        statements.push(self.stmt(child));
                    }
                }
                let assembly = match other {
                    "GCCAsmStmt" => self.assembly(node, &expressions),
                    _ => None,
                };
                let kind = StmtKind::Other {
                    kind: other.to_owned(),
                    expressions,
                    statements,
                };
                let id = self.push_stmt(node, entered, kind);
                if let Some(assembly) = assembly {
                    self.details.assembly.insert(id, assembly);
                }
                return id;
            }
        };
        if has_scope {
            self.unit.close_scope();
        }
        self.push_stmt(node, entered, kind)
    }

    /// Reads the declarations of a declaration statement, and returns the variables.
    pub(super) fn local_declarations(&mut self, nodes: &[Node]) -> Vec<VarId> {
        let mut found = Vec::new();
        for node in nodes {
            match node.kind.as_str() {
                "VarDecl" => {
                    let storage = match node.storage_class.as_str() {
                        "static" => Storage::StaticLocal,
                        "extern" => Storage::Global,
                        _ => Storage::Local,
                    };
                    let entered = self.locator.enter(node);
                    if let (Some(range), Some(name)) = (&node.range, &node.loc) {
                        self.locator.names(&range.begin, name);
                    }
                    let id = self.unit.variable(node, storage);
                    self.current_line = line_of(node);
                    let lengths = self.lengths();
                    if !lengths.is_empty() {
                        self.details.declared_lengths.insert(id, lengths);
                    }
                    let initializer = node.inner.iter().find(|n| is_expression(n));
                    if let Some(initializer) = initializer {
                        let evaluated = self.evaluated;
                        self.evaluated = evaluated && storage == Storage::Local;
                        let expr = self.expr(initializer);
                        self.evaluated = evaluated;
                        self.unit.variables[id.0 as usize].initializer = Some(expr);
                        let value = &self.exprs[expr.0 as usize];
                        self.unit.settle(id, node, value);
                        let ty = self.unit.variables[id.0 as usize].ty;
                        self.tell(expr, ty);
                    }
                    if let Some(attribute) = node.inner.iter().find(|n| n.kind == "CleanupAttr") {
                        let function = attribute.cleanup.as_ref();
                        let name = function.map_or(String::new(), |f| f.name.clone());
                        self.details.cleanups.insert(id, name);
                    }
                    self.locator.leave(entered);
                    self.locals.push(id);
                    found.push(id);
                }
                "RecordDecl" => self.unit.record(node),
                "EnumDecl" => self.unit.enumeration(node),
                "TypedefDecl" => {
                    self.unit.typedef(node);
                    self.current_line = line_of(node);
                    let lengths = self.lengths();
                    self.typedef_lengths.extend(lengths);
                }
                "FunctionDecl" if node.inner.iter().any(|n| n.kind == "CompoundStmt") => {
                    self.refuse(Refusal::NestedFunction);
                }
                _ => {}
            }
        }
        found
    }
}
