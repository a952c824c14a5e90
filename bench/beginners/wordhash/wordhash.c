#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 13

typedef struct entry {
    char *key;
    int count;
    struct entry *next;
} Entry;

static Entry *table[SIZE];

static unsigned hash(const char *s)
{
    unsigned h = 0;
    while (*s)
        h = h * 31 + (unsigned char)*s++;
    return h % SIZE;
}

static void count(const char *w)
{
    unsigned h = hash(w);
    Entry *e;

    for (e = table[h]; e != NULL; e = e->next) {
        if (strcmp(e->key, w) == 0) {
            e->count++;
            return;
        }
    }
    e = malloc(sizeof(Entry));
    e->key = strdup(w);
    e->count = 1;
    e->next = table[h];
    table[h] = e;
}

static int get(const char *w)
{
    Entry *e;
    for (e = table[hash(w)]; e != NULL; e = e->next)
        if (strcmp(e->key, w) == 0)
            return e->count;
    return 0;
}

static void clear(void)
{
    int i;
    for (i = 0; i < SIZE; i++) {
        Entry *e = table[i], *next;
        while (e != NULL) {
            next = e->next;
            free(e->key);
            free(e);
            e = next;
        }
    }
}

int main(void)
{
    char w[50];

    while (scanf("%49s", w) == 1) {
        if (strcmp(w, "!clear") == 0)
            clear();
        else if (w[0] == '?')
            printf("%s %d\n", w + 1, get(w + 1));
        else
            count(w);
    }
    return 0;
}
