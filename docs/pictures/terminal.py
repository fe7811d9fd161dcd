"""Draws what commands print, as a terminal shows it: docs/pictures/terminal.py [--check] COMMAND

COMMAND is the command bytewright. With --check nothing is written: the picture must be what the commands print now.
"""

import html
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
PICTURE = pathlib.Path(__file__).with_suffix(".svg")
LINES = (
    "bytewright services samples/web.pcap.gz --top 4",
    "bytewright flows samples/web.pcap.gz --fields src_ip,dst_ip,http_host,rtt,rev_retransmissions,rev_bytes --top 3",
)
#: Pixels of a character, and around the text.
WIDTH, HEIGHT, MARGIN = 7.2, 18, 14


def printed(command, line):
    """The line with its prompt, and what it prints."""
    arguments = shlex.split(line)[1:]
    output = subprocess.run([command, *arguments], cwd=ROOT, check=True, capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}).stdout
    return [f"$ {line}", *(row.rstrip() for row in output.splitlines()), ""]


def text(row, at):
    # The length is set, so that columns stand below each other in any font.
    colour = "#8fd18f" if row.startswith("$ ") else "#dde1e6"
    return (
        f'<text x="{MARGIN}" y="{MARGIN + HEIGHT * (at + 0.75):g}" textLength="{WIDTH * len(row):g}" lengthAdjust="spacingAndGlyphs" '
        f'fill="{colour}" xml:space="preserve">{html.escape(row)}</text>'
    )


def picture(rows):
    width, height = WIDTH * max(map(len, rows)) + 2 * MARGIN, HEIGHT * len(rows) + 2 * MARGIN
    texts = "\n".join(text(row, at) for at, row in enumerate(rows) if row)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="monospace" font-size="12">\n'
        f"<title>{html.escape(' and '.join(LINES))}</title>\n"
        f'<rect width="100%" height="100%" rx="6" fill="#16191d"/>\n{texts}\n</svg>\n'
    )


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    command = pathlib.Path(arguments[-1]).resolve()
    made = picture([row for line in LINES for row in printed(command, line)][:-1])
    if not is_check:
        PICTURE.write_text(made, "utf-8")
    elif made != PICTURE.read_text("utf-8"):
        sys.exit(f"{PICTURE.relative_to(ROOT)} is not what the commands print; run: docs/pictures/terminal.py COMMAND")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: terminal.py [--check] COMMAND")
    main(sys.argv[1:])
