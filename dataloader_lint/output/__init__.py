"""Diagnostics as text: one emitter a format."""
