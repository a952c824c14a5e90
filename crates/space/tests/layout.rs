//! Line breaks, comments and the order of what is added mean nothing in C: the changes are the same however a function is laid out.

use std::collections::BTreeSet;

use crate::{changes, common};

use changes::{changes, contain};
use patchwright_csource::{ExprKind, Function, lex, scopes};
use patchwright_space::Schema;
use patchwright_space::{AtomBuilder, Callees, HoleKind, Schemas, Shown, TermTypes, choices};
use patchwright_text::apply_edits;

/// All changes of the last function of a source, each as its schema, its cost, and the words of the new source.
fn all(source: &str) -> BTreeSet<String> {
    let mut unit = common::read(source);
    let functions = std::mem::take(&mut unit.functions);
    let function = functions.last().unwrap();
    let scope_map = scopes(&unit, function);
    let mut types = TermTypes::of(&mut unit.types, &functions);
    let mut builder = AtomBuilder {
        unit: &mut unit,
        types: &mut types,
    };
    let calls = |function: &Function| {
        let names = function.exprs.iter().filter_map(|expr| match &expr.kind {
            ExprKind::Function(name) => Some(name.clone()),
            _ => None,
        });
        (function.name.clone(), names.collect())
    };
    let callees = Callees {
        direct: &functions
            .iter()
            .map(|function| function.name.clone())
            .collect(),
        predicates: &Default::default(),
        defined: &functions.iter().map(calls).collect(),
        linked: &|_| false,
        functions: &functions,
        kinds: patchwright_kinds::built_in(),
    };
    let mut shown = Shown::default();
    shown.add(b"7 / 4\nnone\n");
    let found = choices(
        &mut builder,
        0,
        function,
        &scope_map,
        Schemas::ALL,
        &callees,
        &shown,
    )
    .holes;
    let mut texts = BTreeSet::new();
    for hole in found {
        let HoleKind::Choice(choice) = hole.kind else {
            continue;
        };
        for alternative in choice.alternatives {
            let new =
                apply_edits(source.as_bytes(), std::slice::from_ref(&alternative.edit)).unwrap();
            let new = String::from_utf8(new).unwrap();
            // Braces round what is added depend on lines, and mean nothing there.
            let words = lex::tokens(&new).into_iter().map(|(word, _)| word);
            let words: Vec<&str> = words.filter(|word| !matches!(*word, "{" | "}")).collect();
            let Alternative { schema, cost, .. } = alternative;
            texts.insert(format!("{schema:?} {cost}: {}", words.join(" ")));
        }
    }
    texts
}

use patchwright_space::choices::Alternative;

/// With something else in the place of each blank within the last function's lines.
fn laid_out(source: &str, blank: &str) -> String {
    let (before, last) = source.rsplit_once("\n\n").unwrap();
    let lines: Vec<String> = last
        .lines()
        .map(|line| {
            let text = line.trim_start();
            let indentation = &line[..line.len() - text.len()];
            format!("{indentation}{}", text.replace(' ', blank))
        })
        .collect();
    format!("{before}\n\n{}\n", lines.join("\n"))
}

fn is_the_same_in_all_layouts(source: &str) {
    let usual = all(source);
    assert!(usual.len() > 10, "{usual:#?}");
    for blank in ["\n", "\n\n", " /*, a */ ", " // ++ ;\n "] {
        let other = all(&laid_out(source, blank));
        let lost: Vec<&String> = usual.difference(&other).collect();
        let new: Vec<&String> = other.difference(&usual).collect();
        assert!(
            lost.is_empty() && new.is_empty(),
            "{blank:?}: lost {lost:#?}, new {new:#?}"
        );
    }
}

#[test]
fn records_and_keys() {
    is_the_same_in_all_layouts(
        "struct version { int major; int minor; int patch; };
int fits(int);

int newer(struct version *a, struct version *b)
{
  if (a->major != b->major) return a->major > b->major;
  if (a->patch == 3) fits(a->patch);
  fits(b->patch);
  return a->patch > b->patch;
}
",
    );
}

#[test]
fn directions_and_elements() {
    is_the_same_in_all_layouts(
        "static char field[9][9];
int size(int row, int column);

int around(int row, int column)
{
  size(row - 1, column);
  size(row + 1, column);
  size(row, column + 1);
  if (field[row][column] == field[row][column + 1]) field[row][column] = field[row + 1][column];
  return 1 + size(row - 1, column) + size(row + 1, column) + size(row, column + 1);
}
",
    );
}

#[test]
fn loops_cases_and_jumps() {
    is_the_same_in_all_layouts(
        "enum { RED, BLUE, GREEN };
void stop(int) __attribute__((noreturn));
int next(int);

int of(int c, int n, int *values)
{
  int least = 0, sum = 0, i, from = next(n), to = next(c);
  for (i = 0; i < n; i++) {
    if (values[i] < least) least = values[i];
    sum += values[i] * 2;
    values[i] = values[n - 1];
  }
  while (from < to) from++;
  switch (c) {
  case 1: sum = n + 1; break;
  case 2: sum = n - 1; break;
  case BLUE + 7: sum = n; break;
  }
  if (c == 3) sum = 1; else if (c == 4) sum = 2; else sum = 3;
  if (n < 0) return -1;
  if (n > 90) stop(2);
  next(sum);
  return sum % 1007;
}
",
    );
}

#[test]
fn lists_and_globals() {
    is_the_same_in_all_layouts(
        "#include <string.h>
#include <stdlib.h>
#include <stdio.h>
struct node { struct node *next; struct node *last; int count; int used; char name[8]; };
static int least = 0;
static int limits[3] = { 1, 31, 3 };
int atoi_or(const char *);

int main(int argc, char **argv)
{
  struct node *head = malloc(sizeof(struct node)), *tail = head;
  head->count = 0;
  head->next = NULL;
  for (int i = 1; i < argc; i++) {
    if (atoi(argv[i]) < least) least = atoi(argv[i]);
    tail->next = head;
    if (tail != NULL && tail->used == 1) strcpy(tail->name, argv[i]);
  }
  if (least == 500) printf(\"none\\n\");
  else printf(\"%d\\n\", least + limits[1]);
  return 0;
}
",
    );
}

#[test]
fn one_more_is_the_same_in_either_order() {
    let function = |call: &str| {
        format!(
            "int size(int row, int column)\n{{\n  if (row < 0) return 0;\n  \
             return 1 + size(row - 1, column) + {call} + size(row, column + 1);\n}}\n"
        )
    };
    for call in [
        "size(row + 1, column)",
        "size(1 + row, (column))",
        "size((row + 1), column)",
    ] {
        let line = format!(
            "3: return 1 + size(row - 1, column) + {call} + size(row, column + 1) + size(row, column - 1);"
        );
        contain(&changes(&function(call), Schema::Move, &[]), &[&line]);
    }
}
