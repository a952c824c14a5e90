// case 1 2 1 => 2:1 1:2 
// case 5 => 5:1 
// schemas: initialization
// patch in: add
// added:   struct node *node = calloc(1, sizeof *node);
#include <stdio.h>
#include <stdlib.h>

struct node { int key; int hits; struct node *next; };

static struct node *add(struct node *list, int key) {
  struct node *node = malloc(sizeof *node);
  node->key = key;
  node->next = list;
  return node;
}

int main(int argc, char **argv) {
  struct node *list = NULL;
  int *old[8];
  for (int i = 0; i < 8; i++) { old[i] = malloc(sizeof(struct node)); old[i][0] = old[i][1] = old[i][2] = 77; }
  for (int i = 0; i < 8; i++) free(old[i]);
  for (int i = 1; i < argc; i++) {
    int key = atoi(argv[i]);
    struct node *at = list;
    while (at && at->key != key) at = at->next;
    if (!at) list = at = add(list, key);
    at->hits++;
  }
  for (struct node *at = list; at; at = at->next) printf("%d:%d ", at->key, at->hits);
  puts("");
  return 0;
}
