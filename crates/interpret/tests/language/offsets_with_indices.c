/* offsetof with an index that is computed. */
#include <stddef.h>
#include <stdio.h>
struct in { char c; int v[3]; };
struct s { short a; struct in list[4]; double grid[2][5]; };
int main(void) {
  struct s s = { 0 };
  int sum = 0;
  for (int i = 0; i < 4; i++)
    for (long j = 0; j < 3; j++) {
      size_t at = offsetof(struct s, list[i].v[j]);
      *(int *)((char *)&s + at) = i * 10 + (int)j;
      sum += at;
    }
  int k = 1;
  printf("%d %d %zu %zu\n", sum, s.list[2].v[1], offsetof(struct s, grid[k][k + 2]), offsetof(struct s, list[2].v[1]));
  return 0;
}
