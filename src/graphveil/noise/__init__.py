"""Noise: exact laws on the integers, their samplers, calibration and accounting."""
