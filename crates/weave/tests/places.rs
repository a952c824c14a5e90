//! Woven places in real programs: what runs is what was selected, and what was compared was undone.

use crate::common::{Bench, stdout};
use patchwright_probe_image::{
    PatchChannel, PatchTable, SplitReason, TableAlternative, TablePlace,
};
use patchwright_text::Span;
use patchwright_weave::{Alternative, PlaceId, PlaceKind, PlacesError, WovenPlace, weave_places};
use std::process::Command;

const SOURCE: &str = "\
#include <stdio.h>
static int g = 1;
static int f(int n)
{
    int x = 0;
    for (int i = 0; i < 4; i++) {
        if (i == n) {
            x += 2;
        }
        g = g + i;
        switch (i) {
        case 2:
            x++;
            break;
        }
    }
    return x;
}
int main(void)
{
    printf(\"%d\", f(1));
    printf(\" %d %d\\n\", g, __LINE__);
    return 0;
}
";

fn place(
    id: u32,
    text: &str,
    kind: PlaceKind,
    alternatives: &[(&str, Option<&str>)],
) -> WovenPlace {
    let start = SOURCE.find(text).unwrap() as u32;
    WovenPlace {
        id: PlaceId(id),
        span: Span::new(start, start + text.len() as u32),
        kind,
        result: None,
        captured: None,
        labels: Vec::new(),
        alternatives: alternatives
            .iter()
            .map(|(text, captured)| Alternative {
                text: text.as_bytes().to_vec(),
                line: 7,
                captured: captured.map(|text| text.as_bytes().to_vec()),
                labels: Vec::new(),
            })
            .collect(),
    }
}

/// `g = …` as an evaluation does it.
fn set_g(value: &str) -> String {
    format!(
        "(*__extension__({{__auto_type __pw_p1=&(g);if(__pw_write_t(__pw_p1,sizeof(*__pw_p1)))goto __pw_bad;__pw_p1;}})) = {value};"
    )
}

/// One place in another, one with nothing in it, and one whose alternatives are compared.
fn places() -> Vec<WovenPlace> {
    let nothing = SOURCE.find("        g = g").unwrap() as u32;
    let mut empty = place(
        2,
        "g = g + i;",
        PlaceKind::Statements,
        &[("x += 100;", None)],
    );
    empty.span = Span::empty(nothing);
    let (same, other) = (set_g("i + g"), set_g("g - i"));
    let mut compared = place(
        3,
        "g = g + i;",
        PlaceKind::Statements,
        &[
            ("g = i + g;", Some(&same)),
            ("g = g - i;", Some(&other)),
            ("{ continue; }", Some("{__pw_c=2;goto __pw_out;}")),
        ],
    );
    compared.captured = Some(set_g("g + i").into_bytes());
    vec![
        place(
            0,
            "if (i == n) {\n            x += 2;\n        }",
            PlaceKind::Statements,
            &[("if (i == 3) break;", None), ("x += __LINE__;", None)],
        ),
        place(1, "i == n", PlaceKind::Condition, &[("i != n", None)]),
        empty,
        compared,
    ]
}

fn table() -> PatchTable {
    let alternative = |number, captured, patches: &[u32]| TableAlternative {
        number,
        captured,
        patches: patches.to_vec(),
    };
    PatchTable {
        patches: 7,
        places: vec![
            TablePlace {
                captured: false,
                alternatives: vec![
                    alternative(1, false, &[0]),
                    alternative(2, false, &[1]),
                    alternative(0, false, &[2]),
                ],
            },
            TablePlace {
                captured: false,
                alternatives: vec![alternative(1, false, &[2])],
            },
            TablePlace {
                captured: false,
                alternatives: vec![alternative(1, false, &[3])],
            },
            TablePlace {
                captured: true,
                alternatives: vec![
                    alternative(1, true, &[4]),
                    alternative(2, true, &[5]),
                    alternative(3, true, &[6]),
                ],
            },
        ],
    }
}

fn run(bench: &Bench, channel: &PatchChannel) -> String {
    let mut command: Command = bench.plain_command("program");
    command.envs(channel.environment(&bench.path("probe")));
    stdout(&mut command)
}

#[test]
fn what_is_selected_runs_in_every_compiler() {
    let bench = Bench::new();
    let woven = weave_places(SOURCE.as_bytes(), "t", &places(), None).unwrap();
    for (place, spans) in places().iter().zip(&woven.alternatives) {
        for (alternative, span) in place.alternatives.iter().zip(spans) {
            assert_eq!(span.slice(&woven.text).unwrap(), alternative.text);
        }
    }
    bench.write("woven.c", &woven.text);
    let mut channel = PatchChannel::create(bench.folder(), table()).unwrap();
    for compiler in ["gcc -O0", "gcc -O2", "clang-19 -O0", "clang-19 -O2"] {
        bench.compile(&format!(
            "{compiler} -std=gnu11 -Wall -Wextra -Werror -o program woven.c"
        ));
        assert_eq!(bench.plain("program", &[]), "3 7 22\n", "{compiler}");
        let outputs = [
            "1 4 22\n",
            "29 7 22\n",
            "7 7 22\n",
            "403 7 22\n",
            "3 7 22\n",
            "3 -5 22\n",
            "2 1 22\n",
        ];
        for (patch, output) in outputs.into_iter().enumerate() {
            channel.set_patch(Some(patch as u32));
            assert_eq!(run(&bench, &channel), output, "{compiler}, patch {patch}");
        }
        channel.set_visits();
        assert_eq!(run(&bench, &channel), "3 7 22\n");
        assert_eq!(
            channel.report().visited,
            (0..4).map(PlaceId).collect::<Vec<_>>()
        );

        channel.set_tree(None, &[0, 1, 2, 3, 4, 5, 6], 1000);
        assert_eq!(run(&bench, &channel), "3 7 22\n", "{compiler}");
        let report = channel.report();
        assert_eq!(report.live, [4]);
        let groups: Vec<(Vec<u32>, SplitReason)> = report
            .groups
            .into_iter()
            .map(|group| (group.patches, group.reason))
            .collect();
        use SplitReason::{Effect, NotCaptured};
        let expected = [
            (vec![0], NotCaptured),
            (vec![1], NotCaptured),
            (vec![2], NotCaptured),
            (vec![3], NotCaptured),
            // `continue` is another way to go on, even where `g + 0` is `g`.
            (vec![6], Effect),
            (vec![5], Effect),
        ];
        assert_eq!(groups, expected, "{compiler}");

        channel.set_tree(Some(5), &[4, 5], 0);
        assert_eq!(run(&bench, &channel), "3 -5 22\n");
        assert_eq!(channel.report().groups[0].reason, SplitReason::Budget);
    }
}

#[test]
fn places_that_cross_are_refused() {
    let mut crossing = places();
    crossing[1].span.end += 4;
    crossing[1].span.start -= 8;
    let error = weave_places(SOURCE.as_bytes(), "t", &crossing, None).unwrap_err();
    assert!(matches!(error, PlacesError::BadSpan { .. }), "{error}");
    let mut twice = places();
    twice[1].id = PlaceId(0);
    let error = weave_places(SOURCE.as_bytes(), "t", &twice, None).unwrap_err();
    assert_eq!(error, PlacesError::DuplicateId(PlaceId(0)));
    let woven = weave_places(SOURCE.as_bytes(), "t", &[], None).unwrap();
    assert_eq!(woven.text, SOURCE.as_bytes());
}
