//! `getopt.h`, with glibc's permutation of arguments.

use patchwright_semantics::Ty;

use super::{
    calling::{Args, Native, int},
    kept::Scan,
};
use crate::{fault::Run, machine::Machine};

struct Long {
    name: Vec<u8>,
    argument: i64,
    flag: u64,
    value: i64,
}

/// Returns the model of a function of `getopt.h`.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "getopt" | "__posix_getopt" => |m, a| getopt(m, a, false, false),
        "getopt_long" => |m, a| getopt(m, a, true, false),
        "getopt_long_only" => |m, a| getopt(m, a, true, true),
        _ => return None,
    })
}

fn load_int(m: &mut Machine<'_>, name: &'static str) -> Run<i64> {
    let at = m.made(name, 16)?;
    Ok(m.memory.load(Ty::I32, at)? as i64)
}

fn store_int(m: &mut Machine<'_>, name: &'static str, value: i64) -> Run<()> {
    let at = m.made(name, 16)?;
    m.memory.store(Ty::I32, at, value as u64)
}

fn set_argument(m: &mut Machine<'_>, value: u64) -> Run<()> {
    let at = m.made("optarg", 16)?;
    m.memory.store(Ty::U64, at, value)
}

fn argument(m: &Machine<'_>, vector: u64, index: usize) -> Run<u64> {
    m.memory.load(Ty::U64, vector + 8 * index as u64)
}

/// Puts the options between the last operand and `next` before the operands.
fn exchange(m: &mut Machine<'_>, vector: u64, next: usize) -> Run<()> {
    let (first, last) = (
        m.library.getopt.first_operand,
        m.library.getopt.last_operand,
    );
    let mut all = Vec::new();
    for index in first..next {
        all.push(argument(m, vector, index)?);
    }
    all.rotate_left(last - first);
    for (offset, value) in all.into_iter().enumerate() {
        m.memory
            .store(Ty::U64, vector + 8 * (first + offset) as u64, value)?;
    }
    m.library.getopt.first_operand += next - last;
    m.library.getopt.last_operand = next;
    Ok(())
}

fn getopt(m: &mut Machine<'_>, a: &Args<'_>, long: bool, only: bool) -> Run<u128> {
    let (count, vector) = (a.int(0)? as usize, a.word(1)?);
    let mut letters = m.text(a.word(2)?)?;
    set_argument(m, 0)?;
    let mut index = load_int(m, "optind")?.max(0) as usize;
    if index == 0 || !m.library.getopt.started {
        index = index.max(1);
        m.library.getopt = Scan {
            started: true,
            first_operand: index,
            last_operand: index,
            letter: 0,
        };
    }
    let order = match letters.first() {
        Some(c @ (b'+' | b'-')) => {
            let c = *c;
            letters.remove(0);
            c
        }
        _ => 0,
    };
    let silent = letters.first() == Some(&b':');
    let quiet = silent || load_int(m, "opterr")? == 0;
    if m.library.getopt.letter == 0 {
        if order == 0 {
            if m.library.getopt.last_operand > index {
                m.library.getopt.last_operand = index;
            }
            if m.library.getopt.first_operand > index {
                m.library.getopt.first_operand = index;
            }
            let Scan {
                first_operand,
                last_operand,
                ..
            } = m.library.getopt;
            if first_operand != last_operand && last_operand != index {
                exchange(m, vector, index)?;
            } else if last_operand != index {
                m.library.getopt.first_operand = index;
            }
            while index < count && !is_option(m, vector, index)? {
                index += 1;
            }
            m.library.getopt.last_operand = index;
        }
        let text = match index < count {
            true => Some(m.text(argument(m, vector, index)?)?),
            false => None,
        };
        if text.as_deref() == Some(b"--") {
            index += 1;
            let Scan {
                first_operand,
                last_operand,
                ..
            } = m.library.getopt;
            if first_operand != last_operand && last_operand != index {
                exchange(m, vector, index)?;
            } else if first_operand == last_operand {
                m.library.getopt.first_operand = index;
            }
            m.library.getopt.last_operand = count;
            index = count;
        }
        if index >= count {
            let Scan {
                first_operand,
                last_operand,
                ..
            } = m.library.getopt;
            if first_operand != last_operand {
                index = first_operand;
            }
            store_int(m, "optind", index as i64)?;
            return int(-1);
        }
        if !is_option(m, vector, index)? {
            if order == b'+' {
                store_int(m, "optind", index as i64)?;
                return int(-1);
            }
            let operand = argument(m, vector, index)?;
            set_argument(m, operand)?;
            store_int(m, "optind", index as i64 + 1)?;
            return int(1);
        }
        let text = text.unwrap_or_default();
        let dashes = if text.starts_with(b"--") { 2 } else { 1 };
        let as_long = dashes == 2 || (only && (text.len() > 2 || !letters.contains(&text[1])));
        if long && as_long {
            let found = long_option(m, a, index, dashes, quiet, silent, &letters, only)?;
            if let Some(value) = found {
                return int(value);
            }
        }
        m.library.getopt.letter = 1;
    }
    short_option(m, a, index, quiet, silent, &letters)
}

fn is_option(m: &Machine<'_>, vector: u64, index: usize) -> Run<bool> {
    let text = m.memory.string(argument(m, vector, index)?)?;
    Ok(text.len() > 1 && text[0] == b'-')
}

fn complain(m: &mut Machine<'_>, text: &str) -> Run<()> {
    let mut line = m.library.program.clone();
    line.extend_from_slice(b": ");
    line.extend_from_slice(text.as_bytes());
    line.push(b'\n');
    super::stream::complain(m, &line)
}

fn short_option(
    m: &mut Machine<'_>,
    a: &Args<'_>,
    mut index: usize,
    quiet: bool,
    silent: bool,
    letters: &[u8],
) -> Run<u128> {
    let (count, vector) = (a.int(0)? as usize, a.word(1)?);
    let at = argument(m, vector, index)?;
    let text = m.text(at)?;
    let letter = m.library.getopt.letter;
    let c = text[letter];
    let last = letter + 1 >= text.len();
    m.library.getopt.letter = if last { 0 } else { letter + 1 };
    let known = letters
        .iter()
        .position(|&l| l == c)
        .filter(|_| c != b':' && c != b';');
    let Some(known) = known else {
        if last {
            index += 1;
        }
        store_int(m, "optind", index as i64)?;
        store_int(m, "optopt", i64::from(c))?;
        if !quiet {
            complain(m, &format!("invalid option -- '{}'", char::from(c)))?;
        }
        return int(i64::from(b'?'));
    };
    let takes = letters.get(known + 1) == Some(&b':');
    let optional = takes && letters.get(known + 2) == Some(&b':');
    if !takes {
        if last {
            index += 1;
        }
        store_int(m, "optind", index as i64)?;
        return int(i64::from(c));
    }
    m.library.getopt.letter = 0;
    index += 1;
    if !last {
        set_argument(m, at + letter as u64 + 1)?;
    } else if !optional {
        if index >= count {
            store_int(m, "optind", index as i64)?;
            store_int(m, "optopt", i64::from(c))?;
            if !quiet {
                let text = format!("option requires an argument -- '{}'", char::from(c));
                complain(m, &text)?;
            }
            return int(i64::from(if silent { b':' } else { b'?' }));
        }
        let value = argument(m, vector, index)?;
        set_argument(m, value)?;
        index += 1;
    }
    store_int(m, "optind", index as i64)?;
    int(i64::from(c))
}

#[allow(clippy::too_many_arguments)]
fn long_option(
    m: &mut Machine<'_>,
    a: &Args<'_>,
    mut index: usize,
    dashes: usize,
    quiet: bool,
    silent: bool,
    letters: &[u8],
    only: bool,
) -> Run<Option<i64>> {
    let (count, vector) = (a.int(0)? as usize, a.word(1)?);
    let at = argument(m, vector, index)?;
    let text = m.text(at)?;
    let end = text.iter().position(|&b| b == b'=').unwrap_or(text.len());
    let name = &text[dashes..end.max(dashes)];
    let mut options = Vec::new();
    let table = a.word(3)?;
    for i in 0.. {
        let entry = table + 32 * i;
        let pointer = m.memory.load(Ty::U64, entry)?;
        if pointer == 0 {
            break;
        }
        options.push(Long {
            name: m.text(pointer)?,
            argument: m.memory.load(Ty::I32, entry + 8)? as i64,
            flag: m.memory.load(Ty::U64, entry + 16)?,
            value: m.memory.load(Ty::I32, entry + 24)? as i64,
        });
    }
    let exact = options.iter().position(|option| option.name == name);
    let prefixed: Vec<usize> = (0..options.len())
        .filter(|&i| options[i].name.starts_with(name))
        .collect();
    let same = |i: &usize| {
        let first = &options[prefixed[0]];
        let other = &options[*i];
        (other.argument, other.flag, other.value) == (first.argument, first.flag, first.value)
    };
    let shown = String::from_utf8_lossy(&text[..end]).into_owned();
    let chosen = match (exact, prefixed.as_slice()) {
        (Some(exact), _) => exact,
        (None, []) => {
            if only && dashes == 1 && letters.contains(&text[1]) {
                return Ok(None);
            }
            if !quiet {
                complain(m, &format!("unrecognized option '{shown}'"))?;
            }
            store_int(m, "optind", index as i64 + 1)?;
            store_int(m, "optopt", 0)?;
            return Ok(Some(i64::from(b'?')));
        }
        (None, [first, rest @ ..]) if rest.iter().all(same) => *first,
        _ => {
            if !quiet {
                let mut line = format!("option '{shown}' is ambiguous; possibilities:");
                for &i in &prefixed {
                    line.push_str(&format!(
                        " '{}{}'",
                        "-".repeat(dashes),
                        String::from_utf8_lossy(&options[i].name)
                    ));
                }
                complain(m, &line)?;
            }
            store_int(m, "optind", index as i64 + 1)?;
            store_int(m, "optopt", 0)?;
            return Ok(Some(i64::from(b'?')));
        }
    };
    let option = &options[chosen];
    let full = format!(
        "{}{}",
        "-".repeat(dashes),
        String::from_utf8_lossy(&option.name)
    );
    index += 1;
    store_int(m, "optind", index as i64)?;
    if end < text.len() {
        if option.argument == 0 {
            if !quiet {
                complain(m, &format!("option '{full}' doesn't allow an argument"))?;
            }
            store_int(m, "optopt", option.value)?;
            return Ok(Some(i64::from(b'?')));
        }
        set_argument(m, at + end as u64 + 1)?;
    } else if option.argument == 1 {
        if index >= count {
            if !quiet {
                complain(m, &format!("option '{full}' requires an argument"))?;
            }
            store_int(m, "optopt", option.value)?;
            return Ok(Some(i64::from(if silent { b':' } else { b'?' })));
        }
        let value = argument(m, vector, index)?;
        set_argument(m, value)?;
        store_int(m, "optind", index as i64 + 1)?;
    }
    if a.word(4)? != 0 {
        m.memory.store(Ty::I32, a.word(4)?, chosen as u64)?;
    }
    if option.flag != 0 {
        m.memory.store(Ty::I32, option.flag, option.value as u64)?;
        return Ok(Some(0));
    }
    Ok(Some(option.value))
}
