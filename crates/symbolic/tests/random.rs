//! Random functions: for every input that is tried, what the encoding says happens is what the
//! interpreter does. `PATCHWRIGHT_RANDOM=N` tries N programs, `PATCHWRIGHT_SEED=S` begins with seed S.

use crate::common::{
    encoded, generate,
    two_bytes::{HARNESS, entry, interpreted, options, said},
    with_reader,
};

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn what_is_encoded_is_what_is_executed() {
    let (count, first) = (
        patchwright_testkit::cases(14, 40),
        number("PATCHWRIGHT_SEED", 1),
    );
    let harness = with_reader(|reader| reader.module(HARNESS, "harness.c"));
    let (entry, options) = (entry(), options());
    let (mut compared, mut unknown) = (0, 0);
    for seed in first..first + count {
        let source = generate::program(seed);
        let module = with_reader(|reader| reader.module(&source, "program.c"));
        let program = with_reader(|reader| reader.program(&source));
        let (terms, encoding) = encoded(&program, &entry, &options);
        let modules = [module, harness.clone()];
        let mut random = generate::Random(seed);
        for _ in 0..60 {
            let (a, b) = (random.below(256) as u8, random.below(256) as u8);
            let expected = interpreted(&modules, a, b);
            match said(&terms, &encoding, a, b) {
                None => unknown += 1,
                Some(found) => {
                    compared += 1;
                    assert_eq!(
                        found, expected,
                        "seed {seed}, a = {}, b = {b}:\n{source}",
                        a as i8
                    );
                }
            }
        }
    }
    println!("{count} programs, {compared} inputs compared, {unknown} unknown");
    assert!(
        compared > unknown * 4,
        "{compared} compared, {unknown} unknown"
    );
}
