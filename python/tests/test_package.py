"""Goal: the package is small, quick to import and typed, and brings the command."""

import importlib.metadata
import importlib.util
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

import bytewright

FOLDER = pathlib.Path(bytewright.__file__).parent
FOLDER_OF_SAMPLES = pathlib.Path(__file__).parents[2] / "samples"


def run(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **options)


def test_it_was_installed_and_not_found_in_the_sources():
    assert "site-packages" in FOLDER.parts
    assert importlib.metadata.version("bytewright") == bytewright.__version__


def test_it_is_typed():
    assert (FOLDER / "py.typed").exists() and (FOLDER / "_bytewright.pyi").exists()


def test_every_public_name_is_there_and_documented():
    for name in bytewright.__all__:
        if name.startswith("_"):
            continue
        documented = getattr(bytewright, name)
        assert documented.__doc__, name
        if not isinstance(documented, type):
            continue
        for member in dir(documented):
            method = getattr(documented, member)
            if not member.startswith("_") and callable(method):
                assert method.__doc__, f"{name}.{member}"


def test_importing_it_imports_nothing_that_takes_long():
    code = "import sys; before = set(sys.modules); import bytewright; print(*sorted(set(sys.modules) - before))"
    loaded = set(run("-c", code).stdout.split())
    assert "bytewright._bytewright" in loaded
    slow = {"typing", "re", "inspect", "enum", "pathlib", "datetime", "importlib.metadata", "ctypes", "dataclasses", "numpy"}
    assert not loaded & slow, loaded & slow


def test_the_command_is_there_as_a_module_and_as_a_program():
    told = run("-m", "bytewright", "--version")
    assert told.returncode == 0 and told.stdout.startswith(f"bytewright {bytewright.__version__}")
    program = pathlib.Path(sys.executable).parent / "bytewright"
    assert subprocess.run([program, "--version"], capture_output=True, text=True).stdout == told.stdout


def test_the_demo_of_the_command_is_the_sample_that_the_examples_read():
    told = subprocess.run([sys.executable, "-m", "bytewright", "demo"], capture_output=True)
    assert (told.returncode, told.stderr) == (0, b"")
    assert told.stdout == (FOLDER_OF_SAMPLES / "web.pcap.gz").read_bytes()


def test_the_command_exits_with_its_code():
    wrong = run("-m", "bytewright", "info")
    assert wrong.returncode == 2 and "Usage" in wrong.stderr
    missing = run("-m", "bytewright", "info", "/none.pcap")
    assert missing.returncode == 1 and "No such file" in missing.stderr


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before, Python lets a module not say that it has one interpreter")
def test_a_second_interpreter_is_refused_clearly():
    module = "_interpreters" if importlib.util.find_spec("_interpreters") else "_xxsubinterpreters"
    code = f"import {module} as i; one = i.create(); print(i.run_string(one, 'import bytewright'))"
    told = run("-c", code)
    assert "does not support loading in subinterpreters" in told.stdout + told.stderr, told


def test_its_tags_name_interpreters_of_the_kind_that_runs_this():
    """A free-threaded interpreter takes no stable ABI of this kind, so that pip refuses the other wheel there, and in turn."""
    lines = importlib.metadata.distribution("bytewright").read_text("WHEEL").splitlines()
    tags = [line.split()[1] for line in lines if line.startswith("Tag:")]
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    expected = f"{version}-{version}t-" if sysconfig.get_config_var("Py_GIL_DISABLED") else "cp310-abi3-"
    assert tags and all(tag.startswith(expected) for tag in tags), tags


def test_a_package_for_another_interpreter_is_refused_clearly(tmp_path):
    folder = tmp_path / "bytewright"
    shutil.copytree(pathlib.Path(bytewright.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (library,) = folder.glob("_bytewright.*.so")
    library.rename(folder / "_bytewright.cpython-399-other.so")
    told = run("-c", "import bytewright", cwd=tmp_path)
    version = ".".join(map(str, sys.version_info[:2]))
    assert re.search(f"ImportError: expected the package bytewright for this Python, .*CPython {version}, found", told.stderr), told


@pytest.mark.parametrize("error,also", [
    ("FormatError", ValueError), ("TruncatedError", EOFError), ("LimitError", ValueError), ("LockError", BlockingIOError),
    ("ClosedError", ValueError), ("CorruptError", Exception), ("MissingLibraryError", OSError), ("ArgumentError", ValueError),
    ("InternalError", Exception),
])  # fmt: skip
def test_errors_are_also_those_of_python(error, also):
    cls = getattr(bytewright, error)
    assert issubclass(cls, bytewright.Error) and issubclass(cls, also)
    raised = cls("told", offset=5, file="x")
    assert (str(raised), raised.offset, raised.file) == ("told", 5, "x")


def test_what_is_open_shows_its_name_closes_itself_and_is_not_pickled(tmp_path):
    web = FOLDER_OF_SAMPLES / "web.pcap.gz"
    made = {
        "Capture": lambda: bytewright.Capture(web),
        "CaptureWriter": lambda: bytewright.CaptureWriter(tmp_path / "x.pcap"),
        "FlowStore": lambda: bytewright.FlowStore(tmp_path / "x.bwt"),
        "Reader": lambda: bytewright.Reader(web),
        "Writer": lambda: bytewright.Writer(tmp_path / "x.bin"),
        "HashTable": lambda: bytewright.HashTable.open(tmp_path / "x.bwh"),
    }
    for name, make in made.items():
        with make() as one:
            assert repr(one).startswith(f"<{name} '/")
            with pytest.raises(TypeError, match=f"cannot pickle a {name}: .*its path"):
                pickle.dumps(one)
        assert one.closed and repr(one).endswith(" (closed)>"), name


@pytest.mark.parametrize("example", ["bytewright", "bytewright.table", "bytewright.thrift"])
def test_examples_in_docstrings_are_right(example):
    import doctest

    failed, tried = doctest.testmod(importlib.import_module(example))
    assert failed == 0
