"""The first screen of README: its commands and its Python."""

import re

from tests.docs.pages import text_of

README = text_of("README.md")
SCREEN = README.partition("\n## ")[0]
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", SCREEN, re.DOTALL) for line in block.splitlines()]
(PYTHON,) = re.findall(r"```python\n(.*?)```", SCREEN, re.DOTALL)
FILE = re.findall(r"Save this as `(\w+\.py)`", SCREEN)[0]
