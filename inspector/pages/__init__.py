"""What does each page show? One frozen record per page; templates receive nothing else."""
