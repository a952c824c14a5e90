/* Barriers and identities, written out and in macros. */
#include <stdio.h>
#define barrier() __asm__ __volatile__("" ::: "memory")
#define HIDE(x) ({ __typeof__(x) hidden = (x); __asm__("" : "+r" (hidden)); hidden; })
static int calls;
static long next(void) { return ++calls; }
int main(void) {
  int x = 1, y, *p;
  unsigned u;
  barrier();
  __asm__ volatile (" \n\t" ::: "memory", "cc");
  __asm__("" : "+r"(x), "+m"(calls));
  __asm__("" : "=r"(y) : "0"(x + 6));
  __asm__ volatile ("" : "=r" (u) : "0" (-1), "r" (next()), "m" (x));
  asm("" : "=r"(p) : [in] "0"(&y));
  asm volatile("# only a comment"
               : /* out */ "+r"(p));
  *p += HIDE(10);
  printf("%d %d %u %d\n", x, y, u, calls);
  return HIDE(y) - 1;
}
