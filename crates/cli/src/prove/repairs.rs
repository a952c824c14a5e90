//! `--repair`: lists all minimal repairs.

use std::{collections::BTreeMap, time::Instant};

use patchwright_exec::files;
use patchwright_ir::Program as Linked;
use patchwright_prove::{
    Change, Extent, Found, Level, Mutations, OneByOne, Open, Real, Repair, Search, Site, Standing,
    Verdict, mutations, patched, question,
};
use patchwright_report::{
    proof::{self, Report},
    text::count,
};
use patchwright_solve::{Answer, Backend, Budget, Solver, Term};
use patchwright_symbolic::{Options, naming};

use super::{Asked, Job, deeper, print_beside, read::Program, show};
use crate::{Exit, encoded::Problem, limits};

/// Patches that are not decided of which the place and the text are shown at most.
const MOST_OPEN: usize = 5;

/// How the program with all choices is encoded, and how single patches are decided.
struct Plan {
    /// With as many rounds as it takes to see that the program fails.
    asked: Asked,
    /// The whole bound.
    options: Options,
}

/// The repairs that are known so far.
#[derive(Default)]
struct Listed {
    /// Those that are shown, in the order of their numbers.
    shown: Vec<proof::Repair>,
    /// The number of each repair in the order in which they were found; 0 for what is shown later.
    numbers: Vec<usize>,
    /// The repairs that are shown last, with their positions: those in functions that only call the failing function, and those that are
    /// right within the bound only.
    later: Vec<(usize, Repair)>,
    /// Why the list is not complete.
    incomplete: Vec<String>,
}

impl Job<'_> {
    /// Looks for all minimal repairs, and tells them.
    pub(super) fn repair(
        &mut self,
        verdict: &Verdict,
        report: &mut Report,
        options: &Options,
        budget: &Budget<'_>,
    ) -> Result<Exit, Problem> {
        if !matches!(verdict, Verdict::Failed(_)) {
            eprintln!(
                "patchwright: repairs are not looked for: no input is known for which {} fails",
                self.program.name()
            );
            return Ok(Exit::Undecided);
        }
        let level = Level::from_number(self.args.level).unwrap_or(Level::Two);
        let own = mutations(&self.program.sources, level);
        let sites = || own.iter().flat_map(|one| &one.sites);
        let mut all = proof::Repairs {
            level: self.args.level,
            max_edits: self.args.max_edits,
            places: sites().count(),
            mutations: sites().map(|site| site.mutations.len()).sum(),
            out_of_reach: own.iter().map(|one| one.out_of_reach).sum(),
            bound: options.bound,
            ..proof::Repairs::default()
        };
        if all.places == 0 {
            return Err(Problem::Input(
                "no expression can be changed: all are trusted, or written by macros".to_owned(),
            ));
        }
        // With one change a program has much fewer ways than with two. Where much can be changed, the repairs of one are
        // looked for first.
        let most = self.args.max_edits;
        let steps = match level {
            Level::Three if most > 1 => vec![1, most],
            _ => vec![most],
        };
        if let Some(folder) = &self.args.output {
            files::create_output_folder(folder).map_err(Problem::of)?;
        }
        let mut listed = Listed::default();
        let mut found = Found::default();
        for (step, &changes) in steps.iter().enumerate() {
            self.doing("encoding what repairs may change");
            let started = Instant::now();
            let mut options = Options {
                single: changes == 1,
                ..options.clone()
            };
            let plan = match self.plan(&own, level, &mut options, budget) {
                // What was found before is told.
                Err(Problem::Interrupted) if step > 0 => {
                    found.complete = false;
                    found.interrupted = true;
                    break;
                }
                plan => plan?,
            };
            self.phase("encode mutants", started);
            let Some(plan) = plan else {
                listed.incomplete.push(format!(
                    "the execution that fails goes on beyond {} rounds of a loop, as far as repairs are looked for; \
                     give a larger --bound",
                    options.bound
                ));
                break;
            };
            all.bound = plan.options.bound;
            let harness = self.harness(verdict, &own);
            let wanted = (level, changes, harness.as_deref());
            found = self.search(&own, wanted, &plan, found, &mut listed)?;
            if !found.complete {
                break;
            }
        }
        let mut later = std::mem::take(&mut listed.later);
        later.sort_by_key(|(position, repair)| (repair.standing, *position));
        for (position, repair) in &later {
            self.list(&own, &mut listed, *position, repair)?;
        }
        self.conclude(all, &found, &own, listed, report)
    }

    /// How far the program with all choices is encoded. Nothing where it does not fail as far as that may be; then the
    /// bound of `options` says how far that is.
    ///
    /// A patch that fails within few rounds fails within many, so few rounds show most wrong patches. The others are decided
    /// one by one with the whole bound.
    fn plan(
        &mut self,
        own: &[Mutations],
        level: Level,
        options: &mut Options,
        budget: &Budget<'_>,
    ) -> Result<Option<Plan>, Problem> {
        /// Instructions of a program with all choices that are encoded for the whole bound at once.
        const LITTLE: u64 = 4_000;
        let mut few = Options {
            instructions: LITTLE.min(options.instructions),
            ..options.clone()
        };
        let (fails, beyond) = self.fails_within(options.bound, options, budget)?;
        if fails {
            self.like = None;
            let asked = self.asked(Some(own), &mut few)?;
            if !asked.encoding.counts.exhausted {
                options.argument_numbers = few.argument_numbers;
                return Ok(Some(Plan {
                    asked,
                    options: options.clone(),
                }));
            }
        }
        let mut rounds = None;
        let whole = options.bound;
        let furthest = self.args.bound.unwrap_or(deeper::LAST).max(whole);
        for bound in rounds_to_try(whole, furthest) {
            if fails && bound >= whole {
                rounds = Some(whole);
                break;
            }
            let (fails_here, beyond_here) = self.fails_within(bound, options, budget)?;
            // Of a program that ends within the bound all rounds are followed.
            if fails_here && (!beyond_here || beyond || bound > whole) {
                rounds = Some(bound);
                break;
            }
            options.bound = options.bound.max(bound);
        }
        let Some(rounds) = rounds else {
            return Ok(None);
        };
        options.bound = whole.max(rounds);
        // At level 3 all values of a constant are listed, of which nobody decides one by one.
        let rounds = match level {
            Level::Three => options.bound,
            _ => rounds,
        };
        let mut encoded = Options {
            bound: rounds,
            recursion: rounds,
            ..options.clone()
        };
        self.like = None;
        let asked = self.asked(Some(own), &mut encoded)?;
        options.argument_numbers = encoded.argument_numbers;
        Ok(Some(Plan {
            asked,
            options: options.clone(),
        }))
    }

    /// Whether the program as it is fails within so many rounds, and whether it may go on beyond them.
    fn fails_within(
        &mut self,
        bound: u32,
        options: &Options,
        budget: &Budget<'_>,
    ) -> Result<(bool, bool), Problem> {
        let mut options = Options {
            bound,
            recursion: bound,
            ..options.clone()
        };
        self.like = None;
        let asked = self.asked(None, &mut options)?;
        let fails = asked.spec.fails(&mut self.terms);
        let mut solver = Solver::new(Backend::default());
        let mut ask = |condition: Term| solver.check(&self.terms, &[condition], budget);
        let fails = ask(fails) == Answer::Satisfiable;
        let beyond = ask(asked.spec.unwinding) != Answer::Unsatisfiable;
        Ok((fails, beyond))
    }

    /// Searches for repairs of so many changes, after those that were found before.
    fn search(
        &mut self,
        own: &[Mutations],
        (level, changes, harness): (Level, u32, Option<&str>),
        plan: &Plan,
        before: Found,
        listed: &mut Listed,
    ) -> Result<Found, Problem> {
        self.doing("looking for repairs");
        let started = Instant::now();
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let budget = Budget {
            conflicts: self.args.conflicts,
            interrupt: Some(&interrupt),
        };
        let question = question(&mut self.terms, &plan.asked.spec, own, &budget);
        let extent = Extent {
            changes,
            conflicts: self.args.conflicts,
            void: self.args.vacuous,
            // Where much can be changed, much can be said in two ways.
            fewest: level == Level::Three,
            ..Extent::default()
        };
        let linked = self.linked(Some(own))?;
        let reference: Option<Linked> = self.linked_reference()?;
        let (program, args, progress) = (&self.program, self.args, self.progress);
        let reference = reference.as_ref().zip(program.reference.as_ref());
        let options = self.with_choices(own, &plan.options);
        let mut decider = OneByOne::new(
            (&linked, &program.entry),
            reference.map(|(linked, reference)| (linked, &reference.entry)),
            &options,
            budget,
        );
        let mut problem = None;
        let style = self.style;
        let mut hear = |repair: &Repair| {
            let is_last = harness.is_some_and(|name| changes_function(own, repair, name));
            listed.numbers.push(0);
            let position = listed.numbers.len() - 1;
            if repair.standing == Standing::WithinBound || is_last {
                listed.later.push((position, repair.clone()));
            } else {
                let told = tell(program, args, own, listed, (position, repair));
                match told {
                    Ok(Some(text)) if !args.json => print_beside(progress, &text.text(style)),
                    Ok(_) => {}
                    Err(error) => problem = Some(error),
                }
            }
            if let Some(progress) = progress {
                let count = listed.numbers.len();
                progress.message(format!("looking for repairs, {count} found"));
            }
        };
        let search = Search::new(&mut self.terms, &question, extent, &mut decider, &interrupt);
        let found = search.after(before).run(&mut hear);
        let instructions = decider.instructions();
        self.phase("search", started);
        if let Some(problem) = problem {
            return Err(problem);
        }
        self.stats.instructions += instructions;
        self.count(&found.solvers.0);
        self.count(&found.solvers.1);
        let fails = plan.asked.spec.fails(&mut self.terms);
        let real = Real::of(&self.terms, &[fails]);
        let names = [real.names(), real.unknown().to_vec()].concat();
        if !names.is_empty() {
            let why = format!(
                "repairs that depend on {} may be missing, because only this is known: equal arguments give equal results",
                what_they_give(&names)
            );
            if !listed.incomplete.contains(&why) {
                listed.incomplete.push(why);
            }
        }
        Ok(found)
    }

    /// The function that only calls what has to be repaired, if there is one: `main`, where that asserts what other
    /// functions have to do.
    fn harness(&self, verdict: &Verdict, own: &[Mutations]) -> Option<String> {
        const MAIN: &str = "main";
        let Verdict::Failed(found) = verdict else {
            return None;
        };
        let fails_there = found.place.as_ref().is_none_or(|at| at.function == MAIN);
        let mut sites = own.iter().flat_map(|one| &one.sites);
        let others = sites.any(|site| site.function != MAIN);
        (self.args.function.is_none() && fails_there && others).then(|| MAIN.to_owned())
    }

    /// Shows a repair that was held back.
    fn list(
        &self,
        own: &[Mutations],
        listed: &mut Listed,
        position: usize,
        repair: &Repair,
    ) -> Result<(), Problem> {
        let told = tell(&self.program, self.args, own, listed, (position, repair))?;
        if let (Some(one), false) = (told, self.args.json) {
            print_beside(self.progress, &one.text(self.style));
        }
        Ok(())
    }

    fn conclude(
        &mut self,
        mut all: proof::Repairs,
        found: &Found,
        own: &[Mutations],
        mut listed: Listed,
        report: &mut Report,
    ) -> Result<Exit, Problem> {
        self.stats.patches = found.counts.patches;
        self.stats.by_condition = found.counts.by_condition;
        self.stats.by_must_set = found.counts.by_must_set;
        self.stats.by_repair = found.counts.by_repair;
        self.stats.single = found.counts.single;
        all.decided = found.decided;
        all.undecided = found.open.len();
        all.more_undecided = found.more_open;
        for (changes, why) in found.open.iter().take(MOST_OPEN) {
            all.open.push(self.open(own, changes, why)?);
        }
        let mut incomplete = open_ones(found);
        if !found.complete && listed.incomplete.is_empty() {
            let decided = count(u64::from(found.decided), "change", "changes");
            incomplete.push(match limits::exceeded() {
                Some(why) => format!("patches of up to {decided} are decided; {why}"),
                None => format!("patches of up to {decided} are decided"),
            });
        }
        incomplete.append(&mut listed.incomplete);
        all.complete = incomplete.is_empty();
        all.incomplete = incomplete;
        all.repairs = listed.shown;
        let exit = match (all.repairs.is_empty(), all.complete) {
            (false, _) => Exit::Found,
            (true, true) => Exit::Nothing,
            (true, false) => Exit::Undecided,
        };
        report.repairs = Some(all);
        if !self.args.json {
            self.print(&report.repairs_end(self.style))?;
        }
        Ok(exit)
    }

    /// A patch that is not decided, as it is shown.
    fn open(
        &self,
        own: &[Mutations],
        changes: &[Change],
        why: &Open,
    ) -> Result<proof::Open, Problem> {
        let near = own.iter().flat_map(|one| &one.sites);
        let near = near.flat_map(|site| &site.mutations);
        let near: BTreeMap<u32, i64> = near
            .filter_map(|mutation| Some((mutation.open?, mutation.near)))
            .collect();
        let repair = Repair {
            changes: changes.to_vec(),
            standing: Standing::WithinBound,
            constants: near,
            ranges: Vec::new(),
            more: false,
            void: false,
            same_as: None,
        };
        let diff = diff(&self.program, own, &repair)?;
        let diff = String::from_utf8_lossy(&diff);
        Ok(proof::Open {
            places: places(&self.program, own, changes),
            lines: proof::added(&diff).map(str::to_owned).collect(),
            reason: match why {
                Open::Beyond(rounds) => format!("goes on beyond {rounds} rounds of a loop"),
                Open::NotEncoded(reason) => format!("leads to what is not encoded: {reason}"),
                Open::Effort => "the solver did not decide it".to_owned(),
            },
        })
    }
}

/// Rounds to try, the fewest first, up to `furthest`; `whole` is among them.
fn rounds_to_try(whole: u32, furthest: u32) -> Vec<u32> {
    let powers = (1..31).map(|power| 1u32 << power);
    let mut all: Vec<u32> = powers
        .flat_map(|power| [power, power + power / 2])
        .filter(|&rounds| rounds <= furthest)
        .chain([whole])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Why patches are not decided, with how many there are.
fn open_ones(found: &Found) -> Vec<String> {
    let mut by_reason: BTreeMap<&Open, u64> = BTreeMap::new();
    for (_, why) in &found.open {
        *by_reason.entry(why).or_default() += 1;
    }
    let mut said: Vec<String> = by_reason
        .into_iter()
        .map(|(why, number)| {
            let patches = count(number, "patch", "patches");
            match why {
                Open::Beyond(rounds) => format!(
                    "{patches} {} on beyond {rounds} rounds of a loop (a larger --bound follows more)",
                    if number == 1 { "goes" } else { "go" }
                ),
                Open::NotEncoded(reason) => format!(
                    "{patches} {} to what is not encoded: {reason}",
                    if number == 1 { "leads" } else { "lead" }
                ),
                Open::Effort => format!("{patches} the solver did not decide"),
            }
        })
        .collect();
    if found.more_open {
        said.push("other patches of this kind were not looked at".to_owned());
    } else if found.decided > 1 && !said.is_empty() {
        said.push("patches that contain one of these were not looked at by themselves".to_owned());
    }
    said
}

/// What functions of these names give, for people.
fn what_they_give(names: &[String]) -> String {
    let mut all: Vec<String> = names
        .iter()
        .map(|name| match naming::opened(name) {
            Some(what) => what.to_owned(),
            None => format!("what `{name}` gives"),
        })
        .collect();
    all.dedup();
    all.join(", ")
}

/// The diff of a patch.
fn diff(program: &Program, own: &[Mutations], repair: &Repair) -> Result<Vec<u8>, Problem> {
    let new = patched(&program.sources, own, repair).map_err(Problem::of)?;
    let mut diff = Vec::new();
    for (position, text) in new {
        let source = &program.sources[position];
        let name = program.shown(&source.path);
        diff.extend(patchwright_text::unified_diff(
            name.as_bytes(),
            &source.unit.source,
            &text,
        ));
    }
    Ok(diff)
}

/// Where changes are made.
fn places(program: &Program, own: &[Mutations], changes: &[Change]) -> Vec<proof::Place> {
    let lines: BTreeMap<u32, &Site> = own
        .iter()
        .flat_map(|one| &one.sites)
        .map(|site| (site.number, site))
        .collect();
    let sites = changes.iter().filter_map(|(site, _)| lines.get(site));
    sites
        .map(|site| show::line(program, site.source, site.line, &site.function))
        .collect()
}

/// Whether a repair changes something in a function.
fn changes_function(own: &[Mutations], repair: &Repair, name: &str) -> bool {
    let mut sites = own.iter().flat_map(|one| &one.sites);
    sites.any(|site| {
        let is_changed = repair.changes.iter().any(|change| change.0 == site.number);
        is_changed && site.function == name
    })
}

/// Lists a repair, which is the one at a position among those that were found; its diff is written where that is asked for.
/// Nothing if its text is that of another one.
fn tell<'l>(
    program: &Program,
    args: &super::ProveArgs,
    own: &[Mutations],
    listed: &'l mut Listed,
    (position, repair): (usize, &Repair),
) -> Result<Option<&'l proof::Repair>, Problem> {
    let diff = diff(program, own, repair)?;
    let text = String::from_utf8_lossy(&diff).into_owned();
    if let Some(same) = listed.shown.iter().find(|one| one.diff == text) {
        listed.numbers[position] = same.number;
        return Ok(None);
    }
    let number = listed.shown.len() + 1;
    listed.numbers[position] = number;
    if let Some(folder) = &args.output {
        let path = folder.join(format!("{number:04}.patch"));
        files::write_atomic(&path, &diff).map_err(Problem::of)?;
    }
    let same_as = repair.same_as.map(|other| listed.numbers[other]);
    listed.shown.push(proof::Repair {
        number,
        standing: match repair.standing {
            Standing::AllInputs => proof::Standing::AllInputs,
            Standing::WithinBound => proof::Standing::WithinBound,
        },
        places: places(program, own, &repair.changes),
        diff: text,
        constants: repair.ranges.clone(),
        more_constants: repair.more,
        void: repair.void,
        // What is shown later cannot be named yet.
        same_as: same_as.filter(|&number| number > 0),
    });
    Ok(listed.shown.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rounds_are_tried_first_and_the_whole_bound_is_among_them() {
        assert_eq!(rounds_to_try(5, 8), [2, 3, 4, 5, 6, 8]);
        assert_eq!(rounds_to_try(16, 16), [2, 3, 4, 6, 8, 12, 16]);
        assert_eq!(rounds_to_try(1, 1), [1]);
    }
}
