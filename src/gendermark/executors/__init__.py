"""Where work is done: here, in processes of this machine, or on a cluster. Knows nothing of translations."""
