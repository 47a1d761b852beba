"""How is a state cut into objects and rebuilt, so that a checkpoint costs what changed?"""

from .node import CHAIN, Node, Plain, digest_of, is_ref
from .reader import Get, TreeReader
from .writer import Put, Seal, TreeWriter

__all__ = ["CHAIN", "Get", "Node", "Plain", "Put", "Seal", "TreeReader", "TreeWriter", "digest_of", "is_ref"]
