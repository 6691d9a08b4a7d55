"""`python -m paraphrastic.cli`."""

import sys

from paraphrastic.cli import main

sys.exit(main())
