"""Every encoder that can be evaluated, of this project or from elsewhere."""
