"""A loopback endpoint that grades by rule, and fails in all the ways that endpoints
fail."""

import json
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-secret-0123456789"


def grade(summary: str, unit: str) -> str:
    """The rule: a unit is in the summary if all of its words are."""
    words = set(re.findall(r"\w+", summary.lower()))
    return "yes" if set(re.findall(r"\w+", unit.lower())) <= words else "no"


def rule(items):
    """What a judge that follows the rule says of items."""
    return [
        [float(grade(text, unit) == "yes") for unit in units] for text, units in items
    ]


def asked(body) -> tuple[str, list[str]]:
    """The summary and the units of a request."""
    text = body["messages"][0]["content"]
    [(_, summary)] = re.findall(r"<(summary|answer)>\n(.*?)\n</\1>", text, re.DOTALL)
    [(_, units)] = re.findall(r"<(facts|criteria)>\n(.*?)\n</\1>", text, re.DOTALL)
    return json.loads(summary), list(json.loads(units).values())


def question_of(body) -> str | None:
    """The question of a request."""
    text = body["messages"][0]["content"]
    fenced = re.findall(r"<question>\n(.*?)\n</question>", text, re.DOTALL)
    return json.loads(fenced[0]) if fenced else None


class FakeEndpoint:
    """Answers on a free port, after `latency` seconds, as the model `version`.

    `act` says what to do: ``None`` to answer rightly, text to answer with it, or a tuple
    (status, headers, body); or it is a function that is given the number of a request
    (from 1) and its body and says so, and may wait. Fields in `refuses` are answered by
    400.
    """

    def __init__(self) -> None:
        self.act: object = None
        self.refuses: set[str] = set()
        self.version = "fake-1"
        self.usage = {"prompt_tokens": 100, "completion_tokens": 10}
        self.latency = 0.0
        self.bodies: list[dict] = []
        self.keys: set[str] = set()
        self.answered: Counter[tuple[str, str]] = Counter()
        self.busy = self.most_busy = 0
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with fake._lock:
                    fake.bodies.append(body)
                    fake.keys.add(self.headers["Authorization"])
                    fake.busy += 1
                    fake.most_busy = max(fake.most_busy, fake.busy)
                    number = len(fake.bodies)

                try:
                    self._respond(*fake._response(number, body))
                except (ConnectionError, TimeoutError):
                    self.close_connection = True
                finally:
                    with fake._lock:
                        fake.busy -= 1

            def _respond(self, status, headers, data) -> None:
                if callable(data):  # writes the answer itself
                    data(self.wfile)
                    self.close_connection = True
                    return

                self.send_response(status or 200)
                self.send_header("Content-Type", "application/json")
                # Without a status the connection is closed within the answer.
                self.send_header("Content-Length", len(data) if status else 100)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = status is None

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, *args) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def requests(self) -> int:
        return len(self.bodies)

    def _response(self, number, body):
        time.sleep(self.latency)
        if refused := sorted(self.refuses & set(body)):
            message = f"Unsupported parameter: {', '.join(refused)}"
            return 400, {}, json.dumps({"error": {"message": message}}).encode()

        action = self.act(number, body) if callable(self.act) else self.act
        if isinstance(action, tuple):
            return action
        if action is None:
            action, (summary, units) = self.answer(body), asked(body)
            with self._lock:
                self.answered.update((summary, unit) for unit in units)

        choice = {"index": 0, "message": {"role": "assistant", "content": action}}
        answer = {
            "id": "x",
            "model": self.version,
            "choices": [choice],
            "usage": self.usage,
        }
        return 200, {}, json.dumps(answer).encode()

    def answer(self, body) -> str:
        summary, units = asked(body)
        return json.dumps(
            {str(n): grade(summary, unit) for n, unit in enumerate(units, 1)}
        )
