# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# Headers of the format oldgnu hold more than the permissions of a file.
# shellcheck source=gnu-tar/common.sh
. "$here/gnu-tar/common.sh"
fix_patch=oldgnu-unknown-mode-bits.patch
buggy_file=src/create.c
