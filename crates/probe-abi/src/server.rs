//! The messages between a supervisor and a program that is started once and forked for each run.
//!
//! The program finds a socket (`SOCK_SEQPACKET`) with an order in it at [`SERVER_DESCRIPTOR`] when its first woven unit
//! attaches, before `main`. Asked whether it can serve ([`SERVER_ASK`]), it answers with its process id, or 0 if it
//! cannot, and goes on. Told to serve ([`SERVER_START`]), it answers likewise and waits. Each [`ServerRun`] arrives with the
//! descriptors for standard input, output and error. For each, the program makes a child of *its parent* and answers with the
//! child's process id, or 0. The child goes on as if it had just been started.

/// The number of the socket's descriptor, which is high enough not to collide with the program's own.
pub const SERVER_DESCRIPTOR: i32 = 219;

/// The word that asks a program whether it could serve: be forked for each test.
pub const SERVER_ASK: u64 = u64::from_le_bytes(*b"PWserve?");

/// The word that tells a program to serve: to wait at its start and fork a child for each [`ServerRun`].
pub const SERVER_START: u64 = u64::from_le_bytes(*b"PWserve!");

/// The value that means no limit of processor time.
pub const NO_CPU_LIMIT: u64 = u64::MAX;

/// The request to begin one run. Three descriptors come with it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerRun {
    /// The supervisor, without which the run is not to go on.
    pub supervisor: u64,
    /// Soft limit of processor time in seconds, or [`NO_CPU_LIMIT`].
    pub cpu_soft: u64,
    /// Hard limit of processor time in seconds.
    pub cpu_hard: u64,
}

impl ServerRun {
    /// Returns the bytes of the request as they are sent.
    pub fn to_bytes(self) -> [u8; size_of::<ServerRun>()] {
        let mut bytes = [0; size_of::<ServerRun>()];
        let words = [self.supervisor, self.cpu_soft, self.cpu_hard];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}
