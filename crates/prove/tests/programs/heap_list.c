// function: sum
// bound: 8
// answer: proved
#include <assert.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

int sum(unsigned char n)
{
    struct node *list = 0;
    int expected = 0, total = 0;
    if (n > 4)
        n = 4;
    for (int i = 0; i < n; i++) {
        struct node *one = malloc(sizeof *one);
        if (!one)
            return 0;
        one->value = i;
        one->next = list;
        list = one;
        expected += i;
    }
    while (list) {
        struct node *next = list->next;
        total += list->value;
        free(list);
        list = next;
    }
    assert(total == expected);
    return total;
}
