"""Goal: each message that docs/guides/troubleshooting.md has for Python is one that a user sees.

Method: each trouble is made, and what is said of it is compared with the rows of the section, in which `…` stands for any text. A row
that nothing says fails, and so does a trouble that has no row.
"""

import pathlib
import re
import warnings

import bytewright

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEB = str(ROOT / "samples/web.pcap.gz")


def messages():
    section = re.search(r"^## Python\n(.*?)^## ", (ROOT / "docs/guides/troubleshooting.md").read_text("utf-8"), re.M | re.S)
    return re.findall(r"^\| `([^`]+)` \|", section[1], re.M)


def another_object():
    bytewright.HashTable()["a"] = 1


def no_file():
    list(bytewright.packets("absent*.pcap", "src_ip"))


def late_option():
    bytewright.packets(bytewright.Capture(WEB), "src_ip", filter="tcp")


def text_file():
    with open(__file__, encoding="utf-8") as file:
        bytewright.Capture(file).info()


def damage():
    path = pathlib.Path("cut.pcap")
    path.write_bytes((ROOT / "samples/tunnels.pcap").read_bytes()[:-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bytewright.count_by(str(path), "proto", damage="keep")


def told(trouble):
    try:
        trouble()
    except (bytewright.Error, OSError, TypeError, Warning) as error:
        return str(error)
    raise AssertionError(f"{trouble.__name__} is no trouble")


def test_each_message_of_the_page_is_one_that_a_program_gets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [told(trouble) for trouble in (another_object, no_file, late_option, text_file, damage)]
    patterns = {message: re.compile(".*".join(map(re.escape, message.split("…"))), re.S) for message in messages()}
    assert [message for message, pattern in patterns.items() if not any(map(pattern.search, texts))] == [], texts
    assert [text for text in texts if not any(pattern.search(text) for pattern in patterns.values())] == []
