// case a a r => 2
// case r a r => 01
// case r r => 00
// schemas: move
// patch in: press
#include <stdio.h>

static int credit;

static void press(char key) {
  switch (key) {
  case 'a':
    credit++;
    break;
  case 'r':
    credit = 0;
    printf("%d", credit);
    break;
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    press(argv[i][0]);
  printf("\n");
  return 0;
}
