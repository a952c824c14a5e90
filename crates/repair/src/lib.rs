//! Test-equivalence repair: from failing tests to the cheapest plausible patches.
