//! The kinds of change that are data.

use std::fmt::Write;

use serde::Serialize;

/// The version of `kinds --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// The kinds of change.
#[derive(Debug, Serialize)]
pub struct Kinds {
    /// The name of the schema.
    pub schema: &'static str,
    /// The version of the schema.
    pub schema_version: u32,
    /// They, in the order in which they are looked for.
    pub kinds: Vec<KindOfChange>,
}

/// A kind of change.
#[derive(Debug, Serialize)]
pub struct KindOfChange {
    /// Its name.
    pub name: String,
    /// The schema that it belongs to, as `--schemas` names it.
    pub of: String,
    /// What it costs.
    pub cost: u32,
    /// One sentence.
    pub about: String,
    /// As its file writes it.
    pub text: String,
    /// What it makes of sources.
    pub examples: Vec<ExampleOfKind>,
}

/// A source before a change and after it.
#[derive(Debug, Serialize)]
pub struct ExampleOfKind {
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
}

impl Kinds {
    /// Returns the kinds as a list for people, grouped by schema: name, cost and sentence of each.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut schemas: Vec<&str> = Vec::new();
        for kind in &self.kinds {
            if !schemas.contains(&kind.of.as_str()) {
                schemas.push(&kind.of);
            }
        }
        let longest = self.kinds.iter().map(|kind| kind.name.len()).max();
        let width = longest.unwrap_or(0);
        for (number, schema) in schemas.iter().enumerate() {
            let gap = if number > 0 { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{}", schema.to_uppercase());
            for kind in self.kinds.iter().filter(|kind| kind.of == *schema) {
                let (name, cost, about) = (&kind.name, kind.cost, &kind.about);
                let _ = writeln!(text, "  {name:width$}  {cost}  {about}");
            }
        }
        text
    }
}
