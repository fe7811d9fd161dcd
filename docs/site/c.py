"""The API of C as Markdown, from its header."""

import re

#: A comment, and what it is about: up to the semicolon that is not within braces.
DECLARED = re.compile(r"^/\*\*\n((?: \*.*\n)+?) \*/\n(#define .*|typedef (?:enum|struct|union) \w+ \{\n(?:.*\n)*?\} \w+;|(?:.*\n)*?.*;)$", re.MULTILINE)
NAME = re.compile(r"typedef .*?\(\*(\w+)\)|typedef (?:enum|struct|union) (\w+)|#define (\w+)|.*?(\w+)\(", re.DOTALL)
MEMBER = re.compile(r"/\*\*\n(.*?)\n\s*\*/", re.DOTALL)
INITIAL = re.compile(r"^#define BW_\w+_INIT.*", re.MULTILINE)


def page(header):
    sections = {"Types": ["### Initial values of structs\n\n" + _code("\n".join(INITIAL.findall(header)))]}
    for comment, declaration in DECLARED.findall(header):
        name = next(filter(None, NAME.match(declaration).groups()))
        declaration = MEMBER.sub(lambda member: f"/* {' '.join(_said(member[1]).split())} */", declaration)
        section = "Types" if declaration.startswith(("typedef", "#define")) else "_".join(name.split("_")[:2])
        sections.setdefault(section, []).append(f"### {name} {{ #{name} }}\n\n{_code(declaration)}\n\n{_said(comment)}")
    parts = [part for title, entries in sections.items() for part in (f"## {title}", *entries)]
    return "\n\n".join(["# bytewright.h", _said(header[2 : header.index("*/")]), *parts]) + "\n"


def _code(text):
    return f"```c\n{text}\n```"


def _said(comment):
    return re.sub(r"^ *\* ?", "", comment.strip("\n"), flags=re.MULTILINE)
