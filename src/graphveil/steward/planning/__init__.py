"""What a steward decides before anything is spent: wishes, shares, predicted errors."""
