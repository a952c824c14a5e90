/* Keeps the last lines of standard input in a ring, as `tail` does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, WIDTH = 80 };

struct ring {
  char lines[MOST][WIDTH];
  int capacity;
  int first;
  int count;
};

static void ring_add(struct ring *ring, const char *line) {
  int at = ring->count % ring->capacity;
  strncpy(ring->lines[at], line, WIDTH - 1);
  ring->lines[at][WIDTH - 1] = '\0';
  if (ring->count < ring->capacity)
    ring->count++;
  else
    ring->first = (ring->first + 1) % ring->capacity;
}

static const char *ring_get(const struct ring *ring, int index) {
  int at = ring->first + index;
  if (at >= ring->capacity)
    at -= ring->capacity;
  return ring->lines[at];
}

int main(int argc, char **argv) {
  static struct ring ring;
  char line[256];
  int seen = 0;
  ring.capacity = argc > 1 ? atoi(argv[1]) : 10;
  if (ring.capacity < 1 || ring.capacity > MOST) {
    fputs("between 1 and 16 lines\n", stderr);
    return 2;
  }
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    ring_add(&ring, line);
    seen++;
  }
  for (int i = 0; i < ring.count; i++)
    printf("%d %s\n", seen - ring.count + i + 1, ring_get(&ring, i));
  return 0;
}
