from .statement import statements as statements
