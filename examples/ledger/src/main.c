#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "date.h"
#include "journal.h"
#include "report.h"

static int usage(void)
{
    fputs("usage: ledger [--from DATE] [--to DATE] balances JOURNAL\n"
          "       ledger [--from DATE] [--to DATE] register JOURNAL ACCOUNT\n"
          "       ledger [--from DATE] [--to DATE] months JOURNAL\n"
          "       ledger [--from DATE] [--to DATE] budget JOURNAL BUDGET\n",
          stderr);
    return 2;
}

static bool run(const char *command, const struct journal *journal, const char *argument)
{
    static struct budget budget;

    if (strcmp(command, "balances") == 0) {
        return report_balances(journal);
    }
    if (strcmp(command, "register") == 0) {
        report_register(journal, argument);
    } else if (strcmp(command, "months") == 0) {
        report_months(journal);
    } else {
        if (!budget_read(&budget, argument)) {
            return false;
        }
        budget_print(&budget, journal);
    }
    return true;
}

int main(int argc, char **argv)
{
    struct period period = {{0, 1, 1}, {9999, 12, 31}};
    struct journal journal;
    int next = 1;
    int arguments;
    bool done;

    for (; next + 1 < argc && strncmp(argv[next], "--", 2) == 0; next += 2) {
        bool from = strcmp(argv[next], "--from") == 0;

        if (!from && strcmp(argv[next], "--to") != 0) {
            return usage();
        }
        if (!date_parse(argv[next + 1], from ? &period.first : &period.last)) {
            fprintf(stderr, "ledger: %s: not a date\n", argv[next + 1]);
            return 2;
        }
    }
    if (next + 1 >= argc) {
        return usage();
    }
    if (strcmp(argv[next], "balances") == 0 || strcmp(argv[next], "months") == 0) {
        arguments = 2;
    } else if (strcmp(argv[next], "register") == 0 || strcmp(argv[next], "budget") == 0) {
        arguments = 3;
    } else {
        return usage();
    }
    if (argc - next != arguments) {
        return usage();
    }
    done = journal_read(&journal, argv[next + 1], &period) && run(argv[next], &journal, argv[next + 2]);
    journal_free(&journal);
    return done ? 0 : 1;
}
