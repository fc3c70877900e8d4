"""The version of Weir that this package is released with."""

__version__ = "0.1.0"
