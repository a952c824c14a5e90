/* flags: -std=gnu89 */
/* A typedef is what it says, whatever C calls so later. */
#include <stdio.h>
typedef char bool;
typedef enum { false, true } truth;
struct flags { bool a, b; truth t; };
static bool store(int n) { bool b = n; return b; }
int main(void) {
  struct flags f = { 2, -1, true };
  bool *p = &f.a;
  bool many[3];
  many[0] = 200; many[1] = 256; many[2] = *p;
  printf("%d %d %d %d\n", store(258), f.a, f.b, f.t);
  printf("%d %d %d %d\n", many[0], many[1], many[2], (int)sizeof(bool));
  return f.a << 1;
}
