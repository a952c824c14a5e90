//! Arrows inside of crates: which modules need each other in a circle.
//!
//! A module is a file. It needs another one where its text names a path into that file, or a name that a `use` brings
//! in; a re-export is followed to where the item stands. `mod name;` and `pub use` by themselves need nothing, and
//! tests inside of a file (`#[cfg(test)]`) are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::architecture::{assert_none, root};

/// No crate has a larger circle of modules.
const MOST_MODULES: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Path,
    Mark(char),
}

impl Token {
    fn is(&self, mark: char) -> bool {
        *self == Token::Mark(mark)
    }

    fn word(&self) -> Option<&str> {
        match self {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// The tokens of Rust text, without comments, texts, characters and lifetimes.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut index = 0;
    while index < chars.len() {
        let c = chars[index];
        if c == '/' && at(index + 1) == '/' {
            while index < chars.len() && chars[index] != '\n' {
                index += 1;
            }
        } else if c == '/' && at(index + 1) == '*' {
            let mut depth = 0;
            loop {
                if at(index) == '/' && at(index + 1) == '*' {
                    depth += 1;
                    index += 2;
                } else if at(index) == '*' && at(index + 1) == '/' {
                    depth -= 1;
                    index += 2;
                } else {
                    index += 1;
                }
                if depth == 0 || index >= chars.len() {
                    break;
                }
            }
        } else if is_word(c) {
            let start = index;
            while is_word(at(index)) {
                index += 1;
            }
            let word: String = chars[start..index].iter().collect();
            let hashes = (index..).take_while(|&place| at(place) == '#').count();
            if matches!(word.as_str(), "r" | "br" | "cr") && at(index + hashes) == '"' {
                index += hashes + 1;
                let ends = |place: usize| {
                    at(place) == '"' && (0..hashes).all(|more| at(place + 1 + more) == '#')
                };
                while index < chars.len() && !ends(index) {
                    index += 1;
                }
                index += hashes + 1;
            } else if !matches!(word.as_str(), "b" | "c") || !matches!(at(index), '"' | '\'') {
                found.push(Token::Word(word));
            }
        } else if c == '"' {
            index += 1;
            while index < chars.len() && chars[index] != '"' {
                index += if chars[index] == '\\' { 2 } else { 1 };
            }
            index += 1;
            found.push(Token::Mark('"'));
        } else if c == '\'' {
            if at(index + 1) == '\\' || at(index + 2) == '\'' {
                index += if at(index + 1) == '\\' { 3 } else { 2 };
                while index < chars.len() && chars[index] != '\'' {
                    index += 1;
                }
            }
            index += 1;
        } else if c == ':' && at(index + 1) == ':' {
            found.push(Token::Path);
            index += 2;
        } else {
            if !c.is_whitespace() {
                found.push(Token::Mark(c));
            }
            index += 1;
        }
    }
    found
}

/// Where the brackets that open at this token are closed.
fn closed(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Mark('{' | '[' | '(') => depth += 1,
            Token::Mark('}' | ']' | ')') => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len() - 1
}

/// The tokens without those items that are for tests.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let attribute: Vec<&Token> = tokens[index..].iter().take(7).collect();
        let is_of_tests = attribute.len() == 7
            && attribute[0].is('#')
            && attribute[2].word() == Some("cfg")
            && attribute[4].word() == Some("test")
            && attribute[6].is(']');
        if !is_of_tests {
            kept.push(tokens[index].clone());
            index += 1;
            continue;
        }
        index += 7;
        // The item ends with its block, or with a semicolon.
        while index < tokens.len() {
            match tokens[index] {
                Token::Mark(';') => break,
                Token::Mark('{') => {
                    index = closed(tokens, index);
                    break;
                }
                Token::Mark('(' | '[') => index = closed(tokens, index),
                _ => {}
            }
            index += 1;
        }
        index += 1;
    }
    kept
}

/// A name that a `use` brings into a module.
#[derive(Clone, Debug)]
struct Import {
    /// `*` for everything of a module.
    name: String,
    path: Vec<String>,
    /// Whether others find it here, so that it is no need of this module's own.
    is_shown: bool,
}

#[derive(Default)]
struct Module {
    children: BTreeMap<String, usize>,
    parent: Option<usize>,
    name: String,
    imports: Vec<Import>,
    items: BTreeSet<String>,
    /// What the text names, apart from `use`.
    paths: BTreeSet<Vec<String>>,
}

/// The names of a tree of `use`, from this token on; it ends before the token that is returned.
fn imports(
    tokens: &[Token],
    mut index: usize,
    before: &[String],
    is_shown: bool,
    found: &mut Vec<Import>,
) -> usize {
    let mut path = before.to_vec();
    loop {
        match &tokens[index] {
            Token::Mark('{') => {
                index += 1;
                while !tokens[index].is('}') {
                    index = imports(tokens, index, &path, is_shown, found);
                    if tokens[index].is(',') {
                        index += 1;
                    }
                }
                return index + 1;
            }
            Token::Mark('*') => {
                let name = "*".to_owned();
                found.push(Import {
                    name,
                    path,
                    is_shown,
                });
                return index + 1;
            }
            Token::Word(word) if word == "as" => {
                let name = tokens[index + 1].word().unwrap_or("_").to_owned();
                found.push(Import {
                    name,
                    path,
                    is_shown,
                });
                return index + 2;
            }
            Token::Word(word) => {
                if word != "self" || path.is_empty() {
                    path.push(word.clone());
                }
                index += 1;
            }
            Token::Path => index += 1,
            Token::Mark(_) => {
                let name = path.last().cloned().unwrap_or_default();
                found.push(Import {
                    name,
                    path,
                    is_shown,
                });
                return index;
            }
        }
    }
}

/// Reads the text of a module; says the names of its children that are files.
fn read(tokens: &[Token], module: &mut Module) -> Vec<String> {
    const ITEMS: [&str; 9] = [
        "fn",
        "struct",
        "enum",
        "union",
        "trait",
        "type",
        "const",
        "static",
        "macro_rules",
    ];
    let mut children = Vec::new();
    let mut index = 0;
    let mut is_public = false;
    while index < tokens.len() {
        let word = tokens[index].word();
        match word {
            Some("pub") => {
                is_public = true;
                index += 1;
                if tokens[index].is('(') {
                    index = closed(tokens, index) + 1;
                }
                continue;
            }
            Some("use") => {
                index = imports(tokens, index + 1, &[], is_public, &mut module.imports);
            }
            Some("mod") if tokens.get(index + 2).is_some_and(|token| token.is(';')) => {
                children.extend(tokens[index + 1].word().map(str::to_owned));
                index += 3;
            }
            Some(_) => {
                let mut path = Vec::new();
                if ITEMS.contains(&word.unwrap()) {
                    let name = tokens[index + 1..].iter().take(2).find_map(Token::word);
                    module.items.extend(name.map(str::to_owned));
                }
                // What stands behind a dot is a member, not a path.
                let is_member = index > 0 && tokens[index - 1].is('.');
                while let Some(Token::Word(word)) = tokens.get(index) {
                    path.push(word.clone());
                    index += 1;
                    if tokens.get(index) == Some(&Token::Path) {
                        index += 1;
                    } else {
                        break;
                    }
                }
                if !is_member {
                    module.paths.insert(path);
                }
            }
            None => index += 1,
        }
        is_public = false;
    }
    children
}

/// Where a path of a module leads that is no item of its own.
type Known = BTreeMap<(usize, Vec<String>), Option<usize>>;

/// The text of a file, if there is one.
type Texts<'t> = dyn Fn(&Path) -> Option<String> + 't;

/// The modules of a crate; the first one is its root.
struct Modules(Vec<Module>);

impl Modules {
    /// Those of the crate with this root; `text` gives the texts of files, if there are any.
    fn of(start: &Path, text: &Texts<'_>) -> Modules {
        let mut modules = Modules(Vec::new());
        let folder = start.parent().unwrap().to_owned();
        let root = text(start).unwrap_or_else(|| panic!("{}", start.display()));
        modules.add(&root, &folder, None, ("crate", text));
        modules
    }

    fn add(
        &mut self,
        own: &str,
        folder: &Path,
        parent: Option<usize>,
        (name, text): (&str, &Texts<'_>),
    ) -> usize {
        let mut module = Module {
            parent,
            name: name.to_owned(),
            ..Module::default()
        };
        let children = read(&without_tests(&tokens(own)), &mut module);
        let number = self.0.len();
        self.0.push(module);
        for child in children {
            let below = folder.join(&child);
            let beside = text(&folder.join(format!("{child}.rs")));
            let own = beside.or_else(|| text(&below.join("mod.rs")));
            let own = own.unwrap_or_else(|| panic!("{} is no file", below.display()));
            let full = match parent {
                None => child.clone(),
                Some(_) => format!("{name}::{child}"),
            };
            let added = self.add(&own, &below, Some(number), (&full, text));
            self.0[number].children.insert(child, added);
        }
        number
    }

    /// The module in which what a path names stands, as seen from a module. `None` is another crate, or nothing.
    fn resolve(&self, from: usize, path: &[String], known: &mut Known) -> Option<usize> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => self.0[from].parent?,
            _ => return self.member(from, path, known),
        };
        while let Some((first, more)) = rest.split_first()
            && first == "super"
        {
            at = self.0[at].parent?;
            rest = more;
        }
        if rest.is_empty() {
            return Some(at);
        }
        // What is no module and not brought in from elsewhere stands in the module itself.
        self.member(at, rest, known).or(Some(at))
    }

    /// The module in which a path's item stands that begins with a name of this module.
    fn member(&self, at: usize, path: &[String], known: &mut Known) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        let module = &self.0[at];
        if let Some(&child) = module.children.get(first) {
            return match rest {
                [] => Some(child),
                _ => self.member(child, rest, known).or(Some(child)),
            };
        }
        if module.items.contains(first) {
            return Some(at);
        }
        let key = (at, path.to_vec());
        if let Some(&found) = known.get(&key) {
            return found;
        }
        // Modules that show each other's names lead nowhere by a circle.
        known.insert(key.clone(), None);
        let named = module.imports.iter().find(|import| import.name == *first);
        let found = match named {
            Some(import) => {
                // What begins with the name itself is of another crate: `use text::text`.
                let is_inside = import.path[0] != *first;
                let full: Vec<String> = import.path.iter().chain(rest).cloned().collect();
                is_inside.then(|| self.resolve(at, &full, known)).flatten()
            }
            None => module.imports.iter().find_map(|import| {
                let inside =
                    (import.name == "*").then(|| self.resolve(at, &import.path, known))??;
                (inside != at).then(|| self.member(inside, path, known))?
            }),
        };
        known.insert(key, found);
        found
    }

    /// The modules that each module needs, and by which path.
    fn needs(&self) -> Vec<BTreeMap<usize, BTreeSet<String>>> {
        let mut known = Known::new();
        let of = |(number, module): (usize, &Module)| {
            let mut needed: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
            let imported = module.imports.iter().filter(|import| !import.is_shown);
            // A word alone is no module, though a variable may have a module's name.
            let named = module
                .paths
                .iter()
                .filter(|path| path.len() > 1 || !module.children.contains_key(&path[0]));
            let paths = imported.map(|import| &import.path).chain(named);
            for path in paths {
                if let Some(other) = self.resolve(number, path, &mut known)
                    && other != number
                {
                    needed.entry(other).or_default().insert(path.join("::"));
                }
            }
            needed
        };
        self.0.iter().enumerate().map(of).collect()
    }
}

/// The largest set of modules that all need each other (Tarjan 1972, as reachability both ways: crates are small).
fn largest_circle(needs: &[BTreeMap<usize, BTreeSet<String>>]) -> BTreeSet<usize> {
    let reached = |start: usize| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            open.extend(needs[at].keys().filter(|&&next| seen.insert(next)));
        }
        seen
    };
    let all: Vec<BTreeSet<usize>> = (0..needs.len()).map(reached).collect();
    let circle = |at: usize| -> BTreeSet<usize> {
        let both = all[at].iter().filter(|&&other| all[other].contains(&at));
        both.copied().collect()
    };
    (0..needs.len())
        .map(circle)
        .max_by_key(BTreeSet::len)
        .unwrap_or_default()
}

/// The root of each crate's modules.
fn roots() -> BTreeMap<String, PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let of = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let file = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
        file.into_iter()
            .find(|file| file.exists())
            .map(|file| (name, file))
    };
    crates
        .filter_map(|entry| of(entry.unwrap().path()))
        .collect()
}

#[test]
fn circles_of_modules_are_small() {
    let mut complaints = Vec::new();
    for (name, file) in roots() {
        let modules = Modules::of(&file, &|file| fs::read_to_string(file).ok());
        let needs = modules.needs();
        let circle = largest_circle(&needs);
        if circle.len() > MOST_MODULES {
            let mut told = format!(
                "{name}: {} modules need each other, at most {MOST_MODULES} may:",
                circle.len()
            );
            for &module in &circle {
                for (other, paths) in &needs[module] {
                    if circle.contains(other) {
                        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                        let (from, to) = (&modules.0[module].name, &modules.0[*other].name);
                        told.push_str(&format!("\n  {from} -> {to}: {}", paths.join(", ")));
                    }
                }
            }
            complaints.push(told);
        }
    }
    assert_none(complaints);
}

/// The needs of a crate of these files, as `module: modules`.
fn needs_of(files: &[(&str, &str)]) -> Vec<String> {
    let text = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| (*text).to_owned())
    };
    let modules = Modules::of(Path::new("lib.rs"), &text);
    let name = |&number: &usize| modules.0[number].name.as_str();
    let lines = modules.needs().into_iter().enumerate();
    lines
        .map(|(number, needed)| {
            let needed: Vec<&str> = needed.keys().map(name).collect();
            format!("{}: {}", name(&number), needed.join(" "))
        })
        .collect()
}

#[test]
fn a_module_needs_where_the_item_stands_and_not_who_shows_it() {
    let found = needs_of(&[
        (
            "lib.rs",
            "mod a; mod b; pub mod c; pub use a::{Thing, Other as More}; pub use b::*;",
        ),
        ("a.rs", "pub struct Thing; pub struct Other; // crate::b::f"),
        (
            "b.rs",
            "use crate::Thing; pub fn f() { let _ = \"crate::c::g\"; }",
        ),
        (
            "c.rs",
            "mod d; use super::More; fn g() { crate::f(); x.d(); }\n#[cfg(test)]\nmod tests { use crate::Thing; }",
        ),
        (
            "c/d.rs",
            "fn h<'a>(c: char) { super::g(); if c == '\"' { d::<'a>() } }",
        ),
    ]);
    let expected = ["crate: ", "a: ", "b: a", "c: a b", "c::d: c"];
    assert_eq!(found, expected);
}
