/* Which way two trains on one track have to give way: sensors, limits by layer, and what the other one has announced. */
#include <stdio.h>
#include <stdlib.h>

#define CLIMB 300
#define LATEST 600
#define NEAR 100

enum advice { NONE, FORWARD, BACKWARD };

static int own_place, own_speed, other_place, other_speed;
static int layer, announced, age, trusted, limits[4];

static void initialise(void)
{
    limits[0] = 400;
    limits[1] = 500;
    limits[2] = 640;
    limits[3] = 740;
}

static int limit(void)
{
    return limits[layer];
}

static int ahead(void)
{
    return own_place < other_place;
}

static int behind(void)
{
    return other_place < own_place;
}

static int inhibited(int place)
{
    return announced ? place + NEAR : place;
}

static int forward_is_better(int front, int back)
{
    int prefers = inhibited(front) > back;
    if (prefers)
        return !ahead() || (ahead() && !(back >= limit()));
    return behind() && front >= limit() && own_speed >= CLIMB;
}

static int backward_is_better(int front, int back)
{
    int prefers = inhibited(front) > back;
    if (prefers)
        return ahead() && back >= limit() && other_speed >= CLIMB;
    return !behind() || (behind() && front >= limit());
}

static int decide(int front, int back)
{
    int enabled = trusted && own_speed <= LATEST && age > CLIMB;
    int equipped = announced < 2;
    int unclear = announced == 0 && other_speed == 0;
    int forward, backward;
    if (!enabled || !((equipped && unclear) || !equipped))
        return NONE;
    forward = forward_is_better(front, back) && ahead();
    backward = backward_is_better(front, back) && behind();
    if (forward && backward)
        return NONE;
    if (forward)
        return FORWARD;
    if (backward)
        return BACKWARD;
    return NONE;
}

int main(int argc, char **argv)
{
    if (argc < 11) {
        printf("usage: eleven numbers\n");
        return 1;
    }
    initialise();
    own_place = atoi(argv[1]);
    own_speed = atoi(argv[2]);
    other_place = atoi(argv[3]);
    other_speed = atoi(argv[4]);
    layer = atoi(argv[5]);
    announced = atoi(argv[6]);
    age = atoi(argv[7]);
    trusted = atoi(argv[8]);
    if (layer < 0 || layer > 3)
        return 2;
    printf("%d\n", decide(atoi(argv[9]), atoi(argv[10])));
    return 0;
}
