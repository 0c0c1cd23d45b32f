"""A Ray actor, as verl's reward managers are."""

import os
import sys

import ray


@ray.remote
class Grader:
    def check(self) -> str:
        import questions

        questions.check()
        return "ok"


if __name__ == "__main__":
    paths = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), *filter(None, sys.path)])
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    print(ray.get(Grader.remote().check.remote(), timeout=120))
    ray.shutdown()
