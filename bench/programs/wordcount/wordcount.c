/* Counts words with an open-addressing hash table, and prints them in the order of their first use. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 32 };

struct slot {
  char word[16];
  int count;
  int order;
};

static struct slot table[SLOTS];
static int used;

static unsigned hash(const char *word) {
  unsigned value = 5381;
  while (*word)
    value = value * 33 + (unsigned char)*word++;
  return value;
}

static struct slot *slot_of(const char *word) {
  unsigned mask = SLOTS - 1;
  unsigned at = hash(word) & mask;
  while (table[at].count > 0 && strcmp(table[at].word, word) != 0)
    at = (at + 1) & SLOTS;
  return &table[at];
}

static void count(const char *word) {
  struct slot *slot = slot_of(word);
  if (slot->count == 0) {
    if (used == SLOTS - 1)
      return;
    strcpy(slot->word, word);
    slot->order = used++;
  }
  slot->count++;
}

int main(void) {
  char word[16];
  int length = 0, c;
  do {
    c = getchar();
    if (isalpha(c)) {
      if (length < (int)sizeof word - 1)
        word[length++] = (char)tolower(c);
    } else if (length > 0) {
      word[length] = '\0';
      count(word);
      length = 0;
    }
  } while (c != EOF);
  for (int order = 0; order < used; order++)
    for (int i = 0; i < SLOTS; i++)
      if (table[i].count > 0 && table[i].order == order)
        printf("%s %d\n", table[i].word, table[i].count);
  return 0;
}
