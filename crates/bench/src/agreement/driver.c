/* Behind the variants of a program: runs each of them on all cases, and prints its number and the first case that it
   fails, or - if it passes all. Each run is a process of its own, forked where nothing has run. */

struct rerun_case {
  char *const *arguments;
  int count;
  const char *input;
  const char *output;
  long length;
  int code;
};

static const struct rerun_case rerun_cases[];
static const int rerun_case_count;
static int rerun_variant(int variant, int argc, char **argv);
static const int rerun_variant_count;

static int rerun_passes(int variant, const struct rerun_case *test, int out, int milliseconds) {
  static char found[1 << 16];
  int status;
  if (ftruncate(out, 0) != 0 || lseek(out, 0, SEEK_SET) != 0)
    _exit(3);
  pid_t child = fork();
  if (child < 0)
    _exit(3);
  if (child == 0) {
    struct rlimit size = {1 << 20, 1 << 20}, core = {0, 0};
    struct itimerval time = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
    int in = open(test->input ? test->input : "/dev/null", O_RDONLY), nothing = open("/dev/null", O_WRONLY);
    dup2(in, 0);
    dup2(out, 1);
    dup2(nothing, 2);
    setrlimit(RLIMIT_FSIZE, &size);
    setrlimit(RLIMIT_CORE, &core);
    setitimer(ITIMER_PROF, &time, 0);
    exit(rerun_variant(variant, test->count, (char **)test->arguments));
  }
  if (waitpid(child, &status, 0) != child)
    _exit(3);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != test->code)
    return 0;
  long length = pread(out, found, sizeof found, 0);
  return length == test->length && memcmp(found, test->output, length) == 0;
}

int main(int argc, char **argv) {
  int milliseconds = argc > 1 ? atoi(argv[1]) : 20;
  FILE *file = tmpfile();
  if (!file)
    return 3;
  for (int variant = 0; variant < rerun_variant_count; variant++) {
    int test = 0;
    while (test < rerun_case_count && rerun_passes(variant, &rerun_cases[test], fileno(file), milliseconds))
      test++;
    if (test < rerun_case_count)
      printf("%d %d\n", variant, test);
    else
      printf("%d -\n", variant);
    fflush(stdout);
  }
  return 0;
}
