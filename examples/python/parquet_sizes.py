"""Says how large each column of the Parquet files of a folder is, from their footers alone: python parquet_sizes.py IDL FOLDER"""

import pathlib
import sys

from bytewright import thrift

if len(sys.argv) != 3:
    sys.exit("usage: python parquet_sizes.py IDL FOLDER")
_, idl, folder = sys.argv

footer = thrift.load(pathlib.Path(idl)).FileMetaData
CHUNK = "row_groups[].columns[].meta_data."
for path in sorted(pathlib.Path(folder).glob("*.parquet")):
    data = path.read_bytes()
    end = len(data) - 8  # the length of the footer and the magic bytes are behind it
    footer_bytes = data[end - int.from_bytes(data[end : end + 4], "little") : end]
    paths = [CHUNK + name for name in ("path_in_schema", "num_values", "total_compressed_size")]
    for column, values, size in thrift.columns(footer, footer_bytes, *paths, protocol="compact", framed=False):
        print(path.name, ".".join(column), values, size)
