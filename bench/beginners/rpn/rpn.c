#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>

#define SIZE 64

long st[SIZE];
int sp = 0;

void push(long v) { if (sp < SIZE) st[sp++] = v; }
long pop(void) { return sp > 0 ? st[--sp] : 0; }

/* returns 0 on error */
int apply(char op)
{
	long a, b;

	if (sp < 2) {
		printf("stack underflow\n");
		return 0;
	}
	b = pop();
	a = pop();
	switch (op) {
	case '+': push(a + b); break;
	case '-': push(a - b); break;
	case '*': push(a * b); break;
	case '/':
		push(a / b);
		break;
	default:
		printf("unknown operator %c\n", op);
		return 0;
	}
	return 1;
}

int main(void)
{
	char line[200], *t;
	int ok;

	while (fgets(line, sizeof line, stdin)) {
		sp = 0;
		ok = 1;
		for (t = strtok(line, " \n"); t && ok; t = strtok(NULL, " \n")) {
			if (isdigit((unsigned char)t[0]) || (t[0] == '-' && t[1]))
				push(atol(t));
			else
				ok = apply(t[0]);
		}
		if (ok)
			printf("%ld\n", pop());
	}
	return 0;
}
