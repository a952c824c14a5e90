#include "money.h"

#include <stdio.h>

bool money_parse(const char *text, money *amount)
{
    money value = 0;
    int decimals = -1; /* not yet behind the point */
    int digits = 0;
    bool negative = *text == '-';

    if (negative) {
        text++;
    }
    for (; *text != '\0'; text++) {
        if (*text == '.') {
            if (decimals >= 0 || digits == 0) {
                return false;
            }
            decimals = 0;
            continue;
        }
        if (*text < '0' || *text > '9' || decimals == 2) {
            return false;
        }
        value = value * 10 + (*text - '0');
        digits++;
        if (decimals >= 0) {
            decimals++;
        }
        if (value > MONEY_MAX) {
            return false;
        }
    }
    if (digits == 0 || decimals == 0) {
        return false;
    }
    while (decimals < 2) {
        value *= 10;
        decimals = decimals < 0 ? 1 : decimals + 1;
    }
    if (value > MONEY_MAX) {
        return false;
    }
    *amount = negative ? -value : value;
    return true;
}

void money_print(money amount, int width)
{
    char text[32];
    money size = amount < 0 ? -amount : amount;

    snprintf(text, sizeof text, "%s%lld.%02d", amount < 0 ? "-" : "", (long long)(size / 100), (int)(size % 100));
    printf("%*s", width, text);
}
