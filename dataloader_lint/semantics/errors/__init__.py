"""Errors that a program expects and handles."""
