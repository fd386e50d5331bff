"""Planning: errors known in advance, shares of a budget, and the choice of a mechanism."""

AUTO = "auto"  # where the best mechanism is to be chosen
