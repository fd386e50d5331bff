"""Planning: errors known beforehand, shares of a budget, and the choice of a mechanism."""
