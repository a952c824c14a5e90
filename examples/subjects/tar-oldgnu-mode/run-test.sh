#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# Archives a file or folder and looks at the mode in the first header of the archive.
set -u

tar=$PWD/src/tar
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
umask 022
echo text >file
mkdir sub

# writes FORMAT MODE FILE EXPECTED
writes() {
  chmod "$2" "$3" || exit 2
  "$tar" --format="$1" -cf archive.tar "$3" || exit 1
  found=$(dd if=archive.tar bs=1 skip="${5:-100}" count=7 2>/dev/null)
  echo "mode of $3 in $1: $found, should be $4"
  [ "$found" = "$4" ]
}

lists() {
  "$tar" --format=oldgnu -cf archive.tar file sub && [ "$("$tar" -tf archive.tar | tr '\n' ' ')" = 'file sub/ ' ]
}

extracts() {
  "$tar" --format=oldgnu -cf archive.tar file && rm file && "$tar" -xf archive.tar && [ "$(cat file)" = text ]
}

case $1 in
  oldgnu_file) writes oldgnu 644 file 0000644 ;;
  oldgnu_program) writes oldgnu 755 file 0000755 ;;
  oldgnu_folder) writes oldgnu 750 sub 0000750 ;;
  gnu_file) writes gnu 644 file 0000644 ;;
  gnu_folder) writes gnu 755 sub 0000755 ;;
  gnu_sticky_folder) writes gnu 1777 sub 0001777 ;;
  ustar_file) writes ustar 600 file 0000600 ;;
  v7_file) writes v7 640 file 0000640 ;;
  v7_folder) writes v7 711 sub 0000711 ;;
  posix_setuid) writes ustar 4755 file 0004755 ;;
  oldgnu_listed) lists ;;
  oldgnu_extracted) extracts ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
