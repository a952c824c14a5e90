//! Drawings: a change sequence graph in layers, and the complexity of commits as plots.

use std::collections::BTreeMap;
use std::fmt::Write;

use patchwright_changes::{Graph, Role, Vertex};

use crate::complexity::{Measured, correlation};

/// Text as it may stand in XML; what XML 1.0 cannot hold is left out.
fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

const STYLE: &str = "<style>text{font:12px ui-monospace,monospace;fill:#1f2328}.small{font-size:10px;fill:#59636e}\
.edge{fill:none;stroke:#59636e;stroke-width:1.2}.back{stroke:#8250df}</style>\n";

fn document(width: f64, height: f64, title: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{}</title>\n{STYLE}\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        escaped(title)
    )
}

struct Box {
    x: f64,
    y: f64,
    width: f64,
}

const BOX_HEIGHT: f64 = 40.0;
const LAYER: f64 = 86.0;
const GAP: f64 = 24.0;
const LETTER: f64 = 7.3;
const MOST_LETTERS: usize = 46;

fn lines_of(vertex: &Vertex) -> (String, String, &'static str) {
    match vertex {
        Vertex::Entry => ("entry".into(), String::new(), "#f6f8fa"),
        Vertex::Exit => ("exit".into(), String::new(), "#f6f8fa"),
        Vertex::Place {
            role,
            file,
            function,
            line,
            text,
        } => {
            let mut text: String = text.clone();
            if text.chars().count() > MOST_LETTERS {
                text = text.chars().take(MOST_LETTERS - 1).collect();
                text.push('…');
            }
            let fill = match role {
                Role::Changed => "#dafbe1",
                Role::Deleted => "#ffebe9",
            };
            (text, format!("{file}:{line} {function}"), fill)
        }
    }
}

/// The layer of each vertex: one more than those before it, where edges that lead back do not count.
fn layers(graph: &Graph) -> Vec<usize> {
    let count = graph.vertices.len();
    let mut finished = Vec::new();
    let mut state = vec![0; count];
    let mut back = Vec::new();
    // Depth first from the entry, then from what it does not reach.
    for root in 0..count {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut stack = vec![(root, graph.successors(root).collect::<Vec<_>>().into_iter())];
        while let Some((vertex, next)) = stack.last_mut() {
            let vertex = *vertex;
            match next.next() {
                Some(to) if state[to] == 0 => {
                    state[to] = 1;
                    stack.push((to, graph.successors(to).collect::<Vec<_>>().into_iter()));
                }
                Some(to) if state[to] == 1 => back.push((vertex, to)),
                Some(_) => {}
                None => {
                    state[vertex] = 2;
                    finished.push(vertex);
                    stack.pop();
                }
            }
        }
    }
    let mut layer = vec![0; count];
    for &vertex in finished.iter().rev() {
        for to in graph.successors(vertex) {
            if !back.contains(&(vertex, to)) {
                layer[to] = layer[to].max(layer[vertex] + 1);
            }
        }
    }
    layer[Graph::EXIT] = layer.iter().max().copied().unwrap_or(0).max(1);
    let others_last = (0..count).any(|v| v != Graph::EXIT && layer[v] == layer[Graph::EXIT]);
    if others_last {
        layer[Graph::EXIT] += 1;
    }
    layer
}

/// Draws a change sequence graph, source above sink.
pub fn graph(graph: &Graph, title: &str) -> String {
    let layer = layers(graph);
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (vertex, row) in layer.iter().enumerate() {
        rows.entry(*row).or_default().push(vertex);
    }
    // Each row in the order of the mean place of what leads to it, a few times.
    let mut place = vec![0.0; layer.len()];
    for _ in 0..4 {
        for row in rows.values_mut() {
            let mean = |vertex: usize| {
                let before: Vec<f64> = graph
                    .edges
                    .iter()
                    .filter(|(from, to)| *to == vertex && layer[*from] < layer[vertex])
                    .map(|(from, _)| place[*from])
                    .collect();
                match before.len() {
                    0 => 0.5,
                    n => before.iter().sum::<f64>() / n as f64,
                }
            };
            let mut order: Vec<(f64, usize)> = row.iter().map(|v| (mean(*v), *v)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (i, (_, vertex)) in order.iter().enumerate() {
                row[i] = *vertex;
                place[*vertex] = (i as f64 + 0.5) / order.len() as f64;
            }
        }
    }
    let width_of = |vertex: usize| {
        let (text, place, _) = lines_of(&graph.vertices[vertex]);
        let letters = (text.chars().count() as f64).max(place.chars().count() as f64 * 0.84);
        letters * LETTER + 20.0
    };
    let row_width = |row: &[usize]| {
        row.iter().map(|v| width_of(*v)).sum::<f64>() + GAP * (row.len() as f64 - 1.0)
    };
    // Edges that do not lead from one row to the next go round, each a little further out.
    let far = graph
        .edges
        .iter()
        .filter(|(from, to)| layer[*to] != layer[*from] + 1)
        .count();
    let margin = 60.0 + STEP * far.min(MOST_STEPS) as f64;
    let title_width = title.chars().count() as f64 * LETTER + 28.0;
    let widest = rows
        .values()
        .map(|row| row_width(row))
        .fold(320.0, f64::max);
    let width = (widest + 2.0 * margin).max(title_width);
    let height = 60.0 + LAYER * rows.len() as f64;
    let mut boxes: Vec<Box> = (0..layer.len())
        .map(|_| Box {
            x: 0.0,
            y: 0.0,
            width: 0.0,
        })
        .collect();
    for (row, vertices) in &rows {
        let mut x = (width - row_width(vertices)) / 2.0;
        for vertex in vertices {
            let wide = width_of(*vertex);
            boxes[*vertex] = Box {
                x,
                y: 44.0 + LAYER * *row as f64,
                width: wide,
            };
            x += wide + GAP;
        }
    }
    let mut body = String::from(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\" fill=\"#59636e\"/></marker></defs>\n",
    );
    let _ = writeln!(body, "<text x=\"14\" y=\"22\">{}</text>", escaped(title));
    let mut steps = 0;
    for &(from, to) in &graph.edges {
        let (upper, lower) = (layer[from].min(layer[to]), layer[from].max(layer[to]));
        let between = (0..boxes.len()).filter(|v| (upper..=lower).contains(&layer[*v]));
        let way = if from == to {
            Way::Loop
        } else if layer[to] == layer[from] + 1 {
            Way::Down
        } else {
            steps += 1;
            let out = 20.0 + STEP * (steps % MOST_STEPS) as f64;
            if layer[to] > layer[from] {
                Way::Side(between.map(|v| boxes[v].x).fold(width, f64::min) - out)
            } else {
                let right = between.map(|v| boxes[v].x + boxes[v].width);
                Way::Back(right.fold(0.0, f64::max) + out)
            }
        };
        body.push_str(&edge(&boxes[from], &boxes[to], way));
    }
    for (vertex, at) in boxes.iter().enumerate() {
        let (text, place, fill) = lines_of(&graph.vertices[vertex]);
        let is_end = vertex <= Graph::EXIT;
        let radius = if is_end { 20 } else { 5 };
        let dashes = match &graph.vertices[vertex] {
            Vertex::Place {
                role: Role::Deleted,
                ..
            } => " stroke-dasharray=\"4 3\"",
            _ => "",
        };
        let _ = writeln!(
            body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX_HEIGHT}\" rx=\"{radius}\" fill=\"{fill}\" \
             stroke=\"#59636e\"{dashes}/>",
            at.x, at.y, at.width
        );
        let middle = at.x + at.width / 2.0;
        let first = if is_end { 24.0 } else { 17.0 };
        let _ = writeln!(
            body,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            at.y + first,
            escaped(&text)
        );
        if !place.is_empty() {
            let _ = writeln!(
                body,
                "<text class=\"small\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                at.y + 32.0,
                escaped(&place)
            );
        }
    }
    document(width, height, title, &body)
}

/// How an edge is drawn.
enum Way {
    /// To the vertex itself.
    Loop,
    /// To the next row.
    Down,
    /// Past rows, round their left at this place.
    Side(f64),
    /// Upward or sideways, round the right at this place.
    Back(f64),
}

/// How far apart edges are that go round, and how many places there are.
const STEP: f64 = 9.0;
const MOST_STEPS: usize = 16;

fn edge(from: &Box, to: &Box, way: Way) -> String {
    let (y1, y2) = (from.y + BOX_HEIGHT / 2.0, to.y + BOX_HEIGHT / 2.0);
    let (class, path) = match way {
        Way::Loop => {
            let (x, out) = (from.x + from.width, from.x + from.width + 34.0);
            let (above, below) = (y1 - 8.0, y1 + 8.0);
            let path = format!(
                "M{x:.1} {above:.1}C{out:.1} {:.1} {out:.1} {:.1} {x:.1} {below:.1}",
                y1 - 22.0,
                y1 + 22.0
            );
            ("edge back", path)
        }
        Way::Down => {
            let (x1, x2) = (from.x + from.width / 2.0, to.x + to.width / 2.0);
            let (y1, y2) = (from.y + BOX_HEIGHT, to.y);
            let middle = (y1 + y2) / 2.0;
            let path =
                format!("M{x1:.1} {y1:.1}C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}");
            ("edge", path)
        }
        Way::Side(x) => ("edge", round(from.x, y1, x, to.x, y2)),
        Way::Back(x) => {
            let (right, to_right) = (from.x + from.width, to.x + to.width);
            ("edge back", round(right, y1, x, to_right, y2))
        }
    };
    format!("<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#tip)\"/>\n")
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

/// A logarithmic scale from `from` to `to` for figures from 1 to `most`.
fn scale(figure: usize, most: usize, from: f64, to: f64) -> f64 {
    let part = (figure.max(1) as f64).ln() / (most.max(2) as f64).ln();
    from + part * (to - from)
}

/// The powers of ten, doubled and fivefold, up to `most`.
fn ticks(most: usize) -> Vec<usize> {
    let mut ticks = Vec::new();
    let mut power = 1;
    while power <= most {
        for factor in [1, 2, 5] {
            if factor * power <= most {
                ticks.push(factor * power);
            }
        }
        power *= 10;
    }
    ticks
}

/// Complexity over the commits, and complexity against changed lines; both on logarithmic scales.
pub fn plot(changes: &[Measured], title: &str) -> String {
    let points: Vec<(usize, usize, String)> = changes
        .iter()
        .filter(|change| change.counts())
        .map(|change| {
            let (complexity, lines) = change.figures();
            (complexity, lines, change.title.clone())
        })
        .collect();
    let most = |figure: fn(&(usize, usize, String)) -> usize| {
        points.iter().map(figure).max().unwrap_or(1).max(10)
    };
    let (most_complex, most_lines) = (most(|p| p.0), most(|p| p.1));
    let mut body = format!("<text x=\"14\" y=\"22\">{}</text>\n", escaped(title));
    let (top, bottom) = (60.0, 380.0);
    let (left, right) = ((60.0, 480.0), (580.0, 960.0));
    for (name, (from, to)) in [
        ("CyCC of each commit, oldest first", left),
        ("CyCC against CLoC", right),
    ] {
        let _ = writeln!(
            body,
            "<text x=\"{from}\" y=\"46\">{name}</text>\n\
             <path class=\"edge\" d=\"M{from} {top}V{bottom}H{to}\"/>"
        );
        for tick in ticks(most_complex) {
            let y = scale(tick, most_complex, bottom, top);
            let _ = writeln!(
                body,
                "<path stroke=\"#d1d9e0\" d=\"M{from} {y:.1}H{to}\"/><text class=\"small\" x=\"{}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{tick}</text>",
                from - 6.0,
                y + 3.0
            );
        }
    }
    for tick in ticks(most_lines) {
        let x = scale(tick, most_lines, right.0, right.1);
        let _ = writeln!(
            body,
            "<path stroke=\"#d1d9e0\" d=\"M{x:.1} {top}V{bottom}\"/><text class=\"small\" x=\"{x:.1}\" y=\"{}\" \
             text-anchor=\"middle\">{tick}</text>",
            bottom + 14.0
        );
    }
    let dot = |x: f64, y: f64, title: &str| {
        format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#0969da\" fill-opacity=\"0.55\"><title>{}</title></circle>\n",
            escaped(title)
        )
    };
    for (i, (complexity, lines, title)) in points.iter().enumerate() {
        let y = scale(*complexity, most_complex, bottom, top);
        let part = (i as f64 + 0.5) / points.len() as f64;
        let label = format!("{title}: CyCC {complexity}, CLoC {lines}");
        body.push_str(&dot(left.0 + part * (left.1 - left.0), y, &label));
        body.push_str(&dot(scale(*lines, most_lines, right.0, right.1), y, &label));
    }
    let rho = match correlation(changes) {
        Some(rho) => format!("{} commits, Spearman's ρ = {rho:.3}", points.len()),
        None => format!("{} commits", points.len()),
    };
    let _ = writeln!(body, "<text x=\"{}\" y=\"412\">{rho}</text>", right.0);
    document(1000.0, 430.0, title, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escaped("a < b && \"c\"\u{1}"),
            "a &lt; b &amp;&amp; &quot;c&quot;"
        );
    }

    #[test]
    fn edges_that_lead_back_do_not_count_for_layers() {
        let place = |line| Vertex::Place {
            role: Role::Changed,
            file: "a.c".into(),
            function: "f".into(),
            line,
            text: String::new(),
        };
        let mut drawn = Graph::default();
        drawn.vertices.extend([place(1), place(2)]);
        drawn.edges = [(0, 2), (2, 3), (3, 2), (3, 3), (3, 1), (2, 1)].into();
        assert_eq!(layers(&drawn), [0, 3, 1, 2]);
        let svg = graph(&drawn, "a <b>");
        assert_eq!(svg.matches("<path class=\"edge").count(), 6);
        assert!(svg.contains("a &lt;b&gt;"));
    }
}
