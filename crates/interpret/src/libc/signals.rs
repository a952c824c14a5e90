//! Signals that a program sends itself: handlers, sets, what is blocked and pending.

use patchwright_ir::Type;
use patchwright_semantics::Ty;

use super::{
    calling::{Native, int, word},
    kept::Action,
    misc::PROCESS,
};
use crate::{
    fault::{Run, Stop},
    machine::Machine,
};

const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;
const ABORT: i64 = 6;
const EINVAL: i32 = 22;
/// The highest number of a signal.
const LAST: i64 = 64;

/// `SA_SIGINFO`, `SA_NODEFER` and `SA_RESETHAND`.
const WITH_INFORMATION: u64 = 4;
const NOT_DEFERRED: u64 = 0x4000_0000;
const ONCE: u64 = 0x8000_0000;

fn bit(signal: i64) -> u64 {
    1 << (signal - 1)
}

/// Returns the model of a function on signals.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "signal" | "bsd_signal" => |m, a| set(m, a.int(0)?, a.word(1)?, 0),
        "sysv_signal" | "__sysv_signal" => {
            |m, a| set(m, a.int(0)?, a.word(1)?, NOT_DEFERRED | ONCE)
        }
        "sigaction" => |m, a| {
            let (signal, new, old) = (a.int(0)?, a.word(1)?, a.word(2)?);
            if !(1..=LAST).contains(&signal) {
                return m.fails(EINVAL);
            }
            let known = m.library.signals.actions.get(&signal).copied();
            let known = known.unwrap_or_default();
            let given = match new {
                0 => None,
                at => Some(Action {
                    handler: m.memory.load(Ty::U64, at)?,
                    mask: m.memory.load(Ty::U64, at + 8)?,
                    flags: m.memory.load(Ty::U32, at + 136)?,
                }),
            };
            if old != 0 {
                m.memory.write(old, 152)?.fill(0);
                m.memory.store(Ty::U64, old, known.handler)?;
                m.memory.store(Ty::U64, old + 8, known.mask)?;
                m.memory.store(Ty::U32, old + 136, known.flags)?;
            }
            if let Some(action) = given {
                m.library.signals.actions.insert(signal, action);
            }
            int(0)
        },
        "sigemptyset" | "sigfillset" => {
            return Some(match name {
                "sigemptyset" => |m, a| {
                    m.memory.write(a.word(0)?, 128)?.fill(0);
                    int(0)
                },
                _ => |m, a| {
                    m.memory.write(a.word(0)?, 128)?.fill(0xff);
                    int(0)
                },
            });
        }
        "sigaddset" => |m, a| {
            let (at, signal) = (a.word(0)?, a.int(1)?);
            if !(1..=LAST).contains(&signal) {
                return m.fails(EINVAL);
            }
            let set = m.memory.load(Ty::U64, at)?;
            m.memory.store(Ty::U64, at, set | bit(signal))?;
            int(0)
        },
        "sigdelset" => |m, a| {
            let (at, signal) = (a.word(0)?, a.int(1)?);
            if !(1..=LAST).contains(&signal) {
                return m.fails(EINVAL);
            }
            let set = m.memory.load(Ty::U64, at)?;
            m.memory.store(Ty::U64, at, set & !bit(signal))?;
            int(0)
        },
        "sigismember" => |m, a| {
            let (at, signal) = (a.word(0)?, a.int(1)?);
            if !(1..=LAST).contains(&signal) {
                return m.fails(EINVAL);
            }
            int(i64::from(m.memory.load(Ty::U64, at)? & bit(signal) != 0))
        },
        "sigprocmask" | "pthread_sigmask" => |m, a| {
            let (how, new, old) = (a.int(0)?, a.word(1)?, a.word(2)?);
            let blocked = m.library.signals.blocked;
            let given = match new {
                0 => None,
                at => Some(m.memory.load(Ty::U64, at)?),
            };
            if old != 0 {
                m.memory.write(old, 128)?.fill(0);
                m.memory.store(Ty::U64, old, blocked)?;
            }
            if let Some(set) = given {
                let now = match how {
                    0 => blocked | set,
                    1 => blocked & !set,
                    2 => set,
                    _ => return m.fails(EINVAL),
                };
                block(m, now)?;
            }
            int(0)
        },
        "sigpending" => |m, a| {
            let pending = m.library.signals.pending;
            m.memory.write(a.word(0)?, 128)?.fill(0);
            m.memory.store(Ty::U64, a.word(0)?, pending)?;
            int(0)
        },
        "raise" => |m, a| raise(m, a.int(0)?),
        "kill" => |m, a| match a.int(0)? {
            PROCESS | 0 | -1 => raise(m, a.int(1)?),
            _ => Err(Stop::Unsupported("a signal to another process".to_owned())),
        },
        "abort" => |m, _| abort(m),
        "alarm" => |_, a| match a.word(0)? {
            0 => int(0),
            _ => Err(Stop::Unsupported("a signal after some time".to_owned())),
        },
        _ => return None,
    })
}

fn set(m: &mut Machine<'_>, signal: i64, handler: u64, flags: u64) -> Run<u128> {
    if !(1..=LAST).contains(&signal) {
        return m.fails(EINVAL);
    }
    let action = Action {
        handler,
        flags,
        mask: 0,
    };
    let old = m.library.signals.actions.insert(signal, action);
    word(old.map_or(DEFAULT, |old| old.handler))
}

/// Ends the program, after what handles `SIGABRT`.
pub(super) fn abort(m: &mut Machine<'_>) -> Run<u128> {
    m.library.signals.blocked &= !bit(ABORT);
    let action = m.library.signals.actions.get(&ABORT);
    if action.is_some_and(|action| action.handler > IGNORE) {
        raise(m, ABORT)?;
    }
    Err(Stop::Abort)
}

/// Blocks exactly these signals. Pending signals that are no longer blocked are delivered.
pub(crate) fn block(m: &mut Machine<'_>, blocked: u64) -> Run<()> {
    // SIGKILL and SIGSTOP cannot be.
    m.library.signals.blocked = blocked & !(bit(9) | bit(19));
    loop {
        let signals = &mut m.library.signals;
        let ready = signals.pending & !signals.blocked;
        if ready == 0 {
            return Ok(());
        }
        let signal = i64::from(ready.trailing_zeros()) + 1;
        signals.pending &= !bit(signal);
        raise(m, signal)?;
    }
}

fn raise(m: &mut Machine<'_>, signal: i64) -> Run<u128> {
    match signal {
        0 => return int(0),
        1..=LAST => {}
        _ => return m.fails(EINVAL),
    }
    let signals = &mut m.library.signals;
    let action = signals.actions.get(&signal).copied().unwrap_or_default();
    let is_default = action.handler == DEFAULT;
    let is_ignored = action.handler == IGNORE || is_default && matches!(signal, 17 | 18 | 23 | 28);
    if signals.blocked & bit(signal) != 0 {
        if !is_ignored || is_default {
            signals.pending |= bit(signal);
        }
        return int(0);
    }
    if is_ignored {
        return int(0);
    }
    if is_default {
        return match signal {
            ABORT => Err(Stop::Abort),
            _ => {
                m.library.at_exit.clear();
                m.library.at_once = true;
                Err(Stop::Exit(128 + signal as i32))
            }
        };
    }
    let before = signals.blocked;
    signals.blocked |= action.mask;
    if action.flags & NOT_DEFERRED == 0 {
        signals.blocked |= bit(signal);
    }
    if action.flags & ONCE != 0 {
        signals.actions.remove(&signal);
    }
    let mut arguments = vec![(Type::I32, u128::from(signal as u64))];
    if action.flags & WITH_INFORMATION != 0 {
        let information = m.made("siginfo", 128)?;
        m.memory.write(information, 128)?.fill(0);
        for (offset, value) in [(0, signal), (8, -6), (16, PROCESS), (20, 1000)] {
            m.memory
                .store(Ty::I32, information + offset, value as u64)?;
        }
        // Of the registers nothing is known.
        let context = m
            .memory
            .allocate(968, 16, crate::memory::Kind::Global, false)?;
        arguments.push((Type::Ptr, information.into()));
        arguments.push((Type::Ptr, context.into()));
    }
    m.call_address(action.handler, &arguments)?;
    block(m, before)?;
    int(0)
}
