//! Executes the samples of partitions in both versions by the interpreter.

use std::collections::BTreeSet;

use patchwright_compare::{ERRNO, Holder, Kind, Partition, Seen, Side};
use patchwright_interpret::{Ending, Undefined};
use patchwright_ir::{Module, Type};
use patchwright_prove::{For, Given, Parts, execute, find, harness, inputs::returned_record};
use patchwright_report::comparison::Observed;
use patchwright_symbolic::{Check, InputKind, LOST, Shape};

use super::{observed::observed, read::Versions};
use crate::encoded::Problem;

/// What stands between what the function prints and what the harness prints of what is left.
const MARK: &str = "\n\u{1}\n";

/// Whether executions confirm a sample.
pub enum Replay {
    /// It is as the partition says.
    Agrees,
    /// It is not: our mistake.
    Differs(String),
    /// What is printed is the same text, written in different ways.
    SameText,
    /// It cannot be told: why.
    Untold(String),
}

/// Which effects of executions are compared with those that the encoding predicts.
pub struct Watch {
    /// The function; nothing for whole programs.
    pub function: Option<String>,
    /// Globals that both versions have.
    pub globals: Vec<(String, u64)>,
    /// The types of the results of both.
    pub result: [Option<Type>; 2],
    /// What the results are, where they are structures.
    pub records: [Option<Shape>; 2],
    /// Undefined behaviour that is looked for.
    pub checks: BTreeSet<Check>,
}

/// The effects of an execution of a sample.
pub struct Execution {
    /// How it ended.
    pub ending: Ending,
    /// Where, for messages.
    pub at: String,
    /// What it printed.
    pub output: Vec<u8>,
    /// What it left, as the harness prints that.
    pub left: Vec<(String, Vec<u8>)>,
}

/// The harnesses of all partitions of a function. They are read together, so that the function's source
/// is read once.
#[derive(Default)]
pub struct Harnesses {
    modules: [Option<Module>; 2],
    /// Which partitions have one.
    there: [Vec<bool>; 2],
}

impl Harnesses {
    /// Makes the harnesses of `partitions`. There are none for whole programs.
    ///
    /// # Errors
    /// Interruption.
    pub fn of(
        versions: &mut Versions,
        watch: &Watch,
        partitions: &[Partition],
    ) -> Result<Harnesses, Problem> {
        let mut all = Harnesses::default();
        let Some(function) = &watch.function else {
            return Ok(all);
        };
        for side in Side::BOTH {
            let at = usize::from(side == Side::New);
            let mut text = String::new();
            let mut calls = String::new();
            for (number, partition) in (1..).zip(partitions) {
                let written = written(versions, watch, function, side, &partition.samples[at]);
                let Ok(own) = written else {
                    all.there[at].push(false);
                    continue;
                };
                let Some(parts) = Parts::of(&own) else {
                    all.there[at].push(false);
                    continue;
                };
                if text.is_empty() {
                    text.push_str(parts.before);
                }
                text.push_str(&parts.called(&format!("main_{number}")));
                text.push('\n');
                calls.push_str(&format!(
                    "    if (number == {number})\n        return main_{number}();\n"
                ));
                all.there[at].push(true);
            }
            text.push_str(&format!(
                "int main(int count, char **words)\n{{\n    int number = 0;\n    for (char *at = words[1]; *at; at++)\n        \
                 number = 10 * number + *at - '0';\n{calls}    return count;\n}}\n"
            ));
            all.modules[at] = match harness_module(versions, side, &text) {
                Ok(module) => Some(module),
                Err(Problem::Interrupted) => return Err(Problem::Interrupted),
                // Each is read by itself, then.
                Err(Problem::Input(_)) => None,
            };
        }
        Ok(all)
    }

    /// The module with the harness of a partition, counted from 0, and what it is to be called with.
    fn find(&self, side: Side, number: usize) -> Option<(Module, Vec<Given>)> {
        let at = usize::from(side == Side::New);
        let module = self.modules[at].clone()?;
        if self.there[at].get(number) != Some(&true) {
            return None;
        }
        let text = format!("{}\0", number + 1);
        let words = (0..).zip(text.bytes()).map(|(at, byte)| Given {
            name: format!("argv[1][{at}]"),
            kind: InputKind::ArgumentByte(1, at),
            ty: Some(Type::U8),
            bits: u128::from(byte),
            consumed: true,
        });
        Some((module, words.collect()))
    }
}

/// The harness of a sample, as it is executed here.
fn written(
    versions: &Versions,
    watch: &Watch,
    function: &str,
    side: Side,
    inputs: &[Given],
) -> Result<String, Problem> {
    let version = &versions.both[usize::from(side == Side::New)];
    let text = harness(
        &version.sources,
        function,
        &version.shapes,
        inputs,
        &version.source().path,
        For::Interpreter,
        true,
    );
    Ok(marked(&text.map_err(Problem::of)?, &watch.globals))
}

fn harness_module(versions: &mut Versions, side: Side, text: &str) -> Result<Module, Problem> {
    if let Some(command) = &versions.both[usize::from(side == Side::New)].command {
        versions.reader.compile_as(command);
    }
    versions.reader.module("harness.c", text)
}

/// Executes the sample of partition `number`, counted from 0, in both versions.
pub fn replay(
    versions: &mut Versions,
    watch: &Watch,
    harnesses: &Harnesses,
    number: usize,
    partition: &Partition,
) -> Result<([Option<Observed>; 2], Replay), Problem> {
    for inputs in &partition.samples {
        let outside = inputs.iter().find_map(|given| match &given.kind {
            InputKind::Outside { function, .. } if given.consumed => Some(function),
            _ => None,
        });
        if let Some(function) = outside {
            let reason = format!("`{function}` is not there to be executed");
            return Ok(([None, None], Replay::Untold(reason)));
        }
        let other = inputs.iter().find(|given| {
            given.consumed
                && matches!(&given.kind, InputKind::Returned { function, .. }
                    if !function.starts_with("__VERIFIER_nondet_") && !function.starts_with("nondet_"))
        });
        if let Some(given) = other {
            let reason = format!(
                "`{}` has no body, and is taken to return anything",
                given.name
            );
            return Ok(([None, None], Replay::Untold(reason)));
        }
    }
    let mut executions = Vec::new();
    for side in Side::BOTH {
        let inputs = &partition.samples[usize::from(side == Side::New)];
        match execution(versions, watch, (harnesses, number), side, inputs) {
            Ok(execution) => executions.push(execution),
            Err(Problem::Input(reason)) => return Ok(([None, None], Replay::Untold(reason))),
            Err(other) => return Err(other),
        }
    }
    let answer = agreement(versions, watch, partition, &executions[0], &executions[1]);
    let shapes = &versions.both[0].shapes;
    let observed = [0, 1].map(|side| {
        Some(observed(
            &executions[side],
            watch,
            side,
            shapes,
            &versions.holders,
        ))
    });
    Ok((observed, answer))
}

/// Returns what OLD prints and leaves behind for a sample, as the harness prints it. It is `None` if OLD
/// fails or cannot be executed.
///
/// # Errors
/// Interruption.
pub fn expected(
    versions: &mut Versions,
    function: &str,
    partition: &Partition,
) -> Result<Option<Vec<u8>>, Problem> {
    let watch = Watch {
        function: Some(function.to_owned()),
        globals: Vec::new(),
        result: result_types(versions, function),
        records: returned_records(versions, function),
        checks: BTreeSet::new(),
    };
    let none = Harnesses::default();
    let ran = match execution(
        versions,
        &watch,
        (&none, 0),
        Side::Old,
        &partition.samples[0],
    ) {
        Ok(execution) => execution,
        Err(Problem::Input(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    if ran.ending != Ending::Exit(0) {
        return Ok(None);
    }
    let mut text = ran.output;
    for (name, bytes) in &ran.left {
        text.extend_from_slice(name.as_bytes());
        text.push(b':');
        for byte in bytes {
            text.extend_from_slice(format!(" {byte}").as_bytes());
        }
        text.push(b'\n');
    }
    Ok(Some(text))
}

/// Returns the effects of a version for samples, where both of `versions` are that version.
///
/// # Errors
/// Interruption.
pub fn observed_in(
    versions: &mut Versions,
    watch: &Watch,
    samples: &[Vec<Given>; 2],
) -> Result<Option<Observed>, Problem> {
    // All inputs of both: a parameter may be missing in one of them.
    let mut inputs = samples[1].clone();
    for given in &samples[0] {
        if !inputs.iter().any(|other| other.name == given.name) {
            inputs.push(given.clone());
        }
    }
    let none = Harnesses::default();
    match execution(versions, watch, (&none, 0), Side::Old, &inputs) {
        Ok(execution) => {
            let shapes = &versions.both[0].shapes;
            let holders = &versions.holders;
            Ok(Some(observed(&execution, watch, 0, shapes, holders)))
        }
        Err(Problem::Input(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn execution(
    versions: &mut Versions,
    watch: &Watch,
    (harnesses, number): (&Harnesses, usize),
    side: Side,
    inputs: &[Given],
) -> Result<Execution, Problem> {
    let mut inputs = inputs.to_vec();
    let module = match (&watch.function, harnesses.find(side, number)) {
        (None, _) => versions.both[usize::from(side == Side::New)].module(),
        (Some(_), Some((module, words))) => {
            inputs.extend(words);
            module
        }
        (Some(function), None) => {
            let text = written(versions, watch, function, side, &inputs)?;
            harness_module(versions, side, &text)?
        }
    };
    let (outcome, output) = execute(vec![module], &inputs).map_err(Problem::Input)?;
    let at = outcome
        .trace
        .first()
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    let (output, left) = match &watch.function {
        None => (output, Vec::new()),
        Some(_) => split(&output),
    };
    Ok(Execution {
        ending: outcome.ending,
        at,
        output,
        left,
    })
}

/// The harness with a mark before what it prints, and with the globals behind that.
fn marked(text: &str, globals: &[(String, u64)]) -> String {
    let main = text.find("int main(void)").unwrap_or(0);
    let end = text.rfind("    return 0;").unwrap_or(text.len());
    let first = text[main..end]
        .find("    printf(\"")
        .map_or(end, |at| main + at);
    let mut new = text[..first].to_owned();
    new.push_str("    printf(\"\\n\\001\\n\");\n");
    new.push_str(&text[first..end]);
    for (name, _) in globals {
        new.push_str(&format!(
            "    printf(\"{name}:\");\n    for (__SIZE_TYPE__ at = 0; at < sizeof {name}; at++)\n        \
             printf(\" %d\", ((unsigned char *)&{name})[at]);\n    printf(\"\\n\");\n"
        ));
    }
    new.push_str(&text[end..]);
    new
}

fn split(output: &[u8]) -> (Vec<u8>, Vec<(String, Vec<u8>)>) {
    let mark = MARK.as_bytes();
    let at = output
        .windows(mark.len())
        .rposition(|window| window == mark);
    let Some(at) = at else {
        return (output.to_vec(), Vec::new());
    };
    let rest = String::from_utf8_lossy(&output[at + mark.len()..]).into_owned();
    let left = rest.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(':')?;
        let bytes = bytes
            .split_whitespace()
            .filter_map(|byte| byte.parse().ok());
        Some((name.to_owned(), bytes.collect()))
    });
    (output[..at].to_vec(), left.collect())
}

/// The value of an integer of a type in so many bytes as the largest has with a sign, whatever the type.
fn value_of(ty: Type, bytes: &[u8]) -> Vec<u8> {
    let is_negative = ty.is_signed() && bytes.last().is_some_and(|&last| last >= 0x80);
    let mut value = bytes.to_vec();
    value.resize(17, if is_negative { 0xff } else { 0 });
    value
}

fn agreement(
    versions: &Versions,
    watch: &Watch,
    partition: &Partition,
    old: &Execution,
    new: &Execution,
) -> Replay {
    let fails = |one: &Execution| match &one.ending {
        Ending::Abort => Some(false),
        Ending::Undefined { .. } => Some(true),
        _ => None,
    };
    let both_fail = fails(old).is_some() && fails(new).is_some();
    for one in [old, new] {
        match &one.ending {
            Ending::Undefined { message, .. } if one.at.contains("harness.c") => {
                return Replay::Untold(format!("what is left cannot be printed: {message}"));
            }
            Ending::Unsupported(reason) => {
                return Replay::Untold(format!("the interpreter does not support {reason}"));
            }
            Ending::Limit(what) => {
                return Replay::Untold(format!(
                    "an execution takes longer than the limit of {what}"
                ));
            }
            // It follows pointers less far than terms do.
            Ending::Undefined {
                kind: Undefined::BadPointerArithmetic,
                message,
            } if !both_fail && matches!(partition.kind, Kind::Equal | Kind::Different) => {
                return Replay::Untold(format!("the interpreter does not follow it: {message}"));
            }
            Ending::Undefined { kind, message } if !watch.checks.contains(&Check::of(*kind)) => {
                return Replay::Untold(format!(
                    "an execution has undefined behaviour that is not looked for: {message} (`--check {}` looks for it)",
                    Check::of(*kind).name()
                ));
            }
            _ => {}
        }
    }
    if partition.is_undetermined {
        return Replay::Untold("it rests on something that no input determines".to_owned());
    }
    let unwritten = partition
        .samples
        .iter()
        .flatten()
        .any(|given| given.consumed && matches!(given.kind, InputKind::Unwritten(_)));
    if unwritten {
        return Replay::Untold("an execution rests on a value that nothing has written".to_owned());
    }
    let pointers = watch.result.contains(&Some(Type::Ptr));
    let is_pointer = |seen: &Seen| match seen {
        Seen::Result => pointers,
        Seen::Object(name) => versions
            .holders
            .iter()
            .any(|holder| holder.name == *name && holder.has_pointers()),
        _ => false,
    };
    let is_compared = |name: &str| {
        // The bytes of pointers are of one version.
        let holds =
            |holder: &Holder| holder.name.trim_start_matches('*') == name && holder.has_pointers();
        !versions.holders.iter().any(holds)
    };
    let left = |one: &Execution| -> Vec<(String, Vec<u8>)> {
        let compared = one.left.iter().filter(|(name, _)| is_compared(name));
        compared.cloned().collect()
    };
    let [of_old, of_new] = watch.result;
    let is_integer = |ty: Option<Type>| ty.is_some_and(Type::is_integer);
    let has_types = of_old != of_new && is_integer(of_old) && is_integer(of_new);
    let same_left = || {
        let of = |side: usize, one: &Execution| -> Vec<(String, Vec<u8>)> {
            let mut all = left(one);
            for (name, bytes) in &mut all {
                if name == "result" {
                    one_nan(bytes, watch.result[side]);
                    if let Some(ty) = watch.result[side].filter(|_| has_types) {
                        *bytes = value_of(ty, bytes);
                    }
                }
            }
            all
        };
        of(0, old) == of(1, new)
    };
    let printed = |one: &Execution| String::from_utf8_lossy(&one.output).replace("-nan", "nan");
    let same = || old.ending == new.ending && printed(old) == printed(new) && same_left();
    let agrees = match partition.kind {
        Kind::NewFails => fails(old).is_none() && fails(new).is_some(),
        Kind::OldFails => fails(old).is_some() && fails(new).is_none(),
        Kind::FailsOtherwise => {
            let otherwise = fails(old) != fails(new) || old.output != new.output;
            let is_lost = |line: &String| line.contains(LOST);
            let mut formulas = partition.behaviours.iter().flat_map(|one| &one.formulas);
            if both_fail && !otherwise && formulas.any(is_lost) {
                return Replay::Untold("the interpreter writes out what an abort loses".to_owned());
            }
            if both_fail && !otherwise {
                // Values are compared and how they are written, and standard error is not looked at.
                return Replay::SameText;
            }
            both_fail
        }
        Kind::Equal => match (fails(old), fails(new)) {
            (None, None) => same(),
            (one, other) => one == other,
        },
        Kind::Different => {
            if fails(old).is_some() || fails(new).is_some() {
                false
            } else if same() && partition.seen.iter().any(is_pointer) {
                return Replay::Untold("what differs is a pointer".to_owned());
            } else if same() && partition.seen.iter().any(is_static) {
                return Replay::Untold(
                    "variables that are static within functions cannot be looked at from outside"
                        .to_owned(),
                );
            } else if same() && partition.seen.contains(&Seen::Object(ERRNO.to_owned())) {
                return Replay::Untold("`errno` is not looked at when it is executed".to_owned());
            } else if same() && partition.seen.contains(&Seen::ErrorOutput) {
                return Replay::Untold(
                    "standard error is not looked at when it is executed".to_owned(),
                );
            } else if same() && matches!(partition.seen.as_slice(), [Seen::Output]) {
                // The encoding compares values and how they are written, not the text that comes of them.
                return Replay::SameText;
            } else {
                !same()
            }
        }
    };
    match agrees {
        true => Replay::Agrees,
        false => Replay::Differs(format!(
            "for {} it says `{}`, and OLD ends with {:?}{}, NEW with {:?}{}",
            sample(&partition.samples[0]),
            partition.kind.code(),
            old.ending,
            old.at,
            new.ending,
            new.at
        )),
    }
}

/// Any NaN is the same as any other.
fn one_nan(bytes: &mut [u8], ty: Option<Type>) {
    let is_nan = match (ty, &*bytes) {
        (Some(Type::F32), &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (Some(Type::F64), &[a, b, c, d, e, f, g, h]) => {
            f64::from_le_bytes([a, b, c, d, e, f, g, h]).is_nan()
        }
        _ => false,
    };
    if is_nan {
        bytes.fill(0xff);
    }
}

fn is_static(seen: &Seen) -> bool {
    matches!(seen, Seen::Object(name) if name.starts_with("static "))
}

/// Returns the inputs of a sample as text for messages.
pub fn sample(inputs: &[Given]) -> String {
    let all = inputs
        .iter()
        .map(|given| format!("{} = {}", given.name, given.text()));
    all.collect::<Vec<_>>().join(", ")
}

/// Returns the globals that both versions define, with their sizes. C must be able to write their names.
pub fn globals(versions: &Versions) -> Vec<(String, u64)> {
    let of = |side: usize| -> Vec<(String, u64)> {
        let module = versions.both[side].module();
        let own = module.globals.into_iter();
        own.filter(|global| !global.constant && !global.name.contains('.') && global.data.is_some())
            .map(|global| (global.name, global.size))
            .collect()
    };
    let (old, new) = (of(0), of(1));
    // A variable of the harness would hide one of its own name.
    let parameters = |name: &str| {
        versions.both[0]
            .shapes
            .iter()
            .any(|shape| shape.name == name)
    };
    old.into_iter()
        .filter(|one| new.contains(one) && !parameters(&one.0))
        .filter(|one| one.0 != "result" && one.0 != "at")
        .collect()
}

/// Returns the types of the function's results that harnesses print.
pub fn result_types(versions: &Versions, function: &str) -> [Option<Type>; 2] {
    versions.both.each_ref().map(|version| {
        let module = version.module();
        find(&version.sources, function).ok()?;
        let own = module.functions.iter().find(|own| own.name == function)?;
        Some(own.result)
    })
}

/// Returns the shapes of the structures that the function returns in both versions.
pub fn returned_records(versions: &Versions, function: &str) -> [Option<Shape>; 2] {
    let of = |version: &super::read::Version| returned_record(&version.sources, function);
    versions.both.each_ref().map(of)
}
