//! Measures how long the phases of a run take.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use patchwright_exec::processor_time;

use crate::outcome::Phase;

/// Adds up the times of phases.
#[derive(Default)]
pub struct Phases(Mutex<Record>);

#[derive(Default)]
struct Record {
    known: Vec<Phase>,
    /// The current one, when it began, and the processor time by then.
    current: Option<(&'static str, Instant, Duration)>,
}

impl Record {
    fn close(&mut self) {
        let Some((name, began, processor)) = self.current.take() else {
            return;
        };
        if let Some(phase) = self.known.iter_mut().find(|phase| phase.name == name) {
            phase.time += began.elapsed();
            phase.processor += processor_time().saturating_sub(processor);
        }
    }
}

impl Phases {
    /// Ends the present phase and begins the phase `name`.
    pub fn begin(&self, name: &'static str) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.close();
        if !record.known.iter().any(|phase| phase.name == name) {
            record.known.push(Phase {
                name,
                time: Duration::ZERO,
                processor: Duration::ZERO,
            });
        }
        record.current = Some((name, Instant::now(), processor_time()));
    }

    /// Returns the processor time of a phase so far. It is zero if the phase has not begun.
    pub fn processor(&self, name: &str) -> Duration {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let phase = record.known.iter().find(|phase| phase.name == name);
        let ended = phase.map_or(Duration::ZERO, |phase| phase.processor);
        let current = record.current.filter(|(current, ..)| *current == name);
        let going_on = current.map(|(_, _, began)| processor_time().saturating_sub(began));
        ended + going_on.unwrap_or_default()
    }

    /// Ends the present phase and returns all phases.
    pub fn finish(&self) -> Vec<Phase> {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.close();
        std::mem::take(&mut record.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_one_name_are_one_in_the_order_of_their_first_beginning() {
        let phases = Phases::default();
        for name in ["weaving", "building", "weaving"] {
            phases.begin(name);
        }
        let names: Vec<&str> = phases.finish().iter().map(|phase| phase.name).collect();
        assert_eq!(names, ["weaving", "building"]);
        assert!(phases.finish().is_empty());
    }
}
