#include <stdio.h>

int main()
{
    int n, i, x;
    int min, max, sum;
    int imin, imax;

    printf("How many numbers? ");
    if(scanf("%d", &n) != 1 || n <= 0){
        printf("nothing to do\n");
        return 0;
    }
    scanf("%d", &x);
    min = max = sum = x;
    imin = imax = 1;
    for(i = 2; i <= n; i++){
        scanf("%d", &x);
        sum += x;
        if(x < min){
            min = x;
            imin = i;
        }
        if(x > max){
            max = x;
            imin = i;
        }
    }
    printf("\nmin = %d (no. %d)\n", min, imin);
    printf("max = %d (no. %d)\n", max, imax);
    printf("sum = %d, mean = %.2f\n", sum, (double)sum / n);
    return 0;
}
