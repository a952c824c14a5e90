#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct task {
    char name[16];
    int prio;
    struct task *next;
} Task;

typedef struct {
    Task *first, *last;
    int n;
} List;

void append(List *l, const char *name, int prio)
{
    Task *t = malloc(sizeof(Task));
    strcpy(t->name, name);
    t->prio = prio;
    t->next = NULL;
    if (l->first == NULL)
        l->first = l->last = t;
    else
        l->last->next = t;
    l->n++;
}

void print(List *l, int minprio)
{
    Task *t;
    for (t = l->first; t != NULL; t = t->next) {
        if (t->prio >= minprio) {
            printf("%s(%d)\n", t->name, t->prio);
        }
    }
    printf("-- %d tasks\n", l->n);
}

int main(void)
{
    List l = {NULL, NULL, 0};
    char name[16];
    int prio;

    while (scanf("%15s %d", name, &prio) == 2) {
        append(&l, name, prio);
    }
    print(&l, 1);
    print(&l, 5);
    return 0;
}
