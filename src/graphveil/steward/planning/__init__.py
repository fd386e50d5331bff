"""What a steward decides before anything is spent: requests, shares, predicted errors."""
