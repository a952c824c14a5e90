//! Keeps what is found out about the untouched program for later runs.

use std::{sync::Arc, time::Duration};

use patchwright_exec::{
    Baseline, BaselineOptions, BaselineTest, Cache, Project, TestError, TestSuite, Worker,
    program_key,
};
use patchwright_text::{Digest, Hasher};

/// What takes less time is not kept: to find it out again is as fast, and never out of date.
const WORTHWHILE: Duration = Duration::from_secs(1);

/// The cache of what is found out about untouched programs.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The cache.
    pub cache: Arc<Cache>,
    /// What takes less time is not kept.
    pub least: Duration,
}

impl Kept {
    /// Keeps in `cache` what takes a second or more.
    pub fn in_cache(cache: Cache) -> Self {
        Kept {
            cache: Arc::new(cache),
            least: WORTHWHILE,
        }
    }
}

/// A cache, with the name of the program in it.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) cache: Arc<Cache>,
    pub(crate) key: Digest,
    pub(crate) least: Duration,
}

impl Remembered {
    /// `None` if there is no cache, or the project cannot be read: then that is told when it is copied.
    pub(crate) fn of(project: &Project, kept: Option<&Kept>) -> Option<Self> {
        let Kept { cache, least } = kept?.clone();
        let key = program_key(project).ok()?;
        Some(Remembered { cache, key, least })
    }

    /// Names what a test of the suite does on the untouched program.
    fn test_key(&self, suite: &TestSuite, index: usize, options: &BaselineOptions) -> Digest {
        let mut hasher = Hasher::new();
        hasher
            .field("test")
            .field(self.key.to_string())
            .field(format!("{:?}", suite.tests[index]))
            .field(format!("{:?} {:?}", suite.timeout, suite.environment))
            .field(format!("{:?}", options.limits));
        hasher.finish()
    }

    fn test(&self, key: Digest) -> Option<BaselineTest> {
        serde_json::from_slice(&self.cache.get(key)?).ok()
    }
}

/// Measures the untouched program, but for tests that are remembered; how many those are. `progress` is told how many runs are done, and of
/// how many.
///
/// # Errors
/// When a test cannot be run.
pub(crate) fn baseline(
    remembered: Option<&Remembered>,
    suite: &TestSuite,
    options: &BaselineOptions,
    worker: &mut Worker,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Baseline, usize), TestError> {
    let known: Vec<Option<BaselineTest>> = (0..suite.tests.len())
        .map(|index| {
            let remembered = remembered?;
            remembered.test(remembered.test_key(suite, index, options))
        })
        .collect();
    let unknown: Vec<usize> = (0..known.len())
        .filter(|&index| known[index].is_none())
        .collect();
    let rest = TestSuite {
        tests: unknown
            .iter()
            .map(|&index| suite.tests[index].clone())
            .collect(),
        ..suite.clone()
    };
    let mut measured = Baseline {
        tests: Vec::new(),
        once: false,
    };
    if !unknown.is_empty() {
        let total = 2 * unknown.len();
        measured = Baseline::measure(
            &mut worker.runner,
            &worker.sandbox,
            &rest,
            options,
            |done| progress(done, total),
        )?;
    }
    let taken: Duration = measured.tests.iter().map(|test| test.durations[0]).sum();
    let is_kept = |kept: &&Remembered| !measured.once && taken >= kept.least;
    if let Some(remembered) = remembered.filter(is_kept) {
        for test in measured.tests.iter().filter(|test| !test.lost_patience) {
            let key = remembered.test_key(suite, unknown[test.index], options);
            if let Ok(text) = serde_json::to_vec(test) {
                remembered.cache.put(key, &text);
            }
        }
    }
    let mut measured_tests = measured.tests.into_iter();
    let tests = known.into_iter().enumerate().filter_map(|(index, known)| {
        let test = known.or_else(|| measured_tests.next())?;
        Some(BaselineTest { index, ..test })
    });
    let baseline = Baseline {
        tests: tests.collect(),
        once: measured.once,
    };
    Ok((baseline, suite.tests.len() - unknown.len()))
}
