"""The loop thread reads one socket at a time, and not while it has work."""

from __future__ import annotations

import asyncio
import selectors
import socket

from markscheme.models.chat.event_loop import OneByOne, loop_thread


def test_what_was_read_is_worked_on_before_more_is_read() -> None:
    """Ten sockets are ready at once; each reading sets off a chain of steps, as a reply does."""
    events: list[str] = []

    async def follow(number: int, told: asyncio.Future[None]) -> None:
        await told
        for _ in range(3):
            await asyncio.sleep(0)
        events.append(f"kept {number}")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        pairs = [socket.socketpair() for _ in range(10)]
        work = []

        def read(number: int, told: asyncio.Future[None]) -> None:
            pairs[number][0].recv(100)
            events.append(f"read {number}")
            told.set_result(None)

        for number, (here, _there) in enumerate(pairs):
            told: asyncio.Future[None] = loop.create_future()
            work.append(asyncio.ensure_future(follow(number, told)))
            loop.add_reader(here, read, number, told)
        await asyncio.sleep(0.01)
        for _here, there in pairs:
            there.send(b"reply")
        await asyncio.gather(*work)
        for here, there in pairs:
            loop.remove_reader(here)
            here.close()
            there.close()

    loop_thread().run(main())
    assert len(events) == 20
    for read, kept in zip(events[::2], events[1::2], strict=True):
        assert read.replace("read", "kept") == kept
    assert len(set(events)) == 20


def test_work_without_end_does_not_keep_the_loop_from_reading() -> None:
    async def main() -> bytes:
        loop = asyncio.get_running_loop()
        here, there = socket.socketpair()
        here.setblocking(False)
        busy = True

        async def spin() -> None:
            while busy:
                await asyncio.sleep(0)

        spinning = asyncio.ensure_future(spin())
        there.send(b"heard")
        heard = await loop.sock_recv(here, 100)
        busy = False
        await spinning
        here.close()
        there.close()
        return heard

    assert loop_thread().run(main()) == b"heard"


def test_every_socket_has_its_turn() -> None:
    pairs = [socket.socketpair() for _ in range(5)]
    selector = OneByOne()
    for here, there in pairs:
        selector.register(here, 1)
        there.send(b"never read")
    turns = [selector.select(1)[0][0].fd for _ in range(10)]
    assert sorted(turns[:5]) == sorted(here.fileno() for here, _ in pairs)
    assert turns[5:] == turns[:5]
    selector.close()
    for here, there in pairs:
        here.close()
        there.close()


def test_a_socket_that_is_closed_before_its_turn_is_passed_over() -> None:
    selector = OneByOne()
    pairs = [socket.socketpair() for _ in range(3)]
    for here, there in pairs:
        selector.register(here, selectors.EVENT_READ)
        there.send(b"x")
    ((first, _events),) = selector.select(1)
    gone, other = (here for here, _there in pairs if here is not first.fileobj)
    selector.unregister(gone)
    selector.unregister(other)
    renewed = selector.register(other, selectors.EVENT_READ)
    found = [selector.select(1)[0][0] for _ in range(4)]
    assert {key.fd for key in found} == {first.fd, other.fileno()}
    assert all(key in (first, renewed) for key in found)
    selector.close()
    for pair in pairs:
        for one in pair:
            one.close()
