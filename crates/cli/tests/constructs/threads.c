// Threads visit the location at the same time, in an order that changes.
// flags: -pthread
// case 4 => 30
// case 3 => 14
// case 0 => 0
// case 1 => 1
// patch in: work
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *work(void *argument) {
  int number = *(int *)argument, part;
  part = number + number;
  pthread_mutex_lock(&lock);
  total += part;
  pthread_mutex_unlock(&lock);
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t threads[16];
  int numbers[16], count = atoi(argv[1]);
  (void)argc;
  for (int i = 0; i < count; i++) {
    numbers[i] = i + 1;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  printf("%d\n", total);
  return 0;
}
