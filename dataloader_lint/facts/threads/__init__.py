"""Threads inside of workers: facts for the rules DL5xx."""
