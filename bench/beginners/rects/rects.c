#include <stdio.h>

struct rect { int x, y, w, h; };

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

int overlap(const struct rect *a, const struct rect *b)
{
	int left   = MAX(a->x, b->x);
	int right  = MIN(a->x + a->w, b->x + b->w);
	int top    = MAX(a->y, b->y);
	int bottom = MIN(a->y + a->h, b->y + b->w);

	if (right <= left || bottom <= top)
		return 0;
	return (right - left) * (bottom - top);
}

int readrect(struct rect *r)
{
	return scanf("%d %d %d %d", &r->x, &r->y, &r->w, &r->h) == 4;
}

int main(void)
{
	struct rect a, b;
	while (readrect(&a) && readrect(&b)) {
		int o = overlap(&a, &b);
		if (o)
			printf("overlap area %d\n", o);
		else
			printf("no overlap\n");
	}
	return 0;
}
