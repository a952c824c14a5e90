//! The probe's shared library as an image that can be mapped without a loader.
//!
//! What a loader would do with a library that needs no other: place its segments, clear what has no contents in the
//! file, and add the address to a few words. The first two are done here, the third is left as a list of words; see
//! `ImageTrailer` in crate `probe-abi`. The image is still a shared library, in which offsets equal addresses.

/// Protection changes at multiples of this.
const PAGE: usize = 4096;

const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const WRITABLE: u64 = 2;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;
const R_X86_64_RELATIVE: u64 = 8;

struct Segment {
    /// Where the program header is.
    header: usize,
    kind: u64,
    writable: bool,
    offset: usize,
    address: usize,
    length: usize,
    room: usize,
}

/// The image of the shared library `elf` with these entry points.
///
/// # Panics
/// When the library is not as the build script links it: that is a mistake in this crate.
pub fn flatten<const N: usize>(elf: &[u8], symbols: [&str; N]) -> Vec<u8> {
    assert!(
        elf.starts_with(b"\x7fELF\x02\x01"),
        "not an ELF file of 64 bits"
    );
    let segments = segments(elf);
    let loaded = || segments.iter().filter(|segment| segment.kind == PT_LOAD);
    let end = loaded().map(|s| s.address + s.room).max();
    let end = end.expect("it has segments").next_multiple_of(8);
    let fixed = loaded()
        .filter(|segment| segment.writable)
        .map(|segment| segment.address / PAGE * PAGE)
        .min()
        .expect("the probe has variables");
    let mut image = vec![0; end];
    for segment in loaded() {
        let whole = segment.writable || segment.address + segment.room <= fixed;
        assert!(whole, "code and variables share a page");
        image[segment.address..][..segment.length]
            .copy_from_slice(&elf[segment.offset..][..segment.length]);
    }
    for segment in &segments {
        // Where the file has it, and how much of it.
        put(&mut image, segment.header + 8, segment.address);
        put(&mut image, segment.header + 32, segment.room);
    }
    // There are no sections any more.
    put(&mut image, 40, 0);
    image[60..64].fill(0);
    let tables = Tables::of(&image, &segments);
    let relocated = relocations(&mut image, &tables);
    assert!(
        relocated.iter().all(|&at| at >= fixed),
        "a relocation in what is never written"
    );
    let entries = symbols.map(|symbol| tables.symbol(&image, symbol));
    let mut trailer: Vec<usize> = entries.to_vec();
    trailer.extend([end, relocated.len(), fixed]);
    let after = (relocated.len() + trailer.len()) * 8;
    let size = (end + after).next_multiple_of(PAGE);
    image.extend(words(&relocated));
    image.resize(size - trailer.len() * 8, 0);
    image.extend(words(&trailer));
    image
}

fn words(numbers: &[usize]) -> Vec<u8> {
    let words = numbers.iter().map(|&number| (number as u64).to_le_bytes());
    words.flatten().collect()
}

fn put(image: &mut [u8], at: usize, number: usize) {
    image[at..][..8].copy_from_slice(&(number as u64).to_le_bytes());
}

fn segments(elf: &[u8]) -> Vec<Segment> {
    let (table, size, count) = (number(elf, 32, 8), number(elf, 54, 2), number(elf, 56, 2));
    (0..count)
        .map(|index| {
            let at = table + index * size;
            Segment {
                header: at,
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

/// Places of what the dynamic section tells.
#[derive(Default)]
struct Tables {
    relocations: usize,
    relocation_bytes: usize,
    symbols: usize,
    names: usize,
}

impl Tables {
    fn of(image: &[u8], segments: &[Segment]) -> Self {
        let dynamic = segments
            .iter()
            .find(|segment| segment.kind == PT_DYNAMIC)
            .expect("a shared library has a dynamic section");
        let mut tables = Tables::default();
        for at in (dynamic.address..dynamic.address + dynamic.length).step_by(16) {
            let value = number(image, at + 8, 8);
            match number(image, at, 8) as u64 {
                0 => break,
                DT_RELA => tables.relocations = value,
                DT_RELASZ => tables.relocation_bytes = value,
                DT_SYMTAB => tables.symbols = value,
                DT_STRTAB => tables.names = value,
                tag => assert!(
                    tag != DT_NEEDED && tag != DT_JMPREL,
                    "the probe needs another library"
                ),
            }
        }
        tables
    }

    /// The address of a function. Linkers put the names behind the symbols.
    fn symbol(&self, image: &[u8], name: &str) -> usize {
        let wanted = [name.as_bytes(), b"\0"].concat();
        let at = (self.symbols..self.names).step_by(24).find(|&at| {
            let spelled = self.names + number(image, at, 4);
            image[spelled..].starts_with(&wanted)
        });
        let at = at.unwrap_or_else(|| panic!("the probe does not export {name}"));
        number(image, at + 8, 8)
    }
}

/// Writes the words that a loader would add the address to, and gives their places.
fn relocations(image: &mut [u8], tables: &Tables) -> Vec<usize> {
    (tables.relocations..tables.relocations + tables.relocation_bytes)
        .step_by(24)
        .map(|at| {
            let (place, kind) = (number(image, at, 8), number(image, at + 8, 8) as u64);
            assert_eq!(
                kind, R_X86_64_RELATIVE,
                "the probe needs a symbol of someone else"
            );
            let addend = number(image, at + 16, 8);
            put(image, place, addend);
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
