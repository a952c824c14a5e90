//! Lets a process be started once and forked for each run.
//!
//! Whoever attaches first in a process asks here, before anything of the run is read: the children read it anew.

use crate::system;
use patchwright_probe_abi::{NO_CPU_LIMIT, SERVER_ASK, SERVER_DESCRIPTOR, SERVER_START, ServerRun};

/// Answers an order of the supervisor, if there is one. It returns where the program is to go on: at
/// once, or in each child.
pub fn obey() {
    let mut order = [0; 8];
    if system::receive_now(SERVER_DESCRIPTOR, &mut order, true) != 8 {
        return;
    }
    let kind = u64::from_le_bytes(order);
    if kind != SERVER_ASK && kind != SERVER_START {
        return;
    }
    system::receive_now(SERVER_DESCRIPTOR, &mut order, false);
    let thread_id = system::thread_id_address();
    let own = thread_id.map_or(0, |_| system::process_id());
    let is_heard = system::send(SERVER_DESCRIPTOR, &own.to_le_bytes());
    match thread_id {
        Some(thread_id) if kind == SERVER_START && is_heard => serve(thread_id),
        _ => system::close(SERVER_DESCRIPTOR),
    }
}

/// Makes children; returns in each of them.
fn serve(thread_id: usize) {
    loop {
        let mut run = [0; size_of::<ServerRun>()];
        let Some(wires) = system::receive_with_descriptors(SERVER_DESCRIPTOR, &mut run) else {
            system::leave();
        };
        let word = |number: usize| {
            let mut bytes = [0; 8];
            for (byte, given) in bytes.iter_mut().zip(run.iter().skip(8 * number)) {
                *byte = *given;
            }
            u64::from_le_bytes(bytes)
        };
        // SAFETY: the supervisor has seen that this process has one thread.
        let child = unsafe { system::fork_sibling(thread_id) };
        if child == 0 {
            system::close(SERVER_DESCRIPTOR);
            system::begin_session(word(0));
            if word(1) != NO_CPU_LIMIT {
                system::limit_cpu(word(1), word(2));
            }
            for (target, wire) in (0..).zip(wires) {
                system::duplicate(wire, target);
            }
            wires.into_iter().for_each(system::close);
            return;
        }
        wires.into_iter().for_each(system::close);
        let answer = u32::try_from(child).unwrap_or(0);
        if !system::send(SERVER_DESCRIPTOR, &answer.to_le_bytes()) {
            system::leave();
        }
    }
}
