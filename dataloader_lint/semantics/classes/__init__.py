"""Classes of the project: bases, methods, attributes, records, iteration."""
