//! Weaves marks at the places of patches, without alternatives, to see which patches a test reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use patchwright_probe_image::{PatchTable, TableAlternative, TablePlace};
use patchwright_weave::{Alternative, PlaceId, PlaceKind, WovenPlace, weave_places};

use crate::batch::Batch;
use crate::placing::{self, BatchPlace};
use crate::plan::Plan;
use crate::scan;

/// Weaves a mark at each place that a patch among `members` changes. The marks report which patches a test reaches; the program
/// behaves as before.
///
/// `members` are numbers of patches of the plan. A process that finds no channel adds a byte to the file `unobserved`. Returns
/// `None` if a source cannot be woven.
pub fn marked(plan: &Plan, members: &[usize], unobserved: &Path) -> Option<Batch> {
    let places: Vec<BatchPlace> = placing::places(plan, members, &BTreeMap::new())
        .into_iter()
        // What stands between functions is reached through functions only.
        .filter(|place| place.function.is_some())
        .collect();
    let numbered = || (0u32..).map(PlaceId).zip(&places);
    let files: BTreeSet<usize> = places.iter().map(|place| place.file).collect();
    let mut texts = Vec::with_capacity(files.len());
    for file in files {
        let source = &plan.sources[file].unit.source;
        let own = numbered().filter(|(_, place)| place.file == file);
        let own: Vec<WovenPlace> = own.map(|(id, place)| mark(id, place, source)).collect();
        let suffix = own.first()?.id.0.to_string();
        let unobserved = Some(unobserved.as_os_str().as_bytes());
        let woven = weave_places(source, &suffix, &own, unobserved);
        texts.push((file, woven.ok()?.text));
    }
    let table = PatchTable {
        patches: members.len() as u32,
        places: places.iter().map(table_place).collect(),
    };
    Some(Batch {
        members: members.to_vec(),
        files: texts,
        table,
    })
}

/// The place with one alternative, which does nothing and is never chosen.
fn mark(id: PlaceId, place: &BatchPlace, source: &[u8]) -> WovenPlace {
    let text: &[u8] = match place.run.kind {
        PlaceKind::Condition | PlaceKind::Value => b"0",
        PlaceKind::Statements | PlaceKind::Definitions => b";",
    };
    WovenPlace {
        id,
        span: place.run.span,
        kind: place.run.kind,
        result: place.value.clone(),
        captured: None,
        labels: scan::labels(place.run.span.slice(source).unwrap_or_default()),
        alternatives: vec![Alternative {
            text: text.to_vec(),
            line: place.alternatives.first().map_or(1, |first| first.line),
            captured: None,
            labels: Vec::new(),
        }],
    }
}

fn table_place(place: &BatchPlace) -> TablePlace {
    let patches = place.alternatives.iter().flat_map(|known| &known.patches);
    let patches: BTreeSet<u32> = patches.copied().collect();
    TablePlace {
        captured: false,
        alternatives: vec![TableAlternative {
            number: 1,
            captured: false,
            patches: patches.into_iter().collect(),
        }],
    }
}
