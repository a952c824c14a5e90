//! The command line, the one definition behind help, completions and the man page.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::{
    args::{LocalizeArgs, RepairArgs, RunArgs, ValidateArgs},
    compare::arguments::CompareArgs,
    complexity::ComplexityArgs,
    init::InitArgs,
    ir::IrArgs,
    kinds::KindsArgs,
    learn::LearnArgs,
    merge::MergeArgs,
    mutants::MutantsArgs,
    prove::ProveArgs,
    regression::RegressionArgs,
    shown::ShownArgs,
    slice::SliceArgs,
};

/// Repairs C programs that fail a test, judges patches, proves and compares.
#[derive(Parser, Debug)]
#[command(name = "patchwright", version, arg_required_else_help = true)]
pub struct Cli {
    /// What is shown.
    #[command(flatten)]
    pub shown: ShownArgs,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands. Their examples and exit statuses stand in [`crate::help`].
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Describe how a project is built and tested in patchwright.toml
    #[command(long_about = "\
Finds out how a project is built and tested, and writes patchwright.toml and a driver for its tests into its folder.

The project is built in a copy, by CMake, Meson, configure, make or the compiler. All tests that are found run twice. \
Those that fail, are flaky or slow are named, and so is what could not be found out.")]
    Init(Box<InitArgs>),
    /// Tell what this machine lacks, and how to get it
    Doctor,
    /// Find small patches with which every test passes
    #[command(long_about = "\
Finds small patches with which every test passes. Small changes are tried first. The report begins with the likeliest \
patch.

The failing tests show the bug. The passing tests must still pass. Patchwright works in copies, and writes to your tree \
only with --apply. Each printed patch was applied to a clean copy, built there, and passed all tests.

PROJECT is a folder, described by flags or by a file patchwright.toml in it. Or it is a single C file with a folder \
of cases: NAME.out is the expected output of a case, NAME.in its standard input, NAME.args its arguments.")]
    Repair(Box<RepairArgs>),
    /// Execute a program, and report undefined behaviour
    #[command(long_about = "\
Executes a program in the interpreter. Its C files are linked together. The arguments stand behind `--`. The program \
has the standard streams, files and environment that it would have as a process.

Memory is checked for bounds, lifetimes and values. Undefined behaviour ends the execution, and its kind and place are \
printed. The C library is modelled in the locale C and the time zone UTC. A function without a model is named when it \
is called.")]
    Run(Box<RunArgs>),
    /// Print a C file in the intermediate representation (IR)
    #[command(long_about = "\
Prints a C file in the intermediate representation (IR), which `patchwright run` executes and `patchwright slice` \
analyses. With --graph it draws the control-flow graph of one function.")]
    Ir(IrArgs),
    /// Show what a line depends on, or what depends on it
    #[command(long_about = "\
Shows what a line depends on, or what depends on it: a slice of the program.

A static slice has all lines that may contribute to the line, or to the value of one variable there, for any input. \
They contribute by variables, memory, calls or decisions.

With --dynamic the program is executed, with the arguments behind `--` and standard input. The slice has only what \
contributed in this execution before the line was executed for the last time. The program's output goes to standard error. With \
--relevant the slice also has decisions that could have given the value another way.")]
    Slice(Box<SliceArgs>),
    /// Rank statements, functions and files by suspicion
    #[command(long_about = "\
Ranks statements, functions and files by suspicion.

The program is built once in a copy, with a mark before each statement, and each test is run once. Statements that \
failing tests execute and passing tests do not are suspicious. If failing tests crash, statements near the crash are \
more suspicious.

PROJECT is a folder or a C file, as for `patchwright repair`.")]
    Localize(Box<LocalizeArgs>),
    /// Prove a program for all inputs, or show an input that fails
    #[command(long_about = "\
Tells whether the assertions of a program hold for all inputs, up to a bound of the rounds of loops. If not, it shows \
an input that fails, which the interpreter has confirmed. With --repair it lists all minimal repairs, each proved.

A proof says that `assert`, `__VERIFIER_assert` and `__CPROVER_assert` hold, that `reach_error` and `abort` are not reached, \
that no error of --check happens, and that --like does the same. `__VERIFIER_assume`, `__CPROVER_assume` and --assume \
restrict the inputs. Inputs are the arguments of --function, standard input, the program's arguments (--arguments), and the \
results of `__VERIFIER_nondet_int()` and the like.")]
    Prove(Box<ProveArgs>),
    /// Judge patches of others by building and testing them
    #[command(long_about = "\
Judges patches of others. Each patch is applied to a copy of the project, built with the project's own build command, \
and tested.

A patch is plausible if all tests pass with it. Else it is implausible, and the first failing test is named; or it does \
not apply; or it does not compile; or it is unstable: its tests pass once and fail once.

PATCHES are unified diffs in files or in folders of files, files of JSON lines with an id and a patch, or manifests of \
ExpressAPR. - is standard input. The first argument is the project's folder or a single C file. If there is only one \
argument, it is PATCHES, and the project is the current folder.")]
    Validate(Box<ValidateArgs>),
    /// Show which likely mistakes the tests miss
    #[command(long_about = "\
Makes mutants of a program: changes of one place that undo a likely fix. A mutant that all tests pass has survived: either \
a test is missing, or the mutant does what the program does.

For each survivor Patchwright tries to prove that its function does the same, or to find an input for which it does not. \
The answer names the limits of that search. Mutants with the machine code of the untouched program are left out.

PROJECT is a folder or a C file, as for `patchwright repair`. All tests should pass; those that fail say nothing.")]
    Mutants(Box<MutantsArgs>),
    /// Put together the results of `--shard` on several machines
    #[command(long_about = "\
Puts together the results of `validate`, `mutants`, `repair`, `prove` or `compare` with `--shard K/N` on several machines.

Verdicts and order are those of one machine. A part that was run twice counts once. Missing parts are named.")]
    Merge(MergeArgs),
    /// Show where two versions differ, and prove the rest equal
    #[command(long_about = "\
Shows for which inputs two versions of a program or of a function behave differently, and how. For all other inputs it \
proves that they do the same, up to a bound of the rounds of loops.

Inputs are explored by partitions. A partition is a condition under which both versions do the same, or differ in one \
way. First come partitions for which NEW fails (crashes, or is undefined) and OLD does not. Each sample was \
executed in both versions.")]
    Compare(Box<CompareArgs>),
    /// List kinds of change, or show one with its example
    #[command(long_about = "\
Lists the kinds of change that are data, with costs, or shows one as its file writes it. `patchwright repair --kinds FILE` \
tries those of a file, too. Files in a project's folder .patchwright/kinds are read anyway.")]
    Kinds(KindsArgs),
    /// Learn from a git history which changes are likely in a project
    #[command(long_about = "\
Learns from a git history which changes are likely in a project.

Small fixes are sought: commits that say that they mend something, and change one place of one C function. How often they make \
each change shifts the likelihoods by which `patchwright repair` orders its patches. What is known of other projects counts as much \
as 200 fixes.

The likelihoods are written to .patchwright/likelihood.toml in REPOSITORY. `patchwright repair` reads that file in the project's folder.")]
    Learn(LearnArgs),
    /// Measure how complex changes of C code are
    #[command(long_about = "\
Measures how complex changes of C code are.

The cyclomatic complexity of a change (CyCC) is the number of linearly independent sequences in which its changed \
statements can be executed. CLoC is the number of executable lines that changed. Sources are read as they stand: \
nothing is built, and headers need not be there.")]
    Complexity(ComplexityArgs),
    /// Find the commit that introduced a failure
    #[command(long_about = "\
Finds the commit that introduced a failure. Commits of a git repository are built and tested in copies, by \
bisection. Your checkout is not touched.

TEST is a name for the project's driver, or one of its cases. The project is described as for `patchwright repair`. The \
files of the test come from the working tree, so the test may be newer than the commits.

A commit that does not build, or whose driver ends with status 125, tells nothing, and others are tried. If the answer is \
among such commits, all of them are named. The found commit and the fix are measured as by `patchwright complexity`.")]
    Regression(Box<RegressionArgs>),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands
    Man {
        /// Write the pages into this folder: `patchwright.1`, and one for each command
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Run programs for another Patchwright
    #[command(name = "__runner", hide = true)]
    Runner,
}
