//! Members of structures are told apart where that is right, and are not where a program looks at them in another way.

use crate::common::{at, backward, output, program};
use patchwright_dependence::{Graph, reduce};
use patchwright_ir::{Program, verify};

/// Each line of a program that prints something prints the same in the program that is reduced to its slice.
fn assert_reductions_print_the_same(source: &str, program: &Program) {
    let graph = Graph::of(program);
    let whole = output(program.modules.clone());
    let mut expected = whole.lines();
    for (number, line) in source.lines().enumerate() {
        if !line.starts_with("printf") {
            continue;
        }
        let reduced = reduce(&graph, &at(&graph, number as u32 + 1, None));
        for module in &reduced.modules {
            assert_eq!(verify(module), Ok(()));
        }
        let printed = output(reduced.modules);
        assert_eq!(
            printed.trim_end(),
            expected.next().expect("a line for each printf"),
            "line {}: {line}",
            number + 1
        );
    }
    assert_eq!(expected.next(), None);
}

/// Checks what is in the slices of lines (`Ok`), and what is not (`Err`); lines count from 1.
fn check(source: &str, slices: &[(u32, &[u32], &[u32])]) {
    let program = program(source);
    let graph = Graph::of(&program);
    for &(line, with, without) in slices {
        let slice = backward(&graph, line);
        for wanted in with {
            assert!(
                slice.contains(wanted),
                "{wanted} is not in that of {line}: {slice:?}"
            );
        }
        for other in without {
            assert!(
                !slice.contains(other),
                "{other} is in that of {line}: {slice:?}"
            );
        }
    }
    assert_reductions_print_the_same(source, &program);
}

#[test]
fn members_of_objects_wherever_they_are_have_values_of_their_own() {
    check(
        "int printf(const char *, ...); void *malloc(unsigned long);
struct s { int a; int b; struct { int c, d; } in; };
static struct s global;
static void set(struct s *p, int v) {
p->a = v;
p->b = v + 1;
p->in.d = v + 2; }
int main(void) {
struct s local;
struct s *heap = malloc(sizeof *heap);
local.a = 3;
local.b = 4;
local.a = 5;
set(&global, 7);
heap->a = 8;
heap->b = 9;
heap->in.c = 10;
printf(\"%d\\n\", local.a);
printf(\"%d\\n\", local.b);
printf(\"%d\\n\", global.in.d);
printf(\"%d\\n\", heap->b);
printf(\"%d\\n\", heap->in.c);
return 0; }
",
        &[
            (18, &[13], &[11, 12]),
            (19, &[12], &[11, 13]),
            (20, &[7, 14], &[5, 6]),
            (21, &[16], &[15, 17]),
            (22, &[17], &[15, 16]),
        ],
    );
}

#[test]
fn members_of_elements_of_arrays_are_told_apart_and_their_elements_are_not() {
    check(
        "int printf(const char *, ...); void *malloc(unsigned long);
struct s { int a; int b; long c; };
static struct s table[8];
int main(void) {
struct s *many = malloc(8 * sizeof *many), *p;
for (int i = 0; i < 8; i++) {
table[i].a = i;
table[i].b = 2 * i;
p = many + i;
p->a = 3 * i;
p->c = 4 * i; }
table[3].b = 50;
int n = 0;
for (p = many; p < many + 8; p++)
n += p->c;
printf(\"%d\\n\", table[2].a);
printf(\"%d\\n\", table[4].b);
printf(\"%d\\n\", n);
return 0; }
",
        &[
            (16, &[7], &[8, 10, 12]),
            (17, &[8, 12], &[7, 10]),
            (18, &[11], &[7, 8, 10]),
        ],
    );
}

#[test]
fn an_array_in_a_structure_is_one_thing_and_the_members_around_it_are_others() {
    check(
        "int printf(const char *, ...); void *memset(void *, int, unsigned long);
struct s { int length; char text[12]; int numbers[4]; int last; };
static struct s x;
static void fill(char *to, int n) {
for (int i = 0; i < n; i++)
to[i] = 'a' + i; }
int main(void) {
x.length = 4;
x.last = 5;
fill(x.text, x.length);
memset(x.numbers, 1, sizeof x.numbers);
int *p = x.numbers;
p += 2;
*p = 9;
printf(\"%d\\n\", x.last);
printf(\"%d\\n\", x.numbers[2]);
printf(\"%c\\n\", x.text[2]);
return 0; }
",
        &[
            (15, &[9], &[6, 8, 11, 14]),
            (16, &[11, 14], &[6, 9]),
            (17, &[6, 8], &[9, 11, 14]),
        ],
    );
}

#[test]
fn pointers_and_functions_in_members_are_those_of_their_member() {
    check(
        "int printf(const char *, ...); void *memcpy(void *, const void *, unsigned long);
struct ops { int (*first)(int); int *count; int (*second)(int); };
static int n, m;
static int one(int k) { return k + 1; }
static int two(int k) { return k + 2; }
static int three(int k) { return k + 3; }
static const struct ops table[2] = { { one, &n, two }, { three, &m, three } };
int main(int argc, char **argv) {
struct ops copy = table[0], other, third[2];
memcpy(&other, &copy, sizeof other);
third[argc & 1] = other;
*copy.count = 4;
*table[1].count = 6;
printf(\"%d\\n\", other.second(1));
printf(\"%d\\n\", third[1].first(1));
printf(\"%d\\n\", n);
return 0; }
",
        &[(14, &[5], &[4]), (15, &[4], &[5]), (16, &[12], &[])],
    );
}

#[test]
fn what_looks_at_members_in_another_way_sees_them_all() {
    check(
        "int printf(const char *, ...); void *memcpy(void *, const void *, unsigned long); void *memset(void *, int, unsigned long);
#define CONTAINER(p) ((struct s *)((char *)(p) - __builtin_offsetof(struct s, in)))
union u { struct { int low, high; } part; long whole; unsigned char bytes[8]; };
struct in { int x; };
struct s { int a, b; struct in in; int tail[1]; };
struct flat { int f[4]; };
static void outer(struct in *p) {
CONTAINER(p)->b = 21; }
int main(int argc, char **argv) {
union u u;
u.whole = 0x500000003;
printf(\"%d\\n\", u.part.high);
u.bytes[argc + 3] = 6;
printf(\"%d\\n\", u.part.high);
struct s s = { 1, 2, { 3 }, { 4 } }, t;
unsigned char *bytes = (unsigned char *)&s;
for (int i = 0; i < (int)sizeof s; i++)
bytes[i] ^= 1;
printf(\"%d\\n\", s.in.x);
int *walk = &s.a;
walk[argc] = 17;
printf(\"%d\\n\", s.b);
outer(&s.in);
printf(\"%d\\n\", s.b);
memcpy(&t.b, &s.b, 2 * sizeof(int));
printf(\"%d\\n\", t.in.x);
struct flat flat;
memcpy(&flat, &s, sizeof flat);
printf(\"%d\\n\", flat.f[argc + 1]);
char *move = (char *)&s + 4;
*(int *)(move + 4) = 33;
printf(\"%d\\n\", s.in.x);
unsigned long number = (unsigned long)&s;
*(int *)(number + 8) = 34;
printf(\"%d\\n\", s.in.x);
memset(&s.b, 0, 2 * sizeof(int));
printf(\"%d\\n\", s.in.x);
return 0; }
",
        &[
            (12, &[11], &[]),
            (14, &[13], &[]),
            (19, &[18, 15], &[]),
            (22, &[21], &[]),
            (24, &[8, 23], &[]),
            (26, &[18, 25], &[]),
            (29, &[18, 28], &[]),
            (32, &[31], &[]),
            (35, &[34], &[]),
            (37, &[36], &[]),
        ],
    );
}

#[test]
fn arrays_at_the_end_of_allocations_are_as_long_as_these() {
    check(
        "int printf(const char *, ...); void *malloc(unsigned long); void *realloc(void *, unsigned long);
struct list { int count; int capacity; long items[1]; };
static struct list *grown(struct list *l) {
return realloc(l, sizeof *l + 2 * l->capacity * sizeof(long)); }
int main(void) {
struct list *l = malloc(sizeof *l + 4 * sizeof(long));
l->capacity = 4;
l->count = 0;
for (int i = 0; i < 4; i++)
l->items[l->count++] = 10 * i;
l = grown(l);
l->items[6] = 60;
printf(\"%ld\\n\", l->items[3]);
printf(\"%d\\n\", l->count);
return 0; }
",
        &[(13, &[10, 11], &[]), (14, &[8, 10], &[12])],
    );
}

#[test]
fn a_recursive_function_sees_the_local_that_it_was_handed_and_no_other() {
    check(
        "int printf(const char *, ...);
static int down(int n, int *best) {
int mine = n;
if (n > 0)
down(n - 1, &mine);
if (best)
*best += mine;
return mine; }
static int other(int n) {
int own = n;
int seen = 0;
if (n > 0)
seen = other(n - 1);
int *p = &own;
*p += seen;
return own; }
int main(void) {
int top = 100;
down(3, &top);
printf(\"%d\\n\", top);
printf(\"%d\\n\", other(4));
return 0; }
",
        &[
            (20, &[3, 5, 7, 18, 19], &[15]),
            (21, &[10, 13, 15], &[7, 18]),
        ],
    );
}
