//! The host's side of the channel.

use crate::candidate::{Candidate, CandidateError};
use crate::observation::{Observation, States};
use crate::shared::{self, SharedFileError};
use crate::survey::{self, Seen, SurveyedHole};
use crate::watch::{self, Watch, Watched};
use memmap2::MmapRaw;
use patchwright_probe_abi as abi;
use patchwright_semantics::Instruction;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;
use tempfile::NamedTempFile;

/// The sizes of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most distinct states of one run.
    pub states: u32,
    /// Bytes for logging them; a state with n slots takes about 8·n + 40 bytes.
    pub log_bytes: u64,
}

impl Default for Limits {
    /// 65,536 states in 16 MiB.
    fn default() -> Self {
        Self {
            states: 1 << 16,
            log_bytes: 16 << 20,
        }
    }
}

/// How many states and visits a process may have before it is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// A process that meets more distinct states than so many is ended. More than [`Limits::states`] are never logged.
    pub states: u32,
    /// A process is ended when the run has visited the hole so often.
    pub visits: u64,
}

/// Why a channel cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The file could not be made.
    #[error(transparent)]
    Create(#[from] SharedFileError),
    /// The limits are beyond what can be mapped.
    #[error("a channel for {states} states in a log of {log_bytes} bytes is too large")]
    TooLarge {
        /// Most states wanted.
        states: u32,
        /// Bytes wanted for the log.
        log_bytes: u64,
    },
}

/// Memory shared with the processes of one run after the other; its file is removed when it is dropped.
///
/// One channel serves one worker: runs that share it would mix their reports.
pub struct Channel {
    file: NamedTempFile,
    memory: MmapRaw,
    layout: abi::Layout,
    limits: Limits,
    // The host's own copies: a broken program may write anywhere, also here.
    mode: abi::Mode,
    generation: u32,
    slot_count: usize,
    record_capacity: u32,
    watched_slots: Vec<usize>,
}

impl Channel {
    /// Makes a channel for programs whose holes have ids below `holes`, as a file in `folder` (best on a file system in
    /// memory). The space is reserved now, so that a full file system is an error here and not a crash of a tested
    /// program.
    ///
    /// # Errors
    /// When the file cannot be made, filled or mapped, and when the limits are absurd.
    pub fn create(folder: &Path, holes: u32, limits: Limits) -> Result<Self, ChannelError> {
        let too_large = || ChannelError::TooLarge {
            states: limits.states,
            log_bytes: limits.log_bytes,
        };
        // At most half full, so that a search for a state that is not there ends soon.
        let table_length = limits.states.checked_mul(2).ok_or_else(too_large)?;
        let layout = abi::Layout {
            hole_count: holes,
            table_length: table_length
                .checked_next_power_of_two()
                .ok_or_else(too_large)?
                .max(2),
            log_bytes: limits.log_bytes,
        };
        let size = layout.size().map_err(|_| too_large())?;
        let (file, memory) = shared::create(folder, "patchwright-channel-", size)?;
        let mut channel = Self {
            file,
            memory,
            layout,
            limits,
            mode: abi::Mode::Off,
            generation: 0,
            slot_count: 0,
            record_capacity: 0,
            watched_slots: Vec::new(),
        };
        channel.reset();
        Ok(channel)
    }

    /// Returns the path of the channel's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the environment variables that a test needs. `probe` is the absolute path of a file
    /// with [`PROBE`](crate::PROBE).
    pub fn environment(&self, probe: &Path) -> [(&'static str, OsString); 2] {
        [
            (abi::PROBE_VARIABLE, probe.into()),
            (abi::CHANNEL_VARIABLE, self.path().into()),
        ]
    }

    /// Lets the next runs execute the original code and report nothing.
    pub fn set_off(&mut self) {
        self.set_mode(abi::Mode::Off);
    }

    /// Lets the next runs execute the original code and report which holes they visit.
    pub fn set_coverage(&mut self) {
        self.set_mode(abi::Mode::Coverage);
    }

    /// Lets the next runs execute a candidate and report the states of its hole. Where there is no room for more states
    /// they go on unobserved.
    ///
    /// # Errors
    /// When the candidate exceeds the probe's limits or its slots refer to each other wrongly; the mode is then as
    /// before.
    pub fn set_candidate(&mut self, candidate: &Candidate<'_>) -> Result<(), CandidateError> {
        let descriptors = candidate.descriptors()?;
        let channel = self.shared();
        let header = channel.header();
        for (words, descriptor) in channel
            .slots()
            .chunks_exact(abi::SlotDescriptor::WORDS)
            .zip(&descriptors)
        {
            for (word, value) in words.iter().zip(descriptor.encode()) {
                word.store(value, Ordering::Relaxed);
            }
        }
        write_code(channel, candidate.code);
        let capacity = channel
            .record_room(descriptors.len())
            .min(self.limits.states);
        for (field, value) in [
            (&header.hole, candidate.hole.0),
            (&header.function, candidate.function.0),
            (&header.slot_count, descriptors.len() as u32),
            (&header.code_length, candidate.code.len() as u32),
            (&header.record_capacity, capacity),
        ] {
            field.store(value, Ordering::Relaxed);
        }
        header.most_visits.store(u64::MAX, Ordering::Relaxed);
        header.ends_when_full.store(0, Ordering::Relaxed);
        self.slot_count = descriptors.len();
        self.record_capacity = capacity;
        self.set_mode(abi::Mode::Candidate);
        Ok(())
    }

    /// Sets the patience for the next runs of the present candidate, which end when they exceed it.
    pub fn set_patience(&mut self, patience: Patience) {
        self.record_capacity = self.record_capacity.min(patience.states);
        let header = self.shared().header();
        header
            .record_capacity
            .store(self.record_capacity, Ordering::Relaxed);
        header.most_visits.store(patience.visits, Ordering::Relaxed);
        header.ends_when_full.store(1, Ordering::Relaxed);
    }

    /// Lets the next runs watch a variable at the places where it could be assigned.
    ///
    /// # Errors
    /// When places, slots or the candidate exceed the probe's limits; the mode is then as before.
    pub fn set_watch(&mut self, watch: &Watch<'_>) -> Result<(), CandidateError> {
        self.watched_slots = watch.write(self.shared())?;
        self.set_mode(abi::Mode::Watch);
        Ok(())
    }

    /// Lets the next runs execute the original code and log the states at these holes, which are in ascending order of their ids.
    ///
    /// # Errors
    /// When they are too many, or what one of them hands over makes no sense; the mode is then as before.
    pub fn set_survey(&mut self, holes: &[SurveyedHole<'_>]) -> Result<(), CandidateError> {
        self.watched_slots = survey::write(self.shared(), holes)?;
        self.set_mode(abi::Mode::Survey);
        Ok(())
    }

    /// Returns what was seen at these surveyed holes since the last reset.
    pub fn surveyed(&self, holes: &[SurveyedHole<'_>]) -> Vec<Seen> {
        survey::read(self.shared(), self.generation, &self.watched_slots, holes)
    }

    /// Returns what was reported about the watched variable since the last reset.
    pub fn watched(&self) -> Watched {
        watch::read(self.shared(), self.generation, &self.watched_slots)
    }

    fn set_mode(&mut self, mode: abi::Mode) {
        self.mode = mode;
        self.reset();
    }

    /// Forgets what was reported, before a run with the same mode and candidate as the last. Costs well under a
    /// microsecond in candidate mode, however much was logged. Reports of processes that the last run left behind are
    /// ignored from now on.
    pub fn reset(&mut self) {
        self.generation = self.generation.wrapping_add(1).max(1);
        let channel = self.shared();
        channel.write_header();
        let header = channel.header();
        header.generation.store(self.generation, Ordering::Relaxed);
        header.mode.store(self.mode as u32, Ordering::Release);
        header.visits.store(0, Ordering::Relaxed);
        for counter in [
            &header.records,
            &header.attached,
            &header.overflow,
            &header.undefined,
            &header.mismatch,
            &header.found_by_path,
            &header.reentered,
            &header.ended,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
        if matches!(self.mode, abi::Mode::Coverage | abi::Mode::Survey) {
            for byte in channel.coverage() {
                byte.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Returns the number of woven programs and shared libraries that found the channel since the
    /// last reset, in all processes.
    pub fn attached(&self) -> u32 {
        self.shared().header().attached.load(Ordering::Acquire)
    }

    /// Returns the part of [`attached`](Self::attached) that looked into the run's folder, because
    /// their environment does not name the channel.
    pub fn found_by_path(&self) -> u32 {
        self.shared().header().found_by_path.load(Ordering::Acquire)
    }

    /// Returns the holes visited since the last reset in coverage mode, in ascending order.
    pub fn visited_holes(&self) -> Vec<abi::HoleId> {
        let coverage = self.shared().coverage();
        (0..)
            .zip(coverage)
            .filter(|(_, byte)| byte.load(Ordering::Relaxed) != 0)
            .map(|(hole, _)| abi::HoleId(hole))
            .collect()
    }

    /// Returns what was reported about the candidate since the last reset. Read it when the run has
    /// ended.
    pub fn observation(&self) -> Observation {
        let channel = self.shared();
        let header = channel.header();
        let reserved = header
            .records
            .load(Ordering::Acquire)
            .min(self.record_capacity);
        let mut states = States::new(self.slot_count);
        let mut hashes = Vec::new();
        for number in 0..reserved {
            let Some(record) = channel.record(number, self.slot_count) else {
                break;
            };
            if !record.is_published(self.generation) {
                continue;
            }
            let undefined = record.undefined();
            let flags = record.flags().load(Ordering::Relaxed);
            let value = record.value().load(Ordering::Relaxed);
            states.push(
                record
                    .slots()
                    .iter()
                    .map(|word| word.load(Ordering::Relaxed)),
                (0..self.slot_count).map(|slot| {
                    (undefined[slot / 64].load(Ordering::Relaxed) >> (slot % 64)) as u8 & 1
                }),
                (flags & abi::FLAG_VALUE_UNDEFINED == 0).then_some(value),
            );
            hashes.push(record.hash().load(Ordering::Relaxed));
        }
        let incomplete = reserved - states.len() as u32;
        states.remove_duplicates(&hashes);
        Observation {
            attached: header.attached.load(Ordering::Relaxed),
            visits: header.visits.load(Ordering::Relaxed),
            overflow: header.overflow.load(Ordering::Relaxed) != 0,
            ended: header.ended.load(Ordering::Relaxed) != 0,
            incomplete,
            undefined: header.undefined.load(Ordering::Relaxed) != 0,
            mismatch: header.mismatch.load(Ordering::Relaxed) != 0,
            states,
        }
    }

    fn shared(&self) -> abi::Channel<'_> {
        // SAFETY: the mapping lives as long as `self`, and is only used through channels.
        unsafe { abi::Channel::new(self.memory.as_mut_ptr(), self.memory.len(), self.layout) }
            .expect("the file was made with the size of its layout")
    }
}

/// Writes the compiled term for the processes to read.
pub(crate) fn write_code(channel: abi::Channel<'_>, code: &[Instruction]) {
    for (words, instruction) in channel
        .code()
        .chunks_exact(abi::INSTRUCTION_WORDS)
        .zip(code)
    {
        let head = [
            instruction.opcode,
            instruction.op,
            instruction.ty,
            instruction.other_ty,
            0,
            0,
            0,
            0,
        ];
        words[0].store(u64::from_le_bytes(head), Ordering::Relaxed);
        words[1].store(instruction.immediate, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Slot;
    use patchwright_semantics::Ty;

    #[test]
    fn a_channel_that_cannot_be_made_names_its_folder() {
        let folder = Path::new("/nonexistent");
        let error = Channel::create(folder, 1, Limits::default()).err().unwrap();
        assert!(error.to_string().contains("/nonexistent"), "{error}");
        let limits = Limits {
            states: u32::MAX,
            ..Limits::default()
        };
        let error = Channel::create(folder, 1, limits).err().unwrap();
        assert!(matches!(error, ChannelError::TooLarge { .. }));
    }

    #[test]
    fn the_file_goes_with_the_channel() {
        let folder = tempfile::tempdir().unwrap();
        let channel = Channel::create(folder.path(), 9, Limits::default()).unwrap();
        let path = channel.path().to_path_buf();
        assert!(path.exists());
        drop(channel);
        assert!(!path.exists());
    }

    #[test]
    fn a_new_run_sees_nothing_of_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut channel = Channel::create(folder.path(), 9, Limits::default()).unwrap();
        channel
            .set_candidate(&Candidate {
                hole: abi::HoleId(1),
                function: abi::FunctionId(2),
                slots: &[Slot::Value(Ty::I32)],
                code: &[Instruction::slot(0)],
            })
            .unwrap();
        // What a process would do.
        let shared = channel.shared();
        shared.header().records.store(2, Ordering::Relaxed);
        let record = shared.record(0, 1).unwrap();
        record.slots()[0].store(5, Ordering::Relaxed);
        record.publish(channel.generation);
        let observation = channel.observation();
        assert_eq!((observation.states.len(), observation.incomplete), (1, 1));
        assert_eq!(observation.states.values(0), [5]);
        assert!(!observation.is_complete());

        channel.reset();
        let observation = channel.observation();
        assert_eq!((observation.states.len(), observation.incomplete), (0, 0));
        assert!(observation.is_complete());
    }
}
