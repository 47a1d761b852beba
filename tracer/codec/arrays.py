"""How are numpy's scalars and arrays written down exactly? It is imported only where such a value is."""

from __future__ import annotations

from typing import Any, Final

from .leaves import Unavailable, Unfit, base64_of, bytes_of

SCALAR: Final = "$np"
ARRAY: Final = "$ndarray"

_KINDS: Final = "?biufcmMSUV"


def is_numpy(kind: type) -> bool:
    """True for numpy's own scalar and array types; a subclass of them is another type."""
    return kind.__module__ == "numpy"


def dump(value: Any) -> tuple[str, Any, str]:
    """(tag, description to be lowered, base64 of the bytes).

    Raises:
        Unfit: its bytes do not hold its value.
    """
    import numpy as np

    if type(value) is np.ndarray:
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        description = [_described(value.dtype), list(value.shape), order]
        return ARRAY, description, base64_of(value.tobytes("C"))
    if isinstance(value, np.str_ | np.bytes_):
        # An array element loses trailing NULs, so these two go as the text they are.
        return (
            SCALAR,
            [
                type(value).__name__,
                str.__str__(value) if isinstance(value, np.str_) else bytes.__add__(value, b""),
            ],
            "",
        )
    if isinstance(value, np.generic):
        return SCALAR, [_described(value.dtype)], base64_of(value.tobytes())
    raise Unfit("only numpy scalars and arrays are data.")


def load(tag: str, description: Any, text: str) -> Any:
    """Undo `dump`.

    Raises:
        Unavailable: numpy is not installed here, or lacks the data type.
    """
    try:
        import numpy as np
    except ImportError:
        raise Unavailable("numpy is not installed here.") from None
    if tag == SCALAR and len(description) == 2:
        name, content = description
        return {"str_": np.str_, "bytes_": np.bytes_}[name](content)
    try:
        dtype = np.lib.format.descr_to_dtype(description[0])
    except TypeError as error:
        raise Unavailable(f"numpy does not know the data type here: {error}") from None
    if dtype.hasobject:
        raise ValueError("an object array is no data")
    shape = tuple(description[1]) if tag == ARRAY else ()
    data = bytearray(bytes_of(text))
    if len(data) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError(f"{len(data)} bytes do not fill shape {shape} of {dtype}")
    array: Any = np.ndarray(shape, dtype, buffer=data)
    if tag == SCALAR:
        return array[()]
    return np.asfortranarray(array) if description[2] == "F" else array


def _described(dtype: Any) -> Any:
    import numpy as np

    if dtype.hasobject or dtype.kind not in _KINDS:
        raise Unfit(f"its data type is {dtype}, whose bytes do not hold its values.")
    description = np.lib.format.dtype_to_descr(dtype)
    again = np.lib.format.descr_to_dtype(description)
    if again != dtype or again.type is not dtype.type:
        raise Unfit(f"its data type {dtype} cannot be described exactly.")
    return description
