#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# crop_*: what tiffcrop makes of pages of different sizes; the rest are tests of `make check`, in a folder of their own.
set -u
export ASAN_OPTIONS=detect_leaks=0

root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# crops FILE MODE REGIONS SUM [OPTION...]: cuts the regions out of every page; SUM is cksum's of the images written
crops() {
  file=$root/pw/$1.tif
  mode=$2
  regions=$3
  sum=$4
  shift 4
  cd "$folder" || exit 2
  "$root/tools/tiffcrop" -U px -e "$mode" -z "$regions" "$@" "$file" out.tif || return 1
  found=$(cat out*.tif | cksum)
  echo "sum and length: $found, should be $sum"
  [ "$found" = "$sum" ]
}

case $1 in
  crop_second_region_grows) crops small-wide divided 1,1,100,100:91,1,150,50 '3801890156 24190' ;;
  crop_second_region_grows_separated) crops small-wide separated 1,1,100,100:91,1,150,50 '2748870980 24214' ;;
  crop_third_region_grows) crops small-wide multiple 1,1,100,100:1,1,60,90:91,1,150,50 '1382385120 35348' ;;
  crop_first_region_grows) crops small-wide divided 91,1,150,50:1,1,100,100 '528611932 24190' ;;
  crop_only_region_grows) crops small-wide divided 91,1,150,50 '3478951271 3840' ;;
  crop_all_regions_grow) crops small-wide divided 51,1,200,100:81,11,190,60 '3913329685 27190' ;;
  crop_regions_stay) crops small-wide divided 1,1,100,100:11,21,60,70 '3418160867 25690' ;;
  crop_regions_shrink) crops wide-small divided 1,1,100,100:91,1,150,50 '1476304148 24190' ;;
  crop_regions_grow_and_shrink) crops small-wide-small multiple 1,1,90,100:81,1,110,50 '255615452 31538' ;;
  crop_one_page) crops wide separated 1,1,100,100:91,1,150,50 '771935382 13366' ;;
  crop_combined) crops small combined 1,1,50,40 '1825982062 2170' ;;
  crop_combined_grows) crops small-wide combined 51,1,150,40 '278283675 6332' ;;
  crop_combined_to_images) crops wide-small image 51,1,150,40 '951556536 6340' ;;
  crop_rotated) crops small-wide divided 1,1,100,100:21,1,90,50 '3652632776 27690' -R 90 ;;
  crop_mirrored) crops small-wide divided 1,1,100,100:21,1,90,50 '391699550 27690' -F horiz ;;
  crop_inverted) crops small-wide divided 1,1,100,100:21,1,90,50 '2166133079 27690' -I both ;;
  crop_*)
    echo "no such test: $1" >&2
    exit 2
    ;;
  *)
    # The tests write into the folder they run in, and look for the images in it and for the tools beside it.
    mkdir "$folder/test"
    ln -s "$root/tools" "$folder/tools"
    ln -s "$root/test/images" "$folder/test/images"
    cd "$folder/test" || exit 2
    export srcdir="$root/test" MAKE=make MEMCHECK=
    case $1 in
      *.sh) sh "$root/test/$1" ;;
      *) "$root/test/$1" ;;
    esac
    ;;
esac </dev/null
