// The bug is met before main, in a constructor.
// case a => 6
// case ab => 6
// case abcdef => 6
// case abcdefg => 7
// patch in: start
#include <alloca.h>
#include <stdio.h>
#include <string.h>
static int least;
__attribute__((constructor)) static void start(int argc, char **argv) {
  char *room = memset(alloca(16), 0, 16);
  strcpy(room, "abcde");
  least = (int)strlen(room);
  if (argc > 1 && strlen(argv[1]) > 5)
    least = (int)strlen(argv[1]);
}
int main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  printf("%d\n", least);
  return 0;
}
