/* Orders of a store: "in ARTICLE AMOUNT", "out ARTICLE AMOUNT". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shelf.h"

int main(int argc, char **argv) {
  char order[8];
  int article, amount, refused = 0;
  shelf_setup(argc > 1 ? atoi(argv[1]) : 10);
  while (scanf("%7s %d %d", order, &article, &amount) == 3) {
    int done;
    if (strcmp(order, "in") == 0)
      done = shelf_store(article, amount);
    else
      done = shelf_take(article, amount);
    if (done < amount)
      refused++;
    printf("%s %d: %d of %d, now %d\n", order, article, done, amount, shelf_total(article));
  }
  for (int i = 0; i < SHELVES; i++)
    if (shelves[i].amount > 0)
      printf("shelf %d: %d x %d\n", i, shelves[i].amount, shelves[i].article);
  return refused > 0;
}
