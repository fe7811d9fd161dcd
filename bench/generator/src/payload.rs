//! Payload of the packets. How well a capture compresses is decided here and nowhere else.

use generator::random::Random;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Mixed,
    Patterned,
}

#[derive(Clone, Copy)]
pub enum Payload {
    /// Fresh random bytes behind a TLS record header: no compressor gains anything.
    Encrypted,
    /// Words of a made-up language with markup: gzip makes a third of it.
    Text { at: usize },
    /// Log lines of sensors that hardly change: gzip makes a small fraction of it.
    Records { at: usize },
}

pub struct PayloadSource {
    text: Vec<u8>,
    records: Vec<u8>,
}

const POOL_BYTES: usize = 4 << 20;
const WORDS_COUNT: usize = 4_000;

impl PayloadSource {
    pub fn new(random: &mut Random) -> Self {
        PayloadSource { text: text_pool(random), records: record_pool() }
    }

    pub fn text(&self, random: &mut Random) -> Payload {
        Payload::Text { at: random.below(self.text.len()) }
    }

    pub fn records(&self, random: &mut Random) -> Payload {
        Payload::Records { at: random.below(self.records.len()) }
    }

    /// Appends the next `count` bytes of a conversation's payload.
    pub fn append(
        &self,
        payload: &mut Payload,
        count: usize,
        random: &mut Random,
        out: &mut Vec<u8>,
    ) {
        match payload {
            Payload::Encrypted => append_encrypted(count, random, out),
            Payload::Text { at } => append_wrapping(&self.text, at, count, out),
            Payload::Records { at } => append_wrapping(&self.records, at, count, out),
        }
    }
}

fn append_encrypted(count: usize, random: &mut Random, out: &mut Vec<u8>) {
    const APPLICATION_DATA: [u8; 3] = [0x17, 0x03, 0x03];
    let start = out.len();
    out.resize(start + count, 0);
    let body = &mut out[start..];
    random.fill(body);
    if let Some(header) = body.get_mut(..5) {
        header[..3].copy_from_slice(&APPLICATION_DATA);
        header[3..].copy_from_slice(&((count - 5) as u16).to_be_bytes());
    }
}

fn append_wrapping(pool: &[u8], at: &mut usize, count: usize, out: &mut Vec<u8>) {
    if *at + count > pool.len() {
        *at = 0;
    }
    out.extend_from_slice(&pool[*at..*at + count]);
    *at += count;
}

fn text_pool(random: &mut Random) -> Vec<u8> {
    let words: Vec<Vec<u8>> = (0..WORDS_COUNT).map(|_| random_word(random)).collect();
    let mut pool = Vec::with_capacity(POOL_BYTES + 64);
    while pool.len() < POOL_BYTES {
        pool.extend_from_slice(&words[random.skewed_below(WORDS_COUNT)]);
        match random.below(16) {
            0 => pool.extend_from_slice(b"</p>\r\n<p>"),
            1 => pool.extend_from_slice(b", "),
            2 => pool.extend_from_slice(format!(" {} ", random.below(100_000)).as_bytes()),
            _ => pool.push(b' '),
        }
    }
    pool
}

fn random_word(random: &mut Random) -> Vec<u8> {
    let syllables = random.between(1, 3);
    let mut word = Vec::new();
    for _ in 0..syllables {
        word.push(*random.pick(b"bcdfghklmnprstvw"));
        word.push(*random.pick(b"aeiou"));
        if random.percent(40) {
            word.push(*random.pick(b"lmnrst"));
        }
    }
    word
}

fn record_pool() -> Vec<u8> {
    let mut pool = Vec::with_capacity(POOL_BYTES + 128);
    let mut line_number = 0;
    while pool.len() < POOL_BYTES {
        let line = format!(
            "{{\"sensor\":\"boiler-{:02}\",\"state\":\"running\",\"celsius\":71.50,\"alarms\":[],\"tick\":{:04}}}\n",
            line_number % 8,
            line_number / 256
        );
        pool.extend_from_slice(line.as_bytes());
        line_number += 1;
    }
    pool
}
