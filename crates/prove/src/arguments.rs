//! The arguments of a program.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::ExprKind;
use patchwright_solve::{Term, Terms};
use patchwright_symbolic::{Encoding, InputKind};

use crate::{source::Source, spec::Spec};

/// How many arguments `main` reads, by constant indices of its second parameter.
pub fn arguments_read(sources: &[Source]) -> u32 {
    let mut most = 0;
    for source in sources {
        let functions = source.unit.functions.iter();
        for main in functions.filter(|function| function.name == "main") {
            let Some(&vector) = main.parameters.get(1) else {
                continue;
            };
            for expr in &main.exprs {
                let ExprKind::Subscript { base, index } = expr.kind else {
                    continue;
                };
                let is_vector = match main.expr(main.stripped(base)).kind {
                    ExprKind::Variable(variable) => variable == vector,
                    _ => false,
                };
                if let ExprKind::Integer { value, .. } = main.expr(main.stripped(index)).kind
                    && is_vector
                {
                    most = most.max(u32::try_from(value).unwrap_or(0));
                }
            }
        }
    }
    most
}

/// Whether what shall hold depends on one argument both by its bytes and by the number that they say, or by numbers of
/// several types: then the numbers have to be what the bytes say.
pub fn mixes_arguments(terms: &Terms, spec: &Spec, encodings: &[&Encoding]) -> bool {
    let mut ways: BTreeMap<Term, (u32, u64)> = BTreeMap::new();
    let mut any = false;
    for input in encodings.iter().flat_map(|one| &one.inputs) {
        match input.kind {
            InputKind::ArgumentByte(number, _) => {
                ways.insert(input.term, (number, 0));
            }
            InputKind::ArgumentNumber(number, ty) => {
                any = true;
                ways.insert(input.term, (number, ty.size()));
            }
            _ => {}
        }
    }
    if !any {
        return false;
    }
    let mut used: BTreeSet<(u32, u64)> = BTreeSet::new();
    for root in spec.roots() {
        let variables = terms.variables_of(root);
        used.extend(variables.iter().filter_map(|variable| ways.get(variable)));
    }
    let arguments: BTreeSet<u32> = used.iter().map(|&(number, _)| number).collect();
    arguments.len() < used.len()
}
