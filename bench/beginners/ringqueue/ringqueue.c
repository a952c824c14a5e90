#include <stdio.h>
#include <string.h>

#define CAP 4

struct queue {
	int data[CAP];
	int head, count;
};

int enqueue(struct queue *q, int v)
{
	if (q->count == CAP)
		return 0;
	q->data[(q->head + q->count) % CAP] = v;
	q->count++;
	return 1;
}

int dequeue(struct queue *q, int *v)
{
	if (q->count == 0)
		return 0;
	*v = q->data[q->head];
	q->head = (q->head + 1) % CAP;
	return 1;
}

int main(void)
{
	struct queue q = {{0}, 0, 0};
	char cmd[10];
	int v;

	while (scanf("%9s", cmd) == 1) {
		if (strcmp(cmd, "put") == 0) {
			scanf("%d", &v);
			if (!enqueue(&q, v))
				printf("full\n");
		} else if (strcmp(cmd, "get") == 0) {
			if (dequeue(&q, &v))
				printf("%d\n", v);
			else
				printf("empty\n");
		} else if (strcmp(cmd, "size") == 0) {
			printf("%d\n", q.count);
		}
	}
	return 0;
}
