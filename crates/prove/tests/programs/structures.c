// function: move
// answer: proved
#include <assert.h>

struct point {
    int x, y;
};

struct box {
    struct point low, high;
    unsigned char id : 3;
};

static int width(const struct box *b)
{
    return b->high.x - b->low.x;
}

void move(struct box *b, short dx)
{
    struct box old = *b;
    if (b->low.x < -1000 || b->low.x > 1000 || b->high.x < -1000 || b->high.x > 1000)
        return;
    b->low.x += dx;
    b->high.x += dx;
    assert(width(b) == width(&old));
    assert(b->id == old.id);
}
