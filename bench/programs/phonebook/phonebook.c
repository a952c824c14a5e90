/* A sorted list of names and numbers: "+name number" adds, "-name" removes, "?name" looks up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  char name[24];
  int number;
  struct entry *next;
};

static struct entry *book;

static void add(const char *name, int number) {
  struct entry **at = &book;
  while (*at && strcmp((*at)->name, name) < 0)
    at = &(*at)->next;
  if (*at && strcmp((*at)->name, name) == 0) {
    (*at)->number = number;
    return;
  }
  struct entry *new = calloc(1, sizeof *new);
  strncpy(new->name, name, sizeof new->name - 1);
  new->number = number;
  new->next = *at;
  *at = new;
}

static int drop(const char *name) {
  struct entry *before = NULL;
  struct entry *at = book;
  while (at && strcmp(at->name, name) != 0) {
    at = at->next;
  }
  if (!at)
    return 0;
  if (before)
    before->next = at->next;
  else
    book = at->next;
  free(at);
  return 1;
}

static const struct entry *find(const char *name) {
  for (const struct entry *at = book; at; at = at->next)
    if (strcmp(at->name, name) == 0)
      return at;
  return NULL;
}

int main(void) {
  char line[80], name[24];
  int number;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "+%23s %d", name, &number) == 2)
      add(name, number);
    else if (sscanf(line, "-%23s", name) == 1)
      puts(drop(name) ? "removed" : "unknown");
    else if (sscanf(line, "?%23s", name) == 1) {
      const struct entry *entry = find(name);
      printf("%d\n", entry ? entry->number : -1);
    }
  }
  for (const struct entry *at = book; at; at = at->next)
    printf("%s %d\n", at->name, at->number);
  return 0;
}
