/* Round-robin scheduling: the quantum, then the run times of jobs; prints when each is finished. */
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 10 };

struct job {
  int left;
  int finished;
};

static int schedule(struct job *jobs, int count, int quantum) {
  int clock = 0, open = count, switches = 0, last = -1;
  while (open > 0) {
    for (int i = 0; i < count; i++) {
      struct job *job = &jobs[i];
      if (job->left == 0)
        continue;
      if (i != last) {
        switches++;
        last = i;
      }
      int slice = quantum;
      if (job->left < slice)
        slice = job->left - slice;
      clock += slice;
      job->left -= slice;
      if (job->left == 0) {
        job->finished = clock;
        open--;
      }
    }
  }
  return switches;
}

int main(int argc, char **argv) {
  struct job jobs[MOST];
  int count = 0, waiting = 0;
  if (argc < 3)
    return 2;
  int quantum = atoi(argv[1]);
  for (int i = 2; i < argc && count < MOST; i++) {
    jobs[count].left = atoi(argv[i]);
    jobs[count].finished = 0;
    count++;
  }
  int switches = schedule(jobs, count, quantum);
  for (int i = 0; i < count; i++) {
    printf("job %d at %d\n", i + 1, jobs[i].finished);
    waiting += jobs[i].finished;
  }
  printf("%d switches, sum %d\n", switches, waiting);
  return 0;
}
