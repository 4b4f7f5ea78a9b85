from os import PathLike

from orrery import Recording, Session

def load(path: str | PathLike[str], *more: str | PathLike[str], partial: bool = ..., stacks: bool = ..., recorded_clocks: bool = ..., session: Session | None = ...) -> Recording: ...
