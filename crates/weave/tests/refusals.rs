//! What cannot be woven is refused, with the reason.

use patchwright_text::Span;
use patchwright_weave::{
    FunctionId, HoleId, Hook, HookKind, Refusal, WeaveError, WovenFunction, weave_file,
};

const SOURCE: &str = "int f(int a) { return a + 1; }\nint g(int a) { return a; }\n";

fn function(id: u32, body: (u32, u32), holes: &[(u32, u32, u32)]) -> WovenFunction {
    WovenFunction {
        id: FunctionId(id),
        body: Span::new(body.0, body.1),
        labels: Vec::new(),
        hooks: holes
            .iter()
            .map(|(id, start, end)| Hook {
                id: HoleId(*id),
                span: Span::new(*start, *end),
                kind: HookKind::Condition,
                slots: Vec::new(),
                captured: None,
            })
            .collect(),
        assignments: Vec::new(),
        touches: Vec::new(),
        moved: Vec::new(),
        always: false,
    }
}

fn error(functions: &[WovenFunction]) -> WeaveError {
    weave_file(SOURCE.as_bytes(), functions, None).unwrap_err()
}

#[test]
fn without_functions_a_file_stays_as_it_is() {
    assert_eq!(
        weave_file(SOURCE.as_bytes(), &[], None).unwrap(),
        SOURCE.as_bytes()
    );
}

#[test]
fn holes_may_touch_and_nest_but_not_cross() {
    let body = (13, 30);
    let good = [
        (0, 22, 27),
        (1, 22, 23),
        (2, 22, 27),
        (3, 23, 24),
        (4, 26, 27),
    ];
    weave_file(SOURCE.as_bytes(), &[function(0, body, &good)], None).unwrap();
    let crossing = error(&[function(0, body, &[(0, 22, 25), (1, 24, 27)])]);
    let span = Span::new(24, 27);
    assert_eq!(crossing, WeaveError::BadSpan { span });
    for span in [(4, 13, 30), (4, 20, 31), (4, 22, 22)] {
        let outside = error(&[function(0, body, &[span])]);
        let span = Span::new(span.1, span.2);
        assert_eq!(outside, WeaveError::BadSpan { span });
    }
}

#[test]
fn of_two_holes_at_one_place_the_first_is_the_outer_one() {
    let woven = weave_file(
        SOURCE.as_bytes(),
        &[function(0, (13, 30), &[(7, 22, 27), (5, 22, 27)])],
        None,
    )
    .unwrap();
    let woven = String::from_utf8(woven).unwrap();
    let (first, second) = (
        woven.find("__pw_holes_0[0]&&"),
        woven.find("__pw_holes_0[1]&&"),
    );
    assert!(first.unwrap() < second.unwrap());
    assert!(woven.contains("__pw_hole_ids_0[] = {7u,5u}"));
}

#[test]
fn bodies_must_be_bodies_and_ids_unique() {
    for body in [(12, 30), (13, 29), (13, 300), (13, 14)] {
        let error = error(&[function(3, body, &[])]);
        let expected = WeaveError::NotABody {
            function: FunctionId(3),
            span: Span::new(body.0, body.1),
        };
        assert_eq!(error, expected);
    }
    let twice = error(&[function(3, (13, 30), &[]), function(3, (44, 57), &[])]);
    assert_eq!(twice.to_string(), "function3 is given twice");
    let twice = error(&[
        function(3, (13, 30), &[(1, 22, 23)]),
        function(4, (44, 57), &[(1, 53, 54)]),
    ]);
    assert_eq!(twice.to_string(), "hole1 is given twice");
    let overlap = error(&[function(3, (13, 30), &[]), function(4, (13, 30), &[])]);
    assert!(matches!(overlap, WeaveError::Bodies(_)));
}

#[test]
fn a_refused_function_is_named_with_the_reason() {
    let source = b"int f(void) {\n#undef X\nreturn X; }\n";
    let body = (12, source.len() as u32 - 1);
    let error = weave_file(source, &[function(8, body, &[])], None).unwrap_err();
    let expected = "function8 cannot be woven: it contains the directive `#undef`";
    assert_eq!(error.to_string(), expected);

    // The first copy would change the name for the second, and nobody knows the old one.
    let source = b"int f(void) {\n#line 3 \"x.y\"\nreturn 1; }\n";
    let body = (12, source.len() as u32 - 1);
    let error = weave_file(source, &[function(8, body, &[])], None).unwrap_err();
    let expected = WeaveError::Refused {
        function: FunctionId(8),
        refusal: Refusal::FileName,
    };
    assert_eq!(error, expected);
}

#[test]
fn too_many_slots_and_pointers_without_a_type_are_refused() {
    let mut function = function(0, (13, 30), &[(0, 22, 27)]);
    function.hooks[0].slots = vec!["0".to_owned(); 512];
    let error = weave_file(SOURCE.as_bytes(), &[function], None).unwrap_err();
    assert!(matches!(error, WeaveError::TooManySlots { count: 513, .. }));

    let source = b"char *f(char *a) { return a\n#if 1\n+ 1\n#endif\n; }\n";
    let end = source.len() as u32;
    let mut function = self::function(0, (17, end - 1), &[(0, 26, end - 5)]);
    function.hooks[0].kind = HookKind::Pointer { ctype: None };
    let error = weave_file(source, &[function], None).unwrap_err();
    assert_eq!(error, WeaveError::NeedsType { hole: HoleId(0) });
}

#[test]
fn a_file_that_defines_what_the_glue_names_is_refused() {
    let source = b"static int environ(int x) { return x; }\n";
    let error = weave_file(source, &[function(0, (26, 39), &[])], None).unwrap_err();
    assert_eq!(error, WeaveError::DefinesName { name: "environ" });
}
