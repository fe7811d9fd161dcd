"""Places of captures: files of the system, and of the file systems that fsspec knows."""

import os

from .._bytewright import CapturePart, capture_parts, excerpt, indexed_parts
from .._errors import DAMAGE, ArgumentError, MissingLibraryError, file_name

#: Beginnings of a path of a file of the system.
_LOCAL = ("file://", "file:")

#: Packages that have the file systems of protocols, and what else they need.
_S3, _AZURE = "pip install s3fs", "pip install adlfs"
_INSTALLED = {
    **dict.fromkeys(("s3", "s3a", "s3n"), _S3),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs", "adl", "az"), _AZURE),
    **dict.fromkeys(("gs", "gcs"), "pip install gcsfs"),
    "hdfs": "install Hadoop, set HADOOP_HOME and CLASSPATH=$(hadoop classpath --glob), or take webhdfs://",
}

#: Variables that give S3 credentials of its own.
_S3_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE")


def local(path):
    """The path of a file of the system as the system has it; any other as it is."""
    for beginning in _LOCAL:
        if path.startswith(beginning):
            return path[len(beginning) :]
    return path


def is_local(path):
    """Returns True if a path is one of the system."""
    return "://" not in local(path)


def system_of(path, storage):
    """The file system of fsspec that has a path, and the path inside of it. `storage` has options of file systems by protocol."""
    protocol = path.split("://", 1)[0].rsplit("::", 1)[-1]
    try:
        import fsspec

        return fsspec.core.url_to_fs(path, **_options_of(path, protocol, storage, fsspec.config.conf))
    except (ImportError, OSError, ValueError) as error:
        raise _told(path, protocol, error) from None


def _told(path, protocol, error):
    """The error for a path whose file system cannot be had: with what to install, where that is missing."""
    is_missing = isinstance(error, ImportError)
    # pyarrow loads Hadoop's library as it is called.
    is_missing |= protocol == "hdfs" and any(name in str(error) for name in ("libhdfs", "libjvm"))
    # Of some protocols fsspec learns by the package that has them.
    is_unknown = isinstance(error, ValueError) and "rotocol not known" in str(error)
    if is_missing or (is_unknown and protocol in _INSTALLED):
        library = "pip install fsspec" if getattr(error, "name", None) == "fsspec" else _INSTALLED.get(protocol, str(error))
        return MissingLibraryError(f"{file_name(path)}: expected what reads {excerpt(protocol)}:// on this machine, found none; {library}")
    if is_unknown:
        return ArgumentError(f"{file_name(path)}: expected a path or a protocol of fsspec, such as s3a://, found {excerpt(protocol)}://")
    return error


def _options_of(path, protocol, storage, own):
    """The options of a protocol, unless it has some of its own; of HDFS, unless the path has the host."""
    options = storage.get(protocol)
    is_s3 = protocol in ("s3", "s3a", "s3n")
    if not options or own.get(protocol) or (is_s3 and any(name in os.environ for name in _S3_VARIABLES)):
        return {}
    if protocol == "hdfs" and not path.split("://", 1)[1].startswith("/"):
        return {}
    return {protocol: dict(options)}


def size_of(path, storage):
    """The size of a capture in bytes."""
    if is_local(path):
        return os.path.getsize(local(path))
    system, inside = system_of(path, storage)
    return system.size(inside)


def exists(path, storage):
    """Returns True if a capture is there."""
    if is_local(path):
        return os.path.exists(local(path))
    system, inside = system_of(path, storage)
    system.invalidate_cache()
    return system.exists(inside)


def parts(path, bytes):
    """The parts of a plain pcap file that has more than so many bytes, as numbers that `opened` takes; None alone for the whole capture."""
    path = local(path)
    try:
        if "://" in path or os.path.getsize(path) <= bytes:
            return [None]
        found = capture_parts(path, bytes)
    except (OSError, *DAMAGE):
        # It is told by whoever reads it.
        return [None]
    return found if len(found) > 1 else [None]


def numbered_parts(path, bytes, options):
    """The parts of a capture with an index, each of about so many bytes of the file, as the numbers of their packets; None alone for the
    whole capture. `options` are those of the capture."""
    path = local(path)
    try:
        firsts = [] if "://" in path else indexed_parts(path, bytes, **options)
    except (OSError, *DAMAGE):
        return [None]
    # The last part has no end, because the capture may have grown since.
    return [f"{first}-{next - 1 if next else ''}" for first, next in zip(firsts, [*firsts[1:], None])] if len(firsts) > 1 else [None]


def opened(path, storage, part=None):
    """Returns an argument of `bytewright.Capture`: a path or a part of its file, or a file object."""
    if part is not None:
        return CapturePart(local(path), *part)
    if is_local(path):
        return local(path)
    system, inside = system_of(path, storage)
    return system.open(inside, "rb")
