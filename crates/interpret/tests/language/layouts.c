/* Attributes and pragmas that change where members are. */
#include <stdio.h>
#include <stddef.h>
#include <string.h>
typedef int aligned_int __attribute__((aligned(16)));
typedef long loose_long __attribute__((aligned(2)));
typedef struct { char c; } wide __attribute__((aligned(32)));
struct a { char c; aligned_int i; char d; };
struct b { char c; loose_long l; };
struct __attribute__((packed)) c { char c; aligned_int i; int j __attribute__((aligned(4))); unsigned b : 3; unsigned long w : 40; };
struct d { char c; wide w; char e; };
struct e { char c; int i; } __attribute__((packed, aligned(2)));
#pragma pack(push, 2)
struct f { char c; int i; long l; unsigned b : 20; };
#pragma pack(pop)
struct g { unsigned a : 3; unsigned : 0; unsigned b : 4; _Bool c : 1; long long d : 33; char e; short f : 9; };
union h { struct e e; int x : 5; unsigned char bytes[7]; } __attribute__((packed));
struct i { char c; _Alignas(8) char d; enum __attribute__((packed)) { SMALL } s; };
#define SHOW(T) printf(#T " %zu %zu\n", sizeof(struct T), _Alignof(struct T))
int main(void) {
  SHOW(a); SHOW(b); SHOW(c); SHOW(d); SHOW(e); SHOW(f); SHOW(g); SHOW(i);
  printf("%zu %zu %zu %zu %zu\n", offsetof(struct a, d), offsetof(struct b, l), offsetof(struct c, j), offsetof(struct d, e), offsetof(struct f, l));
  struct c c = { 1, 2, 3, 4, 5 };
  unsigned char image[sizeof c];
  memcpy(image, &c, sizeof c);
  for (size_t i = 0; i < sizeof c; i++) printf("%02x", image[i] & (i == sizeof c - 1 ? 7 : 255));
  struct g g;
  memset(&g, 0, sizeof g);
  g.a = 5; g.b = 9; g.c = 1; g.d = -3; g.e = 'x'; g.f = -2;
  memcpy(image, &g, sizeof g);
  printf("\n");
  for (size_t i = 0; i < sizeof g; i++) printf("%02x", image[i]);
  union h h; memset(&h, 0, sizeof h); h.e.i = 0x01020304;
  printf("\n%d %zu\n", h.bytes[1], sizeof h);
  return 0;
}
