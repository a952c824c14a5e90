# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# What the subjects made of GNU tar have in common.
package='tar'
version=1.34+dfsg-1.2+deb12u1
build_command='make -s -C src tar'

configure_subject() {
  # Unpacking leaves the files of the build system with times in any order; in this order nothing is remade.
  for names in '*.m4 *.ac *.am' aclocal.m4 'configure *.in *.hin'; do
    stamp=$((${stamp:-1704067200} + 60))
    set -f
    for name in $names; do find . -name "$name" -exec touch -d "@$stamp" {} +; done
    set +f
  done
  run env CFLAGS='-g -O1' FORCE_UNSAFE_CONFIGURE=1 ./configure --disable-nls
  run make -s -C gnu
  run make -s -C lib
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^  \([a-z0-9_]*\)) .*/\1/p' "$subject/run-test.sh"
}
