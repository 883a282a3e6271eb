"""Measures how often hostile evidence flips a verdict."""
