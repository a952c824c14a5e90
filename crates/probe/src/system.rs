//! System calls without libc.

use core::arch::asm;

const OPEN: usize = 2;
const CLOSE: usize = 3;
const LSEEK: usize = 8;
const MMAP: usize = 9;
const RT_SIGPROCMASK: usize = 14;
const DUP2: usize = 33;
const SENDTO: usize = 44;
const RECVFROM: usize = 45;
const RECVMSG: usize = 47;
const CLONE: usize = 56;
const GETPPID: usize = 110;
const SETSID: usize = 112;
const PRCTL: usize = 157;
const SETRLIMIT: usize = 160;
const SET_ROBUST_LIST: usize = 273;
const GET_ROBUST_LIST: usize = 274;
const GETPID: usize = 39;
const GETTID: usize = 186;
const KILL: usize = 62;
const EXIT_GROUP: usize = 231;

const O_RDWR: usize = 2;
const O_CLOEXEC: usize = 0o2_000_000;
const SEEK_END: usize = 2;
const PROT_READ_WRITE: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_PRIVATE: usize = 2;
const MAP_FIXED: usize = 0x10;
const MAP_ANONYMOUS: usize = 0x20;
const SIGKILL: usize = 9;
const EFAULT: isize = -14;

/// The error that a file does not exist.
pub const ENOENT: isize = -2;
/// The error that a part of the path is not a folder.
pub const ENOTDIR: isize = -20;
/// A file without contents.
const ENODATA: isize = -61;

/// Makes a system call; errors are negative numbers.
///
/// # Safety
/// The arguments must be right for the call.
unsafe fn call(number: usize, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel keeps all registers but rax, rcx and r11; the caller answers for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Maps a file, shared with other processes, for reading and writing. It returns the address and the
/// length, or a negative error.
///
/// # Safety
/// `path` must be a string that ends with a zero byte.
pub unsafe fn map_file(path: *const core::ffi::c_char) -> Result<(*mut u8, usize), isize> {
    // SAFETY: the caller answers for the path.
    let descriptor = unsafe { call(OPEN, [path as usize, O_RDWR | O_CLOEXEC, 0, 0, 0, 0]) };
    let descriptor = usize::try_from(descriptor).map_err(|_| descriptor)?;
    // SAFETY: seeking in our own descriptor.
    let length = unsafe { call(LSEEK, [descriptor, 0, SEEK_END, 0, 0, 0]) };
    // SAFETY: a new mapping at an address that the kernel chooses; it refuses a length that is not positive.
    let address = unsafe {
        call(
            MMAP,
            [
                0,
                length.max(0) as usize,
                PROT_READ_WRITE,
                MAP_SHARED,
                descriptor,
                0,
            ],
        )
    };
    // SAFETY: our own descriptor; the mapping does not need it.
    unsafe { call(CLOSE, [descriptor, 0, 0, 0, 0, 0]) };
    match address {
        _ if length <= 0 => Err(ENODATA),
        -4095..0 => Err(address),
        _ => Ok((address as *mut u8, length as usize)),
    }
}

/// Puts `length` bytes of a file, from `offset` on, in the place of those mapped at `address`, shared with others. When
/// the file cannot be opened, memory of this process only takes their place.
///
/// # Safety
/// `path` must be a string that ends with a zero byte; what is mapped at `address` must be the caller's.
pub unsafe fn replace_mapping(
    address: *mut u8,
    length: usize,
    path: *const core::ffi::c_char,
    offset: u64,
) {
    // SAFETY: the caller answers for the path.
    let descriptor = unsafe { call(OPEN, [path as usize, O_RDWR | O_CLOEXEC, 0, 0, 0, 0]) };
    let (flags, file, offset) = match usize::try_from(descriptor) {
        Ok(file) => (MAP_SHARED | MAP_FIXED, file, offset as usize),
        Err(_) => (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, usize::MAX, 0),
    };
    // SAFETY: the caller answers for the address.
    unsafe {
        call(
            MMAP,
            [
                address as usize,
                length,
                PROT_READ_WRITE,
                flags,
                file,
                offset,
            ],
        );
        if descriptor >= 0 {
            call(CLOSE, [descriptor as usize, 0, 0, 0, 0, 0]);
        }
    }
}

/// Returns the id of this process.
pub fn process_id() -> u32 {
    // SAFETY: the call has no arguments.
    unsafe { call(GETPID, [0; 6]) as u32 }
}

/// Whether the page that begins at `page` can be read.
///
/// The kernel reads the set of signals before it looks at what to do with it, and an unknown thing to do is an error
/// without effect. That is ten times cheaper than `process_vm_readv`, needs no descriptors as a pipe does, and is
/// allowed in sandboxes.
pub fn is_readable(page: usize) -> bool {
    const NO_OPERATION: usize = usize::MAX;
    // Not the first word of the page: a null pointer would mean that there is no set, which is no error.
    let address = page.wrapping_add(size_of::<u64>());
    // SAFETY: the call changes nothing, and checks the address itself.
    unsafe { call(RT_SIGPROCMASK, [NO_OPERATION, address, 0, 8, 0, 0]) != EFAULT }
}

/// Returns the id of the calling thread, which is unique in the system.
pub fn thread() -> u32 {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { call(GETTID, [0; 6]) as u32 }
}

/// Whether the page that begins at `page`, which can be read, can be written.
///
/// The kernel is asked to put this thread's set of blocked signals at the start of the page; what was there is put
/// back. Only for processes with one thread.
pub fn is_writable(page: usize) -> bool {
    const BLOCK: usize = 0;
    let word = page as *mut u64;
    // SAFETY: the page can be read. Nothing is blocked, and the kernel checks the address that it writes to.
    unsafe {
        let old = word.read_volatile();
        if call(RT_SIGPROCMASK, [BLOCK, 0, page, 8, 0, 0]) != 0 {
            return false;
        }
        word.write_volatile(old);
    }
    true
}

/// Reads a message from a socket without waiting. With `leave` the message stays there. It returns the
/// number of bytes or a negative error.
pub fn receive_now(socket: i32, message: &mut [u8], leave: bool) -> isize {
    const PEEK: usize = 2;
    const DO_NOT_WAIT: usize = 0x40;
    let flags = DO_NOT_WAIT | if leave { PEEK } else { 0 };
    let (start, length) = (message.as_mut_ptr() as usize, message.len());
    // SAFETY: the buffer is live and as long as is said; no address is asked for.
    unsafe { call(RECVFROM, [socket as usize, start, length, flags, 0, 0]) }
}

/// Sends a message on a socket, without a signal if nobody reads it. It returns false if that fails.
pub fn send(socket: i32, message: &[u8]) -> bool {
    const NO_SIGNAL: usize = 0x4000;
    let (start, length) = (message.as_ptr() as usize, message.len());
    // SAFETY: the buffer is live and as long as is said; no address is given.
    unsafe { call(SENDTO, [socket as usize, start, length, NO_SIGNAL, 0, 0]) == length as isize }
}

#[repr(C)]
struct Part {
    start: *mut u8,
    length: usize,
}

#[repr(C)]
struct Message {
    name: *mut u8,
    name_length: u32,
    parts: *mut Part,
    part_count: usize,
    control: *mut u8,
    control_length: usize,
    flags: i32,
}

#[repr(C)]
struct Descriptors {
    length: usize,
    level: i32,
    kind: i32,
    numbers: [i32; 4],
}

/// Waits for a message that fills `message` and brings three descriptors. It is `None` if none will come.
pub fn receive_with_descriptors(socket: i32, message: &mut [u8]) -> Option<[i32; 3]> {
    const INTERRUPTED: isize = -4;
    const SOL_SOCKET: i32 = 1;
    const SCM_RIGHTS: i32 = 1;
    let length = message.len();
    let mut part = Part {
        start: message.as_mut_ptr(),
        length,
    };
    loop {
        let mut control = Descriptors {
            length: 0,
            level: 0,
            kind: 0,
            numbers: [-1; 4],
        };
        let mut header = Message {
            name: core::ptr::null_mut(),
            name_length: 0,
            parts: &raw mut part,
            part_count: 1,
            control: (&raw mut control).cast(),
            control_length: size_of::<Descriptors>(),
            flags: 0,
        };
        let header = (&raw mut header) as usize;
        // SAFETY: the header and all that it points to are live locals of the kernel's layout.
        let received = unsafe { call(RECVMSG, [socket as usize, header, 0, 0, 0, 0]) };
        if received == INTERRUPTED {
            continue;
        }
        let [input, output, error, _] = control.numbers;
        let is_whole = received == length as isize
            && control.level == SOL_SOCKET
            && control.kind == SCM_RIGHTS
            && control.length == size_of::<Descriptors>() - size_of::<i32>();
        return is_whole.then_some([input, output, error]);
    }
}

/// Returns where the C library keeps the calling thread's id. A child that is made without the C library
/// must correct it. It is `None` if the address that the kernel knows has another number.
pub fn thread_id_address() -> Option<usize> {
    const PR_GET_TID_ADDRESS: usize = 40;
    let mut address = 0usize;
    let place = (&raw mut address) as usize;
    // SAFETY: the kernel writes an address into a live local.
    let result = unsafe { call(PRCTL, [PR_GET_TID_ADDRESS, place, 0, 0, 0, 0]) };
    if result != 0 || address == 0 || !is_readable(address & !0xfff) {
        return None;
    }
    // SAFETY: the page can be read, and the kernel writes words of this size to the address itself.
    let there = unsafe { (address as *const u32).read_volatile() };
    (there == thread()).then_some(address)
}

/// Makes a child of this process's parent, a copy of this process, as `fork` does. Its id; 0 in the child; negative
/// when there is none.
///
/// # Safety
/// The process has one thread, and `thread_id` is [`thread_id_address`].
pub unsafe fn fork_sibling(thread_id: usize) -> isize {
    const CLONE_PARENT: usize = 0x8000;
    const CLONE_CHILD_CLEARTID: usize = 0x20_0000;
    const CLONE_CHILD_SETTID: usize = 0x100_0000;
    const SIGCHLD: usize = 17;
    let (mut list, mut length) = (0usize, 0usize);
    let flags = CLONE_PARENT | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD;
    // SAFETY: without a stack of its own the child goes on with a copy of this one. The kernel forgets the list of
    // mutexes that it looks after; the pointers are to live locals.
    unsafe {
        let (list_place, length_place) = ((&raw mut list) as usize, (&raw mut length) as usize);
        let known = call(GET_ROBUST_LIST, [0, list_place, length_place, 0, 0, 0]) == 0;
        let child = call(CLONE, [flags, 0, 0, thread_id, 0, 0]);
        if child == 0 && known {
            call(SET_ROBUST_LIST, [list, length, 0, 0, 0, 0]);
        }
        child
    }
}

/// Begins a session, and lets the process end with its parent. If its parent is not `parent` any more,
/// the process ends now.
pub fn begin_session(parent: u64) {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: no call has memory arguments.
    unsafe {
        call(SETSID, [0; 6]);
        call(PRCTL, [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0]);
        if call(GETPPID, [0; 6]) as u64 != parent {
            end_process();
        }
    }
}

/// Limits the processor time of this process, in seconds.
pub fn limit_cpu(soft: u64, hard: u64) {
    const RLIMIT_CPU: usize = 0;
    let limits = [soft, hard];
    // SAFETY: two words, as the kernel reads them. A lower hard limit makes it refuse, and stays.
    unsafe {
        call(
            SETRLIMIT,
            [RLIMIT_CPU, limits.as_ptr() as usize, 0, 0, 0, 0],
        )
    };
}

/// Makes `target` a duplicate of the descriptor.
pub fn duplicate(descriptor: i32, target: i32) {
    // SAFETY: no memory arguments.
    unsafe { call(DUP2, [descriptor as usize, target as usize, 0, 0, 0, 0]) };
}

/// Closes a file descriptor of this process.
pub fn close(descriptor: i32) {
    // SAFETY: no memory arguments; the caller has the descriptor.
    unsafe { call(CLOSE, [descriptor as usize, 0, 0, 0, 0, 0]) };
}

/// Ends this process successfully and silently.
pub fn leave() -> ! {
    loop {
        // SAFETY: no memory arguments.
        unsafe { call(EXIT_GROUP, [0; 6]) };
    }
}

/// Ends this process at once by a signal that it cannot catch, so that it cannot count as success.
pub fn end_process() -> ! {
    loop {
        // SAFETY: neither call has memory arguments. The first process of a PID namespace is immune to its own signal,
        // so the status is that of a killed program.
        unsafe {
            let own = call(GETPID, [0; 6]);
            call(KILL, [own as usize, SIGKILL, 0, 0, 0, 0]);
            call(EXIT_GROUP, [137, 0, 0, 0, 0, 0]);
        }
    }
}
