//! What a comparison takes for granted, told under its report.

use patchwright_symbolic::Shape;

use super::{CompareArgs, read::Versions, replay};

/// What is said of the inputs that two versions are compared for.
pub fn notes(versions: &Versions, args: &CompareArgs) -> Vec<String> {
    let mut notes = Vec::new();
    for parameter in &versions.both[0].shapes {
        let name = &parameter.name;
        let is_said = args.length.iter().any(|said| {
            let said = said.split_once('=');
            said.is_some_and(|(said, _)| said == *name)
        });
        let Shape::Pointer {
            to: Some(_), count, ..
        } = &parameter.shape
        else {
            continue;
        };
        if !is_said {
            let many = if *count == 1 { "" } else { "s" };
            notes.push(format!(
                "`{name}` points to {count} object{many}; --length {name}=N says another number"
            ));
        }
        if let Some(depth) = parameter.shape.cut() {
            notes.push(format!(
                "pointers behind `{name}` are followed {depth} deep: what is deeper is null"
            ));
        }
    }
    if args.function.is_some() && !args.havoc && !replay::globals(versions).is_empty() {
        notes.push(
            "globals hold what they hold when a program starts; --havoc: any value where the source gives none".to_owned(),
        );
    }
    for (of_new, of_old) in &versions.renamed {
        notes.push(format!(
            "what NEW calls `{of_new}` is called `{of_old}` here, as in OLD"
        ));
    }
    notes
}
