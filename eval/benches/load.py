#!/usr/bin/env python3
"""Load, kills and memory of `auditor bench`, against a stub of our own on this machine (standard library only).

    load.py speed  BINARY [--runs 200] [--chars 2000,20000] [--workers 1,8,32]
    load.py kills  BINARY [--runs 1000] [--kills 10] [--seed 1]
    load.py memory BINARY [--mb 2000]

speed:  wall time against the ideal, ceil(runs / workers) * 3 * 0.1 s, and the client's own CPU time.
kills:  kills the command at random moments, lets it end, and compares with an undisturbed run: the same results but
        for use, and no question asked again whose answer the journal held when it was killed.
memory: peak resident memory while a large JSONL file goes through the offline judge (bare).
"""
import argparse, asyncio, json, math, multiprocessing, os, random, shutil, signal, socket, subprocess, sys, tempfile, time

DELAY = 0.1


def reply(stage, spans):
    last = "s%d" % spans
    if stage == "keeper_reply":
        claim = {"claim_id": "c1", "claim": "The keeper was Ines Varga.", "introduced_at": "s3", "becomes_consequential_at": "s5",
                 "used_by": [last], "claim_type": "evidence", "status": "finalized"}
        return {"task_goal": "find the keeper", "hard_constraints": [], "claims": [claim], "notes": ""}
    if stage == "seeker_reply":
        return {"support_records": [{"claim_id": "c1", "support_spans": [], "support_status": "missing", "missing_support": "the log",
                                     "needs_auditors": [], "evidence_handles": []}]}
    if stage == "tracer_reply":
        return {"first_error_span": "s5", "linked_error_span_ids": [last], "non_errors": [], "reason": "no log",
                "error_span_ids": ["s5", last], "earliest_harmful_span_id": "s5"}
    return {"error_span_ids": ["s5", last], "earliest_harmful_span_id": "s5", "reasons": []}


class Stub(asyncio.Protocol):
    """Answers every request after DELAY; with a log, writes `run stage` for each as it comes in."""

    log = None
    delay = DELAY

    def connection_made(self, transport):
        self.transport, self.buffer, self.wanted = transport, bytearray(), None

    def data_received(self, data):
        self.buffer += data
        while True:
            if self.wanted is None:
                end = self.buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                head = bytes(self.buffer[:end]).lower()
                at = head.find(b"content-length:")
                self.wanted = end + 4 + (int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0)
            if len(self.buffer) < self.wanted:
                return
            body, self.buffer, self.wanted = bytes(self.buffer[:self.wanted]), self.buffer[self.wanted:], None
            at = body.rfind(b'_reply"')
            stage = body[body.rfind(b'"', 0, at) + 1:at + 6].decode()
            if Stub.log:
                case = body.find(b"lighthouse ")
                os.write(Stub.log, b"%s %s\n" % (body[case + 11:case + 17], stage.encode()))
            text = json.dumps({"choices": [{"message": {"role": "assistant", "content": json.dumps(reply(stage, 12))}, "finish_reason": "stop"}],
                               "usage": {"prompt_tokens": 9000, "completion_tokens": 200, "total_tokens": 9200}}).encode()
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(text)
            asyncio.get_running_loop().call_later(Stub.delay, self.send, head + text)

    def send(self, data):
        if not self.transport.is_closing():
            self.transport.write(data)


def serve(listener, log, delay):
    Stub.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if log else None
    Stub.delay = delay

    async def main():
        server = await asyncio.get_running_loop().create_server(Stub, sock=listener)
        await server.serve_forever()

    asyncio.run(main())


def start_stub(log=None, delay=DELAY):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    process = multiprocessing.get_context("fork").Process(target=serve, args=(listener, log, delay), daemon=True)
    process.start()
    base = "http://127.0.0.1:%d/v1" % listener.getsockname()[1]
    listener.close()
    return process, base


def write_runs(path, runs, chars, spans=12, stop_at=None):
    words = "the log of the keeper names a year and a place that no page shows ".split()
    draw = random.Random(7)
    with open(path, "w") as out:
        for number in range(runs):
            texts = []
            for at in range(spans):
                text = "Step %d about lighthouse %06d. " % (at + 1, number)
                while len(text) < chars:
                    text += " ".join(draw.choices(words, k=40)) + ". "
                texts.append({"id": "s%d" % (at + 1), "raw": text[:chars]})
            row = {"id": "run-%06d" % number, "question": "Who kept lighthouse %06d?" % number, "spans": texts, "gold": {"error_span_ids": ["s5"]}}
            out.write(json.dumps(row) + "\n")
            if stop_at and out.tell() > stop_at:
                return number + 1
    return runs


def command(binary, folder, base, workers, *more):
    return [binary, "bench", "--data", os.path.join(folder, "runs.jsonl"), "--runs-dir", os.path.join(folder, "runs"), "--model", "m",
            "--base-url", base, "-j", str(workers), "--resamples", "100", *more]


def clean_env():
    return {name: value for name, value in os.environ.items() if not name.upper().endswith("PROXY") and not name.startswith(("OPENAI", "AUDITOR"))}


def timed(arguments, folder):
    began = time.monotonic()
    with open(os.path.join(folder, "stderr"), "w") as err:
        child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=err, env=clean_env())
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(open(os.path.join(folder, "stderr")).read())
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def speed(options):
    stub, base = start_stub()
    for chars in map(int, options.chars.split(",")):
        for workers in map(int, options.workers.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                write_runs(os.path.join(folder, "runs.jsonl"), options.runs, chars)
                wall, cpu, peak = timed(command(options.binary, folder, base, workers), folder)
                ideal = math.ceil(options.runs / workers) * 3 * DELAY
                print("%5d runs of 12 x %5d, %3d workers: wall %7.2f s, ideal %7.2f s, ratio %.2f; client CPU %.2f s, peak %.0f MB"
                      % (options.runs, chars, workers, wall, ideal, wall / ideal, cpu, peak), flush=True)
    stub.terminate()


def rows(folder):
    found = []
    for name in sorted(os.listdir(os.path.join(folder, "runs"))):
        for line in open(os.path.join(folder, "runs", name, "results.jsonl")):
            row = json.loads(line)
            row.pop("usage")
            row["judge"].pop("endpoint")
            row.pop("source")
            found.append(row)
    return found


def recorded(folder):
    found, base = set(), os.path.join(folder, "runs")
    for name in os.listdir(base) if os.path.isdir(base) else []:
        for file in os.listdir(os.path.join(base, name)):
            if file.startswith("journal."):
                for line in open(os.path.join(base, name, file), "rb"):
                    ask = json.loads(line).get("answer", {}).get("ask") if line.endswith(b"\n") else None
                    if ask:
                        found.add((ask["case_id"][-6:], ask["stage"]))
    return found


def asked(log, skip):
    lines = open(log).read().split("\n")[skip:-1]
    return [(line.split()[0], line.split()[1].replace("_reply", "")) for line in lines]


def kills(options):
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as stormy:
        write_runs(os.path.join(calm, "runs.jsonl"), options.runs, 400)
        shutil.copy(os.path.join(calm, "runs.jsonl"), stormy)
        log = os.path.join(stormy, "log")
        (stub, base), (quiet, calm_base) = start_stub(log, 0.01), start_stub(None, 0.01)
        wall, *_ = timed(command(options.binary, calm, calm_base, 8), calm)
        draw, known, skip, again, lost = random.Random(options.seed), set(), 0, 0, 0
        for _ in range(options.kills):
            child = subprocess.Popen(command(options.binary, stormy, base, 8), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_env())
            time.sleep(draw.uniform(0, wall / options.kills * 1.5))
            child.send_signal(signal.SIGKILL)
            child.wait()
            time.sleep(0.2)
            new = asked(log, skip) if os.path.exists(log) else []
            again += sum(question in known for question in new)
            skip += len(new)
            known = recorded(stormy)
            lost = skip - len(known)
        timed(command(options.binary, stormy, base, 8), stormy)
        new = asked(log, skip)
        again += sum(question in known for question in new)
        same = rows(calm) == rows(stormy)
        print("%d runs, %d kills: results %s; %d questions asked again after their answer was kept; %d requests, %d of them lost with a kill"
              % (options.runs, options.kills, "equal" if same else "DIFFER", again, skip + len(new), lost))
        stub.terminate()
        quiet.terminate()
        sys.exit(0 if same and again == 0 else 1)


def memory(options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.jsonl")
        count = write_runs(path, 10 ** 9, 2000, stop_at=options.mb * 1_000_000)
        arguments = [options.binary, "bench", "--data", path, "--runs-dir", os.path.join(folder, "runs"), "--model", "offline", "--method", "bare", "--resamples", "100"]
        wall, cpu, peak = timed(arguments, folder)
        print("%d runs, %d MB: peak %.0f MB, wall %.1f s, CPU %.1f s" % (count, os.path.getsize(path) // 1_000_000, peak, wall, cpu))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "kills", "memory"])
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--chars", default="2000,20000")
    parser.add_argument("--workers", default="1,8,32")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mb", type=int, default=2000)
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    options.runs = options.runs or {"speed": 200, "kills": 1000}.get(options.what)
    {"speed": speed, "kills": kills, "memory": memory}[options.what](options)


if __name__ == "__main__":
    main()
