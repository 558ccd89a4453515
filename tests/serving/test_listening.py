"""Where a server may listen."""

import asyncio
import socket

import pytest

from elman.errors import ConfigError, ListenError
from elman.serving.limits import make_limits
from elman.serving.listening import address_of, bind


def test_a_free_port_of_this_machine_is_taken_and_named() -> None:
    with bind("127.0.0.1", 0, allow_outside=False) as bound:
        port = bound.getsockname()[1]
        assert address_of(bound) == f"http://127.0.0.1:{port}"
        with pytest.raises(ListenError, match=f"127.0.0.1, port {port}: .*choose another one with --port"):
            bind("127.0.0.1", port, allow_outside=False)


def test_an_answer_does_not_wait_for_the_receipt_of_its_first_piece() -> None:
    async def accepted_without_delay() -> int:
        seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        bound = bind("127.0.0.1", 0, allow_outside=False)
        async with await asyncio.start_server(accept, sock=bound):
            _, writer = await asyncio.open_connection(*bound.getsockname())
            writer.close()
            return await seen

    assert asyncio.run(accepted_without_delay()) == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_a_host_that_other_machines_reach_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match=r"other machines could reach the server .*--allow-outside"):
        bind(host, 0, allow_outside=False)


def test_with_the_option_any_host_will_do() -> None:
    with bind("0.0.0.0", 0, allow_outside=True) as bound:
        assert bound.getsockname()[0] == "0.0.0.0"


def test_a_host_that_is_not_there_is_named() -> None:
    with pytest.raises(ListenError, match=r"--host no such host"):
        bind("no such host", 0, allow_outside=False)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_batch": 0}, "max_batch: Input should be greater than 0, but came 0"),
        ({"request_seconds": float("nan")}, "request_seconds: "),
        ({"max_texts": 50, "max_waiting": 49}, r"^max_waiting: 50 or more is needed \(max_texts\), but came 49$"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_limits(**values)
