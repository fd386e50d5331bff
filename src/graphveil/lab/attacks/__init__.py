"""Attacks on what a statistic claims: neighbours that lie farther apart than it says."""
