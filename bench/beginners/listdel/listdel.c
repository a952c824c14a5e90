#include <stdio.h>
#include <stdlib.h>

struct item {
    int val;
    struct item *next;
};

struct item *head = NULL;

void add(int v)
{
    struct item *p = malloc(sizeof *p);
    p->val = v;
    p->next = head;
    head = p;
}

void del(int v)
{
    struct item *p = head, *prev = NULL;

    while (p != NULL && p->val != v) {
        prev = p;
        p = p->next;
    }
    if (prev == NULL)
        head = p->next;
    else
        prev->next = p->next;
    free(p);
}

void show(void)
{
    struct item *p;
    for (p = head; p; p = p->next)
        printf("%d ", p->val);
    printf("\n");
}

int main(void)
{
    char c;
    int v;

    while (scanf(" %c", &c) == 1) {
        switch (c) {
        case 'a': scanf("%d", &v); add(v); break;
        case 'd': scanf("%d", &v); del(v); break;
        case 's': show(); break;
        }
    }
    return 0;
}
