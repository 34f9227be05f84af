"""What several rules about processes ask: which calls run in workers."""
