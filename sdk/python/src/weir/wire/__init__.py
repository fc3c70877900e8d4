"""The formats of the providers' APIs: requests, answers and streams."""
