"""What is known about libraries, as data."""
