//! How terms are printed, compiled and simplified, by example.

use patchwright_semantics::{BinaryOp, BinaryOp::*, UnaryOp, evaluate};
use patchwright_space::term::{
    Atom, AtomTable, CType, CompileError, Context, Pointee, Pointees, Precedence, Simplification,
    Term, TypeError, compile,
};

struct World {
    atoms: AtomTable,
    pointees: Pointees,
    /// `int a, b; unsigned int u; double d; struct s *p; int *q` (spelled `*q` too), `int x[1]`
    terms: Vec<(&'static str, Term)>,
}

impl World {
    fn new() -> Self {
        let mut pointees = Pointees::new();
        let mut pointee = |spelling: &str, size| {
            CType::Pointer(pointees.add(Pointee {
                spelling: spelling.to_owned(),
                size,
                is_void: spelling == "void",
                is_function: false,
                is_const: false,
                is_alone: false,
                unqualified: None,
            }))
        };
        let structure = pointee("struct s", Some(16));
        let (int, int_pointer) = (pointee("int", Some(4)), pointee("int *", Some(8)));
        let opaque = pointee("struct opaque", None);
        let mut atoms = AtomTable::new();
        let terms = [
            ("a", CType::Int, Precedence::Primary),
            ("b", CType::Int, Precedence::Primary),
            ("u", CType::UInt, Precedence::Primary),
            ("d", CType::Double, Precedence::Primary),
            ("c", CType::Char, Precedence::Primary),
            ("p", structure, Precedence::Primary),
            ("q", int, Precedence::Primary),
            ("*q", CType::Int, Precedence::Unary),
            ("x[1]", CType::Int, Precedence::Postfix),
            ("&q", int_pointer, Precedence::Unary),
            ("h", opaque, Precedence::Primary),
            ("a = b", CType::Int, Precedence::Assignment),
        ]
        .map(|(spelling, ctype, precedence)| {
            let slot = atoms.iter().count() as u32;
            let id = atoms.add(Atom {
                spelling: spelling.to_owned(),
                precedence,
                ctype,
                slot,
            });
            (spelling, Term::atom(id, &atoms))
        })
        .to_vec();
        Self {
            atoms,
            pointees,
            terms,
        }
    }

    fn atom(&self, spelling: &str) -> Term {
        let found = self.terms.iter().find(|(name, _)| *name == spelling);
        found.expect("an atom of this test").1.clone()
    }

    fn binary(&self, op: BinaryOp, left: Term, right: Term) -> Term {
        Term::binary(op, left, right, &self.pointees).expect("well-typed")
    }

    fn cast(&self, to: CType, operand: Term) -> Term {
        Term::cast(to, operand, &self.pointees).expect("well-typed")
    }

    fn conditional(&self, condition: Term, then: Term, otherwise: Term) -> Term {
        Term::conditional(condition, then, otherwise, &self.pointees).expect("well-typed")
    }

    fn text(&self, term: &Term) -> String {
        term.display(&self.atoms, &self.pointees).to_string()
    }

    #[track_caller]
    fn prints(&self, term: Term, expected: &str) {
        assert_eq!(self.text(&term), expected);
    }
}

fn int(value: i64) -> Term {
    Term::literal(value as u64, CType::Int).expect("a literal")
}

fn unary(op: UnaryOp, operand: Term) -> Term {
    Term::unary(op, operand).expect("well-typed")
}

fn neg(operand: Term) -> Term {
    unary(UnaryOp::Neg, operand)
}

fn not(operand: Term) -> Term {
    unary(UnaryOp::Not, operand)
}

#[test]
fn parentheses_are_written_only_where_the_tree_needs_them() {
    let w = World::new();
    let (a, b) = (w.atom("a"), w.atom("b"));
    let sum = w.binary(Add, a.clone(), b.clone());
    w.prints(w.binary(Mul, sum.clone(), b.clone()), "(a + b) * b");
    w.prints(w.binary(Add, sum.clone(), b.clone()), "a + b + b");
    w.prints(w.binary(Add, b.clone(), sum.clone()), "b + (a + b)");
    w.prints(w.binary(Lt, sum.clone(), b.clone()), "a + b < b");
    w.prints(neg(sum.clone()), "-(a + b)");
    w.prints(not(w.atom("x[1]")), "!x[1]");
    w.prints(w.cast(CType::Long, sum.clone()), "(long)(a + b)");
    w.prints(neg(w.cast(CType::Long, neg(a.clone()))), "-(long)-a");
    w.prints(w.cast(w.atom("q").ctype(), w.atom("p")), "(int *)p");
    w.prints(w.cast(w.atom("&q").ctype(), w.atom("p")), "(int **)p");
    w.prints(
        Term::logical_and(w.binary(Lt, a.clone(), b.clone()), w.atom("p")),
        "a < b && p",
    );
    w.prints(w.binary(Add, w.atom("a = b"), a.clone()), "(a = b) + a");
    let chain = w.conditional(
        a.clone(),
        b.clone(),
        w.conditional(b.clone(), a.clone(), int(0)),
    );
    w.prints(chain.clone(), "a ? b : b ? a : 0");
    w.prints(
        w.conditional(a.clone(), chain, b.clone()),
        "a ? (a ? b : b ? a : 0) : b",
    );
}

#[test]
fn parentheses_are_written_where_people_and_compilers_expect_them() {
    let w = World::new();
    let (a, b) = (w.atom("a"), w.atom("b"));
    let less = w.binary(Lt, a.clone(), b.clone());
    let sum = w.binary(Add, a.clone(), b.clone());
    let both = Term::logical_and(a.clone(), b.clone());
    w.prints(
        Term::logical_or(both.clone(), both.clone()),
        "(a && b) || (a && b)",
    );
    w.prints(w.binary(Shl, sum.clone(), int(1)), "(a + b) << 1");
    w.prints(
        w.binary(Eq, less.clone(), less.clone()),
        "(a < b) == (a < b)",
    );
    w.prints(w.binary(Gt, less.clone(), a.clone()), "(a < b) > a");
    w.prints(
        w.binary(And, a.clone(), w.binary(Eq, a.clone(), b.clone())),
        "a & (a == b)",
    );
    w.prints(
        w.binary(Or, w.binary(And, a.clone(), b.clone()), b.clone()),
        "(a & b) | b",
    );
    w.prints(w.binary(Eq, not(a.clone()), b.clone()), "(!a) == b");
    w.prints(w.conditional(sum, a.clone(), b.clone()), "(a + b) ? a : b");
}

#[test]
fn no_two_tokens_grow_together() {
    let w = World::new();
    let a = w.atom("a");
    w.prints(neg(neg(a.clone())), "-(-a)");
    w.prints(neg(int(-1)), "-(-1)");
    w.prints(w.binary(Sub, a.clone(), int(-1)), "a - -1");
    w.prints(w.binary(Sub, a.clone(), neg(a.clone())), "a - -a");
    w.prints(w.binary(Div, a.clone(), w.atom("*q")), "a / *q");
    w.prints(Term::logical_and(a.clone(), w.atom("&q")), "a && &q");
    w.prints(not(not(a)), "!!a");
}

#[test]
fn constants_keep_their_spelling() {
    let w = World::new();
    let constant = |value, text: &str| Term::constant(value, CType::Int, text);
    w.prints(
        w.binary(Add, constant(97, "'a'"), constant(16, "0x10")),
        "'a' + 0x10",
    );
    w.prints(
        w.binary(Mul, constant(64, "MAX_LEN"), int(-1)),
        "MAX_LEN * -1",
    );
}

#[test]
fn a_term_is_put_in_parentheses_for_the_place_it_goes_to() {
    let w = World::new();
    let sum = w.binary(Add, w.atom("a"), w.atom("b"));
    let within = |least| sum.display_within(least, &w.atoms, &w.pointees).to_string();
    assert_eq!(within(Precedence::Assignment), "a + b");
    assert_eq!(within(Precedence::Additive), "a + b");
    assert_eq!(within(Precedence::Multiplicative), "(a + b)");
    assert_eq!(within(Precedence::Primary), "(a + b)");
}

#[test]
fn the_size_counts_every_node() {
    let w = World::new();
    assert_eq!(int(-5).size(), 1);
    let sum = w.binary(Add, w.atom("*q"), neg(int(1)));
    assert_eq!(sum.size(), 4);
    let cast = w.cast(CType::Long, w.conditional(sum.clone(), sum, int(0)));
    assert_eq!(cast.size(), 11);
}

#[test]
fn ill_typed_terms_are_refused_with_their_types() {
    let w = World::new();
    let build = |op, left: &str, right: &str| {
        Term::binary(op, w.atom(left), w.atom(right), &w.pointees)
            .expect_err("ill-typed")
            .to_string()
    };
    assert_eq!(
        build(Rem, "d", "a"),
        "operator `%` does not take operands of types double and int"
    );
    assert_eq!(
        build(Add, "h", "a"),
        "operator `+` cannot move or subtract pointers to type3, whose size is unknown"
    );
    assert_eq!(
        Term::unary(UnaryOp::Complement, w.atom("d")),
        Err(TypeError::Unary {
            op: "~",
            operand: CType::Double
        })
    );
    let assigned = compile(
        &w.atom("p"),
        Context::Convert(CType::Int),
        &w.atoms,
        &w.pointees,
    );
    assert_eq!(
        assigned.expect_err("needs a cast").to_string(),
        "a value of type pointer to type0 does not convert to type int"
    );
}

#[test]
fn compiled_terms_are_lazy_and_convert_to_their_context() {
    let w = World::new();
    let run = |term: &Term, context, slots: &[u64]| {
        let code = compile(term, context, &w.atoms, &w.pointees).expect("well-typed");
        evaluate(&code, slots, &[0, 0, 1, 1])
    };
    // a != 0 && 10 / a > b
    let quotient = w.binary(Div, int(10), w.atom("a"));
    let term = Term::logical_and(w.atom("a"), w.binary(Gt, quotient, w.atom("b")));
    assert_eq!(run(&term, Context::Same, &[0, 1, 0, 0]), Some(0));
    assert_eq!(run(&term, Context::Same, &[5, 1, 0, 0]), Some(1));
    // u is undefined in these states.
    let term = w.conditional(w.atom("a"), w.atom("u"), w.atom("b"));
    assert_eq!(run(&term, Context::Same, &[1, 1, 0, 0]), None);
    assert_eq!(
        run(&term, Context::Same, &[0, -1_i64 as u64, 0, 0]),
        Some(0xffff_ffff)
    );
    let to_char = Context::Convert(CType::Char);
    assert_eq!(
        run(&w.atom("a"), to_char, &[200, 0, 0, 0]),
        Some(-56_i64 as u64)
    );
    assert_eq!(run(&w.atom("a"), Context::Truth, &[200, 0, 0, 0]), Some(1));
}

#[test]
fn a_term_that_nests_too_deeply_is_refused() {
    let w = World::new();
    let nest = |depth: usize| {
        let term = (1..depth).fold(int(1), |term, _| w.binary(Add, int(1), term));
        compile(&term, Context::Same, &w.atoms, &w.pointees).map(|code| evaluate(&code, &[], &[]))
    };
    assert_eq!(nest(64), Ok(Some(64)));
    assert_eq!(nest(65), Err(CompileError::TooDeep { needed: 65 }));
}

#[test]
fn algebraic_detours_are_redundant_and_what_they_come_to_is_told() {
    let w = World::new();
    let (a, b, u, d, c) = (
        w.atom("a"),
        w.atom("b"),
        w.atom("u"),
        w.atom("d"),
        w.atom("c"),
    );
    let (p, q) = (w.atom("p"), w.atom("q"));
    let less = || w.binary(Lt, a.clone(), b.clone());
    let double = |value: f64| Term::literal(value.to_bits(), CType::Double).expect("a literal");
    let bin = |op, left: &Term, right: &Term| w.binary(op, left.clone(), right.clone());
    for (term, expected) in [
        (bin(Add, &a, &int(0)), Some("a")),
        (bin(Add, &c, &int(0)), Some("c")),
        (bin(Mul, &int(1), &a), Some("a")),
        (bin(Mul, &a, &int(0)), Some("0")),
        (bin(And, &a, &int(-1)), Some("a")),
        (bin(And, &u, &int(-1)), Some("u")),
        (bin(Or, &a, &int(-1)), Some("-1")),
        (bin(Sub, &u, &u), Some("0U")),
        (bin(Le, &a, &a), Some("1")),
        (bin(Lt, &u, &int(0)), Some("0")),
        (bin(Add, &b, &a), Some("a + b")),
        (bin(Add, &int(1), &a), Some("a + 1")),
        (bin(Add, &a, &neg(b.clone())), Some("a - b")),
        (bin(Add, &int(2), &int(3)), Some("5")),
        (bin(Add, &p, &int(0)), Some("p")),
        (bin(Add, &a, &p), Some("p + a")),
        (bin(Sub, &q, &q), Some("0L")),
        (neg(neg(a.clone())), Some("a")),
        (neg(int(4)), Some("-4")),
        (not(less()), Some("a >= b")),
        (not(not(less())), Some("a < b")),
        (w.cast(CType::Int, c.clone()), Some("c")),
        (Term::logical_and(int(1), a.clone()), Some("a != 0")),
        (Term::logical_or(a.clone(), int(7)), Some("1")),
        (Term::logical_and(less(), less()), Some("a < b")),
        (w.conditional(a.clone(), b.clone(), b.clone()), Some("b")),
        (w.conditional(p.clone(), int(1), int(0)), Some("p != 0")),
        (
            w.conditional(not(a.clone()), b.clone(), int(3)),
            Some("a ? 3 : b"),
        ),
        (bin(Mul, &d, &double(1.0)), Some("d")),
        // What looks alike, but is not.
        (bin(Add, &d, &int(0)), None),
        (bin(Sub, &d, &d), None),
        (bin(Eq, &d, &d), None),
        (not(bin(Lt, &d, &double(0.0))), None),
        (
            bin(Mul, &a, &Term::literal(1, CType::UInt).expect("a literal")),
            None,
        ),
        (bin(Lt, &a, &int(0)), None),
        (bin(Gt, &a, &b), None),
        (bin(Sub, &b, &a), None),
        (not(not(a.clone())), None),
        (w.cast(CType::Long, a.clone()), None),
        (w.cast(CType::Char, a.clone()), None),
        (bin(Add, &p, &a), None),
        (bin(Add, &q, &bin(Mul, &a, &b)), None),
    ] {
        let simpler = match term.simplification(&w.pointees) {
            Some(Simplification::Equal(term)) => Some(w.text(&term)),
            Some(Simplification::Undefined) => panic!("{} is defined", w.text(&term)),
            None => None,
        };
        assert_eq!(simpler.as_deref(), expected, "{}", w.text(&term));
        assert_eq!(term.is_redundant(&w.pointees), expected.is_some());
    }
    for term in [
        bin(Div, &a, &int(0)),
        bin(Rem, &u, &int(0)),
        bin(Shl, &a, &int(32)),
        bin(Shr, &a, &int(-1)),
        bin(Add, &int(i64::from(i32::MAX)), &int(1)),
    ] {
        let found = term.simplification(&w.pointees);
        assert_eq!(found, Some(Simplification::Undefined), "{}", w.text(&term));
    }
}
