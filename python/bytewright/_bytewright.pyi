# The native half. What of it is public is documented, and typed more narrowly, where the package has it.

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any, Generic, Literal, TypeVar, final

from typing_extensions import disjoint_base

__all__ = [
    "VERSION",
    "Batch",
    "Batches",
    "Call",
    "Capture",
    "Cursor",
    "Flow",
    "FlowStore",
    "Packet",
    "Records",
    "Rows",
    "Scan",
    "Snapshot",
    "Table",
    "Transaction",
    "run_command",
    "schema_of",
]

_S = TypeVar("_S", str, bytes)
_R = TypeVar("_R", covariant=True)
_Part = Literal["keys", "values", "items"]

VERSION: str

def run_command(arguments: list[str]) -> int: ...

@disjoint_base
class Table:
    def __new__(cls, is_ordered: bool, text: bool, path: str | PathLike[str] | None = None, **options: Any) -> Table: ...
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
    def _take(self, key: Any) -> Any: ...
    def _shift(self) -> tuple[Any, Any] | None: ...
    def create(self, key: Any, value: Any) -> bool: ...
    def setdefault(self, key: Any, default: Any) -> Any: ...
    def append(self, key: Any, end: Any) -> None: ...
    def increment(self, key: Any, by: int = 1) -> int: ...
    def get_many(self, keys: Iterable[Any], default: Any = None) -> list[Any]: ...
    def _put_all(self, pairs: Any) -> None: ...
    def clear(self) -> None: ...
    def _scan(
        self,
        part: _Part,
        first: Any = None,
        last: Any = None,
        prefix: Any = None,
        reverse: bool = False,
        limit: int | None = None,
    ) -> Scan: ...
    def _first(self, first: Any = None, last: Any = None, reverse: bool = False) -> tuple[Any, Any] | None: ...
    def _snapshot(self) -> Snapshot: ...
    def _has_same_entries(self, other: Table) -> bool: ...
    def cursor(self) -> Cursor[Any]: ...
    def transaction(self) -> Transaction: ...
    def sync(self) -> None: ...
    def compact(self) -> None: ...
    def close(self) -> None: ...
    def backup(self, path: str | PathLike[str], *, replace: bool = False) -> int: ...
    def stat(self) -> dict[str, int]: ...

@disjoint_base
class Snapshot:
    def __new__(cls, other: Snapshot) -> Snapshot: ...
    @property
    def text(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def get(self, key: Any, default: Any = None, /) -> Any: ...
    def _scan(
        self,
        part: _Part,
        first: Any = None,
        last: Any = None,
        prefix: Any = None,
        reverse: bool = False,
        limit: int | None = None,
    ) -> Scan: ...
    def _first(self, first: Any = None, last: Any = None, reverse: bool = False) -> tuple[Any, Any] | None: ...
    def close(self) -> None: ...

@final
class Scan:
    def __iter__(self) -> Scan: ...
    def __next__(self) -> Any: ...

@final
class Transaction:
    def __enter__(self) -> Any: ...
    def __exit__(self, class_: Any, _error: Any, _traceback: Any) -> bool: ...

@final
class Cursor(Generic[_S]):
    def first(self) -> bool: ...
    def last(self) -> bool: ...
    def seek(self, key: _S) -> bool: ...
    def next(self) -> bool: ...
    def prev(self) -> bool: ...
    @property
    def key(self) -> _S | None: ...
    @property
    def value(self) -> _S | None: ...

def schema_of(name: str) -> list[tuple[str, str, bool, str]]: ...

@disjoint_base
class Capture:
    def __new__(
        cls,
        source: Any,
        *,
        filter: str | None = None,
        inner: bool = False,
        inflate: str = "auto",
        jobs: int | None = None,
    ) -> Capture: ...
    @property
    def name(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def count_by(self, field: str) -> dict[int | str | None, int]: ...
    def info(self) -> dict[str, Any]: ...
    def _merge_flows(
        self, store: FlowStore, idle_timeout: float | None, active_timeout: float | None, max_flows: int
    ) -> dict[str, Any]: ...

@final
class FlowStore:
    def __new__(cls, path: str | PathLike[str]) -> FlowStore: ...
    def close(self) -> None: ...

@final
class Rows(Generic[_R]):
    @property
    def columns(self) -> tuple[str, ...]: ...
    def __iter__(self) -> Iterator[_R]: ...
    def batches(self) -> Iterator[Batch]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def to_parquet(
        self,
        path: str | PathLike[str],
        *,
        timestamps: str = "ns",
        signed: bool = False,
        addresses: str = "text",
    ) -> int: ...
    @staticmethod
    def _packets(
        sources: list[Any],
        fields: list[str],
        rows: int,
        *,
        filter: str | None = None,
        inner: bool = False,
        inflate: str = "auto",
        jobs: int | None = None,
    ) -> Rows[Any]: ...
    @staticmethod
    def _frames(source: Any) -> Rows[Packet]: ...
    @staticmethod
    def _flows(
        sources: list[Any],
        fields: list[str],
        idle_timeout: float | None = None,
        active_timeout: float | None = None,
        max_flows: int = 1_000_000,
        *,
        filter: str | None = None,
        inner: bool = False,
        inflate: str = "auto",
        jobs: int | None = None,
    ) -> Rows[Flow]: ...
    @staticmethod
    def _calls(
        sources: list[Any],
        fields: list[str],
        idl: str | PathLike[str] | None = None,
        service: str | None = None,
        include: list[str | PathLike[str]] = ...,
        *,
        filter: str | None = None,
        inner: bool = False,
        inflate: str = "auto",
        jobs: int | None = None,
    ) -> Rows[Call]: ...

@final
class Batch:
    @property
    def columns(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> list[Any]: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
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
    def captured(self) -> bytes:
        """The bytes that were captured."""
    @property
    def payload(self) -> bytes | None:
        """The captured bytes behind the header of TCP, UDP or SCTP; None without one."""
    def to_dict(self) -> dict[str, int | str | None]: ...
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
        """The initiator's port of TCP, UDP or SCTP; null for other protocols and later fragments."""
    @property
    def dst_port(self) -> int | None:
        """The other side's port of TCP, UDP or SCTP; null for other protocols and later fragments."""
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
    def to_dict(self) -> dict[str, int | str | None]: ...
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
        """binary, compact, framed-binary or framed-compact."""
    @property
    def method(self) -> str:
        """The method that is called, with the service and a colon before it if the message has them."""
    @property
    def sequence_id(self) -> int:
        """The number that an answer has from its call."""
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
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
