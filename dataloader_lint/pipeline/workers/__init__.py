"""What runs in worker processes, and which objects get there."""
