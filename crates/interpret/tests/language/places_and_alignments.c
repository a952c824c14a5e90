#include <stddef.h>
#include <stdio.h>

long in_a_constant = (long)&((struct {
                       char a;
                       int b;
                     } *)0)->b;
#define ALIGNMENT(type) \
  offsetof(             \
      struct {          \
        char c;         \
        type x;         \
      },                \
      x)
struct nested {
  int a;
  struct {
    int b, c[3];
  } d;
  const char *name;
};
struct nested *literal = &(struct nested){.d = {.c = {[2] = 7}}, .a = 1};
struct nested *empty = &(struct nested){.d.b = 3};
struct asked {
  char c;
  int wide __attribute__((aligned(16)));
};

int main(int argc, char **argv) {
  printf("%ld\n", in_a_constant);
  printf("%ld\n", (long)&((struct {
                    char a;
                    long b;
                  } *)0)->b);
  printf("%zu %zu\n", ALIGNMENT(double), ALIGNMENT(short));
  printf("%zu\n", offsetof(
                      struct {
                        char c;
                        int d[3];
                      },
                      d[argc]));
  printf("%d %d %d\n", literal->d.c[2], literal->name == 0, empty->d.b);
  int __attribute__((aligned(8))) local = 0;
  struct asked object;
  printf("%zu %zu %zu\n", __alignof__(local), __alignof__(object.wide),
         __alignof__(object.c));
  return local;
}
