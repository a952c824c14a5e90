//! Proves that a process will never end, by following it through one period of a loop.
//!
//! A process with one thread that makes no system call and reads no clock depends only on its registers and its memory. If it only
//! reads files, it also depends on their positions (`calls`). So if it returns to an earlier state, it will do so for ever.
//!
//! More often all locations but some (a counter, a sum) have their old values again. Then one period is followed instruction by
//! instruction, to see what depends on these locations. If no branch, no address and no division does, and no further location
//! comes to depend on them, every later period takes the same path, whatever the values are.
//!
//! The verdict is that of a time-out. A process that is not proved endless runs until its time-out.

mod calls;
mod emulate;
mod influence;
mod instruction;
mod machine;
mod memory;
mod tracee;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use self::calls::{Calls, Positions};
use self::influence::{Decision, Influence, Location};
use self::instruction::Decoded;
use self::machine::{Machine, VECTORS};
use self::memory::{Before, Mapping};
use self::tracee::{Registers, Tracee};
use super::sys::Pid;

/// Most locations that may be other ones after a period.
const MOST_LOCATIONS: usize = 4096;
/// How often a period is followed until nothing more comes to depend on the locations.
const MOST_ROUNDS: usize = 6;
/// The flags that instructions compute: carry, parity, adjust, zero, sign, overflow.
const STATUS_FLAGS: u64 = 0x8d5;
/// Set by the kernel where it goes on.
const RESUME_FLAG: u64 = 1 << 16;
/// Steps between looks at the time.
const STEPS: u32 = 256;

/// Whether a process was stopped while it waited in a system call, which the kernel begins again when the process goes on.
fn is_inside_call(registers: &Registers) -> bool {
    // ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK, which programs never see.
    const BEGUN_AGAIN: [i64; 4] = [-512, -513, -514, -516];
    registers.orig_rax as i64 >= 0 && BEGUN_AGAIN.contains(&(registers.rax as i64))
}

/// Whether the process surely goes on for ever without a system call that has an effect, if nobody does anything to it. What it maps from the
/// file `ignored` counts neither as its memory nor as that of others; `own_limit` is the limit of its processor time, in
/// seconds, that is ours. It is stopped meanwhile, until `deadline` at the most. `others` wait for it, or for each other.
pub(super) fn never_ends(
    pid: Pid,
    others: &[Pid],
    ignored: Option<&Path>,
    own_limit: Option<u64>,
    deadline: Instant,
) -> bool {
    // Errors: it may not be traced, it ended, a signal came, the time is over.
    Walk::begin(pid, others, ignored, own_limit, deadline)
        .and_then(|walk| walk.proves())
        .unwrap_or(false)
}

/// Returns whether only threads of the run could end the wait of a process. Then the process has set no timer, and the
/// `futexes` for which it waits lie in memory of its own. The process is stopped for a moment.
pub(super) fn waits_without_timer(pid: Pid, futexes: &[u64]) -> bool {
    let look = || -> io::Result<bool> {
        let mut tracee = Tracee::seize(pid)?;
        let mappings = memory::mappings(pid)?;
        let is_own = |address: &u64| {
            let mut around = mappings
                .iter()
                .filter(|one| one.addresses.contains(address));
            around.next().is_some_and(|one| !one.is_shared)
        };
        Ok(!has_alarms(&mut tracee, &mappings)?
            && !mappings.iter().any(memory::is_written_by_others)
            && futexes.iter().all(is_own))
    };
    look().unwrap_or(false)
}

/// A process on its way.
struct Walk {
    machine: Machine,
    calls: Calls,
    /// Addresses of memory that does not count.
    ignored: Range<u64>,
    deadline: Instant,
    mappings: Vec<Mapping>,
    /// The instructions that were executed, by address.
    code: HashMap<u64, Decoded>,
    steps: u32,
    /// What has been written since the first moment.
    since_first: Before,
    /// What has been written since the last return.
    since_return: Before,
}

/// A moment of a process, its memory aside.
struct Moment {
    registers: Registers,
    extended: Vec<u8>,
    positions: Positions,
}

fn give_up<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Walk {
    fn begin(
        pid: Pid,
        others: &[Pid],
        ignored: Option<&Path>,
        own_limit: Option<u64>,
        deadline: Instant,
    ) -> io::Result<Self> {
        if is_limited(pid, own_limit)? {
            return give_up();
        }
        let mut tracee = Tracee::seize(pid)?;
        let mappings = memory::mappings(pid)?;
        if has_alarms(&mut tracee, &mappings)? {
            return give_up();
        }
        for &other in others {
            // An alarm of the program that it was before is left to a shell.
            if has_alarms(&mut Tracee::seize(other)?, &memory::mappings(other)?)? {
                return give_up();
            }
        }
        if mappings.iter().any(memory::is_written_by_others) {
            return give_up();
        }
        let machine = Machine::new(tracee, &mappings)?;
        // It would begin the call again, and might wait in it for us, who read what it writes.
        if is_inside_call(&machine.registers) {
            return give_up();
        }
        let is_ignored =
            |mapping: &Mapping| ignored.is_some_and(|path| path == Path::new(&mapping.name));
        let shared = mappings.iter().find(|mapping| is_ignored(mapping));
        Ok(Walk {
            calls: Calls::of(pid, &mappings, is_ignored),
            machine,
            ignored: shared.map_or(0..0, |mapping| mapping.addresses.clone()),
            deadline,
            mappings,
            code: HashMap::new(),
            steps: 0,
            since_first: Before::default(),
            since_return: Before::default(),
        })
    }

    fn proves(mut self) -> io::Result<bool> {
        let first = self.moment()?;
        if !ignores_exceptions(&first.extended) {
            return give_up();
        }
        // Locations by which it decides: they must be as they were at first.
        let mut deciding: BTreeSet<Location> = BTreeSet::new();
        loop {
            let (base, _) = self.next_return(&first, &deciding)?;
            let (mut now, length) = self.next_return(&first, &deciding)?;
            let Some(mut locations) = self.difference(&base, &now)? else {
                continue;
            };
            if locations.is_empty() {
                return Ok(true);
            }
            for _ in 0..MOST_ROUNDS {
                self.since_return = Before::default();
                let mut influence = Influence::of(&locations);
                let mut decision = None;
                for _ in 0..length {
                    self.step(Some((&mut influence, &mut decision)))?;
                    if decision.is_some() {
                        break;
                    }
                }
                match decision {
                    Some(Decision::On(location)) => {
                        deciding.insert(location);
                        break;
                    }
                    Some(Decision::Unknown) => break,
                    None => {}
                }
                let next = self.moment()?;
                let Some(differing) = self.difference(&now, &next)? else {
                    break;
                };
                let before = locations.len();
                locations.extend(differing);
                locations.extend(influence.locations());
                if locations.len() == before {
                    return Ok(true);
                }
                now = next;
            }
        }
    }

    fn moment(&mut self) -> io::Result<Moment> {
        Ok(Moment {
            registers: self.machine.registers,
            extended: self.machine.extended_registers()?,
            positions: self.calls.positions()?,
        })
    }

    /// Goes on until it is where it was at first, with the same values by which it decides; also says after how many steps.
    /// From then on it is remembered anew what it writes.
    fn next_return(
        &mut self,
        first: &Moment,
        deciding: &BTreeSet<Location>,
    ) -> io::Result<(Moment, u32)> {
        self.since_return = Before::default();
        for steps in 1.. {
            self.step(None)?;
            let registers = self.machine.registers;
            if registers.rip == first.registers.rip
                && registers.rsp == first.registers.rsp
                && self.is_as_at_first(first, &registers, deciding)?
            {
                return Ok((self.moment()?, steps));
            }
        }
        give_up()
    }

    fn is_as_at_first(
        &mut self,
        first: &Moment,
        registers: &Registers,
        deciding: &BTreeSet<Location>,
    ) -> io::Result<bool> {
        for location in deciding {
            let is_same = match location {
                Location::Integer(number) => {
                    integers(registers)[usize::from(*number)]
                        == integers(&first.registers)[usize::from(*number)]
                }
                Location::Flags => (registers.eflags ^ first.registers.eflags) & STATUS_FLAGS == 0,
                Location::Vector(_) | Location::UpperVector(_) | Location::Mask(_) => {
                    self.machine.extended_registers()? == first.extended
                }
                Location::Byte(address) => self.since_first.is_back(&mut self.machine, *address)?,
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The locations whose values differ between two moments, of which the second is now, and the first the last return or
    /// the beginning of the last round; `None` if that cannot be said, or they are too many.
    fn difference(&mut self, own: &Moment, now: &Moment) -> io::Result<Option<BTreeSet<Location>>> {
        let (own_registers, others) = (&own.registers, &now.registers);
        let fixed = |registers: &Registers| {
            let segments = [registers.cs, registers.ss, registers.ds, registers.es];
            let bases = [registers.fs_base, registers.gs_base];
            (registers.rip, registers.rsp, segments, bases)
        };
        if fixed(own_registers) != fixed(others) || own.positions != now.positions {
            return Ok(None);
        }
        let Some(mut locations) = vector_difference(&own.extended, &now.extended) else {
            return Ok(None);
        };
        let bytes = self.since_return.differing(&mut self.machine)?;
        if bytes.len() > MOST_LOCATIONS {
            return Ok(None);
        }
        locations.extend(bytes.into_iter().map(Location::Byte));
        let integers = integers(own_registers).into_iter().zip(integers(others));
        for (number, (own, other)) in integers.enumerate() {
            if own != other {
                locations.insert(Location::Integer(number as u8));
            }
        }
        let flags = own_registers.eflags ^ others.eflags;
        if flags & !(STATUS_FLAGS | RESUME_FLAG) != 0 {
            return Ok(None);
        }
        if flags & STATUS_FLAGS != 0 {
            locations.insert(Location::Flags);
        }
        Ok(Some(locations))
    }

    /// Executes an instruction; follows what depends on locations, and says when it decides.
    fn step(
        &mut self,
        followed: Option<(&mut Influence, &mut Option<Decision>)>,
    ) -> io::Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS) && Instant::now() >= self.deadline {
            return give_up();
        }
        let registers = self.machine.registers;
        let at = registers.rip;
        if !self.code.contains_key(&at) {
            let decoded = self.decode(at)?;
            self.code.insert(at, decoded);
        }
        let instruction = &self.code[&at];
        let mut written: Vec<Range<u64>> = Vec::new();
        let mut called = None;
        if instruction.is_call {
            let call = self.calls.next(&registers)?;
            written.extend(call.written.clone());
            called = Some(call);
        } else {
            for range in influence::written(instruction, &registers) {
                let Some(range) = range else {
                    return give_up();
                };
                written.push(range);
            }
        }
        for range in &written {
            if !self.ignored.contains(&range.start) {
                let process = &mut self.machine;
                self.since_first.remember(process, range.clone())?;
                self.since_return.remember(process, range.clone())?;
            }
        }
        if let Some((influence, decision)) = followed {
            *decision = match &called {
                Some(call) => influence.follow_call(call).err(),
                None => influence.follow(instruction, &registers).err(),
            };
        }
        self.machine.step(instruction, &written)?;
        let result = self.machine.registers.rax as i64;
        match called.and_then(|call| call.result) {
            Some(expected) if expected != result => give_up(),
            _ => Ok(()),
        }
    }

    fn decode(&mut self, address: u64) -> io::Result<Decoded> {
        let inside = |mapping: &&Mapping| mapping.addresses.contains(&address);
        // What is written while it is executed need not stay as it is; the kernel's own code reads clocks.
        let is_known = |mapping: &&Mapping| {
            let name = mapping.name.as_str();
            let of_a_file = !name.starts_with('[') && !name.starts_with("/memfd:");
            mapping.is_code && !mapping.is_writable && of_a_file
        };
        let Some(mapping) = self.mappings.iter().find(inside).filter(is_known) else {
            return give_up();
        };
        let left = (mapping.addresses.end - address).min(instruction::LONGEST as u64);
        let mut bytes = [0; instruction::LONGEST];
        let bytes = &mut bytes[..left as usize];
        self.machine.read(address, bytes)?;
        match Decoded::read(bytes, address) {
            Some(decoded) => Ok(decoded),
            None => give_up(),
        }
    }
}

/// Whether a stopped process will get a signal from a timer. Those of `setitimer` and `alarm` are asked for in its own name.
fn has_alarms(tracee: &mut Tracee, mappings: &[Mapping]) -> io::Result<bool> {
    // There is no such file where the kernel cannot tell.
    if !std::fs::read(format!("/proc/{}/timers", tracee.pid()))?.is_empty() {
        return Ok(true);
    }
    let mut kernels = mappings.iter().filter(|mapping| mapping.name == "[vdso]");
    let Some(addresses) = kernels.next().map(|mapping| mapping.addresses.clone()) else {
        return give_up();
    };
    let mut text = vec![0; (addresses.end - addresses.start) as usize];
    tracee.read(addresses.start, &mut text)?;
    let Some(at) = text.windows(2).position(|bytes| bytes == [0x0f, 0x05]) else {
        return give_up();
    };
    // Below the stack and what leaf functions use there.
    let scratch = (tracee.registers()?.rsp - 4096) & !0xf;
    for which in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
        let mut timer = [0; size_of::<libc::itimerval>()];
        let result = tracee.call(
            libc::SYS_getitimer,
            [which as u64, scratch],
            addresses.start + at as u64,
            (scratch, &mut timer),
        )?;
        if result != 0 {
            return give_up();
        }
        if timer.iter().any(|byte| *byte != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether floating-point operations never trap (`MXCSR`, Intel's manual, volume 1, section 10.2.3).
fn ignores_exceptions(extended: &[u8]) -> bool {
    const MASKS: u32 = 0x1f80;
    let control = extended.get(24..28).and_then(|bytes| bytes.try_into().ok());
    control.is_some_and(|control| u32::from_le_bytes(control) & MASKS == MASKS)
}

/// The integer registers, by number.
fn integers(registers: &Registers) -> [u64; 16] {
    [
        registers.rax,
        registers.rcx,
        registers.rdx,
        registers.rbx,
        registers.rsp,
        registers.rbp,
        registers.rsi,
        registers.rdi,
        registers.r8,
        registers.r9,
        registers.r10,
        registers.r11,
        registers.r12,
        registers.r13,
        registers.r14,
        registers.r15,
    ]
}

/// The vector registers that differ; `None` if anything else of the extended state does.
fn vector_difference(own: &[u8], other: &[u8]) -> Option<BTreeSet<Location>> {
    if own.len() != other.len() || own.len() < VECTORS.end {
        return None;
    }
    let rest = |state: &[u8]| [&state[..VECTORS.start], &state[VECTORS.end..]].concat();
    if rest(own) != rest(other) {
        return None;
    }
    let registers = own[VECTORS].chunks(16).zip(other[VECTORS].chunks(16));
    let differing = registers
        .enumerate()
        .filter(|(_, (own, other))| own != other);
    Some(
        differing
            .map(|(number, _)| Location::Vector(number as u8))
            .collect(),
    )
}

/// Whether the kernel will send it a signal when it has used up some processor time, other than by our own limit.
fn is_limited(pid: Pid, own_limit: Option<u64>) -> io::Result<bool> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits"))?;
    let soft = limits.lines().find_map(|line| {
        let rest = line.strip_prefix("Max cpu time")?;
        rest.split_ascii_whitespace().next()
    });
    let own = own_limit.map(|seconds| seconds.to_string());
    Ok(soft != Some("unlimited") && soft != own.as_deref())
}
