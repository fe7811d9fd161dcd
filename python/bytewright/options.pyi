# Generated from the core's tables of options by `make generate`. Do not edit.
from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, TypedDict

CAPTURE: dict[str, Any]
LIVE: dict[str, Any]
PACKETS: dict[str, Any]
COUNTS: dict[str, Any]
FLOWS: dict[str, Any]
CALLS: dict[str, Any]
CALL_COLUMNS: dict[str, Any]
SUMS: dict[str, Any]
EXPORT: dict[str, Any]
PARQUET: dict[str, Any]
CUT: dict[str, Any]
REPORT: dict[str, Any]
TABLE: dict[str, Any]
CACHE: dict[str, Any]
READER: dict[str, Any]
OUTPUT: dict[str, Any]
WRITTEN_PACKET: dict[str, Any]
ENDPOINTS: dict[str, Any]
SERVICES: dict[str, Any]
INDEX: dict[str, Any]

class _CaptureOptions(TypedDict, total=False):
    filter: str | None
    flow: str | None
    label: str | PathLike[str] | None
    inner: bool | None
    vxlan_port: int | None
    jobs: int | None
    index: bool | None
    index_dir: str | PathLike[str] | None
    hash: bool | None
    damage: Literal["raise", "keep"] | None

class _LiveOptions(TypedDict, total=False):
    snaplen: int | None
    buffer: int | None
    promiscuous: bool | None

class _PacketsOptions(TypedDict, total=False):
    rows: int | None
    where: str | None
    numbers: str | None

class _CountsOptions(TypedDict, total=False):
    where: str | None
    numbers: str | None

class _FlowsOptions(TypedDict, total=False):
    idle_timeout: float | None
    active_timeout: float | None
    max_flows: int | None
    features: Literal["none", "tcp", "lengths", "names", "bytes", "labels", "all"] | None
    where: str | None

class _CallsOptions(TypedDict, total=False):
    idl: str | PathLike[str] | None
    service: str | None
    include: Iterable[str | PathLike[str]] | None
    where: str | None
    method: str | None

class _CallColumnsOptions(TypedDict, total=False):
    arguments: bool | None

class _SumsOptions(TypedDict, total=False):
    by: str | Iterable[str] | None
    every: float | None
    top: int | None
    where: str | None
    numbers: str | None

class _ExportOptions(TypedDict, total=False):
    timestamps: Literal["ns", "us"] | None
    signed: bool | None
    addresses: Literal["text", "binary"] | None

class _ParquetOptions(TypedDict, total=False):
    timestamps: Literal["ns", "us"] | None
    signed: bool | None
    addresses: Literal["text", "binary"] | None
    force: bool | None

class _CutOptions(TypedDict, total=False):
    where: str | None
    snaplen: int | None
    drop_duplicates: int | None
    every_nth: int | None
    shift: str | None
    anonymize: str | None
    payload: Literal["zero", "cut", "keep"] | None
    rotate: str | None
    keep: int | None
    stop_after: str | None
    force: bool | None

class _ReportOptions(TypedDict, total=False):
    title: str | None
    where: str | None
    force: bool | None

class _TableOptions(TypedDict, total=False):
    create: bool | None
    read_only: bool | None
    exclusive: bool | None
    sync: Literal["interval", "commit", "never"] | None
    timeout: float | None
    verify: bool | None

class _CacheOptions(TypedDict, total=False):
    size_limit: int | None
    count_limit: int | None
    create: bool | None
    read_only: bool | None
    exclusive: bool | None
    sync: Literal["interval", "commit", "never"] | None
    timeout: float | None
    verify: bool | None

class _ReaderOptions(TypedDict, total=False):
    compressed: Literal["auto", "gzip", "zstd", "none"] | None

class _OutputOptions(TypedDict, total=False):
    force: bool | None

class _WrittenPacketOptions(TypedDict, total=False):
    length: int | None
    link_type: int | None
    interface: str | None
    comment: str | None

class _EndpointsOptions(TypedDict, total=False):
    every: float | None
    top: int | None
    where: str | None

class _ServicesOptions(TypedDict, total=False):
    every: float | None
    top: int | None
    where: str | None

class _IndexOptions(TypedDict, total=False):
    anew: bool | None
