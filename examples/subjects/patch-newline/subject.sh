# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# GNU patch aborts when -o collects two files and the first of them lacks its last newline.
# shellcheck source=gnu-patch/common.sh
. "$here/gnu-patch/common.sh"
fix_patch=0009-Fix_failed_assertion_outstate-after_newline.patch
buggy_file=src/patch.c
