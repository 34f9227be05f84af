"""What is written into an object, under which name, how often."""
