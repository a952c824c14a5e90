#!/bin/sh
# usage: bench/history.sh REPOSITORY PACKAGE…
#
# Makes a git repository of Debian source packages: each package's release as a commit, in a folder of its own, then each
# of the patches that Debian ships it with as a commit, in their order. What does not apply, and packages that there are
# not, are passed over and named. A repository that exists is gone on with.
set -eu

if [ $# -lt 2 ]; then
  sed -n 's/^# \(usage: .*\)/\1/p' "$0" >&2
  exit 2
fi
mkdir -p "$1"
repository=$(cd "$1" && pwd)
shift

cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT

# Commits are the same whenever they are made.
export GIT_AUTHOR_NAME=history GIT_AUTHOR_EMAIL=history@example.invalid
export GIT_COMMITTER_NAME=history GIT_COMMITTER_EMAIL=history@example.invalid
[ -d "$repository/.git" ] || git -C "$repository" init -q
commit() {
  day=$(git -C "$repository" rev-list --count --all)
  date="$((1000000000 + day * 86400)) +0000"
  git -C "$repository" add -A -f .
  GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date git -C "$repository" -c gc.auto=0 commit -q -m "$1" || true
}

for package in "$@"; do
  work="$cache/$package"
  mkdir "$work"
  if ! (cd "$work" && apt-get source -qq --download-only "$package" >/dev/null 2>&1); then
    echo "history.sh: no source package $package" >&2
    continue
  fi
  (cd "$work" && dpkg-source --no-check --skip-patches -x ./*.dsc tree >/dev/null 2>&1)
  patches="$work/tree/debian/patches"
  rm -rf "$repository/$package"
  mkdir "$repository/$package"
  (cd "$work/tree" && tar -c --exclude ./debian --exclude .git --exclude .pc --exclude .gitattributes --exclude .gitignore .) | tar -x -C "$repository/$package"
  commit "$package: the release"
  applied=0
  failed=0
  for patch in $(sed -n 's/^[[:space:]]*\([^#[:space:]][^[:space:]]*\).*/\1/p' "$patches/series" 2>/dev/null); do
    if patch -d "$repository/$package" -p1 -s -f --no-backup-if-mismatch -i "$patches/$patch" >/dev/null 2>&1; then
      commit "$package: $patch"
      applied=$((applied + 1))
    else
      git -C "$repository" reset -q --hard
      git -C "$repository" clean -q -f -d -x
      failed=$((failed + 1))
    fi
  done
  echo "$package: $applied patches, $failed that do not apply"
  rm -rf "$work"
done
git -C "$repository" rev-list --count HEAD
