// case 3 => 5
// case 1 => 1
// case 0 => 0
// patch in: sum
#include <stdio.h>
#include <stdlib.h>
union word {
  unsigned all;
  unsigned char bytes[4];
};
struct list {
  int count;
  union word words[];
};
static unsigned sum(struct list *list) {
  unsigned total = 0;
  for (int i = 1; i < list->count; i++)
    total += list->words[i].bytes[0];
  return total;
}
int main(int argc, char **argv) {
  int count = atoi(argv[1]);
  struct list *list = malloc(sizeof *list + (unsigned)count * sizeof(union word));
  (void)argc;
  list->count = count;
  for (int i = 0; i < count; i++)
    list->words[i].all = (unsigned)(i ? i + 1 : 0) + (i == 0 ? 1u : 0u) - (i == 1 ? 1u : 0u) + (i == 2 ? 0u : 0u);
  printf("%u\n", sum(list));
  free(list);
  return 0;
}
