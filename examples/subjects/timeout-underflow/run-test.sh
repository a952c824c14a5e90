#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# misc/*: scripts of the project's test suite; the others: the exit status of timeout with one time each.
set -u
export LC_ALL=C
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
ln -s "$root/src" src

# ends STATUS ARGUMENT...: the exit status of timeout; 124: the time was over
ends() {
  expected=$1
  shift
  ./src/timeout "$@"
  status=$?
  echo "timeout $*: exit status $status; expected: $expected"
  [ $status = "$expected" ]
}

case $1 in
  underflow) ends 124 1e-5000 sleep 2 ;;
  underflow_of_minutes) ends 124 1e-6000m sleep 2 ;;
  underflow_and_kill) ends 137 -s KILL 1e-5000 sleep 2 ;;
  nothing) ends 0 0 sleep 0.1 ;;
  nothing_with_exponent) ends 0 0e-5 sleep 0.1 ;;
  small) ends 124 1e-7 sleep 2 ;;
  tenth) ends 124 .1 sleep 2 ;;
  large) ends 0 1e+5000 sleep 0.1 ;;
  status_of_command) ends 7 5 sh -c 'exit 7' ;;
  unknown_suffix) ends 125 1x sleep 0 ;;
  negative) ends 125 -- -1 sleep 0 ;;
  misc/*.sh)
    export srcdir="$root" abs_srcdir="$root" abs_top_srcdir="$root" abs_top_builddir="$root" top_srcdir="$root"
    export built_programs='timeout sleep env seq' VERSION=9.1 CONFIG_HEADER="$root/lib/config.h" PATH="$root/src:$PATH"
    export PACKAGE_VERSION=9.1 EGREP='grep -E' NON_ROOT_USERNAME=nobody CC=gcc host_os=linux-gnu
    sh "$root/tests/$1" 9>&2
    ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
