# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# CVE-2022-48303: a number in base 256 that begins at the last byte of its field is read past its end.
# shellcheck source=gnu-tar/common.sh
. "$here/gnu-tar/common.sh"
fix_patch=Fix-boundary-checking-in-base-256-decoder.patch
buggy_file=src/list.c
