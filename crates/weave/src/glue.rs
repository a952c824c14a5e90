//! The lines of C in front of a woven file.

use patchwright_ctext::{Kind, Piece, Token, pieces};
use patchwright_probe_abi::{
    ATTACH_DONE, ATTACH_PLACES_SYMBOL, CHANNEL_FILE, CHANNEL_VARIABLE, ENTRY_SYMBOLS, FunctionId,
    HoleId, PLACES_VERSION, PROBE_FILE, PROBE_VARIABLE, PlaceId, RUN_FOLDER, SELECTED_CANDIDATE,
    SELECTED_COVERAGE, UNIT_VERSION,
};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Diagnostics that woven code may trigger where the original did not. Those that one compiler does not know are
/// ignored by the first two; the third is all of clang's.
const IGNORED: &[&str] = &[
    "-Wpragmas",
    "-Wunknown-warning-option",
    "-Weverything",
    "-Wpedantic",
    "-Wunknown-pragmas",
    "-Waddress",
    "-Walloca",
    "-Walloca-larger-than=",
    "-Waggregate-return",
    "-Warith-conversion",
    "-Warray-bounds",
    "-Wattributes",
    "-Wbad-function-cast",
    "-Wbool-compare",
    "-Wbool-operation",
    "-Wc++-compat",
    "-Wc90-c99-compat",
    "-Wc99-c11-compat",
    "-Wcast-align",
    "-Wcast-function-type",
    "-Wcast-qual",
    "-Wconversion",
    "-Wdangling-else",
    "-Wdangling-pointer",
    "-Wdate-time",
    "-Wdeclaration-after-statement",
    "-Wdisabled-optimization",
    "-Wdouble-promotion",
    "-Wduplicated-branches",
    "-Wduplicated-cond",
    "-Wempty-body",
    "-Wenum-compare",
    "-Wenum-conversion",
    "-Wfloat-conversion",
    "-Wfloat-equal",
    "-Wformat-nonliteral",
    "-Wformat-overflow",
    "-Wformat-security",
    "-Wformat-truncation",
    "-Wframe-larger-than=",
    "-Wimplicit-fallthrough",
    "-Winit-self",
    "-Winline",
    "-Wint-conversion",
    "-Wint-in-bool-context",
    "-Wint-to-pointer-cast",
    "-Wjump-misses-init",
    "-Wlarger-than=",
    "-Wlogical-not-parentheses",
    "-Wlogical-op",
    "-Wlong-long",
    "-Wmaybe-uninitialized",
    "-Wmisleading-indentation",
    "-Wmissing-declarations",
    "-Wmissing-noreturn",
    "-Wmissing-prototypes",
    "-Wnested-externs",
    "-Wnonnull",
    "-Wnonnull-compare",
    "-Wnull-dereference",
    "-Wold-style-definition",
    "-Woverflow",
    "-Woverlength-strings",
    "-Wpadded",
    "-Wparentheses",
    "-Wpointer-to-int-cast",
    "-Wredundant-decls",
    "-Wrestrict",
    "-Wreturn-local-addr",
    "-Wreturn-type",
    "-Wsequence-point",
    "-Wshadow",
    "-Wsign-compare",
    "-Wsign-conversion",
    "-Wstack-usage=",
    "-Wstatic-in-inline",
    "-Wstrict-aliasing",
    "-Wstrict-overflow",
    "-Wstrict-prototypes",
    "-Wstringop-overflow",
    "-Wstringop-overread",
    "-Wstringop-truncation",
    "-Wsuggest-attribute=cold",
    "-Wsuggest-attribute=const",
    "-Wsuggest-attribute=format",
    "-Wsuggest-attribute=malloc",
    "-Wsuggest-attribute=noreturn",
    "-Wsuggest-attribute=pure",
    "-Wswitch-bool",
    "-Wswitch-unreachable",
    "-Wtautological-compare",
    "-Wtraditional",
    "-Wtraditional-conversion",
    "-Wtype-limits",
    "-Wundef",
    "-Wuninitialized",
    "-Wunreachable-code",
    "-Wunsafe-loop-optimizations",
    "-Wunused",
    "-Wunused-but-set-parameter",
    "-Wunused-but-set-variable",
    "-Wunused-const-variable",
    "-Wunused-function",
    "-Wunused-label",
    "-Wunused-macros",
    "-Wunused-value",
    "-Wunused-variable",
    "-Wuse-after-free",
    "-Wvector-operation-performance",
    "-Wvla",
    "-Wvla-larger-than=",
    "-Wwrite-strings",
    "-Wzero-as-null-pointer-constant",
];

/// What all woven files of a translation unit share.
///
/// The glue maps the probe by system calls and allocates nothing. So it works in programs that are linked statically, that
/// define names of libc themselves, or that have no libc at all. The one symbol from elsewhere is `environ`, declared under a
/// name of our own, and weakly. All units of a program or of a shared library use one image, which they know by a symbol that
/// the linker merges.
///
/// Elsewhere than on x86-64 Linux nothing is mapped, and nothing selected.
///
/// `__PW_LINKED(f)` declares `__pw_linked_f`, which is `f` if the program is linked with it, and else null;
/// `__pw_absent` ends a process that would call it all the same.
const SHARED: &str = r#"#ifndef __PW_GLUE
#define __PW_GLUE
typedef unsigned long __pw_u64;
typedef unsigned long __pw_uptr;
struct __pw_unit {
  unsigned version, function_count, hole_count, found_by_path;
  unsigned char *functions; const unsigned *function_ids;
  unsigned char *holes; const unsigned *hole_ids;
  __pw_u64 (*value)(unsigned, const __pw_u64 *, unsigned);
  void (*mark)(unsigned, unsigned char *);
  void *(*poisoned)(void *, unsigned long);
  __pw_u64 watch;
  unsigned (*enter)(unsigned, __pw_u64 *);
  void (*visit)(unsigned, const __pw_u64 *, unsigned);
  unsigned (*touch)(__pw_u64 *);
  void (*begin)(void);
};
#define __PW_WEAK(name) __asm__(name) __attribute__((__weak__,__visibility__("default")))
#define __PW_LINKED(f) extern __typeof__(f) __pw_linked_##f __PW_WEAK(#f)
#define __PW_OURS __attribute__((__unused__,__no_instrument_function__))
#define __PW_COLD __attribute__((__unused__,__no_instrument_function__,__noinline__,__cold__))
extern void *__pw_poisoned(void *, unsigned long) __PW_WEAK("__asan_region_is_poisoned");
union __pw_float { float f32; double f64; __pw_u64 u64; };
static __inline__ __PW_OURS __pw_u64 __pw_f32(float x) { union __pw_float u; u.u64 = 0; u.f32 = x; return u.u64; }
static __inline__ __PW_OURS __pw_u64 __pw_f64(double x) { union __pw_float u; u.f64 = x; return u.u64; }
static __inline__ __PW_OURS float __pw_as_f32(__pw_u64 x) { union __pw_float u; u.u64 = x; return u.f32; }
static __inline__ __PW_OURS double __pw_as_f64(__pw_u64 x) { union __pw_float u; u.u64 = x; return u.f64; }
static __pw_u64 __attribute__((__noinline__)) __PW_OURS __pw_first_bit(const void *object, unsigned long size) {
  const unsigned char *bytes = (const unsigned char *)object;
  unsigned long at;
  for (at = 0; at < size; at++)
    if (bytes[at]) return at * 8 + (__pw_u64)__builtin_ctz(bytes[at]);
  return 0;
}
static void __attribute__((__noinline__)) __PW_OURS __pw_put(void *at, unsigned long size, __pw_u64 x) {
  switch (size) {
  case 1: __builtin_memcpy(at, &x, 1); break;
  case 2: __builtin_memcpy(at, &x, 2); break;
  case 4: __builtin_memcpy(at, &x, 4); break;
  default: __builtin_memcpy(at, &x, 8);
  }
}
#if defined __x86_64__ && defined __LP64__ && defined __linux__
extern char **__pw_environ __PW_WEAK("environ");
struct __pw_image { __pw_u64 entries[ENTRY_COUNT], relocations, relocation_count, fixed; };
typedef int (*__pw_attach)(struct __pw_unit *, const char *);
extern const struct __pw_image *__pw_loaded;
__attribute__((__weak__,__visibility__("hidden"))) const struct __pw_image *__pw_loaded = 0;
extern __pw_u64 __pw_base;
__attribute__((__weak__,__visibility__("hidden"))) __pw_u64 __pw_base = 0;
static long __PW_COLD __pw_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ __volatile__("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
    : "rcx", "r11", "memory");
  return result;
}
static const char *__PW_COLD __pw_variable(const char *name) {
  char **entry;
  if (!&__pw_environ || !__pw_environ) return 0;
  for (entry = __pw_environ; *entry; entry++) {
    const char *have = *entry, *want = name;
    while (*want && *have == *want) have++, want++;
    if (!*want && *have == '=') return have + 1;
  }
  return 0;
}
static long __PW_COLD __pw_load(const char *path) {
  long file = __pw_call(2, (long)path, 02000000, 0, 0, 0, 0), length, base, error;
  const struct __pw_image *image;
  __pw_u64 i, at;
  if (file < 0) return file;
  length = __pw_call(8, file, 0, 2, 0, 0, 0);
  base = error = __pw_call(9, 0, length, 5, 2, file, 0);
  if ((__pw_u64)base < (__pw_u64)-4095) {
    image = (const struct __pw_image *)(base + length) - 1;
    error = __pw_call(9, base + (long)image->fixed, length - (long)image->fixed, 3, 18, file, (long)image->fixed);
  }
  __pw_call(3, file, 0, 0, 0, 0, 0);
  if ((__pw_u64)error >= (__pw_u64)-4095) return error;
  image = (const struct __pw_image *)(base + length) - 1;
  for (i = 0; i < image->relocation_count; i++) {
    at = ((const __pw_u64 *)(base + (long)image->relocations))[i];
    *(__pw_u64 *)(base + (long)at) += (__pw_u64)base;
  }
  __pw_base = (__pw_u64)base;
  __pw_loaded = image;
  return 0;
}
static void __PW_COLD __pw_lost(unsigned hole, unsigned char *selection) {
  (void)hole; (void)selection;
  for (;;) {
    __pw_call(62, __pw_call(39, 0, 0, 0, 0, 0, 0), 9, 0, 0, 0, 0);
    __pw_call(231, 137, 0, 0, 0, 0, 0);
  }
}
static void __PW_COLD __pw_absent(void) { __pw_lost(0, 0); }
static void __PW_COLD __pw_enter(struct __pw_unit *unit, const char *run_probe, const char *run_channel) {
  const char *probe = __pw_variable("PROBE_VARIABLE"), *channel = __pw_variable("CHANNEL_VARIABLE");
  long error = 0;
  unsigned i;
  if (!probe || !*probe) {
    probe = run_probe;
    channel = run_channel;
    unit->found_by_path = 1;
  }
  if (!*probe) return;
  if (!__pw_loaded) error = __pw_load(probe);
  if (error == -2 || error == -20) return;
  if (!error && ((__pw_attach)(__pw_base + __pw_loaded->entries[0]))(unit, channel) == ATTACH_DONE) return;
  unit->mark = __pw_lost;
  for (i = 0; i < unit->function_count; i++) unit->functions[i] = SELECTED_CANDIDATE;
  for (i = 0; i < unit->hole_count; i++) unit->holes[i] = SELECTED_COVERAGE;
}
#else
static void __PW_COLD __pw_absent(void) {}
static void __PW_COLD __pw_enter(struct __pw_unit *unit, const char *run_probe, const char *run_channel) {
  (void)unit; (void)run_probe; (void)run_channel;
}
#endif
#endif
"#;

/// What each woven file has for itself. `@` stands for the file's suffix.
///
/// Entries are passed as variable arguments, because arrays at the hooks would all have their place in the frame of
/// the woven function, also when nothing is selected.
const OWN: &str = r#"static const unsigned __pw_function_ids_@[] = {FUNCTION_IDS};
static const unsigned __pw_hole_ids_@[] = {HOLE_IDS};
static unsigned char __pw_functions_@[FUNCTION_COUNT];
static unsigned char __pw_holes_@[HOLE_COUNT];
static struct __pw_unit __pw_unit_@ = {UNIT_VERSION, FUNCTION_COUNT, HOLE_COUNT, 0, __pw_functions_@,
  __pw_function_ids_@, __pw_holes_@, __pw_hole_ids_@, 0, 0, __pw_poisoned, 0, 0, 0, 0, 0};
static void __PW_COLD __pw_cold_@(void) { __asm__ __volatile__(""); }
static int __PW_OURS __pw_on_@(unsigned hole) {
  if (__pw_holes_@[hole] == SELECTED_CANDIDATE) return 1;
  __pw_unit_@.mark(__pw_hole_ids_@[hole], &__pw_holes_@[hole]);
  return 0;
}
static __pw_u64 __attribute__((__noinline__)) __PW_OURS __pw_value_@(unsigned hole, unsigned count, ...) {
  __pw_u64 *entries = (__pw_u64 *)__builtin_alloca((count + 1) * sizeof(__pw_u64));
  __builtin_va_list list;
  unsigned i;
  __builtin_va_start(list, count);
  for (i = 0; i < count; i++) entries[i] = __builtin_va_arg(list, __pw_u64);
  __builtin_va_end(list);
  return __pw_unit_@.value(__pw_hole_ids_@[hole], entries, count);
}
static void __attribute__((__noinline__,__unused__)) __PW_OURS __pw_visit_@(unsigned hole, unsigned count, ...) {
  __pw_u64 *entries = (__pw_u64 *)__builtin_alloca((count + 1) * sizeof(__pw_u64));
  __builtin_va_list list;
  unsigned i;
  __builtin_va_start(list, count);
  for (i = 0; i < count; i++) entries[i] = __builtin_va_arg(list, __pw_u64);
  __builtin_va_end(list);
  __pw_unit_@.visit(__pw_hole_ids_@[hole], entries, count);
}
static void __attribute__((__constructor__(101),__used__)) __PW_COLD __pw_attach_@(void) {
  __pw_enter(&__pw_unit_@, RUN_PROBE, RUN_CHANNEL);
}
"#;

/// AddressSanitizer looks up names when it reports, which takes longer than most tests, and nobody reads the report. Tests set
/// `ASAN_OPTIONS` themselves; what they do not mention is as the program says here, if it does not say so itself. (Clang's runtime has a
/// weak definition, too, and is linked in front: there this one is not used.)
const WITHOUT_NAMES: &str = r#"#ifndef __PW_WITHOUT_NAMES
#define __PW_WITHOUT_NAMES
#ifdef __SANITIZE_ADDRESS__
#define __PW_ASAN
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define __PW_ASAN
#endif
#endif
#ifdef __PW_ASAN
extern const char *__pw_asan_options(void) __PW_WEAK("__asan_default_options");
__attribute__((__no_sanitize_address__,__used__)) __PW_COLD const char *__pw_asan_options(void) { return "symbolize=0"; }
#endif
#endif
"#;

/// Makes gcc optimise less. A woven function is several times as long as the original. The optimiser takes even longer in
/// proportion: a file of 190 lines takes 11 s with `-O2` and 3.5 s with `-Og`. `-Og` also inlines every `always_inline`
/// function. Tracking variables for debuggers would take a quarter of the rest; line numbers are kept.
const QUICKLY: &str = r#"#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize ("Og", "no-var-tracking", "no-var-tracking-assignments")
#endif
"#;

/// What the glue of places needs besides.
const SHARED_PLACES: &str = r#"#ifndef __PW_PLACES
#define __PW_PLACES
struct __pw_places {
  unsigned version, count;
  unsigned *selected; const unsigned *ids;
  unsigned (*enter)(unsigned, unsigned *);
  unsigned (*finish)(unsigned, unsigned, const void *, unsigned long);
  int (*write)(const volatile void *, unsigned long);
  int (*bad)(const volatile void *, unsigned long);
  void *(*poisoned)(void *, unsigned long);
  const char *single_threaded;
};
extern char *__pw_getenv(const char *) __PW_WEAK("getenv");
extern void *__pw_dlopen(const char *, int) __PW_WEAK("dlopen");
extern void *__pw_dlsym(void *, const char *) __PW_WEAK("dlsym");
extern char *__pw_dlerror(void) __PW_WEAK("dlerror");
extern int *__pw_errno(void) __PW_WEAK("__errno_location");
extern const char __pw_single_threaded __PW_WEAK("__libc_single_threaded");
#endif
"#;

/// An evaluation that reads a longer string is abandoned.
const LONGEST_TEXT: u32 = 1 << 16;

/// What each file with places has for itself.
const OWN_PLACES: &str = r#"static const unsigned __pw_place_ids_@[] = {PLACE_IDS};
static unsigned __pw_selected_@[PLACE_COUNT];
static struct __pw_places __pw_places_@ = {PLACES_VERSION, PLACE_COUNT, __pw_selected_@, __pw_place_ids_@, 0, 0, 0, 0,
  __pw_poisoned, &__pw_single_threaded};
static unsigned __attribute__((__noinline__,__cold__)) __PW_OURS __pw_enter_@(unsigned place) {
  return __pw_places_@.enter(__pw_place_ids_@[place], &__pw_selected_@[place]);
}
static unsigned __attribute__((__noinline__,__cold__)) __PW_OURS __pw_finish_@(unsigned place, unsigned control,
  const void *value, unsigned long size) {
  return __pw_places_@.finish(__pw_place_ids_@[place], control, value, size);
}
static int __attribute__((__noinline__,__cold__)) __PW_OURS __pw_write_@(const volatile void *start, unsigned long size) {
  return __pw_places_@.write(start, size);
}
static int __attribute__((__noinline__,__cold__)) __PW_OURS __pw_bad_@(const volatile void *start, unsigned long size) {
  return __pw_places_@.bad(start, size);
}
static int __attribute__((__noinline__,__cold__)) __PW_OURS __pw_text_@(const volatile void *start, unsigned long most) {
  const volatile char *at = (const volatile char *)start;
  unsigned long known = 0, length;
  for (length = 0; length < most; length++, at++, known--) {
    if (length == LONGEST_TEXT) return 1;
    if (known == 0 || __pw_places_@.poisoned) {
      if (__pw_bad_@(at, 1)) return 1;
      known = 4096 - ((unsigned long)at & 4095);
    }
    if (*at == 0) return 0;
  }
  return 0;
}
"#;

/// How a process says that it found no channel. System calls, as a program without libc's `open` has no channel either.
const LOST: &str = r#"#ifndef __PW_LOST
#define __PW_LOST
static void __PW_OURS __pw_unobserved(void) {
  long file = __pw_call(2, (long)PATH, 02000000 | 02000 | 01, 0, 0, 0, 0);
  if (file >= 0) {
    __pw_call(1, file, (long)"x", 1, 0, 0, 0);
    __pw_call(3, file, 0, 0, 0, 0, 0);
  }
}
#endif
"#;

/// To load a library takes memory of the heap and gives it back with what was written there, where a program finds zeros
/// otherwise. The glue takes that memory again, for good, and clears the rest of the heap. It does so only if the program had
/// not used its heap before.
const HEAP: &str = r#"#ifndef __PW_HEAP
#define __PW_HEAP
struct __pw_heap { unsigned long arena, other[8], top; };
static struct __pw_heap (*__PW_OURS __pw_heap_info(void))(void) {
  return __extension__ (struct __pw_heap (*)(void))(__pw_dlsym ? __pw_dlsym((void *)0, "mallinfo2") : 0);
}
static void __attribute__((__cold__)) __PW_OURS __pw_fresh_heap(void) {
  struct __pw_heap (*info)(void) = __pw_heap_info();
  void *(*take)(unsigned long) = __extension__ (void *(*)(unsigned long))__pw_dlsym((void *)0, "malloc");
  void (*give)(void *) = __extension__ (void (*)(void *))__pw_dlsym((void *)0, "free");
  void *(*end)(long) = __extension__ (void *(*)(long))__pw_dlsym((void *)0, "sbrk");
  unsigned long size, top, taken = 0;
  struct __pw_heap now;
  volatile char *rest;
  if (!info || !take || !give || !end) return;
  now = info();
  if (!now.arena) return;
  top = (unsigned long)end(0) - now.top;
  for (size = 65544; size >= 24; size = size > 1032 + 128 ? size - ((size / 8) & ~15ul) : size - 16) {
    for (;;) {
      void *got = take(size);
      if (!got || ++taken > 65536) return;
      if ((unsigned long)got >= top) {
        /* Smaller ones would be kept for later, with a pointer in them. */
        if (size > 1032) give(got);
        break;
      }
    }
  }
  now = info();
  if (now.top < 4096) return;
  rest = (volatile char *)take(now.top - 64);
  if (!rest) return;
  for (size = 0; size < now.top - 64; size += sizeof size) *(volatile unsigned long *)(rest + size) = 0;
  give((void *)rest);
}
#endif
"#;

/// The constructor of a file with places. A process has one probe, however many libraries are woven, because it decides
/// once which patch it runs: so the probe is loaded as a library.
const ATTACH_PLACES: &str = r#"static void __attribute__((__constructor__(101),__used__,__cold__)) __PW_OURS __pw_attach_@(void) {
  const char *probe, *channel;
  void *library;
  void (*attach)(struct __pw_places *, const char *);
  struct __pw_heap (*heap)(void);
  int error, fresh;
  if (!__pw_getenv || !__pw_dlopen || !__pw_dlsym || !__pw_dlerror || !__pw_errno) { LOST; return; }
  probe = __pw_getenv("PROBE_VARIABLE");
  channel = __pw_getenv("CHANNEL_VARIABLE");
#if defined __x86_64__ && defined __LP64__ && defined __linux__
  if ((!probe || !*probe) && __pw_call(21, (long)"RUN_FOLDER/PROBE_FILE", 4, 0, 0, 0, 0) == 0) {
    probe = "RUN_FOLDER/PROBE_FILE";
    channel = "RUN_FOLDER/CHANNEL_FILE";
  }
#endif
  if (!probe || !*probe) { LOST; return; }
  error = *__pw_errno();
  heap = __pw_heap_info();
  fresh = heap && !heap().arena;
  library = __pw_dlopen(probe, 2);
  attach = __extension__ (void (*)(struct __pw_places *, const char *))(library ? __pw_dlsym(library, "ATTACH_SYMBOL") : 0);
  if (attach) attach(&__pw_places_@, channel);
  else __pw_dlerror();
  if (fresh) __pw_fresh_heap();
  *__pw_errno() = error;
}
"#;

/// Returns the glue of a file with these functions and holes, up to a `#line` that makes the next line the first. Processes whose
/// environment does not name a run find it in `run`. `source` is the file's text.
pub(crate) fn text(
    suffix: &str,
    functions: &[FunctionId],
    holes: &[HoleId],
    newline: &str,
    run: Option<&Path>,
    source: &[u8],
) -> String {
    let in_run = |name: &str| {
        run.map_or("\"\"".to_owned(), |run| {
            literal(run.join(name).as_os_str().as_bytes())
        })
    };
    let own = numbered(OWN)
        .replace('@', suffix)
        .replace("FUNCTION_IDS", &list(functions.iter().map(|id| id.0)))
        .replace("HOLE_IDS", &list(holes.iter().map(|id| id.0)))
        .replace("FUNCTION_COUNT", &functions.len().to_string())
        // An array has at least one element.
        .replace("HOLE_COUNT", &holes.len().max(1).to_string())
        .replace("RUN_PROBE", &in_run(PROBE_FILE))
        .replace("RUN_CHANNEL", &in_run(CHANNEL_FILE));
    let shared = format!("{QUICKLY}{}{}", numbered(SHARED), without_names(source));
    in_front(&shared, suffix, &own, newline)
}

/// [`WITHOUT_NAMES`], unless the file has options of its own.
fn without_names(source: &[u8]) -> &'static str {
    let said = b"__asan_default_options";
    match source.windows(said.len()).any(|text| text == said) {
        true => "",
        false => WITHOUT_NAMES,
    }
}

/// The glue of a file with these places, as [`text`].
///
/// `unobserved` is a file to which processes add a byte that find no channel, as those with a cleared environment.
pub(crate) fn places_text(
    suffix: &str,
    places: &[PlaceId],
    unobserved: Option<&[u8]>,
    newline: &str,
    source: &[u8],
) -> String {
    let own = OWN_PLACES
        .replace('@', suffix)
        .replace("PLACE_IDS", &list(places.iter().map(|id| id.0)))
        .replace("PLACE_COUNT", &places.len().to_string())
        .replace("PLACES_VERSION", &PLACES_VERSION.to_string())
        .replace("LONGEST_TEXT", &LONGEST_TEXT.to_string());
    let unobserved_call = if unobserved.is_some() {
        "__pw_unobserved();"
    } else {
        ""
    };
    let attach = numbered(ATTACH_PLACES)
        .replace('@', suffix)
        .replace("LOST;", unobserved_call)
        .replace("ATTACH_SYMBOL", ATTACH_PLACES_SYMBOL);
    let lost = unobserved.map_or(String::new(), |path| LOST.replace("PATH", &literal(path)));
    let shared = format!(
        "{}{SHARED_PLACES}{HEAP}{lost}{}",
        numbered(SHARED),
        without_names(source)
    );
    in_front(&shared, suffix, &format!("{own}{attach}"), newline)
}

/// Returns the text in front of a woven file: declarations that its translation unit needs once, those of the file itself, and
/// a `#line` that makes the next line the first.
pub(crate) fn in_front(shared: &str, suffix: &str, own: &str, newline: &str) -> String {
    let mut text = String::new();
    for warning in IGNORED {
        text += &format!("#pragma GCC diagnostic ignored \"{warning}\"\n");
    }
    // Some projects compile their tests with `-Dstatic=`.
    text += "#pragma push_macro(\"static\")\n#undef static\n";
    text += shared;
    // The file may be included twice.
    text += &format!("#ifndef __PW_GLUE_{suffix}\n#define __PW_GLUE_{suffix}\n");
    text += own;
    text += "#endif\n#pragma pop_macro(\"static\")\n#line 1\n";
    text.replace('\n', newline)
}

/// The text with the numbers and names that the glue shares with the probe.
fn numbered(text: &str) -> String {
    text.replace("UNIT_VERSION", &UNIT_VERSION.to_string())
        .replace("SELECTED_CANDIDATE", &SELECTED_CANDIDATE.to_string())
        .replace("SELECTED_COVERAGE", &SELECTED_COVERAGE.to_string())
        .replace("ATTACH_DONE", &ATTACH_DONE.to_string())
        .replace("ENTRY_COUNT", &ENTRY_SYMBOLS.len().to_string())
        .replace("PROBE_VARIABLE", PROBE_VARIABLE)
        .replace("CHANNEL_VARIABLE", CHANNEL_VARIABLE)
        .replace("RUN_FOLDER", RUN_FOLDER)
        .replace("PROBE_FILE", PROBE_FILE)
        .replace("CHANNEL_FILE", CHANNEL_FILE)
}

/// Bytes as a string literal that means the same in every character set and standard.
pub(crate) fn literal(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text += &format!("\\{byte:03o}");
        }
    }
    text.push('"');
    text
}

/// The symbol of libc that the glue of holes names.
pub(crate) const NAMED: [&str; 1] = ["environ"];

/// The names that the glue of places and marks uses.
pub(crate) const NAMED_BY_PLACES: [&str; 6] = [
    "environ",
    "getenv",
    "dlopen",
    "dlsym",
    "dlerror",
    "__errno_location",
];

/// Returns the first of these names that `source` defines at file scope, as a function or an object.
pub(crate) fn defined_name(source: &[u8], names: &[&'static str]) -> Option<&'static str> {
    let tokens: Vec<Token<'_>> = pieces(source)
        .filter_map(|piece| match piece {
            Piece::Token(token) => Some(token),
            Piece::Directive(_) => None,
        })
        .collect();
    let mut braces = 0;
    for (place, token) in tokens.iter().enumerate() {
        match &*token.text() {
            b"{" => braces += 1,
            b"}" => braces -= 1,
            _ if braces > 0 || token.kind != Kind::Word => {}
            word => {
                let named = names.iter().find(|name| name.as_bytes() == word);
                let defined = || is_definition(&tokens[..place], &tokens[place + 1..]);
                if let Some(name) = named.filter(|_| defined()) {
                    return Some(name);
                }
            }
        }
    }
    None
}

/// Whether the declarator whose name stands between `before` and `rest` is followed by a body, or is an object that is
/// not declared `extern`.
fn is_definition(before: &[Token<'_>], rest: &[Token<'_>]) -> bool {
    let declaration = before
        .iter()
        .rev()
        .take_while(|token| !matches!(&*token.text(), b";" | b"{" | b"}"));
    if declaration.into_iter().any(|token| token.is("extern")) {
        return false;
    }
    let mut parentheses = 0;
    for (place, token) in rest.iter().enumerate() {
        match &*token.text() {
            b"(" => parentheses += 1,
            b")" if parentheses == 0 => return false,
            b")" => parentheses -= 1,
            _ if parentheses > 0 => {}
            b"{" => return place > 0,
            b"=" | b"[" => return true,
            // An object without initialiser has its `;` at once, a declared function after its parameters; an
            // old-style definition has declarations between those and its body.
            b";" | b"," => {
                return place == 0 || rest.get(place + 1).is_some_and(|next| next.is("{"));
            }
            _ => {}
        }
    }
    false
}

fn list(ids: impl Iterator<Item = impl Display>) -> String {
    let ids: Vec<String> = ids.map(|id| format!("{id}u")).collect();
    // A table without holes still has one element; its id is one that is never selected.
    if ids.is_empty() {
        return format!("{}u", u32::MAX);
    }
    ids.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_and_declarations_of_environ_are_no_definitions() {
        for source in [
            "extern char **environ;",
            "int f(void) { char **environ = 0; return environ == 0; }",
            "char *s = NULL; // environ = 1\n#define environ {\n",
            "extern int other, environ (void);",
            "int getenv(void) { return 0; }",
        ] {
            assert_eq!(defined_name(source.as_bytes(), &NAMED), None, "{source}");
        }
    }

    #[test]
    fn definitions_of_environ_are_found() {
        for source in [
            "static int environ(int x)\n{ return x; }",
            "extern int a; char *environ(name) const char *name; { return 0; }",
            "static const char *environ = \"x\";",
            "static int a, environ;",
        ] {
            let found = defined_name(source.as_bytes(), &NAMED);
            assert_eq!(found, Some("environ"), "{source}");
        }
    }

    #[test]
    fn any_path_can_be_a_literal() {
        let path = "/tmp/a b\"\\??/é.x".as_bytes();
        let expected = r#""/tmp/a\040b\042\134\077\077/\303\251.x""#;
        assert_eq!(literal(path), expected);
    }
}
