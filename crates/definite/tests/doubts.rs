//! What may be used without a value, and what may not.

use patchwright_csource::TranslationUnit;
use patchwright_definite::{Analysis, Compared};
use patchwright_testkit::Reader;

fn read(source: &str) -> (TranslationUnit, String) {
    Reader::new().read("unit.c", source)
}

/// Each function `f` of the source that has a patched one beside it, `f_patched`, with what is said of that.
fn compared(source: &str) -> impl Fn(&str) -> Compared {
    let (unit, path) = read(source);
    let analysis = Analysis::with_clones(&unit, &path, |name| name.ends_with("_patched"));
    move |name| {
        analysis
            .doubt_of_clone(name, &format!("{name}_patched"))
            .unwrap_or_else(|| panic!("{name} is there"))
    }
}

#[track_caller]
fn is_doubted(compared: &Compared, words: &str) {
    let text = compared.doubt.as_ref().map_or("", |doubt| &doubt.text);
    assert!(text.contains(words), "{words}: {compared:?}");
}

#[track_caller]
fn is_fine(compared: &Compared) {
    assert!(
        compared.is_whole && compared.doubt.is_none(),
        "{compared:?}"
    );
}

#[test]
fn a_variable_without_a_value_is_seen_however_it_is_used() {
    let said = compared(
        "int printf(const char *, ...);
         static void tell(const char *text) { printf(\"%s\", text); }
         void handed(int n) { const char *t; if (n) t = \"a\"; else t = \"b\"; tell(t); }
         void handed_patched(int n) { const char *t; if (n) t = \"a\"; tell(t); }
         int added(int n) { int x = 1; for (; n; n--) x += n; return x; }
         int added_patched(int n) { int x; for (; n; n--) x += n; return x; }
         int chosen(int n) { int x; switch (n) { case 1: x = 1; break; default: x = 2; } return x; }
         int chosen_patched(int n) { int x; switch (n) { case 1: x = 1; break; case 2: x = 2; } return x; }
         int ended(int n) { if (n) return 1; return 2; }
         int ended_patched(int n) { if (n) return 1; }
         int same(int n) { int x; if (n) x = 1; else x = 2; return x; }
         int same_patched(int n) { int x; if (n > 3) x = 7; else x = n; return x; }",
    );
    is_doubted(&said("handed"), "`t` may be used without a value");
    is_doubted(&said("added"), "`x` may be used without a value");
    is_doubted(&said("chosen"), "`x` may be used without a value");
    is_doubted(&said("ended"), "without the value that it has to return");
    is_fine(&said("same"));
}

#[test]
fn a_call_without_a_prototype_gives_all_that_the_function_takes() {
    let said = compared(
        "static long sum(a, b) int a; long b; { return a + b; }
         static int letter(c) char c; { return c == 'a'; }
         long fewer(int n) { return sum(n, 2L); }
         long fewer_patched(int n) { return sum(n); }
         long more(int n) { return sum(n, 2L) + letter('b'); }
         long more_patched(int n) { return sum(n + 1, 3L, 4) + letter('a'); }",
    );
    is_doubted(&said("fewer"), "`sum` may use a parameter without a value");
    is_fine(&said("more"));
}

#[test]
fn arrays_members_and_memory_are_objects_like_others() {
    let said = compared(
        "typedef unsigned long size_t;
         void *malloc(size_t); void *memset(void *, int, size_t); size_t strlen(const char *);
         struct s { int a, b; char name[8]; };
         int array(int n) { int a[4]; a[0] = n; a[1] = 2; return a[1]; }
         int array_patched(int n) { int a[4]; a[0] = n; return a[1]; }
         int filled(int n) { int a[4]; for (int i = 0; i < 4; i++) a[i] = i; return a[n]; }
         int filled_patched(int n) { int a[4]; for (int i = 0; i < 4; i++) ; return a[n]; }
         int fewer(int n) { int a[4]; for (int i = 0; i < 4; i++) a[i] = i; return a[n]; }
         int fewer_patched(int n) { int a[4]; for (int i = 0; i < 3; i++) a[i] = i; return a[n]; }
         int member(int n) { struct s s; s.a = n; s.b = 1; return s.a + s.b; }
         int member_patched(int n) { struct s s; s.a = n; return s.a + s.b; }
         int cleared(int n) { struct s s; memset(&s, 0, sizeof s); s.a = n; return s.b; }
         int cleared_patched(int n) { struct s s; s.a = n; return s.b; }
         size_t text(int n) { char t[4]; t[0] = 0; return strlen(t) + n; }
         size_t text_patched(int n) { char t[4]; return strlen(t) + n; }
         int heap(int n) { struct s *p = malloc(sizeof *p); p->a = n; p->b = 2; return p->b; }
         int heap_patched(int n) { struct s *p = malloc(sizeof *p); p->a = n; return p->b; }
         struct s *made(int n) { struct s *p = malloc(sizeof *p); p->a = n; p->b = 2; return p; }
         struct s *made_patched(int n) { struct s *p = malloc(sizeof *p); p->a = n; return p; }
         int whole(int n) { struct s s = { n }; struct s t = s; return t.b; }
         int whole_patched(int n) { struct s s = { 2 }; struct s t = s; return t.a + n; }",
    );
    is_doubted(&said("array"), "`a` from byte 4 on may be used without");
    is_doubted(&said("filled"), "something of `a`");
    is_doubted(&said("fewer"), "something of `a`");
    is_doubted(&said("member"), "`s` from byte 4 on");
    is_doubted(&said("cleared"), "`s` from byte 4 on");
    is_doubted(&said("text"), "by `strlen`");
    is_doubted(&said("heap"), "memory that `malloc` gives from byte 4 on");
    is_doubted(&said("made"), "handed on with less of it written");
    is_fine(&said("whole"));
}

#[test]
fn callers_are_looked_at_again_where_an_out_parameter_is_written_no_more() {
    let said = compared(
        "static void put(int *out) { *out = 1; }
         static void put_patched(int *out) { (void)out; }
         static int get(const char *t, int *out) { if (!t) return 0; *out = *t; return 1; }
         static int get_patched(const char *t, int *out) { if (!t) return 1; *out = *t; return 1; }
         static int other(const char *t, int *out) { if (!t) return 0; *out = *t; return 1; }
         static int other_patched(const char *t, int *out) { if (!t) return 0; *out = *t + 1; return 1; }
         struct s { int a, b; };
         static void start(struct s *s) { s->a = 0; s->b = 1; }
         static void start_patched(struct s *s) { s->a = 0; }
         static void reset(struct s *s) { s->a = 0; s->b = 1; }
         static void reset_patched(struct s *s) { s->a = 0; }
         void unseen(int *out) { *out = 1; }
         void unseen_patched(int *out) { if (!out) *out = 1; }
         int user(const char *t) {
             int a, b, c; struct s s, r = { 1, 2 };
             put(&a); start(&s); reset(&r);
             if (!get(t, &b)) return 0;
             if (!other(t, &c)) return 0;
             return a + b + c + s.b + r.b;
         }",
    );
    is_doubted(&said("put"), "`a` may be used without a value");
    is_doubted(&said("get"), "the patch changes what decides");
    is_fine(&said("other"));
    is_doubted(&said("start"), "`s` from byte 4 on");
    is_fine(&said("reset"));
    is_doubted(
        &said("unseen"),
        "without having written what `out` points to",
    );
}

#[test]
fn conditions_that_agree_are_no_reason_until_a_patch_touches_one() {
    let said = compared(
        "int f(int n, int m) { int x, y = 0; if (n > 1) x = m; if (m) y = 2; if (n > 1) y += x; return y; }
         int f_patched(int n, int m) { int x, y = 0; if (n > 1) x = m; if (m > 3) y = 5; if (n > 1) y += x; return y; }
         int g(int n, int m) { int x, y = 0; if (n > 1) x = m; if (m) y = 2; if (n > 1) y += x; return y; }
         int g_patched(int n, int m) { int x, y = 0; if (n > 2) x = m; if (m) y = 2; if (n > 1) y += x; return y; }
         int h(int n, int m) { int x, k = n + m; if (k) x = m; if (k) return x; return 0; }
         int h_patched(int n, int m) { int x, k = n + m; if (k) x = m; k = 1; if (k) return x; return 0; }",
    );
    is_fine(&said("f"));
    is_doubted(&said("g"), "the patch changes what decides");
    is_doubted(&said("h"), "the patch changes what decides");
}

#[test]
fn what_the_result_of_a_call_says_is_relied_on_as_long_as_it_is_checked() {
    let said = compared(
        "int parse(const char *, int *); int other(const char *, int *); void use(int); void say(void);
         int sscanf(const char *, const char *, ...);
         void before(const char *t, int n) { int x; if (n > 3) say(); if (*t == '-' && parse(t, &x) == 0) use(x); }
         void before_patched(const char *t, int n) { int x; if (n > 4) return; if (*t != '-' && parse(t, &x) == 0) use(x); }
         void kept(const char *t) { int x, r; r = parse(t, &x); if (r < 0) return; use(x); }
         void kept_patched(const char *t) { int x, r; say(); t++; r = parse(t, &x); if (r < 0) return; use(x + 1); }
         void turned(const char *t) { int x; if (parse(t, &x) == 0) use(x); }
         void turned_patched(const char *t) { int x; if (parse(t, &x) != 0) use(x); }
         void unchecked(const char *t) { int x; if (parse(t, &x) == 0) use(x); }
         void unchecked_patched(const char *t) { int x; parse(t, &x); use(x); }
         void called(const char *t) { int x; if (parse(t, &x) == 0) use(x); }
         void called_patched(const char *t) { int x; if (other(t, &x) == 0) use(x); }
         void counted(const char *t) { int x, y; if (sscanf(t, \"%d %d\", &x, &y) < 2) return; use(y); }
         void counted_patched(const char *t) { int x, y; if (sscanf(t, \"%d %d\", &x, &y) < 1) return; use(y); }
         void format(const char *t) { int x, y; if (sscanf(t, \"%d %d\", &x, &y) < 2) return; use(y); }
         void format_patched(const char *t) { int x, y; if (sscanf(t, \"%d %*d\", &x, &y) < 2) return; use(y); }
         char *line(char *, int);
         void part(void) { char t[8]; if (line(t, 8) && t[0] > 3 && t[1]) use(t[1]); }
         void part_patched(void) { char t[8]; if (line(t, 8) && t[1]) use(t[1]); }
         void either(const char *t, int n) { int x; if (parse(t, &x) == 0 || n) use(x); }
         void either_patched(const char *t, int n) { int x; if (n > 1) n--; if (parse(t, &x) == 0 || n) use(x); }
         void again(const char *t) { int x, r = 1; for (;;) { if (r == 0) use(x); r = parse(t, &x); } }
         void again_patched(const char *t) { int x, r = 0; for (;;) { if (r == 0) use(x); r = parse(t, &x); } }",
    );
    for name in ["before", "kept"] {
        is_fine(&said(name));
    }
    for name in [
        "turned",
        "unchecked",
        "called",
        "counted",
        "format",
        "either",
        "part",
        "again",
    ] {
        assert!(said(name).doubt.is_some(), "{name}");
    }
}

#[test]
fn who_checks_the_result_of_a_function_relies_on_what_that_function_writes() {
    let said = compared(
        "void use(int);
         static int get(int n, int *to) { if (n < 0) return -1; *to = n; return 0; }
         static int get_patched(int n, int *to) { if (n < 5) return 0; *to = n; return 0; }
         void caller(int n) { int x; if (get(n, &x) == 0) use(x); }",
    );
    assert!(said("get").doubt.is_some());
}

#[test]
fn who_calls_itself_is_compared_with_itself() {
    let said = compared(
        "static int down(int n, int *out) { if (n) return down(n - 1, out); *out = n; return 1; }
         static int down_patched(int n, int *out) { if (n > 2) return down(n - 1, out); *out = n; return 2; }
         int user(int n) { int x; down(n, &x); return x; }",
    );
    let said = said("down");
    assert!(said.is_whole);
}

#[test]
fn another_place_in_an_array_of_the_frame_is_noticed() {
    let said = compared(
        "int f(int n) { int a[4] = { 0 }; int s = 0; for (int i = 0; i < n; i++) a[i] = i; s += a[n]; return s; }
         int f_patched(int n) { int a[4] = { 0 }; int s = 0; for (int i = 0; i <= n; i++) a[i] = i; s += a[n]; return s; }
         int g(int n) { int a[4] = { 0 }; int s = 0; for (int i = 0; i < n; i++) a[i] = i; s += a[n]; return s; }
         int g_patched(int n) { int a[4] = { 0 }; int s = 1; for (int i = 0; i < n; i++) a[i] = i; s -= a[n]; return s; }",
    );
    assert!(said("f").indexes_otherwise);
    assert!(!said("g").indexes_otherwise);
}

#[test]
fn two_versions_of_a_file_are_compared_function_by_function() {
    let text = "static int get(int n, int *out) { if (n) *out = 1; return n; }
                int f(int n) { int x; return get(n, &x) ? x : 0; }\n";
    let (untouched, path) = read(text);
    let (patched, other) = read(&text.replace("return n;", "return 1;"));
    let untouched = Analysis::of(&untouched, &path);
    let patched = Analysis::of(&patched, &other);
    let doubts = untouched.doubts(&patched);
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert_eq!(doubts[0].function, "get");
    assert!(untouched.doubts(&untouched).is_empty());
}

#[test]
fn what_is_new_in_a_function_is_told_without_what_others_are_given() {
    let text = "struct s { int a, b; };
                struct s *fresh(void);
                static struct s *make(void) { return __builtin_malloc(sizeof(struct s)); }
                int f(int n) { struct s *p = make(); int r = p != 0; p->a = n; p->b = n; return r + p->a; }
                int g(int n, int *out) { *out = 1; return n; }
                int h(int n, int m) { int x; if (n > 1) x = m; if (m) n = 2; if (n > 1) n += x; return n; }\n";
    let said = |from: &str, to: &str, function: &str| {
        assert!(text.contains(from), "{from}");
        let (untouched, path) = read(text);
        let (patched, other) = read(&text.replacen(from, to, 1));
        let (untouched, patched) = (
            Analysis::of(&untouched, &path),
            Analysis::of(&patched, &other),
        );
        let doubt = untouched.new_use(&patched, function);
        assert!(doubt.is_none() || patched.has_uses(function), "{doubt:?}");
        (doubt.map(|doubt| doubt.text), patched.has_uses(function))
    };
    let (doubt, has_uses) = said("p != 0", "p->a < p->b", "f");
    assert!(doubt.is_some() && has_uses);
    // There is nothing to compare with the untouched function.
    assert_eq!(said("p != 0", "p == 0", "f"), (None, false));
    // Callers may rely on it, and this is not about them.
    assert_eq!(said("*out = 1;", "if (n) *out = 1;", "g"), (None, false));
    // Both may, as far as the flow of control shows it.
    assert_eq!(said("if (m) n = 2", "if (m) n = 1", "h"), (None, true));
}
