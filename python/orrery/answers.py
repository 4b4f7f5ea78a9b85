"""The classes of all answers, made of the tables of keys that also write the JSON documents."""

from orrery._orrery import _answer_classes

globals().update(_answer_classes())
__all__ = sorted(_answer_classes())
