//! `--assume`: wraps a function in another one that assumes the conditions of the user and calls it.

use std::path::PathBuf;

use patchwright_csource::{lex, types::TypeKind};
use patchwright_exec::files;
pub use patchwright_prove::ASSUMING;
use patchwright_prove::{Source, find, writable};

use crate::encoded::{Problem, Reader};

/// Reads the source of a function again, with a wrapper behind it that assumes `conditions` and calls the
/// function. `called` gives the name that the conditions use for each parameter.
///
/// # Errors
/// When that cannot be said in C.
pub fn assuming(
    conditions: &[String],
    reader: &mut Reader,
    sources: &mut [Source],
    name: &str,
    called: &dyn Fn(&str) -> String,
) -> Result<(), Problem> {
    for condition in conditions {
        refuse_assignment(condition)?;
    }
    let (position, function) = find(sources, name).map_err(Problem::of)?;
    let source = &sources[position];
    let types = &source.unit.types;
    let unknown = |what: &str| {
        Problem::Input(format!(
            "--assume: the type of {what} of `{name}` cannot be written in C"
        ))
    };
    let mut given = Vec::new();
    let mut passed = Vec::new();
    let mut old_style = false;
    let declaration = source.unit.declarations.get(name);
    for (index, &parameter) in function.parameters.iter().enumerate() {
        let variable = source.unit.variable(parameter);
        let own = called(&variable.name);
        // A pointer to a function, or to an array whose length is computed, is handed on as one to `void`.
        let declared = types
            .declaration(variable.ty, &own)
            .or_else(|| writable(types, variable.ty, &own))
            .ok_or_else(|| unknown(&format!("the parameter `{}`", variable.name)))?;
        let handed_over = declaration.and_then(|own| own.parameters.get(index));
        let is_number = types.integer_kind(variable.ty).is_some()
            || matches!(types.kind(variable.ty), TypeKind::Float(_));
        old_style |= is_number
            && handed_over.is_some_and(|&other| types.kind(other) != types.kind(variable.ty));
        given.push(declared);
        passed.push(own);
    }
    let conditions: Vec<String> = conditions.iter().map(|text| format!("({text})")).collect();
    let is_void = matches!(types.kind(function.return_type), TypeKind::Void);
    let returns = if is_void { "" } else { "return " };
    let head = match old_style {
        // It gets its arguments promoted, as the function does.
        true => format!("{ASSUMING}({}) {};", passed.join(", "), given.join("; ")),
        false if given.is_empty() => format!("{ASSUMING}(void)"),
        false => format!("{ASSUMING}({})", given.join(", ")),
    };
    let head = types
        .declaration(function.return_type, &head)
        .ok_or_else(|| unknown("the result"))?;
    let text = format!(
        "#include \"{path}\"\n#line 1 \"--assume\"\nextern void __VERIFIER_assume();\n\
         static {head}\n{{\n    __VERIFIER_assume({condition} ? 1 : 0);\n    \
         {returns}{name}({passed});\n}}\nvoid *const patchwright_keep = (void *){ASSUMING};\n",
        path = source.path,
        condition = format_args!("({})", conditions.join(" && ")),
        passed = passed.join(", "),
    );
    let file = reader.folder.join("assume.c");
    files::write_atomic(&file, text.as_bytes()).map_err(Problem::of)?;
    let original = PathBuf::from(&source.path);
    let wanted = source.unit.wanted.clone();
    let read = reader.parse(file, Some(original));
    let (mut unit, _) = read.map_err(|error| match error {
        Problem::Input(message) => Problem::Input(format!(
            "--assume must be a C expression over the parameters of `{name}` and globals: {message}"
        )),
        other => other,
    })?;
    unit.wanted = wanted;
    sources[position].unit = unit;
    Ok(())
}

/// An assumption says what holds, and changes nothing.
fn refuse_assignment(condition: &str) -> Result<(), Problem> {
    let changes = |word: &str| match word {
        "++" | "--" => true,
        "==" | "!=" | "<=" | ">=" => false,
        _ => word.ends_with('=') && !word.starts_with(['"', '\'']),
    };
    let tokens = lex::tokens(condition);
    match tokens.iter().find(|(word, _)| changes(word)) {
        None => Ok(()),
        Some(("=", _)) => Err(Problem::Input(format!(
            "`--assume '{condition}'`: an assumption must not assign; did you mean `==`?"
        ))),
        Some((word, _)) => Err(Problem::Input(format!(
            "`--assume '{condition}'`: an assumption must not change anything, and `{word}` does"
        ))),
    }
}
