//! `--assume`: wraps a function in another one that assumes the conditions of the user and calls it.

use std::path::PathBuf;

use patchwright_exec::files;
use patchwright_prove::{Source, find};

use crate::encoded::{Problem, Reader};

/// The name of the wrapper.
pub const ASSUMING: &str = "patchwright_assuming";

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
    let (position, function) = find(sources, name).map_err(Problem::of)?;
    let source = &sources[position];
    let types = &source.unit.types;
    let unknown = |what: &str| {
        Problem::Input(format!(
            "--assume: the type of {what} of `{name}` cannot be written in C"
        ))
    };
    let result = types
        .spelling(function.return_type)
        .ok_or_else(|| unknown("the result"))?;
    let mut given = Vec::new();
    let mut passed = Vec::new();
    for &parameter in &function.parameters {
        let variable = source.unit.variable(parameter);
        let spelled = types.spelling(variable.ty);
        let spelled =
            spelled.ok_or_else(|| unknown(&format!("the parameter `{}`", variable.name)))?;
        let own = called(&variable.name);
        given.push(format!("{spelled} {own}"));
        passed.push(own);
    }
    let conditions: Vec<String> = conditions.iter().map(|text| format!("({text})")).collect();
    let returns = if result == "void" { "" } else { "return " };
    let text = format!(
        "#include \"{path}\"\n#line 1 \"--assume\"\nextern void __VERIFIER_assume();\n\
         static {result} {ASSUMING}({given})\n{{\n    __VERIFIER_assume({condition} ? 1 : 0);\n    \
         {returns}{name}({passed});\n}}\nvoid *const patchwright_keep = (void *){ASSUMING};\n",
        path = source.path,
        given = match given.is_empty() {
            true => "void".to_owned(),
            false => given.join(", "),
        },
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
