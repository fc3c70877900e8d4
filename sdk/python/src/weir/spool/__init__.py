"""Stores events on disk until Weir has accepted them. The format is that of ``@weir/sdk/spool``."""
