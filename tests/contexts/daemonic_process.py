"""A daemonic process, which `multiprocessing` forbids to have children of its own, by each way to start one."""

import multiprocessing
import sys

import questions

if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[1]).Process(target=questions.check, daemon=True)
    process.start()
    process.join(60)
    print("ok" if process.exitcode == 0 else process.exitcode)
