#include <stdio.h>

int a[1000], n;

/* binary search, returns index or -1 */
int find(int key)
{
    int lo = 0, hi = n - 1;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] == key)
            return mid;
        if (a[mid] < key)
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    return -1;
}

int main(void)
{
    int i, q, key, pos;

    scanf("%d", &n);
    for (i = 0; i < n; i++)
        scanf("%d", &a[i]);
    scanf("%d", &q);
    while (q-- > 0) {
        scanf("%d", &key);
        pos = find(key);
        if (pos < 0)
            printf("%d not found\n", key);
        else
            printf("%d at %d\n", key, pos);
    }
    return 0;
}
