"""Plots of what is known before anything is published: errors of plans, budgets and promises."""
