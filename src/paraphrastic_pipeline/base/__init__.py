"""What the other packages of the pipeline use."""
