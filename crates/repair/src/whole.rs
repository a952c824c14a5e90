//! Weaves all locations of a whole program without running any test, for measurements.

use patchwright_csource::Clang;
use patchwright_exec::{CompileCommand, Project, Worker, all_sources};
use patchwright_weave::HoleId;

use crate::{
    RepairError, RepairOptions, Surroundings,
    instrumented::{HoleEntry, LeftAlone, SourceFile},
    prepare::worker_options,
    read::Reader,
    woven_build::build_woven,
};

/// A copy of a program in which all locations are woven.
pub struct WovenCopy {
    /// The copy, built.
    pub worker: Worker,
    /// Files with locations.
    pub files: Vec<SourceFile>,
    /// The holes, in order of file and place.
    pub holes: Vec<HoleEntry>,
}

impl WovenCopy {
    /// Weaves the sources of `built`, a built copy whose sources are compiled by `commands`, into a
    /// further copy in a new folder `name`, as a repair does it.
    ///
    /// # Errors
    /// When the sources cannot be read or the woven program does not build.
    pub fn weave<'a>(
        built: &mut Worker,
        commands: &[CompileCommand],
        name: &str,
        project: &'a Project,
        options: &RepairOptions,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let events = surroundings.events;
        let clang = Clang::find(&mut built.runner)?;
        let mut left_alone = LeftAlone::default();
        let sources = all_sources(commands, &built.sandbox);
        let base = built.sandbox.folder().to_path_buf();
        let mut reader = Reader::new(built, project, options, &clang, events, &mut left_alone);
        for (relative, commands) in &sources {
            reader.read(relative, commands)?;
        }
        let (mut plans, mut holes) = (reader.plans, reader.entries);
        for (number, entry) in holes.iter_mut().enumerate() {
            entry.id = HoleId(number as u32);
        }
        let mut worker = Worker::start(0, name, &worker_options(project, &base, surroundings))?;
        for plan in &mut plans {
            plan.host_path = worker.sandbox.folder().join(&plan.file.relative);
        }
        let run = surroundings.scratch.run_path();
        build_woven(
            &mut worker,
            project,
            &plans,
            &mut holes,
            &run,
            events,
            &mut left_alone,
            None,
        )?;
        Ok(WovenCopy {
            worker,
            files: plans.into_iter().map(|plan| plan.file).collect(),
            holes,
        })
    }
}
