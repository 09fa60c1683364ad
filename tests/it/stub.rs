//! An endpoint that misbehaves on demand, over raw TCP: it can reset, stall, cut, delay, answer in
//! chunks and close a connection that the client believes to be alive.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the stub does with a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers.
    Answer(Answer),
    /// Answers in chunks of a few bytes.
    Chunked(Answer),
    /// Answers, then closes without having said so.
    AnswerThenClose(Answer),
    /// Waits, then acts.
    After(Duration, Box<Act>),
    /// Never answers.
    Stall,
    /// Sends the head and this many bytes of the body, then nothing more.
    StallAt(usize, Answer),
    /// Sends the head and this many bytes of the body, then closes.
    CutAt(usize, Answer),
    /// Sends the head and this many bytes of the body, then resets.
    ResetAt(usize, Answer),
    /// Closes before any byte.
    Close,
    /// Resets before any byte.
    Reset,
    /// Sends what is no HTTP.
    Garbage,
}

/// An HTTP answer.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.into(),
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn head(&self, length: &str) -> String {
        let mut head = format!("HTTP/1.1 {} Stub\r\n{length}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }

    fn whole_head(&self) -> String {
        self.head(&format!("content-length: {}", self.body.len()))
    }
}

/// A JSON answer.
pub fn answer(status: u16, body: &Value) -> Act {
    Act::Answer(Answer::new(status, body.to_string()))
}

/// A chat completion with this content and finish reason; 900 input and 200 output tokens.
pub fn completion(content: &str, finish: &str) -> Value {
    json!({
        "id": "chatcmpl-s", "object": "chat.completion", "created": 1, "model": "test-model",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": finish }],
        "usage": { "prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100 }
    })
}

/// A request as the stub saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub path: String,
    /// Head as sent, in lower case names and original values.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub at: Instant,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

type Script = dyn Fn(usize, &Seen) -> Act + Send + Sync;

/// A running stub; it lives as long as the test's runtime.
pub struct Stub {
    pub base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Stub {
    /// Starts a stub. The script is given the 0-based number of the request and the request.
    pub async fn start(script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::start_with(script, true).await
    }

    /// Starts a stub that does not keep what it saw.
    pub async fn start_forgetful(script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::start_with(script, false).await
    }

    /// Starts a stub that acts in this order; the last act repeats.
    pub async fn acts(acts: Vec<Act>) -> Self {
        Self::start(move |n, _| acts.get(n).or(acts.last()).expect("an act").clone()).await
    }

    async fn start_with(script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static, keep: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::new(Shared {
            script: Box::new(script),
            count: Mutex::new(0),
            seen: Arc::clone(&seen),
            keep,
        });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&shared);
                // A connection that the client drops is no fault of the test.
                tokio::spawn(async move { serve(stream, &shared).await.unwrap_or_default() });
            }
        });
        Self { base, seen }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

struct Shared {
    script: Box<Script>,
    count: Mutex<usize>,
    seen: Arc<Mutex<Vec<Seen>>>,
    keep: bool,
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(seen) = read_request(&mut stream, &mut buffer).await? {
        let number = {
            let mut count = shared.count.lock().unwrap();
            *count += 1;
            *count - 1
        };
        if shared.keep {
            shared.seen.lock().unwrap().push(seen.clone());
        }
        let mut act = (shared.script)(number, &seen);
        while let Act::After(wait, next) = act {
            tokio::time::sleep(wait).await;
            act = *next;
        }
        if !perform(&mut stream, act).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// True when the connection goes on.
async fn perform(stream: &mut TcpStream, act: Act) -> std::io::Result<bool> {
    match act {
        Act::Answer(answer) => {
            stream.write_all(answer.whole_head().as_bytes()).await?;
            stream.write_all(&answer.body).await?;
            return Ok(true);
        }
        Act::Chunked(answer) => {
            stream
                .write_all(answer.head("transfer-encoding: chunked").as_bytes())
                .await?;
            for piece in answer.body.chunks(7) {
                stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
                stream.write_all(piece).await?;
                stream.write_all(b"\r\n").await?;
            }
            stream.write_all(b"0\r\n\r\n").await?;
            return Ok(true);
        }
        Act::AnswerThenClose(answer) => {
            stream.write_all(answer.whole_head().as_bytes()).await?;
            stream.write_all(&answer.body).await?;
        }
        Act::StallAt(bytes, answer) => {
            partly(stream, bytes, &answer).await?;
            std::future::pending::<()>().await;
        }
        Act::CutAt(bytes, answer) => partly(stream, bytes, &answer).await?,
        Act::ResetAt(bytes, answer) => {
            partly(stream, bytes, &answer).await?;
            stream.set_zero_linger()?;
        }
        Act::Stall => std::future::pending::<()>().await,
        Act::Close => {}
        Act::Reset => stream.set_zero_linger()?,
        Act::Garbage => stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").await?,
        Act::After(..) => unreachable!("unwrapped by the caller"),
    }
    Ok(false)
}

async fn partly(stream: &mut TcpStream, bytes: usize, answer: &Answer) -> std::io::Result<()> {
    stream.write_all(answer.whole_head().as_bytes()).await?;
    stream.write_all(&answer.body[..bytes.min(answer.body.len())]).await?;
    stream.flush().await
}

async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Seen>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let headers: Vec<(String, String)> = head
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
                .collect();
            let length = headers
                .iter()
                .find(|(name, _)| name == "content-length")
                .map_or(0, |(_, value)| value.parse().unwrap());
            if buffer.len() >= end + 4 + length {
                let body = serde_json::from_slice(&buffer[end + 4..end + 4 + length]).unwrap_or(Value::Null);
                buffer.drain(..end + 4 + length);
                let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
                return Ok(Some(Seen {
                    path,
                    headers,
                    body,
                    at: Instant::now(),
                }));
            }
        }
        let mut piece = [0; 8192];
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(&piece[..read]);
    }
}
