/* Parking fees: reads tickets "HH:MM HH:MM KIND" and prints what each costs in cents. */
#include <stdio.h>
#include <string.h>

enum { FREE_MINUTES = 15, HOUR_FEE = 220, DAY_FEE = 1500, NIGHT_START = 20 * 60 };

static int minutes_of(int hour, int minute) {
  return hour * 60 + minute;
}

/* Every hour that has begun counts. */
static int started_hours(int minutes) {
  return (minutes + 59) / 60;
}

static int fee(int from, int to, int is_resident) {
  int stay = to - from;
  int day = stay;
  int cost;
  if (stay < 0)
    stay += 24 * 60;
  day = stay;
  if (stay <= FREE_MINUTES)
    return 0;
  if (to > NIGHT_START && from < NIGHT_START)
    day = NIGHT_START - from;
  if (from >= NIGHT_START)
    day = stay / 2;
  cost = started_hours(day) * HOUR_FEE;
  if (cost > DAY_FEE)
    cost = DAY_FEE;
  if (is_resident)
    cost -= cost / 4;
  return cost;
}

int main(void) {
  int from_hour, from_minute, to_hour, to_minute;
  char kind[16];
  int total = 0;
  while (scanf("%d:%d %d:%d %15s", &from_hour, &from_minute, &to_hour, &to_minute, kind) == 5) {
    int from = minutes_of(from_hour, from_minute);
    int to = minutes_of(to_hour, to_minute);
    int cost = fee(from, to, strcmp(kind, "resident") == 0);
    printf("%02d:%02d %d\n", from_hour, from_minute, cost);
    total += cost;
  }
  printf("total %d\n", total);
  return 0;
}
