/* Counts words with a hash table of chained entries, and prints them by frequency. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 127

typedef struct entry { char *word; unsigned count; struct entry *next; } entry;

static entry *table[BUCKETS];
static size_t entries;

static unsigned hash(const char *s) {
  unsigned h = 5381;
  while (*s) h = h * 33 ^ (unsigned char)*s++;
  return h % BUCKETS;
}

static void add(const char *word) {
  entry **at = &table[hash(word)];
  for (; *at; at = &(*at)->next)
    if (strcmp((*at)->word, word) == 0) { (*at)->count++; return; }
  entry *e = malloc(sizeof *e);
  if (!e) { perror("malloc"); exit(EXIT_FAILURE); }
  e->word = strdup(word); e->count = 1; e->next = NULL;
  *at = e; entries++;
}

static int by_count(const void *a, const void *b) {
  const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return strcmp(x->word, y->word);
}

int main(void) {
  char word[64]; int c; size_t n = 0;
  while ((c = getchar()) != EOF) {
    if (isalpha(c)) { if (n < sizeof word - 1) word[n++] = (char)tolower(c); }
    else if (n) { word[n] = '\0'; add(word); n = 0; }
  }
  if (n) { word[n] = '\0'; add(word); }
  entry **list = calloc(entries, sizeof *list); size_t k = 0;
  for (int i = 0; i < BUCKETS; i++)
    for (entry *e = table[i]; e; e = e->next) list[k++] = e;
  qsort(list, k, sizeof *list, by_count);
  for (size_t i = 0; i < k; i++) printf("%-10s %3u\n", list[i]->word, list[i]->count);
  for (int i = 0; i < BUCKETS; i++)
    for (entry *e = table[i], *next; e; e = next) { next = e->next; free(e->word); free(e); }
  free(list);
  return 0;
}
