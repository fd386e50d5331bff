"""Planning: errors known in advance, shares of a budget, and the choice of a mechanism."""
