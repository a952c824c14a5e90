#!/bin/sh
# Makes a small git repository in the folder DIR: a program that wraps text, with a regression in the middle of its history.
#
#     examples/regression/make.sh DIR
#
# The commits have fixed names, so that what the guide shows can be made again.
set -eu

mkdir -p "$1"
cd "$1"
git init -q
git symbolic-ref HEAD refs/heads/main

number=0
commit() {
    number=$((number + 1))
    GIT_AUTHOR_DATE="2026-01-0${number}T12:00:00Z" GIT_COMMITTER_DATE="2026-01-0${number}T12:00:00Z" \
        GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.invalid \
        git -c commit.gpgsign=false commit -q -m "$1"
}

# wrap.c with this condition for a new line, and this remark.
program() {
    cat > wrap.c <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wraps the words of standard input to lines of at most WIDTH characters.$2 */
int main(int argc, char **argv)
{
  int width = argc > 1 ? atoi(argv[1]) : 20;
  int used = 0;
  char word[64];
  while (scanf("%63s", word) == 1) {
    int length = strlen(word);
    if ($1) {
      printf("\n");
      used = 0;
    }
    if (used > 0)
      used += printf(" ");
    used += printf("%s", word);
  }
  printf("\n");
  return 0;
}
END
    git add wrap.c
}

right='used > 0 && used + 1 + length > width'
short='used && used + length > width'
remark=" Words have 63 characters at most."
program "$right" ""
commit "Wrap words"
program "$right" "$remark"
commit "Say how long words are"
program "used > 0 && used + 1 + length > widht" "$remark"
commit "Put a blank line in"
program "$right" "$remark */

/* The width is 20 characters if none is given."
commit "Mend the build"
program "$short" "$remark */

/* The width is 20 characters if none is given."
commit "Shorten a condition"

mkdir cases
printf 'aa bb cc\n' > cases/exact.in
printf '5' > cases/exact.args
printf 'aa bb\ncc\n' > cases/exact.out
printf 'aaa bbb\n' > cases/narrow.in
printf '6' > cases/narrow.args
printf 'aaa\nbbb\n' > cases/narrow.out
cat > patchwright.toml <<END
[project]
build = "cc -o wrap wrap.c"

[tests]
program = "wrap"
cases = "cases"
END
git add cases patchwright.toml
commit "Test it"
program "$right" "$remark"
commit "Count the blank"
