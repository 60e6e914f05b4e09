from .native import run

__all__ = ["run"]
