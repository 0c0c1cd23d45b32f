"""The working directory was deleted under the process."""

import os
import tempfile

import questions

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
    questions.check()
    print("ok")
