//! The probe's shared library as an image that can be mapped without a loader.
//!
//! What a loader would do with a library that needs no other: place its segments, clear what has no contents in the
//! file, and add the address to a few words. The first two are done here, the third is left as a list of words; see
//! `ImageHeader` in crate `probe-abi`.

/// Protection changes at multiples of this.
const PAGE: usize = 4096;

const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const WRITABLE: u64 = 2;
const DT_NEEDED: u64 = 1;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;
const R_X86_64_RELATIVE: u64 = 8;

struct Segment {
    kind: u64,
    writable: bool,
    offset: usize,
    address: usize,
    length: usize,
    room: usize,
}

/// The image of the shared library `elf`.
///
/// # Panics
/// When the library is not as the build script links it: that is a mistake in this crate.
pub fn flatten(elf: &[u8]) -> Vec<u8> {
    assert!(
        elf.starts_with(b"\x7fELF\x02\x01"),
        "not an ELF file of 64 bits"
    );
    let entry = number(elf, 24, 8);
    let segments = segments(elf);
    let loaded = || segments.iter().filter(|segment| segment.kind == PT_LOAD);
    let end = loaded()
        .map(|s| s.address + s.room)
        .max()
        .expect("it has segments");
    let fixed = loaded()
        .filter(|segment| segment.writable)
        .map(|segment| segment.address / PAGE * PAGE)
        .min()
        .expect("the probe has variables");
    let mut image = vec![0; end.next_multiple_of(8)];
    for segment in loaded() {
        let whole = segment.writable || segment.address + segment.room <= fixed;
        assert!(whole, "code and variables share a page");
        image[segment.address..][..segment.length]
            .copy_from_slice(&elf[segment.offset..][..segment.length]);
    }
    let relocated = relocations(&mut image, &segments);
    assert!(
        relocated.iter().all(|&at| at >= fixed),
        "a relocation in what is never written"
    );
    let header = [fixed, entry, image.len(), relocated.len()];
    image.extend(relocated.iter().flat_map(|at| (*at as u64).to_le_bytes()));
    image.resize(image.len().next_multiple_of(PAGE), 0);
    // Where the file had its own header.
    for (word, value) in image.chunks_exact_mut(8).zip(header) {
        word.copy_from_slice(&(value as u64).to_le_bytes());
    }
    image
}

fn segments(elf: &[u8]) -> Vec<Segment> {
    let (table, size, count) = (number(elf, 32, 8), number(elf, 54, 2), number(elf, 56, 2));
    (0..count)
        .map(|index| {
            let at = table + index * size;
            Segment {
                kind: number(elf, at, 4) as u64,
                writable: number(elf, at + 4, 4) as u64 & WRITABLE != 0,
                offset: number(elf, at + 8, 8),
                address: number(elf, at + 16, 8),
                length: number(elf, at + 32, 8),
                room: number(elf, at + 40, 8),
            }
        })
        .collect()
}

/// Writes the words that a loader would add the address to, and gives their places.
fn relocations(image: &mut [u8], segments: &[Segment]) -> Vec<usize> {
    let dynamic = segments
        .iter()
        .find(|segment| segment.kind == PT_DYNAMIC)
        .expect("a shared library has a dynamic section");
    let (mut table, mut size) = (0, 0);
    for at in (dynamic.address..dynamic.address + dynamic.length).step_by(16) {
        let value = number(image, at + 8, 8);
        match number(image, at, 8) as u64 {
            0 => break,
            DT_RELA => table = value,
            DT_RELASZ => size = value,
            tag => assert!(
                tag != DT_NEEDED && tag != DT_JMPREL,
                "the probe needs another library"
            ),
        }
    }
    (table..table + size)
        .step_by(24)
        .map(|at| {
            let (place, kind) = (number(image, at, 8), number(image, at + 8, 8) as u64);
            assert_eq!(
                kind, R_X86_64_RELATIVE,
                "the probe needs a symbol of someone else"
            );
            let addend = number(image, at + 16, 8) as u64;
            image[place..][..8].copy_from_slice(&addend.to_le_bytes());
            place
        })
        .collect()
}

/// The little-endian number of `size` bytes at `at`.
fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[at..][..size]);
    u64::from_le_bytes(word) as usize
}
