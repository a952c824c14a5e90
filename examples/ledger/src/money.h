/* Amounts of money, in cents. */
#ifndef MONEY_H
#define MONEY_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t money;

/* No single amount may be larger: a billion of them can be added without overflow. */
#define MONEY_MAX ((money)999999999)

/* Reads "12", "12.3" or "-12.34"; false when the text is none of these or too large. */
bool money_parse(const char *text, money *amount);

/* Prints an amount with two decimals, flush right in a column. */
void money_print(money amount, int width);

#endif
