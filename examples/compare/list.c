/* Takes the first node with a key out of a list; whether there was one. */
struct node {
    int key;
    struct node *next;
};

int take(struct node **list, int key)
{
    for (struct node **at = list; *at; at = &(*at)->next) {
        if ((*at)->key == key) {
            *at = (*at)->next;
            return 1;
        }
    }
    return 0;
}
