"""What Python code means and what libraries do: syntax, other files, values, calls, control. It knows no rule."""
