"""Observes clients of providers at their HTTP client."""
