"""Custody: what this machine last saw of a study, stored outside the folder of the study."""
