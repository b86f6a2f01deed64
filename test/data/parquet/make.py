"""Writes the Parquet files of this folder: three instances in the shape of Loc-Bench, in the compressions that such files come in.

    pip install pyarrow && python make.py
"""

import datetime
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
PATCH = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -3,1 +3,1 @@\n-old\n+new\n"


def instance(number, category, files, functions):
    return {
        "instance_id": f"owner__project-{number}",
        "repo": "Owner/Project",
        "base_commit": f"{number:040x}",
        "problem_statement": f"Problem {number}: naïve reader\nIt loses the last line.",
        "patch": "".join(PATCH.format(file) for file in files),
        "edit_functions": functions,
        "category": category,
        "created_at": datetime.datetime(2024, 5, number, 12, 0, 0),
        "number": number,
    }


rows = [
    instance(1, "Bug Report", ["src/reader.py"], ["src/reader.py:Reader.read"]),
    instance(2, "Feature Request", ["src/reader.py", "src/writer.py"], ["src/writer.py:write", "src/reader.py:Reader.read"]),
    instance(3, "Performance Issue", ["src/cache.py"], []),
]
table = pa.Table.from_pylist(rows)
for compression in ["snappy", "zstd", "gzip", "brotli", "none"]:
    pq.write_table(table, HERE / f"instances-{compression}.parquet", compression=compression, row_group_size=2)
