"""De-duplicate what Spark can read: `spark-submit spark_job.py SOURCE TARGET [THRESHOLD]`.

1. The session is spark-submit's: the master, memory and packages are its options.
2. SOURCE and TARGET are paths that all executors see: s3a://, hdfs://, or a folder that is mounted everywhere.
"""

import sys

from pyspark.sql import SparkSession

import nearsame as ns


def main(source: str, target: str, threshold: str = "0.8") -> None:
    """Read, decide, write, and print the counts."""
    session = SparkSession.builder.appName("nearsame").getOrCreate()
    method = ns.MinHash(threshold=threshold, recall=0.99)
    found = ns.dedup(source, method=method, keep="longest", engine=ns.Spark(session))
    stats = found.write(target, overwrite=True)
    print(f"{stats.documents:,} documents, {stats.removed:,} removed, {stats.kept:,} kept")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
