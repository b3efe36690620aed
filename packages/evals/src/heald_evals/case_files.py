"""Loads the evaluations of a file: the variables of a Python file, or the cases of a TOML file."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from os import PathLike
from pathlib import Path

from heald.core.errors import ConfigurationError, HealdError
from heald_evals.evaluation import Evaluation
from heald_evals.toml_cases import read_toml_cases


def load_evaluations(path: str | PathLike[str]) -> list[Evaluation]:
    """Load the evaluations of a file: all variables of a Python file that are an `Evaluation`, or the one of a TOML
    file. Modules beside the file can be imported by it. Raises ConfigurationError if there is none."""
    file = Path(path)
    if not file.is_file():
        advice = "name a file of cases" if file.exists() else "check the path"
        raise ConfigurationError(f"{file} is not a file; {advice}.")
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    match file.suffix:
        case ".toml":
            return [read_toml_cases(file)]
        case ".py":
            return _load_python(file)
        case _:
            raise ConfigurationError(f"{file} is neither a Python file nor a TOML file; name a file of cases.")


def _load_python(file: Path) -> list[Evaluation]:
    name = f"heald_cases_{file.stem}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except HealdError as error:
        raise ConfigurationError(f"{file} cannot be loaded: {error}") from error
    except Exception as error:
        raise ConfigurationError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    evaluations: dict[int, Evaluation] = {}
    for value in vars(module).values():
        if isinstance(value, Evaluation):
            evaluations[id(value)] = value
    if not evaluations:
        raise ConfigurationError(f"{file} has no evaluation; assign a heald_evals.Evaluation to a variable in it.")
    return list(evaluations.values())
