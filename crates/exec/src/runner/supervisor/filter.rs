//! The filter of system calls of protected commands: which of them the guardian looks at, and which are refused.
//!
//! That nothing outside of the copy can be written to is the work of mounts. The filter says what is tried, and closes what mounts
//! leave open: sockets in the file system, pipes with names, and calls that reach around paths.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W,
    sock_filter,
};

use super::sys::check;

/// Native calls have this architecture.
const NATIVE: u32 = 0xc000_003e;
/// Calls with this bit are those of another interface to the same kernel.
const X32: u32 = 0x4000_0000;
/// Calls of 32-bit programs that reach sockets: `socketcall` by pointers, `socket` by values.
const SOCKETCALL_32: u32 = 102;
const SOCKET_32: u32 = 359;

/// Where in the structure that a filter sees things are.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The lower half of an argument.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Calls by which files are changed, whatever their arguments are; the guardian knows what each argument means.
pub(super) const CHANGING: &[libc::c_long] = &[
    libc::SYS_creat,
    libc::SYS_openat2,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_truncate,
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_connect,
];

/// The C library does not know it yet.
pub(super) const FCHMODAT2: libc::c_long = 452;

/// The flags of `open` with which a file may be changed.
const WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// Calls that a filter cannot look into, or that reach around paths; programs have to do without.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// The same of 32-bit programs, `open_by_handle_at` with them.
const ABSENT_32: &[u32] = &[425, 426, 427, 286, 287, 288, 342];

/// Families of sockets that end in this network namespace.
const FAMILIES: [libc::c_int; 5] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
    libc::AF_ALG,
];

const fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

/// Skips this many statements if the comparison holds, or if it does not.
const fn jump(how: u32, k: u32, holds: u8, else_: u8) -> sock_filter {
    sock_filter {
        code: (BPF_JMP | how | BPF_K) as u16,
        jt: holds,
        jf: else_,
        k,
    }
}

const fn load(offset: u32) -> sock_filter {
    statement(BPF_LD | BPF_W | BPF_ABS, offset)
}

const fn give(what: u32) -> sock_filter {
    statement(BPF_RET | BPF_K, what)
}

const ALLOW: sock_filter = give(libc::SECCOMP_RET_ALLOW);
const ASK: sock_filter = give(libc::SECCOMP_RET_USER_NOTIF);

const fn fail(error: libc::c_int) -> sock_filter {
    give(libc::SECCOMP_RET_ERRNO | error as u32)
}

/// Statements for one call; each list of statements ends with an answer.
fn when(number: u32, answer: &[sock_filter]) -> Vec<sock_filter> {
    let mut rule = vec![jump(BPF_JEQ, number, 0, answer.len() as u8)];
    rule.extend_from_slice(answer);
    rule
}

/// What is loaded must be one of these values, else the call fails with this error.
fn one_of(values: &[libc::c_int], error: libc::c_int) -> Vec<sock_filter> {
    let count = values.len() as u8;
    let jumps = values.iter().zip(1u8..);
    let jumps = jumps.map(|(value, place)| jump(BPF_JEQ, *value as u32, count + 1 - place, 0));
    jumps.chain([fail(error)]).collect()
}

/// Returns the answer to a call that makes a socket of the file system. Sockets that can send to any name are refused: a filter
/// cannot look into the arguments of that call.
fn no_datagrams() -> Vec<sock_filter> {
    let mut answer = vec![
        load(argument(0)),
        jump(BPF_JEQ, libc::AF_UNIX as u32, 1, 0),
        ALLOW,
        load(argument(1)),
        statement(BPF_ALU | BPF_AND | BPF_K, 0xf),
    ];
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        answer.extend(when(kind as u32, &[fail(libc::EACCES)]));
    }
    answer.push(ALLOW);
    answer
}

/// The rules for 32-bit programs: no sockets of the file system, and none of what is absent.
fn rules_32() -> Vec<sock_filter> {
    let mut rules = vec![load(NUMBER)];
    rules.extend(when(SOCKETCALL_32, &[fail(libc::ENOSYS)]));
    let mut socket = vec![load(argument(0))];
    socket.extend(one_of(
        &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        libc::EAFNOSUPPORT,
    ));
    socket.push(ALLOW);
    rules.extend(when(SOCKET_32, &socket));
    for number in ABSENT_32 {
        rules.extend(when(*number, &[fail(libc::ENOSYS)]));
    }
    rules.push(ALLOW);
    rules
}

fn program() -> Vec<sock_filter> {
    let rules_32 = rules_32();
    let mut program = vec![load(ARCHITECTURE)];
    program.push(jump(BPF_JEQ, NATIVE, rules_32.len() as u8, 0));
    program.extend(rules_32);
    program.extend([load(NUMBER), jump(BPF_JGE, X32, 0, 1), fail(libc::ENOSYS)]);
    for (number, flags) in [(libc::SYS_open, 1), (libc::SYS_openat, 2)] {
        let answer = [
            load(argument(flags)),
            jump(BPF_JSET, WRITING, 0, 1),
            ASK,
            ALLOW,
        ];
        program.extend(when(number as u32, &answer));
    }
    for number in CHANGING {
        program.extend(when(*number as u32, &[ASK]));
    }
    for number in ABSENT {
        program.extend(when(*number as u32, &[fail(libc::ENOSYS)]));
    }
    // It finds files by numbers that can be guessed.
    program.extend(when(
        libc::SYS_open_by_handle_at as u32,
        &[fail(libc::EPERM)],
    ));
    let mut socket = vec![load(argument(0))];
    socket.extend(one_of(&FAMILIES, libc::EAFNOSUPPORT));
    socket.extend(no_datagrams());
    program.extend(when(libc::SYS_socket as u32, &socket));
    program.extend(when(libc::SYS_socketpair as u32, &no_datagrams()));
    program.push(ALLOW);
    program
}

/// Installs the filter for this process and its descendants. The guardian receives their calls at the returned descriptor.
pub(super) fn install() -> io::Result<OwnedFd> {
    let mut statements = program();
    let filter = libc::sock_fprog {
        len: statements.len() as u16,
        filter: statements.as_mut_ptr(),
    };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: the filter and its statements are alive during the call.
    let listener = check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const filter,
        )
    })?;
    // SAFETY: just opened, no other owner; it is closed on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(listener as RawFd) })
}
