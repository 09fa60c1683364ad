"""Runs `auditor localize` on tiny.json against the endpoint in the environment and checks the result's form.

    check.py BINARY          (below serve.sh, which sets OPENAI_BASE_URL, OPENAI_API_KEY and AUDITOR_MODEL)

Checked: the row follows the contract, the status has its exit code, a failure has a named cause, the tokens
are those that the server counted. Not checked: the verdict. The model is far too small to have one.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

RUN = pathlib.Path(__file__).with_name("tiny.json")
CAUSES = set(
    "input auth quota rate_limited timeout connection server bad_reply empty truncated refused "
    "context_overflow budget internal".split()
)
COUNTS = ("calls", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "total_tokens")
# (name, flags, output tokens, must it end ok). A strict schema holds even this model to the form; without one it
# rambles up to the limit, which is therefore low, and then the failure has to be named.
WAYS = [
    ("bare, json_schema", ["--method", "bare", "--json-mode", "schema"], 1024, True),
    ("bare, json_object", ["--method", "bare", "--json-mode", "object"], 200, False),
    ("bare, plain", ["--method", "bare", "--json-mode", "plain"], 200, False),
    ("bare, responses", ["--method", "bare", "--api", "responses"], 200, False),
]


def counted():
    """Tokens that the server says it has read (without those from its prompt cache) and written so far."""
    base = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    text = direct.open(base + "/metrics", timeout=60).read().decode()
    return [
        int(float(re.search(rf"^llamacpp:{name} (\S+)$", text, re.M)[1]))
        for name in ("prompt_tokens_total", "tokens_predicted_total")
    ]


def check(row, code, must_be_ok):
    run = json.loads(RUN.read_text(encoding="utf-8"))
    order = [span["id"] for span in run["spans"]]
    assert row["schema"] == "auditor.result/1", row["schema"]
    assert row["case_id"] == run["id"], row["case_id"]
    judge = row["judge"]
    assert judge["kind"] == "chat" and judge["model"] == os.environ["AUDITOR_MODEL"], judge
    assert judge["endpoint"].startswith("http://127.0.0.1:"), judge

    if row["status"] == "ok":
        assert code == 0, code
        assert row["cause"] is None, row["cause"]
        found = row["prediction"]["error_span_ids"]
        assert found == [span_id for span_id in order if span_id in found], f"not in trajectory order: {found}"
        assert row["prediction"]["earliest_harmful_span_id"] == (found[0] if found else None), row["prediction"]
    else:
        assert not must_be_ok, f"a strict schema must end ok, not {row['status']}: {row['cause']}"
        assert row["status"] in ("failed", "refused") and code == 3, (row["status"], code)
        assert row["cause"]["kind"] in CAUSES and row["cause"]["message"], row["cause"]
        assert row["prediction"] is None, row["prediction"]

    usage = dict(row["usage"])
    total = usage.pop("total")
    for count in COUNTS:
        assert total[count] == sum(stage[count] for stage in usage.values()), f"{count}: {row['usage']}"
    assert total["calls"] > 0 and total["input_tokens"] > 0 and total["output_tokens"] > 0, total
    assert total["total_tokens"] == total["input_tokens"] + total["output_tokens"], total
    return total


def main(binary):
    key = os.environ["OPENAI_API_KEY"]
    for name, flags, max_output, must_be_ok in WAYS:
        before, started = counted(), time.monotonic()
        done = subprocess.run(
            [binary, "localize", "--format", "json", "--max-output", str(max_output), *flags, str(RUN)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=900,
        )
        lines = done.stdout.splitlines()
        try:
            assert len(lines) == 1, f"{len(lines)} lines on stdout"
            assert key not in done.stdout + done.stderr, "the key shows"
            total = check(json.loads(lines[0]), done.returncode, must_be_ok)
            read, written = (now - then for now, then in zip(counted(), before))
            ours = (total["input_tokens"] - total["cached_tokens"], total["output_tokens"])
            assert ours == (read, written), f"usage says {ours}, the server counted {(read, written)}"
        except (AssertionError, KeyError, ValueError) as problem:
            sys.exit(
                f"live test, {name}: {problem!r}\nexit code {done.returncode}\n"
                f"--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
            )
        row = json.loads(lines[0])
        end = row["status"] if row["cause"] is None else f"{row['status']} ({row['cause']['kind']})"
        print(
            f"live test, {name}: {end}, {total['calls']} calls, {total['input_tokens']} tokens in, "
            f"{total['output_tokens']} out, {time.monotonic() - started:.1f} s"
        )


if __name__ == "__main__":
    main(sys.argv[1])
