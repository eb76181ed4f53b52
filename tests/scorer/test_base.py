import subprocess
import sys


def test_the_interface_loads_no_heavy_library() -> None:
    heavy = "{'torch', 'transformers', 'onnxruntime'}"
    code = f"import sys, arcf.scorer, arcf.scorer.tokens; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
