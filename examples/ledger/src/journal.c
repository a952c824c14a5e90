#include "journal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int read_line(FILE *file, char line[LINE_SIZE])
{
    size_t length;

    if (fgets(line, LINE_SIZE, file) == NULL) {
        return 0;
    }
    length = strcspn(line, "\n");
    if (line[length] == '\0' && length + 1 == LINE_SIZE) {
        return -1;
    }
    line[length] = '\0';
    return 1;
}

bool copy_name(char name[NAME_SIZE], const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || length >= NAME_SIZE) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_') {
            return false;
        }
    }
    memcpy(name, text, length + 1);
    return true;
}

/* Cuts the text at its first comma; the part behind it, or NULL when there is none. */
static char *cut(char *text)
{
    char *comma = text == NULL ? NULL : strchr(text, ',');

    if (comma == NULL) {
        return NULL;
    }
    *comma = '\0';
    return comma + 1;
}

/* What is wrong with the line, or NULL. */
static const char *parse_transaction(struct transaction *transaction, char *line)
{
    char *account = cut(line);
    char *category = cut(account);
    char *amount = cut(category);
    char *note = cut(amount);

    if (amount == NULL) {
        return "expected DATE,ACCOUNT,CATEGORY,AMOUNT[,NOTE]";
    }
    if (!date_parse(line, &transaction->date)) {
        return "not a date";
    }
    if (!copy_name(transaction->account, account)) {
        return "not a name of an account";
    }
    if (!copy_name(transaction->category, category)) {
        return "not a name of a category";
    }
    if (!money_parse(amount, &transaction->amount)) {
        return "not an amount";
    }
    if (note != NULL && strlen(note) >= NOTE_SIZE) {
        return "the note is too long";
    }
    strcpy(transaction->note, note == NULL ? "" : note);
    return NULL;
}

/* Puts the transaction behind all those of its day and before; false when memory is short. */
static bool insert(struct journal *journal, const struct transaction *transaction)
{
    size_t place = journal->count;

    if (journal->count == journal->room) {
        size_t room = journal->room == 0 ? 64 : 2 * journal->room;
        struct transaction *moved = realloc(journal->transactions, room * sizeof *moved);

        if (moved == NULL) {
            return false;
        }
        journal->transactions = moved;
        journal->room = room;
    }
    while (place > 0 && date_compare(&journal->transactions[place - 1].date, &transaction->date) > 0) {
        journal->transactions[place] = journal->transactions[place - 1];
        place--;
    }
    journal->transactions[place] = *transaction;
    journal->count++;
    return true;
}

bool journal_read(struct journal *journal, const char *path, const struct period *period)
{
    char line[LINE_SIZE];
    struct transaction transaction;
    const char *error = NULL;
    int number = 0;
    int read = 0;
    FILE *file = fopen(path, "r");

    memset(journal, 0, sizeof *journal);
    if (file == NULL) {
        fprintf(stderr, "ledger: cannot read %s\n", path);
        return false;
    }
    while (error == NULL && (read = read_line(file, line)) > 0) {
        number++;
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        error = parse_transaction(&transaction, line);
        if (error == NULL && date_compare(&transaction.date, &period->first) >= 0 &&
            date_compare(&transaction.date, &period->last) <= 0 && !insert(journal, &transaction)) {
            error = "out of memory";
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

void journal_free(struct journal *journal)
{
    free(journal->transactions);
}
