"""Promises about links: a degree bound, a bound that leaves room for hubs, or none at all."""
