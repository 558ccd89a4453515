"""Where a server listens: on this machine, unless something else is said twice."""

import ipaddress
import socket

from elman.errors import ConfigError, ListenError


def bind(host: str, port: int, *, allow_outside: bool) -> socket.socket:
    """A socket that is this process' own from now on; who connects waits until the server answers.

    Args:
        host: A name or an address.
        port: 0: a free one.
        allow_outside: Whether other machines may reach it.

    Raises:
        ConfigError: The host is not this machine's own, and that was not allowed.
        ListenError: There is no such host, or the port is taken or not allowed.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise ListenError(f"--host {host}: {error.strerror}; 127.0.0.1 is this machine") from None
    if not allow_outside and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise ConfigError(
            f"--host {host}: other machines could reach the server there, and it asks nobody who they are. Keep "
            "127.0.0.1 and use `ssh -L`, or put a proxy with a login before it; or say --allow-outside"
        )
    # With the protocol named asyncio lets pieces go at once; else the second waits 40 ms for the first one's receipt.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()  # from here on nobody else can have it
    except OSError as error:
        bound.close()
        raise ListenError(f"{host}, port {port}: {error.strerror}; choose another one with --port") from None
    return bound


def address_of(bound: socket.socket) -> str:
    """Its address for a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
