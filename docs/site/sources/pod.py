"""The manuals of Perl's modules, from their POD."""

import html
import re
import subprocess

from sources.page import ROOT, Page

LIBRARY = "perl/lib/"
#: Writes HTML whose headings have anchors, and whose links say which module they lead to.
TO_HTML = """
    my $parser = Pod::Simple::XHTML->new;
    $parser->$_('') for qw(html_header html_footer);
    $parser->perldoc_url_prefix('module:');
    $parser->html_encode_chars('&<>"');
    $parser->output_string(\\my $html);
    $parser->parse_file(shift);
    binmode STDOUT, ':utf8';
    print $html;
"""


class PodPage(Page):
    def __init__(self, source):
        super().__init__(source, re.sub(r"\.(pm|pod)$", ".html", source))
        name = source.removeprefix(LIBRARY).rsplit(".", 1)[0].replace("/", "::")
        command = ["perl", "-MPod::Simple::XHTML", "-e", TO_HTML, str(ROOT / source)]
        made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        # The name of the module is the first heading, and those of its manual come below.
        made = re.sub(r"(</?)h([1-5])", lambda tag: f"{tag[1]}h{int(tag[2]) + 1}", made)
        self._html = f'<h1 id="top">{name}</h1>\n{made}'
        for _, anchor, heading, text in re.findall(r'<h(\d) id="([^"]+)">(.*?)</h\1>(.*?)(?=<h\d id=|\Z)', self._html, re.DOTALL):
            self.anchors.add(html.unescape(anchor))
            self.sections.append((html.unescape(anchor), _text(heading), [_text(text)]))

    def body(self, site):
        return re.sub(r'href="([^"]*)"', lambda link: f'href="{html.escape(self._led(site, html.unescape(link[1])))}"', self._html)

    def _led(self, site, link):
        name = re.fullmatch(r"module:(Bytewright[\w:]*)(#.*)?", link)
        if not name:
            return site.led(self, link.replace("module:", "https://metacpan.org/pod/"))
        return site.led(self, f"/{LIBRARY}{name[1].replace('::', '/')}.pm{name[2] or ''}")


def _text(made):
    return html.unescape(re.sub(r"<[^>]+>", " ", made)).strip()
