//! Computes reaching definitions of the variables and locations of a routine in static single assignment
//! form.

use std::collections::VecDeque;

use crate::control::Control;

/// A variable or location of a routine, by its number there.
pub(crate) type Resource = u32;

/// What happens to a resource at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Touch {
    /// A vertex uses its value.
    Use(Resource, u32),
    /// A vertex gives it a new value, or none; nothing of the old one is left.
    Define(Resource, Option<u32>),
    /// A vertex may give it a new value, or a part of one.
    MayDefine(Resource, u32),
}

/// A definition, in the order of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    /// The position in the block; `None` where definitions meet at the segment's start.
    pub(crate) position: Option<u32>,
    pub(crate) resource: Resource,
    pub(crate) vertex: Option<u32>,
}

/// What the construction needs of the graph it adds to.
pub(crate) trait Target {
    /// A vertex where definitions meet at the start of a segment.
    fn meeting(&mut self, segment: u32, resource: Resource) -> u32;
    /// A vertex for what a possible definition by `vertex` leaves.
    fn may_define(&mut self, vertex: u32, resource: Resource) -> u32;
    /// `from` depends on `to`.
    fn depends(&mut self, from: u32, to: u32);
}

/// Adds the dependences. `touches` has the touches of each segment, in order, with their positions;
/// `entry` the vertices that define resources when the routine is entered. Gives the definitions
/// of each segment.
pub(crate) fn connect(
    control: &Control,
    resources: usize,
    entry: &[(Resource, u32)],
    touches: &[Vec<(u32, Touch)>],
    target: &mut dyn Target,
) -> Vec<Vec<Definition>> {
    let count = control.segments.len();
    let meetings = place(control, resources, touches);
    let mut definitions: Vec<Vec<Definition>> = vec![Vec::new(); count];
    let mut meeting_vertices: Vec<Vec<(Resource, u32)>> = vec![Vec::new(); count];
    for (segment, here) in meetings.iter().enumerate() {
        for &resource in here {
            let vertex = target.meeting(segment as u32, resource);
            meeting_vertices[segment].push((resource, vertex));
            definitions[segment].push(Definition {
                position: None,
                resource,
                vertex: Some(vertex),
            });
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &node in control.dominators.order() {
        if node < count
            && let Some(above) = control.dominators.immediate(node)
        {
            children[above].push(node);
        }
    }
    let mut current: Vec<Option<u32>> = vec![None; resources];
    for &(resource, vertex) in entry {
        current[resource as usize] = Some(vertex);
    }
    // A walk over the dominator tree; what a segment changes is undone behind it.
    enum Work {
        Visit(usize),
        Undo(Vec<(Resource, Option<u32>)>),
    }
    let mut work = vec![Work::Visit(0)];
    while let Some(next) = work.pop() {
        let segment = match next {
            Work::Visit(segment) => segment,
            Work::Undo(changes) => {
                for (resource, vertex) in changes.into_iter().rev() {
                    current[resource as usize] = vertex;
                }
                continue;
            }
        };
        let mut changes = Vec::new();
        let mut set = |current: &mut Vec<Option<u32>>, resource: Resource, vertex| {
            changes.push((resource, current[resource as usize]));
            current[resource as usize] = vertex;
        };
        for &(resource, vertex) in &meeting_vertices[segment] {
            set(&mut current, resource, Some(vertex));
        }
        for &(position, touch) in &touches[segment] {
            let (resource, vertex) = match touch {
                Touch::Use(resource, vertex) => {
                    if let Some(definition) = current[resource as usize] {
                        target.depends(vertex, definition);
                    }
                    continue;
                }
                Touch::Define(resource, vertex) => (resource, vertex),
                Touch::MayDefine(resource, vertex) => {
                    let after = target.may_define(vertex, resource);
                    target.depends(after, vertex);
                    if let Some(definition) = current[resource as usize] {
                        target.depends(after, definition);
                    }
                    (resource, Some(after))
                }
            };
            set(&mut current, resource, vertex);
            definitions[segment].push(Definition {
                position: Some(position),
                resource,
                vertex,
            });
        }
        for &next in &control.successors[segment] {
            if next >= count {
                continue;
            }
            for &(resource, vertex) in &meeting_vertices[next] {
                if let Some(definition) = current[resource as usize] {
                    target.depends(vertex, definition);
                }
            }
        }
        work.push(Work::Undo(changes));
        work.extend(children[segment].iter().map(|&child| Work::Visit(child)));
    }
    definitions
}

/// The resources whose definitions meet at the start of each segment: at the dominance frontiers
/// of the segments that define them, and of those (Cytron et al., 1991).
fn place(control: &Control, resources: usize, touches: &[Vec<(u32, Touch)>]) -> Vec<Vec<Resource>> {
    let count = control.segments.len();
    let mut frontiers: Vec<Vec<usize>> = vec![Vec::new(); count];
    let predecessors = control.predecessors();
    for (node, before) in predecessors.iter().enumerate().take(count) {
        if !control.dominators.is_reachable(node) {
            continue;
        }
        let before = before
            .iter()
            .filter(|&&node| control.dominators.is_reachable(node));
        // The entry has a way into it that is no edge.
        if before.clone().count() + usize::from(node == 0) < 2 {
            continue;
        }
        let stop = control.dominators.immediate(node);
        for &start in before {
            let mut at = Some(start);
            while at != stop
                && let Some(runner) = at
            {
                if !frontiers[runner].contains(&node) {
                    frontiers[runner].push(node);
                }
                at = control.dominators.immediate(runner);
            }
        }
    }
    let mut defining: Vec<Vec<usize>> = vec![Vec::new(); resources];
    for (segment, list) in touches.iter().enumerate() {
        for &(_, touch) in list {
            if let Touch::Define(resource, _) | Touch::MayDefine(resource, _) = touch
                && defining[resource as usize].last() != Some(&segment)
            {
                defining[resource as usize].push(segment);
            }
        }
    }
    let mut meetings: Vec<Vec<Resource>> = vec![Vec::new(); count];
    for (resource, segments) in defining.iter().enumerate() {
        let mut todo: VecDeque<usize> = segments.iter().copied().collect();
        while let Some(segment) = todo.pop_front() {
            for &node in &frontiers[segment] {
                if meetings[node].last() != Some(&(resource as u32)) {
                    meetings[node].push(resource as u32);
                    todo.push_back(node);
                }
            }
        }
    }
    meetings
}
