/* Goods on shelves. */
#ifndef SHELF_H
#define SHELF_H

enum { SHELVES = 8 };

struct shelf {
  int article;
  int amount;
  int capacity;
};

extern struct shelf shelves[SHELVES];

void shelf_setup(int capacity);
/* How many could be stored. */
int shelf_store(int article, int amount);
/* How many were there. */
int shelf_take(int article, int amount);
int shelf_total(int article);

#endif
