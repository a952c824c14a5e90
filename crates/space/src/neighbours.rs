//! The elements beside those that an expression has.

use patchwright_csource::VarId;

use crate::{
    slots::{AtomBuilder, Atoms, ElementIndex},
    spelling::Element,
};

/// The elements beside those of the hole itself, where it has several, for each variable that `variables` has: all of them may be one off. They are atoms, but no
/// leaves: one of them alone is another index.
pub(crate) fn add(
    builder: &mut AtomBuilder<'_>,
    atoms: &mut Atoms,
    own: usize,
    variables: &[VarId],
) {
    let texts = atoms.table.iter().take(own);
    let texts: Vec<String> = texts.map(|(_, atom)| atom.spelling.clone()).collect();
    let elements: Vec<Element<'_>> = texts.iter().filter_map(|text| Element::of(text)).collect();
    if elements.len() < 2 {
        return;
    }
    let named = |builder: &AtomBuilder<'_>, name: &str| {
        let mut ids = variables.iter().copied();
        ids.find(|&id| builder.unit.variable(id).name == name)
    };
    for element in &elements {
        let base = named(builder, element.base);
        let index = named(builder, element.index);
        let (Some(base), Some(index)) = (base, index) else {
            continue;
        };
        for by in [-1, 1] {
            let index = match element.shift + by {
                0 => ElementIndex::Variable(index),
                shift => ElementIndex::Shifted(index, shift),
            };
            builder.element_of(atoms, base, Some(index));
        }
    }
}
