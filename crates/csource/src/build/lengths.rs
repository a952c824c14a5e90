//! Reads the lengths of variable arrays.
//!
//! Clang's dump has a length only in the printed text of a type, without implicit conversions. This reader parses that text
//! with the names that are visible where the type is written. A length with anything else (calls without a prototype, statement
//! expressions, floating arithmetic, …) counts as not understood.

use patchwright_semantics::Precedence;

use super::{FunctionBuilder, ordinary::Ordinary};
use crate::{
    detail::Detail,
    raw::Node,
    tree::*,
    types::{IntegerKind, LengthId, TypeId, TypeKind},
};
use patchwright_ctext::{self as lex, Kind};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Integer(i128, IntegerKind),
    Word(String),
    Punct(&'static str),
}

/// The signs that this reader knows.
const SIGNS: [&str; 30] = [
    "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", ".", ",",
    "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "!", "?",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    for token in lex::Tokens::new(text.as_bytes()) {
        let said = text.get(token.start..token.end())?;
        found.push(match token.kind {
            Kind::Word => Token::Word(said.to_owned()),
            Kind::Number => {
                let (value, kind) = integer(said)?;
                Token::Integer(value, kind)
            }
            // Escapes are left to the compiler.
            Kind::Character => match *said.as_bytes() {
                [b'\'', c, b'\''] if c.is_ascii() => {
                    Token::Integer(i128::from(c), IntegerKind::Int)
                }
                _ => return None,
            },
            Kind::Sign => Token::Punct(SIGNS.iter().chain(&[":"]).find(|sign| **sign == said)?),
            Kind::String | Kind::Other => return None,
        });
    }
    Some(found)
}

/// An integer constant and its type.
fn integer(text: &str) -> Option<(i128, IntegerKind)> {
    use IntegerKind::*;
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let (value, decimal) = match (digits.strip_prefix("0x"), digits.strip_prefix('0')) {
        (Some(hex), _) => (i128::from_str_radix(hex, 16).ok()?, false),
        (None, Some(octal)) if !octal.is_empty() => (i128::from_str_radix(octal, 8).ok()?, false),
        _ => (digits.parse().ok()?, true),
    };
    let unsigned = suffix.contains('u');
    let kinds: &[IntegerKind] = match (unsigned, suffix.matches('l').count()) {
        (true, 0) => &[UnsignedInt, UnsignedLong],
        (true, 1) => &[UnsignedLong],
        (true, _) => &[UnsignedLongLong],
        (false, 0) if decimal => &[Int, Long],
        (false, 0) => &[Int, UnsignedInt, Long, UnsignedLong],
        (false, 1) if decimal => &[Long],
        (false, 1) => &[Long, UnsignedLong],
        (false, _) => &[LongLong],
    };
    let fits = |kind: &&IntegerKind| value < 1 << (8 * kind.size() - u64::from(is_signed(**kind)));
    kinds.iter().find(fits).map(|&kind| (value, kind))
}

fn is_signed(kind: IntegerKind) -> bool {
    use IntegerKind::*;
    matches!(
        kind,
        Char | SignedChar | Short | Int | Long | LongLong | Int128
    )
}

fn rank(kind: IntegerKind) -> u8 {
    use IntegerKind::*;
    match kind {
        Bool => 0,
        Char | SignedChar | UnsignedChar => 1,
        Short | UnsignedShort => 2,
        Int | UnsignedInt => 3,
        Long | UnsignedLong => 4,
        LongLong | UnsignedLongLong => 5,
        Int128 | UnsignedInt128 => 6,
    }
}

fn unsigned(kind: IntegerKind) -> IntegerKind {
    use IntegerKind::*;
    match kind {
        Int => UnsignedInt,
        Long => UnsignedLong,
        LongLong => UnsignedLongLong,
        Int128 => UnsignedInt128,
        other => other,
    }
}

/// The type in which arithmetic on two promoted integer types is done.
fn common(a: IntegerKind, b: IntegerKind) -> IntegerKind {
    let (high, low) = if rank(a) >= rank(b) { (a, b) } else { (b, a) };
    match (is_signed(high), is_signed(low)) {
        (true, false) if high.size() > low.size() => high,
        (true, false) => unsigned(high),
        (false, true) if rank(high) == rank(low) => high,
        _ if rank(high) == rank(low) && is_signed(high) != is_signed(low) => unsigned(high),
        _ => high,
    }
}

impl FunctionBuilder<'_, '_> {
    /// Converts the lengths of the types that were read since the last time; which they are.
    pub(super) fn lengths(&mut self) -> Vec<LengthId> {
        let waiting = self.unit.types.take_lengths();
        let mut all = Vec::new();
        for (id, text) in waiting {
            all.push(id);
            if let Some(value) = self.read_length(&text) {
                self.details.lengths.insert(id, value);
            }
        }
        all
    }

    fn read_length(&mut self, text: &str) -> Option<ExprId> {
        let before = self.exprs.len();
        let value = Reader::read(self, text);
        if value.is_none() {
            // What was made of a part of it means nothing.
            for id in before..self.exprs.len() {
                self.details.of.remove(&ExprId(id as u32));
            }
            self.exprs.truncate(before);
            self.expr_nodes.truncate(before);
            self.details.expr_lines.truncate(before);
        }
        value
    }

    /// Reads the length of an array parameter, which is evaluated although the parameter is a pointer. Clang's dump does not show it.
    pub(super) fn parameter_effects(&mut self, parameter: VarId, node: &Node) {
        let Some(text) = self.declarator_text(node) else {
            return;
        };
        let Some(open) = text.find('[') else { return };
        let mut depth = 0;
        let close = text[open..].char_indices().find(|&(_, c)| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        });
        let Some((length, _)) = close else { return };
        let inside = text[open + 1..open + length].trim();
        let assigns = inside
            .replace("==", "")
            .replace("<=", "")
            .replace(">=", "")
            .replace("!=", "");
        if !assigns.contains(['=', '(']) && !inside.contains("++") && !inside.contains("--") {
            return;
        }
        let inside = inside.strip_prefix("static ").unwrap_or(inside).to_owned();
        // A parenthesis need not be a call.
        let value = self.read_length(&inside);
        self.details.parameter_effects.push((parameter, value));
    }

    /// The text of a declaration, if the main file has it as it is.
    fn declarator_text(&self, node: &Node) -> Option<String> {
        let range = node.range.as_ref()?;
        let (begin, end) = (&range.begin, &range.end);
        if begin.spelling.is_some() || end.spelling.is_some() {
            return None;
        }
        let text = self.unit.text_at(begin)?;
        let length = (end.offset? + end.token_length).checked_sub(begin.offset?)? as usize;
        text.get(..length).map(str::to_owned)
    }
}

struct Reader<'r, 'u, 'a> {
    builder: &'r mut FunctionBuilder<'u, 'a>,
    tokens: Vec<Token>,
    at: usize,
}

impl<'r, 'u, 'a> Reader<'r, 'u, 'a> {
    fn read(builder: &'r mut FunctionBuilder<'u, 'a>, text: &str) -> Option<ExprId> {
        let tokens = tokens(text)?;
        let mut reader = Reader {
            builder,
            tokens,
            at: 0,
        };
        let value = reader.conditional()?;
        let value = reader.value(value)?;
        reader.kind(value)?;
        (reader.at == reader.tokens.len()).then_some(value)
    }

    fn make(&mut self, kind: ExprKind, ty: TypeId, lvalue: bool) -> ExprId {
        let builder = &mut *self.builder;
        let id = ExprId(builder.exprs.len() as u32);
        builder.exprs.push(Expr {
            kind,
            ty,
            lvalue,
            place: Place::Unknown,
            evaluated: false,
        });
        // It stands for no text of its own.
        builder.expr_nodes.push(u32::MAX);
        builder.details.expr_lines.push(builder.current_line);
        id
    }

    fn ty(&self, id: ExprId) -> TypeId {
        self.builder.exprs[id.0 as usize].ty
    }

    fn kind(&self, id: ExprId) -> Option<IntegerKind> {
        self.builder.unit.types.integer_kind(self.ty(id))
    }

    fn plain(&mut self, kind: TypeKind) -> TypeId {
        self.builder.unit.types.plain(kind)
    }

    fn cast(&mut self, operand: ExprId, ty: TypeId, cast: CastKind) -> ExprId {
        let kind = ExprKind::Cast {
            operand,
            implicit: true,
            cast,
        };
        self.make(kind, ty, false)
    }

    /// The value of an expression: what an lvalue holds, arrays as pointers.
    fn value(&mut self, id: ExprId) -> Option<ExprId> {
        let expr = &self.builder.exprs[id.0 as usize];
        let (ty, lvalue) = (expr.ty, expr.lvalue);
        if !self.builder.unit.types.is_known(ty) {
            return None;
        }
        match *self.builder.unit.types.kind(ty) {
            TypeKind::Array(of, _) | TypeKind::VariableArray(of, _) => {
                let pointer = self.plain(TypeKind::Pointer(of));
                Some(self.cast(id, pointer, CastKind::ArrayToPointer))
            }
            TypeKind::Integer(_) | TypeKind::Enum { .. } | TypeKind::Pointer(_) if lvalue => {
                let plain = self.builder.unit.types.unqualified(ty);
                Some(self.cast(id, plain, CastKind::LValueToRValue))
            }
            TypeKind::Integer(_) | TypeKind::Enum { .. } | TypeKind::Pointer(_) => Some(id),
            _ => None,
        }
    }

    fn converted(&mut self, id: ExprId, kind: IntegerKind) -> Option<ExprId> {
        let ty = self.plain(TypeKind::Integer(kind));
        self.kind(id)?;
        match self.ty(id) == ty {
            true => Some(id),
            false => Some(self.cast(id, ty, CastKind::Arithmetic)),
        }
    }

    /// The value of an expression after the integer promotions. Members that are bit-fields have a type that the dump would tell, and
    /// this does not.
    fn promoted(&mut self, id: ExprId) -> Option<ExprId> {
        let value = self.value(id)?;
        let kind = self.kind(value)?;
        match rank(kind) < 3 {
            true => self.converted(value, IntegerKind::Int),
            false => self.converted(value, kind),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, punctuator: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Punct(p)) if *p == punctuator);
        self.at += usize::from(is);
        is
    }

    fn conditional(&mut self) -> Option<ExprId> {
        let condition = self.binary(Precedence::LogicalOr)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let condition = self.value(condition)?;
        let then = self.conditional()?;
        let then = self.promoted(then)?;
        if !self.eat(":") {
            return None;
        }
        let otherwise = self.conditional()?;
        let otherwise = self.promoted(otherwise)?;
        let kind = common(self.kind(then)?, self.kind(otherwise)?);
        let (then, otherwise) = (
            self.converted(then, kind)?,
            self.converted(otherwise, kind)?,
        );
        let ty = self.ty(then);
        let kind = ExprKind::Conditional {
            condition,
            then,
            otherwise,
        };
        Some(self.make(kind, ty, false))
    }

    /// Operators that bind as tightly as `least` or tighter, and their operands.
    fn binary(&mut self, least: Precedence) -> Option<ExprId> {
        let mut left = self.unary()?;
        while let Some(Token::Punct(sign)) = self.peek().cloned()
            && let Some(precedence) = Precedence::of_sign(sign)
            && precedence >= least
        {
            self.at += 1;
            let right = self.binary(precedence.tighter())?;
            left = self.combine(BinaryOperator::from_spelling(sign)?, left, right)?;
        }
        Some(left)
    }

    fn combine(&mut self, operator: BinaryOperator, left: ExprId, right: ExprId) -> Option<ExprId> {
        use BinaryOperator::*;
        let int = self.plain(TypeKind::Integer(IntegerKind::Int));
        let (left, right, ty) = match operator {
            LogicalAnd | LogicalOr => (self.value(left)?, self.value(right)?, int),
            Shl | Shr => {
                let (left, right) = (self.promoted(left)?, self.promoted(right)?);
                (left, right, self.ty(left))
            }
            _ => {
                let (left, right) = (self.promoted(left)?, self.promoted(right)?);
                let kind = common(self.kind(left)?, self.kind(right)?);
                let (left, right) = (self.converted(left, kind)?, self.converted(right, kind)?);
                let compares = matches!(operator, Lt | Le | Gt | Ge | Eq | Ne);
                (left, right, if compares { int } else { self.ty(left) })
            }
        };
        let kind = ExprKind::Binary {
            operator,
            left,
            right,
        };
        Some(self.make(kind, ty, false))
    }

    /// The end of a type's name in parentheses that opens here, if one does.
    fn type_name(&mut self) -> Option<TypeId> {
        if !matches!(self.peek(), Some(Token::Punct("("))) {
            return None;
        }
        let Some(Token::Word(first)) = self.tokens.get(self.at + 1) else {
            return None;
        };
        if !matches!(
            self.builder.unit.ordinary(first),
            None | Some(Ordinary::Typedef)
        ) {
            return None;
        }
        let mut text = String::new();
        let mut at = self.at + 1;
        loop {
            match self.tokens.get(at)? {
                Token::Word(word) => text.push_str(word),
                Token::Punct("*") => text.push('*'),
                Token::Punct(")") => break,
                _ => return None,
            }
            text.push(' ');
            at += 1;
        }
        let ty = self.builder.unit.types.parse_here(text.trim());
        if !self.builder.unit.types.is_known(ty) {
            return None;
        }
        self.at = at + 1;
        Some(ty)
    }

    fn unary(&mut self) -> Option<ExprId> {
        if let Some(ty) = self.type_name() {
            let operand = self.unary()?;
            let operand = self.value(operand)?;
            let (from, to) = (self.ty(operand), ty);
            let types = &self.builder.unit.types;
            let cast = match (types.kind(from), types.kind(to)) {
                (TypeKind::Pointer(_), TypeKind::Pointer(_)) => CastKind::Pointer,
                _ => {
                    types.integer_kind(from)?;
                    types.integer_kind(to)?;
                    CastKind::Arithmetic
                }
            };
            return Some(self.cast(operand, to, cast));
        }
        let Some(Token::Punct(spelling)) = self.peek().cloned() else {
            return self.postfix();
        };
        let operator = match spelling {
            "+" => UnaryOperator::Plus,
            "-" => UnaryOperator::Minus,
            "~" => UnaryOperator::Complement,
            "!" => UnaryOperator::Not,
            "*" => UnaryOperator::Dereference,
            "++" | "--" => UnaryOperator::Step,
            _ => return self.postfix(),
        };
        self.at += 1;
        let operand = self.unary()?;
        match operator {
            UnaryOperator::Step => self.step(operand, spelling == "++", true),
            UnaryOperator::Dereference => {
                let operand = self.value(operand)?;
                let ty = self.builder.unit.types.element(self.ty(operand))?;
                Some(self.make(ExprKind::Unary { operator, operand }, ty, true))
            }
            UnaryOperator::Not => {
                let operand = self.value(operand)?;
                let int = self.plain(TypeKind::Integer(IntegerKind::Int));
                Some(self.make(ExprKind::Unary { operator, operand }, int, false))
            }
            _ => {
                let operand = self.promoted(operand)?;
                let ty = self.ty(operand);
                Some(self.make(ExprKind::Unary { operator, operand }, ty, false))
            }
        }
    }

    fn step(&mut self, operand: ExprId, increment: bool, prefix: bool) -> Option<ExprId> {
        self.kind(operand)?;
        if !self.builder.exprs[operand.0 as usize].lvalue {
            return None;
        }
        let ty = self.ty(operand);
        let ty = self.builder.unit.types.unqualified(ty);
        let kind = ExprKind::Unary {
            operator: UnaryOperator::Step,
            operand,
        };
        let id = self.make(kind, ty, false);
        let detail = Detail::Step { increment, prefix };
        self.builder.details.of.insert(id, detail);
        Some(id)
    }

    fn postfix(&mut self) -> Option<ExprId> {
        let mut base = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.conditional()?;
                let (pointer, index) = (self.value(base)?, self.value(index)?);
                self.kind(index)?;
                if !self.eat("]") {
                    return None;
                }
                let ty = self.builder.unit.types.element(self.ty(pointer))?;
                let kind = ExprKind::Subscript {
                    base: pointer,
                    index,
                };
                base = self.make(kind, ty, true);
            } else if self.eat(".") {
                base = self.member(base, false)?;
            } else if self.eat("->") {
                let pointer = self.value(base)?;
                base = self.member(pointer, true)?;
            } else if self.eat("++") {
                base = self.step(base, true, false)?;
            } else if self.eat("--") {
                base = self.step(base, false, false)?;
            } else {
                return Some(base);
            }
        }
    }

    fn member(&mut self, base: ExprId, arrow: bool) -> Option<ExprId> {
        let Some(Token::Word(name)) = self.peek().cloned() else {
            return None;
        };
        self.at += 1;
        let types = &self.builder.unit.types;
        let object = match arrow {
            true => types.element(self.ty(base))?,
            false => self.ty(base),
        };
        let TypeKind::Record(record) = *types.kind(object) else {
            return None;
        };
        let fields = types.record(record).fields.as_ref()?;
        // Members of anonymous members, and bit-fields, are left out.
        let index = fields.iter().position(|field| field.name == name)?;
        let field = &fields[index];
        if field.bit_width.is_some() {
            return None;
        }
        let ty = field.ty;
        let kind = ExprKind::Member {
            base,
            arrow,
            name,
            bit_field: false,
        };
        let id = self.make(kind, ty, true);
        let detail = Detail::Member { record, index };
        self.builder.details.of.insert(id, detail);
        Some(id)
    }

    fn primary(&mut self) -> Option<ExprId> {
        let token = self.peek()?.clone();
        self.at += 1;
        match token {
            Token::Integer(value, kind) => {
                let ty = self.plain(TypeKind::Integer(kind));
                Some(self.integer(value, ty, None))
            }
            Token::Punct("(") => {
                let inner = self.conditional()?;
                if !self.eat(")") {
                    return None;
                }
                let expr = &self.builder.exprs[inner.0 as usize];
                let (ty, lvalue) = (expr.ty, expr.lvalue);
                Some(self.make(ExprKind::Paren(inner), ty, lvalue))
            }
            Token::Word(word) if word == "sizeof" => self.size_of(),
            Token::Word(word) => match self.builder.unit.ordinary(&word) {
                Some(Ordinary::Variable(variable)) => {
                    let ty = self.builder.unit.variables[variable.0 as usize].ty;
                    Some(self.make(ExprKind::Variable(variable), ty, true))
                }
                Some(Ordinary::Enumerator(value)) => {
                    let kind = match i32::try_from(value) {
                        Ok(_) => IntegerKind::Int,
                        Err(_) => return None,
                    };
                    let ty = self.plain(TypeKind::Integer(kind));
                    Some(self.integer(value, ty, Some(word)))
                }
                Some(Ordinary::Typedef) => None,
                None => self.call(word),
            },
            Token::Punct(_) => None,
        }
    }

    fn integer(&mut self, value: i128, ty: TypeId, enumerator: Option<String>) -> ExprId {
        let kind = ExprKind::Integer {
            value,
            character: false,
            enumerator,
        };
        self.make(kind, ty, false)
    }

    fn size_of(&mut self) -> Option<ExprId> {
        let ty = match self.type_name() {
            Some(ty) => ty,
            None => {
                let operand = self.unary()?;
                self.ty(operand)
            }
        };
        if self.builder.unit.types.is_variable(ty) || !self.builder.unit.types.is_known(ty) {
            return None;
        }
        let long = self.plain(TypeKind::Integer(IntegerKind::UnsignedLong));
        let id = self.make(ExprKind::CompilerConstant, long, false);
        self.builder.details.of.insert(id, Detail::SizeOf(ty));
        Some(id)
    }

    /// A call of a function with a prototype.
    fn call(&mut self, name: String) -> Option<ExprId> {
        let declaration = self.builder.unit.declarations.get(&name)?.clone();
        if !declaration.prototyped || declaration.variadic || !self.eat("(") {
            return None;
        }
        let result = declaration.result?;
        self.builder.unit.types.integer_kind(result)?;
        let function = self.plain(TypeKind::Function);
        let pointer = self.plain(TypeKind::Pointer(function));
        let named = self.make(ExprKind::Function(name), function, true);
        let callee = self.cast(named, pointer, CastKind::FunctionToPointer);
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() && !self.eat(",") {
                return None;
            }
            let argument = self.conditional()?;
            let argument = self.value(argument)?;
            let wanted = *declaration.parameters.get(arguments.len())?;
            let types = &self.builder.unit.types;
            arguments.push(match (types.kind(self.ty(argument)), types.kind(wanted)) {
                (TypeKind::Pointer(_), TypeKind::Pointer(_)) => {
                    self.cast(argument, wanted, CastKind::Pointer)
                }
                _ => {
                    let kind = types.integer_kind(wanted)?;
                    self.converted(argument, kind)?
                }
            });
        }
        if arguments.len() != declaration.parameters.len() {
            return None;
        }
        let prototyped = arguments.len();
        let kind = ExprKind::Call {
            callee,
            arguments,
            prototyped,
        };
        Some(self.make(kind, result, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_the_types_that_c_gives_them() {
        use IntegerKind::*;
        for (text, value, kind) in [
            ("10", 10, Int),
            ("0x10", 16, Int),
            ("010", 8, Int),
            ("0", 0, Int),
            ("3000000000", 3_000_000_000, Long),
            ("0xffffffff", 0xffff_ffff, UnsignedInt),
            ("2UL", 2, UnsignedLong),
            ("2l", 2, Long),
        ] {
            assert_eq!(integer(text), Some((value, kind)), "{text}");
        }
        assert_eq!(integer("1.5"), None);
    }

    #[test]
    fn arithmetic_is_done_in_the_common_type() {
        use IntegerKind::*;
        assert_eq!(common(Int, UnsignedInt), UnsignedInt);
        assert_eq!(common(Int, Long), Long);
        assert_eq!(common(UnsignedInt, Long), Long);
        assert_eq!(common(UnsignedLong, LongLong), UnsignedLongLong);
        assert_eq!(common(Long, UnsignedLong), UnsignedLong);
    }
}
