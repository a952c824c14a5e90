#!/bin/sh
# Run from the root of a copy of the project: where the build system has written the place of the tree into its
# files (CMakeCache.txt, Makefile, libtool, config.status, ...), writes the place of this copy instead. Times of
# the files stay as they are, so that make rebuilds nothing because of it.
set -eu

old=$(cat pw/root)
new=$(pwd -P)
[ "$old" != "$new" ] || exit 0
case $new in
  *[!A-Za-z0-9/._+-]*)
    echo "relocate.sh: the build systems of the subjects cannot work in '$new': choose a plain path" >&2
    exit 2
    ;;
esac

pattern=$(printf '%s\n' "$old" | sed 's/[.]/[.]/g')
stamp=$(mktemp)
trap 'rm -f "$stamp"' EXIT
while IFS= read -r file; do
  touch -r "$file" "$stamp"
  # The path of another folder that merely begins like the old root is left alone.
  sed -i "s#$pattern\\([^A-Za-z0-9_.+-]\\|\$\\)#$new\\1#g" "$file"
  touch -r "$stamp" "$file"
done <pw/baked-paths
printf '%s\n' "$new" >pw/root
