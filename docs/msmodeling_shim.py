"""Saves what msmodeling's simulator knows in full precision, for accelgate's preset msmodeling-shim.

    python3 msmodeling_shim.py cli.inference.text_generate MODEL [OPTION...]

runs the module as "python3 -m" does, and writes the metrics of its last inference to the file that the variable
ACCELGATE_METRICS names. Modules that do not use ModelRunner, such as cli.inference.video_generate, run as they are.
"""
import os
import runpy
import sys

sys.path[0] = os.getcwd()  # as "python3 -m" has it

from tensor_cast.core.model_runner import ModelRunner  # noqa: E402

run_inference = ModelRunner.run_inference


def run_and_save(self, *args, **kwargs):
    metrics = run_inference(self, *args, **kwargs)
    metrics.dump_json(os.environ["ACCELGATE_METRICS"])
    return metrics


ModelRunner.run_inference = run_and_save
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
