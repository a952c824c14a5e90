#include "report.h"

#include <stdlib.h>
#include <string.h>

struct balance {
    const char *account;
    money amount;
};

bool report_balances(const struct journal *journal)
{
    size_t count = 0;
    money sum = 0;
    struct balance *balances = calloc(journal->count + 1, sizeof *balances);

    if (balances == NULL) {
        fprintf(stderr, "ledger: out of memory\n");
        return false;
    }
    for (size_t i = 0; i < journal->count; i++) {
        const struct transaction *transaction = &journal->transactions[i];
        size_t found = 0;

        while (found < count && strcmp(balances[found].account, transaction->account) != 0) {
            found++;
        }
        if (found == count) {
            balances[count++].account = transaction->account;
        }
        balances[found].amount += transaction->amount;
        sum += transaction->amount;
    }
    for (size_t i = 0; i < count; i++) {
        printf("%-*s", NAME_SIZE, balances[i].account);
        money_print(balances[i].amount, 13);
        putchar('\n');
    }
    printf("%-*s", NAME_SIZE, "total");
    money_print(sum, 13);
    putchar('\n');
    free(balances);
    return true;
}

void report_register(const struct journal *journal, const char *account)
{
    money balance = 0;

    for (size_t i = 0; i < journal->count; i++) {
        const struct transaction *transaction = &journal->transactions[i];

        if (strcmp(transaction->account, account) != 0) {
            continue;
        }
        balance += transaction->amount;
        printf("%04d-%02d-%02d  %-*s", transaction->date.year, transaction->date.month, transaction->date.day,
               NAME_SIZE, transaction->category);
        money_print(transaction->amount, 13);
        money_print(balance, 13);
        printf("%s%s\n", transaction->note[0] == '\0' ? "" : "  ", transaction->note);
    }
}

void report_months(const struct journal *journal)
{
    size_t i = 0;

    printf("%-7s %12s %12s %12s\n", "month", "in", "out", "difference");
    while (i < journal->count) {
        int month = date_month(&journal->transactions[i].date);
        money in = 0;
        money out = 0;

        for (; i < journal->count && date_month(&journal->transactions[i].date) == month; i++) {
            money amount = journal->transactions[i].amount;

            /* Money that only moves from one account to another is neither. */
            if (strcmp(journal->transactions[i].category, "transfer") == 0) {
                continue;
            }
            if (amount > 0) {
                in += amount;
            } else {
                out -= amount;
            }
        }
        month_print(month);
        money_print(in, 13);
        money_print(out, 13);
        money_print(in - out, 13);
        putchar('\n');
    }
}
