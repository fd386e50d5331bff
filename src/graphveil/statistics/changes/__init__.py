"""What one person can change: numbers, shapes, and the bounds behind them."""
