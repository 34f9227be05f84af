"""Who calls a function, and with which arguments."""
