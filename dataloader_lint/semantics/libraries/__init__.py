"""Facts about libraries, as data."""
