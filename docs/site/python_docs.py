"""An extension of mkdocstrings: takes docstrings that stubs and sources lack from the loaded package, those of the native half above
all, and shows examples at Python's prompt as code."""

import importlib
import inspect
import re

import griffe

PROMPT = re.compile(r"^(?:>>> .*\n?)(?:.+\n?)*", re.MULTILINE)


class PythonDocs(griffe.Extension):
    def on_package(self, *, pkg, **_):
        if pkg.path == "bytewright":
            self._finish(pkg, importlib.import_module(pkg.path))

    def _finish(self, place, known):
        """Gives an object and its members the docstrings of the loaded one where they have none."""
        if known is not None and not place.docstring and inspect.getdoc(known):
            place.docstring = griffe.Docstring(inspect.getdoc(known), parent=place)
        if place.docstring:
            place.docstring.value = PROMPT.sub(lambda code: f"```python\n{code[0].rstrip()}\n```\n", place.docstring.value)
        for name, member in list(place.members.items()):
            is_special, found = name.startswith("__"), getattr(known, name, None)
            if place.is_class and is_special and member.is_attribute and name != "__match_args__":
                place.del_member(name)
            elif not member.is_alias and not is_special:
                self._finish(member, found if not member.is_attribute or inspect.isdatadescriptor(found) else None)
