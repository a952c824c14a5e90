#include <stdio.h>

#define FEE 2

static int balance = 0;
static int refused = 0;

void deposit(int amount)
{
	if (amount <= 0) {
		printf("invalid amount\n");
		return;
	}
	balance += amount;
}

void withdraw(int amount)
{
	int needed = amount + FEE;

	if (amount <= 0) {
		printf("invalid amount\n");
		return;
	}
	balance -= needed;
	if (needed > balance) {
		printf("refused: %d\n", amount);
		refused++;
		return;
	}
	printf("paid out %d, balance %d\n", amount, balance);
}

int main(void)
{
	char op;
	int amount;

	while (scanf(" %c %d", &op, &amount) == 2) {
		if (op == '+')
			deposit(amount);
		else if (op == '-')
			withdraw(amount);
		else
			printf("unknown operation %c\n", op);
	}
	printf("final balance %d, refused %d\n", balance, refused);
	return 0;
}
