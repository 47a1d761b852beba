"""What helps to test an agent of yours?"""

from .divergence import assert_same_course

__all__ = ["assert_same_course"]
