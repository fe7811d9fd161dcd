"""The API of Python: names and types from the stubs, texts from the docstrings and, of native classes, from their sources."""

import ast
import functools
import re

from sources.api import ApiPage, Entry, field_texts
from sources.page import ROOT

PACKAGE = ROOT / "python/bytewright"
NATIVE = ROOT / "python/ext/bytewright/src"
MODULES = ["bytewright", "bytewright.thrift", "bytewright.pstore", "bytewright.polars", "bytewright.spark"]
FIELDS = {"Packet": "Fields of a packet", "Flow": "Fields of a flow", "Call": "Fields of a call"}
#: A comment in the native sources and what it is about; or the class that methods belong to.
IN_RUST = re.compile(
    r"^(?: *impl (?P<impl>\$?\w+) \{|fields! \{ (?P<fields>\w+) "
    r"|(?P<comment>(?: *///.*\n)+)(?: *#\[.*\]\n)* *(?:pub(?:\(\w+\))? )?(?:struct|fn) (?P<name>\w+))",
    re.MULTILINE,
)
WIDTH = 110
#: The class of all errors.
ERROR = "Error"
#: The halves of what `Module.defined` returns.
STUB, SOURCE = 0, 1


class Module:
    """A module: its stub, and its source where it has one of its own."""

    def __init__(self, path):
        self.path = path
        source, stub = path.with_suffix(".py"), path.with_suffix(".pyi")
        self.source = _tree(source) if source.exists() else ast.Module([], [])
        self.stub = _tree(stub) if stub.exists() else self.source

    def found(self, name):
        """The module that defines a name that this one has, and the name there."""
        for node in self.stub.body:
            if isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        folder = self.path.parent
                        place = folder / node.module if node.module else folder / alias.name
                        return module(place).found(alias.name) if node.module else (module(place), None)
        return self, name

    def defined(self, name):
        """What the stub says of a name, and what the source says: definitions, several of a function with overloads."""
        return _definitions(self.stub, name), _definitions(self.source, name)

    def bases(self, stub):
        """The classes of the package that a class is derived from, each with its module."""
        for base in stub.bases:
            base = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(base, ast.Attribute):
                yield module(PACKAGE / "_bytewright"), base.attr
            elif isinstance(base, ast.Name) and any(self.found(base.id)[0].defined(base.id)):
                yield self.found(base.id)


@functools.cache
def module(path):
    return Module(path / "__init__" if path.is_dir() else path)


def _tree(path):
    return ast.parse(path.read_text("utf-8"))


def _definitions(tree, name):
    return [node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name]


@functools.cache
def native_texts():
    """Class, method or function of the native half => what is said of it."""
    texts = {}
    for path in sorted(NATIVE.rglob("*.rs")):
        owner = None
        for found in IN_RUST.finditer(path.read_text("utf-8")):
            if found["comment"] is None:
                owner = found["impl"] or found["fields"]
                continue
            is_member = found["comment"].startswith(" ")
            name = f"{owner}.{found['name']}" if is_member else found["name"]
            texts.setdefault(name, "\n".join(re.sub(r"^ */// ?", "", line) for line in found["comment"].splitlines()))
    return texts


def pages():
    return [ApiPage(f"api/python/{name}", "python", list(_entries(name))) for name in MODULES]


def _entries(name):
    place = module(PACKAGE / name.partition(".")[2] if "." in name else PACKAGE)
    yield Entry(1, name, "module", text=_markdown(ast.get_docstring(place.source)))
    for public in _public(place):
        home, there = place.found(public)
        stubs, sources = home.defined(there)
        if isinstance(stubs[0], ast.ClassDef):
            yield from _class(public, home, there)
        else:
            text = ast.get_docstring(sources[-1]) if sources else native_texts().get(there)
            yield Entry(2, public, public, _signatures(stubs, public), _markdown(text))


def _public(place):
    """The names that a module says are public; all that it has, where it says nothing."""
    for node in place.stub.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("_") and f"bytewright.{name}" not in MODULES]
    return [name for name in dict.fromkeys(getattr(node, "name", "_") for node in place.stub.body) if not name.startswith("_")]


def _class(public, home, name):
    """A class, and its methods and attributes with those of the classes of the package that it is derived from."""
    lineage = list(_lineage(home, name))
    members, operators, makers = {}, [], []
    for place, there in lineage:
        if there == ERROR and public != ERROR:
            continue  # What all errors have is said once.
        for node in place.defined(there)[0][0].body:
            if isinstance(node, ast.AnnAssign):
                members.setdefault(node.target.id, [there]).append(node)
            elif isinstance(node, ast.FunctionDef):
                if node.name in ("__new__", "__init__"):
                    makers.append((there, node))
                elif node.name.startswith("__"):
                    operators.append(node.name)
                elif not node.name.startswith("_") and members.setdefault(node.name, [there])[0] == there:
                    members[node.name].append(node)
    made = _signatures([node for there, node in makers if there == makers[0][0]], public) if makers else f"class {public}"
    text = _markdown(_text(lineage, None))
    if operators:
        text += f"\n\nOperators: {', '.join(f'`{operator}`' for operator in dict.fromkeys(operators))}.\n"
    yield Entry(2, public, public, made, text)
    fields = field_texts(FIELDS[public]) if public in FIELDS else {}
    for member, (_, *nodes) in members.items():
        said = _text(lineage, member) or fields.get(member)
        yield Entry(3, f"{public}.{member}", f"{public}.{member}", _signatures(nodes, member), _markdown(said))


def _lineage(home, name, half=STUB):
    """A class and those that it is derived from by the stub or by the source, which has other private ones."""
    yield home, name
    for definition in home.defined(name)[half][:1]:
        for place, there in home.bases(definition):
            yield from _lineage(place, there, half)


def _text(lineage, member):
    """What is said of a class, or of its member, by the first class that says anything."""
    for place, there in [*lineage, *_lineage(*lineage[0], SOURCE)]:
        for source in place.defined(there)[1]:
            named = [node for node in source.body if getattr(node, "name", None) == member] if member else [source]
            text = next((text for text in map(ast.get_docstring, named) if text), None)
            if text:
                return text
        for native in (f"{there}.{member}", f"$class.{member}") if member else (there,):
            if place.path.name == "_bytewright" and native in native_texts():
                return native_texts()[native]
    return None


def _signatures(nodes, name):
    return "\n".join(_signature(node, name) for node in nodes)


def _signature(node, name):
    if isinstance(node, ast.AnnAssign):
        return f"{name}: {ast.unparse(node.annotation)}"
    marks = [mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)]
    is_maker = node.name in ("__new__", "__init__")
    returned = f" -> {ast.unparse(node.returns)}" if node.returns and not is_maker else ""
    if "property" in marks:
        return f"{name}{returned.replace(' ->', ':')}"
    arguments = ast.unparse(node.args).replace("'", '"')
    arguments = re.sub(r"^(?:self|cls)(?:: _Self|: type\[_Self\])?(?:, /)?(?:, |$)", "", arguments)
    text = f"{name}({arguments}){returned}"
    if len(text) > WIDTH:
        text = f"{name}(\n{''.join(f'    {argument},{chr(10)}' for argument in _split(arguments))}){returned}"
    return "@classmethod\n" * ("classmethod" in marks) + text


def _split(arguments):
    """The arguments, apart at the commas that are not within brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _markdown(text):
    """A docstring, whose examples for Python's prompt are code."""
    return re.sub(r"^(?:>>> .*\n?)(?:.+\n?)*", lambda code: f"```python\n{code[0].rstrip()}\n```\n", text or "", flags=re.MULTILINE)
