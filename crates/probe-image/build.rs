//! Builds the probe as a small shared library without `std`, and turns that into an image, for embedding.
//!
//! The compiler is called directly, not through a second cargo: the three crates have no dependencies but each other,
//! a nested cargo would resolve the whole workspace again, and it would inherit flags (coverage, sanitizers, a lint
//! driver as compiler) that a library loaded into tested programs must not have.
#![allow(clippy::disallowed_methods)] // A build script starts the compiler, and runs in nobody's tests.

mod flatten;

use patchwright_probe_abi::ENTRY_SYMBOLS;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let crates = variable("CARGO_MANIFEST_DIR").join("..");
    let out = variable("OUT_DIR");
    for name in ["semantics", "probe-abi", "probe"] {
        let source = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        compile(&source.join("lib.rs"), name, &out);
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=flatten.rs");
    let library = out.join("libpatchwright_probe.so");
    let library =
        fs::read(&library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let image = out.join("probe.image");
    fs::write(&image, flatten::flatten(&library, ENTRY_SYMBOLS))
        .unwrap_or_else(|error| panic!("{}: {error}", image.display()));
}

fn variable(name: &str) -> PathBuf {
    env::var_os(name)
        .unwrap_or_else(|| panic!("cargo sets {name} for build scripts"))
        .into()
}

fn compile(root: &Path, name: &str, out: &Path) {
    let crate_name = |name: &str| format!("patchwright_{}", name.replace('-', "_"));
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .arg("--edition=2024")
        .args(["-Cpanic=abort", "-Copt-level=3", "-Ccodegen-units=1"])
        .arg("-Awarnings")
        .arg("--target")
        .arg(variable("TARGET"))
        .arg("--crate-name")
        .arg(crate_name(name))
        .arg("--out-dir")
        .arg(out)
        .arg(root);
    if name == "probe" {
        rustc.args(["--crate-type=cdylib", "-Clto=fat", "-Cstrip=symbols"]);
        // Nothing that the tested program defines may take the place of the probe's own functions; and a symbol that
        // nobody defines is an error here, not in a test.
        rustc.args(["-Clink-arg=-Wl,-Bsymbolic", "-Clink-arg=-Wl,-z,defs"]);
        // It is mapped without a loader: nothing runs at its start, and all of its variables stay writable.
        rustc.args(["-Clink-arg=-nostartfiles", "-Crelro-level=off"]);
        for dependency in ["semantics", "probe-abi"] {
            let dependency = crate_name(dependency);
            let file = out.join(format!("lib{dependency}.rlib"));
            rustc
                .arg("--extern")
                .arg(format!("{dependency}={}", file.display()));
        }
    } else {
        rustc.arg("--crate-type=rlib");
    }
    let status = rustc
        .status()
        .unwrap_or_else(|error| panic!("the compiler cannot be started: {error}"));
    assert!(
        status.success(),
        "the probe's crate `{name}` does not compile"
    );
}
