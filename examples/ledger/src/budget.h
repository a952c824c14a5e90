/* Envelope budgeting: every month an envelope gets its limit, and spending of its category is paid from it. */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "journal.h"
#include "money.h"

#define MAX_ENVELOPES 32

struct envelope {
    char category[NAME_SIZE];
    money limit;
    bool rolls_over; /* what is left goes into the next month ... */
    money cap;       /* ... up to this much; 0: without a cap */
    bool keeps_debt; /* overspending is taken from the next month */
};

struct budget {
    struct envelope envelopes[MAX_ENVELOPES];
    size_t count;
};

/* Reads lines of CATEGORY LIMIT [rollover] [cap=AMOUNT] [debt]. On an error, says on stderr where and what. */
bool budget_read(struct budget *budget, const char *path);

/* Prints for every month of the journal and every envelope what it has got, spent and left. */
void budget_print(const struct budget *budget, const struct journal *journal);

#endif
