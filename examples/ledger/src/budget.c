#include "budget.h"

#include <string.h>

/* What is wrong with the line, or NULL. */
static const char *parse_envelope(struct envelope *envelope, char *line)
{
    char *word = strtok(line, " ");

    memset(envelope, 0, sizeof *envelope);
    if (word == NULL || !copy_name(envelope->category, word)) {
        return "not a name of a category";
    }
    word = strtok(NULL, " ");
    if (word == NULL || !money_parse(word, &envelope->limit) || envelope->limit < 0) {
        return "not a limit";
    }
    while ((word = strtok(NULL, " ")) != NULL) {
        if (strcmp(word, "rollover") == 0) {
            envelope->rolls_over = true;
        } else if (strcmp(word, "debt") == 0) {
            envelope->keeps_debt = true;
        } else if (strncmp(word, "cap=", 4) == 0) {
            if (!money_parse(word + 4, &envelope->cap) || envelope->cap <= 0) {
                return "not a cap";
            }
        } else {
            return "expected rollover, cap=AMOUNT or debt";
        }
    }
    return NULL;
}

bool budget_read(struct budget *budget, const char *path)
{
    char line[LINE_SIZE];
    const char *error = NULL;
    int number = 0;
    int read = 0;
    FILE *file = fopen(path, "r");

    budget->count = 0;
    if (file == NULL) {
        fprintf(stderr, "ledger: cannot read %s\n", path);
        return false;
    }
    while (error == NULL && (read = read_line(file, line)) > 0) {
        number++;
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        if (budget->count == MAX_ENVELOPES) {
            error = "too many envelopes";
        } else {
            error = parse_envelope(&budget->envelopes[budget->count++], line);
        }
    }
    if (read < 0) {
        number++;
        error = "the line is too long";
    }
    if (error != NULL) {
        fprintf(stderr, "ledger: %s:%d: %s\n", path, number, error);
    }
    fclose(file);
    return error == NULL;
}

/* What was spent on a category in a month; income of the category, such as a refund, lowers it. */
static money spent_in(const struct journal *journal, const char *category, int month)
{
    money spent = 0;

    for (size_t i = 0; i < journal->count; i++) {
        const struct transaction *transaction = &journal->transactions[i];

        if (date_month(&transaction->date) == month && strcmp(transaction->category, category) == 0) {
            spent -= transaction->amount;
        }
    }
    return spent;
}

/* What an envelope hands on to the next month. */
static money carry_over(const struct envelope *envelope, money available, money spent)
{
    money rest = available - spent;

    if (rest < 0) {
        return envelope->keeps_debt ? rest : 0;
    }
    if (!envelope->rolls_over) {
        return 0;
    }
    if (rest > envelope->cap) {
        return envelope->cap;
    }
    return rest;
}

void budget_print(const struct budget *budget, const struct journal *journal)
{
    money carried[MAX_ENVELOPES] = {0};
    int last;

    printf("%-7s  %-*s %12s %12s %12s %12s\n", "month", NAME_SIZE, "envelope", "limit", "carried", "spent", "left");
    if (journal->count == 0) {
        return;
    }
    last = date_month(&journal->transactions[journal->count - 1].date);
    for (int month = date_month(&journal->transactions[0].date); month <= last; month++) {
        for (size_t i = 0; i < budget->count; i++) {
            const struct envelope *envelope = &budget->envelopes[i];
            money available = envelope->limit + carried[i];
            money spent = spent_in(journal, envelope->category, month);

            month_print(month);
            printf("  %-*s", NAME_SIZE, envelope->category);
            money_print(envelope->limit, 13);
            money_print(carried[i], 13);
            money_print(spent, 13);
            money_print(available - spent, 13);
            putchar('\n');
            carried[i] = carry_over(envelope, available, spent);
        }
    }
}
