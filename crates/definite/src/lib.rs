//! Finds functions that may use a value that was never written.
//!
//! A variable without a value holds whatever the stack holds, so it may differ from build to build. An execution of such a
//! program says nothing about another build of it, and a passing test says little.
//!
//! This crate finds on the IR what may be used without a value: variables, elements, members, memory from `malloc`,
//! out-parameters, and the result of a function that ends without one. It finds everything that compilers warn of, also pointers
//! to `const` and memory. It finds more, because it follows calls within a file and does not ask whether two conditions agree.
//!
//! # How to call it
//! Only what a patch adds matters. So a patch is compared with the untouched program:
//!
//! ```no_run
//! # fn units() -> (patchwright_csource::TranslationUnit, patchwright_csource::TranslationUnit) { unimplemented!() }
//! use patchwright_definite::Analysis;
//!
//! let (untouched, patched) = units();
//! let untouched = Analysis::of(&untouched, "src/main.c");
//! let patched = Analysis::of(&patched, "src/main.c");
//! for doubt in untouched.doubts(&patched) {
//!     println!("{}:{}: {}", doubt.function, doubt.line, doubt.text);
//! }
//! ```
//!
//! Patched functions that stand in the untouched file under other names are compared one by one, with [`Analysis::doubt_of_clone`].
//! Both units must have been read from the same path by `patchwright_csource::parse` or `parse_variants`.
//!
//! # What is promised
//! * There is a doubt if the patched function may use something without a value on a path on which the untouched one does not.
//!   There is also a doubt if both may, but the patch changes what decides whether that happens (module `slice`).
//! * `if (parse(text, &x) == 0) use(x);` relies on `parse` to write `x`. Such a use is no reason for a doubt if the patched
//!   function has the same call and the same check (module `flow::promise`).
//! * Callers in the same file that rely on what a changed function writes are analysed again.
//!
//! # What is not seen
//! * Callers in other files, except for results that are written through a pointer to a scalar.
//! * Memory that is passed on through other memory and read there.
//! * Accesses out of bounds.
//!
//! # What must not exist here
//! Processes, files, clang.

mod bytes;
mod flow;
mod library;
mod slice;
mod summary;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use patchwright_csource::TranslationUnit;
use patchwright_csource::types::TypeKind;
use patchwright_ir::{Function, FunctionId, Linkage, Module, OriginId};
use rustc_hash::{FxHashMap, FxHashSet};

use flow::{Callees, Flow, Kind, Outcome};
use slice::{Question, fingerprint};
use summary::{Summary, covers};

/// A possible undefined use in a patched function that the untouched function does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The function that may do it: the patched one, or one that calls it.
    pub function: String,
    /// What, in words.
    pub text: String,
    /// The line of the patched source, from 1; 0 if it is not known.
    pub line: u32,
}

/// The result of comparing a patched function with the untouched one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// What may be used without a value, the first such thing.
    pub doubt: Option<Doubt>,
    /// The patch changes where in arrays of its frame the function reads or writes, or what it hands to others that
    /// do. If that is out of bounds, what happens depends on what lies beside them.
    pub indexes_otherwise: bool,
    /// All of both functions is understood. Where it is not, that there is no doubt means nothing.
    pub is_whole: bool,
    /// The patched function calls one with fewer arguments than that takes. What the others are, no execution tells: a memory sanitizer
    /// looks at memory.
    pub lacks_arguments: bool,
}

/// What parameters of a function are, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
struct Pointee {
    is_constant: bool,
    is_scalar: bool,
}

/// What is asked of a function, in words that mean the same in another version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Asked {
    /// Whether these objects are written and used.
    labels: BTreeSet<String>,
    /// Whether what these parameters point to is written, and what is returned.
    relied: BTreeSet<usize>,
    /// Whether it ends without its value.
    end: bool,
    /// Where in arrays of its frame it reads and writes.
    indices: bool,
}

/// The largest number of callers that are looked at again for one patch.
const MOST_CALLERS: usize = 64;

/// The analysis of a translation unit and all its functions.
pub struct Analysis {
    module: Module,
    parameters: FxHashMap<String, Vec<Pointee>>,
    /// What is known of functions with a body; `None` while it is found out.
    known: RefCell<FxHashMap<FunctionId, Option<Rc<Outcome>>>>,
    /// Who calls each function.
    callers: FxHashMap<FunctionId, Vec<FunctionId>>,
    fingerprints: RefCell<FxHashMap<(FunctionId, Asked), u64>>,
    /// By function: parameters by which something is written or not that is then used without a value, in some caller.
    relied: RefCell<Option<FxHashMap<FunctionId, BTreeSet<usize>>>>,
    /// Functions whose callers count: no patch but the untouched program.
    is_caller: Box<dyn Fn(&str) -> bool>,
}

/// Callees with other bodies for some functions.
struct With<'a> {
    analysis: &'a Analysis,
    instead: &'a FxHashMap<FunctionId, Rc<Summary>>,
    /// This one is the function itself.
    itself: Option<FunctionId>,
}

impl Callees for With<'_> {
    fn summary(&self, function: FunctionId) -> Option<Rc<Summary>> {
        if self.itself == Some(function) {
            return None;
        }
        if let Some(summary) = self.instead.get(&function) {
            return Some(summary.clone());
        }
        Some(self.analysis.outcome(function)?.summary.clone())
    }

    fn is_constant(&self, function: &str, parameter: usize) -> bool {
        let known = self.analysis.parameters.get(function);
        let known = known.and_then(|known| known.get(parameter));
        known.is_some_and(|known| known.is_constant)
    }
}

impl Analysis {
    /// Analyses a translation unit. `path` is the name of its main file in the compile command.
    pub fn of(unit: &TranslationUnit, path: &str) -> Self {
        Self::with_clones(unit, path, |_| false)
    }

    /// Analyses a unit in which patched functions stand beside the untouched ones under other names.
    /// `is_clone` recognizes these names. No function calls a clone.
    pub fn with_clones(
        unit: &TranslationUnit,
        path: &str,
        is_clone: impl Fn(&str) -> bool + 'static,
    ) -> Self {
        let module = patchwright_lower::lower(unit, path);
        let pointee = |ty: &_| {
            let TypeKind::Pointer(to) = unit.types.kind(*ty) else {
                return Pointee::default();
            };
            let kind = unit.types.kind(*to);
            Pointee {
                is_constant: unit.types.qualifiers(*to).is_const,
                is_scalar: matches!(
                    kind,
                    TypeKind::Integer(_)
                        | TypeKind::Enum { .. }
                        | TypeKind::Float(_)
                        | TypeKind::Pointer(_)
                ),
            }
        };
        let declared = unit.declarations.iter().map(|(name, declaration)| {
            let parameters = declaration.parameters.iter().map(pointee).collect();
            (name.clone(), parameters)
        });
        let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for (index, function) in module.functions.iter().enumerate() {
            if is_clone(&function.name) {
                continue;
            }
            for called in called(function) {
                let own = callers.entry(called).or_default();
                if own.last() != Some(&FunctionId(index as u32)) {
                    own.push(FunctionId(index as u32));
                }
            }
        }
        Analysis {
            parameters: declared.collect(),
            module,
            known: RefCell::default(),
            callers,
            fingerprints: RefCell::default(),
            relied: RefCell::default(),
            is_caller: Box::new(move |name| !is_clone(name)),
        }
    }

    /// Returns the possible undefined uses in functions of `patched` that the functions of the same
    /// names in this unit do not have. A new function is not compared; it matters through its
    /// callers.
    pub fn doubts(&self, patched: &Analysis) -> Vec<Doubt> {
        let own = self.module.functions.iter().enumerate();
        let defined = own.filter(|(_, function)| function.is_defined());
        let mut doubts = Vec::new();
        for (index, function) in defined {
            let id = FunctionId(index as u32);
            let Some(other) = patched.module.function_named(&function.name) else {
                continue;
            };
            if !patched.module.function(other).is_defined() {
                continue;
            }
            let (Some(before), Some(after)) = (self.outcome(id), patched.outcome(other)) else {
                continue;
            };
            let doubt = self.compare(id, &before, patched, other, &after);
            doubts.extend(doubt.or_else(|| self.unseen(id, &before, patched, other, &after)));
        }
        doubts
    }

    /// Returns a use of an unwritten value in `function` of `patched` that this unit's version has on
    /// no path. Unlike [`Analysis::doubts`] it is `None` if both versions may use such a value, and
    /// it does not look at callers.
    pub fn new_use(&self, patched: &Analysis, function: &str) -> Option<Doubt> {
        let (id, other) = (
            self.module.function_named(function)?,
            patched.module.function_named(function)?,
        );
        let (before, after) = (self.outcome(id)?, patched.outcome(other)?);
        new_found(patched.module.function(other), &before, &after)
    }

    /// Whether `function` may use what nobody has written: where it does not, [`Analysis::new_use`] finds nothing in it, whatever it
    /// is compared with.
    pub fn has_uses(&self, function: &str) -> bool {
        let outcome = self.module.function_named(function);
        let outcome = outcome.and_then(|id| self.outcome(id));
        outcome.is_some_and(|outcome| !outcome.found.is_empty())
    }

    /// Whether the analysis understands all of `function`. If not, an empty result means nothing.
    pub fn is_whole(&self, function: &str) -> bool {
        let outcome = self.module.function_named(function);
        let outcome = outcome.and_then(|id| self.outcome(id));
        outcome.is_some_and(|outcome| outcome.is_whole)
    }

    /// Whether some function calls another one with fewer arguments than it takes (see
    /// [`Compared::lacks_arguments`]).
    pub fn lacks_arguments(&self) -> bool {
        let functions = 0..self.module.functions.len() as u32;
        let mut outcomes = functions.filter_map(|index| self.outcome(FunctionId(index)));
        outcomes.any(|outcome| outcome.lacks_arguments)
    }

    /// Compares the patched function `clone` with `function` in the same unit. It is `None` if one of
    /// them does not exist.
    pub fn doubt_of_clone(&self, function: &str, clone: &str) -> Option<Compared> {
        let (id, other) = (
            self.module.function_named(function)?,
            self.module.function_named(clone)?,
        );
        let before = self.outcome(id)?;
        let instead = FxHashMap::default();
        let patched = self.module.function(other);
        if !patched.is_defined() {
            return None;
        }
        let after = self.run(patched, &instead, Some(id));
        let mut compared = Compared {
            doubt: self.compare(id, &before, self, other, &after),
            indexes_otherwise: self.indices(id, &before) != self.indices(other, &after),
            is_whole: before.is_whole && after.is_whole,
            lacks_arguments: after.lacks_arguments,
        };
        if compared.doubt.is_none() {
            compared.doubt = self.unseen(id, &before, self, other, &after);
        }
        if compared.doubt.is_none() {
            compared.doubt = self.doubt_of_callers(id, &before, &after);
        }
        if let Some(doubt) = &mut compared.doubt
            && doubt.function == clone
        {
            doubt.function = function.to_owned();
        }
        Some(compared)
    }

    /// Looks at those again that call a changed function, if it gives them less than before.
    fn doubt_of_callers(&self, id: FunctionId, before: &Outcome, after: &Outcome) -> Option<Doubt> {
        if after.summary.gives_what(&before.summary) {
            return None;
        }
        let mut instead = FxHashMap::default();
        instead.insert(id, after.summary.clone());
        let mut open = vec![id];
        let mut looks = 0;
        while let Some(changed) = open.pop() {
            for &caller in self
                .callers
                .get(&changed)
                .map_or(&[][..], |callers| callers)
            {
                if caller == id {
                    continue;
                }
                looks += 1;
                let function = self.module.function(caller);
                if looks > MOST_CALLERS {
                    return Some(Doubt {
                        function: function.name.clone(),
                        text: "too many functions rely on what is changed".to_owned(),
                        line: 0,
                    });
                }
                let known = self.outcome(caller)?;
                let new = self.run(function, &instead, Some(caller));
                if let Some(doubt) = new_doubt(function, &known, &new) {
                    return Some(doubt);
                }
                let is_known = instead.contains_key(&caller);
                if !is_known && !new.summary.gives_what(&known.summary) {
                    instead.insert(caller, new.summary.clone());
                    open.push(caller);
                }
            }
        }
        None
    }

    /// Those who call a function from other files are not seen: it may leave something unwritten that they have a right to find written.
    fn unseen(
        &self,
        id: FunctionId,
        before: &Outcome,
        patched: &Analysis,
        other: FunctionId,
        after: &Outcome,
    ) -> Option<Doubt> {
        let function = self.module.function(id);
        if function.linkage == Linkage::Internal || self.callers.contains_key(&id) {
            return None;
        }
        let parameters = self.parameters.get(&function.name)?;
        let effects = before.summary.parameters.iter();
        let both = effects.zip(&after.summary.parameters).zip(parameters);
        for (number, ((before, after), parameter)) in both.enumerate() {
            let gives_less = !after.written.contains_all(&before.written);
            if parameter.is_scalar && !parameter.is_constant && gives_less {
                let name = patched.module.function(other).locals.get(number);
                let name = name.map_or("", |local| &local.name);
                return Some(Doubt {
                    function: function.name.clone(),
                    text: format!("it may return without having written what `{name}` points to"),
                    line: 0,
                });
            }
        }
        None
    }

    /// What is known of a function with a body.
    fn outcome(&self, id: FunctionId) -> Option<Rc<Outcome>> {
        if let Some(known) = self.known.borrow().get(&id) {
            return known.clone();
        }
        let function = self.module.function(id);
        if !function.is_defined() {
            return None;
        }
        // What calls itself is not known while it is looked at.
        self.known.borrow_mut().insert(id, None);
        let outcome = Rc::new(self.run(function, &FxHashMap::default(), Some(id)));
        self.known.borrow_mut().insert(id, Some(outcome.clone()));
        Some(outcome)
    }

    fn run(
        &self,
        function: &Function,
        instead: &FxHashMap<FunctionId, Rc<Summary>>,
        itself: Option<FunctionId>,
    ) -> Outcome {
        let callees = With {
            analysis: self,
            instead,
            itself,
        };
        Flow::run(&self.module, function, &callees)
    }

    fn compare(
        &self,
        id: FunctionId,
        before: &Outcome,
        patched: &Analysis,
        other: FunctionId,
        after: &Outcome,
    ) -> Option<Doubt> {
        let function = patched.module.function(other);
        if let Some(doubt) = new_doubt(function, before, after) {
            return Some(doubt);
        }
        let relied = self.relied(id);
        // What a call promises does not depend on how control came to it.
        let unpromised = || {
            let found = after.found.iter();
            found.filter(|(_, found)| !found.is_promised())
        };
        if unpromised().next().is_none() && relied.is_empty() {
            return None;
        }
        let labels = unpromised().filter_map(|(_, found)| found.object);
        let asked = Asked {
            labels: labels
                .map(|object| after.objects[object].label.clone())
                .collect(),
            relied,
            end: unpromised().any(|(_, found)| found.object.is_none()),
            indices: false,
        };
        if self.decides(id, before, &asked) == patched.decides(other, after, &asked) {
            return None;
        }
        let found = unpromised().next();
        let text = match found {
            Some((text, _)) => format!("{text}, and the patch changes what decides about it"),
            None => "it may leave something unwritten, and the patch changes what decides about it"
                .to_owned(),
        };
        let origin = found.map_or(OriginId(0), |(_, found)| found.origin);
        Some(Doubt {
            function: function.name.clone(),
            text,
            line: line(function, origin),
        })
    }

    /// The number of what decides about what is asked.
    fn decides(&self, id: FunctionId, outcome: &Outcome, asked: &Asked) -> u64 {
        let function = self.module.function(id);
        let key = (id, asked.clone());
        let is_own = (self.is_caller)(&function.name);
        if let (Some(known), true) = (self.fingerprints.borrow().get(&key), is_own) {
            return *known;
        }
        let objects = outcome.objects.iter().enumerate();
        let objects = objects.filter(|(_, object)| {
            asked.labels.contains(&object.label)
                || matches!(object.kind, Kind::Parameter(number) if asked.relied.contains(&number))
        });
        let question = Question {
            objects: &objects.map(|(index, _)| index).collect(),
            end: asked.end,
            result: !asked.relied.is_empty(),
            indices: asked.indices,
        };
        let number = fingerprint(&self.module, function, outcome, &question);
        if is_own {
            self.fingerprints.borrow_mut().insert(key, number);
        }
        number
    }

    fn indices(&self, id: FunctionId, outcome: &Outcome) -> u64 {
        let asked = Asked {
            indices: true,
            ..Asked::default()
        };
        self.decides(id, outcome, &asked)
    }

    /// The parameters of a function by which callers are given, or not, what they then use without a value.
    fn relied(&self, id: FunctionId) -> BTreeSet<usize> {
        if self.relied.borrow().is_none() {
            let mut all: FxHashMap<FunctionId, BTreeSet<usize>> = FxHashMap::default();
            for (index, function) in self.module.functions.iter().enumerate() {
                let caller = FunctionId(index as u32);
                if !function.is_defined() || !(self.is_caller)(&function.name) {
                    continue;
                }
                if let Some(outcome) = self.outcome(caller) {
                    for (called, parameter) in &outcome.relies {
                        all.entry(*called).or_default().insert(*parameter);
                    }
                }
            }
            *self.relied.borrow_mut() = Some(all);
        }
        let relied = self.relied.borrow();
        let own = relied.as_ref().and_then(|relied| relied.get(&id));
        own.cloned().unwrap_or_default()
    }
}

/// The first thing that `after` may do and `before` does not.
fn new_doubt(function: &Function, before: &Outcome, after: &Outcome) -> Option<Doubt> {
    if let Some(doubt) = new_found(function, before, after) {
        return Some(doubt);
    }
    for (label, bytes) in &after.given {
        let known = before.given.get(label);
        if known.is_some_and(|known| !covers(bytes, known)) {
            return Some(Doubt {
                function: function.name.clone(),
                text: format!("{label} is handed on with less of it written"),
                line: 0,
            });
        }
    }
    None
}

/// The first thing that `after` may use without a value and `before` does not.
fn new_found(function: &Function, before: &Outcome, after: &Outcome) -> Option<Doubt> {
    let (text, found) = after.found.iter().find(|(text, found)| {
        let known = before.found.get(*text);
        known.is_none_or(|known| found.is_sure && !known.is_sure || !found.rests_on(known))
    })?;
    Some(Doubt {
        function: function.name.clone(),
        text: text.clone(),
        line: line(function, found.origin),
    })
}

fn line(function: &Function, origin: OriginId) -> u32 {
    let line = function.origin(origin).line;
    line.map_or(0, |(_, line)| line)
}

/// The functions that a function calls by name.
fn called(function: &Function) -> FxHashSet<FunctionId> {
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    instructions
        .filter_map(patchwright_ir::Instruction::called)
        .collect()
}
