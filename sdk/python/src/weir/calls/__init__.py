"""Tools, agents, traces and spans of the application's own functions."""
