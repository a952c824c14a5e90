//! Sources that clang really reads, and what a kind makes of them.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, StmtId, StmtKind, TranslationUnit, detail::Detail,
    scopes,
};
use patchwright_kinds::{Change, Finder, Found, Kind, Surroundings, Target, layout};
use patchwright_text::{Edit, apply_edits};

/// What reads sources.
pub struct Reader(patchwright_testkit::Reader);

impl Reader {
    pub fn start() -> Self {
        Reader(patchwright_testkit::Reader::new())
    }

    fn read(&mut self, source: &str) -> TranslationUnit {
        self.0.read("unit.c", source).0
    }

    /// The functions of a source, however they are laid out and spelled: operands that commute are in order, and blocks are what they consist of.
    pub fn canonical(&mut self, source: &str) -> String {
        let unit = self.read(source);
        let texts = unit.functions.iter().map(|function| {
            let canon = Canon {
                unit: &unit,
                function,
            };
            format!("{} {}", function.name, canon.statement(function.body))
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// A source with braces round what an `if` or a loop governs.
    pub fn braced(&mut self, source: &str) -> String {
        let unit = self.read(source);
        let mut edits = Vec::new();
        for function in &unit.functions {
            for stmt in &function.stmts {
                let bodies = match stmt.kind {
                    StmtKind::If {
                        then, otherwise, ..
                    } => std::iter::once(then).chain(otherwise).collect(),
                    StmtKind::While { body, .. } | StmtKind::For { body, .. } => vec![body],
                    _ => Vec::new(),
                };
                for body in bodies {
                    let stmt = function.stmt(body);
                    let Some(span) = stmt.place.editable() else {
                        continue;
                    };
                    if !matches!(stmt.kind, StmtKind::Compound(_)) {
                        edits.push(Edit::insert(span.start, "{ "));
                        edits.push(Edit::insert(span.end, " }"));
                    }
                }
            }
        }
        String::from_utf8(apply_edits(source.as_bytes(), &edits).unwrap()).unwrap()
    }

    /// A source whose operands stand the other way round, where nothing but the order changes.
    pub fn commuted(&mut self, source: &str) -> String {
        let unit = self.read(source);
        let mut edits: Vec<Edit> = Vec::new();
        for function in &unit.functions {
            for expr in &function.exprs {
                let ExprKind::Binary {
                    operator,
                    left,
                    right,
                } = expr.kind
                else {
                    continue;
                };
                let (Some(sign), Some(span)) = (turned(operator), expr.place.editable()) else {
                    continue;
                };
                let is_inside = edits
                    .iter()
                    .any(|edit| edit.span.start < span.end && span.start < edit.span.end);
                let text = |id| {
                    let expr = function.expr(id);
                    let place = expr.place.editable();
                    let place =
                        place.or_else(|| function.expr(function.stripped(id)).place.editable());
                    let bare = function.stripped(id);
                    let text = unit.text(place?).into_owned();
                    Some(match function.expr(bare).kind {
                        ExprKind::Binary { .. } if !text.starts_with('(') => format!("({text})"),
                        _ => text,
                    })
                };
                if let (Some(left), Some(right), false) = (text(left), text(right), is_inside) {
                    edits.push(Edit::replace(span, format!("{right} {sign} {left}")));
                }
            }
        }
        String::from_utf8(apply_edits(source.as_bytes(), &edits).unwrap()).unwrap()
    }

    /// The sources that a kind makes of a source.
    pub fn changed(&mut self, kind: &Kind, source: &str) -> Vec<String> {
        let mut unit = self.read(source);
        let functions = std::mem::take(&mut unit.functions);
        let mut found = Vec::new();
        for function in &functions {
            let map = scopes(&unit, function);
            let finder = Finder::new(&Surroundings {
                unit: &unit,
                function,
                scopes: &map,
                file: &functions,
                linked: &|_| true,
                ends: &|_| false,
            });
            for change in finder.find(kind).found {
                let text = applied(&unit, function, &change);
                found.extend(text);
            }
        }
        found
    }
}

fn applied(
    unit: &TranslationUnit,
    function: &patchwright_csource::Function,
    found: &Found,
) -> Option<String> {
    let place = |id| {
        let span = function.stmt(id).place.editable()?;
        let is_body = !function
            .stmts
            .iter()
            .any(|stmt| matches!(&stmt.kind, StmtKind::Compound(inner) if inner.contains(&id)));
        Some((span, is_body))
    };
    let edit = match (&found.change, found.target) {
        (Change::Edit(edit), _) => edit.clone(),
        (Change::Insertion(text), Target::Before(id)) => {
            let (span, is_body) = place(id)?;
            layout::insertion(&unit.source, span, is_body, text)
        }
        (Change::Insertion(text), Target::After(id)) => {
            let (span, is_body) = place(id)?;
            layout::insertion_after(&unit.source, span, is_body, text)
        }
        _ => return None,
    };
    let text = apply_edits(&unit.source, &[edit]).unwrap();
    Some(String::from_utf8(text).unwrap())
}

/// The operator for exchanged operands.
fn turned(operator: BinaryOperator) -> Option<&'static str> {
    use BinaryOperator::*;
    Some(match operator {
        Add => "+",
        Mul => "*",
        Eq => "==",
        Ne => "!=",
        Lt => ">",
        Le => ">=",
        Gt => "<",
        Ge => "<=",
        _ => return None,
    })
}

/// A function whose spelling does not count.
struct Canon<'a> {
    unit: &'a TranslationUnit,
    function: &'a Function,
}

impl Canon<'_> {
    fn expression(&self, id: ExprId) -> String {
        let id = self.function.stripped(id);
        let expr = self.function.expr(id);
        match &expr.kind {
            ExprKind::Binary {
                operator,
                left,
                right,
            } => {
                let (left, right) = (self.expression(*left), self.expression(*right));
                let own = operator.spelling();
                match turned(*operator) {
                    Some(sign) if right < left => format!("({right} {sign} {left})"),
                    _ => format!("({left} {own} {right})"),
                }
            }
            ExprKind::Variable(id) => self.unit.variable(*id).name.clone(),
            ExprKind::Integer { value, .. } => value.to_string(),
            ExprKind::Function(name) => name.clone(),
            kind => {
                let head = match kind {
                    ExprKind::Member { name, arrow, .. } => format!("{name} {arrow}"),
                    ExprKind::Unary { operator, .. } => {
                        let step = match self.function.details.of.get(&id) {
                            Some(Detail::Step { increment, .. }) => format!("{increment}"),
                            _ => String::new(),
                        };
                        format!("{operator:?} {step}")
                    }
                    ExprKind::Assign { operator, .. } => format!("{operator:?}="),
                    ExprKind::CompilerConstant => {
                        format!("{:?}", self.function.details.of.get(&id))
                    }
                    ExprKind::String => format!("{:?}", self.function.details.of.get(&id)),
                    ExprKind::Subscript { .. } => "element".to_owned(),
                    ExprKind::Call { .. } => "call".to_owned(),
                    other => format!("{:?}", std::mem::discriminant(other)),
                };
                let children = self.function.children(id).into_iter();
                let mut children: Vec<String> = children.map(|id| self.expression(id)).collect();
                // Whether two strings are equal does not depend on their order.
                if children.first().is_some_and(|callee| callee == "strcmp") {
                    children.sort();
                }
                format!("[{head} {}]", children.join(", "))
            }
        }
    }

    fn statement(&self, id: StmtId) -> String {
        let optional = |id: &Option<ExprId>| id.map_or(String::new(), |id| self.expression(id));
        match &self.function.stmt(id).kind {
            StmtKind::Compound(inner) => {
                let texts: Vec<String> = inner.iter().map(|id| self.statement(*id)).collect();
                match texts.len() {
                    1 => texts.concat(),
                    _ => format!("{{{}}}", texts.join(" ")),
                }
            }
            StmtKind::Declaration(all) => {
                let texts = all.iter().map(|id| {
                    let variable = self.unit.variable(*id);
                    format!("{} = {}", variable.name, optional(&variable.initializer))
                });
                texts.collect::<Vec<_>>().join("; ")
            }
            StmtKind::Expression(expr) => format!("{};", self.expression(*expr)),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => format!(
                "if {} {} else {}",
                self.expression(*condition),
                self.statement(*then),
                otherwise.map_or(String::new(), |id| self.statement(id))
            ),
            StmtKind::While { condition, body } => {
                format!(
                    "while {} {}",
                    self.expression(*condition),
                    self.statement(*body)
                )
            }
            StmtKind::Do { body, condition } => {
                format!(
                    "do {} {}",
                    self.statement(*body),
                    self.expression(*condition)
                )
            }
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => format!(
                "for {} {} {} {}",
                init.map_or(String::new(), |id| self.statement(id)),
                optional(condition),
                optional(increment),
                self.statement(*body)
            ),
            StmtKind::Switch { condition, body } => {
                format!(
                    "switch {} {}",
                    self.expression(*condition),
                    self.statement(*body)
                )
            }
            StmtKind::Case(body) | StmtKind::Default(body) | StmtKind::Label { body, .. } => {
                format!("label {}", self.statement(*body))
            }
            StmtKind::Return(value) => format!("return {};", optional(value)),
            StmtKind::Goto(label) => format!("goto {label};"),
            other => format!("{other:?};"),
        }
    }
}
