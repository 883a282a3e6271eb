"""Hostile evidence: how often it flips a verdict that the honest evidence settles."""
