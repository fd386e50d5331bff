"""The paper's two synthetic models, and the kernels that draw them."""
