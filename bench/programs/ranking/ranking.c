/* Sorts results "name points" by points, those with equal points in the order of the input. */
#include <stdio.h>
#include <string.h>

enum { MOST = 32 };

struct result {
  char name[16];
  int points;
};

static struct result results[MOST], buffer[MOST];

/* Merges [from, middle) and [middle, to). */
static void merge(int from, int middle, int to) {
  int left = from, right = middle;
  for (int at = from; at < to; at++) {
    if (left < middle && (right >= to || results[left].points > results[right].points))
      buffer[at] = results[left++];
    else
      buffer[at] = results[right++];
  }
  for (int at = from; at < to; at++)
    results[at] = buffer[at];
}

static void sort(int from, int to) {
  if (to - from < 2)
    return;
  int middle = from + (to - from) / 2;
  sort(from, middle);
  sort(middle, to);
  merge(from, middle, to);
}

int main(void) {
  int count = 0;
  while (count < MOST && scanf("%15s %d", results[count].name, &results[count].points) == 2)
    count++;
  sort(0, count);
  int rank = 1;
  for (int i = 0; i < count; i++) {
    if (i > 0 && results[i].points != results[i - 1].points)
      rank = i + 1;
    printf("%d %s %d\n", rank, results[i].name, results[i].points);
  }
  return 0;
}
