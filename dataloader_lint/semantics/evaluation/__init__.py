"""What expressions can be at run time: `evaluate` is the evaluator, the others answer for one kind of expression."""
