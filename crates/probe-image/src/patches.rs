//! The host's side of the channel of patches.

use crate::shared::{self, SharedFileError};
use memmap2::MmapRaw;
use patchwright_probe_abi as abi;
use patchwright_probe_abi::{PlaceId, PlacesMode, SplitReason};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;
use tempfile::NamedTempFile;

/// The places, their alternatives, and the patches that have these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchTable {
    /// Number of patches; they are numbered from 0.
    pub patches: u32,
    /// The places; a [`PlaceId`] is an index.
    pub places: Vec<TablePlace>,
}

/// A place with its alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablePlace {
    /// The original text can be evaluated with its effects captured.
    pub captured: bool,
    /// The alternatives.
    pub alternatives: Vec<TableAlternative>,
}

/// An alternative of a place, with the patches that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAlternative {
    /// What the woven code calls it: from 1. 0 is the original text, for patches that differ at places inside of it.
    pub number: u32,
    /// It can be evaluated with its effects captured.
    pub captured: bool,
    /// The patches that have it.
    pub patches: Vec<u32>,
}

/// Why a table does not fit into a channel.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A place has more alternatives than the probe has room for.
    #[error(
        "{place} has {count} alternatives, more than {}",
        abi::MAX_ALTERNATIVES
    )]
    TooManyAlternatives {
        /// The place.
        place: PlaceId,
        /// Number of alternatives.
        count: usize,
    },
    /// A patch of the table does not exist, or has two alternatives at one place.
    #[error("patch {patch} has no or several alternatives at {place}")]
    BadPatch {
        /// The place.
        place: PlaceId,
        /// The patch.
        patch: u32,
    },
    /// The shared memory could not be made.
    #[error(transparent)]
    Channel(#[from] SharedFileError),
}

/// Patches that were split off together: at one visit, with one effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitGroup {
    /// The patches, in ascending order.
    pub patches: Vec<u32>,
    /// Why they were.
    pub reason: SplitReason,
    /// The visit, counted from 1 over all places of the run.
    pub visit: u64,
}

/// The report of a run about the representative and the live patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchReport {
    /// Processes of woven programs that found the channel.
    pub attached: u32,
    /// A place was visited by a process that may have several threads: nothing was evaluated there, and no patch but the
    /// representative has the run's verdict.
    pub threads: bool,
    /// A place was visited in the midst of an evaluation. As [`threads`](Self::threads).
    pub nested: bool,
    /// A process ended amid an evaluation, which may have been the reason: the run's verdict is nobody's.
    pub unfinished: bool,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Places that were visited. Complete only in a run of mode visits, and as long as patches are live.
    pub visited: Vec<PlaceId>,
    /// Live patches that were not split off, in ascending order, without the representative.
    pub live: Vec<u32>,
    /// The groups that were split off, in the order of their making.
    pub groups: Vec<SplitGroup>,
}

/// Memory shared with the processes of one run after the other. One channel serves one worker.
pub struct PatchChannel {
    file: NamedTempFile,
    memory: MmapRaw,
    layout: abi::PlacesLayout,
    table: PatchTable,
    /// Index of the first alternative of each place.
    first_alternative: Vec<u32>,
    /// For each patch its alternatives: place, index.
    pairs: Vec<Vec<(u32, u32)>>,
    mode: PlacesMode,
    generation: u32,
    live: Vec<u32>,
}

impl PatchChannel {
    /// Makes a channel as a file in `folder`.
    ///
    /// # Errors
    /// A table that the probe cannot hold, and when the file cannot be made.
    pub fn create(folder: &Path, table: PatchTable) -> Result<Self, TableError> {
        let mut first_alternative = Vec::with_capacity(table.places.len());
        let mut pairs = vec![Vec::new(); table.patches as usize];
        let (mut alternatives, mut pair_count) = (0u32, 0u32);
        for (number, place) in (0..).zip(&table.places) {
            let count = place.alternatives.len();
            if count > abi::MAX_ALTERNATIVES {
                let place = PlaceId(number);
                return Err(TableError::TooManyAlternatives { place, count });
            }
            first_alternative.push(alternatives);
            for alternative in &place.alternatives {
                for patch in &alternative.patches {
                    let bad = TableError::BadPatch {
                        place: PlaceId(number),
                        patch: *patch,
                    };
                    let own: &mut Vec<(u32, u32)> = match pairs.get_mut(*patch as usize) {
                        Some(own) => own,
                        None => return Err(bad),
                    };
                    if own.last().is_some_and(|(place, _)| *place == number) {
                        return Err(bad);
                    }
                    own.push((number, alternatives));
                    pair_count += 1;
                }
                alternatives += 1;
            }
        }
        let layout = abi::PlacesLayout {
            places: table.places.len() as u32,
            alternatives,
            patches: table.patches,
            pairs: pair_count,
        };
        let (file, memory) = shared::create(folder, "patchwright-patches-", layout.size())?;
        let mut channel = Self {
            file,
            memory,
            layout,
            table,
            first_alternative,
            pairs,
            mode: PlacesMode::Off,
            generation: 0,
            live: Vec::new(),
        };
        channel.begin(PlacesMode::Off, None, &[], 0);
        Ok(channel)
    }

    /// Returns the environment variables that a test needs. `probe` is the absolute path of a file
    /// with [`PROBE`](crate::PROBE).
    pub fn environment(&self, probe: &Path) -> [(&'static str, OsString); 2] {
        [
            (abi::PROBE_VARIABLE, probe.into()),
            (abi::CHANNEL_VARIABLE, self.file.path().into()),
        ]
    }

    /// Lets the next run execute the original program and report the visited places.
    pub fn set_visits(&mut self) {
        self.begin(PlacesMode::Visits, None, &[], 0);
    }

    /// Lets the next run execute a patch, or with `None` the original program.
    pub fn set_patch(&mut self, patch: Option<u32>) {
        self.begin(PlacesMode::Select, patch, &[], 0);
    }

    /// Lets the next run execute a patch, or the original program, and split off those of the `live` patches that do
    /// something else. After `budget` evaluations whatever differs in its text is split off.
    pub fn set_tree(&mut self, representative: Option<u32>, live: &[u32], budget: u64) {
        self.begin(PlacesMode::Tree, representative, live, budget);
    }

    /// Returns the patches that have alternatives at these places, in ascending order.
    pub fn patches_at(&self, places: &[PlaceId]) -> Vec<u32> {
        let places = places
            .iter()
            .filter_map(|place| self.table.places.get(place.0 as usize));
        let alternatives = places.flat_map(|place| &place.alternatives);
        let mut patches: Vec<u32> = alternatives
            .filter(|alternative| alternative.number != 0)
            .flat_map(|alternative| alternative.patches.iter().copied())
            .collect();
        patches.sort_unstable();
        patches.dedup();
        patches
    }

    /// Returns the number of bytes of the channel.
    pub fn size(&self) -> u64 {
        self.layout.size()
    }

    fn begin(&mut self, mode: PlacesMode, representative: Option<u32>, live: &[u32], budget: u64) {
        self.mode = mode;
        self.generation = self.generation.wrapping_add(1).max(1);
        self.live = live
            .iter()
            .copied()
            .filter(|patch| Some(*patch) != representative)
            .collect();
        self.live.sort_unstable();
        self.live.dedup();
        let channel = self.shared();
        // A broken program may have written anywhere, also here: everything is written anew.
        channel.write_header();
        self.write_tables(&channel, representative);
        let header = channel.header();
        for (field, value) in [
            (&header.representative, representative.unwrap_or(abi::NONE)),
            (&header.attached, 0),
            (&header.live, self.live.len() as u32),
            (&header.groups, 0),
            (&header.threads, 0),
            (&header.nested, 0),
            (&header.evaluating, 0),
            (&header.generation, self.generation),
        ] {
            field.store(value, Ordering::Relaxed);
        }
        header.budget.store(budget, Ordering::Relaxed);
        header.visits.store(0, Ordering::Relaxed);
        header.evaluations.store(0, Ordering::Relaxed);
        header.mode.store(mode as u32, Ordering::Release);
    }

    fn write_tables(&self, channel: &abi::PlacesChannel<'_>, representative: Option<u32>) {
        let mut is_live = vec![false; self.table.patches as usize];
        for patch in &self.live {
            is_live[*patch as usize] = true;
        }
        let own = representative.map_or(&[][..], |patch| &self.pairs[patch as usize]);
        let mut alternative = 0;
        let mut member = 0;
        let entries = channel.places().iter().zip(&self.table.places);
        for (number, (entry, place)) in (0..).zip(entries) {
            let selected = own.iter().find(|(own, _)| *own == number);
            for (field, value) in [
                (&entry.first, self.first_alternative[number as usize]),
                (&entry.count, place.alternatives.len() as u32),
                (&entry.selected, selected.map_or(abi::NONE, |pair| pair.1)),
                (&entry.captured, u32::from(place.captured)),
                (&entry.visited, 0),
            ] {
                field.store(value, Ordering::Relaxed);
            }
            for known in &place.alternatives {
                let entry = &channel.alternatives()[alternative];
                let live = known
                    .patches
                    .iter()
                    .filter(|patch| is_live[**patch as usize])
                    .count();
                for (field, value) in [
                    (&entry.number, known.number),
                    (&entry.captured, u32::from(known.captured)),
                    (&entry.first, member as u32),
                    (&entry.count, known.patches.len() as u32),
                    (&entry.live, live as u32),
                    (&entry.place, number),
                ] {
                    field.store(value, Ordering::Relaxed);
                }
                for patch in &known.patches {
                    channel.members()[member].store(*patch, Ordering::Relaxed);
                    member += 1;
                }
                alternative += 1;
            }
        }
        let mut pair = 0;
        for (patch, (entry, pairs)) in channel.patches().iter().zip(&self.pairs).enumerate() {
            let group = if is_live[patch] {
                abi::LIVE
            } else {
                abi::ABSENT
            };
            for (field, value) in [
                (&entry.first, pair as u32),
                (&entry.count, pairs.len() as u32),
                (&entry.group, group),
                (&entry.reason, 0),
            ] {
                field.store(value, Ordering::Relaxed);
            }
            entry.visit.store(0, Ordering::Relaxed);
            for (_, alternative) in pairs {
                channel.pairs()[pair].store(*alternative, Ordering::Relaxed);
                pair += 1;
            }
        }
    }

    /// Returns what was reported. Read it when the run has ended.
    pub fn report(&self) -> PatchReport {
        let channel = self.shared();
        let header = channel.header();
        let visited = (0..)
            .zip(channel.places())
            .filter(|(_, place)| place.visited.load(Ordering::Relaxed) != 0)
            .map(|(place, _)| PlaceId(place))
            .collect();
        let mut live = Vec::new();
        let mut groups: BTreeMap<u32, SplitGroup> = BTreeMap::new();
        for &patch in &self.live {
            let entry = &channel.patches()[patch as usize];
            match entry.group.load(Ordering::Acquire) {
                abi::LIVE => live.push(patch),
                group => groups
                    .entry(group)
                    .or_insert_with(|| SplitGroup {
                        patches: Vec::new(),
                        reason: SplitReason::from_number(entry.reason.load(Ordering::Relaxed))
                            .unwrap_or(SplitReason::NotCaptured),
                        visit: entry.visit.load(Ordering::Relaxed),
                    })
                    .patches
                    .push(patch),
            }
        }
        PatchReport {
            attached: header.attached.load(Ordering::Relaxed),
            threads: header.threads.load(Ordering::Relaxed) != 0,
            nested: header.nested.load(Ordering::Relaxed) != 0,
            unfinished: header.evaluating.load(Ordering::Relaxed) != 0,
            evaluations: header.evaluations.load(Ordering::Relaxed),
            visited,
            live,
            groups: groups.into_values().collect(),
        }
    }

    fn shared(&self) -> abi::PlacesChannel<'_> {
        // SAFETY: the mapping lives as long as `self`, and is only used through channels.
        unsafe { abi::PlacesChannel::new(self.memory.as_mut_ptr(), self.memory.len(), self.layout) }
            .expect("the file was made with the size of its layout")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PatchTable {
        let alternative = |number, patches: &[u32]| TableAlternative {
            number,
            captured: true,
            patches: patches.to_vec(),
        };
        PatchTable {
            patches: 3,
            places: vec![
                TablePlace {
                    captured: true,
                    alternatives: vec![alternative(1, &[0, 2]), alternative(2, &[1])],
                },
                TablePlace {
                    captured: false,
                    alternatives: vec![alternative(1, &[2])],
                },
            ],
        }
    }

    #[test]
    fn live_patches_that_no_process_splits_off_stay_live() {
        let folder = tempfile::tempdir().unwrap();
        let mut channel = PatchChannel::create(folder.path(), table()).unwrap();
        channel.set_tree(Some(1), &[0, 1, 2], 100);
        let report = channel.report();
        assert_eq!(report.live, [0, 2]);
        assert!(report.groups.is_empty());
        let shared = channel.shared();
        assert_eq!(shared.header().live.load(Ordering::Relaxed), 2);
        let live: Vec<u32> = shared
            .alternatives()
            .iter()
            .map(|alternative| alternative.live.load(Ordering::Relaxed))
            .collect();
        assert_eq!(live, [2, 0, 1]);
        let selected = |place: usize| shared.places()[place].selected.load(Ordering::Relaxed);
        assert_eq!((selected(0), selected(1)), (1, abi::NONE));
    }

    #[test]
    fn a_patch_has_one_alternative_at_a_place() {
        let folder = tempfile::tempdir().unwrap();
        for patch in [1, 7] {
            let mut table = table();
            table.places[0].alternatives[0].patches.push(patch);
            let error = PatchChannel::create(folder.path(), table).err().unwrap();
            assert!(matches!(error, TableError::BadPatch { .. }), "{error}");
        }
    }
}
