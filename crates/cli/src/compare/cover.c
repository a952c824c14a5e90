/* Linked into programs whose executions are looked at: notes in a shared file which places are executed, how often, and what
 * is compared there. Without the file nothing happens. COVER_FILE is its path. It needs no header and no library. */
#if defined __x86_64__ && defined __linux__ && defined __LP64__

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

#define SLOTS 65536u
#define NUMBERS 8192u
#define TEXTS 1024u
#define TEXT 32u

struct number { u32 place, size; u64 a, b; };
struct text { u32 place; u8 a_length, b_length; u16 unused; u8 a[TEXT], b[TEXT]; };
struct shared {
  u32 compares, unused;
  u8 counts[SLOTS];
  u32 places[SLOTS];
  struct number numbers[NUMBERS];
  struct text texts[TEXTS];
};

static struct shared *shared;
/* Each library has a copy of all this; only the program itself has `main`. */
extern char pw_begin[] __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));
extern char pw_main[] __asm__("main") __attribute__((weak, visibility("hidden")));
#define OURS __attribute__((weak, visibility("hidden"), noinline))

static long pw_call(long number, long a, long b, long c, long d, long e, long f) {
  register long d10 __asm__("r10") = d;
  register long e8 __asm__("r8") = e;
  register long f9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(d10), "r"(e8), "r"(f9) : "rcx", "r11", "memory");
  return result;
}

static void __attribute__((constructor(101))) pw_lead(void) {
  long file = pw_call(2, (long)COVER_FILE, 2 | 02000000, 0, 0, 0, 0), at;
  if (file < 0) return;
  at = pw_call(9, 0, sizeof(struct shared), 3, 1, file, 0);
  pw_call(3, file, 0, 0, 0, 0, 0);
  if (at < 0 && at > -4096) return;
  shared = (struct shared *)at;
}

static u32 pw_place(void *address) {
  u32 place = (u32)((char *)address - pw_begin) & 0x7fffffffu;
  return pw_main ? place : place | 0x80000000u;
}

OURS void __sanitizer_cov_trace_pc(void) {
  u32 place, slot, tries;
  if (!shared) return;
  place = pw_place(__builtin_return_address(0));
  slot = (place * 2654435761u) >> 16;
  for (tries = 0; tries < 8; tries++, slot = (slot + 1) % SLOTS) {
    if (shared->places[slot] == place) break;
    if (!shared->places[slot]) { shared->places[slot] = place; break; }
  }
  if (shared->counts[slot] != 255) shared->counts[slot]++;
}

static void pw_number(void *address, u32 size, u64 a, u64 b) {
  struct number *at;
  u32 place;
  if (a == b) return;
  place = pw_place(address);
  at = &shared->numbers[((place * 2654435761u) ^ (u32)((a * 0x9e3779b97f4a7c15ul) >> 40) ^ (u32)((b * 0xc2b2ae3d27d4eb4ful) >> 44)) % NUMBERS];
  at->place = place; at->size = size; at->a = a; at->b = b;
}
#define NUMBER(name, type) \
  OURS void name(type a, type b) { if (shared && shared->compares) pw_number(__builtin_return_address(0), sizeof(type), a, b); }
NUMBER(__sanitizer_cov_trace_cmp1, u8)
NUMBER(__sanitizer_cov_trace_cmp2, u16)
NUMBER(__sanitizer_cov_trace_cmp4, u32)
NUMBER(__sanitizer_cov_trace_cmp8, u64)
NUMBER(__sanitizer_cov_trace_const_cmp1, u8)
NUMBER(__sanitizer_cov_trace_const_cmp2, u16)
NUMBER(__sanitizer_cov_trace_const_cmp4, u32)
NUMBER(__sanitizer_cov_trace_const_cmp8, u64)
OURS void __sanitizer_cov_trace_cmpf(float a, float b) { (void)a; (void)b; }
OURS void __sanitizer_cov_trace_cmpd(double a, double b) { (void)a; (void)b; }
OURS void __sanitizer_cov_trace_switch(u64 value, u64 *cases) {
  u64 at;
  if (!shared || !shared->compares) return;
  for (at = 0; at < cases[0]; at++) pw_number(__builtin_return_address(0), (u32)(cases[1] / 8), value, cases[2 + at]);
}

static void pw_text(void *address, const u8 *a, const u8 *b, u64 most, int ends) {
  struct text *at;
  u32 place, hash, count, same = 1;
  if (!shared || !shared->compares) return;
  place = pw_place(address);
  hash = place * 2654435761u;
  for (count = 0; count < most && count < 8 && (!ends || a[count]); count++) hash = (hash ^ a[count]) * 16777619u;
  for (count = 0; count < most && count < 8 && (!ends || b[count]); count++) hash = (hash ^ b[count]) * 16777619u;
  at = &shared->texts[(hash >> 12) % TEXTS];
  at->place = place;
  for (count = 0; count < most && count < TEXT && (!ends || a[count]); count++) at->a[count] = a[count];
  at->a_length = (u8)count;
  for (count = 0; count < most && count < TEXT && (!ends || b[count]); count++) at->b[count] = b[count];
  at->b_length = (u8)count;
  for (count = 0; count < at->a_length; count++) same &= at->a[count] == at->b[count];
  if (same && at->a_length == at->b_length) at->place = 0;
}

OURS int strcmp(const char *first, const char *second) {
  const u8 *a = (const u8 *)first, *b = (const u8 *)second;
  pw_text(__builtin_return_address(0), a, b, ~0ul, 1);
  while (*a && *a == *b) { a++; b++; }
  return *a - *b;
}
OURS int strncmp(const char *first, const char *second, u64 most) {
  const u8 *a = (const u8 *)first, *b = (const u8 *)second;
  pw_text(__builtin_return_address(0), a, b, most, 1);
  for (; most && *a && *a == *b; most--) { a++; b++; }
  return most ? *a - *b : 0;
}
OURS int memcmp(const void *first, const void *second, u64 most) {
  const u8 *a = first, *b = second;
  pw_text(__builtin_return_address(0), a, b, most, 0);
  for (; most && *a == *b; most--) { a++; b++; }
  return most ? *a - *b : 0;
}
#endif
