"""Which traces are kept."""

from __future__ import annotations


def is_sampled(trace_id: str, rate: float) -> bool:
    """Depends only on the id and the rate, so that all processes, in all languages, keep or drop a trace whole."""
    return rate >= 1 or _hash(trace_id) / 2**32 < rate


def _hash(text: str) -> int:
    """FNV-1a, 32 bits, with the final mix of MurmurHash3: FNV alone leaves the high bits of similar texts alike."""
    value = 0x811C9DC5
    for character in text:
        value = ((value ^ ord(character)) * 0x01000193) & 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return value ^ (value >> 16)
