#include <stdio.h>
#include <stdlib.h>

/* prints Fibonacci numbers up to a limit, and the sum of the even ones */

int main(int argc, char *argv[]) {
    long limit = 100;
    long a = 0, b = 1;
    long even = 0;
    int count = 0;

    if (argc > 1) limit = atol(argv[1]);

    while (a <= limit) {
        long next = a + b;
        printf("%ld ", a);
        count++;
        if (a % 2 == 0) even += a;
        b = next;
        a = b;
    }
    printf("\n");
    printf("%d numbers, even sum %ld\n", count, even);
    return 0;
}
