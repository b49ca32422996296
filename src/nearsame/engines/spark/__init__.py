"""The engine of clusters: stages run through mapInArrow, shuffles are Spark's. The only folder that imports pyspark."""

from nearsame.engines.spark.settings import Spark

__all__ = ["Spark"]
