//! Reads the macro definitions of a translation unit from the preprocessor's list.

use rustc_hash::{FxHashMap, FxHashSet};

use patchwright_ctext as lex;

/// One `#define`: parameters and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// It takes arguments.
    pub function_like: bool,
    /// Its replacement list.
    pub body: String,
    /// It is defined in a file of the system (or by the compiler).
    pub system: bool,
}

/// All definitions of all macros of a translation unit, in the order in which the preprocessor met them.
#[derive(Clone, Debug, Default)]
pub struct MacroTable {
    definitions: FxHashMap<String, Vec<Definition>>,
    order: Vec<String>,
}

/// Words by which C looks at the type of an expression.
const TYPE_WORDS: [&str; 12] = [
    "_Alignof",
    "_Generic",
    "__alignof__",
    "__auto_type",
    "__builtin_choose_expr",
    "__builtin_types_compatible_p",
    "__typeof",
    "__typeof__",
    "sizeof",
    "typeof",
    "typeof_unqual",
    "auto",
];

const STATEMENT_WORDS: &[&str] = &[
    "return", "if", "else", "while", "for", "do", "switch", "case", "default", "goto", "break",
    "continue", "struct", "union", "enum", "typedef", "static", "extern", "register", "asm",
    "__asm__", "__asm",
];

impl MacroTable {
    /// Reads the output of `clang -E -dD`.
    pub(crate) fn from_preprocessor(output: &str) -> Self {
        let mut table = MacroTable::default();
        let mut system = true;
        for line in output.lines() {
            if let Some(rest) = line.strip_prefix("#define ") {
                table.add(rest, system);
            } else if let Some(rest) = line.strip_prefix("# ") {
                // # 12 "file" 1 3: the flag 3 marks a file of the system.
                if let Some((name, flags)) = rest.rsplit_once('"') {
                    system = flags.split_whitespace().any(|flag| flag == "3")
                        || name.ends_with("\"<built-in>")
                        || name.ends_with("<built-in>");
                }
            }
        }
        table
    }

    fn add(&mut self, definition: &str, system: bool) {
        let bytes = definition.as_bytes();
        let name_end = bytes
            .iter()
            .position(|&c| !lex::is_word(c))
            .unwrap_or(bytes.len());
        let name = definition[..name_end].to_owned();
        let function_like = bytes.get(name_end) == Some(&b'(');
        let body_start = if function_like {
            match lex::arguments(bytes, name_end) {
                Some((_, end)) => end,
                None => return,
            }
        } else {
            name_end
        };
        let entry = self.definitions.entry(name.clone()).or_insert_with(|| {
            self.order.push(name);
            Vec::new()
        });
        entry.push(Definition {
            function_like,
            body: definition[body_start..].trim().to_owned(),
            system,
        });
    }

    /// Returns all definitions of the macro `name`, the first one first.
    pub fn definitions(&self, name: &str) -> &[Definition] {
        self.definitions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Object-like macros in order of their first definition.
    pub(crate) fn object_like(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.order.iter().filter_map(|name| {
            let last = self.definitions[name].last()?;
            (!last.function_like).then_some((name.as_str(), last))
        })
    }

    /// The names that the preprocessor replaces with something else wherever they stand.
    pub(crate) fn replaced_names(&self) -> FxHashSet<String> {
        let replaces = |(name, definitions): &(&String, &Vec<Definition>)| {
            let mut definitions = definitions.iter();
            definitions.any(|one| !one.function_like && one.body != **name)
        };
        let replaced = self.definitions.iter().filter(replaces);
        replaced.map(|(name, _)| name.clone()).collect()
    }

    /// The names of all macros that some file of the project defines.
    pub(crate) fn of_the_project(&self) -> FxHashSet<String> {
        let own = self.definitions.iter();
        let own = own.filter(|(_, definitions)| definitions.iter().any(|one| !one.system));
        own.map(|(name, _)| name.clone()).collect()
    }

    /// Whether a use of `name` takes the parenthesis after it as its arguments; `None` if its
    /// definitions disagree.
    pub(crate) fn takes_arguments(&self, name: &str) -> Option<bool> {
        let definitions = self.definitions(name);
        let first = definitions.first().is_some_and(|d| d.function_like);
        definitions
            .iter()
            .all(|d| d.function_like == first)
            .then_some(first)
    }

    /// Whether an expansion of `name` may end with the name of a macro that takes the text behind it as its arguments.
    pub(crate) fn may_take_more(&self, name: &str) -> bool {
        self.any_reachable(name, &|body| {
            let last = lex::words(body.as_bytes()).pop();
            last.is_some_and(|word| {
                body.ends_with(word.as_str())
                    && self.definitions(&word).iter().any(|d| d.function_like)
            })
        })
    }

    fn any_reachable(&self, name: &str, test: &dyn Fn(&str) -> bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut todo = vec![name.to_owned()];
        while let Some(name) = todo.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            for definition in self.definitions(&name) {
                if test(&definition.body) {
                    return true;
                }
                for word in lex::words(definition.body.as_bytes()) {
                    if self.definitions.contains_key(&word) {
                        todo.push(word);
                    }
                }
            }
        }
        false
    }

    /// `source`, or an expansion of a macro in it that the project defines, contains `word`.
    pub(crate) fn mention(&self, source: &[u8], word: &str) -> bool {
        let own: FxHashSet<String> = lex::words(source).into_iter().collect();
        let contains = |body: &str| lex::words(body.as_bytes()).iter().any(|w| w == word);
        own.contains(word)
            || own.iter().any(|name| {
                let definitions = self.definitions(name);
                definitions.iter().any(|d| !d.system) && self.any_reachable(name, &contains)
            })
    }

    /// An expansion of `name` may make a string of an argument, or paste it.
    pub(crate) fn may_stringify(&self, name: &str) -> bool {
        self.any_reachable(name, &|body| {
            let bytes = body.as_bytes();
            let mut i = 0;
            while i < bytes.len() {
                if bytes[i] == b'#' {
                    return true;
                }
                i = lex::step(bytes, i);
            }
            false
        })
    }

    /// An expansion of `name` may depend on the type of an argument.
    pub(crate) fn may_look_at_types(&self, name: &str) -> bool {
        self.any_reachable(name, &|body| {
            let words = lex::words(body.as_bytes());
            words.iter().any(|word| TYPE_WORDS.contains(&word.as_str()))
        })
    }

    /// Whether every expansion of `name` consists of the tokens of an expression: brackets match, and no word or sign of statements occurs.
    pub(crate) fn is_expression_like(&self, name: &str) -> bool {
        !self.any_reachable(name, &|body| {
            let bytes = body.as_bytes();
            let mut i = 0;
            let mut depth = 0i32;
            while i < bytes.len() {
                match bytes[i] {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    // Statement expressions keep their braces to themselves.
                    b';' | b'{' | b'}' if depth == 0 => return true,
                    _ => {}
                }
                i = lex::step(bytes, i);
            }
            let in_parentheses = bytes.first() == Some(&b'(') && bytes.contains(&b'{');
            !lex::is_balanced(bytes, true)
                || (!in_parentheses
                    && lex::words(bytes)
                        .iter()
                        .any(|word| STATEMENT_WORDS.contains(&word.as_str())))
        })
    }

    /// Whether every expansion of object-like `name` can be an operand of any operator: a number, a character, a name or something in
    /// parentheses, perhaps with a sign.
    pub(crate) fn is_operand(&self, name: &str) -> bool {
        let mut seen = FxHashSet::default();
        let mut todo = vec![name];
        while let Some(name) = todo.pop() {
            if !seen.insert(name) {
                continue;
            }
            for definition in self.definitions(name) {
                let text = definition
                    .body
                    .trim_start_matches(['-', '+', '~', '!', ' ']);
                let bytes = text.as_bytes();
                let end = match bytes.first() {
                    Some(b'(') => lex::arguments(bytes, 0).map_or(0, |(_, end)| end),
                    Some(&c) if lex::is_word(c) => {
                        todo.push(text);
                        let more = |&c: &u8| !lex::is_word(c) && c != b'.';
                        bytes.iter().position(more).unwrap_or(bytes.len())
                    }
                    Some(b'\'') => lex::step(bytes, 0),
                    _ => 0,
                };
                if end == 0 || end != bytes.len() {
                    return false;
                }
            }
        }
        true
    }

    /// Every expansion of `name` closes what it opens.
    pub(crate) fn is_balanced(&self, name: &str) -> bool {
        !self.any_reachable(name, &|body| !lex::is_balanced(body.as_bytes(), true))
    }
}

/// Returns whether two outputs of the preprocessor, with definitions, mean the same program. All text must be the same. Macros
/// that are defined differently (as `__PIC__` is with `-fPIC`) may occur neither there nor in the source.
pub(crate) fn is_alike(a: &str, b: &str, source: &[u8]) -> bool {
    let is_definition = |line: &&str| line.starts_with("#define ") || line.starts_with("#undef ");
    let text = |output| str::lines(output).filter(move |line| !is_definition(line));
    if !text(a).eq(text(b)) {
        return false;
    }
    let definitions =
        |output| -> FxHashSet<&str> { str::lines(output).filter(is_definition).collect() };
    let (of_a, of_b) = (definitions(a), definitions(b));
    let name = |line: &str| {
        let name = line.split_once(' ').map_or("", |(_, rest)| rest);
        let end = name
            .bytes()
            .position(|c| !lex::is_word(c))
            .unwrap_or(name.len());
        name[..end].to_owned()
    };
    let different: FxHashSet<String> = of_a
        .symmetric_difference(&of_b)
        .map(|line| name(line))
        .collect();
    if lex::words(source)
        .iter()
        .any(|word| different.contains(word))
    {
        return false;
    }
    different.is_empty()
        || [a, b].into_iter().flat_map(str::lines).all(|line| {
            let of_its_own = is_definition(&line) && different.contains(&name(line));
            of_its_own
                || !lex::words(line.as_bytes())
                    .iter()
                    .any(|word| different.contains(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> MacroTable {
        MacroTable::from_preprocessor(
            "# 1 \"a.c\"\n#define LIM 10\n#define SQ(x) ((x)*(x))\n#define RET return x\n\
             #define STR(x) #x\n#define CHECK(x) STR(x)\n#define SEMI 0;\n\
             # 1 \"/usr/include/limits.h\" 1 3\n#define INT_MAX 5\n",
        )
    }

    #[test]
    fn definitions_know_their_arguments_and_origin() {
        let table = table();
        assert_eq!(table.takes_arguments("SQ"), Some(true));
        assert_eq!(table.takes_arguments("LIM"), Some(false));
        assert!(table.definitions("INT_MAX")[0].system);
        assert!(!table.definitions("LIM")[0].system);
    }

    #[test]
    fn programs_are_alike_if_only_unused_macros_differ() {
        let plain = "#define A 1\n#define LIM 10\nint x = 1;\n";
        let pic = "#define __PIC__ 2\n#define A 1\n#define LIM 10\nint x = 1;\n";
        assert!(is_alike(plain, pic, b""));
        assert!(!is_alike(plain, &pic.replace("x = 1", "x = 2"), b""));
        let used = |text: &str| text.replace("LIM 10", "LIM __PIC__");
        assert!(!is_alike(&used(plain), &used(pic), b""));
        assert!(!is_alike(plain, pic, b"#ifdef __PIC__"));
        assert!(is_alike(plain, &pic.replace("LIM 10", "LIM 11"), b""));
        assert!(!is_alike("#define A 1\n", "#define A 2\n", b"A x;"));
    }

    #[test]
    fn constants_that_need_parentheses_are_told() {
        let table = MacroTable::from_preprocessor(
            "#define BIT 1<<16\n#define SAME BIT\n#define ERR -1\n#define ALL (BIT | 1)\n#define LINE '\\n'\n\
             #define TWICE (1) + (2)\n#define LONG 0x7fUL\n#define HALF .5e+3\n#define OTHER LONG\n#define CAST (int) 3\n",
        );
        for (name, is_operand) in [
            ("BIT", false),
            ("SAME", false),
            ("ERR", true),
            ("LINE", true),
            ("TWICE", false),
            ("LONG", true),
            ("OTHER", true),
            ("CAST", false),
            ("ALL", true),
        ] {
            assert_eq!(table.is_operand(name), is_operand, "{name}");
        }
    }

    #[test]
    fn stringification_is_seen_through_macros() {
        assert!(table().may_stringify("CHECK"));
        assert!(!table().may_stringify("SQ"));
    }

    #[test]
    fn macros_that_look_at_types_are_known() {
        let table = MacroTable::from_preprocessor(
            "#define CUT(a) ({ typeof(a) b = (a); b; })\n#define TWICE(a) (CUT(a) * 2)\n#define SQ(x) ((x) * (x))\n",
        );
        assert!(table.may_look_at_types("CUT") && table.may_look_at_types("TWICE"));
        assert!(!table.may_look_at_types("SQ"));
    }

    #[test]
    fn the_number_of_the_line_is_seen_through_macros_of_the_project() {
        let table = MacroTable::from_preprocessor(
            "# 1 \"a.c\"\n#define HERE log(__LINE__)\n#define CHECK(x) if (!(x)) HERE\n\
             # 1 \"/usr/include/assert.h\" 1 3\n#define assert(x) fail(__LINE__)\n",
        );
        for (source, mentions) in [
            ("int f() { CHECK(1); }", true),
            ("int f() { return __LINE__; }", true),
            ("int f() { assert(1); /* CHECK(2) */ }", false),
        ] {
            assert_eq!(
                table.mention(source.as_bytes(), "__LINE__"),
                mentions,
                "{source}"
            );
        }
    }

    #[test]
    fn a_macro_may_end_in_one_that_takes_arguments() {
        let table = MacroTable::from_preprocessor(
            "#define F(x) x\n#define G F\n#define H G\n#define K F(1)\n#define ID(x) x\n",
        );
        assert!(table.may_take_more("G") && table.may_take_more("H"));
        assert!(!table.may_take_more("K") && !table.may_take_more("F"));
    }

    #[test]
    fn a_macro_with_a_statement_is_no_expression() {
        assert!(!table().is_expression_like("RET"));
        assert!(!table().is_expression_like("SEMI"));
        assert!(table().is_expression_like("SQ"));
    }
}
