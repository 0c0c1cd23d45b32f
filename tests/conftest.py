"""Set before any test imports a library that reads them."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # no test needs a network: a call to the hub fails at once
os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the tests fork, and tokenizers warns of that
