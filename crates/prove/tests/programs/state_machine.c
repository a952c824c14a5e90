// function: run
// length: events=5
// bound: 7
// answer: fails 33
// A door that is locked can be opened.
#include <assert.h>

enum state { OPEN, CLOSED, LOCKED };

static enum state step(enum state now, unsigned char event)
{
    switch (now) {
    case OPEN:
        return event == 1 ? CLOSED : OPEN;
    case CLOSED:
        if (event == 2)
            return LOCKED;
        return event == 0 ? OPEN : CLOSED;
    default:
        if (event == 3)
            return CLOSED;
        return event == 0 ? OPEN : LOCKED;
    }
}

void run(const unsigned char *events)
{
    enum state now = CLOSED;
    for (int i = 0; i < 5; i++) {
        enum state before = now;
        now = step(now, events[i]);
        if (before == LOCKED)
            assert(now != OPEN);
    }
}
