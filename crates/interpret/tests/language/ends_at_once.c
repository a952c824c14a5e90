#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void registered(void) { puts("registered"); }
__attribute__((destructor)) static void destructor(void) {
  puts("destructor");
  fflush(stdout);
}

int main(void) {
  atexit(registered);
  puts("begins");
  fflush(stdout);
  puts("is lost");
  _exit(3);
}
