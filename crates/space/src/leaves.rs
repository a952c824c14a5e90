//! Finds the leaves of terms at a hole: variables, members, elements and constants.

use patchwright_csource::{
    CastKind, ExprId, ExprKind, Function, Storage, TranslationUnit, UnaryOperator, VarId, lex,
    types::{Field, Record, TypeKind},
};
use patchwright_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::constants::{self, character};
use crate::types::moved;
use crate::{
    holes::Hole,
    neighbours,
    slots::{AtomBuilder, ElementIndex},
    term::{CType, Kind, Precedence, Term},
};

/// The numbers of leaves of each kind that a hole gets, the nearest first.
#[derive(Clone, Copy, Debug)]
pub struct LeafLimits {
    /// Atoms: variables, members, elements.
    pub atoms: usize,
    /// Constants.
    pub constants: usize,
    /// Constants from elsewhere ([`mod@crate::distant`]); with 0, no leaf comes from elsewhere.
    pub distant: usize,
}

impl Default for LeafLimits {
    fn default() -> Self {
        LeafLimits {
            atoms: 40,
            constants: 24,
            distant: 80,
        }
    }
}

/// The variables, members, elements and constants that a function's text mentions.
#[derive(Clone, Debug)]
pub struct Mentions {
    /// The function's name.
    pub(crate) name: String,
    /// The functions that it calls by their names.
    pub(crate) calls: Vec<String>,
    /// Reads of members, elements and pointed-to objects, with the variables that they name.
    paths: Vec<(ExprId, u32, Vec<VarId>)>,
    /// Uses of variables: first place of each.
    pub(crate) variables: FxHashMap<VarId, Vec<u32>>,
    /// Constants: value (the bits of a floating one), type, spelling, places.
    pub(crate) constants: Vec<(i128, CType, String, u32)>,
    /// Variables that occur in subscripts.
    subscripts: Vec<VarId>,
    /// Enumerations of which an enumerator occurs.
    enumerations: Vec<usize>,
    /// Pointers that the function uses as arrays: it subscripts them or calculates with them.
    arrays: FxHashSet<VarId>,
    /// The function's text.
    span: Span,
}

/// Collects the variables, constants, calls and memory accesses of `function` with their places, from which leaves of terms are chosen.
pub fn mentions(builder: &mut AtomBuilder<'_>, function: &Function) -> Mentions {
    let mut found = Mentions {
        name: function.name.clone(),
        calls: Vec::new(),
        span: function.span,
        arrays: used_as_arrays(builder.unit, function),
        paths: Vec::new(),
        variables: FxHashMap::default(),
        constants: Vec::new(),
        subscripts: Vec::new(),
        enumerations: Vec::new(),
    };
    for expr in &function.exprs {
        if !expr.evaluated {
            continue;
        }
        let Some(at) = expr.place.editable().map(|span| span.start) else {
            continue;
        };
        match &expr.kind {
            ExprKind::Function(name) if !found.calls.contains(name) => {
                found.calls.push(name.clone());
            }
            ExprKind::Variable(variable) => {
                found.variables.entry(*variable).or_default().push(at);
            }
            // What is changed is read, too.
            ExprKind::Cast {
                operand,
                cast: CastKind::LValueToRValue,
                ..
            }
            | ExprKind::Assign {
                operator: Some(_),
                target: operand,
                ..
            }
            | ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => {
                let inner = function.without_parens(*operand);
                if matches!(
                    function.expr(inner).kind,
                    ExprKind::Member { .. }
                        | ExprKind::Subscript { .. }
                        | ExprKind::Unary {
                            operator: UnaryOperator::Dereference,
                            ..
                        }
                ) {
                    let mut variables = Vec::new();
                    variables_below(function, inner, &mut variables);
                    found.paths.push((inner, at, variables));
                }
            }
            ExprKind::Subscript { index, .. } => {
                let mut variables = Vec::new();
                variables_below(function, *index, &mut variables);
                for variable in variables {
                    let ty = builder.unit.variable(variable).ty;
                    if builder.unit.types.integer_kind(ty).is_some()
                        && !found.subscripts.contains(&variable)
                    {
                        found.subscripts.push(variable);
                    }
                }
            }
            ExprKind::Integer {
                value,
                enumerator,
                character,
            } => {
                if let Some(name) = enumerator {
                    for (i, members) in builder.unit.enumerations.iter().enumerate() {
                        if members.iter().any(|(member, _)| member == name)
                            && !found.enumerations.contains(&i)
                        {
                            found.enumerations.push(i);
                        }
                    }
                }
                let (value, ty, character) = (*value, expr.ty, *character);
                if let Some(ctype) = builder.ctype(ty) {
                    let spelling = match expr.place.editable() {
                        Some(span) => builder.unit.text(span).into_owned(),
                        None => continue,
                    };
                    if character || lex::is_words(&spelling) {
                        found.constants.push((value, ctype, spelling, at));
                    }
                }
            }
            ExprKind::Float(value) => {
                let (value, ty) = (*value, expr.ty);
                let Some(span) = expr.place.editable() else {
                    continue;
                };
                let (bits, ctype) = match builder.ctype(ty) {
                    Some(CType::Float) => (i128::from((value as f32).to_bits()), CType::Float),
                    Some(CType::Double) => (i128::from(value.to_bits()), CType::Double),
                    _ => continue,
                };
                let spelling = builder.unit.text(span).into_owned();
                if !spelling.contains(char::is_whitespace) {
                    found.constants.push((bits, ctype, spelling, at));
                }
            }
            _ => {}
        }
    }
    found
}

/// The pointer variables that `function` subscripts, moves or adds to.
///
/// A pointer of which only `*p` or `p->m` is read mostly points to one object, behind which other
/// objects of the program lie: `p[i]` would read those, and mean nothing.
fn used_as_arrays(unit: &TranslationUnit, function: &Function) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut add = |id: ExprId| {
        let mut id = function.without_parens(id);
        while let ExprKind::Cast { operand, .. } = function.expr(id).kind {
            id = function.without_parens(operand);
        }
        if let ExprKind::Variable(variable) = function.expr(id).kind
            && matches!(
                unit.types.kind(unit.variable(variable).ty),
                TypeKind::Pointer(_)
            )
        {
            found.insert(variable);
        }
    };
    moved(function, &mut add);
    found
}

/// Adds the variables that an expression names, each once.
pub(crate) fn variables_below(function: &Function, id: ExprId, found: &mut Vec<VarId>) {
    for variable in function.variables_within(id) {
        if !found.contains(&variable) {
            found.push(variable);
        }
    }
}

fn distance(places: &[u32], span: Span) -> u32 {
    places
        .iter()
        .map(|&at| at.abs_diff(span.start))
        .min()
        .unwrap_or(u32::MAX)
}

/// Which variables have a value and can be named at a hole.
pub(crate) struct Visible {
    locals: FxHashSet<VarId>,
    /// The names that hide globals.
    names: FxHashSet<String>,
    span: Span,
}

impl Visible {
    /// Collects the names that are visible at a hole.
    pub(crate) fn at(unit: &TranslationUnit, hole: &Hole) -> Visible {
        let name = |&id: &VarId| unit.variable(id).name.clone();
        Visible {
            locals: hole.scope.assigned.iter().copied().collect(),
            names: hole.scope.visible.iter().map(name).collect(),
            span: hole.span,
        }
    }

    /// Whether a variable can be named at the hole, and has a value there.
    pub(crate) fn has_value(&self, unit: &TranslationUnit, id: VarId) -> bool {
        let variable = unit.variable(id);
        match variable.storage {
            Storage::Global => {
                !self.names.contains(&variable.name) && declared_before(unit, id, self.span)
            }
            _ => self.locals.contains(&id),
        }
    }
}

/// Returns the leaves of `hole`, nearest first. Atoms are added to the hole's table; constants are
/// returned with them.
pub fn leaves(
    builder: &mut AtomBuilder<'_>,
    function: &Function,
    mentions: &Mentions,
    hole: &mut Hole,
    limits: LeafLimits,
) -> Vec<Term> {
    let mut atoms = std::mem::take(&mut hole.atoms);
    let captured = hole.hands_over_a_value();
    let own = atoms.table.iter().count();
    let limit = own + limits.atoms;
    let full = |atoms: &crate::slots::Atoms| atoms.table.iter().count() >= limit;
    let visible = Visible::at(builder.unit, hole);
    let usable = |unit: &TranslationUnit, id: VarId| visible.has_value(unit, id);
    // Variables, by how near they are mentioned.
    let mut variables: Vec<(u32, usize, VarId)> = Vec::new();
    for (i, &id) in hole.scope.assigned.iter().rev().enumerate() {
        let near = match mentions.variables.get(&id) {
            Some(places) => distance(places, hole.span),
            // What has a value and is never used may be what is missing. (Programs without arguments have the parameters of `main` all the same.)
            None => match builder.unit.variable(id).storage {
                Storage::Parameter if mentions.name == "main" => u32::MAX,
                Storage::Global => u32::MAX,
                _ => 0,
            },
        };
        variables.push((near, i, id));
    }
    for (&id, places) in &mentions.variables {
        if builder.unit.variable(id).storage == Storage::Global && usable(builder.unit, id) {
            variables.push((distance(places, hole.span), id.0 as usize, id));
        }
    }
    variables.sort_unstable();
    variables.dedup_by_key(|entry| entry.2);
    // First what is in the hole itself is there already; then variables and paths by distance.
    let mut wanted: Vec<(u32, u8, usize)> = Vec::new();
    for (i, entry) in variables.iter().enumerate() {
        wanted.push((entry.0, 0, i));
    }
    for (i, (_, at, needed)) in mentions.paths.iter().enumerate() {
        if needed.iter().all(|&id| usable(builder.unit, id)) {
            wanted.push((at.abs_diff(hole.span.start), 1, i));
        }
    }
    wanted.sort_unstable();
    // Half of the room is for members and elements that are not written in the function.
    let mentioned_limit = own + limits.atoms * 3 / 4;
    for (_, kind, i) in wanted {
        if atoms.table.iter().count() >= mentioned_limit {
            break;
        }
        if kind == 0 {
            builder.variable(&mut atoms, variables[i].2);
        } else {
            builder.read(&mut atoms, function, mentions.paths[i].0);
        }
    }
    for &(_, _, id) in &variables {
        if full(&atoms) {
            break;
        }
        let ty = builder.unit.variable(id).ty;
        match builder.unit.types.kind(ty).clone() {
            TypeKind::Pointer(to) | TypeKind::Array(to, _) => {
                let is_array = matches!(builder.unit.types.kind(ty), TypeKind::Array(..));
                if builder.ctype(to).is_some() && builder.is_scalar(to) {
                    if !is_array {
                        builder.element_of(&mut atoms, id, None);
                    }
                    let is_character = builder.unit.types.size(to) == Some(1);
                    let indexed = is_array || is_character || mentions.arrays.contains(&id);
                    for &index in mentions.subscripts.iter().filter(|_| indexed) {
                        if usable(builder.unit, index) && !full(&atoms) {
                            let index = Some(ElementIndex::Variable(index));
                            builder.element_of(&mut atoms, id, index);
                        }
                    }
                    for index in 0..2 {
                        if is_array && !full(&atoms) {
                            let index = Some(ElementIndex::Constant(index));
                            builder.element_of(&mut atoms, id, index);
                        }
                    }
                }
                if !is_array && let TypeKind::Record(record) = builder.unit.types.kind(to).clone() {
                    members(builder, &mut atoms, id, record, limit);
                }
            }
            TypeKind::Record(record) => members(builder, &mut atoms, id, record, limit),
            _ => {}
        }
    }
    let mut found: Vec<Term> = atoms
        .table
        .iter()
        .map(|(id, _)| id)
        .skip(usize::from(captured))
        .map(|id| Term::atom(id, &atoms.table))
        .collect();
    found.extend(constants(builder, mentions, hole, limits.constants));
    let pointers = found
        .iter()
        .any(|term| matches!(term.ctype(), CType::Pointer(_)))
        || matches!(hole.ctype, Some(CType::Pointer(_)));
    if pointers {
        found.extend(null(builder));
    }
    found.extend(sizes(builder, &mut atoms, &variables));
    if let Some(permitted) = &atoms.permitted {
        let pointees = builder.types.pointees();
        found.retain(|leaf| permitted.permits_constant(leaf, &atoms, pointees));
    }
    let names: Vec<VarId> = variables.iter().map(|&(_, _, id)| id).collect();
    neighbours::add(builder, &mut atoms, own, &names);
    hole.atoms = atoms;
    found
}

/// Whether a global variable is declared before `span`.
pub(crate) fn declared_before(unit: &TranslationUnit, id: VarId, span: Span) -> bool {
    let variable = unit.variable(id);
    !variable.thread_local && variable.declared_at.is_none_or(|at| at < span.start)
}

/// A member that belongs to the library which declares the record (`_flags2` of the structure behind `FILE`), by its name:
/// only its own functions mention it.
pub(crate) fn is_private(record: &Record, field: &Field) -> bool {
    field.name.starts_with("__") || record.name.starts_with('_') && field.name.starts_with('_')
}

fn members(
    builder: &mut AtomBuilder<'_>,
    atoms: &mut crate::slots::Atoms,
    id: VarId,
    record: patchwright_csource::types::RecordId,
    limit: usize,
) {
    let record = builder.unit.types.record(record).clone();
    if record.ambiguous {
        return;
    }
    for field in record.fields.clone().unwrap_or_default() {
        if atoms.table.iter().count() >= limit {
            return;
        }
        if field.name.is_empty() || is_private(&record, &field) || !builder.is_scalar(field.ty) {
            continue;
        }
        builder.member(atoms, id, &field);
    }
}

/// Constants: 0, 1, −1, NULL, those of the function by distance and their neighbours, the other
/// enumerators of enumerations that occur, and macros that the function mentions.
fn constants(
    builder: &mut AtomBuilder<'_>,
    mentions: &Mentions,
    hole: &Hole,
    limit: usize,
) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    let mut seen: FxHashSet<(i128, bool)> = FxHashSet::default();
    let mut add = |found: &mut Vec<Term>, value: i128, ctype: CType, spelling: Option<&str>| {
        // One spelling for each value is enough, and floating and integer ones differ.
        if found.len() >= limit || !seen.insert((value, ctype.is_floating())) {
            return;
        }
        let term = match spelling {
            Some(spelling) => Some(Term::constant(value as u64, ctype, spelling)),
            None => Term::literal(value as u64, ctype).ok(),
        };
        found.extend(term);
    };
    // The hole's own come first, however long it is.
    let is_own = |at: u32| hole.span.contains(at);
    let mut near: Vec<&(i128, CType, String, u32)> = mentions.constants.iter().collect();
    near.sort_by_key(|(value, _, spelling, at)| {
        let distance = at.abs_diff(hole.span.start);
        (!is_own(*at), distance, *value, spelling.clone())
    });
    // Names win over numbers: enumerators and macros of the function come first.
    let mut named: Vec<(i128, CType, String)> = Vec::new();
    for &i in &mentions.enumerations {
        for (name, value) in &builder.unit.enumerations[i] {
            named.push((*value, CType::Int, name.clone()));
        }
    }
    add(&mut found, 0, CType::Int, None);
    add(&mut found, 1, CType::Int, None);
    // That which is one off is mostly the hole's own, and seldom far away.
    let shifted = |wanted: &dyn Fn(u32, &str) -> bool| {
        let mut found: Vec<(i128, CType)> = Vec::new();
        for (value, ctype, spelling, at) in &near {
            let is_new = found.iter().all(|(known, ..)| known != value);
            // The next character is a change of its own ([`next_characters`]).
            let is_number = ctype.is_integer() && !spelling.starts_with('\'');
            if is_new && is_number && wanted(*at, spelling) && found.len() < limit / 4 {
                found.push((*value, *ctype));
            }
        }
        let neighbours = |(value, ctype)| [value + 1, value - 1].map(|value: i128| (value, ctype));
        found.into_iter().flat_map(neighbours).collect::<Vec<_>>()
    };
    // A number there is no name, nor is the next one, whatever has its value.
    let is_own_number =
        |at: u32, spelling: &str| is_own(at) && spelling.starts_with(|c: char| c.is_ascii_digit());
    for (value, ctype) in shifted(&is_own_number) {
        add(&mut found, value, ctype, None);
    }
    // The digit as a character, where characters are written.
    if near
        .iter()
        .any(|(_, _, spelling, _)| spelling.starts_with('\''))
    {
        for (value, _, spelling, _) in near.iter().filter(|(.., at)| is_own(*at)) {
            if let Some(digit) = digit_of(*value, spelling) {
                add(
                    &mut found,
                    i128::from(digit),
                    CType::Int,
                    Some(&character(digit)),
                );
            }
        }
    }
    for (value, ctype, spelling, _) in near.iter().take(limit / 3) {
        add(&mut found, *value, *ctype, Some(spelling));
    }
    let nearest_enumerator = near
        .iter()
        .find(|(_, _, spelling, _)| named.iter().any(|(_, _, name)| name == spelling))
        .map_or(0, |(value, ..)| *value);
    named.sort_by_key(|(value, _, _)| value.abs_diff(nearest_enumerator));
    for (value, ctype, name) in named.iter().take(limit / 3) {
        add(&mut found, *value, *ctype, Some(name));
    }
    add(&mut found, -1, CType::Int, None);
    for (value, ctype) in shifted(&|_, _| true) {
        add(&mut found, value, ctype, None);
    }
    for (value, ctype, name) in macros(builder, mentions, hole) {
        add(&mut found, value, ctype, Some(&name));
    }
    for (value, ctype, spelling, _) in near {
        add(&mut found, *value, *ctype, Some(spelling));
    }
    found
}

/// The characters behind and before one, if the term is one.
pub(crate) fn next_characters(term: &Term) -> Vec<Term> {
    let Kind::Constant(value, spelling) = term.kind() else {
        return Vec::new();
    };
    if !spelling.starts_with('\'') {
        return Vec::new();
    }
    let beside = [value.wrapping_add(1), value.wrapping_sub(1)].map(u8::try_from);
    let written = beside.into_iter().flatten().filter(u8::is_ascii_graphic);
    written
        .map(|byte| Term::constant(u64::from(byte), CType::Int, character(byte)))
        .collect()
}

/// The character that a digit is, where a number of one digit is written.
pub(crate) fn digit_of(value: i128, spelling: &str) -> Option<u8> {
    let digit = u8::try_from(value).ok().filter(|value| *value <= 9)?;
    spelling
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(b'0' + digit)
}

/// The macros that the function mentions, and a few of those that only the rest of the file does;
/// the nearest first.
fn macros(
    builder: &mut AtomBuilder<'_>,
    mentions: &Mentions,
    hole: &Hole,
) -> Vec<(i128, CType, String)> {
    const ELSEWHERE: usize = 4;
    let mut near: Vec<(bool, u32, usize)> = Vec::new();
    for (i, constant) in builder.unit.macros.iter().enumerate() {
        // A macro that the file defines is defined where it is first mentioned, or later.
        if constant.mentions.first() > Some(&hole.span.start) {
            continue;
        }
        let elsewhere = !constant
            .mentions
            .iter()
            .any(|&at| mentions.span.contains(at));
        if let Some(distance) = constant
            .mentions
            .iter()
            .map(|at| at.abs_diff(hole.span.start))
            .min()
        {
            near.push((elsewhere, distance, i));
        }
    }
    near.sort_unstable();
    let here = near.iter().filter(|(elsewhere, ..)| !elsewhere).count();
    near.truncate(here + ELSEWHERE);
    near.into_iter()
        .filter_map(|(_, _, i)| {
            let constant = builder.unit.macros[i].clone();
            let ctype = builder.ctype(constant.ty)?;
            let spelling = match constant.is_operand {
                true => constant.name,
                false => format!("({})", constant.name),
            };
            Some((constant.value, ctype, spelling))
        })
        .collect()
}

/// The null pointer constant, as the file writes it.
fn null(builder: &mut AtomBuilder<'_>) -> Option<Term> {
    let ctype = builder.types.void_pointer(&mut builder.unit.types)?;
    let spelling = constants::null(&builder.unit.source);
    Some(Term::constant(0, ctype, spelling))
}

/// `sizeof` of the arrays and records in scope.
fn sizes(
    builder: &mut AtomBuilder<'_>,
    atoms: &mut crate::slots::Atoms,
    variables: &[(u32, usize, VarId)],
) -> Vec<Term> {
    const MOST: usize = 2;
    let mut found = Vec::new();
    for &(_, _, id) in variables {
        let variable = builder.unit.variable(id);
        let sized = matches!(
            builder.unit.types.kind(variable.ty),
            TypeKind::Array(_, Some(_)) | TypeKind::Record(_)
        ) && variable.storage != Storage::Parameter;
        if !sized || builder.unit.types.size(variable.ty).is_none() {
            continue;
        }
        let text = format!("sizeof({})", variable.name);
        let pointees = builder.types.pointees();
        if let Some(atom) = atoms.add_value(&text, Precedence::Unary, CType::ULong, pointees) {
            found.push(Term::atom(atom, &atoms.table));
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Whether a leaf is a constant or a size.
pub fn is_constant(term: &Term) -> bool {
    matches!(term.kind(), Kind::Constant(..))
}

#[cfg(test)]
mod tests {
    use patchwright_csource::types::TypeTable;

    use super::*;

    #[test]
    fn members_of_the_librarys_structures_are_its_own() {
        let record = |name: &str| Record {
            name: name.to_owned(),
            spelling: None,
            is_union: false,
            fields: None,
            ambiguous: false,
        };
        let field = |name: &str| Field {
            name: name.to_owned(),
            ty: TypeTable::default().parse("int"),
            bit_width: None,
        };
        assert!(is_private(&record("_IO_FILE"), &field("_flags2")));
        assert!(is_private(&record("tm"), &field("__tm_gmtoff")));
        assert!(!is_private(&record("_node"), &field("next")));
        assert!(!is_private(&record("point"), &field("_x")));
    }
}
