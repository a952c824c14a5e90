//! Reads the program's memory safely.

use crate::system;
use core::ffi::c_void;
use patchwright_probe_abi::PoisonedFunction;

/// Protection changes at multiples of this.
const PAGE: usize = 4096;

/// No program has memory from here on: its addresses have 47 bits, or 56 with page tables of five levels.
const END_OF_USER_SPACE: usize = 1 << 56;

/// Pages that are remembered at once.
const REMEMBERED: usize = 8;

/// Reads memory that may not be there, during one visit of a hole.
///
/// A page is checked before its first use and then read directly. Pages are remembered for one visit only, because the
/// program may unmap them afterwards. Another thread that unmaps a page in the midst of a visit would be noticed too
/// late; a program that does this to memory its own code is about to use is racing with itself.
pub struct Reader {
    pages: [usize; REMEMBERED],
    next: usize,
    /// Pages that cannot be read; the first of all never can. To be told so takes longer than anything else.
    absent: [usize; REMEMBERED],
    next_absent: usize,
    poisoned: Option<PoisonedFunction>,
}

impl Reader {
    /// A reader that knows the page of `known`, an address that can be read, and asks `poisoned` about every region.
    pub fn new(known: usize, poisoned: Option<PoisonedFunction>) -> Self {
        Self {
            pages: [known / PAGE; REMEMBERED],
            next: 0,
            absent: [0; REMEMBERED],
            next_absent: 0,
            poisoned,
        }
    }

    /// The `size` bytes (at most 8) at `address` in the low bytes of the result, or `None` when they cannot be read.
    pub fn read(&mut self, address: usize, size: usize) -> Option<u64> {
        let last = address.checked_add(size.checked_sub(1)?)?;
        if !self.is_readable(address) || !self.is_readable(last) {
            return None;
        }
        if let Some(poisoned) = self.poisoned {
            // SAFETY: AddressSanitizer's own function, which takes any region.
            if !unsafe { poisoned(address as *mut c_void, size) }.is_null() {
                return None;
            }
        }
        // SAFETY: all bytes lie on pages that are readable. They may be uninitialised or changing, hence volatile.
        Some(unsafe {
            match size {
                1 => u64::from((address as *const u8).read_volatile()),
                2 => u64::from(read_unaligned::<u16>(address)),
                4 => u64::from(read_unaligned::<u32>(address)),
                8 => read_unaligned::<u64>(address),
                _ => return None,
            }
        })
    }

    fn is_readable(&mut self, address: usize) -> bool {
        let page = address / PAGE;
        if self.pages.contains(&page) {
            return true;
        }
        if address >= END_OF_USER_SPACE || self.absent.contains(&page) {
            return false;
        }
        let readable = system::is_readable(page * PAGE);
        let (pages, next) = match readable {
            true => (&mut self.pages, &mut self.next),
            false => (&mut self.absent, &mut self.next_absent),
        };
        if let Some(entry) = pages.get_mut(*next) {
            *entry = page;
        }
        *next = (*next + 1) % REMEMBERED;
        readable
    }
}

/// Reads a value that need not be aligned.
///
/// # Safety
/// All its bytes must be readable.
unsafe fn read_unaligned<T: Copy>(address: usize) -> T {
    #[repr(C, packed)]
    struct Unaligned<T>(T);
    // SAFETY: a packed structure has alignment 1; the caller answers for the bytes.
    unsafe { (address as *const Unaligned<T>).read_volatile().0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_sizes_are_read_at_any_alignment() {
        let bytes: [u8; 16] = core::array::from_fn(|i| i as u8 + 1);
        let mut reader = Reader::new(bytes.as_ptr() as usize, None);
        let start = bytes.as_ptr() as usize;
        assert_eq!(reader.read(start + 3, 1), Some(4));
        assert_eq!(reader.read(start + 1, 2), Some(0x0302));
        assert_eq!(reader.read(start + 1, 4), Some(0x0504_0302));
        assert_eq!(reader.read(start + 1, 8), Some(0x0908_0706_0504_0302));
    }

    #[test]
    fn null_small_kernel_and_wrapping_addresses_cannot_be_read() {
        let here = 0u64;
        let mut reader = Reader::new(&raw const here as usize, None);
        for address in [
            0,
            8,
            4095,
            usize::MAX,
            usize::MAX - 7,
            1 << 63,
            0xffff_8000_0000_0000,
        ] {
            assert_eq!(reader.read(address, 8), None, "{address:#x}");
        }
    }

    #[test]
    fn more_pages_than_are_remembered_can_be_read() {
        let pages = vec![7u8; 40 * PAGE];
        let mut reader = Reader::new(pages.as_ptr() as usize, None);
        for page in 0..40 {
            assert_eq!(
                reader.read(pages.as_ptr() as usize + page * PAGE, 1),
                Some(7)
            );
        }
    }

    #[test]
    fn a_poisoned_region_cannot_be_read() {
        unsafe extern "C" fn poisoned(start: *mut c_void, size: usize) -> *mut c_void {
            if size == 8 {
                start
            } else {
                core::ptr::null_mut()
            }
        }
        let here = 5u64;
        let address = &raw const here as usize;
        let mut reader = Reader::new(address, Some(poisoned));
        assert_eq!(reader.read(address, 4), Some(5));
        assert_eq!(reader.read(address, 8), None);
    }
}
