# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# GNU patch dies of a null pointer on a git-style rename that lacks its file names.
# shellcheck source=gnu-patch/common.sh
. "$here/gnu-patch/common.sh"
fix_patch=Fix_segfault_with_mangled_rename_patch.patch
buggy_file=src/pch.c
