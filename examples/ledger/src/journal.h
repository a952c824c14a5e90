/* The journal: transactions, one a line, as DATE,ACCOUNT,CATEGORY,AMOUNT[,NOTE]. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "date.h"
#include "money.h"

#define NAME_SIZE 24
#define NOTE_SIZE 64
#define LINE_SIZE 256

struct transaction {
    struct date date;
    char account[NAME_SIZE];
    char category[NAME_SIZE];
    money amount; /* positive: into the account */
    char note[NOTE_SIZE];
};

struct journal {
    struct transaction *transactions; /* by date; those of one day in the order of the file */
    size_t count, room;
};

/* Both days belong to the period. */
struct period {
    struct date first, last;
};

/* Reads the transactions of a period from a file. On an error, says on stderr where and what; the journal then is
 * to be freed all the same. */
bool journal_read(struct journal *journal, const char *path, const struct period *period);
void journal_free(struct journal *journal);

/* Reads a line without its end; 1: a line, 0: no more lines, -1: the line is too long. */
int read_line(FILE *file, char line[LINE_SIZE]);

/* Copies a name of letters, digits, '-' and '_'; false when it is empty, too long or something else. */
bool copy_name(char name[NAME_SIZE], const char *text);

#endif
