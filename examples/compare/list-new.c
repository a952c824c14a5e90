/* Takes the first node with a key out of a list; whether there was one. */
struct node {
    int key;
    struct node *next;
};

int take(struct node **list, int key)
{
    struct node *before = 0;
    for (struct node *at = *list; at; before = at, at = at->next) {
        if (at->key == key) {
            if (before)
                before->next = at->next;
            else
                *list = 0;
            return 1;
        }
    }
    return 0;
}
