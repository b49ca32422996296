"""The flow of documents as DataFrames."""
