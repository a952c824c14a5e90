//! Draws graphs in layers: sources above, edges downward as far as possible. Or writes them in the language of Graphviz, which draws better.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use crate::screen::one_line;
use crate::svg::{document, escaped};

/// The shape of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A box.
    #[default]
    Box,
    /// A box with a dashed border.
    Dashed,
    /// The beginning or the end of all ways: a box with round ends.
    End,
}

/// A node: lines of text in a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What it says.
    pub lines: Vec<String>,
    /// Lines are aligned at their beginnings, not in the middle.
    pub aligned: bool,
    /// A last line in small letters; empty for none.
    pub note: String,
    /// The colour of the box.
    pub fill: &'static str,
    /// How it looks.
    pub shape: Shape,
}

impl Node {
    fn width(&self) -> f64 {
        let letters = |line: &str| line.chars().count() as f64;
        let text = self.lines.iter().map(|line| letters(line));
        let widest = text.fold(letters(&self.note) * 0.84, f64::max);
        widest * LETTER + 20.0
    }

    fn height(&self) -> f64 {
        let further = self.lines.len().saturating_sub(1) as f64;
        BOX_HEIGHT + further * LINE
    }
}

/// An edge between two nodes, with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// What is written where it begins; empty for nothing.
    pub label: String,
}

/// A graph to draw.
#[derive(Clone, Debug, Default)]
pub struct Layered {
    /// The nodes; layers begin at the first one.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The node that stands below all others, if there is one.
    pub last: Option<usize>,
}

/// Returns the first `most` characters of `text`, with a sign if something is left out.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut text: String = text.chars().take(most.saturating_sub(1)).collect();
    text.push('…');
    text
}

/// A node with one line and a note has this height.
const BOX_HEIGHT: f64 = 40.0;
const LINE: f64 = 15.0;
/// Between rows, and between the boxes of one.
const ROW_GAP: f64 = 46.0;
const GAP: f64 = 24.0;
const LETTER: f64 = 7.3;

/// How far apart edges are that go round, and how many places there are.
const STEP: f64 = 9.0;
const MOST_STEPS: usize = 16;

#[derive(Clone, Copy, Default)]
struct Placed {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// How an edge is drawn.
enum Way {
    /// To the node itself.
    Loop,
    /// To the next row.
    Down,
    /// Past rows, round their left at this place.
    Side(f64),
    /// Upward or sideways, round the right at this place.
    Back(f64),
}

impl Layered {
    /// The layer of each node: one more than those before it, where edges that lead back do not count.
    fn layers(&self) -> Vec<usize> {
        let count = self.nodes.len();
        let mut successors = vec![Vec::new(); count];
        for edge in &self.edges {
            successors[edge.from].push(edge.to);
        }
        let mut finished = Vec::new();
        let mut state = vec![0; count];
        let mut back = HashSet::new();
        // Depth first from the first one, then from what it does not reach.
        for root in 0..count {
            if state[root] != 0 {
                continue;
            }
            state[root] = 1;
            let mut stack = vec![(root, successors[root].iter())];
            while let Some((node, next)) = stack.last_mut() {
                let node = *node;
                match next.next() {
                    Some(&to) if state[to] == 0 => {
                        state[to] = 1;
                        stack.push((to, successors[to].iter()));
                    }
                    Some(&to) if state[to] == 1 => {
                        back.insert((node, to));
                    }
                    Some(_) => {}
                    None => {
                        state[node] = 2;
                        finished.push(node);
                        stack.pop();
                    }
                }
            }
        }
        let mut layer = vec![0; count];
        for &node in finished.iter().rev() {
            for &to in &successors[node] {
                if !back.contains(&(node, to)) {
                    layer[to] = layer[to].max(layer[node] + 1);
                }
            }
        }
        if let Some(last) = self.last {
            layer[last] = layer.iter().max().copied().unwrap_or(0).max(1);
            let others_last = (0..count).any(|node| node != last && layer[node] == layer[last]);
            if others_last {
                layer[last] += 1;
            }
        }
        layer
    }

    /// The nodes of each layer, each row in the order of the mean place of what leads to it.
    fn rows(&self, layer: &[usize]) -> BTreeMap<usize, Vec<usize>> {
        let mut before = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            if layer[edge.from] < layer[edge.to] {
                before[edge.to].push(edge.from);
            }
        }
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (node, row) in layer.iter().enumerate() {
            rows.entry(*row).or_default().push(node);
        }
        let mut place = vec![0.0; layer.len()];
        for _ in 0..4 {
            for row in rows.values_mut() {
                let mean = |node: usize| match before[node].len() {
                    0 => 0.5,
                    n => before[node].iter().map(|v| place[*v]).sum::<f64>() / n as f64,
                };
                let mut order: Vec<(f64, usize)> = row.iter().map(|v| (mean(*v), *v)).collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                for (i, (_, node)) in order.iter().enumerate() {
                    row[i] = *node;
                    place[*node] = (i as f64 + 0.5) / order.len() as f64;
                }
            }
        }
        rows
    }

    /// Returns the graph in the language of Graphviz, with the colours of [`Layered::draw`].
    pub fn dot(&self, title: &str) -> String {
        let font = "fontname=monospace fontsize=12";
        let mut text = format!(
            "digraph {{\n  graph [label={} labelloc=t bgcolor=\"#ffffff\" {font}];\n  \
             node [shape=box color=\"#59636e\" {font}];\n  edge [color=\"#59636e\" {font}];\n",
            quoted([title], "\\n")
        );
        for (number, node) in self.nodes.iter().enumerate() {
            let style = match node.shape {
                Shape::Box => "filled",
                Shape::Dashed => "filled,dashed",
                Shape::End => "filled,rounded",
            };
            let note = Some(&node.note).filter(|note| !note.is_empty());
            let lines = node.lines.iter().chain(note).map(|line| &line[..]);
            let end = if node.aligned { "\\l" } else { "\\n" };
            let label = quoted(lines, end);
            let _ = writeln!(
                text,
                "  n{number} [label={label} style=\"{style}\" fillcolor=\"{}\"];",
                node.fill
            );
        }
        for Edge { from, to, label } in &self.edges {
            let label = match label.is_empty() {
                true => String::new(),
                false => format!(" [label={}]", quoted([&label[..]], "")),
            };
            let _ = writeln!(text, "  n{from} -> n{to}{label};");
        }
        if let Some(last) = self.last {
            let _ = writeln!(text, "  {{ rank=sink; n{last}; }}");
        }
        text.push_str("}\n");
        text
    }

    /// Returns the drawing as SVG.
    pub fn draw(&self, title: &str) -> String {
        let layer = self.layers();
        let rows = self.rows(&layer);
        let row_width = |row: &[usize]| {
            row.iter().map(|v| self.nodes[*v].width()).sum::<f64>() + GAP * (row.len() as f64 - 1.0)
        };
        // Edges that do not lead from one row to the next go round, each a little further out.
        let goes_down = |edge: &&Edge| layer[edge.to] == layer[edge.from] + 1;
        let far = self.edges.iter().filter(|edge| !goes_down(edge)).count();
        let margin = 60.0 + STEP * far.min(MOST_STEPS) as f64;
        let title_width = title.chars().count() as f64 * LETTER + 28.0;
        let widest = rows.values().map(|row| row_width(row));
        let width = (widest.fold(320.0, f64::max) + 2.0 * margin).max(title_width);
        let mut boxes = vec![Placed::default(); layer.len()];
        // The leftmost and the rightmost place of each row.
        let mut sides = BTreeMap::new();
        let mut y = 44.0;
        for (row, nodes) in &rows {
            let left = (width - row_width(nodes)) / 2.0;
            sides.insert(*row, (left, left + row_width(nodes)));
            let mut x = left;
            let mut tallest: f64 = 0.0;
            for node in nodes {
                let (wide, height) = (self.nodes[*node].width(), self.nodes[*node].height());
                boxes[*node] = Placed {
                    x,
                    y,
                    width: wide,
                    height,
                };
                x += wide + GAP;
                tallest = tallest.max(height);
            }
            y += tallest + ROW_GAP;
        }
        let mut body = String::from(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\" fill=\"#59636e\"/></marker></defs>\n",
        );
        let _ = writeln!(body, "<text x=\"14\" y=\"22\">{}</text>", escaped(title));
        let mut steps = 0;
        for edge in &self.edges {
            let (from, to) = (edge.from, edge.to);
            let (upper, lower) = (layer[from].min(layer[to]), layer[from].max(layer[to]));
            let way = if from == to {
                Way::Loop
            } else if goes_down(&edge) {
                Way::Down
            } else {
                steps += 1;
                let out = 20.0 + STEP * (steps % MOST_STEPS) as f64;
                let between = sides.range(upper..=lower).map(|(_, side)| *side);
                if layer[to] > layer[from] {
                    Way::Side(between.map(|side| side.0).fold(width, f64::min) - out)
                } else {
                    Way::Back(between.map(|side| side.1).fold(0.0, f64::max) + out)
                }
            };
            body.push_str(&path(&boxes[from], &boxes[to], way, &edge.label));
        }
        for (node, at) in self.nodes.iter().zip(&boxes) {
            body.push_str(&drawn(node, *at));
        }
        document(width, y + 16.0 - ROW_GAP + 14.0, title, &body)
    }
}

/// Lines as a string of Graphviz, with this behind each. It reads entities of HTML.
fn quoted<'l>(lines: impl IntoIterator<Item = &'l str>, end: &str) -> String {
    let mut text = String::from("\"");
    for line in lines {
        for c in one_line(line).chars() {
            match c {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '&' => text.push_str("&amp;"),
                c => text.push(c),
            }
        }
        text.push_str(end);
    }
    text.push('"');
    text
}

/// A node at its place.
fn drawn(node: &Node, at: Placed) -> String {
    let radius = if node.shape == Shape::End { 20 } else { 5 };
    let dashes = match node.shape {
        Shape::Dashed => " stroke-dasharray=\"4 3\"",
        Shape::Box | Shape::End => "",
    };
    let mut body = format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\" fill=\"{}\" \
         stroke=\"#59636e\"{dashes}/>\n",
        at.x, at.y, at.width, at.height, node.fill
    );
    let (x, anchor) = match node.aligned {
        true => (at.x + 10.0, "start"),
        false => (at.x + at.width / 2.0, "middle"),
    };
    let first = if node.note.is_empty() { 24.0 } else { 17.0 };
    for (index, line) in node.lines.iter().enumerate() {
        let y = at.y + first + LINE * index as f64;
        let _ = writeln!(
            body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(line)
        );
    }
    if !node.note.is_empty() {
        let _ = writeln!(
            body,
            "<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.y + at.height - 8.0,
            escaped(&node.note)
        );
    }
    body
}

/// An edge, and its label where it begins.
fn path(from: &Placed, to: &Placed, way: Way, label: &str) -> String {
    let (y1, y2) = (from.y + from.height / 2.0, to.y + to.height / 2.0);
    // What leaves at a side is named below the box, where no other box is.
    let below = from.y + from.height + 12.0;
    let (class, path, at) = match way {
        Way::Loop => {
            let (x, out) = (from.x + from.width, from.x + from.width + 34.0);
            let (above, below) = (y1 - 8.0, y1 + 8.0);
            let path = format!(
                "M{x:.1} {above:.1}C{out:.1} {:.1} {out:.1} {:.1} {x:.1} {below:.1}",
                y1 - 22.0,
                y1 + 22.0
            );
            ("edge back", path, (x + 4.0, y1 - 20.0, "start"))
        }
        Way::Down => {
            let (x1, x2) = (from.x + from.width / 2.0, to.x + to.width / 2.0);
            let (y1, y2) = (from.y + from.height, to.y);
            let middle = (y1 + y2) / 2.0;
            let path =
                format!("M{x1:.1} {y1:.1}C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}");
            // On the side that the edge goes to.
            let at = match x2 < x1 {
                true => (x1 - 8.0, y1 + 13.0, "end"),
                false => (x1 + 8.0, y1 + 13.0, "start"),
            };
            ("edge", path, at)
        }
        Way::Side(x) => {
            let path = round(from.x, y1, x, to.x, y2);
            ("edge", path, (from.x + 4.0, below, "start"))
        }
        Way::Back(x) => {
            let (right, to_right) = (from.x + from.width, to.x + to.width);
            let path = round(right, y1, x, to_right, y2);
            ("edge back", path, (right - 4.0, below, "end"))
        }
    };
    let mut body = format!("<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#tip)\"/>\n");
    if !label.is_empty() {
        let (x, y, anchor) = at;
        let _ = writeln!(
            body,
            "<text class=\"small\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(label)
        );
    }
    body
}

/// From one point along the vertical at `x` to another.
fn round(x1: f64, y1: f64, x: f64, x2: f64, y2: f64) -> String {
    let turn = if y2 > y1 { 22.0 } else { -22.0 };
    format!(
        "M{x1:.1} {y1:.1}Q{x:.1} {y1:.1} {x:.1} {:.1}V{:.1}Q{x:.1} {y2:.1} {x2:.1} {y2:.1}",
        y1 + turn,
        y2 - turn
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_that_lead_back_do_not_count_for_layers() {
        let edges = [(0, 2), (2, 3), (3, 2), (3, 3), (3, 1), (2, 1)];
        let drawn = Layered {
            nodes: vec![Node::default(); 4],
            edges: edges
                .map(|(from, to)| Edge {
                    from,
                    to,
                    label: "x<y".to_owned(),
                })
                .to_vec(),
            last: Some(1),
        };
        assert_eq!(drawn.layers(), [0, 3, 1, 2]);
        let svg = drawn.draw("a <b>");
        assert_eq!(svg.matches("<path class=\"edge").count(), 6);
        assert_eq!(svg.matches("x&lt;y").count(), 6);
        assert!(svg.contains("a &lt;b&gt;"));
    }

    #[test]
    fn texts_are_quoted_for_graphviz() {
        let node = Node {
            lines: vec!["f(&lt, \"\\n\")".to_owned()],
            note: "a.c:1".to_owned(),
            ..Node::default()
        };
        let drawn = Layered {
            nodes: vec![node],
            ..Layered::default()
        };
        let label = r#"n0 [label="f(&amp;lt, \"\\n\")\na.c:1\n" "#;
        assert!(drawn.dot("t").contains(label), "{}", drawn.dot("t"));
    }
}
