#include <stdio.h>
#include <stdlib.h>

typedef struct node {
    int key;
    struct node *left, *right;
} Node;

Node *insert(Node *t, int key)
{
    if (t == NULL) {
        t = malloc(sizeof(Node));
        t->key = key;
        t->left = t->right = NULL;
    } else if (key < t->key) {
        t->left = insert(t->left, key);
    } else if (key > t->key) {
        t->right = insert(t->right, key);
    }
    return t;
}

int count_range(Node *t, int lo, int hi)
{
    int n;
    if (t == NULL)
        return 0;
    n = (t->key >= lo && t->key < hi);
    if (t->key > lo)
        n += count_range(t->left, lo, hi);
    if (t->key < hi)
        n += count_range(t->right, lo, hi);
    return n;
}

int main(void)
{
    Node *root = NULL;
    char cmd;
    int a, b;

    while (scanf(" %c", &cmd) == 1) {
        if (cmd == 'i') {
            scanf("%d", &a);
            root = insert(root, a);
        } else if (cmd == 'c') {
            scanf("%d %d", &a, &b);
            printf("%d..%d: %d\n", a, b, count_range(root, a, b));
        } else {
            printf("?\n");
        }
    }
    return 0;
}
