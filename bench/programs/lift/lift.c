/* A lift: reads floors that are called and prints what it does until it has been everywhere. */
#include <stdio.h>

enum { FLOORS = 8 };
enum direction { DOWN = -1, IDLE = 0, UP = 1 };

struct lift {
  int floor;
  int direction;
  int door_open;
  int moved;
  unsigned calls;
};

static int has_call(const struct lift *lift, int floor) {
  return (lift->calls >> floor) & 1;
}

static int call_beyond(const struct lift *lift, int direction) {
  int floor = lift->floor + direction;
  while (floor >= 0 && floor < FLOORS) {
    if (has_call(lift, floor))
      return 1;
    floor += direction;
  }
  return 0;
}

static void choose_direction(struct lift *lift) {
  if (lift->direction != IDLE && call_beyond(lift, lift->direction))
    return;
  if (call_beyond(lift, UP))
    lift->direction = UP;
  else if (call_beyond(lift, DOWN))
    lift->direction = DOWN;
  else
    lift->direction = IDLE;
}

static void tick(struct lift *lift) {
  if (has_call(lift, lift->floor)) {
    lift->door_open = 1;
    lift->calls &= ~(1u << lift->floor);
    printf("open %d\n", lift->floor);
    return;
  }
  choose_direction(lift);
  if (lift->direction == IDLE)
    return;
  if (lift->door_open) {
    printf("close %d\n", lift->floor);
  }
  lift->floor += lift->direction;
  lift->moved++;
}

int main(void) {
  struct lift lift = {0, IDLE, 0, 0, 0};
  int floor, ticks = 0;
  while (scanf("%d", &floor) == 1)
    if (floor >= 0 && floor < FLOORS)
      lift.calls |= 1u << floor;
  while (lift.calls && ticks < 100) {
    tick(&lift);
    ticks++;
  }
  printf("floor %d, %d moves, %d ticks\n", lift.floor, lift.moved, ticks);
  return 0;
}
