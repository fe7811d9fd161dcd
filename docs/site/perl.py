"""The manuals of Perl's modules as Markdown, which Pod::Markdown makes of their POD."""

import re
import subprocess

TO_MARKDOWN = """
    my $parser = Pod::Markdown->new(perldoc_url_prefix => 'module:', output_encoding => 'UTF-8');
    $parser->output_fh(*STDOUT);
    $parser->parse_file(shift);
"""


def pages(library):
    """Returns path => Markdown of each module that has a manual."""
    manuals = [path.relative_to(library) for path in sorted(library.rglob("*.p[mo]*")) if "=head1" in path.read_text("utf-8")]
    return {f"perl/lib/{path.with_suffix('.md')}": _page(library, path) for path in manuals}


def _page(library, path):
    made = subprocess.run(["perl", "-MPod::Markdown", "-e", TO_MARKDOWN, library / path], check=True, capture_output=True, text=True).stdout

    def led(link):
        name, anchor = link[1].split("%3A%3A"), (link[2] or "").lower()
        if name[0] != "Bytewright":
            return f"](https://metacpan.org/pod/{link[1]})"
        return f"]({'../' * (len(path.parts) - 1)}{'/'.join(name)}.md{anchor})"

    # The name of the module is the title, and the headings of its manual are below it.
    title = "::".join(path.with_suffix("").parts)
    return f"# {title}\n\n" + re.sub(r"\]\(module:([\w%]+)(#[^)]*)?\)", led, re.sub("^#", "##", made, flags=re.MULTILINE))
