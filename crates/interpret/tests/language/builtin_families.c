#include <limits.h>
#include <stdio.h>
#include <string.h>

static int frames(void) {
  return __builtin_frame_address(0) != 0 && __builtin_return_address(0) != 0;
}

int main(void) {
  int i;
  long l;
  unsigned u;
  unsigned long long w;
  int over = __builtin_sadd_overflow(INT_MAX, 1, &i);
  printf("%d %d\n", over, i);
  over = __builtin_ssubl_overflow(LONG_MIN, 1, &l);
  printf("%d %ld\n", over, l);
  over = __builtin_umul_overflow(65536u, 65537u, &u);
  printf("%d %u\n", over, u);
  over = __builtin_umulll_overflow(1ull << 40, 3, &w);
  printf("%d %llu\n", over, w);
  over = __builtin_smul_overflow(-3, 5, &i);
  printf("%d %d\n", over, i);
  char buffer[10], part[2][4];
  struct {
    char head[3];
    char name[5];
  } record;
  printf("%zu %zu %zu\n", __builtin_object_size(buffer, 0),
         __builtin_object_size(&buffer[3], 1), __builtin_object_size(&i, 0));
  printf("%zu %zu\n", __builtin_object_size(record.name, 1),
         __builtin_object_size(record.head, 0));
  printf("%zu %zu\n", __builtin_object_size(part[1], 0),
         __builtin_object_size(&part[0][1], 1));
  char *pointer = buffer;
  printf("%d %d\n", __builtin_object_size(pointer, 0) == (size_t)-1,
         __builtin_object_size(pointer, 2) == 0);
  __builtin___strcpy_chk(buffer, "checked", __builtin_object_size(buffer, 1));
  puts(buffer);
  printf("%ld %g\n", __builtin_lrint(2.5), __builtin_remainder(7, 4));
  printf("%d %d\n", __builtin_islessequal(1.0, 1.0),
         __builtin_islessgreater(1.0, 1.0));
  printf("%d\n", frames());
  return 0;
}
