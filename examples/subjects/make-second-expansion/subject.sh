# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# $$< is empty in the second expansion of a second rule of a target. Fixed upstream in b580949a, release 4.4.
package=make-dfsg
version=4.3-4.1
fix_diff=fix.diff
buggy_file=src/commands.c
build_command='make -s -C lib && make -s make tests/config-flags.pm'

configure_subject() {
  run autoreconf -fi
  run env CFLAGS='-g -O1' ./configure --disable-nls --without-guile
}

add_files() {
  cp "$subject/run-test.sh" pw/
  cp "$subject"/se_first_* tests/scripts/features/
}

test_names() {
  printf 'features/%s\n' se_first_explicit se_first_implicit se_explicit se_implicit se_statpat statipattrules \
    patternrules order_only grouped_targets mult_rules mult_targets conditionals include targetvars \
    patspecific_vars vpath rule_glob suffixrules
  printf '%s\n' variables/automatic variables/special functions/eval functions/foreach misc/general3
}
