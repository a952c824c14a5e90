// case 7 1 => 21
// case 9 0 => 9
// case 4 2 => 16
// schemas: function
// patch in: main
// added:   printf("%d\n", weighed(place, &table));
#include <stdio.h>
#include <stdlib.h>
struct table {
  int weights[4];
  int factor;
};
static int weighed(int place, const struct table *table) { return table->factor * table->weights[place]; }
static int weigh(const struct table *table, int factor, int place) { return factor + table->weights[place & 3]; }
int main(int argc, char **argv) {
  (void)argc;
  struct table table = {{1, 3, 4, 9}, atoi(argv[1])};
  int place = atoi(argv[2]);
  printf("%d\n", weigh(&table, place, 2));
  return 0;
}
