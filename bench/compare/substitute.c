/* Replaces what matches a pattern in each line of standard input: substitute PATTERN REPLACEMENT.
   Patterns: `?` any character, `[abc]`, `[a-c]`, `[^abc]` classes, `*` behind an element closure, `%` at the beginning and
   `$` at the end of a line, `@n`, `@t` and `@x` escapes. In replacements `&` is what matched. */
#include <stdio.h>
#include <string.h>

#define MOST 100
#define LITERAL 'c'
#define ANY '?'
#define CLASS '['
#define OUTSIDE '^'
#define BEGIN '%'
#define END '$'
#define CLOSURE '*'
#define DITTO (-1)

static char pattern[MOST];
static int replacement[MOST];
static int parts;

static int escaped(const char *text, int *at)
{
    if (text[*at] != '@')
        return text[*at];
    if (text[*at + 1] == 0)
        return '@';
    *at = *at + 1;
    if (text[*at] == 'n')
        return '\n';
    if (text[*at] == 't')
        return '\t';
    return text[*at];
}

static int add(int c, int *length)
{
    if (*length >= MOST - 1)
        return 0;
    pattern[*length] = (char)c;
    *length = *length + 1;
    return 1;
}

static int add_class(const char *text, int *at, int *length)
{
    int count_at, first;
    *at = *at + 1;
    if (text[*at] == '^') {
        add(OUTSIDE, length);
        *at = *at + 1;
    } else {
        add(CLASS, length);
    }
    count_at = *length;
    add(0, length);
    first = 1;
    while (text[*at] != 0 && text[*at] != ']') {
        int c = escaped(text, at);
        if (c == '-' && !first && text[*at + 1] != 0 && text[*at + 1] != ']') {
            int low = pattern[*length - 1] + 1;
            int high = text[*at + 1];
            while (low <= high && low < 127) {
                add(low, length);
                low++;
            }
            *at = *at + 1;
        } else {
            add(c, length);
        }
        first = 0;
        *at = *at + 1;
    }
    pattern[count_at] = (char)(*length - count_at - 1);
    return text[*at] == ']';
}

static int compile_pattern(const char *text)
{
    int at = 0, length = 0, last = 0;
    while (text[at] != 0) {
        int here = length;
        if (text[at] == BEGIN && at == 0) {
            add(BEGIN, &length);
        } else if (text[at] == END && text[at + 1] == 0) {
            add(END, &length);
        } else if (text[at] == ANY) {
            add(ANY, &length);
        } else if (text[at] == '[') {
            if (!add_class(text, &at, &length))
                return 0;
        } else if (text[at] == CLOSURE && at > 0 && pattern[last] != BEGIN && pattern[last] != CLOSURE) {
            int move;
            if (length >= MOST - 1)
                return 0;
            for (move = length; move > last; move--)
                pattern[move] = pattern[move - 1];
            pattern[last] = CLOSURE;
            length++;
            here = last;
        } else {
            add(LITERAL, &length);
            add(escaped(text, &at), &length);
        }
        last = here;
        at++;
    }
    pattern[length] = 0;
    return 1;
}

static int compile_replacement(const char *text)
{
    int at = 0;
    parts = 0;
    while (text[at] != 0) {
        if (parts >= MOST)
            return 0;
        if (text[at] == '&')
            replacement[parts] = DITTO;
        else
            replacement[parts] = escaped(text, &at);
        parts++;
        at++;
    }
    return 1;
}

static int size_of(int at)
{
    switch (pattern[at]) {
    case LITERAL:
        return 2;
    case CLASS:
    case OUTSIDE:
        return pattern[at + 1] + 2;
    default:
        return 1;
    }
}

static int contains(int at, int c)
{
    int count = pattern[at + 1];
    while (count > 0) {
        if (pattern[at + 1 + count] == c)
            return 1;
        count--;
    }
    return 0;
}

static int one(const char *line, int *place, int at)
{
    int step = -1;
    switch (pattern[at]) {
    case LITERAL:
        if (line[*place] != 0 && line[*place] == pattern[at + 1])
            step = 1;
        break;
    case BEGIN:
        if (*place == 0)
            step = 0;
        break;
    case ANY:
        if (line[*place] != 0 && line[*place] != '\n')
            step = 1;
        break;
    case END:
        if (line[*place] == '\n' || line[*place] == 0)
            step = 0;
        break;
    case CLASS:
        if (line[*place] != 0 && contains(at, line[*place]))
            step = 1;
        break;
    case OUTSIDE:
        if (line[*place] != 0 && line[*place] != '\n' && !contains(at, line[*place]))
            step = 1;
        break;
    }
    if (step < 0)
        return 0;
    *place = *place + step;
    return 1;
}

static int match(const char *line, int place, int at)
{
    while (pattern[at] != 0) {
        if (pattern[at] == CLOSURE) {
            int end = place;
            at = at + 1;
            while (line[end] != 0 && one(line, &end, at))
                ;
            while (end >= place) {
                int rest = match(line, end, at + size_of(at));
                if (rest >= 0)
                    return rest;
                end--;
            }
            return -1;
        }
        if (!one(line, &place, at))
            return -1;
        at = at + size_of(at);
    }
    return place;
}

static void put(const char *line, int from, int to)
{
    int part;
    for (part = 0; part < parts; part++) {
        if (replacement[part] == DITTO) {
            int at;
            for (at = from; at < to; at++)
                putchar(line[at]);
        } else {
            putchar(replacement[part]);
        }
    }
}

static void change(const char *line)
{
    int at = 0, last = -1;
    while (line[at] != 0) {
        int end = match(line, at, 0);
        if (end >= 0 && last != end) {
            put(line, at, end);
            last = end;
        }
        if (end == -1 || end == at) {
            putchar(line[at]);
            at++;
        } else {
            at = end;
        }
    }
}

int main(int argc, char **argv)
{
    char line[MOST];
    if (argc < 2) {
        printf("usage: substitute PATTERN [REPLACEMENT]\n");
        return 1;
    }
    if (!compile_pattern(argv[1])) {
        printf("illegal pattern\n");
        return 2;
    }
    if (!compile_replacement(argc > 2 ? argv[2] : "")) {
        printf("illegal replacement\n");
        return 3;
    }
    while (fgets(line, MOST, stdin))
        change(line);
    return 0;
}
