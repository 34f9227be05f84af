"""What the engine itself reports: that a file was not linted, or not by every rule."""
