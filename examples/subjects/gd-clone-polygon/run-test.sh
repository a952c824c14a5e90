#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# The tests are the programs of the project's test suite, each by its folder and name.
exec "./build/Bin/test_$1"
