//! `--golden`: decides whether a difference is progress towards a right version or a regression from it
//! (figure 3.12 of the thesis).

use std::time::Duration;

use patchwright_compare::Partition;
use patchwright_report::comparison::{Golden, Judged, Observed, SharedPartition};

use super::{
    named::Made,
    read::Versions,
    replay::{self, Watch},
    symbolic::Compared,
};
use crate::encoded::Problem;

/// Wall-clock time of an execution at most.
const WALL: Duration = Duration::from_secs(5);

/// Executes the samples of partitions in the golden version. `golden` has that version twice.
pub fn partitions(
    golden: &mut Versions,
    watch: &Watch,
    partitions: &[Partition],
) -> Result<Vec<Option<Observed>>, Problem> {
    let mut all = Vec::new();
    for partition in partitions
        .iter()
        .filter(|partition| partition.kind.differs())
    {
        all.push(replay::observed_in(golden, watch, &partition.samples)?);
    }
    Ok(all)
}

/// Judges all differences of a comparison by the behaviour of the golden version.
pub fn judge(
    compared: &mut Compared,
    name: &str,
    of_samples: Vec<Option<Observed>>,
    made: Option<&mut Made>,
) -> Result<(), Problem> {
    let mut golden = Golden {
        version: name.to_owned(),
        ..Golden::default()
    };
    let differing = compared
        .report
        .partitions
        .iter()
        .filter(|one| one.kind != "equal");
    for (partition, right) in differing.zip(of_samples) {
        let (Some(old), Some(new), Some(right)) =
            (&partition.old.observed, &partition.new.observed, right)
        else {
            continue;
        };
        let judged = judged(is_same(old, &right), is_same(new, &right));
        golden.add(partition.number.to_string(), judged);
    }
    if let Some(built) = made.and_then(|made| made.built.as_mut()) {
        for (number, seen) in (1..).zip(&compared.cases) {
            let right = built.run(&seen.case, WALL)?;
            let is = |ran: Option<&super::native::Ran>| {
                ran.is_some_and(|ran| ran.ending == right.ending && ran.output == right.output)
            };
            let judged = judged(is(seen.ran.first()), is(seen.ran.last()));
            golden.add(format!("S{number}"), judged);
        }
    }
    compared.report.golden = Some(golden);
    Ok(())
}

/// Whether two versions did the same. Places in sources differ from version to version.
fn is_same(one: &Observed, other: &Observed) -> bool {
    let ending = |one: &Observed| one.ending.split(" at ").next().map(str::to_owned);
    ending(one) == ending(other) && one.output == other.output && one.left == other.left
}

/// Judges each of several versions against the one before it, by what the golden version did.
pub fn judge_all(shared: &mut SharedPartition, right: Observed) {
    let is_right: Vec<Option<bool>> = shared
        .members
        .iter()
        .map(|member| Some(is_same(member.observed.as_ref()?, &right)))
        .collect();
    for at in 1..shared.members.len() {
        let differs = shared.members[at - 1].group != shared.members[at].group;
        if let (true, Some(old), Some(new)) = (differs, is_right[at - 1], is_right[at]) {
            shared.members[at].judged = Some(judged(old, new));
        }
    }
    shared.golden = Some(right);
}

fn judged(old_is_right: bool, new_is_right: bool) -> Judged {
    match (old_is_right, new_is_right) {
        (false, true) => Judged::Progress,
        (true, false) => Judged::Regression,
        _ => Judged::Change,
    }
}
