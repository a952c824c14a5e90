//! The command line, the one definition behind help, completions and the man page.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::{
    args::{LocalizeArgs, RepairArgs, RunArgs, ValidateArgs},
    compare::arguments::CompareArgs,
    complexity::ComplexityArgs,
    ir::IrArgs,
    prove::ProveArgs,
    regression::RegressionArgs,
    shown::ShownArgs,
    slice::SliceArgs,
};

/// Repairs C programs: from a failing test suite to the cheapest patches that pass it.
#[derive(Parser, Debug)]
#[command(name = "patchwright", version, about, arg_required_else_help = true)]
#[command(after_help = "\
Exit status: 0 done, something was found; 1 done, nothing was found; 2 the input is wrong; \
3 the project does not build or its tests are no basis; 4 interrupted; 5 not decided (prove), or the time is over (regression); 70 a bug of Patchwright.")]
pub struct Cli {
    /// What is shown.
    #[command(flatten)]
    pub shown: ShownArgs,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Find the cheapest patches with which every test passes
    #[command(long_about = "\
Finds the cheapest patches with which every test passes.

The tests that fail now show the bug; the tests that pass now must still pass. The project is \
copied, so nothing is ever written to its own tree. Every patch that is printed has been applied \
to a clean copy, rebuilt, and has passed all tests.

PROJECT is a folder, described by flags or by a file patchwright.toml in it; or a single C file, \
with a folder of cases: NAME.out is the expected output of each, NAME.in its input, NAME.args its \
arguments.")]
    Repair(Box<RepairArgs>),
    /// Execute a program in the interpreter, which reports undefined behaviour
    #[command(long_about = "\
Executes a program in the interpreter: C files that are linked together, with the arguments after \
`--`, the standard streams, files and environment that it would have as a process.

Memory is checked for bounds, lifetimes and values; undefined behaviour ends the execution with its \
kind and its place. The C library is modelled, in the locale C and the time zone UTC; what has no \
model is named when it is called.

Exit status: that of the program; 134 after abort; 120 an assumption (`__VERIFIER_assume`) does not hold; 121 undefined behaviour; 122 something that the \
interpreter does not support; 123 a limit is reached; 2 the input is wrong.")]
    Run(Box<RunArgs>),
    /// Print a C file in the intermediate representation, or draw a function's control flow
    #[command(long_about = "\
Prints a C file in the intermediate representation (IR) that `patchwright run` executes and `patchwright slice` \
analyses; or draws the control-flow graph of one of its functions.

  patchwright ir sum.c                                       the whole file, as text
  patchwright ir sum.c --function main                       one function
  patchwright ir sum.c --function main --graph main.svg      its control-flow graph

Exit status: 0; 1 if something could not be lowered to the IR, which is named; 2 if the input is wrong.")]
    Ir(IrArgs),
    /// Show what a line depends on, or what depends on it
    #[command(long_about = "\
Shows what a line depends on, or what depends on it: a slice of the program.

A static slice has all lines that may contribute to what the line does, or to the value of a variable \
there, for any input: through variables, memory, calls and decisions. With --dynamic the program is \
executed in the interpreter of `patchwright run`, with the arguments after `--` and standard input; then \
only what contributed in this execution is shown, to the last time that the line was executed; what the \
program prints goes to standard error. With \
--relevant also the decisions without which the value might have been another one.

  patchwright slice sum.c:12:total            what may contribute to `total` on line 12
  patchwright slice sum.c:5 --forward         what line 5 may influence
  patchwright slice sum.c:12 --dynamic -- 3   what contributed, when run with the argument 3

Exit status: 0; 1 if the execution does not get there; 2 if the input is wrong.")]
    Slice(Box<SliceArgs>),
    /// Rank statements, functions and files by how suspicious the tests make them
    #[command(long_about = "\
Ranks statements, functions and files by how suspicious the tests make them.

The program is built once with a mark before every statement, in a copy, and each test is run once. What \
failing tests execute and passing tests do not is suspicious; where failing tests crash, what is near to the \
crash is more so.

PROJECT is what it is for `patchwright repair`.")]
    Localize(Box<LocalizeArgs>),
    /// Prove a program for all inputs, or show an input for which it fails; list all minimal repairs
    #[command(long_about = "\
Tells, for all inputs up to a bound of the rounds of loops, whether the assertions of a program hold; where \
they do not, it shows an input for which they fail, which the interpreter has confirmed. With --repair it \
lists all minimal repairs, each proved.

  patchwright prove sort.c --function sort --length a=4     a function, for all arrays of four elements
  patchwright prove sort.c --function sort --length a=4 --repair --level 3
  patchwright prove new.c --function f --like old.c         the same as a reference, for all arguments
  patchwright prove tool.c --locate                         lines of which every repair changes one

What shall hold: `assert`, `__VERIFIER_assert`, `__CPROVER_assert`, `reach_error` and `abort` are not reached \
with something false, nothing that --check looks for happens, and what --like compares is the same. What is \
assumed: `__VERIFIER_assume`, `__CPROVER_assume`, --assume. Inputs: the arguments of --function, standard \
input, the program's arguments (--arguments), what `__VERIFIER_nondet_int()` and the like return.

Exit status: 0 proved, or repaired; 1 it fails, or there is no repair; 2 the input is wrong; 4 interrupted; \
5 not decided (the bound, the budget, or something that is not encoded).")]
    Prove(Box<ProveArgs>),
    /// Give verdicts on patches that others made
    #[command(long_about = "\
Gives verdicts on patches that others made: each is applied to a copy of the project, built with the \
project's own build command, and tested.

A patch is plausible if all tests pass with it. Else it is implausible (and the first test that fails \
is named), does not apply, does not compile, or is unstable: its tests pass and then fail.

PATCHES are unified diffs, of git or plain ones, in files or in folders of files; files of JSON lines \
with an id and a patch; or manifests of ExpressAPR. - is standard input. The first argument is the \
project's folder (or a single C file); if there is just one argument, the project is the current \
folder.

Exit status: 0 if a patch is plausible, 1 if none is.")]
    Validate(Box<ValidateArgs>),
    /// Show for which inputs two versions differ, and prove that they do not for all others
    #[command(long_about = "\
Shows for which inputs two versions of a program, or of a function, behave differently, and how; and proves \
that they do the same for all others, up to a bound of the rounds of loops.

  patchwright compare old.c new.c --function f             a function, for all arguments
  patchwright compare old.c new.c --function f --length s=8   `s` points to eight objects
  patchwright compare old.c new.c --arguments 1            the program, for all arguments and any standard input
  patchwright compare old.c new.c --output tests           and writes a test for each partition

Inputs are explored by partitions: conditions under which both versions do the same, or differ in the same way. \
Those for which NEW fails (crashes, or is undefined) where OLD does not come first. Each sample has been executed \
in both versions.

Exit status: 0 no difference is known (the answer says whether that is proved, within the bound, or only as far \
as explored); 1 there is a difference; 2 the input is wrong; 4 interrupted.")]
    Compare(Box<CompareArgs>),
    /// Measure how complex changes of C code are
    #[command(long_about = "\
Measures how complex changes of C code are.

The cyclomatic complexity of a change (CyCC) is the number of linearly independent sequences in which \
its changed statements can be executed; CLoC is the number of executable lines that changed. Sources \
are read as they stand: nothing is built, and headers need not be there.

  patchwright complexity               what is not committed yet
  patchwright complexity HEAD          a commit, against its first parent
  patchwright complexity v1..v2        each commit of a range, as a table
  patchwright complexity OLD NEW       two files, two folders, or two revisions")]
    Complexity(ComplexityArgs),
    /// Find the commit that introduced a failure
    #[command(long_about = "\
Finds the commit that introduced a failure: commits of a git repository are built and tested in copies, by \
bisection; the checkout is never touched.

  patchwright regression wraps                    HEAD fails; a commit in which it passes is looked for
  patchwright regression wraps v1.2..             the test passes in v1.2, and fails in HEAD
  patchwright regression wraps v1.2.. --fix a1b2c3    and a1b2c3 mends it: that is verified, too

TEST is a name that the project's driver is run with, or one of its cases; what describes the project is what it \
is for `patchwright repair`. The test's own files are taken from the working tree, so it may be newer than the \
commits. A commit that does not build, or whose driver ends with status 125, tells nothing: others are tried; \
where the answer is among such commits, all of them are named.

Both commits are measured as by `patchwright complexity`.

Exit status: 0 the commit was found (and the fix is one, if it is named); 1 it was not: several are left, the \
test never passed, or the fix is none; 2 the input is wrong; 3 the revisions named do not build; 4 interrupted; \
5 the time is over.")]
    Regression(Box<RegressionArgs>),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands
    #[command(long_about = "\
Prints the manual page, or writes it and those of all commands to a folder.

  patchwright man | man -l -                   read it
  patchwright man ~/.local/share/man/man1      have it found by `man patchwright-repair` and the like

Exit status: 0 it was written; 2 it cannot be.")]
    Man {
        /// Where files of the pages are written, `patchwright.1` and one for each command
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Run programs for another Patchwright
    #[command(name = "__runner", hide = true)]
    Runner,
}
