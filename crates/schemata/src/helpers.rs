//! Copies of the program in which several compilers run at once.

use std::collections::VecDeque;
use std::sync::Mutex;

use patchwright_exec::Worker;

use crate::EngineError;
use crate::rounds::lock;

/// Makes the copy with this number.
pub type Start<'a> = dyn Fn(usize) -> Result<Worker, EngineError> + 'a;

/// Copies that are made when they are first needed.
pub struct Helpers<'a> {
    start: &'a Start<'a>,
    most: usize,
    started: Vec<Worker>,
}

impl<'a> Helpers<'a> {
    /// Permits up to `most` copies. None is made yet; `start` makes one by its number.
    pub fn new(start: &'a Start<'a>, most: usize) -> Self {
        Helpers {
            start,
            most,
            started: Vec::new(),
        }
    }

    /// Returns into how many parts work of this size is divided, if each part is to have at least
    /// `least`.
    pub fn parts(&self, size: usize, least: usize) -> usize {
        (size / least.max(1)).clamp(1, self.most + 1)
    }

    /// Does all work in parallel, some of it in the copy `first`. The results are in the order of the
    /// work.
    ///
    /// # Errors
    /// A copy that cannot be made. Errors of the work are in its results.
    pub fn run<T: Send, R: Send>(
        &mut self,
        first: &mut Worker,
        work: Vec<T>,
        workers: usize,
        does: impl Fn(&mut Worker, T) -> R + Sync,
    ) -> Result<Vec<R>, EngineError> {
        let wanted = workers.min(work.len()).saturating_sub(1).min(self.most);
        while self.started.len() < wanted {
            self.started.push((self.start)(self.started.len())?);
        }
        let mut results: Vec<Option<R>> = work.iter().map(|_| None).collect();
        let queue: Mutex<VecDeque<(usize, T)>> = Mutex::new(work.into_iter().enumerate().collect());
        let all_results = Mutex::new(&mut results);
        let share = |worker: &mut Worker| {
            loop {
                let next = lock(&queue).pop_front();
                let Some((number, part)) = next else { break };
                let result = does(worker, part);
                lock(&all_results)[number] = Some(result);
            }
        };
        std::thread::scope(|scope| {
            for helper in &mut self.started[..wanted] {
                scope.spawn(|| share(helper));
            }
            share(first);
        });
        // Each part was done by somebody.
        Ok(results.into_iter().flatten().collect())
    }

    /// Removes all copies that were made.
    ///
    /// # Errors
    /// A copy that cannot be removed.
    pub fn end(self) -> Result<(), EngineError> {
        for worker in self.started {
            worker.sandbox.remove()?;
        }
        Ok(())
    }
}
