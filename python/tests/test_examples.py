"""Goal: the programs in examples/python print what examples/expected has.

Method: each runs with the arguments that examples/runs.txt gives it, in a folder of its own that holds the samples.
"""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RUNS = dict(line.split(" ", 1) for line in (EXAMPLES / "runs.txt").read_text().splitlines())


@pytest.mark.parametrize("program", sorted((EXAMPLES / "python").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_prints_what_is_expected(program, tmp_path):
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    command = [sys.executable, "-W", "error", program, *RUNS[program.stem].split()]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (run.stderr, run.returncode) == ("", 0)
    assert run.stdout == (EXAMPLES / "expected" / f"{program.stem}.txt").read_text()
