#!/usr/bin/env python3
"""Writes what tshark says of DNS, TLS and HTTP in captures, for ../applications.rs: record.py FOLDER <names >answers.tsv.

Each line of the input is a capture in FOLDER. A line of the output is a packet of which tshark tells one of the values: file,
number, protocols, then the fields below, with tabs between them; addresses and names are of all sections of the message. Values of a field
that is there several times have unit separators (0x1f) between them, which paths and user agents do not have.
"""

import subprocess
import sys

FIELDS = (
    "frame.number frame.protocols dns.qry.name dns.qry.type dns.a dns.aaaa tls.handshake.extensions_server_name http.host "
    "dns.id dns.flags.response dns.flags.rcode http.request.method http.request.uri http.response.code http.user_agent "
    "dns.cname dns.ptr.domain_name"
)
OPTIONS = "-n -T fields -E separator=/t -E occurrence=a -E aggregator=\x1f".split(" ")
PREFERENCES = ["ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE"]


def rows(path):
    command = ["tshark", "-r", path, *OPTIONS]
    command += [word for preference in PREFERENCES for word in ("-o", preference)]
    command += [word for field in FIELDS.split() for word in ("-e", field)]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return output.decode("utf-8", "replace").split("\n")


folder = sys.argv[1]
print("file\t" + FIELDS.replace(" ", "\t"))
for name in sys.stdin.read().split("\n"):
    for row in rows(f"{folder}/{name}") if name else []:
        if any(row.split("\t")[2:]):
            print(f"{name}\t{row}")
