//! What make runs for its targets `check`, `test` and `tests`: the commands of their recipes, each a test where they do not
//! depend on each other.

use std::path::{Component, Path, PathBuf};

use super::build::quoted;
use super::build::{Build, System};
use super::look::{Look, Said};
use super::parts::{Part, tests_of_parts};
use super::programs;
use super::written::Tests;

/// The targets that run tests.
const TARGETS: [&str; 3] = ["check", "test", "tests"];

/// The largest number of commands that are taken as tests.
const MOST: usize = 500;

/// A recipe that calls make is followed so deep.
const DEEPEST: usize = 3;

/// Programs that build something.
const COMPILERS: [&str; 11] = [
    "cc", "gcc", "g++", "c++", "clang", "c99", "tcc", "ar", "ranlib", "ld", "libtool",
];

/// Commands that neither test nor judge.
const QUIET: [&str; 5] = ["echo", "printf", "true", ":", "cat"];

/// Commands that tidy up or make room.
const TIDYING: [&str; 6] = ["rm", "mkdir", "touch", "cp", "ln", "chmod"];

/// A command of a recipe, and the folder in which make runs it, relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Command {
    folder: PathBuf,
    text: String,
}

/// Commands that are a test together: a program and what judges its output.
struct Group {
    label: String,
    folder: PathBuf,
    commands: Vec<String>,
    /// Whether flags can be put behind it.
    takes_flags: bool,
}

/// Finds what `make check` runs. The build gets the targets that make the test programs, if only the tests' target makes them.
/// What could not be found out is added to `open`. Returns `None` without such a target.
pub fn recipes(look: &mut Look<'_>, build: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
    if !matches!(build.system, System::Make | System::Configure) {
        return None;
    }
    let make = build.make();
    for target in TARGETS {
        // What is up to date and what does not exist are told apart by the status of -q.
        let dry = look.ask(&format!("{make} -n {target}"));
        if !dry.is_success || dry.text.trim().is_empty() || dry.text.contains("Nothing to be done")
        {
            continue;
        }
        return of_target(look, build, target, open);
    }
    None
}

fn of_target(
    look: &mut Look<'_>,
    build: &mut Build,
    target: &str,
    open: &mut Vec<String>,
) -> Option<Tests> {
    build_only(look, build, target);
    let make = build.make();
    let before = look.programs();
    let builds_at_first = only_builds(&commands_of_target(look, build, target));
    let whole = look.ask_long(&format!("{make} -s {target}"));
    let mut extended = build.clone();
    let made: Vec<PathBuf> = look
        .programs()
        .into_iter()
        .filter(|path| !before.contains(path))
        .collect();
    extended.add_targets(&makeable(look, build, &made));
    let as_one = || Part {
        label: target.to_owned(),
        folder: String::new(),
        command: format!("{make} -s {target}"),
        takes_flags: false,
    };
    let how = format!("`{make} {target}`");
    // What a test left behind may be up to date now, so it is asked before and after.
    if builds_at_first && whole.is_success && only_builds(&commands_of_target(look, build, target))
    {
        if made.is_empty() || !look.refresh(&extended) {
            open.push(format!(
                "what `{make} {target}` tests: it only builds, and runs nothing"
            ));
            return None;
        }
        *build = extended;
        return programs::tests_of(look, made, open);
    }
    let parts = split(look, build, target).and_then(|_| {
        // From here on no test has run in the copy.
        if !look.refresh(&extended) {
            return Err("the programs that it runs cannot be built without it");
        }
        let parts = split(look, &extended, target)?;
        judged(look, &parts, &whole)?;
        Ok(parts)
    });
    match parts {
        Ok(parts) => {
            *build = extended;
            tests_of_parts(look, &parts, &how, open)
        }
        // If nothing of it can be run alone, its lines may tell of tests.
        Err(why) => {
            let told = open.len();
            let tests = tests_of_parts(look, &[as_one()], &how, open);
            if open.len() > told {
                open.truncate(told);
                open.push(format!(
                    "how to run a part of {how}: {why}; so all of it is one test"
                ));
            }
            tests
        }
    }
}

/// Where make without a target runs the tests, too, the build becomes the targets that make the tested programs: a failing test is no
/// failing build.
fn build_only(look: &mut Look<'_>, build: &mut Build, target: &str) {
    let tests = commands_of_target(look, build, target);
    let is_test = |command: &Command| !only_builds(std::slice::from_ref(command));
    let by_default = commands_of_target(look, build, "");
    if !by_default
        .iter()
        .any(|command| is_test(command) && tests.contains(command))
    {
        return;
    }
    let named = tests
        .iter()
        .filter(|command| is_test(command))
        .filter_map(|command| {
            let word = named(look, command)?;
            Some(plain(&command.folder.join(word)))
        });
    let named: Vec<PathBuf> = named.collect();
    let mut programs = look.programs();
    programs.retain(|path| named.contains(path));
    let mut own = Build {
        build: String::new(),
        ..build.clone()
    };
    own.add_targets(&makeable(look, build, &programs));
    own.build = own.build.trim_start_matches(" && ").to_owned();
    if !own.build.is_empty() && look.refresh(&own) {
        *build = own;
    }
}

/// The targets of make that make these programs.
fn makeable(look: &mut Look<'_>, build: &Build, made: &[PathBuf]) -> Vec<String> {
    let inside = |path: &Path| match &build.at {
        Some(at) => path.strip_prefix(at).ok().map(Path::to_path_buf),
        None => Some(path.to_path_buf()),
    };
    let mut targets = Vec::new();
    for path in made {
        let Some(path) = inside(path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let make = build.make();
        let full = path.display().to_string();
        let folder = path.parent().map(|parent| parent.display().to_string());
        let folder = folder.filter(|folder| !folder.is_empty());
        let mut ways = vec![quoted(&full)];
        // A Makefile in its folder may make it.
        ways.extend(folder.map(|folder| format!("-C {} {}", quoted(&folder), quoted(&name))));
        let way = ways
            .into_iter()
            .find(|way| look.ask(&format!("{make} -n {way}")).is_success);
        targets.extend(way);
    }
    targets
}

/// Returns the commands that make would run for a target now, those of makefiles that it calls included.
fn commands_of_target(look: &mut Look<'_>, build: &Build, target: &str) -> Vec<Command> {
    let dry = look.ask(&format!("{} -n -w {target}", build.make()));
    let mut commands = commands_of(&dry.text, &look.root());
    for _ in 0..DEEPEST {
        commands = followed(look, commands);
    }
    commands
}

/// Whether no command can be a test: each compiles, prints or tidies up.
fn only_builds(commands: &[Command]) -> bool {
    commands.iter().all(|command| {
        let word = first_word(&command.text);
        let is_alone = !command.text.contains(['|', ';', '&']);
        is_compiling(&command.text)
            || is_alone && (QUIET.contains(&word) || TIDYING.contains(&word))
    })
}

/// The parts of a target that can be run alone, or why there are none.
fn split(look: &mut Look<'_>, build: &Build, target: &str) -> Result<Vec<Part>, &'static str> {
    let commands = commands_of_target(look, build, target);
    if commands
        .iter()
        .any(|command| command.text.contains(&look.root()))
    {
        return Err("its commands have the path of this folder in them");
    }
    if commands.iter().any(|command| is_compiling(&command.text)) {
        return Err("it compiles something each time");
    }
    let groups = groups_of(look, &commands);
    if groups.is_empty() || groups.len() > MOST {
        return Err("its commands start no program of this folder");
    }
    let mut parts: Vec<Part> = groups.into_iter().map(Group::part).collect();
    name_apart(&mut parts);
    if let [only] = &mut parts[..] {
        if !only.takes_flags {
            return Err("it runs one command");
        }
        target.clone_into(&mut only.label);
    }
    Ok(parts)
}

/// Whether the parts mean the same as the whole, in whatever order they run.
fn judged(look: &mut Look<'_>, parts: &[Part], whole: &Said) -> Result<(), &'static str> {
    let backwards: Vec<bool> = (parts.iter().rev())
        .map(|part| look.ask(&part.run()).is_success)
        .collect();
    for (part, passed) in parts.iter().zip(backwards.into_iter().rev()) {
        if !passed && look.ask(&part.run()).is_success {
            return Err("its commands need what others leave behind");
        }
        if !passed && whole.is_success {
            return Err("one of its commands fails although the whole passes");
        }
    }
    let passes = |part: &Part| look.ask(&part.run()).is_success;
    if !whole.is_success && parts.len() > 1 && parts.iter().all(passes) {
        return Err("each of its commands passes although the whole fails");
    }
    Ok(())
}

/// The commands that `make -n` prints.
fn commands_of(text: &str, root: &str) -> Vec<Command> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut commands: Vec<Command> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_make = !goes_on && (line.starts_with("make: ") || line.starts_with("make["));
        if let Some((_, folder)) = line.split_once("Entering directory '").filter(|_| is_make) {
            let folder = Path::new(folder.trim_end_matches('\''));
            folders.push(folder.strip_prefix(root).unwrap_or(folder).to_path_buf());
            continue;
        }
        if is_make {
            if line.contains("Leaving directory '") {
                folders.pop();
            }
            continue;
        }
        match commands.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            None => commands.push(Command {
                folder: folders.last().cloned().unwrap_or_default(),
                text: line.to_owned(),
            }),
        }
        goes_on = line.ends_with('\\');
    }
    commands.retain(|command| !command.text.trim().is_empty());
    commands
}

/// Commands in which calls of make are replaced by what make would run.
fn followed(look: &mut Look<'_>, commands: Vec<Command>) -> Vec<Command> {
    let root = look.root();
    let mut all = Vec::new();
    for command in commands {
        let calls_make = words(&command.text).any(|word| word == "make");
        if !calls_make {
            all.push(command);
            continue;
        }
        // make -n prints and follows the calls that a makefile writes with $(MAKE).
        let is_followed =
            command.text.trim_start().starts_with("make ") && !command.text.contains(';');
        let folder = command.folder.to_string_lossy();
        let folder = if folder.is_empty() { "." } else { &folder };
        let dry = look.ask(&format!(
            "cd {} && export MAKEFLAGS=nw && {}",
            quoted(folder),
            command.text
        ));
        let inner = commands_of(&dry.text, &root);
        match (dry.is_success, is_followed) {
            (true, _) => all.extend(inner.into_iter().filter(|inner| inner.text != command.text)),
            (false, true) => {}
            (false, false) => all.push(command),
        }
    }
    let mut once: Vec<Command> = Vec::new();
    for command in all {
        if !once.contains(&command) {
            once.push(command);
        }
    }
    once
}

/// The words of a command of the shell, also those within quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "'\"`;&|()<>=$".contains(c))
        .filter(|word| !word.is_empty())
}

fn first_word(text: &str) -> &str {
    let is_setting = |word: &&str| !word.contains('=');
    let first = text.split_whitespace().find(is_setting).unwrap_or_default();
    first.rsplit('/').next().unwrap_or(first)
}

fn is_compiling(text: &str) -> bool {
    let compiles = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        COMPILERS.contains(&name) || name.ends_with("-gcc") || name.starts_with("gcc-")
    };
    compiles(first_word(text)) || words(text).any(compiles) && text.contains(" -o ")
}

/// The program or script of the tree that a command names, as its words name it.
fn named<'t>(look: &Look<'_>, command: &'t Command) -> Option<&'t str> {
    let is_known = |path: &Path| look.files.contains(path) && look.is_startable(path);
    words(&command.text).find(|word| {
        let full = plain(&command.folder.join(word));
        let short = word.trim_start_matches("./");
        let is_path = word.contains('/') && !word.starts_with('/') && !short.is_empty();
        is_known(&full)
            || is_path
                && (look.files.iter()).any(|path| path.ends_with(short) && look.is_startable(path))
    })
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Puts commands into groups: each begins with a command that starts a program of the tree, and has what follows.
fn groups_of(look: &mut Look<'_>, commands: &[Command]) -> Vec<Group> {
    let mut first: Vec<String> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for command in commands {
        let word = first_word(&command.text);
        let is_quiet = QUIET.contains(&word) && !command.text.contains(['>', '|', ';', '&']);
        if is_quiet {
            continue;
        }
        let is_tidying = TIDYING.contains(&word);
        let program = named(look, command)
            .filter(|_| !is_tidying)
            .map(str::to_owned);
        let by_prove = of_prove(look, command);
        match (by_prove, program, groups.last_mut()) {
            (Some(files), _, _) => groups.extend(files),
            (None, Some(program), _) => groups.extend(of_program(look, command, &program)),
            (None, None, Some(last)) if last.folder == command.folder => {
                last.commands.push(command.text.clone());
                last.takes_flags = false;
            }
            (None, None, Some(last)) => {
                let folder = command.folder.to_string_lossy();
                let folder = if folder.is_empty() { "." } else { &folder };
                // Another folder, as it lies from the root; a group that begins elsewhere cannot have it.
                last.commands
                    .push(match last.folder.as_os_str().is_empty() {
                        true => format!("cd {} && {}", quoted(folder), command.text),
                        false => command.text.clone(),
                    });
                last.takes_flags = false;
            }
            (None, None, None) => first.push(command.text.clone()),
        }
    }
    for group in &mut groups {
        if !first.is_empty() {
            group.takes_flags = false;
            group.commands.splice(0..0, first.iter().cloned());
        }
    }
    groups
}

/// The groups of a command that starts a program: one for each turn, if it is a loop over words.
fn of_program(look: &mut Look<'_>, command: &Command, program: &str) -> Vec<Group> {
    let is_made = look
        .programs()
        .contains(&plain(&command.folder.join(program)));
    let group = |label: String, text: String| Group {
        label,
        folder: command.folder.clone(),
        takes_flags: !text.contains(|c: char| "\n;&|<>()`$\"'#*?".contains(c))
            && first_word(&text) == program.rsplit('/').next().unwrap_or(program)
            && is_made,
        commands: vec![text],
    };
    if let Some((before, list, behind)) = loop_over(&command.text) {
        let words: Vec<String> = match list.contains(['*', '?', '[']) {
            false => list.split_whitespace().map(str::to_owned).collect(),
            true => {
                let folder = command.folder.to_string_lossy();
                let folder = if folder.is_empty() { "." } else { &folder };
                let said = look.ask(&format!("cd {} && printf '%s\\n' {list}", quoted(folder)));
                said.text.lines().map(str::to_owned).collect()
            }
        };
        if words.len() >= 2 {
            let turn = |word: &String| group(word.clone(), format!("{before}{word}{behind}"));
            return words.iter().map(turn).collect();
        }
    }
    let line: Vec<&str> = command.text.split_whitespace().collect();
    let line = line.join(" ");
    let label = match line.len() <= 60 && !line.contains(['\\', ';', '&', '|']) {
        true => line.trim_start_matches("./").to_owned(),
        false => program.trim_start_matches("./").to_owned(),
    };
    vec![group(label, command.text.clone())]
}

/// What stands before, in and behind the list of the only `for` of a command, if the list is known before it runs.
fn loop_over(text: &str) -> Option<(&str, &str, &str)> {
    let mut starts = text.match_indices("for ").filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || ";&({".contains(c))
    });
    let (at, _) = starts.next()?;
    if starts.next().is_some() {
        return None;
    }
    let from = at + text[at..].find(" in ")? + " in ".len();
    let end = from + text[from..].find(';')?;
    let list = &text[from..end];
    let is_known = !list.contains(|c: char| "$`'\"\\&|".contains(c));
    is_known.then_some((&text[..from], list, &text[end..]))
}

/// The files that a call of `prove` would run, each a test.
fn of_prove(look: &mut Look<'_>, command: &Command) -> Option<Vec<Group>> {
    if first_word(&command.text) != "prove" {
        return None;
    }
    let all = shlex::split(&command.text)?;
    let part = Part {
        label: String::new(),
        folder: command.folder.to_string_lossy().into_owned(),
        command: format!("{} --dry", command.text),
        takes_flags: false,
    };
    let listed = look.ask(&part.run());
    let files: Vec<&str> = listed
        .text
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    if !listed.is_success || files.is_empty() {
        return None;
    }
    let is_file = |word: &&String| {
        if word.is_empty() {
            return false;
        }
        let path = plain(&command.folder.join(word));
        look.files.iter().any(|file| file.starts_with(&path))
    };
    let flags: Vec<&str> = all
        .iter()
        .filter(|word| !is_file(word))
        .map(|word| &word[..])
        .collect();
    let flags = shlex::try_join(flags).ok()?;
    let group = |file: &&str| Group {
        label: (*file).to_owned(),
        folder: command.folder.clone(),
        commands: vec![format!("{flags} -v {}", quoted(file))],
        takes_flags: false,
    };
    Some(files.iter().map(group).collect())
}

impl Group {
    fn part(self) -> Part {
        let command = match &self.commands[..] {
            [only] => only.trim().to_owned(),
            // Each line of a recipe has a shell of its own.
            all => {
                let lines = all.iter().map(|text| format!("(\n{text}\n) || exit"));
                lines.collect::<Vec<String>>().join("\n")
            }
        };
        Part {
            label: self.label,
            folder: self.folder.to_string_lossy().into_owned(),
            command,
            takes_flags: self.takes_flags,
        }
    }
}

/// Gives parts of the same name numbers.
fn name_apart(parts: &mut [Part]) {
    let mut seen = std::collections::BTreeMap::new();
    for part in parts {
        let count = seen.entry(part.label.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            part.label = format!("{} ({count})", part.label);
        }
    }
}

/// Finds a target of CMake that runs tests without CTest. What could not be found out is added to `open`. Returns `None` if the
/// project is not built by CMake, or has no such target.
pub fn cmake_target(
    look: &mut Look<'_>,
    build: &mut Build,
    open: &mut Vec<String>,
) -> Option<Tests> {
    let folder = match (build.system, &build.folder) {
        (System::Cmake, Some(folder)) => quoted(folder),
        _ => return None,
    };
    for target in TARGETS {
        let run = format!("cmake --build {folder} --target {target}");
        let dry = look.ask(&format!("{run} -- -n"));
        if !dry.is_success || dry.text.contains("ctest") {
            continue;
        }
        // A folder of that name is no target, and a target may only build.
        let root = look.root();
        if !dry.text.lines().any(|line| starts_program(line, &root)) {
            continue;
        }
        let part = Part {
            label: target.to_owned(),
            folder: String::new(),
            command: run,
            takes_flags: false,
        };
        return tests_of_parts(look, &[part], &format!("the target {target}"), open);
    }
    None
}

/// Whether one of the commands in a line of a makefile of CMake starts a program or script of the tree.
fn starts_program(line: &str, root: &str) -> bool {
    let shells = ["sh", "bash", "python", "python3", "perl", "prove"];
    let root = format!("{root}/");
    line.split(['&', ';', '|']).any(|command| {
        let mut words = command
            .split_whitespace()
            .skip_while(|word| word.contains('='));
        let first = words.next().unwrap_or_default().trim_matches('"');
        let name = first.rsplit('/').next().unwrap_or(first);
        let is_ours =
            first.starts_with("./") || first.starts_with("../") || first.starts_with(&root);
        is_ours || shells.contains(&name) && words.next().is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_of_cmake_runs_something_if_a_line_starts_a_program() {
        let runs = |line: &str| starts_program(line, "/p");
        assert!(runs("cd /p/build/t && ./unit"));
        assert!(runs("cd /p/build/t && /p/build/t/unit --all"));
        assert!(runs("cd /p/t && /usr/bin/sh run.sh"));
        assert!(!runs(
            "cd /p/build/t && /usr/bin/cc -o unit CMakeFiles/unit.dir/unit.c.o"
        ));
        assert!(!runs(
            "make -f CMakeFiles/tests.dir/build.make CMakeFiles/tests.dir/build"
        ));
        assert!(!runs("gmake: Nothing to be done for 'tests'."));
    }

    #[test]
    fn commands_have_the_folder_in_which_make_runs_them() {
        let text = "make: Entering directory '/p'\necho a\nmake -C t check\n\
            make[1]: Entering directory '/p/t'\n./one \\\n  two\nmake[1]: Leaving directory '/p/t'\n./last\n";
        let commands = commands_of(text, "/p");
        let told: Vec<String> = commands
            .iter()
            .map(|command| format!("{}: {}", command.folder.display(), command.text))
            .collect();
        assert_eq!(
            told,
            [
                ": echo a",
                ": make -C t check",
                "t: ./one \\\n  two",
                ": ./last"
            ]
        );
    }

    #[test]
    fn the_list_of_a_loop_is_found_if_it_is_known() {
        let text = "for t in a b; do ./$t || exit 1; done";
        let (before, list, behind) = loop_over(text).unwrap();
        assert_eq!(
            (list, format!("{before}a{behind}")),
            ("a b", "for t in a; do ./$t || exit 1; done".to_owned())
        );
        assert!(loop_over("for t in $TESTS; do ./$t; done").is_none());
        assert!(loop_over("for a in b c; do for d in e f; do ./$a $d; done; done").is_none());
        assert!(loop_over("./run performance in here;").is_none());
    }

    #[test]
    fn calls_of_the_compiler_are_told_from_tests() {
        assert!(is_compiling("gcc -o t t.c"));
        assert!(is_compiling(
            "X=1 /bin/sh ./libtool --mode=link cc -o t t.o"
        ));
        assert!(!is_compiling("./cc-tests -o out"));
    }
}
