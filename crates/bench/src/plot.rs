//! Draws plots as SVG.

use std::fmt::Write;

use crate::validation::SetResult;

const COLOURS: [&str; 6] = [
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2",
];
const WIDTH: f64 = 720.0;
const BAR: f64 = 14.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 70.0;

/// Returns a bar chart of the processor time of each step of each set, on a logarithmic axis.
pub fn steps(sets: &[SetResult]) -> String {
    let times = || {
        sets.iter()
            .flat_map(|set| &set.steps)
            .map(|step| step.processor_seconds.max(0.01))
    };
    let low = times().fold(f64::INFINITY, f64::min).log10().floor();
    let high = times().fold(0.01, f64::max).log10().ceil().max(low + 1.0);
    let x = |seconds: f64| {
        let share = (seconds.max(0.01).log10() - low) / (high - low);
        LEFT + share.max(0.0) * (WIDTH - LEFT - RIGHT)
    };
    let rows: usize = sets.iter().map(|set| set.steps.len()).sum();
    let bottom = 30.0 + rows as f64 * BAR + sets.len() as f64 * 26.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        bottom + 40.0
    );
    let mut decade = low;
    while decade <= high {
        let at = x(10f64.powf(decade));
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"20\" x2=\"{at:.1}\" y2=\"{bottom:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} s</text>",
            bottom + 14.0,
            10f64.powf(decade)
        );
        decade += 1.0;
    }
    let mut y = 30.0;
    for set in sets {
        let _ = writeln!(
            svg,
            "<text x=\"4\" y=\"{:.1}\" font-weight=\"bold\">{} ({} patches)</text>",
            y + 8.0,
            escaped(&set.set),
            set.patches
        );
        y += 14.0;
        for (number, step) in set.steps.iter().enumerate() {
            let end = x(step.processor_seconds);
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{:.1} s</text>",
                LEFT - 6.0,
                y + 10.0,
                escaped(&step.step),
                end - LEFT,
                BAR - 3.0,
                COLOURS[number % COLOURS.len()],
                end + 4.0,
                y + 10.0,
                step.processor_seconds
            );
            y += BAR;
        }
        y += 12.0;
    }
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::StepResult;

    #[test]
    fn a_bar_ten_times_as_long_in_time_is_one_decade_longer() {
        let step = |seconds| StepResult {
            step: "plain".into(),
            seconds,
            processor_seconds: seconds,
            builds: 1,
            executions: 1,
            woven: 0,
            phases: vec![],
            apart: std::collections::BTreeMap::new(),
            different: vec![],
            peak_memory: 0,
            sample: None,
        };
        let set = SetResult {
            set: "a<b".into(),
            patches: 3,
            plausible: 1,
            steps: vec![step(1.0), step(10.0)],
        };
        let svg = steps(&[set]);
        assert!(svg.contains("a&lt;b (3 patches)"), "{svg}");
        assert!(
            svg.contains("width=\"0.0\"") && svg.contains("width=\"500.0\""),
            "{svg}"
        );
    }
}
