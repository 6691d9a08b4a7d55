"""The foundation of all other packages: errors, files, threads, compilation, text, versions of code."""
