//! Runs patches: selects the alternative at each place, and finds live patches with the same effect
//! there.

use crate::evaluation::Evaluation;
use crate::system;
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::slice;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};
use patchwright_probe_abi::{
    ASK, AlternativeEntry, CAPTURE, CONTROL_ABANDONED, LIVE, MAX_ALTERNATIVES, NONE,
    PLACES_VERSION, PlaceUnit, PlacesChannel, PlacesMode, SplitReason,
};

/// The run, as this process found it when its first unit attached.
struct Run {
    channel: PlacesChannel<'static>,
    mode: PlacesMode,
    generation: u32,
}

/// A visit of a place during which alternatives are evaluated.
struct Session {
    evaluation: Evaluation,
    /// The alternative being evaluated: its ordinal in the place, or [`NONE`] for the original text.
    current: u32,
    /// Effect of the original text.
    original: Outcome,
    /// Effects of the place's alternatives.
    outcomes: [Outcome; MAX_ALTERNATIVES],
}

/// What is known of an alternative at this visit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing: it was not evaluated.
    Unknown,
    /// It could not be evaluated to its end.
    Abandoned,
    /// The number of its effect.
    Effect(u32),
}

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the run is written once by the thread that takes `STATUS` to ATTACHING; the session is only used by the thread
// that takes `ACTIVE`, in processes that have one thread.
unsafe impl<T> Sync for Shared<T> {}

const UNATTACHED: u32 = 0;
const ATTACHING: u32 = 1;
const ATTACHED: u32 = 2;
const FAILED: u32 = 3;

static STATUS: AtomicU32 = AtomicU32::new(UNATTACHED);
static RUN: Shared<Option<Run>> = Shared(UnsafeCell::new(None));
/// 1 while alternatives are evaluated.
static ACTIVE: AtomicU32 = AtomicU32::new(0);
static SESSION: Shared<Session> = Shared(UnsafeCell::new(Session {
    evaluation: Evaluation::NEW,
    // All of it is zero, so that it takes no room in the library's file.
    current: 0,
    original: Outcome::Unknown,
    outcomes: [Outcome::Unknown; MAX_ALTERNATIVES],
}));
static SINGLE_THREADED: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// Introduces a translation unit with places to the run.
///
/// When there is no run, or one that this probe does not understand, nothing changes.
///
/// # Safety
/// `unit` must be null or point to a table that stays valid as long as the unit's code; `channel` must be null or a
/// string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn patchwright_attach_places(unit: *mut PlaceUnit, channel: *const c_char) {
    // SAFETY: the caller answers for the pointer.
    let Some(unit) = (unsafe { unit.as_mut() }) else {
        return;
    };
    if unit.version != PLACES_VERSION {
        return;
    }
    // SAFETY: the caller answers for the path.
    let Some(run) = (unsafe { attach(channel) }) else {
        return;
    };
    crate::process::set_poisoned(unit.poisoned);
    SINGLE_THREADED.store(unit.single_threaded.cast_mut(), Ordering::Relaxed);
    unit.enter = Some(enter);
    unit.finish = Some(finish);
    unit.write = Some(write);
    unit.bad = Some(bad);
    // SAFETY: the unit's arrays have the lengths that its table says, and an atomic word has the layout of a word.
    let (selected, ids) = unsafe {
        (
            slice::from_raw_parts(unit.selected.cast::<AtomicU32>(), unit.count as usize),
            slice::from_raw_parts(unit.ids, unit.count as usize),
        )
    };
    for (word, id) in selected.iter().zip(ids) {
        let selection = match run.mode {
            PlacesMode::Off => 0,
            PlacesMode::Visits | PlacesMode::Tree => ASK,
            PlacesMode::Select => representative(&run.channel, *id),
        };
        word.store(selection, Ordering::Relaxed);
    }
}

/// # Safety
/// `channel` must be null or a string that ends with a zero byte.
unsafe fn attach(path: *const c_char) -> Option<&'static Run> {
    let taken =
        STATUS.compare_exchange(UNATTACHED, ATTACHING, Ordering::Acquire, Ordering::Acquire);
    if taken.is_ok() {
        if !path.is_null() {
            crate::server::obey();
        }
        // SAFETY: the caller answers for the path.
        let run = unsafe { open(path) };
        let status = if run.is_some() { ATTACHED } else { FAILED };
        if let Some(run) = &run {
            run.channel
                .header()
                .attached
                .fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: only this thread has come here, and readers wait for `ATTACHED`.
        unsafe { *RUN.0.get() = run };
        STATUS.store(status, Ordering::Release);
    }
    while STATUS.load(Ordering::Acquire) == ATTACHING {
        core::hint::spin_loop();
    }
    current()
}

/// # Safety
/// As for [`attach`].
unsafe fn open(path: *const c_char) -> Option<Run> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller answers for the path.
    let (address, length) = unsafe { system::map_file(path) }.ok()?;
    // SAFETY: the mapping stays until the process ends.
    let channel = unsafe { PlacesChannel::open(address, length) }?;
    let header = channel.header();
    Some(Run {
        mode: PlacesMode::from_number(header.mode.load(Ordering::Acquire))?,
        generation: header.generation.load(Ordering::Relaxed),
        channel,
    })
}

fn current() -> Option<&'static Run> {
    if STATUS.load(Ordering::Acquire) != ATTACHED {
        return None;
    }
    // SAFETY: nobody writes any more.
    unsafe { (*RUN.0.get()).as_ref() }
}

/// The number of the text that the representative runs at a place.
fn representative(channel: &PlacesChannel<'_>, place: u32) -> u32 {
    let Some(place) = channel.places().get(place as usize) else {
        return 0;
    };
    let selected = place.selected.load(Ordering::Relaxed);
    let alternative = channel.alternatives().get(selected as usize);
    alternative.map_or(0, |entry| entry.number.load(Ordering::Relaxed))
}

/// What to do at a visit of `place`; `selected` is its selection word.
unsafe extern "C" fn enter(place: u32, selected: *mut u32) -> u32 {
    let Some(run) = current() else {
        return 0;
    };
    let header = run.channel.header();
    if header.generation.load(Ordering::Relaxed) != run.generation {
        // The run has ended; nothing that it started should be alive.
        system::end_process();
    }
    let Some(entry) = run.channel.places().get(place as usize) else {
        system::end_process();
    };
    entry.visited.store(1, Ordering::Relaxed);
    let number = representative(&run.channel, place);
    // SAFETY: the woven code passes the word of the place.
    let selected = unsafe { AtomicU32::from_ptr(selected) };
    if run.mode != PlacesMode::Tree || header.live.load(Ordering::Relaxed) == 0 {
        selected.store(number, Ordering::Relaxed);
        return number;
    }
    if !has_one_thread() {
        header.threads.store(1, Ordering::Relaxed);
        return number;
    }
    if ACTIVE
        .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        header.nested.store(1, Ordering::Relaxed);
        return number;
    }
    header.visits.fetch_add(1, Ordering::Relaxed);
    // SAFETY: this thread has taken `ACTIVE`, and there is no other.
    let session = unsafe { &mut *SESSION.0.get() };
    let visit = Visit::new(&run.channel, place);
    let next = visit.begin(session);
    if next & CAPTURE == 0 {
        ACTIVE.store(0, Ordering::Release);
    }
    next
}

fn has_one_thread() -> bool {
    let flag = SINGLE_THREADED.load(Ordering::Relaxed);
    // SAFETY: libc's own byte, which lives as long as the process.
    !flag.is_null() && unsafe { AtomicU8::from_ptr(flag) }.load(Ordering::Relaxed) != 0
}

/// Ends the evaluation of an alternative; what to do next.
unsafe extern "C" fn finish(place: u32, control: u32, value: *const u8, size: usize) -> u32 {
    let Some(run) = current().filter(|_| ACTIVE.load(Ordering::Relaxed) == 1) else {
        system::end_process();
    };
    run.channel
        .header()
        .evaluating
        .fetch_sub(1, Ordering::Relaxed);
    // SAFETY: `enter` has begun a session in this thread.
    let session = unsafe { &mut *SESSION.0.get() };
    // SAFETY: the woven code passes its own variable.
    let value = unsafe { slice::from_raw_parts(value, size) };
    let effect = session.evaluation.end(control, value);
    let outcome = match effect {
        Some(effect) if control != CONTROL_ABANDONED => Outcome::Effect(effect),
        _ => Outcome::Abandoned,
    };
    match session.outcomes.get_mut(session.current as usize) {
        Some(place) => *place = outcome,
        None => session.original = outcome,
    }
    let next = Visit::new(&run.channel, place).next(session);
    if next & CAPTURE == 0 {
        ACTIVE.store(0, Ordering::Release);
    }
    next
}

unsafe extern "C" fn write(start: *const c_void, size: usize) -> i32 {
    // SAFETY: called by an evaluation only, between `enter` and `finish`.
    let session = unsafe { &mut *SESSION.0.get() };
    i32::from(!session.evaluation.write(start as usize, size))
}

unsafe extern "C" fn bad(start: *const c_void, size: usize) -> i32 {
    // SAFETY: as above.
    let session = unsafe { &mut *SESSION.0.get() };
    i32::from(!session.evaluation.can_read(start as usize, size))
}

/// The state of the run at one visit.
struct Visit<'a> {
    channel: &'a PlacesChannel<'static>,
    /// Alternatives of the place.
    alternatives: &'a [AlternativeEntry],
    /// Index of the first of them.
    first: u32,
    /// Ordinal of the representative's, or [`NONE`].
    own: u32,
    /// The original text can be evaluated.
    captured: bool,
}

impl<'a> Visit<'a> {
    fn new(channel: &'a PlacesChannel<'static>, place: u32) -> Self {
        let Some(entry) = channel.places().get(place as usize) else {
            system::end_process();
        };
        let first = entry.first.load(Ordering::Relaxed);
        let count = entry.count.load(Ordering::Relaxed);
        let range = first as usize..(first as usize).saturating_add(count as usize);
        let selected = entry.selected.load(Ordering::Relaxed);
        Self {
            channel,
            alternatives: channel.alternatives().get(range).unwrap_or(&[]),
            first,
            own: if selected == NONE {
                NONE
            } else {
                selected.wrapping_sub(first)
            },
            captured: entry.captured.load(Ordering::Relaxed) != 0,
        }
    }

    fn number(&self) -> u32 {
        let own = self.alternatives.get(self.own as usize);
        own.map_or(0, |entry| entry.number.load(Ordering::Relaxed))
    }

    /// Live patches that run the original text here, without the representative.
    fn live_elsewhere(&self) -> u32 {
        let here: u32 = self
            .alternatives
            .iter()
            .map(|entry| entry.live.load(Ordering::Relaxed))
            .sum();
        let live = self.channel.header().live.load(Ordering::Relaxed);
        live.saturating_sub(here)
    }

    /// Whether live patches differ from the representative at this place.
    fn is_divided(&self) -> bool {
        let others = self.alternatives.iter().enumerate();
        others
            .filter(|(ordinal, _)| *ordinal as u32 != self.own)
            .any(|(_, entry)| entry.live.load(Ordering::Relaxed) != 0)
            || (self.own != NONE && self.live_elsewhere() != 0)
    }

    /// Begins a session, or tells what to run when there is nothing to evaluate.
    fn begin(&self, session: &mut Session) -> u32 {
        if !self.is_divided() {
            return self.number();
        }
        session.evaluation.begin_visit();
        session.original = Outcome::Unknown;
        for (outcome, _) in session.outcomes.iter_mut().zip(self.alternatives) {
            *outcome = Outcome::Unknown;
        }
        let header = self.channel.header();
        if header.evaluations.load(Ordering::Relaxed) >= header.budget.load(Ordering::Relaxed) {
            self.settle(session, SplitReason::Budget);
            return self.number();
        }
        // Evaluating a single one would tell nothing.
        let wanted = (0..self.alternatives.len() as u32)
            .filter(|ordinal| self.is_wanted(*ordinal))
            .count()
            + usize::from(self.wants_original());
        if wanted < 2 {
            self.settle(session, SplitReason::NotCaptured);
            return self.number();
        }
        if self.wants_original() {
            session.current = NONE;
            return self.evaluate(session, 0);
        }
        self.following(session, 0)
    }

    /// Whether the alternative takes part in the session.
    fn is_wanted(&self, ordinal: u32) -> bool {
        let Some(entry) = self.alternatives.get(ordinal as usize) else {
            return false;
        };
        entry.captured.load(Ordering::Relaxed) != 0
            && (ordinal == self.own || entry.live.load(Ordering::Relaxed) != 0)
    }

    fn wants_original(&self) -> bool {
        self.captured && (self.own == NONE || self.live_elsewhere() != 0)
    }

    fn evaluate(&self, session: &mut Session, number: u32) -> u32 {
        session.evaluation.begin();
        let header = self.channel.header();
        header.evaluations.fetch_add(1, Ordering::Relaxed);
        header.evaluating.fetch_add(1, Ordering::Relaxed);
        CAPTURE | number
    }

    /// Evaluates the next alternative, or settles.
    fn next(&self, session: &mut Session) -> u32 {
        let start = match session.current {
            NONE => 0,
            current => current.wrapping_add(1),
        };
        self.following(session, start)
    }

    fn following(&self, session: &mut Session, start: u32) -> u32 {
        let end = self.alternatives.len() as u32;
        for ordinal in start..end {
            if self.is_wanted(ordinal)
                && let Some(entry) = self.alternatives.get(ordinal as usize)
            {
                session.current = ordinal;
                return self.evaluate(session, entry.number.load(Ordering::Relaxed));
            }
        }
        self.settle(session, SplitReason::NotCaptured);
        self.number()
    }

    /// Splits off every live patch whose effect is not known to be the representative's.
    fn settle(&self, session: &mut Session, unknown: SplitReason) {
        let own = match session.outcomes.get(self.own as usize) {
            Some(own) => *own,
            None => session.original,
        };
        let header = self.channel.header();
        let visit = header.visits.load(Ordering::Relaxed);
        let new_group = || {
            header
                .groups
                .fetch_add(1, Ordering::Relaxed)
                .wrapping_add(1)
        };
        // Groups of the effects seen at this visit.
        for ordinal in 0..self.alternatives.len() {
            let (Some(entry), Some(outcome)) = (
                self.alternatives.get(ordinal),
                session.outcomes.get(ordinal).copied(),
            ) else {
                break;
            };
            if ordinal as u32 == self.own || entry.live.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let (group, reason) = match (outcome, own) {
                (Outcome::Effect(a), Outcome::Effect(b)) if a == b => continue,
                (Outcome::Effect(effect), _) => {
                    let reason = if let Outcome::Effect(_) = own {
                        SplitReason::Effect
                    } else {
                        SplitReason::NotCaptured
                    };
                    (session.evaluation.group(effect, new_group), reason)
                }
                (Outcome::Abandoned, _) => (new_group(), SplitReason::Abandoned),
                (Outcome::Unknown, _) => (new_group(), unknown),
            };
            let alternative = self.first.wrapping_add(ordinal as u32);
            self.split_members(alternative, group, reason, visit);
        }
        if self.own != NONE && self.live_elsewhere() != 0 {
            let (group, reason) = match (session.original, own) {
                (Outcome::Effect(a), Outcome::Effect(b)) if a == b => return,
                (Outcome::Effect(effect), _) => (
                    session.evaluation.group(effect, new_group),
                    SplitReason::Effect,
                ),
                (Outcome::Abandoned, _) => (new_group(), SplitReason::Abandoned),
                (Outcome::Unknown, _) => (new_group(), unknown),
            };
            self.split_elsewhere(group, reason, visit);
        }
    }

    fn split_members(&self, alternative: u32, group: u32, reason: SplitReason, visit: u64) {
        let Some(entry) = self.channel.alternatives().get(alternative as usize) else {
            return;
        };
        let first = entry.first.load(Ordering::Relaxed) as usize;
        let count = entry.count.load(Ordering::Relaxed) as usize;
        let members = self
            .channel
            .members()
            .get(first..first.saturating_add(count));
        for member in members.unwrap_or(&[]) {
            self.split(member.load(Ordering::Relaxed), group, reason, visit);
        }
    }

    /// Splits off the live patches that have no alternative at this place.
    fn split_elsewhere(&self, group: u32, reason: SplitReason, visit: u64) {
        let here = self.first..self.first.wrapping_add(self.alternatives.len() as u32);
        for (patch, entry) in (0..).zip(self.channel.patches()) {
            if entry.group.load(Ordering::Relaxed) == LIVE
                && !self
                    .pairs_of(patch)
                    .iter()
                    .any(|pair| here.contains(&pair.load(Ordering::Relaxed)))
            {
                self.split(patch, group, reason, visit);
            }
        }
    }

    fn pairs_of(&self, patch: u32) -> &[AtomicU32] {
        let Some(entry) = self.channel.patches().get(patch as usize) else {
            return &[];
        };
        let first = entry.first.load(Ordering::Relaxed) as usize;
        let count = entry.count.load(Ordering::Relaxed) as usize;
        let pairs = self.channel.pairs().get(first..first.saturating_add(count));
        pairs.unwrap_or(&[])
    }

    fn split(&self, patch: u32, group: u32, reason: SplitReason, visit: u64) {
        let header = self.channel.header();
        let Some(entry) = self.channel.patches().get(patch as usize) else {
            return;
        };
        // Processes of one test may come here at the same time; the first one counts.
        if patch == header.representative.load(Ordering::Relaxed)
            || entry
                .group
                .compare_exchange(LIVE, group, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
        {
            return;
        }
        entry.reason.store(reason as u32, Ordering::Relaxed);
        entry.visit.store(visit, Ordering::Relaxed);
        for pair in self.pairs_of(patch) {
            let alternative = pair.load(Ordering::Relaxed) as usize;
            if let Some(alternative) = self.channel.alternatives().get(alternative) {
                alternative.live.fetch_sub(1, Ordering::Relaxed);
            }
        }
        header.live.fetch_sub(1, Ordering::Relaxed);
    }
}
