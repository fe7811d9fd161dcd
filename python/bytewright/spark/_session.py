"""Settings of a session of Spark's that the data source goes by. They are noted where it is registered, because the processes
that plan and read have no session to ask."""

import contextlib
import os
import re
from typing import NamedTuple

#: Letters behind a number of bytes, as Spark has them.
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_BYTES = re.compile(r"(\d+)\s*([bkmgt]?)(?:i?b)?", re.IGNORECASE)

#: Options of s3fs by the settings of Hadoop's S3A that say the same.
_S3 = {"fs.s3a.access.key": "key", "fs.s3a.secret.key": "secret", "fs.s3a.session.token": "token"}


class Settings(NamedTuple):
    """Settings of a session."""

    #: Bytes of captures that a task reads at most (spark.sql.files.maxPartitionBytes).
    task_bytes: int = 128 << 20
    #: Bytes that could be read in the time that opening a capture takes (spark.sql.files.openCostInBytes).
    open_cost: int = 4 << 20
    #: Tasks that captures are read by at least, where they can be (spark.sql.files.minPartitionNum, or the default parallelism).
    tasks_min: int = 1
    #: Tasks that the session runs side by side, the cores of each, and those of a process that runs tasks.
    slots: int = 1
    task_cores: int = 1
    cores: int = 1
    time_zone: str = "UTC"
    #: Options of file systems of fsspec, by protocol, from the configuration of Hadoop.
    storage: "dict[str, dict[str, object]]" = {}

    def most_of(self, sizes, asked=None):
        """Bytes of captures that a task reads at most where captures have these sizes: as Spark computes it for files of its own, so
        that each core gets some. `asked` is said by somebody."""
        total = sum(size + self.open_cost for size in sizes)
        most = min(self.task_bytes, max(self.open_cost, total // max(self.tasks_min, 1)))
        return most if asked is None else asked

    def even(self, size, most):
        """Bytes of the parts of a capture of this size, at most so many, where tasks that run side by side shall end together: as many
        parts as a multiple of those tasks, unless they became too small for that."""
        count = -(-size // most)
        rounded = -(-count // self.slots) * self.slots
        return -(-size // (rounded if size // rounded >= self.open_cost else count))

    def packed(self, captures, most):
        """Captures in lists for tasks, in their order: as many to a list as Spark would pack of its own files of these sizes."""
        lists, size = [], 0
        for capture in captures:
            if not lists or size + capture.size > most:
                lists.append([])
                size = 0
            lists[-1].append(capture)
            size += capture.size + self.open_cost
        return lists

    def jobs_of(self, task_count):
        """Threads of each of so many tasks: its cores, and those that no task has."""
        return max(self.task_cores, min(self.cores, self.slots * self.task_cores // max(task_count, 1)))


def settings_of(spark):
    """The settings of a session."""
    conf, parallelism = spark.conf, _parallelism(spark)
    task_cores = int(conf.get("spark.task.cpus", None) or 1)
    return Settings(
        task_bytes=bytes_of(conf.get("spark.sql.files.maxPartitionBytes")),
        open_cost=bytes_of(conf.get("spark.sql.files.openCostInBytes")),
        tasks_min=int(conf.get("spark.sql.files.minPartitionNum", None) or conf.get("spark.sql.leafNodeDefaultParallelism", None) or parallelism),
        slots=parallelism,
        task_cores=task_cores,
        cores=_cores(conf.get("spark.master", "") or "", conf.get("spark.executor.cores", None), task_cores, parallelism),
        time_zone=conf.get("spark.sql.session.timeZone"),
        storage=_storage(spark),
    )


def bytes_of(text):
    """A number of bytes as Spark writes it, such as 134217728, 134217728b or 128MB.

    Raises `ValueError` for anything else.
    """
    found = _BYTES.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2].lower()]


def _parallelism(spark):
    try:
        return spark.sparkContext.defaultParallelism
    except Exception:
        # A session of Spark Connect has no context, and each version of Spark an error of its own for that.
        return os.cpu_count() or 1


def _cores(master, of_executor, task_cores, parallelism):
    """Cores of a process that runs tasks, as far as the session says."""
    if master.startswith("local"):
        return parallelism
    return int(of_executor) if of_executor else task_cores


def _storage(spark):
    """Options of file systems of fsspec, by protocol, that say what the session's configuration of Hadoop does."""
    found = {}
    # A session of Spark Connect has no configuration of Hadoop.
    with contextlib.suppress(Exception):
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        found = storage_of(hadoop.get)
    return found


def storage_of(get):
    """Options of file systems of fsspec by what `get` says to the names of settings of Hadoop; None or "" where it has none."""
    s3 = {name: get(setting) for setting, name in _S3.items() if get(setting)}
    client = {}
    if get("fs.s3a.endpoint"):
        scheme = "http" if get("fs.s3a.connection.ssl.enabled") == "false" else "https"
        endpoint = get("fs.s3a.endpoint")
        client["endpoint_url"] = endpoint if "://" in endpoint else f"{scheme}://{endpoint}"
    if get("fs.s3a.endpoint.region"):
        client["region_name"] = get("fs.s3a.endpoint.region")
    if client:
        s3["client_kwargs"] = client
    if get("fs.s3a.path.style.access") == "true":
        s3["config_kwargs"] = {"s3": {"addressing_style": "path"}}
    if "Anonymous" in (get("fs.s3a.aws.credentials.provider") or "").split(",")[0]:
        s3["anon"] = True
    found = {protocol: s3 for protocol in ("s3", "s3a", "s3n") if s3}
    host = re.fullmatch(r"hdfs://([^:/]+)(?::(\d+))?/?", get("fs.defaultFS") or "")
    if host:
        found["hdfs"] = {"host": host[1], **({"port": int(host[2])} if host[2] else {})}
    return found
