"""What everything stands on: errors, files, threads, compilation, text, versions of code."""
