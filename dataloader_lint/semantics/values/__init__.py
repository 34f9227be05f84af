"""What a value is: kinds of values, numbers, sizes, type hints, declared options."""
