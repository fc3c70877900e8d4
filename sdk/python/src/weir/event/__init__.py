"""Events: their fields, their context, and their text."""
