#include "shelf.h"

struct shelf shelves[SHELVES];

void shelf_setup(int capacity) {
  for (int i = 0; i < SHELVES; i++) {
    shelves[i].article = 0;
    shelves[i].amount = 0;
    shelves[i].capacity = capacity;
  }
}

int shelf_store(int article, int amount) {
  int left = amount;
  for (int i = 0; i < SHELVES && left > 0; i++) {
    struct shelf *shelf = &shelves[i];
    if (shelf->article > 0 && shelf->article != article)
      continue;
    int room = shelf->capacity - shelf->amount;
    int put = left < room ? left : room;
    shelf->article = article;
    shelf->amount += put;
    left -= put;
  }
  return amount - left;
}

int shelf_take(int article, int amount) {
  int taken = 0;
  for (int i = SHELVES - 1; i >= 0 && taken < amount; i--) {
    struct shelf *shelf = &shelves[i];
    if (shelf->article != article)
      continue;
    int wanted = amount - taken;
    if (wanted > shelf->amount)
      wanted = shelf->amount;
    shelf->amount -= wanted;
    taken += wanted;
  }
  return taken;
}

int shelf_total(int article) {
  int total = 0;
  for (int i = 0; i < SHELVES; i++)
    if (shelves[i].article == article)
      total += shelves[i].amount;
  return total;
}
