#include <stdio.h>
#define MAXNAME 32

char letter(int points)
{
	if(points >= 90) return 'A';
	else if(points >= 80) return 'B';
	else if(points > 70) return 'C';
	else if(points >= 60) return 'D';
	else return 'F';
}

int main()
{
	char name[MAXNAME];
	int p1, p2, p3;
	int passed = 0, n = 0;

	while(scanf("%31s %d %d %d", name, &p1, &p2, &p3) == 4) {
		int avg = (p1 + p2 + p3) / 3;
		char l = letter(avg);
		printf("%-10s %3d %c\n", name, avg, l);
		n++;
		if(l != 'F')
			passed++;
	}
	printf("%d of %d passed\n", passed, n);
	return 0;
}
