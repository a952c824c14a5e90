#!/bin/sh
# usage: fetch.sh ID DEST [buggy|fixed]
#
# Makes a Patchwright project of one real bug: fetches Debian's source package, unpacks it with all of Debian's
# patches applied, takes back the part of the one patch that fixed the bug (not for `fixed`), configures and
# builds it in DEST, and adds patchwright.toml and pw/ (test driver, helpers, the developer's fix). A fix that is
# newer than the package is put in first.
# Needs no root; setup.sh must have been run on the machine once. Downloads are kept in
# ${XDG_CACHE_HOME:-~/.cache}/patchwright-subjects.
set -eu

die() {
  echo "fetch.sh: $*" >&2
  exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
subjects() {
  for folder in "$here"/*/subject.sh; do basename "$(dirname "$folder")"; done | tr '\n' ' '
}

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  die "usage: fetch.sh ID DEST [buggy|fixed]   where ID is one of: $(subjects)"
fi
id=$1
variant=${3:-buggy}
subject=$here/$id
[ -f "$subject/subject.sh" ] || die "there is no subject '$id'; there are: $(subjects)"
case $variant in buggy | fixed) ;; *) die "the variant is buggy or fixed, not '$variant'" ;; esac
for tool in apt-get dpkg-source filterdiff patch make gcc; do
  command -v "$tool" >/dev/null || die "$tool is not installed: run setup.sh as root first"
done
if [ -e "$2" ] && [ -n "$(ls -A "$2" 2>/dev/null)" ]; then
  die "$2 exists and is not empty: remove it or name another place"
fi
mkdir -p "$2"
dest=$(cd "$2" && pwd -P)
case $dest in
  *[!A-Za-z0-9/._+-]*)
    rmdir "$dest"
    die "the build systems of the subjects cannot work in '$dest': choose a plain path"
    ;;
esac

# What a subject.sh defines:
#   package, version   Debian's source package
#   fix_patch          the patch in debian/patches that holds the fix, or
#   fix_diff           a diff in the subject's folder: the developers' own fix, of a later release than the package
#   buggy_file         the file that the fix changes, from the project's root
#   build_command      builds what the tests need, incrementally, from the project's root
#   compile_commands   where the build leaves a compile database ('' if it has none)
#   timeout            a generous limit for one test
#   configure_subject  prepares for the first build
#   add_files          puts the helper files into pw/
#   finish_subject     is run after the first build
#   test_names         prints the name of every test
package='' version='' fix_patch='' fix_diff='' buggy_file='' build_command='' compile_commands=''
timeout=10s
finish_subject() { :; }
# shellcheck source=/dev/null
. "$subject/subject.sh"

log=$dest/pw/fetch.log

run() {
  "$@" >>"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "failed: $* (all of it is in $log)"
  }
}

fetch_source() {
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/patchwright-subjects
  mkdir -p "$cache"
  description=$cache/${package}_$version.dsc
  if [ ! -f "$description" ]; then
    # The pinned version can be superseded in the archive; the newest of this Debian release comes next.
    (cd "$cache" && apt-get source -qq --download-only "$package=$version") >/dev/null 2>&1 ||
      (cd "$cache" && apt-get source -qq --download-only "$package") >/dev/null 2>&1 ||
      die "cannot fetch the source of $package $version: is there a network, and was setup.sh run?"
  fi
  if [ ! -f "$description" ]; then
    # shellcheck disable=SC2012 # names in this folder are Debian's
    description=$(ls -t "$cache/${package}"_*.dsc | head -n 1)
    echo "fetch.sh: $package $version has left the archive; using $(basename "$description" .dsc)" >&2
  fi
}

unpack() {
  rmdir "$dest"
  mkdir -p "$(dirname "$dest")"
  unpack_log=$(mktemp)
  # dpkg-source also leaves a copy of the original archive beside the tree: -su and -sR would, -sn does not.
  dpkg-source --no-copy -x "$description" "$dest" >"$unpack_log" 2>&1 || {
    cat "$unpack_log" >&2
    die "cannot unpack $description"
  }
  mkdir "$dest/pw"
  mv "$unpack_log" "$log"
}

# Takes the fix back and records its reverse, which is the developer's fix, in pw/fix.diff.
take_back_fix() {
  if [ -n "$fix_diff" ]; then
    cp "$subject/$fix_diff" "$dest/pw/patch.diff"
    run patch -p1 --no-backup-if-mismatch -i "$dest/pw/patch.diff"
  else
    filterdiff -p1 -i "$buggy_file" "debian/patches/$fix_patch" >"$dest/pw/patch.diff"
  fi
  cp -p "$buggy_file" "$dest/pw/fixed.c"
  if ! patch -R -p1 -s --no-backup-if-mismatch <"$dest/pw/patch.diff" >>"$log" 2>&1; then
    die "the fix ${fix_patch:-$fix_diff} cannot be taken back from $(basename "$description"): Debian has changed it"
  fi
  diff -u --label "a/$buggy_file" --label "b/$buggy_file" "$buggy_file" pw/fixed.c >pw/fix.diff || true
  [ -s pw/fix.diff ] || die "taking back ${fix_patch:-$fix_diff} changed nothing"
  if [ "$variant" = fixed ]; then
    cp -p pw/fixed.c "$buggy_file"
  fi
  rm pw/fixed.c pw/patch.diff
}

write_project() {
  {
    echo "# $id ($variant), $(basename "$description" .dsc); written by fetch.sh"
    echo "[project]"
    echo "build = \"$build_command\""
    echo "# Does nothing where the tree was built; in a copy at another place, puts that place into the build files."
    echo "prepare = \"./pw/relocate.sh\""
    [ -z "$compile_commands" ] || echo "compile-commands = \"$compile_commands\""
    echo
    echo "[tests]"
    echo "driver = \"./pw/run-test.sh\""
    echo "timeout = \"$timeout\""
    echo "names = ["
    test_names | sed 's/.*/  "&",/'
    echo "]"
    echo
    echo "[repair]"
    echo "# The file that the developer's fix changes. Without this line every file of the project is searched."
    echo "files = [\"$buggy_file\"]"
  } >patchwright.toml
}

fetch_source
unpack
cd "$dest"
take_back_fix
rm -rf .pc debian
add_files
cp "$here/relocate.sh" pw/
configure_subject
run sh -c "$build_command"
finish_subject
test_names >pw/tests.txt
write_project
# The tree's own place, and the files in which the build system has written it, for relocate.sh.
printf '%s\n' "$dest" >pw/root
grep -rlIF --exclude-dir=pw -- "$dest" . >pw/baked-paths || true
echo "$id ($variant) is ready in $dest: $(wc -l <pw/tests.txt) tests"
