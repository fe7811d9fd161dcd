//! Many conversations at once, their packets interleaved in bursts.

use crate::conversation::Conversation;
use crate::frame;
use crate::payload::{Content, PayloadSource};
use generator::random::Random;

const CONCURRENT_CONVERSATIONS: usize = 2_500;
const START_NS: u64 = 1_750_000_000_000_000_000;

pub struct Traffic {
    random: Random,
    content: Content,
    source: PayloadSource,
    conversations: Vec<Conversation>,
    conversations_started: usize,
    /// Index of the conversation that the current burst belongs to.
    speaking: usize,
    time_ns: u64,
}

impl Traffic {
    pub fn new(seed: u64, content: Content) -> Self {
        let mut random = Random::new(seed);
        let source = PayloadSource::new(&mut random);
        let conversations = (0..CONCURRENT_CONVERSATIONS)
            .map(|_| Conversation::random(content, &source, &mut random).joined_midway())
            .collect();
        Traffic {
            random,
            content,
            source,
            conversations,
            conversations_started: CONCURRENT_CONVERSATIONS,
            speaking: 0,
            time_ns: START_NS,
        }
    }

    pub fn conversations_started(&self) -> usize {
        self.conversations_started
    }

    /// Writes the next frame into `frame` and returns its time in nanoseconds since the epoch.
    pub fn next_frame(&mut self, frame: &mut Vec<u8>) -> u64 {
        const BURST_GOES_ON_PERCENT: usize = 55;
        if !self.random.percent(BURST_GOES_ON_PERCENT) {
            self.speaking = self.random.skewed_below(self.conversations.len());
        }
        self.time_ns += self.random.skewed_below(20_000) as u64 + 150;
        let random = &mut self.random;
        let conversation = &mut self.conversations[self.speaking];
        let step = loop {
            if let Some(step) = conversation.next_step(random) {
                break step;
            }
            *conversation = Conversation::random(self.content, &self.source, random);
            self.conversations_started += 1;
        };
        frame::build(conversation, &step, self.time_ns, &self.source, random, frame);
        self.time_ns
    }
}

#[cfg(test)]
mod tests {
    use super::Traffic;
    use crate::payload::Content;

    fn frames(seed: u64, count: usize) -> Vec<Vec<u8>> {
        let mut traffic = Traffic::new(seed, Content::Mixed);
        let mut frame = Vec::new();
        let mut next = || {
            traffic.next_frame(&mut frame);
            frame.clone()
        };
        (0..count).map(|_| next()).collect()
    }

    fn percent_of(frames: &[Vec<u8>], wanted: impl Fn(&[u8]) -> bool) -> usize {
        100 * frames.iter().filter(|frame| wanted(frame)).count() / frames.len()
    }

    #[test]
    fn one_seed_gives_one_traffic() {
        assert_eq!(frames(9, 500), frames(9, 500));
        assert_ne!(frames(9, 500), frames(10, 500));
    }

    #[test]
    fn mixed_traffic_has_the_promised_shares() {
        let frames = frames(1, 60_000);
        let tagged =
            percent_of(&frames, |frame| matches!(frame[12..14], [0x81, 0x00] | [0x88, 0xa8]));
        let untagged_v6 = percent_of(&frames, |frame| frame[12..14] == [0x86, 0xdd]);
        let mean_bytes = frames.iter().map(Vec::len).sum::<usize>() / frames.len();
        assert!((12..=20).contains(&tagged), "{tagged} % carry a tag");
        assert!((13..=21).contains(&untagged_v6), "{untagged_v6} % are IPv6 without a tag");
        assert!((560..=700).contains(&mean_bytes), "a frame has {mean_bytes} bytes on average");
    }
}
