//! What is kept in a cache comes back as it was, or not at all.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests do to the folder what others may do to it"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use patchwright_exec::cache::{Cache, read_stamped, stamp};
use patchwright_text::{Digest, Hasher};

const MIB: u64 = 1 << 20;

fn key(text: &str) -> Digest {
    Hasher::new().field(text).finish()
}

fn entries(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = all
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_kept_comes_back_and_the_folder_is_private() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("a/b");
    let cache = Cache::open(&folder, MIB).unwrap();
    assert_eq!(cache.get(key("a")), None);
    cache.put(key("a"), b"first");
    cache.put(key("b"), b"");
    cache.put(key("a"), b"second");
    let again = Cache::open(&folder, MIB).unwrap();
    assert_eq!(again.get(key("a")).as_deref(), Some(&b"second"[..]));
    assert_eq!(again.get(key("b")).as_deref(), Some(&b""[..]));
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    assert_eq!(entries(&folder), {
        let mut both = [key("a").to_string(), key("b").to_string()];
        both.sort();
        both
    });
}

#[test]
fn damaged_entries_count_as_missing_and_are_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("cache");
    let cache = Cache::open(&folder, MIB).unwrap();
    let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
    cache.put(key("a"), text);
    let file = folder.join(key("a").to_string());
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, damaged).unwrap();
        assert_eq!(cache.get(key("a")), None, "byte {at}");
        fs::write(&file, &whole[..at]).unwrap();
        assert_eq!(cache.get(key("a")), None, "cut at {at}");
    }
    cache.put(key("a"), text);
    assert_eq!(cache.get(key("a")).as_deref(), Some(&text[..]));
    // An entry under the name of another one is none.
    fs::copy(&file, folder.join(key("b").to_string())).unwrap();
    assert_eq!(cache.get(key("b")), None);
}

#[test]
fn the_entries_that_were_not_used_for_longest_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("cache");
    let cache = Cache::open(&folder, MIB).unwrap();
    let piece = vec![7; 100_000];
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    for number in 0..30u64 {
        let name = number.to_string();
        cache.put(key(&name), &piece);
        let file = folder.join(key(&name).to_string());
        if let Ok(file) = fs::File::options().append(true).open(file) {
            file.set_modified(long_ago + Duration::from_secs(number))
                .unwrap();
        }
        // It is used all the time.
        assert!(cache.get(key("0")).is_some(), "after {number}");
    }
    let total: u64 = entries(&folder)
        .iter()
        .map(|name| fs::metadata(folder.join(name)).unwrap().len())
        .sum();
    assert!(total <= MIB + MIB / 4, "{total}");
    assert!(cache.get(key("29")).is_some());
    assert_eq!(cache.get(key("1")), None);
    // What would take too much of it is not kept at all.
    cache.put(key("large"), &vec![0; MIB as usize]);
    assert_eq!(cache.get(key("large")), None);
}

#[test]
fn files_that_are_no_entries_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("cache");
    let cache = Cache::open(&folder, 100_000).unwrap();
    fs::write(folder.join("notes.txt"), vec![0; 200_000]).unwrap();
    for number in 0..20 {
        cache.put(key(&number.to_string()), &[1; 20_000]);
    }
    assert!(folder.join("notes.txt").exists());
    assert!(entries(&folder).len() <= 7, "{:?}", entries(&folder));
}

#[test]
fn links_and_folders_of_others_are_not_used() {
    let above = tempfile::tempdir().unwrap();
    let real = above.path().join("real");
    fs::create_dir(&real).unwrap();
    let link = above.path().join("link");
    symlink(&real, &link).unwrap();
    assert!(Cache::open(&link, MIB).is_none());
    let open = above.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(Cache::open(&open, MIB).is_none());
    let file = above.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Cache::open(&file, MIB).is_none());
    assert!(Cache::open(&file.join("below"), MIB).is_none());
    // A link in place of an entry is not followed, and is replaced.
    let cache = Cache::open(&real, MIB).unwrap();
    cache.put(key("a"), b"text");
    let outside = above.path().join("outside");
    let entry = real.join(key("a").to_string());
    fs::rename(&entry, &outside).unwrap();
    symlink(&outside, &entry).unwrap();
    assert_eq!(cache.get(key("a")), None);
    let before = fs::read(&outside).unwrap();
    cache.put(key("a"), b"another text");
    assert_eq!(cache.get(key("a")).as_deref(), Some(&b"another text"[..]));
    assert_eq!(fs::read(&outside).unwrap(), before);
}

#[test]
fn a_cache_that_is_removed_meanwhile_is_no_error() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("cache");
    let cache = Cache::open(&folder, MIB).unwrap();
    cache.put(key("a"), b"text");
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(cache.get(key("a")), None);
    cache.put(key("a"), b"text");
    assert_eq!(cache.get(key("a")), None);
    assert!(!folder.exists());
}

#[test]
fn several_may_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("cache");
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let folder = &folder;
            scope.spawn(move || {
                let cache = Cache::open(folder, MIB).unwrap();
                for round in 0..200 {
                    let name = (round % 5).to_string();
                    let text = vec![round % 5; 10_000 + usize::from(round % 5)];
                    if thread % 2 == 0 {
                        cache.put(key(&name), &text);
                    } else if let Some(found) = cache.get(key(&name)) {
                        assert_eq!(found, text);
                    }
                }
            });
        }
    });
    assert_eq!(entries(&folder).len(), 5);
}

#[test]
fn a_stamp_tells_that_a_file_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    fs::write(&file, "one").unwrap();
    let (before, text) = read_stamped(&file, 100).unwrap();
    assert_eq!(text, b"one");
    assert_eq!(stamp(&file), Some(before.clone()));
    fs::write(&file, "other").unwrap();
    assert_ne!(stamp(&file), Some(before));
    assert!(read_stamped(&file, 4).is_err());
    assert!(read_stamped(folder.path(), 100).is_err());
    assert_eq!(stamp(&folder.path().join("b.c")), None);
}
