//! Reads modules from the text form.

use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_text::Span;

use crate::{
    function::{Block, Edge, Function, Linkage, Local, LocalKind, Parameter, Temporary},
    instruction::{
        Argument, Callee, Instruction, InstructionKind, Operand, Subscript, SwitchCase, Terminator,
        TerminatorKind, Value, Without,
    },
    module::{Data, Global, Hook, Module, Node, Origin, Relocation, SourceFile, Target},
    types::{BlockId, FileId, FunctionId, GlobalId, LocalId, OriginId, TempId, Type},
};

/// Why a text is not the text form of a module, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// Reads a module from its text form. The module is not verified.
///
/// # Errors
/// For the first line that does not have the form that printing gives it.
pub fn read_module(text: &str) -> Result<Module, ReadError> {
    let mut module = Module::default();
    let mut open: Vec<Instruction> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |message: String| ReadError {
            line: index + 1,
            message,
        };
        let mut words = Words {
            words: split(line).map_err(at)?,
            at: 0,
        };
        if words.words.is_empty() {
            continue;
        }
        read_line(&mut module, &mut open, &mut words).map_err(at)?;
    }
    if open.is_empty() {
        Ok(module)
    } else {
        Err(ReadError {
            line: text.lines().count(),
            message: "the last block does not end".to_owned(),
        })
    }
}

fn read_line(
    module: &mut Module,
    open: &mut Vec<Instruction>,
    words: &mut Words,
) -> Result<(), String> {
    let first = words.next()?;
    match first.as_str() {
        "file" => module.files.push(SourceFile {
            path: words.string()?,
        }),
        "global" => module.globals.push(global(words)?),
        "data" => {
            let global = module.globals.last_mut().ok_or("data of no global")?;
            let hex = words.next().unwrap_or_default();
            let bytes = (0..hex.len() / 2)
                .map(|i| u8::from_str_radix(hex.get(2 * i..2 * i + 2).unwrap_or("?"), 16))
                .collect::<Result<Vec<u8>, _>>()
                .map_err(|error| error.to_string())?;
            global.data = Some(Data {
                bytes,
                relocations: Vec::new(),
            });
        }
        "at" => {
            let offset = words.number()?;
            let (target, addend) = words.address()?;
            let data = module.globals.last_mut().and_then(|g| g.data.as_mut());
            data.ok_or("a relocation of no data")?
                .relocations
                .push(Relocation {
                    offset,
                    target,
                    addend,
                });
        }
        "function" => module.functions.push(function(words)?),
        "constructor" | "destructor" => {
            let hook = Hook {
                function: FunctionId({
                    let word = words.next()?;
                    number_after(&word, "fn").ok_or_else(|| format!("`{word}` is no function"))?
                }),
                priority: u32::try_from(words.number()?).map_err(|error| error.to_string())?,
            };
            match first.as_str() {
                "constructor" => module.constructors.push(hook),
                _ => module.destructors.push(hook),
            }
        }
        _ => {
            let function = module.functions.last_mut().ok_or("no function is open")?;
            in_function(function, open, &first, words)?;
        }
    }
    words.end()
}

fn in_function(
    function: &mut Function,
    open: &mut Vec<Instruction>,
    first: &str,
    words: &mut Words,
) -> Result<(), String> {
    match first {
        "origin" => {
            let origin = words.rest_of_origin()?;
            function.origins.push(origin);
        }
        "local" => {
            let name = words.string()?;
            let kind = words.next()?;
            let kind = if kind == "memory" {
                LocalKind::Memory {
                    size: words.number()?,
                    align: words.number()?,
                }
            } else {
                LocalKind::Register(Type::parse(&kind).ok_or("a type is missing")?)
            };
            function.locals.push(Local {
                name,
                kind,
                origin: words.origin()?,
            });
        }
        _ if first.starts_with('b') && first.ends_with(':') => {
            if !open.is_empty() {
                return Err("the block before does not end".to_owned());
            }
        }
        "goto" | "branch" | "switch" | "return" | "returnnothing" | "unreachable" => {
            let kind = terminator(first, words)?;
            function.blocks.push(Block {
                instructions: std::mem::take(open),
                terminator: Terminator {
                    kind,
                    origin: words.origin()?,
                    without: words.without()?,
                    inside: words.inside()?,
                },
            });
        }
        _ => {
            let mut dst = None;
            let mut name = first.to_owned();
            if let Some((id, ty)) = first.split_once(':') {
                let id: u32 = id
                    .strip_prefix('t')
                    .and_then(|n| n.parse().ok())
                    .ok_or("a temporary is missing")?;
                let ty = Type::parse(ty).ok_or("a type is missing")?;
                let needed = id as usize + 1;
                if function.temporaries.len() < needed {
                    function
                        .temporaries
                        .resize(needed, Temporary { ty: Type::Void });
                }
                function.temporaries[id as usize] = Temporary { ty };
                dst = Some(TempId(id));
                words.expect("=")?;
                name = words.next()?;
            }
            let kind = instruction(&name, dst, words)?;
            open.push(Instruction {
                kind,
                origin: words.origin()?,
            });
        }
    }
    Ok(())
}

fn global(words: &mut Words) -> Result<Global, String> {
    let name = words.string()?;
    let linkage = words.linkage()?;
    words.expect("size")?;
    let size = words.number()?;
    words.expect("align")?;
    let mut global = Global {
        name,
        linkage,
        size,
        align: words.number()?,
        constant: false,
        thread_local: false,
        tentative: false,
        data: None,
        unsupported: None,
        origin: Origin::default(),
    };
    loop {
        match words.next()?.as_str() {
            "constant" => global.constant = true,
            "thread" => global.thread_local = true,
            "tentative" => global.tentative = true,
            "unsupported" => global.unsupported = Some(words.string()?),
            "from" => break,
            other => return Err(format!("`{other}` says nothing about a global")),
        }
    }
    global.origin = words.rest_of_origin()?;
    Ok(global)
}

fn function(words: &mut Words) -> Result<Function, String> {
    let name = words.string()?;
    let linkage = words.linkage()?;
    let mut function = Function {
        name,
        linkage,
        parameters: Vec::new(),
        variadic: false,
        prototyped: true,
        no_return: false,
        result: words.ty()?,
        locals: Vec::new(),
        temporaries: Vec::new(),
        blocks: Vec::new(),
        origins: Vec::new(),
    };
    loop {
        match words.next()?.as_str() {
            "variadic" => function.variadic = true,
            "unprototyped" => function.prototyped = false,
            "noreturn" => function.no_return = true,
            "takes" => break,
            other => return Err(format!("`{other}` says nothing about a function")),
        }
    }
    while words.more() {
        function.parameters.push(Parameter { ty: words.ty()? });
    }
    Ok(function)
}

fn instruction(
    name: &str,
    dst: Option<TempId>,
    words: &mut Words,
) -> Result<InstructionKind, String> {
    use InstructionKind::*;
    let defined = || dst.ok_or_else(|| format!("`{name}` defines a temporary"));
    Ok(match name {
        "read" => Read {
            dst: defined()?,
            local: words.local()?,
        },
        "write" => Write {
            local: words.local()?,
            value: words.operand()?,
        },
        "live" => Live {
            local: words.local()?,
        },
        "dead" => Dead {
            local: words.local()?,
        },
        "settle" => Settle {
            local: words.local()?,
        },
        "address" => LocalAddress {
            dst: defined()?,
            local: words.local()?,
        },
        "load" => {
            let volatile = words.eat("volatile");
            Load {
                dst: defined()?,
                ty: words.ty()?,
                address: words.operand()?,
                volatile,
            }
        }
        "store" => {
            let volatile = words.eat("volatile");
            Store {
                ty: words.ty()?,
                address: words.operand()?,
                value: words.operand()?,
                volatile,
            }
        }
        "loadbits" => LoadBits {
            dst: defined()?,
            ty: words.ty()?,
            offset: words.number()? as u32,
            width: words.number()? as u32,
            address: words.operand()?,
        },
        "storebits" => StoreBits {
            ty: words.ty()?,
            offset: words.number()? as u32,
            width: words.number()? as u32,
            address: words.operand()?,
            value: words.operand()?,
        },
        "extend" => Extend {
            dst: defined()?,
            ty: words.ty()?,
            width: words.number()? as u32,
            value: words.operand()?,
        },
        "unary" => Unary {
            dst: defined()?,
            op: words.unary()?,
            ty: words.ty()?,
            a: words.operand()?,
        },
        "binary" => Binary {
            dst: defined()?,
            op: words.binary()?,
            ty: words.ty()?,
            a: words.operand()?,
            b: words.operand()?,
        },
        "shift" => Shift {
            dst: defined()?,
            op: words.binary()?,
            ty: words.ty()?,
            count: words.ty()?,
            a: words.operand()?,
            b: words.operand()?,
        },
        "convert" => Convert {
            dst: defined()?,
            from: words.ty()?,
            to: words.ty()?,
            a: words.operand()?,
        },
        "advance" | "retreat" => PointerAdd {
            dst: defined()?,
            ty: words.ty()?,
            a: words.operand()?,
            index: words.operand()?,
            size: words.operand()?,
            negative: name == "retreat",
            subscript: match words.eat("of") {
                true => Some(Subscript {
                    count: words.number()?,
                    end: words.eat("end"),
                }),
                false => None,
            },
        },
        "distance" => PointerDifference {
            dst: defined()?,
            a: words.operand()?,
            b: words.operand()?,
            size: words.operand()?,
        },
        "member" => MemberAddress {
            dst: defined()?,
            a: words.operand()?,
            offset: words.number()?,
            array: match (words.eat("array"), words.eat("open")) {
                (true, true) => Some(u64::MAX),
                (true, false) => Some(words.number()?),
                (false, _) => None,
            },
        },
        "copy" => Copy {
            to: words.operand()?,
            from: words.operand()?,
            size: words.number()?,
        },
        "zero" => Zero {
            address: words.operand()?,
            size: words.number()?,
        },
        "call" | "icall" => {
            let result = words.ty()?;
            let callee = if name == "call" {
                let id = words.prefixed("fn")?;
                Callee::Direct(FunctionId(id))
            } else {
                Callee::Indirect(words.operand()?)
            };
            words.expect("fixed")?;
            let fixed = words.number()? as usize;
            let result_address = match words.eat("into") {
                true => Some(words.operand()?),
                false => None,
            };
            let mut arguments = Vec::new();
            while words.peek().is_some_and(|word| !word.starts_with('!')) {
                let to_const = words.eat("const");
                arguments.push(Argument {
                    ty: words.ty()?,
                    value: words.operand()?,
                    to_const,
                });
            }
            Call {
                dst,
                callee,
                arguments,
                fixed,
                result,
                result_address,
            }
        }
        "vastart" => VaStart {
            list: words.operand()?,
        },
        "vaarg" => VaArg {
            dst: defined()?,
            ty: words.ty()?,
            list: words.operand()?,
        },
        "vacopy" => VaCopy {
            to: words.operand()?,
            from: words.operand()?,
        },
        "allocate" => {
            let size = words.operand()?;
            let scope = match words.peek() {
                Some(word) if word.starts_with('l') => Some(words.local()?),
                _ => None,
            };
            Allocate {
                dst: defined()?,
                size,
                scope,
            }
        }
        "unsupported" => Unsupported {
            dst,
            reason: words.string()?,
        },
        other => return Err(format!("`{other}` is no instruction")),
    })
}

fn terminator(name: &str, words: &mut Words) -> Result<TerminatorKind, String> {
    Ok(match name {
        "goto" => TerminatorKind::Goto(words.edge()?),
        "branch" => TerminatorKind::Branch {
            ty: words.ty()?,
            condition: words.operand()?,
            then: words.edge()?,
            otherwise: words.edge()?,
        },
        "switch" => {
            let ty = words.ty()?;
            let value = words.operand()?;
            let default = words.edge()?;
            let mut cases = Vec::new();
            while words.peek().is_some_and(|word| !word.starts_with('!')) {
                cases.push(SwitchCase {
                    low: words.signed()?,
                    high: words.signed()?,
                    edge: words.edge()?,
                });
            }
            TerminatorKind::Switch {
                value,
                ty,
                cases,
                default,
            }
        }
        "return" => {
            let value = match words.peek() {
                Some(word) if !word.starts_with('!') => Some(words.operand()?),
                _ => None,
            };
            TerminatorKind::Return(value)
        }
        "returnnothing" => TerminatorKind::ReturnNothing,
        _ => TerminatorKind::Unreachable,
    })
}

/// The words of a line; quoted ones keep their opening quote, origins their `!`.
fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() || c == ',' {
            chars.next();
            continue;
        }
        let mut word = String::from(c);
        chars.next();
        if c == '"' {
            loop {
                match chars.next() {
                    None => return Err("a quote is not closed".to_owned()),
                    Some('"') => break,
                    Some('\\') => match chars.next() {
                        Some('n') => word.push('\n'),
                        Some('r') => word.push('\r'),
                        Some(other) => word.push(other),
                        None => return Err("a quote is not closed".to_owned()),
                    },
                    Some(other) => word.push(other),
                }
            }
        } else {
            while let Some(&c) = chars.peek() {
                // `!=` is an operator, `!5` an origin.
                let ends = c.is_whitespace() || c == ',' || (c == '!' && word != "!");
                if ends {
                    break;
                }
                word.push(c);
                chars.next();
            }
        }
        words.push(word);
    }
    Ok(words)
}

struct Words {
    words: Vec<String>,
    at: usize,
}

impl Words {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn more(&self) -> bool {
        self.at < self.words.len()
    }

    fn next(&mut self) -> Result<String, String> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word.ok_or_else(|| "the line ends too early".to_owned())
    }

    fn end(&self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` is too much")),
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        let next = self.next()?;
        if next == word {
            Ok(())
        } else {
            Err(format!("`{next}` stands where `{word}` should"))
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let word = self.next()?;
        match word.strip_prefix('"') {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("`{word}` stands where a quoted text should")),
        }
    }

    fn number(&mut self) -> Result<u64, String> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    fn signed(&mut self) -> Result<i128, String> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    fn ty(&mut self) -> Result<Type, String> {
        let word = self.next()?;
        Type::parse(&word).ok_or_else(|| format!("`{word}` is no type"))
    }

    fn linkage(&mut self) -> Result<Linkage, String> {
        Ok(match self.next()?.as_str() {
            "internal" => Linkage::Internal,
            "external" => Linkage::External,
            "weak" => Linkage::Weak,
            other => return Err(format!("`{other}` is no linkage")),
        })
    }

    fn prefixed(&mut self, prefix: &str) -> Result<u32, String> {
        let word = self.next()?;
        number_after(&word, prefix).ok_or_else(|| format!("`{word}` is not {prefix}0, {prefix}1…"))
    }

    fn local(&mut self) -> Result<LocalId, String> {
        self.prefixed("l").map(LocalId)
    }

    fn origin(&mut self) -> Result<OriginId, String> {
        self.prefixed("!").map(OriginId)
    }

    fn without(&mut self) -> Result<Without, String> {
        if self.peek().is_none_or(|word| word != "without") {
            return Ok(Without::Same);
        }
        self.next()?;
        if self.peek().is_some_and(|word| word == "end") {
            self.next()?;
            return Ok(Without::End);
        }
        Ok(Without::Block(BlockId(self.prefixed("b")?)))
    }

    fn inside(&mut self) -> Result<Option<OriginId>, String> {
        if self.peek().is_none_or(|word| word != "inside") {
            return Ok(None);
        }
        self.next()?;
        self.origin().map(Some)
    }

    fn edge(&mut self) -> Result<Edge, String> {
        Ok(Edge {
            target: BlockId(self.prefixed("b")?),
            origin: self.origin()?,
        })
    }

    fn unary(&mut self) -> Result<UnaryOp, String> {
        let word = self.next()?;
        UnaryOp::ALL
            .into_iter()
            .find(|op| op.spelling() == word)
            .ok_or_else(|| format!("`{word}` is no operator"))
    }

    fn binary(&mut self) -> Result<BinaryOp, String> {
        let word = self.next()?;
        BinaryOp::from_spelling(&word).ok_or_else(|| format!("`{word}` is no operator"))
    }

    fn address(&mut self) -> Result<(Target, i64), String> {
        let word = self.next()?;
        address(&word).ok_or_else(|| format!("`{word}` is no address"))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let word = self.next()?;
        let value = value(&word).ok_or_else(|| format!("`{word}` is no operand"))?;
        Ok(Operand {
            value,
            origin: self.origin()?,
        })
    }

    fn rest_of_origin(&mut self) -> Result<Origin, String> {
        let mut origin = Origin::default();
        while self.more() {
            let word = self.next()?;
            let bad = || format!("`{word}` is no part of an origin");
            if let Some((file, line)) = word.split_once(':') {
                let file = number_after(file, "file").ok_or_else(bad)?;
                origin.line = Some((FileId(file), line.parse().map_err(|_| bad())?));
            } else if let Some((start, end)) = word.split_once("..") {
                origin.span = Some(Span {
                    start: start.parse().map_err(|_| bad())?,
                    end: end.parse().map_err(|_| bad())?,
                });
            } else {
                origin.node = Some(match word.chars().next() {
                    Some('e') => Node::Expression(number_after(&word, "e").ok_or_else(bad)?),
                    Some('s') => Node::Statement(number_after(&word, "s").ok_or_else(bad)?),
                    Some('v') => Node::Variable(number_after(&word, "v").ok_or_else(bad)?),
                    _ => return Err(bad()),
                });
            }
        }
        Ok(origin)
    }
}

fn number_after(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}

fn address(word: &str) -> Option<(Target, i64)> {
    let sign = word.find(['+', '-'])?;
    let (name, addend) = word.split_at(sign);
    let addend = addend.parse().ok()?;
    let target = match number_after(name, "g") {
        Some(id) => Target::Global(GlobalId(id)),
        None => Target::Function(FunctionId(number_after(name, "fn")?)),
    };
    Some((target, addend))
}

fn value(word: &str) -> Option<Value> {
    if let Some((ty, bits)) = word.split_once(':') {
        let ty = Type::parse(ty)?;
        let bits = match bits.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16).ok()?,
            None if ty == Type::I128 => bits.parse::<i128>().ok()? as u128,
            None if ty.is_signed() => u128::from(bits.parse::<i64>().ok()? as u64),
            None => bits.parse().ok()?,
        };
        return Some(Value::Constant { ty, bits });
    }
    if let Some(id) = number_after(word, "t") {
        return Some(Value::Temp(TempId(id)));
    }
    let (target, addend) = address(word)?;
    Some(Value::Address { target, addend })
}
