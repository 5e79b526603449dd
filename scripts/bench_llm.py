"""Throughput of the endpoint judge beside concurrency / latency, the most that there can be.

A loopback server in another process answers every request after the latency. The answers are
checked, and the peak memory of a run over all pairs is shown beside that of a tenth of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import time


async def serve(latency: float) -> None:
    async def talk(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
                text = json.loads(await reader.readexactly(length))["messages"][0]["content"]
                number = int(re.search(r"<summary>\nSummary (\d+)", text)[1])
                facts = len(re.findall(r"(?m)^\d+\. ", text))
                said = {str(n): "yes" if (number + n) % 3 else "no" for n in range(1, facts + 1)}
                body = json.dumps({
                    "model": "bench", "usage": {"prompt_tokens": 1, "completion_tokens": 1},
                    "choices": [{"message": {"content": json.dumps(said)}}],
                }).encode()  # fmt: skip
                await asyncio.sleep(latency)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def measure(port: int, pairs: int, units: int, concurrency: int) -> None:
    """One run in a process of its own; prints seconds and the peak memory in MB."""
    from litepyramid.judges.llm.judge import LLMJudge

    items = [
        (f"Summary {n} of the storm.", [f"Fact {n} {u}." for u in range(1, units + 1)])
        for n in range(pairs // units)
    ]
    judge = LLMJudge(
        "bench", endpoint=f"http://127.0.0.1:{port}/v1", units_per_request=units,
        concurrency=concurrency, cache=None, progress=False,
    )  # fmt: skip
    judge.judge(items[:concurrency])  # imports and connections
    start = time.perf_counter()
    batch = judge.judge(items)
    seconds = time.perf_counter() - start
    for n, presence in enumerate(batch.presence):
        assert presence.tolist() == [float((n + u) % 3 > 0) for u in range(1, units + 1)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([len(items) - concurrency, seconds, peak]))


def main() -> None:
    """Runs the server, then a tenth of the pairs and all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--units", type=int, default=10, help="a summary, and a request")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.latency))
        return
    if given.port:
        measure(given.port, given.pairs, given.units, given.concurrency)
        return
    again = [sys.executable, __file__, "--latency", str(given.latency)]
    with subprocess.Popen([*again, "--serve"], stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip()
            for pairs in (given.pairs // 10, given.pairs):
                options = ["--pairs", pairs, "--units", given.units, "--port", port]
                options += ["--concurrency", given.concurrency]
                done = subprocess.run(
                    [*again, *map(str, options)], check=True, capture_output=True, text=True
                )
                requests, seconds, peak = json.loads(done.stdout)
                bound = given.concurrency / given.latency
                rate = requests / seconds
                print(
                    f"{pairs} pairs, {requests} requests, {given.concurrency} at once: "
                    f"{rate:.0f} a second, {rate / bound:.3f} of {bound:.0f}; {peak:.0f} MB"
                )
        finally:
            server.kill()


if __name__ == "__main__":
    main()
