#!/bin/sh
# Prepares a Debian 12 machine for fetch.sh: adds Debian's source index to apt and installs the build tools.
# Run once, as root.
set -eu

if [ "$(id -u)" -ne 0 ]; then
  echo "setup.sh: this changes apt's sources and installs packages: run it as root (sudo sh setup.sh)" >&2
  exit 2
fi
if ! command -v apt-get >/dev/null; then
  echo "setup.sh: apt-get not found: the subjects are Debian source packages and need a Debian 12 system" >&2
  exit 2
fi

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
list=/etc/apt/sources.list.d/patchwright-subjects.list

# Every configured Debian repository of binary packages is repeated as one of source packages, so that a mirror
# that the machine already uses is used here too.
source_entries() {
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [ ! -f "$file" ] || [ "$file" = "$list" ]; then continue; fi
    sed -n 's/^deb \(.*debian.*bookworm.*\)$/deb-src \1/p' "$file"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    grep -q "$keyring" "$file" || continue
    awk -v keyring="$keyring" '
      function flush(   i, n, words) {
        if (types ~ /(^| )deb( |$)/ && suites ~ /bookworm/) {
          n = split(suites, words, " ")
          for (i = 1; i <= n; i++) print "deb-src [signed-by=" keyring "] " uri " " words[i] " " components
        }
        types = uri = suites = components = ""
      }
      /^#/ { next }
      /^[[:space:]]*$/ { flush(); next }
      /^Types:/ { sub(/^Types:[[:space:]]*/, ""); types = $0 }
      /^URIs:/ { sub(/^URIs:[[:space:]]*/, ""); uri = $0 }
      /^Suites:/ { sub(/^Suites:[[:space:]]*/, ""); suites = $0 }
      /^Components:/ { sub(/^Components:[[:space:]]*/, ""); components = $0 }
      END { flush() }
    ' "$file"
  done
}

if apt-get indextargets 'Created-By: Sources' 'Origin: Debian' 'Codename: bookworm' 2>/dev/null | grep -q .; then
  echo "setup.sh: apt already has Debian's source index"
else
  source_entries | sort -u >"$list"
  if [ ! -s "$list" ]; then
    rm -f "$list"
    echo "setup.sh: no Debian 12 (bookworm) repository found in apt's sources: add one" >&2
    exit 2
  fi
fi

apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
  autoconf automake autopoint bison cmake diffutils dpkg-dev ed flex gcc libc6-dev libtool make patch patchutils pkg-config \
  libpng-dev perl python3 zlib1g-dev
