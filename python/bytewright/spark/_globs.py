"""Patterns for the names of files, as Hadoop has them: `*`, `?`, `[...]`, and `{a,b}` for one of several texts."""

import fnmatch
import re

from .._bytewright import excerpt
from .._errors import ArgumentError

# Bound (Captures): patterns that one with `{a,b}` stands for, on Spark = 1,024.
#: Each such group multiplies them.
_ALTERNATIVES_MAX = 1_024


def is_pattern(text):
    """Returns True if a text stands for others."""
    return bool(set(text) & set("*?[{"))


def alternatives(pattern):
    """The patterns without `{a,b}` that a pattern stands for, in their order. A brace without a partner is one of a name."""
    open_ends, found = [pattern], []
    while open_ends:
        text = open_ends.pop(0)
        group = _first_group(text)
        if group is None:
            found.append(text)
            continue
        begin, end, choices = group
        open_ends[:0] = [text[:begin] + choice + text[end:] for choice in choices]
        if len(open_ends) + len(found) > _ALTERNATIVES_MAX:
            raise ArgumentError(f"expected a pattern for at most {_ALTERNATIVES_MAX} others, found {excerpt(pattern)}")
    return list(dict.fromkeys(found))


def _first_group(text):
    """The first `{a,b}` of a text: where it begins and ends, and its texts."""
    depth, begin, choices = 0, 0, []
    for place, letter in enumerate(text):
        if letter == "{":
            depth += 1
            if depth == 1:
                begin, choices, after = place, [], place + 1
        elif letter == "," and depth == 1:
            choices.append(text[after:place])
            after = place + 1
        elif letter == "}" and depth:
            depth -= 1
            if depth == 0:
                return begin, place + 1, [*choices, text[after:place]]
    return None


class NameFilter:
    """A pattern for names."""

    def __init__(self, pattern):
        # Hadoop negates a set of letters by ^, fnmatch by !.
        patterns = [each.replace("[^", "[!") for each in alternatives(pattern)]
        self.expression = re.compile("|".join(f"(?:{fnmatch.translate(each)})" for each in patterns))

    def has(self, name):
        """Returns True if the pattern stands for a name."""
        return self.expression.match(name) is not None
