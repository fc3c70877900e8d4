"""Delivers events to Weir, by the retry rules of docs/api.md §7.1."""
