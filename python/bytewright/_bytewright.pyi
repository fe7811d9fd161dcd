# Generated from gen/_bytewright.pyi and the core's tables by `make generate`. Do not edit.
# The native half. What of it is public is documented, and typed more narrowly, where the package has it.

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Generic, Literal, NoReturn, Protocol, TypeVar, final

from typing_extensions import Self, Unpack, disjoint_base

from .options import _ExportOptions, _OutputOptions, _ParquetOptions, _ReaderOptions, _WrittenPacketOptions

__all__ = [
    "VERSION",
    "Batch",
    "Batches",
    "CacheTable",
    "Call",
    "Capture",
    "CapturePart",
    "CaptureWriter",
    "Changes",
    "Cursor",
    "EntryBatches",
    "EntryMerge",
    "Flow",
    "FlowLog",
    "FlowStore",
    "Interface",
    "Packet",
    "Reader",
    "RecordIterator",
    "Records",
    "Report",
    "Rows",
    "Scan",
    "Snapshot",
    "Store",
    "StoredFlows",
    "Table",
    "ThriftBatches",
    "ThriftCodec",
    "ThriftColumns",
    "ThriftMessages",
    "Transaction",
    "Writer",
    "capture_parts",
    "excerpt",
    "indexed_parts",
    "panic_in_nth",
    "parse_options",
    "read_idl",
    "restored_batch",
    "restored_call",
    "restored_flow",
    "restored_packet",
    "run_command",
    "schema_of",
    "thrift_decode",
    "thrift_decode_many",
    "thrift_encode",
    "thrift_pluck",
    "unknown_option",
]

_S = TypeVar("_S", str, bytes)
_R = TypeVar("_R", covariant=True)
_V = TypeVar("_V")
_Part = Literal["keys", "values", "items"]

VERSION: str

def run_command(arguments: list[str]) -> int: ...
def panic_in_nth(count: int) -> int: ...
def excerpt(text: str, /) -> str: ...

@disjoint_base
class CacheTable:
    def __new__(
        cls,
        sealed: tuple[Callable[[Any], bytes], Callable[[bytes], Any]] | None,
        clears: bool,
        path: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Self: ...
    @property
    def _table(self) -> Table: ...
    @property
    def _clears(self) -> bool: ...
    @property
    def _clearings(self) -> int: ...
    def _clear_damage(self, seen: int, message: str) -> None: ...
    @property
    def size_limit(self) -> int: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def get(
        self,
        key: Any,
        default: Any = None,
        read: bool = False,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any: ...
    def set(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool: ...
    def add(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool: ...
    def touch(self, key: Any, expire: float | None = None, retry: bool = False) -> bool: ...
    def incr(self, key: Any, delta: int = 1, default: int | None = 0, retry: bool = False) -> int: ...
    def pop(
        self,
        key: Any,
        default: Any = None,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any: ...
    def delete(self, key: Any, retry: bool = False) -> bool: ...
    def expire(self, now: float | None = None, retry: bool = False) -> int: ...
    def evict(self, tag: Any, retry: bool = False) -> int: ...
    def cull(self, retry: bool = False) -> int: ...
    def clear(self, retry: bool = False) -> int: ...
    def stats(self, enable: bool = True, reset: bool = False) -> tuple[int, int]: ...
    def volume(self) -> int: ...
    @staticmethod
    def _call_key(
        base: str, typed: bool, ignored: frozenset[Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> str: ...
    def _result(
        self,
        base: str,
        typed: bool,
        ignored: frozenset[Any] | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None,
        default: Any,
    ) -> Any: ...
    def _key(self, key: bytes, value: bytes, default: Any) -> Any: ...

@disjoint_base
class Table:
    def __new__(
        cls,
        is_ordered: bool,
        text: bool,
        values: str,
        path: str | PathLike[str] | None = None,
        codec: tuple[Any, Any, Any] | None = None,
        **options: Any,
    ) -> Self: ...
    @property
    def _values(self) -> Any: ...
    @property
    def path(self) -> str | None: ...
    @property
    def text(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    @property
    def in_transaction(self) -> bool: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __sizeof__(self) -> int: ...
    def get(self, key: Any, default: Any = None, /) -> Any: ...
    def delete(self, key: Any) -> bool: ...
    def _take(self, key: Any, default: Any) -> Any: ...
    def _shift(self) -> tuple[Any, Any] | None: ...
    def create(self, key: Any, value: Any) -> bool: ...
    def setdefault(self, key: Any, default: Any = None) -> Any: ...
    def append(self, key: Any, end: Any) -> None: ...
    def increment(self, key: Any, by: int = 1) -> int: ...
    def get_many(self, keys: Iterable[Any], default: Any = None) -> list[Any]: ...
    def _put_all(self, pairs: Any) -> None: ...
    def delete_range(
        self,
        first: Any = None,
        last: Any = None,
        *,
        prefix: Any = None,
        reverse: bool = False,
        limit: int | None = None,
    ) -> int: ...
    def clear(self) -> None: ...
    def _scan(self, part: _Part, **range: Any) -> Scan: ...
    def _first(self, first: Any = None, last: Any = None, reverse: bool = False) -> tuple[Any, Any] | None: ...
    def _snapshot(self) -> Snapshot: ...
    def _has_same_entries(self, other: Table) -> bool: ...
    def cursor(self) -> Cursor[Any, Any]: ...
    def changes_since(self, position: str | None = None) -> Changes[Any, Any]: ...
    def transaction(self) -> Transaction: ...
    def sync(self) -> None: ...
    def compact(self) -> None: ...
    def close(self) -> None: ...
    def backup(self, path: str | PathLike[str], *, replace: bool = False) -> int: ...
    def dump(self, path: str | PathLike[str], *, format: str = "db", force: bool = False) -> int: ...
    def load(self, path: str | PathLike[str]) -> int: ...
    def stat(self) -> dict[str, int]: ...

@disjoint_base
class Snapshot:
    def __new__(cls, other: Snapshot) -> Self: ...
    @property
    def text(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def get(self, key: Any, default: Any = None, /) -> Any: ...
    def get_many(self, keys: Iterable[Any], default: Any = None) -> list[Any]: ...
    def _scan(self, part: _Part, **range: Any) -> Scan: ...
    def _first(self, first: Any = None, last: Any = None, reverse: bool = False) -> tuple[Any, Any] | None: ...
    def close(self) -> None: ...

@disjoint_base
class Store:
    def __new__(cls, path: str | PathLike[str]) -> Self: ...
    @property
    def path(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def damage(self) -> Exception | None: ...
    def close(self) -> None: ...
    def _places(self, object: Any) -> dict[Any, int]: ...
    def _value(self, place: int, object: Any) -> Any: ...

@final
class Scan:
    def __iter__(self) -> Scan: ...
    def __next__(self) -> Any: ...

@final
class Transaction:
    def __enter__(self) -> Any: ...
    def __exit__(self, class_: Any, _error: Any, _traceback: Any) -> bool: ...
    def __aenter__(self) -> Any: ...
    def __aexit__(self, class_: Any, error: Any, traceback: Any) -> Any: ...
    def _enter_or_queue(self, wake: Any, waited: float) -> Any: ...
    def _leave_queue(self, wake: Any) -> None: ...
    def _wake_next(self) -> None: ...

@final
class Changes(Generic[_S, _V]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[Literal["clear", "put", "delete"], _S | None, _V | None]: ...
    @property
    def position(self) -> str: ...

@final
class Cursor(Generic[_S, _V]):
    def first(self) -> bool: ...
    def last(self) -> bool: ...
    def seek(self, key: _S) -> bool: ...
    def next(self) -> bool: ...
    def prev(self) -> bool: ...
    @property
    def key(self) -> _S | None: ...
    @property
    def value(self) -> _V | None: ...

@disjoint_base
class Reader:
    def __new__(cls, opened: dict[str, Any], /, **options: Unpack[_ReaderOptions]) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def u8(self) -> int: ...
    def i8(self) -> int: ...
    def u16le(self) -> int: ...
    def u16be(self) -> int: ...
    def u32le(self) -> int: ...
    def u32be(self) -> int: ...
    def u64le(self) -> int: ...
    def u64be(self) -> int: ...
    def i16le(self) -> int: ...
    def i16be(self) -> int: ...
    def i32le(self) -> int: ...
    def i32be(self) -> int: ...
    def i64le(self) -> int: ...
    def i64be(self) -> int: ...
    def u24le(self) -> int: ...
    def u24be(self) -> int: ...
    def f32le(self) -> float: ...
    def f32be(self) -> float: ...
    def f64le(self) -> float: ...
    def f64be(self) -> float: ...
    def varint(self) -> int: ...
    def zigzag(self) -> int: ...
    def read(self, size: int | None = None, /) -> bytes: ...
    def readinto(self, buffer: Any) -> int: ...
    def peek(self, size: int, /) -> bytes: ...
    def skip(self, size: int, /) -> int: ...
    def unpack(self, template: str) -> tuple[Any, ...]: ...
    def _unpack_tuples(self, template: str, count: int | None = None) -> list[tuple[Any, ...]]: ...
    def _unpack_columns(self, template: str, names: list[str], count: int | None = None) -> Batch: ...
    def iter_unpack(self, template: str) -> RecordIterator[tuple[Any, ...]]: ...
    def records(self, size: int, /) -> RecordIterator[bytes]: ...
    def find(self, pattern: bytes, /) -> int | None: ...
    def tell(self) -> int: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def size(self) -> int | None: ...
    def at_end(self) -> bool: ...
    def compression(self) -> str: ...

@final
class RecordIterator(Generic[_R]):
    def __iter__(self) -> RecordIterator[_R]: ...
    def __next__(self) -> _R: ...

@disjoint_base
class Writer:
    def __new__(
        cls,
        name: str,
        *,
        path: str | PathLike[str] | None = None,
        mode: str = "write",
        object: Any = None,
        origin: int | None = None,
    ) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def _replaces(self) -> bool: ...
    def write(self, data: Any, /) -> int: ...
    def u8(self, number: int) -> None: ...
    def i8(self, number: int) -> None: ...
    def u16le(self, number: int) -> None: ...
    def u16be(self, number: int) -> None: ...
    def u32le(self, number: int) -> None: ...
    def u32be(self, number: int) -> None: ...
    def u64le(self, number: int) -> None: ...
    def u64be(self, number: int) -> None: ...
    def i16le(self, number: int) -> None: ...
    def i16be(self, number: int) -> None: ...
    def i32le(self, number: int) -> None: ...
    def i32be(self, number: int) -> None: ...
    def i64le(self, number: int) -> None: ...
    def i64be(self, number: int) -> None: ...
    def u24le(self, number: int) -> None: ...
    def u24be(self, number: int) -> None: ...
    def f32le(self, number: float) -> None: ...
    def f32be(self, number: float) -> None: ...
    def f64le(self, number: float) -> None: ...
    def f64be(self, number: float) -> None: ...
    def varint(self, number: int) -> None: ...
    def zigzag(self, number: int) -> None: ...
    def tell(self) -> int: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def _flush(self, sync: bool) -> None: ...
    def _finish(self, sync: bool) -> None: ...
    def _abandon(self) -> None: ...

def restored_packet(
    names: Sequence[str], values: tuple[Any, ...], captured: bytes, payload: tuple[int, int] | None
) -> Packet: ...
def restored_flow(names: Sequence[str], values: tuple[Any, ...], features: int) -> Flow: ...
def restored_call(names: Sequence[str], values: tuple[Any, ...]) -> Call: ...
def restored_batch(
    name: str,
    fields: Sequence[tuple[str, str, bool, str]],
    rows: Sequence[tuple[Any, ...]],
    export: tuple[str, bool, str],
) -> Batch: ...
def parse_options(texts: dict[str, str]) -> dict[str, Any]: ...
def unknown_option(name: str, names: list[str]) -> Exception: ...
def schema_of(name: str) -> list[tuple[str, str, bool, str]]: ...

def capture_parts(path: str | PathLike[str], bytes: int) -> list[tuple[int, int | None, int]]: ...
def indexed_parts(path: str | PathLike[str], bytes: int, **options: Any) -> list[int]: ...
@final
class CapturePart:
    def __new__(cls, path: str | PathLike[str], start: int, end: int | None, packets_before: int) -> Self: ...

@final
class Interface:
    def __new__(cls, name: str, **options: Any) -> Self: ...

@disjoint_base
class Capture:
    def __new__(
        cls,
        source: Any,
        **options: Any,
    ) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def damage(self) -> Exception | None: ...
    @property
    def index_fault(self) -> Exception | None: ...
    def close(self) -> None: ...
    def stop(self) -> None: ...
    def live_counts(self) -> dict[str, int] | None: ...
    def count_by(self, field: str, **options: Any) -> dict[int | str | None, int]: ...
    def info(self) -> dict[str, Any]: ...
    def _sum(self, fields: list[str], **options: Any) -> Batch: ...
    def _write_to(self, path: str | PathLike[str], **options: Any) -> dict[str, Any]: ...
    def _merge_flows(self, store: FlowStore, **options: Any) -> dict[str, Any]: ...
    def _add_to_flow_log(self, log: FlowLog) -> None: ...
    def _add_to_report(self, report: Report) -> dict[str, Any]: ...

@final
class FlowLog:
    def __new__(cls, path: str | PathLike[str], format: str, **options: Any) -> Self: ...
    def finish(self) -> int: ...
    def discard(self) -> None: ...

@final
class Report:
    def __new__(cls, path: str | PathLike[str], **options: Any) -> Self: ...
    def write(self) -> None: ...

@disjoint_base
class CaptureWriter:
    def __new__(cls, path: str | PathLike[str], **options: Unpack[_OutputOptions]) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def _write(
        self,
        data: bytes | bytearray | memoryview,
        ts: int | None,
        /,
        **details: Unpack[_WrittenPacketOptions],
    ) -> None: ...
    def close(self) -> None: ...
    def discard(self) -> None: ...

@disjoint_base
class FlowStore:
    def __new__(cls, path: str | PathLike[str], *, read_only: bool = False) -> Self: ...
    @staticmethod
    def _to_count(path: str | PathLike[str]) -> FlowStore: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def captures(self) -> list[dict[str, Any]]: ...
    def _count(self, keys: Sequence[bytes], values: Sequence[bytes]) -> bool: ...
    def _entries(self, content_id: bytes, place: int, file: str, damage: tuple[int, str] | None, rows: int) -> EntryBatches: ...
    @staticmethod
    def _without_entries(place: int, file: str, damage: tuple[int, str] | None) -> Batch: ...
    def _merge(self, paths: list[str | PathLike[str]]) -> list[dict[str, Any]]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Flow]: ...

@final
class StoredFlows:
    def __iter__(self) -> StoredFlows: ...
    def __next__(self) -> Flow: ...

@final
class EntryBatches:
    def __iter__(self) -> EntryBatches: ...
    def __next__(self) -> Batch: ...

@final
class EntryMerge:
    def __new__(cls) -> Self: ...
    def add(self, content_ids: tuple[bytes, bytes], keys: tuple[bytes, bytes], values: tuple[bytes, bytes]) -> None: ...
    def finish(self) -> None: ...
    def take_entries(self) -> Batch: ...
    def take_flows(self) -> Batch: ...

@final
class Rows(Generic[_R]):
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def damage(self) -> tuple[Exception, ...]: ...
    def __iter__(self) -> Iterator[_R]: ...
    def batches(self) -> Iterator[Batch]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def __array__(self, *_arguments: Any, **_keywords: Any) -> NoReturn: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def converted(self, **options: Unpack[_ExportOptions]) -> Rows[_R]: ...
    def to_parquet(self, path: str | PathLike[str], **options: Unpack[_ParquetOptions]) -> int: ...
    @staticmethod
    def _packets(sources: list[Any], fields: list[str], **options: Any) -> Rows[Any]: ...
    @staticmethod
    def _frames(source: Any) -> Rows[Packet]: ...
    @staticmethod
    def _flows(sources: list[Any], fields: list[str], **options: Any) -> Rows[Flow]: ...
    @staticmethod
    def _calls(sources: list[Any], fields: list[str], **options: Any) -> Rows[Call]: ...
    @staticmethod
    def _summary(name: str, sources: list[Any], is_open: bool, **options: Any) -> Rows[Any]: ...

@final
class Batch:
    @property
    def columns(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> list[Any]: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def __array__(self, *_arguments: Any, **_keywords: Any) -> NoReturn: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Batches:
    def __iter__(self) -> Batches: ...
    def __next__(self) -> Batch: ...

@final
class Records:
    def __iter__(self) -> Records: ...
    def __next__(self) -> Any: ...

@final
class Packet:
    __match_args__: tuple[str, ...]
    @property
    def ts(self) -> int | None:
        """Time of capture, nanoseconds since 1970-01-01 00:00 UTC; null where the file keeps none."""
    @property
    def src_ip(self) -> str | None:
        """Source address of the IP header."""
    @property
    def dst_ip(self) -> str | None:
        """Destination address of the IP header."""
    @property
    def src_port(self) -> int | None:
        """Source port of TCP, UDP or SCTP."""
    @property
    def dst_port(self) -> int | None:
        """Destination port of TCP, UDP or SCTP."""
    @property
    def proto(self) -> int | None:
        """Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP)."""
    @property
    def length(self) -> int:
        """Bytes of the frame on the wire."""
    @property
    def caplen(self) -> int:
        """Bytes of the frame in the capture."""
    @property
    def vlan(self) -> int | None:
        """VLAN id of the outermost tag before the IP header, 0 to 4095."""
    @property
    def ttl(self) -> int | None:
        """Time to live (IPv4) or hop limit (IPv6)."""
    @property
    def tcp_flags(self) -> int | None:
        """The 12 flag bits of TCP (0x002 SYN, 0x010 ACK)."""
    @property
    def payload_len(self) -> int | None:
        """Bytes of payload after the TCP, UDP or SCTP header, as the headers state them."""
    @property
    def number(self) -> int:
        """Number of the packet in its capture, from 1."""
    @property
    def status(self) -> int:
        """Bits that say what is unusual about the packet; see the table of status bits."""
    @property
    def link_type(self) -> int:
        """Link-layer type of the frame (LINKTYPE_ number, 1 Ethernet)."""
    @property
    def ethertype(self) -> int | None:
        """EtherType that the link layer ends in, after VLAN tags."""
    @property
    def ip_version(self) -> int | None:
        """4 or 6."""
    @property
    def ip_len(self) -> int | None:
        """Bytes of the IP packet as its header states them."""
    @property
    def frag_offset(self) -> int | None:
        """Offset of the fragment in bytes; null where the packet is whole."""
    @property
    def seq(self) -> int | None:
        """TCP sequence number as on the wire."""
    @property
    def ack(self) -> int | None:
        """TCP acknowledgement number as on the wire."""
    @property
    def icmp_type(self) -> int | None:
        """Type of ICMP or ICMPv6."""
    @property
    def icmp_code(self) -> int | None:
        """Code of ICMP or ICMPv6."""
    @property
    def arp_op(self) -> int | None:
        """ARP operation (1 request, 2 reply)."""
    @property
    def arp_src_ip(self) -> str | None:
        """Sender's protocol address in ARP over IPv4."""
    @property
    def arp_dst_ip(self) -> str | None:
        """Target's protocol address in ARP over IPv4."""
    @property
    def src_mac(self) -> str | None:
        """Source MAC address of the link layer, as aa:bb:cc:dd:ee:ff."""
    @property
    def dst_mac(self) -> str | None:
        """Destination MAC address of the link layer, as aa:bb:cc:dd:ee:ff."""
    @property
    def interface(self) -> int | None:
        """Number of the interface in its section of a pcapng file, from 0; null in pcap."""
    @property
    def interface_name(self) -> str | None:
        """Name of that interface; null where the file keeps none."""
    @property
    def dns_query(self) -> str | None:
        """Name in the first question of a DNS message over UDP, or over TCP if the segment has all of it."""
    @property
    def dns_type(self) -> int | None:
        """Type of that question (IANA: 1 A, 28 AAAA, 65 HTTPS)."""
    @property
    def dns_id(self) -> int | None:
        """Identification of the DNS message, the same in a query and its response."""
    @property
    def dns_is_response(self) -> bool | None:
        """True of a DNS response, false of a query."""
    @property
    def dns_rcode(self) -> int | None:
        """Response code of a DNS response (IANA: 0 no error, 3 no such name); null for a query."""
    @property
    def dns_answers(self) -> str | None:
        """Addresses in the answers of the DNS message, with commas between them."""
    @property
    def dns_answer_names(self) -> str | None:
        """Names in the answers of the DNS message (CNAME and PTR), with commas between them; at most 255 bytes, … in place of the rest."""
    @property
    def tls_sni(self) -> str | None:
        """Server name in a TLS ClientHello that the packet begins, over TCP or in an Initial packet of QUIC."""
    @property
    def http_host(self) -> str | None:
        """Host header of an HTTP/1 request that the packet begins."""
    @property
    def http_method(self) -> str | None:
        """Method of that request, such as GET."""
    @property
    def http_path(self) -> str | None:
        """Target of that request, the path with its query; at most 255 bytes, a longer one is cut and ends in …."""
    @property
    def http_user_agent(self) -> str | None:
        """User-Agent header of that request; at most 255 bytes, as the path."""
    @property
    def http_status(self) -> int | None:
        """Status code of an HTTP/1 response that the packet begins (IANA: 200 OK, 404 not found)."""
    @property
    def tls_version(self) -> str | None:
        """Highest version of TLS that the ClientHello offers, such as 1.3."""
    @property
    def tls_alpn(self) -> str | None:
        """Protocols that the ClientHello offers (ALPN), with commas between them."""
    @property
    def ja4(self) -> str | None:
        """JA4 fingerprint of the ClientHello; null where the packet does not have all of it."""
    @property
    def src_label(self) -> str | None:
        """Label of the source address, by the file of the option label; null without one."""
    @property
    def dst_label(self) -> str | None:
        """Label of the destination address, by the same file."""
    @property
    def captured(self) -> bytes:
        """The bytes that were captured."""
    @property
    def payload(self) -> bytes | None:
        """The captured bytes behind the header of TCP, UDP or SCTP; None without one."""
    def to_dict(self) -> dict[str, int | str | None]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Flow:
    __match_args__: tuple[str, ...]
    @property
    def ts(self) -> int | None:
        """Time of the earliest packet, nanoseconds since 1970-01-01 00:00 UTC; null where the capture keeps none."""
    @property
    def src_ip(self) -> str:
        """Address of the initiator, the side that sent the first packet seen."""
    @property
    def dst_ip(self) -> str:
        """Address of the other side."""
    @property
    def src_port(self) -> int | None:
        """The initiator's port of TCP, UDP or SCTP; null for other protocols and fragments without their first one."""
    @property
    def dst_port(self) -> int | None:
        """The other side's port of TCP, UDP or SCTP; null for other protocols and fragments without their first one."""
    @property
    def proto(self) -> int:
        """Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP)."""
    @property
    def packets(self) -> int:
        """Packets from the initiator."""
    @property
    def bytes(self) -> int:
        """Bytes of the frames from the initiator, as on the wire."""
    @property
    def rev_packets(self) -> int:
        """Packets back to the initiator."""
    @property
    def rev_bytes(self) -> int:
        """Bytes of the frames back to the initiator, as on the wire."""
    @property
    def duration(self) -> int | None:
        """Time from the earliest to the latest packet, microseconds; null where the capture keeps no times."""
    @property
    def tcp_flags(self) -> int | None:
        """The TCP flags of all packets from the initiator, OR-ed (0x002 SYN, 0x010 ACK); null where it is not TCP."""
    @property
    def rev_tcp_flags(self) -> int | None:
        """The TCP flags of all packets back to the initiator, OR-ed; null where it is not TCP or none came back."""
    @property
    def community_id(self) -> str:
        """Community ID v1 of the flow, with seed 0."""
    @property
    def rtt(self) -> int | None:
        """Round trip between the recorder and the other side: from the initiator's SYN to the SYN-ACK, microseconds; null without both."""
    @property
    def rev_rtt(self) -> int | None:
        """Round trip between the recorder and the initiator: from the SYN-ACK to the ACK, microseconds; null without both."""
    @property
    def retransmissions(self) -> int | None:
        """TCP segments from the initiator that were sent again, as tshark's tcp.analysis.retransmission tells them."""
    @property
    def rev_retransmissions(self) -> int | None:
        """TCP segments back to the initiator that were sent again."""
    @property
    def retransmitted_bytes(self) -> int | None:
        """Payload bytes of the initiator's segments that were sent again."""
    @property
    def rev_retransmitted_bytes(self) -> int | None:
        """Payload bytes of the segments back to the initiator that were sent again."""
    @property
    def out_of_order(self) -> int | None:
        """TCP segments from the initiator that came behind later ones, as tshark's tcp.analysis.out_of_order tells them."""
    @property
    def rev_out_of_order(self) -> int | None:
        """TCP segments back to the initiator that came behind later ones."""
    @property
    def lost_segments(self) -> int | None:
        """Gaps in front of the initiator's TCP segments: what was sent before was not captured, or came later (tcp.analysis.lost_segment)."""
    @property
    def rev_lost_segments(self) -> int | None:
        """Gaps in front of the TCP segments back to the initiator."""
    @property
    def duplicate_acks(self) -> int | None:
        """TCP segments from the initiator that only repeat its last acknowledgement (tcp.analysis.duplicate_ack)."""
    @property
    def rev_duplicate_acks(self) -> int | None:
        """TCP segments back to the initiator that only repeat the last acknowledgement."""
    @property
    def zero_windows(self) -> int | None:
        """TCP segments from the initiator that close its window (tcp.analysis.zero_window)."""
    @property
    def rev_zero_windows(self) -> int | None:
        """TCP segments back to the initiator that close the window."""
    @property
    def min_window(self) -> int | None:
        """Smallest window that the initiator announced, bytes, scaled where the handshake was captured."""
    @property
    def rev_min_window(self) -> int | None:
        """Smallest window that the other side announced, bytes."""
    @property
    def max_window(self) -> int | None:
        """Largest window that the initiator announced, bytes, scaled where the handshake was captured."""
    @property
    def rev_max_window(self) -> int | None:
        """Largest window that the other side announced, bytes."""
    @property
    def mss(self) -> int | None:
        """Maximum segment size that the initiator takes, by its SYN, bytes."""
    @property
    def rev_mss(self) -> int | None:
        """Maximum segment size that the other side takes, by its SYN, bytes."""
    @property
    def window_scale(self) -> int | None:
        """Shift of the initiator's windows, by its SYN."""
    @property
    def rev_window_scale(self) -> int | None:
        """Shift of the other side's windows, by its SYN."""
    @property
    def closed_by(self) -> str | None:
        """The side that sent the first FIN or RST: src, the initiator, or dst; null where none did."""
    @property
    def conn_state(self) -> str | None:
        """State of the connection in Zeek's letters: S0 no answer, S1 open, SF closed by both, REJ refused, RSTO and RSTR reset, OTH no handshake."""
    @property
    def history(self) -> str | None:
        """History of the connection in Zeek's letters, large from the initiator: S SYN, H SYN-ACK, A ACK, D data, F FIN, R RST, G gap, T sent again."""
    @property
    def min_length(self) -> int | None:
        """Smallest length of the initiator's packets, bytes on the wire."""
    @property
    def max_length(self) -> int | None:
        """Largest length of the initiator's packets, bytes on the wire."""
    @property
    def mean_length(self) -> float | None:
        """Mean length of the initiator's packets, bytes on the wire."""
    @property
    def std_length(self) -> float | None:
        """Standard deviation of the length of the initiator's packets, bytes on the wire, of a sample; null of fewer than two."""
    @property
    def rev_min_length(self) -> int | None:
        """Smallest length of the packets back to the initiator, bytes on the wire."""
    @property
    def rev_max_length(self) -> int | None:
        """Largest length of the packets back to the initiator, bytes on the wire."""
    @property
    def rev_mean_length(self) -> float | None:
        """Mean length of the packets back to the initiator, bytes on the wire."""
    @property
    def rev_std_length(self) -> float | None:
        """Standard deviation of the length of the packets back to the initiator, bytes on the wire, of a sample; null of fewer than two."""
    @property
    def min_payload(self) -> int | None:
        """Smallest payload of the initiator's packets that carry any, bytes."""
    @property
    def max_payload(self) -> int | None:
        """Largest payload of the initiator's packets that carry any, bytes."""
    @property
    def mean_payload(self) -> float | None:
        """Mean payload of the initiator's packets that carry any, bytes."""
    @property
    def std_payload(self) -> float | None:
        """Standard deviation of the payload of the initiator's packets that carry any, bytes, of a sample; null of fewer than two."""
    @property
    def rev_min_payload(self) -> int | None:
        """Smallest payload of the packets back to the initiator that carry any, bytes."""
    @property
    def rev_max_payload(self) -> int | None:
        """Largest payload of the packets back to the initiator that carry any, bytes."""
    @property
    def rev_mean_payload(self) -> float | None:
        """Mean payload of the packets back to the initiator that carry any, bytes."""
    @property
    def rev_std_payload(self) -> float | None:
        """Standard deviation of the payload of the packets back to the initiator that carry any, bytes, of a sample; null of fewer than two."""
    @property
    def min_gap(self) -> int | None:
        """Smallest time between two packets of the initiator, microseconds."""
    @property
    def max_gap(self) -> int | None:
        """Largest time between two packets of the initiator, microseconds."""
    @property
    def mean_gap(self) -> float | None:
        """Mean time between two packets of the initiator, microseconds."""
    @property
    def std_gap(self) -> float | None:
        """Standard deviation of the time between two packets of the initiator, microseconds, of a sample; null of fewer than two."""
    @property
    def rev_min_gap(self) -> int | None:
        """Smallest time between two packets back to the initiator, microseconds."""
    @property
    def rev_max_gap(self) -> int | None:
        """Largest time between two packets back to the initiator, microseconds."""
    @property
    def rev_mean_gap(self) -> float | None:
        """Mean time between two packets back to the initiator, microseconds."""
    @property
    def rev_std_gap(self) -> float | None:
        """Standard deviation of the time between two packets back to the initiator, microseconds, of a sample; null of fewer than two."""
    @property
    def splt_lengths(self) -> str | None:
        """Lengths of the first 20 packets, bytes on the wire, with commas between them, negative those back to the initiator."""
    @property
    def splt_gaps(self) -> str | None:
        """Microseconds from the packet before to each of the first 20 packets, with commas between them; the first is empty."""
    @property
    def tls_sni(self) -> str | None:
        """Server name in the initiator's TLS ClientHello, over TCP or QUIC."""
    @property
    def tls_version(self) -> str | None:
        """Highest version of TLS that the ClientHello offers, such as 1.3."""
    @property
    def tls_alpn(self) -> str | None:
        """Protocols that the ClientHello offers (ALPN), with commas between them."""
    @property
    def ja4(self) -> str | None:
        """JA4 fingerprint of the ClientHello, which may come in several packets."""
    @property
    def dns_query(self) -> str | None:
        """Name in the first DNS question of the initiator over UDP."""
    @property
    def http_host(self) -> str | None:
        """Host header of the initiator's first HTTP/1 request."""
    @property
    def ip_bytes(self) -> int | None:
        """Bytes of the initiator's IP packets, as their headers state them."""
    @property
    def rev_ip_bytes(self) -> int | None:
        """Bytes of the IP packets back to the initiator, as their headers state them."""
    @property
    def payload_bytes(self) -> int | None:
        """Bytes after the headers of TCP, UDP or SCTP from the initiator, those that were sent again too; null of other protocols."""
    @property
    def rev_payload_bytes(self) -> int | None:
        """Bytes after the headers of TCP, UDP or SCTP back to the initiator."""
    @property
    def stream_bytes(self) -> int | None:
        """Bytes of the initiator's TCP stream by its sequence numbers: each once, and those that were not captured too."""
    @property
    def rev_stream_bytes(self) -> int | None:
        """Bytes of the TCP stream back to the initiator by its sequence numbers."""
    @property
    def src_label(self) -> str | None:
        """Label of the initiator's address, by the file of the option label; null without one."""
    @property
    def dst_label(self) -> str | None:
        """Label of the other side's address, by the same file."""
    def to_dict(self) -> dict[str, int | str | None]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Call:
    __match_args__: tuple[str, ...]
    @property
    def ts(self) -> int | None:
        """Time of its first byte, nanoseconds since 1970-01-01 00:00 UTC; of an answer whose call is missing, the answer's."""
    @property
    def src_ip(self) -> str:
        """Address of the caller."""
    @property
    def src_port(self) -> int:
        """Port of the caller."""
    @property
    def dst_ip(self) -> str:
        """Address of the side that is called."""
    @property
    def dst_port(self) -> int:
        """Port of the side that is called."""
    @property
    def protocol(self) -> str:
        """binary, compact or json; behind framed- if messages have frames, or header- if these have headers of THeader."""
    @property
    def method(self) -> str:
        """The method that is called, with the service and a colon before it if the message has them."""
    @property
    def sequence_id(self) -> int:
        """Sequence number of the call and its answer."""
    @property
    def outcome(self) -> str:
        """returned, exception (a declared one), failure (any other), oneway, unanswered, or cut (too little of the answer is there)."""
    @property
    def latency(self) -> int | None:
        """Microseconds from its first byte to the last one of its answer; null where one of them is missing, or the times go back."""
    @property
    def request_bytes(self) -> int | None:
        """Bytes of the call with its frame; null where it is missing."""
    @property
    def reply_bytes(self) -> int | None:
        """Bytes of the answer with its frame; null where there is none."""
    def to_dict(self) -> dict[str, int | str | None]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

_C = TypeVar("_C")
_Buffer = bytes | bytearray | memoryview

class _Readable(Protocol):
    def read(self, count: int, /) -> Any: ...

_Messages = _Buffer | str | PathLike[str] | _Readable
_Thrift = Literal["binary", "compact"]
_ThriftRead = Literal["binary", "compact", "header", "json"]

@final
class ThriftCodec:
    def __new__(cls, structs: list[tuple[Any, ...]], origin: str, frozen_dict: type) -> Self: ...

@final
class ThriftMessages(Generic[_R]):
    def __iter__(self) -> ThriftMessages[_R]: ...
    def __next__(self) -> _R: ...

@disjoint_base
class ThriftColumns:
    def __new__(
        cls, cls_: type, source: _Messages, paths: list[str], protocol: _ThriftRead, framed: bool, rows: int
    ) -> Self: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    def batches(self) -> ThriftBatches: ...
    def to_parquet(self, path: str | PathLike[str], **options: Unpack[_ParquetOptions]) -> int: ...
    def __array__(self, *_arguments: Any, **_keywords: Any) -> NoReturn: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class ThriftBatches:
    def __iter__(self) -> ThriftBatches: ...
    def __next__(self) -> Batch: ...

def read_idl(text: str | None, path: str | None, include: list[str]) -> tuple[Any, ...]: ...
def thrift_decode(cls: type[_C], data: _Buffer, protocol: _ThriftRead = "binary") -> _C: ...
def thrift_decode_many(
    cls: type[_C], source: _Messages, protocol: _ThriftRead = "binary", framed: bool = True
) -> ThriftMessages[_C]: ...
def thrift_encode(obj: object, protocol: _Thrift = "binary") -> bytes: ...
def thrift_pluck(cls: type, data: _Buffer, *paths: str, protocol: _ThriftRead = "binary") -> tuple[Any, ...]: ...
