#include <stdio.h>
#include <stdlib.h>

void insertion_sort(int *v, int n) {
    int i, j, key;
    for (i = 1; i < n; i++) {
        key = v[i];
        j = i - 1;
        while (j > 0 && v[j] > key) {
            v[j + 1] = v[j];
            j--;
        }
        v[j + 1] = key;
    }
}

int main(int argc, char *argv[]) {
    int n = argc - 1;
    int *v = malloc((n + 1) * sizeof(int));
    int i;

    for (i = 0; i < n; i++) {
        v[i] = atoi(argv[i + 1]);
    }
    insertion_sort(v, n);
    for (i = 0; i < n; i++) {
        printf(i ? " %d" : "%d", v[i]);
    }
    printf("\n");
    free(v);
    return 0;
}
