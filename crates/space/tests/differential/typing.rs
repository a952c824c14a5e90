//! The typing rules are the compiler's, for every operator and every pair of types.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_space::term::{
    Atom, AtomTable, CType, Context, PointeeId, Precedence, Term, TypeError, compile,
};

use super::program::{compiler, messages};
use super::random::World;

const FLAGS: [&str; 3] = ["-std=c17", "-pedantic-errors", "-fsyntax-only"];

/// Expressions that gcc must have an opinion about, one per line.
struct Checks {
    declarations: String,
    /// Declarations and, in a function, statements.
    accepted: String,
    assignments: String,
    rejected: Vec<String>,
}

impl Checks {
    fn add(&mut self, world: &World, text: &str, result: Result<CType, TypeError>) {
        match result {
            Ok(ctype) => {
                let name = world.type_name(ctype);
                let _ = writeln!(
                    self.accepted,
                    "_Static_assert(__builtin_types_compatible_p(__typeof__({text}), {name}), \
                     \"{text}\");"
                );
            }
            Err(_) => self.rejected.push(text.to_owned()),
        }
    }
}

#[test]
#[ignore = "nightly: 6 s; a_term_is_undefined_exactly_where_the_undefined_behaviour_sanitizers_trap goes this way"]
fn every_operator_types_every_pair_of_operands_as_gcc_does() {
    let world = World::new();
    let mut checks = Checks {
        declarations: world.declarations.clone(),
        accepted: String::new(),
        assignments: String::new(),
        rejected: Vec::new(),
    };
    let mut types = CType::ARITHMETIC.to_vec();
    types.extend(world.pointees.iter().map(|(id, _)| CType::Pointer(id)));

    let mut atoms = AtomTable::new();
    let mut operands = Vec::new();
    for (i, &ctype) in types.iter().enumerate() {
        let _ = writeln!(checks.declarations, "{} o{i};", world.type_name(ctype));
        let id = atoms.add(Atom {
            spelling: format!("o{i}"),
            precedence: Precedence::Primary,
            ctype,
            slot: i as u32,
        });
        operands.push(Term::atom(id, &atoms));
    }
    let null = Term::constant(0, world.void_pointer, "((void *)0)");
    operands.push(Term::literal(0, CType::Int).expect("a literal"));
    operands.push(Term::literal(1, CType::Int).expect("a literal"));
    operands.push(null);
    let zero = || Term::literal(0, CType::Int).expect("a literal");
    let casted = Term::cast(world.void_pointer, zero(), &world.pointees).expect("typed");
    operands.push(casted);
    let folded = Term::binary(BinaryOp::Sub, zero(), zero(), &world.pointees).expect("typed");
    operands.push(folded);

    let text = |term: &Term| term.display(&atoms, &world.pointees).to_string();
    let is_void = |term: &Term| term.pointee().is_some_and(|id| world.pointees[id].is_void);
    for a in &operands {
        for op in UnaryOp::ALL {
            let result = Term::unary(op, a.clone()).map(|term| term.ctype());
            checks.add(&world, &format!("{}({})", op.spelling(), text(a)), result);
        }
        for &to in &types {
            // A cast to a function pointer is C, but has no spelling here.
            if let CType::Pointer(PointeeId(id)) = to
                && world.pointees[PointeeId(id)].is_function
            {
                continue;
            }
            let result = Term::cast(to, a.clone(), &world.pointees).map(|term| term.ctype());
            checks.add(
                &world,
                &format!("({})({})", world.type_name(to), text(a)),
                result,
            );
        }
        for (i, &to) in types.iter().enumerate() {
            let spelled = format!("o{i} = {}", text(a));
            match compile(a, Context::Convert(to), &atoms, &world.pointees) {
                Ok(_) => {
                    let _ = writeln!(checks.assignments, "{spelled};");
                }
                Err(_) => checks.rejected.push(spelled),
            }
        }
        for b in &operands {
            for op in BinaryOp::ALL {
                let result = Term::binary(op, a.clone(), b.clone(), &world.pointees);
                let spelled = format!("({}) {} ({})", text(a), op.spelling(), text(b));
                checks.add(&world, &spelled, result.map(|term| term.ctype()));
            }
            let result =
                Term::conditional(operands[0].clone(), a.clone(), b.clone(), &world.pointees);
            // The one documented case of valid C that is not supported.
            if result.is_err() && is_void(a) != is_void(b) {
                continue;
            }
            let spelled = format!("o0 ? ({}) : ({})", text(a), text(b));
            checks.add(&world, &spelled, result.map(|term| term.ctype()));
        }
    }

    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = format!(
        "{}{}void assignments(void) {{\n{}}}\n",
        checks.declarations, checks.accepted, checks.assignments
    );
    let output = compiler("gcc", &FLAGS, &source, folder.path(), "accepted");
    assert!(output.status.success(), "{}", messages(&output));

    let mut source = checks.declarations.clone();
    source.push_str("void rejected(void) {\n");
    let first_line = source.lines().count() + 1;
    for text in &checks.rejected {
        let _ = writeln!(source, "(void)({text});");
    }
    source.push_str("}\n");
    let output = compiler("gcc", &FLAGS, &source, folder.path(), "rejected");
    let refused: BTreeSet<usize> = String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|line| line.contains(" error: "))
        .filter_map(|line| line.split_once(".c:")?.1.split(':').next()?.parse().ok())
        .collect();
    let accepted_by_gcc: Vec<&String> = checks
        .rejected
        .iter()
        .enumerate()
        .filter(|(i, _)| !refused.contains(&(first_line + i)))
        .map(|(_, text)| text)
        .collect();
    assert!(
        accepted_by_gcc.is_empty(),
        "{} expressions that gcc accepts are refused: {:?}",
        accepted_by_gcc.len(),
        &accepted_by_gcc[..accepted_by_gcc.len().min(20)]
    );
    println!(
        "{} expressions accepted, {} refused",
        checks.accepted.lines().count() + checks.assignments.lines().count(),
        checks.rejected.len()
    );
    assert!(checks.rejected.len() > 1_000);
}
