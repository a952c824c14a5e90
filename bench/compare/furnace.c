/* What a furnace does next: twelve readings, limits by the kind of load, alarms, and what the operator has asked for. */
#include <stdio.h>
#include <stdlib.h>

#define COLDEST 150
#define HOTTEST 1250
#define STEEPEST 40
#define DOOR_SHUT 1
#define PURGE_TIME 90
#define LEAST_FLOW 25

enum action { REFUSED, HOLD, HEAT, COOL, PURGE, SHUT_DOWN };
enum load { STEEL, GLASS, CLAY, NOTHING };

struct readings {
    int inside, outside, wanted, rise, flow, pressure;
    int door, since_purge, load, operator_says, sensor_a, sensor_b;
};

static struct readings now;
static int lowest[4], highest[4], slack[4];

static void initialise(void)
{
    lowest[STEEL] = 700;
    lowest[GLASS] = 450;
    lowest[CLAY] = 600;
    lowest[NOTHING] = COLDEST;
    highest[STEEL] = HOTTEST;
    highest[GLASS] = 620;
    highest[CLAY] = 1100;
    highest[NOTHING] = 400;
    slack[STEEL] = 30;
    slack[GLASS] = 5;
    slack[CLAY] = 12;
    slack[NOTHING] = 50;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a < b ? b : a;
}

static int distance(int a, int b)
{
    return a < b ? b - a : a - b;
}

static int is_plausible(void)
{
    if (now.inside < -50 || now.inside > 3000)
        return 0;
    if (now.outside < -50 || now.outside > 60)
        return 0;
    if (now.rise < -200 || now.rise > 200)
        return 0;
    return now.pressure >= 0 && now.pressure <= 500 && now.flow >= 0 && now.flow <= 100;
}

static int sensors_agree(void)
{
    int apart = distance(now.sensor_a, now.sensor_b);
    if (apart > slack[now.load])
        return 0;
    return distance(now.inside, now.sensor_a) <= 2 * slack[now.load];
}

static int target(void)
{
    int bounded = most(lowest[now.load], least(now.wanted, highest[now.load]));
    if (now.operator_says == 3 && now.load != NOTHING)
        return bounded - slack[now.load];
    return bounded;
}

static int is_too_steep(void)
{
    int limit = STEEPEST;
    if (now.load == GLASS)
        limit = STEEPEST / 4;
    else if (now.load == CLAY && now.inside < 600)
        limit = STEEPEST / 2;
    return now.rise > limit;
}

static int needs_purge(void)
{
    if (now.since_purge < PURGE_TIME)
        return 0;
    return now.flow < LEAST_FLOW || (now.pressure > 300 && now.door == DOOR_SHUT);
}

static int is_dangerous(void)
{
    if (now.inside > HOTTEST + slack[now.load])
        return 1;
    if (now.pressure > 400 && now.flow < LEAST_FLOW)
        return 1;
    return now.door != DOOR_SHUT && now.inside > 2 * COLDEST && now.rise > 0;
}

static int regulate(void)
{
    int goal = target();
    int apart = distance(now.inside, goal);
    if (apart <= slack[now.load])
        return HOLD;
    if (now.inside < goal)
        return is_too_steep() ? HOLD : HEAT;
    if (now.rise < -STEEPEST && now.load == GLASS)
        return HOLD;
    return now.outside < 40 ? COOL : HOLD;
}

static int decide(void)
{
    if (!is_plausible())
        return SHUT_DOWN;
    if (is_dangerous())
        return now.operator_says == 7 && now.inside < HOTTEST ? COOL : SHUT_DOWN;
    if (!sensors_agree())
        return now.operator_says == 2 ? HOLD : COOL;
    if (needs_purge())
        return PURGE;
    if (now.door != DOOR_SHUT)
        return now.load == NOTHING ? COOL : HOLD;
    if (now.operator_says == 1)
        return now.inside > lowest[now.load] ? COOL : HOLD;
    return regulate();
}

int main(int argc, char **argv)
{
    if (argc < 13) {
        printf("usage: twelve numbers\n");
        return 1;
    }
    initialise();
    now.inside = atoi(argv[1]);
    now.outside = atoi(argv[2]);
    now.wanted = atoi(argv[3]);
    now.rise = atoi(argv[4]);
    now.flow = atoi(argv[5]);
    now.pressure = atoi(argv[6]);
    now.door = atoi(argv[7]);
    now.since_purge = atoi(argv[8]);
    now.load = atoi(argv[9]);
    now.operator_says = atoi(argv[10]);
    now.sensor_a = atoi(argv[11]);
    now.sensor_b = atoi(argv[12]);
    if (now.load < STEEL || now.load > NOTHING) {
        printf("no such load\n");
        return 2;
    }
    printf("%d\n", decide());
    return 0;
}
