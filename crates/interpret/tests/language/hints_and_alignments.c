/* Builtins that only hint evaluate all of their arguments; functions have the alignment that is asked for. */
#include <stdio.h>

void plain(void) {}
void wide(void) __attribute__((aligned(128)));
void wide(void) {}

int main(void) {
  int n = 3;
  char text[16];
  if (__builtin_expect(n == 3, n++))
    puts("three");
  printf("%d\n", n);
  long value = __builtin_expect_with_probability(n == 4, n += 10, 0.75);
  printf("%ld %d\n", value, n);
  char *at = __builtin_assume_aligned(text, 8);
  printf("%d\n", at == text);
  printf("%d %d\n", __builtin_constant_p(n++), n);
  printf("%d %d\n", (int)__alignof__(plain), (int)__alignof__(wide));
  printf("%d %d\n", (int)__builtin_object_size(text + 5, 0), (int)__builtin_object_size(text, 0));
  return 0;
}
