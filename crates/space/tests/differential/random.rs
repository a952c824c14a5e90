//! Random terms and states, reproducible from a seed.

use patchwright_semantics::{BinaryOp, Ty, UnaryOp};
use patchwright_space::term::{
    Atom, AtomTable, CType, Context, Pointee, PointeeId, Pointees, Precedence, Term,
};
pub use patchwright_testkit::Random;

/// The program part that the terms belong to.
pub struct World {
    pub atoms: AtomTable,
    pub pointees: Pointees,
    /// C declarations of everything that the atoms mention.
    pub declarations: String,
    /// Pointer types whose pointee has a size.
    pub pointers: Vec<CType>,
    /// `void *`
    pub void_pointer: CType,
    /// The C spelling of each pointer type, by [`PointeeId`].
    pub pointer_names: Vec<String>,
}

impl World {
    pub fn new() -> Self {
        let mut pointees = Pointees::new();
        let mut add = |spelling: &str, size, unqualified| {
            pointees.add(Pointee {
                spelling: spelling.to_owned(),
                size,
                is_void: spelling.ends_with("void"),
                is_function: spelling.contains('('),
                is_const: spelling.starts_with("const "),
                is_alone: false,
                unqualified,
            })
        };
        let character = add("char", Some(1), None);
        let mut sized = vec![
            character,
            add("const char", Some(1), Some(character)),
            add("int", Some(4), None),
            add("struct triple", Some(12), None),
            add("double", Some(8), None),
        ];
        sized.push(add("int *", Some(8), None));
        let void = add("void", None, None);
        add("const void", None, Some(void));
        add("struct opaque", None, None);
        add("int (int)", None, None);
        let pointer_names = pointees
            .iter()
            .map(|(id, _)| {
                let spelling = pointees.pointer_spelling(id);
                spelling.unwrap_or_else(|| "function_pointer".to_owned())
            })
            .collect();
        let mut world = Self {
            atoms: AtomTable::new(),
            pointees,
            declarations: "struct triple { int part[3]; };\nstruct opaque;\n\
                           typedef int (*function_pointer)(int);\n\
                           enum { MAX_LEN = 64 };\n#define LIMIT 0x10\n"
                .to_owned(),
            pointers: sized.into_iter().map(CType::Pointer).collect(),
            void_pointer: CType::Pointer(void),
            pointer_names,
        };
        let mut types = CType::ARITHMETIC.to_vec();
        types.extend(&world.pointers);
        types.push(world.void_pointer);
        for form in 0..3 {
            for &ctype in &types {
                world.add_atom(ctype, form);
            }
        }
        world
    }

    /// Adds an atom that is written as a name, a dereferenced pointer or a member.
    fn add_atom(&mut self, ctype: CType, form: usize) {
        let slot = self.atoms.iter().count() as u32;
        let name = self.type_name(ctype);
        let (spelling, precedence, declaration) = match form {
            0 => (
                format!("v{slot}"),
                Precedence::Primary,
                format!("{name} v{slot};\n"),
            ),
            1 => (
                format!("*p{slot}"),
                Precedence::Unary,
                format!("{name} v{slot};\n{name} *p{slot} = &v{slot};\n"),
            ),
            _ => (
                format!("s{slot}.m[1]"),
                Precedence::Postfix,
                format!("struct {{ {name} m[2]; }} s{slot};\n"),
            ),
        };
        self.declarations.push_str(&declaration);
        self.atoms.add(Atom {
            spelling,
            precedence,
            ctype,
            slot,
        });
    }

    pub fn type_name(&self, ctype: CType) -> String {
        match ctype {
            CType::Pointer(PointeeId(id)) => self.pointer_names[id as usize].clone(),
            _ => ctype.to_string(),
        }
    }

    pub fn text(&self, term: &Term) -> String {
        term.display(&self.atoms, &self.pointees).to_string()
    }

    fn leaf(&self, random: &mut Random) -> Term {
        if random.percent(70) {
            let atoms: Vec<_> = self.atoms.iter().map(|(id, _)| id).collect();
            return Term::atom(random.one_of(&atoms), &self.atoms);
        }
        if random.percent(15) {
            return match random.below(4) {
                0 => Term::constant(97, CType::Int, "'a'"),
                1 => Term::constant(64, CType::Int, "MAX_LEN"),
                2 => Term::constant(16, CType::Int, "LIMIT"),
                _ => Term::constant(0, self.void_pointer, "NULL"),
            };
        }
        loop {
            let ctype = random.one_of(&CType::ARITHMETIC[6..]);
            let value = value(random, ctype.value_type());
            if let Ok(term) = Term::literal(value, ctype) {
                return term;
            }
        }
    }

    /// A random term with at most `depth` operators on a path.
    pub fn term(&self, random: &mut Random, depth: usize) -> Term {
        if depth == 0 || random.percent(15) {
            return self.leaf(random);
        }
        // Many combinations are ill-typed; the constructors sort them out.
        loop {
            let mut part = || self.term(random, depth - 1);
            let (a, b, c) = (part(), part(), part());
            let term = match random.below(20) {
                0..11 => Term::binary(random.one_of(&BinaryOp::ALL), a, b, &self.pointees),
                11..14 => Term::unary(random.one_of(&UnaryOp::ALL), a),
                14 => Ok(Term::logical_and(a, b)),
                15 => Ok(Term::logical_or(a, b)),
                16..18 => Term::conditional(a, b, c, &self.pointees),
                _ => {
                    let mut types = CType::ARITHMETIC.to_vec();
                    types.extend(&self.pointers[..2]);
                    Term::cast(random.one_of(&types), a, &self.pointees)
                }
            };
            if let Ok(term) = term {
                return term;
            }
        }
    }

    /// A random context that takes the term.
    pub fn context(&self, random: &mut Random, term: &Term) -> Context {
        match (random.below(10), term.ctype()) {
            (0..2, _) => Context::Truth,
            (2..4, CType::Pointer(_)) => Context::Convert(CType::Bool),
            (2..4, _) => Context::Convert(random.one_of(&CType::ARITHMETIC)),
            (4, ctype) if ctype.is_integer() => Context::Index(1 + random.below(12) as u64),
            _ => Context::Same,
        }
    }

    /// A random value for each atom's slot.
    pub fn state(&self, random: &mut Random) -> Vec<u64> {
        self.atoms
            .iter()
            .map(|(_, atom)| value(random, atom.ctype.value_type()))
            .collect()
    }
}

/// A random canonical value: mostly small, so that operators are defined and values coincide, else
/// at the edge of some type, else any.
fn value(random: &mut Random, ty: Ty) -> u64 {
    let kind = random.below(10);
    let small = random.below(14) as i64 - 3;
    match ty {
        Ty::F32 | Ty::F64 => {
            let edges = [
                -0.0,
                0.5,
                -0.9,
                127.9,
                255.5,
                65_536.0,
                2_147_483_648.0,
                4_294_967_295.9,
                9_223_372_036_854_775_808.0,
                1.8e19,
                1e38,
                1e300,
                f64::INFINITY,
                f64::NAN,
                1e-300,
            ];
            let number = match kind {
                0..5 => small as f64,
                5..7 => small as f64 / 4.0,
                7..9 => random.one_of(&edges),
                _ => (random.next() as i64) as f64 / 1e9,
            };
            match ty {
                Ty::F32 => u64::from((number as f32).to_bits()),
                _ => number.to_bits(),
            }
        }
        Ty::Ptr => match kind {
            0 => 0,
            1 => 0x5000_0000 + random.below(200) as u64,
            2 => random.one_of(&[1, 4, u64::MAX, u64::MAX - 3, 1 << 63, (1 << 63) - 1]),
            // The least common multiple of the sizes of the objects, so that differences divide.
            _ => 0x5000_0000 + 24 * random.below(6) as u64,
        },
        _ => {
            let bit = random.one_of(&[0, 3, 4, 5, 7, 8, 15, 16, 31, 32, 62, 63]);
            let raw = match kind {
                0..6 => small as u64,
                6..8 => (1_u64 << bit).wrapping_sub(random.below(2) as u64),
                8 => u64::MAX << bit,
                _ => random.next(),
            };
            ty.canonical(raw)
        }
    }
}
