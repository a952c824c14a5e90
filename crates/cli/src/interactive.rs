//! `repair --interactive`: patches are looked at as they come, and one of them is chosen.

use std::io::BufRead;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use clap::Args;
use patchwright_exec::CancelToken;
use patchwright_repair::Patch;
use patchwright_report::text::{self, Style};

/// Whether patches are looked at as they come.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct InteractiveArgs {
    /// Look at patches as they come, and choose one: commands are read from standard input, and `?` lists them
    #[arg(
        long,
        conflicts_with_all = ["json", "apply", "ask", "shard"],
        help_heading = "Behaviour"
    )]
    pub interactive: bool,
}

/// What the user has decided.
#[derive(Clone, Debug)]
pub enum Decision {
    /// To look no further; also when there are no more commands.
    Stop,
    /// To have this patch in their own file.
    Apply(Box<Patch>),
    /// To be asked what is right where patches differ.
    Ask,
}

/// The conversation of `repair --interactive`: shows patches as they come, and reads commands from standard input.
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Ends the search.
    stop: CancelToken,
}

#[derive(Default)]
struct State {
    patches: Vec<Patch>,
    /// The one that is looked at, from 0.
    at: usize,
    is_over: bool,
    decision: Option<Decision>,
}

const HELP: &str = "\
n, p       the next patch, the previous one
NUMBER     the patch with this number
l          a line for each patch
w          wait for the next patch, or the end of the search
ask        end the search, and be asked what is right for inputs that tell the patches apart; answers become tests with --output
apply      write the patch that is shown into your own file; asks first
q          end the search
";

impl Session {
    /// Starts the thread that reads commands from standard input. A command that ends the search cancels `stop`.
    pub fn start(stop: CancelToken) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            stop,
        });
        let reader = shared.clone();
        eprintln!("patchwright: patches are shown as they come; ? lists the commands");
        std::thread::spawn(move || {
            let decision = reader.converse(std::io::stdin().lock());
            // Whoever ends the input waits for the end of the search.
            let decision = decision.unwrap_or_else(|| {
                reader.wait(|state| state.is_over);
                Decision::Stop
            });
            reader.state().decision = Some(decision);
            reader.changed.notify_all();
        });
        Session { shared }
    }

    /// Adds a verified patch: shows the first one, announces the others. A patch with a known diff is ignored.
    pub fn add(&self, patch: &Patch) {
        let mut state = self.shared.state();
        if state.patches.iter().any(|known| known.diff == patch.diff) {
            return;
        }
        state.patches.push(patch.clone());
        let (number, is_first) = (state.patches.len(), state.patches.len() == 1);
        drop(state);
        match is_first {
            true => self.shared.show(),
            false => eprintln!("patchwright: patch {number} was found (n shows the next patch)"),
        }
        self.shared.changed.notify_all();
    }

    /// Replaces the patches by those of the report, in its order, and waits until the user has decided. Returns the decision.
    pub fn end(&self, patches: &[Patch]) -> Decision {
        let mut state = self.shared.state();
        state.is_over = true;
        if state.decision.is_none() {
            let shown = state.patches.get(state.at).map(|patch| patch.diff.clone());
            let at = patches
                .iter()
                .position(|patch| Some(&patch.diff) == shown.as_ref());
            (state.patches, state.at) = (patches.to_vec(), at.unwrap_or(0));
            eprintln!(
                "patchwright: the search is over with {}; choose one (apply), be asked (ask), or quit (q)",
                text::count(patches.len() as u64, "patch", "patches")
            );
        }
        drop(state);
        self.shared.changed.notify_all();
        self.shared.wait(|state| state.decision.is_some());
        self.shared
            .state()
            .decision
            .clone()
            .unwrap_or(Decision::Stop)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, is_so: impl Fn(&State) -> bool) {
        let state = self.state();
        let waited = self.changed.wait_while(state, |state| !is_so(state));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn show(&self) {
        let state = self.state();
        match state.patches.get(state.at) {
            Some(patch) => {
                let style = Style { colour: false };
                eprint!("{}", text::patch(state.at + 1, patch, style));
            }
            None => eprintln!("patchwright: there is no patch yet (w waits for one)"),
        }
    }

    /// Reads commands up to a decision; `None` when there are no more.
    fn converse(&self, input: impl BufRead) -> Option<Decision> {
        let mut lines = input.lines().map_while(Result::ok);
        while let Some(line) = lines.next() {
            let mut state = self.state();
            let last = state.patches.len().saturating_sub(1);
            match line.trim() {
                "" => {}
                "n" | "next" => {
                    state.at = (state.at + 1).min(last);
                    drop(state);
                    self.show();
                }
                "p" | "previous" => {
                    state.at = state.at.saturating_sub(1);
                    drop(state);
                    self.show();
                }
                "l" | "list" => {
                    for (at, patch) in state.patches.iter().enumerate() {
                        eprintln!(
                            "{} {}  {}:{} · {} · cost {}",
                            if at == state.at { ">" } else { " " },
                            at + 1,
                            patch.file.display(),
                            patch.line,
                            patch.schema_in_words(),
                            patch.cost
                        );
                    }
                }
                "w" | "wait" => {
                    let known = state.patches.len();
                    drop(state);
                    self.wait(|state| state.is_over || state.patches.len() > known);
                }
                "apply" => {
                    let (patch, number) = (state.patches.get(state.at).cloned(), state.at + 1);
                    drop(state);
                    let Some(patch) = patch else {
                        self.show();
                        continue;
                    };
                    eprintln!(
                        "patchwright: write patch {number} into {}? (y writes it)",
                        patch.file.display()
                    );
                    match lines.next().as_deref().map(str::trim) {
                        Some("y" | "yes") => {
                            self.stop.cancel();
                            return Some(Decision::Apply(Box::new(patch)));
                        }
                        _ => eprintln!("patchwright: the patch is not applied"),
                    }
                }
                "ask" => {
                    drop(state);
                    self.stop.cancel();
                    return Some(Decision::Ask);
                }
                "q" | "quit" | "stop" => {
                    drop(state);
                    self.stop.cancel();
                    return Some(Decision::Stop);
                }
                "?" | "h" | "help" => eprint!("{HELP}"),
                other => match other.parse::<usize>() {
                    Ok(number) if 1 <= number && number <= state.patches.len() => {
                        state.at = number - 1;
                        drop(state);
                        self.show();
                    }
                    Ok(number) => eprintln!("patchwright: there is no patch {number}"),
                    Err(_) => eprintln!("patchwright: `{other}` is no command; ? lists them"),
                },
            }
        }
        None
    }
}
