// case pear apple fig => apple fig pear
// case b a => a b
// case a b => a b
// case c a b => a b c
// case x => x
// schemas: expression
// lines: 16-16
// patch in: sort
// added:       if (strcmp(words[j], words[i]) < 0) {
#include <stdio.h>
#include <string.h>

static void sort(char **words, int count) {
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++)
      if (strcmp(words[j], words[i])) {
        char *word = words[i];
        words[i] = words[j];
        words[j] = word;
      }
}

int main(int argc, char **argv) {
  sort(argv + 1, argc - 1);
  for (int i = 1; i < argc; i++)
    printf("%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
  return 0;
}
