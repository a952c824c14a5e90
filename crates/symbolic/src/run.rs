//! Unwinds a function: blocks in order, paths that part and meet, loops and their bound.

mod ends;
mod entry;

use std::{collections::BTreeMap, rc::Rc};

use patchwright_ir::{Block, BlockId, Edge, LocalKind, Operand, TempId, Type, Value};
use patchwright_solve::Term;
use rustc_hash::FxHashMap;

use crate::{
    encoder::{Dead, Encoder, Frame, Go, Register, State, World},
    encoding::{Place, Unwinding, UnwindingKind},
    extended,
    lasso::Saved,
    meaning,
    options::Check,
    order::Moment,
    path::Path,
};
pub(crate) use entry::Returned;

/// What waits to be encoded.
struct Waiting {
    block: BlockId,
    state: State,
    /// For each loop that the path is in, by its first block.
    loops: FxHashMap<BlockId, Rounds>,
}

/// The rounds of a loop that a path is in.
#[derive(Clone)]
struct Rounds {
    /// Those that were not decided by constants.
    open: u32,
    /// The path at the beginning of this round.
    path: Path,
    /// In this round some executions have left the loop, and others have not, and inputs decide which.
    left: bool,
    /// The state at its head some rounds ago.
    saved: Option<Rc<Saved>>,
}

impl Rounds {
    fn new(open: u32, path: Path) -> Rounds {
        Rounds {
            open,
            path,
            left: false,
            saved: None,
        }
    }
}

impl<'p> Encoder<'p> {
    /// The value of an operand.
    pub(crate) fn operand(
        &mut self,
        frame: &Frame<'p>,
        state: &State,
        operand: Operand,
    ) -> Option<Term> {
        match operand.value {
            Value::Temp(temp) => self.temporary(frame, state, temp),
            Value::Constant {
                ty: Type::F80,
                bits,
            } => Some(self.terms.constant(extended::WIDTH, bits)),
            Value::Constant { ty, bits } => meaning::constant(self.terms, ty, bits),
            Value::Address { target, addend } => {
                let number = match target {
                    patchwright_ir::Target::Global(id) => {
                        self.globals[self.program.object_of(frame.module, id).index()]
                    }
                    patchwright_ir::Target::Function(id) => {
                        self.routines[self.program.routine_of(frame.module, id).index()]
                    }
                };
                Some(self.pointers.address(self.terms, number, addend))
            }
        }
    }

    fn temporary(&self, frame: &Frame<'p>, state: &State, temp: TempId) -> Option<Term> {
        match frame.order.shared.binary_search(&temp) {
            Ok(index) => state.registers[frame.function.locals.len() + index].value,
            Err(_) => frame.temporaries[temp.index()],
        }
    }

    /// Gives a temporary its value.
    pub(crate) fn define(
        &mut self,
        frame: &mut Frame<'p>,
        state: &mut State,
        temp: TempId,
        value: Option<Term>,
    ) {
        let value = value.map(|value| match &self.along {
            Some(along) => along.narrowed(self.terms, value),
            None => state.world.path.facts().narrowed(self.terms, value),
        });
        if let Ok(index) = frame.order.shared.binary_search(&temp) {
            let register = &mut state.registers[frame.function.locals.len() + index];
            register.value = value;
        } else {
            frame.temporaries[temp.index()] = value;
        }
    }

    /// Encodes the instructions of a block.
    pub(crate) fn block(
        &mut self,
        frame: &mut Frame<'p>,
        block: &'p Block,
        state: &mut State,
    ) -> Go<()> {
        for instruction in &block.instructions {
            self.counts.instructions += 1;
            if self.counts.instructions >= self.looks_at {
                self.looks_at = self.counts.instructions + LOOK_EACH;
                let place = self.place(frame.module, frame.function, instruction.origin);
                if self.spent(&state.world, &place) {
                    return Err(Dead);
                }
            }
            self.instruction(frame, state, instruction)?;
            if self.has_ended() {
                return Err(Dead);
            }
        }
        self.counts.instructions += 1;
        if self.exhausted {
            let place = self.place(frame.module, frame.function, block.terminator.origin);
            self.cut_off(&state.world, &place);
            return Err(Dead);
        }
        Ok(())
    }

    /// Another return of the function.
    fn join(
        &mut self,
        world: World,
        value: Option<Term>,
        written: Term,
        place: &Place,
        returned: &mut Option<Returned>,
    ) {
        *returned = Some(match returned.take() {
            None => Returned {
                world,
                value,
                written,
            },
            Some(other) => {
                let (world, first) = self.meet(&other.world, &world, place);
                let value = match (other.value, value) {
                    (Some(a), Some(b)) => Some(self.pointers.ite(self.terms, first, a, b)),
                    (a, b) => a.or(b),
                };
                Returned {
                    world,
                    value,
                    written: self.terms.ite(first, other.written, written),
                }
            }
        });
    }

    /// Goes along those edges whose conditions can hold.
    fn part(
        &mut self,
        frame: &Frame<'p>,
        moment: &Moment,
        mut at: Waiting,
        ways: &[(Edge, Term)],
        waiting: &mut BTreeMap<Moment, Waiting>,
    ) {
        let mut taken = Vec::new();
        for &(edge, condition) in ways {
            if let Some(path) = at.state.world.path.and(self.terms, condition) {
                taken.push((edge, path));
            }
        }
        if taken.len() > 1 {
            let open = taken.iter().map(|(edge, _)| edge.target);
            let open: Vec<BlockId> = open
                .filter(|&block| !self.reports_failure(frame.module, frame.function, block))
                .collect();
            let by_choice = ways.iter().all(|&(_, condition)| {
                self.choices_alone
                    .holds(self.terms, &self.choice_of, condition)
            });
            for (&head, rounds) in &mut at.loops {
                let leaves = |&block: &BlockId| !frame.order.is_within(block, head);
                rounds.left |= !by_choice && open.iter().any(leaves);
            }
        }
        for (edge, path) in taken {
            self.go(frame, moment, &at, edge, path, waiting);
        }
    }

    /// Goes along an edge: meets what waits there, or waits.
    fn go(
        &mut self,
        frame: &Frame<'p>,
        moment: &Moment,
        at: &Waiting,
        edge: Edge,
        path: Path,
        waiting: &mut BTreeMap<Moment, Waiting>,
    ) {
        let (next, again) = frame.order.follow(at.block, moment, edge.target);
        let mut loops = at.loops.clone();
        let mut way = path.clone();
        if let Some(head) = again {
            self.counts.rounds += 1;
            let round = frame.order.round_of(head, &next);
            let before = loops.get(&head).cloned();
            let before = before.unwrap_or_else(|| Rounds::new(0, path.clone()));
            // What nothing leaves has no condition that could decide.
            self.counts.longest = self.counts.longest.max(u64::from(round));
            let most = self.options.decided_rounds;
            // Executions that end in the round (an assertion fails) do not decide how many rounds there are.
            // Nor do executions that leave it because of a choice: each patched program has a number of rounds of its own.
            let is_checked =
                u64::from(round) <= self.options.checked_rounds || !self.choice_of.is_empty();
            let same = before.path.is(&path) || !before.left && is_checked;
            let decided = same
                && !frame.order.is_endless(head)
                && most.is_none_or(|most| u64::from(round) <= most);
            let rounds = before.open + u32::from(!decided);
            // It goes on like this for ever, and does nothing. Where that is a failure, it is found as any other one.
            let is_still =
                frame.order.is_still(head) && !self.options.checks.contains(&Check::Termination);
            if round >= 2 && is_still {
                self.endless.push(path.term());
                return;
            }
            let mut path = path.clone();
            if let Some(saved) = before.saved.as_ref().filter(|_| !is_still) {
                let mut state = State {
                    world: World {
                        path: path.clone(),
                        ..at.state.world.clone()
                    },
                    registers: at.state.registers.clone(),
                };
                let place = self.place(frame.module, frame.function, edge.origin);
                if !self.goes_on_for_ever(frame, head, &mut state, saved, &place) {
                    return;
                }
                path = state.world.path;
            }
            let next_rounds = Rounds {
                saved: before.saved.clone(),
                ..Rounds::new(rounds, path.clone())
            };
            loops.insert(head, next_rounds);
            way = path.clone();
            if !decided {
                let world = World {
                    path: path.clone(),
                    ..at.state.world.clone()
                };
                // A loop in a model of the library ends where its object does.
                let place = self.place(frame.module, frame.function, edge.origin);
                if rounds > self.options.bound && !self.in_library(frame) || rounds > LIBRARY_ROUNDS
                {
                    if self.feasible(&world) {
                        self.unwinding.push(Unwinding {
                            place,
                            kind: UnwindingKind::Rounds,
                            condition: path.term(),
                        });
                    }
                    return;
                }
                if round >= 2 && !self.feasible(&world) {
                    return;
                }
            }
        } else if frame.order.is_head(edge.target) {
            loops.insert(edge.target, Rounds::new(0, path.clone()));
        }
        let mut state = State {
            world: World {
                path: way,
                ..at.state.world.clone()
            },
            registers: at.state.registers.clone(),
        };
        self.forget_dead(frame, edge.target, &mut state.registers);
        let place = self.place(frame.module, frame.function, edge.origin);
        match waiting.remove(&next) {
            None => {
                waiting.insert(
                    next,
                    Waiting {
                        block: edge.target,
                        state,
                        loops,
                    },
                );
            }
            Some(other) => {
                let (world, first) = self.meet(&other.state.world, &state.world, &place);
                let registers =
                    self.meet_registers(frame, &other.state.registers, &state.registers, first);
                for (head, rounds) in other.loops {
                    let entry = loops.entry(head).or_insert_with(|| rounds.clone());
                    entry.open = entry.open.max(rounds.open);
                    entry.left |= rounds.left;
                }
                // The round begins where the paths have met.
                let here = edge.target;
                if let Some(entry) = loops.get_mut(&here) {
                    entry.path = world.path.clone();
                }
                waiting.insert(
                    next,
                    Waiting {
                        block: here,
                        state: State { world, registers },
                        loops,
                    },
                );
            }
        }
    }

    /// Whether an alternative of a choice is the one that is meant.
    pub(crate) fn chosen(&mut self, number: u32, alternative: u32) -> Term {
        let name = format!("choice.{number}.{alternative}");
        let chosen = self.terms.variable(&name, patchwright_solve::Sort::Bool);
        self.choice_of.insert(chosen, number);
        chosen
    }

    /// The path rests on an alternative of another choice.
    pub(crate) fn rests_on_other(&self, path: &Path, number: u32) -> bool {
        path.last_conditions().any(|condition| {
            let of = self.choice_of.get(&condition);
            of.is_some_and(|&other| other != number)
        })
    }

    fn in_library(&self, frame: &Frame<'p>) -> bool {
        let files = &self.program.modules[frame.module].files;
        files
            .first()
            .is_some_and(|file| crate::encoder::is_library(&file.path))
    }

    /// Values that nobody reads any more need not be brought together.
    fn forget_dead(&mut self, frame: &Frame<'p>, block: BlockId, registers: &mut [Register]) {
        let no = self.terms.truth(false);
        for (index, register) in registers
            .iter_mut()
            .enumerate()
            .take(frame.function.locals.len())
        {
            if !frame.order.lives(block, index) {
                *register = Register {
                    value: None,
                    written: no,
                };
            }
        }
    }

    fn meet_registers(
        &mut self,
        frame: &Frame<'p>,
        a: &[Register],
        b: &[Register],
        first: Term,
    ) -> Vec<Register> {
        let locals = &frame.function.locals;
        let mut met = Vec::with_capacity(a.len());
        for (index, (a, b)) in a.iter().zip(b).enumerate() {
            if a == b {
                met.push(*a);
                continue;
            }
            let value = match (a.value, b.value) {
                (Some(x), Some(y)) => Some(self.pointers.ite(self.terms, first, x, y)),
                (None, None) => None,
                (x, y) if index < locals.len() => {
                    // No value on one of the ways: any.
                    let LocalKind::Register(ty) = locals[index].kind else {
                        met.push(*a);
                        continue;
                    };
                    match self.anything(ty) {
                        Some(any) => Some(self.pointers.ite(
                            self.terms,
                            first,
                            x.unwrap_or(any),
                            y.unwrap_or(any),
                        )),
                        None => None,
                    }
                }
                // A temporary that is defined on one way is not used on the other.
                (x, y) => x.or(y),
            };
            met.push(Register {
                value,
                written: self.terms.ite(first, a.written, b.written),
            });
        }
        met
    }
}

/// Instructions between two looks whether a limit is reached, at least.
const LOOK_EACH: u64 = 256;
/// Rounds after which a loop in a model of the library is given up.
const LIBRARY_ROUNDS: u32 = 1 << 20;

/// Why a value of this type is not known.
pub(crate) fn no_term(ty: Type) -> String {
    format!("a value of type {} is not encoded", ty.in_c())
}
