/* The game of life on a torus, a queue, a stack, primes and permutations. */
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 8 };
static uint8_t world[SIZE][SIZE], next[SIZE][SIZE];

static int neighbours(int y, int x) {
  int n = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dy || dx) n += world[(y + dy + SIZE) % SIZE][(x + dx + SIZE) % SIZE];
  return n;
}

static void step(void) {
  for (int y = 0; y < SIZE; y++)
    for (int x = 0; x < SIZE; x++) {
      int n = neighbours(y, x);
      next[y][x] = n == 3 || (world[y][x] && n == 2);
    }
  memcpy(world, next, sizeof world);
}

struct node { int value; struct node *next; };
static struct node *push(struct node *list, int value) {
  struct node *n = malloc(sizeof *n);
  *n = (struct node){ value, list };
  return n;
}
static struct node *reversed(struct node *list) {
  struct node *back = NULL;
  while (list) { struct node *next = list->next; list->next = back; back = list; list = next; }
  return back;
}

static void permute(char *s, int k, int *count) {
  if (!s[k]) { if (++*count <= 6) puts(s); return; }
  for (int i = k; s[i]; i++) {
    char t = s[k]; s[k] = s[i]; s[i] = t;
    permute(s, k + 1, count);
    t = s[k]; s[k] = s[i]; s[i] = t;
  }
}

static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

int main(void) {
  int y, x;
  while (scanf("%d,%d", &y, &x) == 2) world[y][x] = 1;
  for (int i = 0; i < 4; i++) step();
  for (y = 0; y < SIZE; y++, putchar('\n')) for (x = 0; x < SIZE; x++) putchar(world[y][x] ? '#' : '.');
  struct node *list = NULL;
  for (int i = 0; i < 5; i++) list = push(list, i * i);
  for (struct node *n = list = reversed(list), *after; n; n = after) { printf("%d ", n->value); after = n->next; free(n); }
  char sieve[50] = {0};
  for (int i = 2; i < 50; i++) { if (sieve[i]) continue; printf("%d ", i); for (int j = i * i; j < 50; j += i) sieve[j] = 1; }
  char letters[] = "abcd"; int count = 0;
  putchar('\n'); permute(letters, 0, &count);
  printf("%d %" PRIu64 " %d %ld\n", count, gcd(UINT64_C(1) << 40, 3 * (UINT64_C(1) << 20)), INT_MAX, (long)CHAR_BIT);
  union { float f; uint32_t u; } bits = { .f = 1.5f };
  printf("%08" PRIx32 " %#x %o %+.3e\n", bits.u, 255u, 8u, 12345.678);
  return 0;
}
