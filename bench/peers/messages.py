"""Peers: Python's thrift with its accelerated decoder, and thriftpy2 with its own.

    python3 messages.py thrift|thriftpy2 MESSAGES

Classes are those that Thrift's compiler made, on the path; thriftpy2 reads the IDL beside its argument.
"""

import gc
import hashlib
import json
import os
import re
import sys
import time

TIMED_S = 0.4
IDL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload", "messages.thrift")


def thrift_decoder(struct, protocol):
    from bench_messages import ttypes
    from thrift.protocol import TBinaryProtocol, TCompactProtocol, fastbinary  # noqa: F401
    from thrift.transport import TTransport

    of = {
        "binary": TBinaryProtocol.TBinaryProtocolAccelerated,
        "compact": TCompactProtocol.TCompactProtocolAccelerated,
    }[protocol]
    made = getattr(ttypes, struct)

    def decode(message):
        value = made()
        value.read(of(TTransport.TMemoryBuffer(message)))
        return value

    return decode


def thriftpy2_decoder(struct, protocol):
    import thriftpy2
    from thriftpy2.protocol.cybin import TCyBinaryProtocol
    from thriftpy2.transport import TCyMemoryBuffer

    if protocol != "binary":
        sys.exit("thriftpy2 has no fast decoder for " + protocol)
    made = getattr(thriftpy2.load(IDL, module_name="bench_messages_thrift"), struct)

    def decode(message):
        value = made()
        TCyBinaryProtocol(TCyMemoryBuffer(message)).read_struct(value)
        return value

    return decode


DECODERS = {"thrift": thrift_decoder, "thriftpy2": thriftpy2_decoder}


def frames(framed):
    at = 0
    while at < len(framed):
        length = int.from_bytes(framed[at : at + 4], "big")
        yield framed[at + 4 : at + 4 + length]
        at += 4 + length


def plain(value):
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(each) for each in value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return {name: plain(each) for name, each in vars(value).items()}


def in_order_of_sets(value):
    """thriftpy2 makes lists of sets."""
    value["tags"], value["numbers"] = sorted(value["tags"]), sorted(value["numbers"])
    return value


def seconds_per_message(decode, messages):
    for message in messages:
        decode(message)
    timed_s = TIMED_S if len(messages) >= 50 else 0
    gc.collect()
    passes, start = 0, time.process_time()
    while True:
        for message in messages:
            decode(message)
        passes += 1
        elapsed = time.process_time() - start
        if elapsed >= timed_s:
            return elapsed / passes / len(messages)


def main():
    engine, path = sys.argv[1:]
    struct, protocol = re.match(r"(rich|flat)_(binary|compact)[_.]", os.path.basename(path)).groups()
    with open(path, "rb") as file:
        messages = list(frames(file.read()))
    decode = DECODERS[engine](struct.capitalize(), protocol)
    values = [plain(decode(message)) for message in messages]
    if struct == "rich":
        values = [in_order_of_sets(value) for value in values]
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    answer = {
        "messages": len(messages),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "figures": {"message_s": seconds_per_message(decode, messages)},
    }
    print(json.dumps(answer))


main()
