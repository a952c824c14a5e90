#include <stdio.h>

enum { IDLE, PAYING, READY };
#define PRICE 150

int main(void)
{
    int state = IDLE;
    int money = 0;
    int sold = 0;
    int c;

    while ((c = getchar()) != EOF) {
        switch (c) {
        case 'f':
            money += 50;
            state = PAYING;
            break;
        case 'e':
            money += 100;
            state = PAYING;
        case 'z':
            money += 200;
            state = PAYING;
            break;
        case 'c':
            printf("cancel, return %d\n", money);
            money = 0;
            state = IDLE;
            break;
        case 'b':
            if (state == READY) {
                sold++;
                printf("drink %d, change %d\n", sold, money - PRICE);
                money = 0;
                state = IDLE;
            } else {
                printf("insert %d more\n", PRICE - money);
            }
            break;
        default:
            break;
        }
        if (money >= PRICE)
            state = READY;
    }
    printf("state %d, money %d\n", state, money);
    return 0;
}
