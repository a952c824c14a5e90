#include <stdio.h>
#include <stdlib.h>

typedef struct cell Cell;
struct cell
{
  char ch;
  Cell *next;
};

Cell *
build (const char *s)
{
  Cell *c;
  if (*s == '\0')
    return NULL;
  c = malloc (sizeof (Cell));
  c->ch = *s;
  c->next = build (s + 1);
  return c;
}

Cell *
reverse (Cell *c)
{
  Cell *prev = NULL, *next;
  while (c)
    {
      c->next = prev;
      next = c->next;
      prev = c;
      c = next;
    }
  return prev;
}

int
main (int argc, char **argv)
{
  int i;
  Cell *c;
  for (i = 1; i < argc; i++)
    {
      for (c = reverse (build (argv[i])); c; c = c->next)
        putchar (c->ch);
      putchar ('\n');
    }
  printf ("%d words\n", argc - 1);
  return 0;
}
