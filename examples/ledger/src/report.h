/* Reports on a journal alone. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

#include "journal.h"

/* Prints the balance of every account, in the order of their first transactions, and their sum. */
bool report_balances(const struct journal *journal);

/* Prints the transactions of an account with the balance after each. */
void report_register(const struct journal *journal, const char *account);

/* Prints for every month what came in, what went out and the difference. */
void report_months(const struct journal *journal);

#endif
