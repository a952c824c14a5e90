/* Counts events in a stream of records "LEVEL SOURCE": levels below a threshold are dropped, and repeated ones from one
   source after the third. */
#include <stdio.h>
#include <stdlib.h>

#define SOURCES 4
#define MOST 3

static int repeated[SOURCES];
static int last[SOURCES];

static int accepted(int level, int source, int threshold)
{
    if (source < 0 || source >= SOURCES)
        return 0;
    if (level < threshold)
        return 0;
    if (level == last[source])
        repeated[source]++;
    else
        repeated[source] = 1;
    last[source] = level;
    return repeated[source] <= MOST;
}

int main(int argc, char **argv)
{
    int level, source, shown = 0, dropped = 0, severe = 0;
    int threshold = argc > 1 ? atoi(argv[1]) : 2;
    while (scanf("%d %d", &level, &source) == 2) {
        if (accepted(level, source, threshold)) {
            printf("%d from %d\n", level, source);
            shown++;
            if (level > 7)
                severe = 1;
        } else {
            dropped++;
        }
    }
    printf("%d shown, %d dropped\n", shown, dropped);
    return severe ? 3 : 0;
}
