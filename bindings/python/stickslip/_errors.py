"""Errors of the library as exceptions."""

from __future__ import annotations

from typing import Any

# ss_status, in the order of stickslip/base.h
_UNCERTIFIED = 5
_STOPPED = 7


class Error(ValueError):
    """What went wrong, and where: `message`, `file`, `line`, `column` (0 where there is no place in a file). `result` is what a run had
    recorded before it failed, else None."""

    result: Any = None

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        place = f"{file}:{line}:{column}: " if line else f"{file}: " if file else ""
        super().__init__(place + message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, int, int]]:  # so that it survives pickling between processes
        return type(self), (self.message, self.file, self.line, self.column)


class Uncertified(Error):
    """No step was found that solves its own problem; the state is the one before."""


def make(status: int, message: str, file: str, line: int, column: int) -> BaseException:
    if status == _STOPPED:
        return KeyboardInterrupt()
    return (Uncertified if status == _UNCERTIFIED else Error)(message, file, line, column)
