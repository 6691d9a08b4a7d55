"""What a run will take, before it is run: its jobs, their sizes, time, disk and memory."""
