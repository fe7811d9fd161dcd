"""The API of Ruby: the signatures of the RBS file with the comments of the sources, which ruby.rb reads with YARD."""

import json
import pathlib
import re
import subprocess
import urllib.parse

from sources.api import ApiPage, Entry, field_texts

TOP = "Bytewright"
FIELDS = {"Packet": "Fields of a packet", "Flow": "Fields of a flow", "Call": "Fields of a call"}
#: The order of kinds within a page.
KINDS = ("include", "constant", "type", "method")


def pages():
    script = pathlib.Path(__file__).with_suffix(".rb")
    classes = json.loads(subprocess.run(["ruby", script], check=True, capture_output=True, text=True).stdout)
    paths = _paths(classes)
    # Errors are on the first page with the types.
    small = [each for each in classes if not _has_page(each)]
    first = [Entry(1, TOP, TOP, text=classes[0]["text"]), *_members(classes[0])]
    first += [entry for each in small if each["name"] != TOP for entry in (_class(each, 2), *_members(each))]
    made = [ApiPage("api/ruby/Bytewright", "ruby", _resolved(first, paths))]
    for each in classes:
        if _has_page(each):
            made.append(ApiPage(_source(each["name"]), "ruby", _resolved([_class(each, 1), *_members(each)], paths)))
    return made


def _has_page(each):
    is_error = "Error" in each["head"] or any(member["signature"] == "include Error" for member in each["members"])
    return each["name"] != TOP and not is_error and not each["head"].startswith("interface")


def _source(name):
    return f"api/ruby/{name.removeprefix(f'{TOP}::').replace('::', '-')}"


def _paths(classes):
    """Where each class and method is, by the path that YARD has for it."""
    paths = {}
    for each in classes:
        source = _source(each["name"]) if _has_page(each) else f"api/ruby/{TOP}"
        paths[each["name"]] = f"{source}#{each['name']}"
        for member in each["members"]:
            path = _path(each, member)
            paths[re.sub(r"\.new$", "#initialize", path)] = f"{source}#{path}"
    return paths


def _path(each, member):
    """How YARD names a member, which is its anchor, too."""
    mark = "." if member["is_of_class"] else "#" if member["kind"] == "method" else "::"
    return f"{each['name']}{mark}{member['name']}"


def _class(each, level):
    included = [member["signature"] for member in each["members"] if member["kind"] == "include"]
    return Entry(level, each["name"], each["name"], "\n  ".join([each["head"], *included]), each["text"])


def _members(each):
    fields = field_texts(FIELDS[each["name"].removeprefix(f"{TOP}::")]) if each["name"].removeprefix(f"{TOP}::") in FIELDS else {}
    fields = {"method_name" if name == "method" else name: text for name, text in fields.items()}
    for kind in KINDS[1:]:
        for member in each["members"]:
            if member["kind"] == kind:
                yield Entry(3, _heading(each, member), _path(each, member), member["signature"], member["text"] or fields.get(member["name"], ""))


def _heading(each, member):
    if member["kind"] == "type":
        return f"type {member['name']}"
    return f"{each['name'].rpartition('::')[2]}.{member['name']}" if member["is_of_class"] else member["name"]


def _resolved(entries, paths):
    """The same entries, with links to pages in place of those to paths of YARD; code where there is no page."""

    def led(link):
        path = paths.get(link[2])
        return f"[{link[1]}](/{path.partition('#')[0]}#{urllib.parse.quote(path.partition('#')[2])})" if path else link[1]

    for entry in entries:
        entry.text = re.sub(r"\[([^\]]*(?:\[\][^\]]*)?)\]\(ruby:([^)]*)\)", led, entry.text)
    return entries
