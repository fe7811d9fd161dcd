"""Goal: every Python example in the documents does what it says.

Method: the examples of a document are run one after another in a folder with the samples. An expression that a comment
`# => value` follows, or what it prints, must be equal to that value, or have it as its text. Examples for libraries that the oldest environment
lacks are run in the newest one.
"""

import ast
import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The examples of one read files that its commands write: core/tests/columns runs both. Those of the other need Spark:
# python/tests/spark runs them.
ELSEWHERE = [ROOT / "docs/guides/columns.md", ROOT / "docs/guides/spark.md"]
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path not in ELSEWHERE and "```python" in path.read_text()
]


class Checks(ast.NodeTransformer):
    """Puts a call of `check` around each expression that has its value beside it."""

    def __init__(self, source):
        self.lines = source.split("\n")
        self.count = 0

    def visit_Expr(self, node):
        told = re.search(r"#\s*=>\s*(.+)", self.lines[node.end_lineno - 1])
        if not told:
            return node
        self.count += 1
        check = ast.parse(f"check({told[1].strip()!r})").body[0]
        check.value.args.append(printed_by(node.value))
        return ast.copy_location(check, node)


def printed_by(expression):
    """Returns the one thing that the expression prints, or the expression if it prints nothing."""
    prints = isinstance(expression, ast.Call) and getattr(expression.func, "id", None) == "print"
    return expression.args[0] if prints else expression


def lacks_a_peer(source):
    """Returns true if an example imports an absent library; other tests of the newest environment need these, too."""
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.M))
    return any(importlib.util.find_spec(name) is None for name in imported & {"django", "duckdb", "flask", "polars"})


def check(expected, found):
    assert repr(found) == expected or found == ast.literal_eval(expected), f"expected {expected}, found {found!r}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_examples_do_what_they_say(document, tmp_path, monkeypatch):
    run_examples(document, tmp_path, monkeypatch)


def run_examples(document, tmp_path, monkeypatch, **names):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    names, count = {"check": check, **names}, 0
    for example in re.finditer(r"^```python\n(.*?)^```", document.read_text(), re.M | re.S):
        source = "\n" * document.read_text()[: example.start(1)].count("\n") + example[1]
        if lacks_a_peer(source):
            continue
        checks = Checks(source)
        tree = ast.fix_missing_locations(checks.visit(ast.parse(source)))
        exec(compile(tree, str(document), "exec"), names)
        count += checks.count
    assert count > 0, "an example says what comes out"
