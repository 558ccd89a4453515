"""Cleaning of one document: Unicode normal form, control characters, byte order marks, case and white space."""

import re
import unicodedata

# White space among the control characters becomes a space; the others carry no text and go. U+FEFF is a byte order
# mark that was left inside a text by joining files.
_SPACE_CONTROLS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_REMOVED = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in _SPACE_CONTROLS + "\t\n\r"]
_TABLE = str.maketrans({**dict.fromkeys([*_REMOVED, "\ufeff"], ""), **dict.fromkeys(_SPACE_CONTROLS, " ")})
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")


def clean_text(text: str, *, unicode_form: str = "NFC", lowercase: bool = False, whitespace: str = "collapse") -> str:
    r"""The document as it is used; cleaning a clean document changes nothing.

    Args:
        text: As it was read.
        unicode_form: none, NFC, NFD, NFKC or NFKD.
        lowercase: Whether letters are lowered.
        whitespace: collapse: runs of white space become one space and the ends go. keep: only line ends become \n.

    Returns:
        The text; "" where it holds nothing to read.

    Example:
        >>> clean_text("\ufeff Good\x00  film\r\n")
        'Good film'
    """
    text = clean_part(text, unicode_form=unicode_form, lowercase=lowercase, whitespace=whitespace)
    return text if is_readable(text) else ""


def clean_part(text: str, *, unicode_form: str, lowercase: bool, whitespace: str) -> str:
    """`clean_text` of a part of a document, which may hold nothing to read where the whole does.

    Parts that are cut at white space are cleaned as the whole is: nothing that is done here looks across it.
    """
    text = without_controls(text)
    if not text.isascii() and unicode_form != "none":
        text = unicodedata.normalize(unicode_form, text)  # type: ignore[arg-type]
    if lowercase:
        text = _lowered(text, unicode_form=unicode_form)
    return " ".join(text.split()) if whitespace == "collapse" else text.replace("\r\n", "\n").replace("\r", "\n")


def without_controls(text: str) -> str:
    """White space among the control characters as spaces, the others and byte order marks gone."""
    return text.translate(_TABLE) if _CONTROL.search(text) else text


def _lowered(text: str, *, unicode_form: str) -> str:
    """Lower case that is stable: lowering can leave the normal form, and composing can bring a capital back."""
    while (lowered := text.lower()) != text:
        text = lowered if unicode_form == "none" else unicodedata.normalize(unicode_form, lowered)  # type: ignore[arg-type]
    return text


def is_readable(text: str) -> bool:
    """Whether a text holds anything that can be seen: not only spaces and invisible format characters."""
    if text.isascii():
        return bool(text) and not text.isspace()
    return any(not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc") for char in text)
