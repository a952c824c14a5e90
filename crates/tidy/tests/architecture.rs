//! What `ARCHITECTURE.md` says about the workspace holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates a crate may use; it need not use all of them. Crates are named by their folders, lower layers first.
/// The dependencies of tests are free.
const ARROWS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("ctext", &[]),
    ("clib", &[]),
    ("solve", &[]),
    ("semantics", &[]),
    ("graph", &[]),
    ("flow", &["text", "ctext", "clib", "semantics", "graph"]),
    ("changes", &["ctext", "flow", "graph"]),
    ("ir", &["text", "semantics", "graph"]),
    ("probe-abi", &[]),
    ("exec", &["text", "ctext", "probe-abi"]),
    ("history", &["text", "changes", "exec"]),
    ("csource", &["text", "ctext", "semantics", "exec"]),
    ("lower", &["text", "clib", "semantics", "csource", "ir"]),
    ("definite", &["clib", "csource", "ir", "lower", "graph"]),
    ("interpret", &["clib", "semantics", "ir"]),
    (
        "symbolic",
        &["clib", "text", "ctext", "solve", "semantics", "ir", "graph"],
    ),
    ("dependence", &["clib", "ir", "interpret", "graph"]),
    ("probe", &["semantics", "probe-abi"]),
    ("probe-image", &["semantics", "probe-abi"]),
    ("weave", &["text", "ctext", "probe-abi"]),
    ("kinds", &["text", "csource", "semantics"]),
    ("space", &["text", "clib", "csource", "semantics", "kinds"]),
    ("patches", &["text"]),
    (
        "localize",
        &["text", "clib", "exec", "csource", "probe-image", "weave"],
    ),
    (
        "repair",
        &[
            "text",
            "semantics",
            "exec",
            "csource",
            "definite",
            "probe-image",
            "weave",
            "kinds",
            "space",
            "localize",
        ],
    ),
    (
        "prove",
        &[
            "text",
            "clib",
            "solve",
            "semantics",
            "ir",
            "csource",
            "lower",
            "interpret",
            "symbolic",
        ],
    ),
    (
        "compare",
        &[
            "text",
            "solve",
            "semantics",
            "ir",
            "csource",
            "lower",
            "interpret",
            "symbolic",
            "dependence",
            "changes",
            "prove",
        ],
    ),
    (
        "schemata",
        &[
            "text",
            "clib",
            "exec",
            "csource",
            "definite",
            "probe-image",
            "weave",
            "patches",
        ],
    ),
    ("validate", &["text", "exec", "patches", "schemata"]),
    (
        "mutants",
        &[
            "text", "exec", "csource", "space", "patches", "localize", "repair", "validate",
        ],
    ),
    (
        "report",
        &[
            "changes", "exec", "history", "ir", "patches", "localize", "repair", "prove",
            "compare", "validate", "mutants",
        ],
    ),
    (
        "cli",
        &[
            "text",
            "clib",
            "semantics",
            "probe-abi",
            "flow",
            "changes",
            "exec",
            "history",
            "csource",
            "ir",
            "lower",
            "interpret",
            "solve",
            "symbolic",
            "dependence",
            "probe-image",
            "weave",
            "kinds",
            "space",
            "patches",
            "localize",
            "repair",
            "prove",
            "compare",
            "validate",
            "mutants",
            "report",
        ],
    ),
    (
        "bench",
        &[
            "text",
            "clib",
            "semantics",
            "probe-abi",
            "flow",
            "changes",
            "exec",
            "history",
            "csource",
            "ir",
            "lower",
            "interpret",
            "solve",
            "symbolic",
            "dependence",
            "probe-image",
            "weave",
            "kinds",
            "space",
            "patches",
            "localize",
            "repair",
            "prove",
            "compare",
            "validate",
            "mutants",
            "report",
        ],
    ),
    ("testkit", &["exec", "csource", "ir", "lower"]),
    ("tidy", &[]),
];

/// Crates that run inside tested programs: nothing from outside of the workspace.
const GUESTS: [&str; 3] = ["semantics", "probe-abi", "probe"];

/// A file of one subject is shorter.
const MOST_LINES: usize = 880;

/// Longer files, each with the reason why it is not split.
const LONG_FILES: &[(&str, &str)] = &[];

/// Files may link to these hosts.
const HOSTS: &[&str] = &[
    "example.invalid",
    "github.com",
    "json-schema.org",
    "json.schemastore.org",
    "keepachangelog.com",
    "rustup.rs",
    "semver.org",
    "tools.ietf.org",
    "www.apache.org",
    "www.w3.org",
];

/// Absolute paths in files start with one of these: what every Linux has, and samples in tests and documentation.
const TOP_FOLDERS: &[&str] = &[
    "bin",
    "dev",
    "etc",
    "lib",
    "lib64",
    "opt",
    "proc",
    "run",
    "sbin",
    "sys",
    "tmp",
    "usr",
    "var",
    // Samples, and a suffix of an expression in awk.
    "data",
    "nonexistent",
    "bookworm",
];

/// Home folders that samples have.
const HOMES: &[&str] = &["me", "p", "user"];

pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap().to_path_buf()
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below `folder`, relative to the root, in the order of their names; not what is built or git's.
pub fn files(folder: &str) -> Vec<PathBuf> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            // In a worktree of git that is a file.
            if entry.file_name() == ".git" {
                continue;
            }
            if kind.is_dir() {
                if entry.file_name() != "target" {
                    walk(root, &entry.path(), found);
                }
            } else if kind.is_file() && entry.file_name() != ".git" {
                // In a further working tree of git, `.git` is a file.
                found.push(entry.path().strip_prefix(root).unwrap().to_path_buf());
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), &root().join(folder), &mut found);
    found.sort();
    found
}

pub fn rust_files() -> Vec<PathBuf> {
    let mut files = files("crates");
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files
}

/// The text of a source file without what follows `#[cfg(test)]`, which stands last in a file.
pub fn product_code(path: &Path) -> String {
    let text = read(&root().join(path));
    match text.find("\n#[cfg(test)]\nmod ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Whether a file below `crates/` belongs to what is shipped: no build script, test, example.
pub fn is_product(path: &Path) -> bool {
    path.components()
        .nth(2)
        .is_some_and(|part| part.as_os_str() == "src")
}

/// The folder of a file's crate.
fn crate_of(path: &Path) -> &str {
    path.components()
        .nth(1)
        .unwrap()
        .as_os_str()
        .to_str()
        .unwrap()
}

struct Crate {
    /// Crates of the workspace that it uses, by folder, not counting its tests.
    uses: BTreeSet<String>,
    /// All dependencies as its code names them: (name, only tests need it).
    dependencies: Vec<(String, bool)>,
}

/// The crates by the names of their folders.
fn crates() -> BTreeMap<String, Crate> {
    let mut crates = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let manifest: toml::Table = read(&manifest)
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
        let mut uses = BTreeSet::new();
        let mut dependencies = Vec::new();
        for (section, for_tests) in [
            ("dependencies", false),
            ("build-dependencies", false),
            ("dev-dependencies", true),
        ] {
            let Some(table) = manifest.get(section) else {
                continue;
            };
            for name in table.as_table().unwrap().keys() {
                dependencies.push((name.replace('-', "_"), for_tests));
                if let Some(folder) = name.strip_prefix("patchwright-")
                    && !for_tests
                {
                    uses.insert(folder.to_owned());
                }
            }
        }
        crates.insert(
            folder.file_name().into_string().unwrap(),
            Crate { uses, dependencies },
        );
    }
    crates
}

#[track_caller]
pub fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn dependencies_run_downward_only() {
    let mut complaints = Vec::new();
    for (name, found) in crates() {
        let Some((_, allowed)) = ARROWS.iter().find(|(folder, _)| *folder == name) else {
            complaints.push(format!("crate `{name}` is not in ARROWS"));
            continue;
        };
        for used in found.uses {
            if !allowed.contains(&used.as_str()) {
                complaints.push(format!("`{name}` may not use `{used}`"));
            }
        }
    }
    let mut lower = BTreeSet::new();
    for (name, allowed) in ARROWS {
        for used in *allowed {
            if !lower.contains(used) {
                complaints.push(format!("`{used}` is no layer below `{name}`"));
            }
        }
        lower.insert(name);
    }
    assert_none(complaints);
}

#[test]
fn what_runs_inside_tested_programs_has_no_foreign_dependencies() {
    let mut complaints = Vec::new();
    for name in GUESTS {
        for (dependency, for_tests) in &crates()[name].dependencies {
            if !for_tests && !dependency.starts_with("patchwright_") {
                complaints.push(format!("`{name}` uses {dependency}"));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn every_dependency_is_used() {
    let mut complaints = Vec::new();
    for (name, found) in crates() {
        let texts: Vec<(bool, String)> = files(&format!("crates/{name}"))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .map(|path| (is_product(&path) || path.ends_with("build.rs"), path))
            .map(|(product, path)| (product, read(&root().join(path))))
            .collect();
        for (dependency, for_tests) in found.dependencies {
            let used = texts
                .iter()
                .any(|(product, text)| (for_tests || *product) && text.contains(&dependency));
            if !used {
                complaints.push(format!("`{name}` does not use {dependency}"));
            }
        }
    }
    assert_none(complaints);
}

/// Rows of the table of crates: `| `name` | what it owns | `used`, `used` |`.
fn documented_crates() -> BTreeMap<String, BTreeSet<String>> {
    let names = |cell: &str| -> BTreeSet<String> {
        let parts = cell.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    read(&root().join("ARCHITECTURE.md"))
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.split('|').collect();
            let [name, _, uses, _] = cells[..] else {
                return None;
            };
            Some((name.trim().trim_end_matches('`').to_owned(), names(uses)))
        })
        .collect()
}

#[test]
fn the_table_in_the_architecture_page_is_what_the_manifests_say() {
    let documented = documented_crates();
    let crates = crates();
    let mut complaints = Vec::new();
    for (name, found) in &crates {
        match documented.get(name) {
            None => complaints.push(format!("ARCHITECTURE.md does not name crate `{name}`")),
            Some(uses) if *uses != found.uses => complaints.push(format!(
                "ARCHITECTURE.md: `{name}` uses {:?}, and not {uses:?}",
                found.uses
            )),
            Some(_) => {}
        }
    }
    for name in documented.keys() {
        if !crates.contains_key(name) {
            complaints.push(format!(
                "ARCHITECTURE.md names crate `{name}`, which is not there"
            ));
        }
    }
    assert_none(complaints);
}

#[test]
fn every_crate_begins_with_its_documentation() {
    let mut complaints = Vec::new();
    for name in crates().keys() {
        let source = root().join("crates").join(name).join("src");
        let mut roots = ["lib.rs", "main.rs"].map(|file| source.join(file)).to_vec();
        roots.retain(|path| path.exists());
        if roots.is_empty() {
            complaints.push(format!("`{name}` has neither lib.rs nor main.rs"));
        }
        for path in roots {
            if !read(&path).starts_with("//! ") {
                complaints.push(format!("{} does not begin with `//! `", path.display()));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn every_file_of_a_crate_says_what_it_is_about() {
    assert_none(
        rust_files()
            .into_iter()
            .filter(|path| !read(&root().join(path)).starts_with("//! "))
            .map(|path| format!("{} does not begin with `//! `", path.display()))
            .collect(),
    );
}

#[test]
fn every_file_of_tests_belongs_to_the_program_of_its_crate() {
    let is_tests = |path: &&PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs")
            && path
                .parent()
                .is_some_and(|parent| parent.ends_with("tests"))
    };
    let mut complaints = Vec::new();
    let mut of_crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in rust_files().iter().filter(is_tests) {
        let stem = path.file_stem().unwrap().to_string_lossy();
        let of_crate = of_crates.entry(crate_of(path).to_owned()).or_default();
        of_crate.push(stem.into_owned());
    }
    for (name, files) in of_crates.iter().filter(|(_, files)| files.len() > 1) {
        let main = Path::new("crates").join(name).join("tests/main.rs");
        let main = fs::read_to_string(root().join(main)).unwrap_or_default();
        for file in files.iter().filter(|file| *file != "main") {
            if !main.contains(&format!("\nmod {file};\n")) {
                complaints.push(format!(
                    "tests/main.rs of `{name}` has no line `mod {file};`"
                ));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn files_have_one_subject_and_are_not_long() {
    let mut complaints = Vec::new();
    let mut long = BTreeSet::new();
    for path in rust_files() {
        let lines = read(&root().join(&path)).lines().count();
        let name = path.to_str().unwrap().to_owned();
        if lines > MOST_LINES {
            if !LONG_FILES.iter().any(|(file, _)| *file == name) {
                complaints.push(format!("{name} has {lines} lines"));
            }
            long.insert(name);
        }
    }
    for (file, _) in LONG_FILES {
        if !long.contains(*file) {
            complaints.push(format!(
                "{file} is in LONG_FILES and has at most {MOST_LINES} lines"
            ));
        }
    }
    assert_none(complaints);
}

#[test]
fn only_exec_starts_processes() {
    let ways = [
        "Command::new",
        "libc::fork",
        "libc::vfork",
        "libc::posix_spawn",
        "libc::execv",
        "libc::system",
        "libc::popen",
        // The lint that forbids the rest stays in force.
        "allow(clippy::disallowed_methods)",
    ];
    let mut complaints = Vec::new();
    for path in rust_files() {
        if !is_product(&path) || crate_of(&path) == "exec" {
            continue;
        }
        let code = product_code(&path);
        for way in ways {
            if code.contains(way) {
                complaints.push(format!("{} has {way}", path.display()));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn the_binary_prints_in_one_place_only_where_text_is_made_safe() {
    let complaints = rust_files()
        .into_iter()
        .filter(|path| is_product(path) && crate_of(path) == "cli" && !path.ends_with("out.rs"))
        .flat_map(|path| {
            // Whether one is a terminal may be asked anywhere.
            let code = product_code(&path)
                .replace("io::stdout().is_terminal()", "")
                .replace("io::stderr().is_terminal()", "");
            let found = [
                "std::println!",
                "std::eprintln!",
                "std::print!",
                "std::eprint!",
                "io::stdout",
                "io::stderr",
            ];
            let found = found.into_iter().filter(move |found| code.contains(found));
            let told = |found| format!("{}: `{found}` stands in `out.rs` only", path.display());
            found.map(told).collect::<Vec<_>>()
        });
    assert_none(complaints.collect());
}

#[test]
fn only_csource_knows_the_dumps_of_clang() {
    let mut complaints = Vec::new();
    for path in rust_files() {
        if is_product(&path)
            && crate_of(&path) != "csource"
            && product_code(&path).contains(concat!("ast-", "dump"))
        {
            complaints.push(path.display().to_string());
        }
    }
    assert_none(complaints);
}

/// The text that follows each occurrence of `start`, as far as `belongs` says.
pub fn following<'t>(
    text: &'t str,
    start: &'t str,
    belongs: fn(char) -> bool,
) -> impl Iterator<Item = &'t str> {
    text.split(start)
        .skip(1)
        .map(move |rest| &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())])
}

#[test]
fn files_name_no_private_host() {
    let mut complaints = Vec::new();
    for path in files("") {
        let Ok(text) = fs::read_to_string(root().join(&path)) else {
            continue; // no text
        };
        for scheme in ["http://", "https://", "ssh://", "git://"] {
            for host in following(&text, scheme, |c| {
                c.is_ascii_alphanumeric() || "-._@:".contains(c)
            }) {
                let host = host.trim_end_matches(['.', ':']);
                if !host.is_empty() && !HOSTS.contains(&host) {
                    complaints.push(format!("{}: {scheme}{host}", path.display()));
                }
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn files_name_no_path_of_a_private_machine() {
    let mut complaints = Vec::new();
    for path in files("") {
        let Ok(text) = fs::read_to_string(root().join(&path)) else {
            continue; // no text
        };
        for opening in ["\"/", "'/", "`/", " /", "=/", "(/"] {
            let is_word = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
            for found in following(&text, opening, is_word) {
                let Some((top, below)) = found.split_once('/') else {
                    continue;
                };
                let known = TOP_FOLDERS.contains(&top)
                    || top == "home" && HOMES.contains(&below.split('/').next().unwrap())
                    // Too short for a real one: samples, quotients, regular expressions.
                    || top.len() < 4;
                if !known {
                    complaints.push(format!("{}: /{found}", path.display()));
                }
            }
        }
    }
    assert_none(complaints);
}
