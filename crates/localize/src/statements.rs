//! Lists the statements of a source file, and where a mark can stand before them.

use std::path::PathBuf;

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, Part, Place, Refusal, Slot, StmtId, StmtKind,
    Storage, TranslationUnit, lex,
};
use patchwright_text::{LineMap, Span};
use patchwright_weave::{Mark, MarkKind};
use serde::{Deserialize, Serialize};

/// A part of a program that is executed as one step: an expression statement, the head of an `if` or a loop, a jump, or a declaration
/// with an initialiser. The right operand of `&&` or `||` is a step, too, because it may be skipped. Code in the body of a macro
/// belongs to the use of the macro.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Index of its file.
    pub file: usize,
    /// Index of its function among those of all files.
    pub function: usize,
    /// Its text in the file, with the statements that it contains; of a use of a macro, the use.
    pub span: Span,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// The line on which it ends.
    pub last_line: u32,
    /// It may end the process or make it another program without `exit`: it calls `_exit` or `exec…`.
    pub leaves: bool,
}

/// A function that has statements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionInfo {
    /// Its name.
    pub name: String,
    /// Index of its file.
    pub file: usize,
    /// The line on which its body begins.
    pub line: u32,
    /// Its body.
    pub body: Span,
}

/// A source file with its functions and statements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative to the project's root.
    pub relative: PathBuf,
    /// Its text.
    pub source: Vec<u8>,
    /// Id of its first statement; they are numbered in the order of the file, across all files.
    pub first: u32,
}

/// The statements found in one file, with their marks.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Names and bodies; the file is still to be filled in.
    pub functions: Vec<FunctionInfo>,
    /// Statements in order of their places; `function` indexes `functions`.
    pub statements: Vec<Statement>,
    /// The mark of each statement.
    pub marks: Vec<Mark>,
    /// Functions without marks, by reason.
    pub refused: Vec<Refusal>,
}

/// Finds the statements of a file that is compiled in the ways `units`. A function that several of them compile has the
/// statements of all: they agree about those that none leaves out.
pub(crate) fn find(source: &[u8], units: &[TranslationUnit]) -> Found {
    let mut found = Found::default();
    let lines = LineMap::new(source);
    let mut taken: Vec<Span> = Vec::new();
    let all = units
        .iter()
        .flat_map(|unit| unit.functions.iter().map(move |function| (unit, function)));
    for (_, function) in all.clone() {
        if taken.iter().any(|span| span.overlaps(function.span)) {
            continue;
        }
        taken.push(function.span);
        // Bodies are not given twice, so what a change of text would have to respect does not matter here.
        if let Some(
            refusal @ (Refusal::InHeader
            | Refusal::BodyFromMacro
            | Refusal::NestedFunction
            | Refusal::ExternInline
            | Refusal::TooLarge
            | Refusal::Ambiguous),
        ) = function.refusal
        {
            found.refused.push(refusal);
            continue;
        }
        let number = found.functions.len();
        let mut steps = Vec::new();
        for (unit, twin) in all.clone() {
            if twin.span.overlaps(function.span) {
                let mut walker = Walker {
                    unit,
                    function: twin,
                    steps: Vec::new(),
                };
                walker.stmt(twin.body, Position::Fixed);
                walker.operands();
                steps.append(&mut walker.steps);
            }
        }
        steps.sort_by_key(|step| (step.span.start, std::cmp::Reverse(step.span.end)));
        steps.dedup_by_key(|step| step.span);
        if steps.is_empty() {
            continue;
        }
        found.functions.push(FunctionInfo {
            name: function.name.clone(),
            file: 0,
            line: lines.line(function.body_span.start),
            body: function.body_span,
        });
        for step in steps {
            found.marks.push(Mark {
                number: found.statements.len() as u32,
                span: step.span,
                kind: step.kind,
            });
            found.statements.push(Statement {
                file: 0,
                function: number,
                span: step.span,
                line: lines.line(step.span.start),
                last_line: lines.line(step.span.end.saturating_sub(1)),
                leaves: step.leaves,
            });
        }
    }
    found
}

/// How a statement is placed.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// Among others in a block: a mark can stand before it.
    Block,
    /// As the only statement that the grammar wants.
    Body,
    /// A block of a function or of a `switch`; the first part of a `for`.
    Fixed,
}

struct Step {
    span: Span,
    kind: MarkKind,
    leaves: bool,
}

struct Walker<'a> {
    unit: &'a TranslationUnit,
    function: &'a Function,
    steps: Vec<Step>,
}

impl Walker<'_> {
    fn stmt(&mut self, id: StmtId, position: Position) {
        let stmt = self.function.stmt(id);
        if position != Position::Fixed {
            self.step(id, position);
        }
        if let StmtKind::Compound(inner) = &stmt.kind {
            return self.block(stmt.place, inner);
        }
        for part in stmt.kind.parts() {
            let Part::Statement(inner, slot) = part else {
                continue;
            };
            match slot {
                Slot::Arm | Slot::Loop | Slot::Labelled => self.stmt(inner, Position::Body),
                Slot::Switch => self.stmt(inner, Position::Fixed),
                Slot::Block(_) | Slot::Init | Slot::Unknown => {}
            }
        }
    }

    /// The statements of a block. Those that come from a macro's body are one step, the use, if the use stands where a
    /// statement begins.
    fn block(&mut self, place: Place, inner: &[StmtId]) {
        let source = &self.unit.source;
        let mut end = match place {
            Place::Written(span) => Some(span.start as usize + 1),
            _ => None,
        };
        for &id in inner {
            match self.function.stmt(id).place {
                Place::Written(span) => end = Some(span.end as usize),
                Place::MacroBody { invocation } => {
                    let begins = end.is_some_and(|end| {
                        next_statement(source, end) == invocation.start as usize
                    });
                    if begins && self.is_executable(id) {
                        self.steps.push(Step {
                            span: invocation,
                            kind: MarkKind::InBlock,
                            leaves: self.leaves(id),
                        });
                    }
                    end = Some(invocation.end as usize);
                }
                _ => end = None,
            }
            self.stmt(id, Position::Block);
        }
    }

    fn step(&mut self, id: StmtId, position: Position) {
        let stmt = self.function.stmt(id);
        let Place::Written(span) = stmt.place else {
            return;
        };
        let kind = match position {
            Position::Body => MarkKind::Alone,
            Position::Block | Position::Fixed => MarkKind::InBlock,
        };
        // What is no statement for us, or no statement in braces for C.
        let special = matches!(stmt.kind, StmtKind::Declaration(_) | StmtKind::Other { .. });
        if !self.is_executable(id) || (kind == MarkKind::Alone && special) {
            return;
        }
        self.steps.push(Step {
            span,
            kind,
            leaves: self.leaves(id),
        });
    }

    /// The operands that may not be evaluated although their statement is executed.
    fn operands(&mut self) {
        for expr in self.function.exprs.iter().filter(|expr| expr.evaluated) {
            let ExprKind::Binary {
                operator: BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr,
                right,
                ..
            } = expr.kind
            else {
                continue;
            };
            let mut operand = right;
            while let ExprKind::Cast {
                operand: inner,
                implicit: true,
                ..
            } = self.function.expr(operand).kind
            {
                operand = inner;
            }
            if let Place::Written(span) = self.function.expr(operand).place {
                self.steps.push(Step {
                    span,
                    kind: MarkKind::Operand,
                    leaves: self.calls_leaver(operand),
                });
            }
        }
    }

    fn is_executable(&self, id: StmtId) -> bool {
        match &self.function.stmt(id).kind {
            StmtKind::Compound(_)
            | StmtKind::Null
            | StmtKind::Case(_)
            | StmtKind::Default(_)
            | StmtKind::Label { .. } => false,
            StmtKind::Declaration(variables) => variables.iter().any(|&id| {
                let variable = self.unit.variable(id);
                variable.storage == Storage::Local && variable.initializer.is_some()
            }),
            // `__attribute__((fallthrough));` must be followed by a label at once, not preceded: a mark is no harm,
            // but it is not executable either.
            StmtKind::Other { kind, .. } => kind != "AttributedStmt",
            _ => true,
        }
    }

    /// Whether the expressions of the statement itself, not of those in it, call what ends a process without `exit`.
    fn leaves(&self, id: StmtId) -> bool {
        let own = self.unit.expressions_of(&self.function.stmt(id).kind);
        own.into_iter().any(|id| self.calls_leaver(id))
    }

    fn calls_leaver(&self, id: ExprId) -> bool {
        self.function.within(id).any(|id| {
            let ExprKind::Call { callee, .. } = &self.function.expr(id).kind else {
                return false;
            };
            let callee = self.function.expr(self.function.stripped(*callee));
            matches!(&callee.kind, ExprKind::Function(name) if patchwright_clib::leaves_at_once(name))
        })
    }
}

/// Where the statement after the one that ends at `end` begins: behind blanks, comments, stray semicolons, directives.
fn next_statement(source: &[u8], end: usize) -> usize {
    let mut at = end;
    loop {
        at = lex::skip_blank(source, at);
        match source.get(at) {
            Some(b';') => at += 1,
            Some(b'#') => {
                while source.get(at).is_some_and(|&byte| byte != b'\n') {
                    at = lex::step(source, at);
                }
            }
            _ => return at,
        }
    }
}
