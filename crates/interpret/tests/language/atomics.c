/* Atomic operations in one thread. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
struct counter { _Atomic long long n; atomic_bool on; atomic_uint *link; };
static atomic_int global = 5;
static _Atomic(char *) text = "abcdef";
static volatile atomic_ushort narrow = 65535;
static int plain(int *p, signed char *c, unsigned long *u) {
  int sum = __atomic_fetch_add(p, 3, __ATOMIC_SEQ_CST);
  sum += __atomic_sub_fetch(p, 1, __ATOMIC_RELAXED);
  sum += __sync_fetch_and_or(p, 8) * 2 + __sync_and_and_fetch(p, ~1) * 3;
  sum += __sync_add_and_fetch(c, 100) + __sync_fetch_and_sub(c, 1) + __atomic_nand_fetch(c, 6, 5);
  *u = __atomic_exchange_n(u, 7, 5) + __sync_lock_test_and_set(u, 9);
  __sync_lock_release(p);
  __sync_synchronize();
  return sum + *p;
}
int main(void) {
  struct counter k = { 1LL << 40, false, 0 };
  atomic_uint u;
  atomic_init(&u, 4000000000u);
  k.link = &u;
  k.n++; k.n += 5; --k.n;
  global -= 2; global <<= 3;
  narrow += 2;
  int old = atomic_fetch_add(&global, 100), expected = 0, seen;
  bool a = atomic_compare_exchange_strong(&global, &expected, 1);
  bool b = atomic_compare_exchange_strong(&global, &expected, -1);
  printf("%lld %d %d %d %d %d %d\n", (long long)k.n, old, a, b, expected, global, narrow);
  printf("%u %u %d\n", atomic_fetch_add(k.link, 500000000), *k.link, atomic_exchange(&k.on, true) + 2 * k.on);
  int x = 10; signed char c = 100; unsigned long big = 3;
  printf("%d %d %d %lu\n", plain(&x, &c, &big), x, c, big);
  atomic_flag flag = ATOMIC_FLAG_INIT;
  bool first = atomic_flag_test_and_set(&flag), second = atomic_flag_test_and_set(&flag);
  atomic_flag_clear(&flag);
  printf("%d %d %d\n", first, second, atomic_flag_test_and_set_explicit(&flag, memory_order_acquire));
  char *was = atomic_fetch_add(&text, 2);
  short table[4] = { 1, 2, 3, 4 };
  _Atomic(short *) at = table;
  at++;
  at++; at++;
  printf("%s %s %d\n", was, text, *at);
  int value = 3, result = 0;
  __atomic_store(&x, &value, 5); __atomic_load(&x, &result, 5); value = 8;
  __atomic_exchange(&x, &value, &seen, 5);
  expected = 8;
  bool swapped = __atomic_compare_exchange_n(&x, &expected, 12, false, 5, 5);
  printf("%d %d %d %d %d\n", result, seen, swapped, x, __sync_val_compare_and_swap(&x, 12, 13));
  printf("%d %d\n", __sync_bool_compare_and_swap(&x, 12, 14), x);
  _Atomic int local = 7;
  int copy = local;
  return copy + (local = 1) + atomic_load(&local);
}
