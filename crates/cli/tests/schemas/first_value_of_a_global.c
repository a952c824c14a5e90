// The shortest of some words is sought from 0 on, so none is shorter.
// schemas: initialization
// patch in: 
// added: static int shortest = 99, words;
// case xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx => nothing
// case a => 1 letters in 1
// case four be => 2 letters in 2
#include <stdio.h>
#include <string.h>

static int shortest = 0, words;

static void look_at(const char *word) {
  int length = strlen(word);
  words++;
  if (length < shortest) shortest = length;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) look_at(argv[i]);
  if (shortest == 99) words = 0;
  if (words == 0) printf("nothing\n");
  else printf("%d letters in %d\n", shortest, words);
  return 0;
}
