//! Patchwright can be killed at any moment: the user's tree stays as it is, no process lives on,
//! and the next run removes what is left on the disk.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::{
    collections::BTreeSet,
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::common::{Place, stderr};

/// Processes whose environment has this entry, but for zombies.
fn marked(mark: &str) -> Vec<i32> {
    let entry = format!("MARK_OF_KILL_TEST={mark}");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| process.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|found| found == entry.as_bytes())
        })
        .collect()
}

/// Waits until no marked process is left; they are ended by the kernel and by each other, which
/// takes a moment.
fn survivors(mark: &str) -> Vec<i32> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let found = marked(mark);
        if found.is_empty() || Instant::now() > deadline {
            return found;
        }
        std::thread::yield_now();
    }
}

/// Names of this user's scratch folders in shared memory that belong to the process `pid`.
fn shared_folders_of(pid: u32) -> Vec<String> {
    let part = format!("-{pid}-");
    let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("patchwright-") && name.contains(&part))
        .collect()
}

#[test]
fn killed_at_some_moments_it_leaves_the_tree_alone_and_no_process_behind() {
    kill_at(6);
}

#[test]
#[ignore = "nightly: 31 s; by default it is killed at fewer moments"]
fn killed_at_any_moment_it_leaves_the_tree_alone_and_no_process_behind() {
    kill_at(25);
}

/// Kills a run at so many moments of its time.
fn kill_at(kills: u32) {
    let place = Place::with_max2();
    let before = place.snapshot();
    let mark = format!("{}-{}", std::process::id(), place.root.display());
    let start = |all: bool| {
        let mut command = place.patchwright(["repair", "project/max.c"]);
        // All patches take long enough to be killed in the search too.
        command.arg(if all { "--all" } else { "--first" });
        command.env("MARK_OF_KILL_TEST", &mark);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let started = Instant::now();
    let status = start(false).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let whole = started.elapsed().min(Duration::from_millis(1500));
    let mut killed = BTreeSet::new();
    for number in 0..kills {
        let mut child = start(true).spawn().unwrap();
        // The property holds at any moment, so it does not matter which moments these are.
        std::thread::sleep(whole * number / kills);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.code().is_none() {
            killed.insert(child.id());
        }
        assert_eq!(survivors(&mark), [0; 0], "after kill {number}");
        assert!(place.snapshot() == before, "after kill {number}");
    }
    assert!(
        killed.len() as u32 >= kills / 2,
        "{} runs were killed",
        killed.len()
    );
    let output = start(false).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(place.leftovers(), [""; 0]);
    for pid in killed {
        assert_eq!(shared_folders_of(pid), [""; 0]);
    }
    assert!(place.snapshot() == before);
}
