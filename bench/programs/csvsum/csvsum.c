/* Adds up one column of comma-separated values with quoted fields. */
#include <stdio.h>
#include <stdlib.h>

enum state { FIELD, QUOTED, QUOTE_SEEN, BROKEN };

static char field[64];
static int length;

static void keep(int c) {
  if (length < (int)sizeof field - 1)
    field[length++] = (char)c;
}

/* What the character makes of the state. */
static enum state step(enum state state, int c) {
  switch (state) {
  case FIELD:
    if (c == '"')
      return length == 0 ? QUOTED : BROKEN;
    keep(c);
    return FIELD;
  case QUOTED:
    if (c == '"')
      return QUOTE_SEEN;
    keep(c);
    return QUOTED;
  case QUOTE_SEEN:
    if (c == '"') {
      keep(c);
      return QUOTED;
    }
    return BROKEN;
  default:
    return BROKEN;
  }
}

int main(int argc, char **argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : 0;
  int column = 0, rows = 0, bad = 0;
  long sum = 0;
  enum state state = FIELD;
  int c;
  while ((c = getchar()) != EOF) {
    int ends_field = state != QUOTED && c == ',' || c == '\n';
    if (!ends_field) {
      state = step(state, c);
      continue;
    }
    field[length] = '\0';
    if (state == BROKEN)
      bad++;
    else if (column == wanted)
      sum += atol(field);
    length = 0;
    state = FIELD;
    column++;
    if (c == '\n') {
      rows++;
      column = 0;
    }
  }
  printf("%d rows, sum %ld, %d bad\n", rows, sum, bad);
  return 0;
}
