//! Draws change sequence graphs, control-flow graphs, and plots of complexity as SVG.

use std::fmt::Write;

use patchwright_changes::{Graph, Role, Vertex};
use patchwright_ir::drawing::Drawing;

use crate::complexity::{Measured, correlation};
use crate::layered::{Edge, Layered, Node, Shape, cut};
use crate::screen::visible;

/// Escapes text for XML and HTML. Control characters become visible.
pub(crate) fn escaped(text: &str) -> String {
    visible(text)
        .chars()
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
.edge{fill:none;stroke:#59636e;stroke-width:1.2}.back{stroke:#8250df}\n\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#8b949e}.edge,[stroke=\"#59636e\"]{stroke:#8b949e}.back{stroke:#bc8cff}\
[fill=\"#ffffff\"]{fill:#0d1117}[fill=\"#f6f8fa\"]{fill:#161b22}[fill=\"#dafbe1\"]{fill:#12351f}[fill=\"#ffebe9\"]{fill:#4c1d1d}\
[fill=\"#59636e\"]{fill:#8b949e}[stroke=\"#d1d9e0\"]{stroke:#30363d}[fill=\"#0969da\"]{fill:#58a6ff}}</style>\n";

/// Returns a whole SVG drawing.
pub(crate) fn document(width: f64, height: f64, title: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{}</title>\n{STYLE}\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
        escaped(title)
    )
}

/// Longer texts of statements are cut.
const MOST_LETTERS: usize = 46;
/// Longer instructions are cut, too.
const MOST_OF_LINE: usize = 90;

fn node(vertex: &Vertex) -> Node {
    let Vertex::Place {
        role,
        file,
        function,
        line,
        text,
    } = vertex
    else {
        let text = match vertex {
            Vertex::Entry => "entry",
            _ => "exit",
        };
        return Node {
            lines: vec![text.to_owned()],
            fill: "#f6f8fa",
            shape: Shape::End,
            ..Node::default()
        };
    };
    let (fill, shape) = match role {
        Role::Changed => ("#dafbe1", Shape::Box),
        Role::Deleted => ("#ffebe9", Shape::Dashed),
    };
    Node {
        lines: vec![cut(text, MOST_LETTERS)],
        note: format!("{file}:{line} {function}"),
        fill,
        shape,
        ..Node::default()
    }
}

/// Returns a change sequence graph to be drawn, source above sink.
pub fn graph(graph: &Graph) -> Layered {
    let edges = graph.edges.iter().map(|&(from, to)| Edge {
        from,
        to,
        label: String::new(),
    });
    Layered {
        nodes: graph.vertices.iter().map(node).collect(),
        edges: edges.collect(),
        last: Some(Graph::EXIT),
    }
}

/// Returns the control-flow graph of a function of the IR to be drawn.
pub fn control_flow(drawing: &Drawing) -> Layered {
    let nodes = drawing.boxes.iter().enumerate().map(|(index, lines)| Node {
        lines: lines.iter().map(|line| cut(line, MOST_OF_LINE)).collect(),
        aligned: true,
        fill: if index == 0 { "#f6f8fa" } else { "#ffffff" },
        ..Node::default()
    });
    let edges = drawing.edges.iter().map(|(from, to, label)| Edge {
        from: *from,
        to: *to,
        label: label.clone(),
    });
    Layered {
        nodes: nodes.collect(),
        edges: edges.collect(),
        last: None,
    }
}

/// Returns what Graphviz has drawn of [`Layered::dot`], to stand in a page as [`Layered::draw`] does. `None` if it is no drawing.
pub fn of_graphviz(drawn: &str, title: &str) -> Option<String> {
    let drawn = &drawn[drawn.find("<svg")?..];
    let (head, body) = drawn.split_at(drawn.find('>')? + 1);
    let mut text = format!("{head}\n<title>{}</title>\n{STYLE}", escaped(title));
    // Names and numbers of nodes mean nothing to people, and several drawings stand in one page.
    let is_wanted = |line: &&str| !line.starts_with("<title>") && !line.starts_with("<!--");
    for line in body.lines().filter(is_wanted) {
        let named = line.strip_prefix("<g id=\"");
        match named.and_then(|line| line.split_once('"')) {
            Some((_, line)) => text += &format!("<g{line}\n"),
            None => text += &format!("{line}\n"),
        }
    }
    Some(text)
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

/// Returns two plots: complexity over the commits, and complexity against changed lines. Both have
/// logarithmic scales.
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
    fn a_drawing_of_graphviz_gets_our_title_and_colours() {
        let drawn = "<?xml?>\n<svg width=\"8pt\"\n viewBox=\"0\">\n<!-- n0 -->\n<g id=\"node1\" class=\"node\">\n<title>n0</title>\n\
            <text>x</text>\n</g>\n</svg>\n";
        let text = of_graphviz(drawn, "a < b").unwrap();
        assert!(
            text.starts_with(
                "<svg width=\"8pt\"\n viewBox=\"0\">\n<title>a &lt; b</title>\n<style>"
            )
        );
        assert!(text.ends_with("<g class=\"node\">\n<text>x</text>\n</g>\n</svg>\n"));
        assert_eq!(of_graphviz("", "a"), None);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escaped("a < b && \"c\"\u{1}"),
            "a &lt; b &amp;&amp; &quot;c&quot;\\x01"
        );
    }
}
