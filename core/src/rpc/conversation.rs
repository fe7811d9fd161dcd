//! The messages of both directions of a connection: calls with their answers.

use std::collections::VecDeque;

use super::call::{Call, Outcome, Protocol};
use super::messages::{Known, Message, Messages};
use crate::packet::Packet;
use crate::tcp::{Connection, Event, Reassembler, Side, TcpOptions};
use crate::thrift::MessageKind;

/// Calls of one connection that wait for their answers.
const WAITING_MAX: usize = 1024;

/// The same for all connections together.
const WAITING_TOTAL_MAX: usize = 1 << 18;

/// Messages that make sure that a connection is Thrift, where one is no proof.
const MESSAGES_FOR_PROOF: u32 = 2;

/// What is looked for, and how much is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcOptions {
    /// How connections are followed.
    pub tcp: TcpOptions,
    /// Whether calls have the structs of their messages.
    pub keeps_messages: bool,
    /// Bytes of a struct that a call has; one that is longer is left out.
    pub message_max: usize,
    /// Bytes of structs that wait for the answers of their calls, in all connections together.
    pub messages_total_max: usize,
}

impl Default for RpcOptions {
    fn default() -> Self {
        RpcOptions {
            tcp: TcpOptions::default(),
            keeps_messages: false,
            message_max: 1 << 20,
            messages_total_max: 64 << 20,
        }
    }
}

/// Packets in, calls out.
#[derive(Debug)]
pub struct Rpc {
    tcp: Reassembler<Conversation>,
    options: RpcOptions,
    used: Used,
}

/// What all connections together remember.
#[derive(Debug, Default)]
struct Used {
    waiting: usize,
    kept_bytes: usize,
}

/// What is known of one connection.
#[derive(Debug, Default)]
struct Conversation {
    initiator: Messages,
    responder: Messages,
    /// The protocol, once it is sure that there is one.
    proven: Option<Protocol>,
    /// Messages seen before that.
    unproven: u32,
    /// The calls without an answer, the first one first.
    waiting: VecDeque<Waiting>,
    /// A call that is over before the connection is proven.
    held: Option<Box<Call>>,
}

/// A call that waits.
#[derive(Debug)]
struct Waiting {
    from: Side,
    message: Message,
    /// Bytes of the other side are missing since: the answer may have been among them.
    may_be_answered: bool,
}

impl Rpc {
    /// Nothing seen yet.
    pub fn new(options: RpcOptions) -> Self {
        Rpc { tcp: Reassembler::new(options.tcp), options, used: Used::default() }
    }

    /// Takes a packet with its captured bytes, and tells `each` the calls that are over by it.
    pub fn add(&mut self, packet: &Packet, captured: &[u8], each: &mut impl FnMut(Call)) {
        let Rpc { tcp, options, used } = self;
        tcp.add(packet, captured, &mut |connection, conversation, event| {
            Hearing { connection, options, used, each }.hear(conversation, event);
        });
    }

    /// Ends all connections, and tells the calls that wait.
    pub fn finish(self, each: &mut impl FnMut(Call)) {
        let Rpc { tcp, options, mut used } = self;
        tcp.finish(&mut |connection, conversation, event| {
            Hearing { connection, options: &options, used: &mut used, each }
                .hear(conversation, event);
        });
    }

    /// TCP connections that were seen so far.
    pub fn connections(&self) -> u64 {
        self.tcp.connections()
    }

    /// Memory for what waits: bytes for others in front of them, structs for the answers of their calls.
    pub fn waiting_bytes(&self) -> usize {
        self.tcp.pending_bytes() + self.used.kept_bytes + self.used.waiting * size_of::<Waiting>()
    }
}

/// One event, and what is around it.
struct Hearing<'h, F> {
    connection: &'h Connection,
    options: &'h RpcOptions,
    used: &'h mut Used,
    each: &'h mut F,
}

impl<F: FnMut(Call)> Hearing<'_, F> {
    fn hear(&mut self, conversation: &mut Conversation, event: Event<'_>) {
        match event {
            Event::Bytes { from, bytes, ts } => {
                let (mut messages, known) = self.taken(conversation, from);
                messages.bytes(bytes, ts, known, &mut |message| {
                    self.message(conversation, from, message);
                });
                *conversation.messages(from) = messages;
            }
            Event::Gap { from, len } => {
                let (mut messages, known) = self.taken(conversation, from);
                messages.gap(len, known, &mut |message| self.message(conversation, from, message));
                *conversation.messages(from) = messages;
                let asked = conversation.waiting.iter_mut();
                let asked = asked.filter(|waiting| waiting.from == from.other());
                asked.for_each(|waiting| waiting.may_be_answered = true);
            }
            Event::End => self.end(conversation),
        }
    }

    /// The messages of a side, while what they give changes the rest of the conversation.
    fn taken(&self, conversation: &mut Conversation, from: Side) -> (Messages, Known) {
        let left = self.options.messages_total_max.saturating_sub(self.used.kept_bytes);
        let keeps = self.options.keeps_messages;
        let keep_max = if keeps { self.options.message_max.min(left) } else { 0 };
        let known = Known { protocol: conversation.proven, keep_max };
        (std::mem::take(conversation.messages(from)), known)
    }

    fn message(&mut self, conversation: &mut Conversation, from: Side, message: Message) {
        self.prove(conversation, &message);
        match message.kind {
            MessageKind::CALL => {
                self.wait(conversation, Waiting { from, message, may_be_answered: false });
            }
            MessageKind::ONEWAY => {
                let call = self.call(from, Some(message), None);
                self.tell(conversation, call);
            }
            _ => {
                let asked = self.asked(conversation, from.other(), &message);
                let call = self.call(from.other(), asked, Some(message));
                self.tell(conversation, call);
            }
        }
    }

    /// The call that is answered: the earliest of those with the same number and name.
    ///
    /// A client that numbers all calls alike waits for each answer. So where that call's answer may be missing, and
    /// another one like it has come since, it is the last one's, and those before have none.
    fn asked(
        &mut self,
        conversation: &mut Conversation,
        from: Side,
        answer: &Message,
    ) -> Option<Message> {
        let is_its = |waiting: &Waiting| {
            waiting.from == from
                && waiting.message.sequence_id == answer.sequence_id
                && waiting.message.name == answer.name
        };
        loop {
            let first = conversation.waiting.iter().position(is_its)?;
            let is_only = !conversation.waiting.iter().skip(first + 1).any(is_its);
            let waiting = conversation.waiting.remove(first)?;
            let is_answered = is_only || !waiting.may_be_answered;
            let asked = self.forget(waiting);
            if is_answered {
                return Some(asked);
            }
            let call = self.call(from, Some(asked), None);
            self.tell(conversation, call);
        }
    }

    /// Takes a message as a sign that the connection is Thrift. A frame of the right length, or the fixed bits
    /// of Binary, are a proof; Compact alone has few of them, and takes two messages.
    fn prove(&mut self, conversation: &mut Conversation, message: &Message) {
        if conversation.proven.is_some() || !message.is_checked {
            return;
        }
        conversation.unproven += 1;
        let protocol = message.protocol;
        let is_proof = protocol.is_framed || protocol.encoding == crate::thrift::Encoding::Binary;
        if is_proof || conversation.unproven >= MESSAGES_FOR_PROOF {
            conversation.proven = Some(protocol);
            if let Some(call) = conversation.held.take() {
                (self.each)(*call);
            }
        }
    }

    fn wait(&mut self, conversation: &mut Conversation, waiting: Waiting) {
        let is_full = self.used.waiting >= WAITING_TOTAL_MAX;
        if conversation.waiting.len() >= WAITING_MAX
            || (is_full && !conversation.waiting.is_empty())
        {
            self.give_up_first(conversation);
        }
        if self.used.waiting >= WAITING_TOTAL_MAX {
            let call = self.call(waiting.from, Some(waiting.message), None);
            return self.tell(conversation, call);
        }
        self.used.waiting += 1;
        self.used.kept_bytes += waiting.message.body.as_ref().map_or(0, Vec::len);
        conversation.waiting.push_back(waiting);
    }

    /// Takes a call from those that wait.
    fn forget(&mut self, waiting: Waiting) -> Message {
        let kept = waiting.message.body.as_ref().map_or(0, Vec::len);
        self.used.waiting = self.used.waiting.saturating_sub(1);
        self.used.kept_bytes = self.used.kept_bytes.saturating_sub(kept);
        waiting.message
    }

    /// Tells the call that has waited for the longest time as one without an answer.
    fn give_up_first(&mut self, conversation: &mut Conversation) {
        if let Some(waiting) = conversation.waiting.pop_front() {
            let from = waiting.from;
            let asked = self.forget(waiting);
            let call = self.call(from, Some(asked), None);
            self.tell(conversation, call);
        }
    }

    /// Tells a call, or keeps it until it is sure that it is one.
    fn tell(&mut self, conversation: &mut Conversation, call: Call) {
        match conversation.proven {
            Some(_) => (self.each)(call),
            None => conversation.held = Some(Box::new(call)),
        }
    }

    fn end(&mut self, conversation: &mut Conversation) {
        for from in [Side::Initiator, Side::Responder] {
            let (mut messages, known) = self.taken(conversation, from);
            messages.end(known, &mut |message| self.message(conversation, from, message));
        }
        while !conversation.waiting.is_empty() {
            self.give_up_first(conversation);
        }
    }

    /// A call by what was asked and what was answered, one of which is there.
    fn call(&self, caller: Side, asked: Option<Message>, answer: Option<Message>) -> Call {
        let outcome = match (&asked, &answer) {
            (_, Some(answer)) if answer.kind == MessageKind::EXCEPTION => Outcome::Failure,
            (_, Some(answer)) if answer.first_field.unwrap_or_default() != 0 => Outcome::Exception,
            (_, Some(_)) => Outcome::Returned,
            (Some(asked), None) if asked.kind == MessageKind::ONEWAY => Outcome::Oneway,
            (_, None) => Outcome::Unanswered,
        };
        let first_ts = asked.as_ref().or(answer.as_ref()).and_then(|message| message.first_ts);
        let asked_ts = asked.as_ref().and_then(|message| message.first_ts);
        // An answer of which the end is missing has no last byte.
        let answered = answer.as_ref().filter(|answer| answer.is_whole);
        let latency = asked_ts.zip(answered.and_then(|answer| answer.last_ts));
        // Times of captures may go back, and be anything: then nothing is known.
        let latency = latency.and_then(|(first, last)| last.checked_sub(first)?.try_into().ok());
        let request_bytes = asked.as_ref().map(|asked| asked.len);
        let reply_bytes = answer.as_ref().map(|answer| answer.len);
        let (mut names, mut arguments, mut result) = (None, None, None);
        if let Some(answer) = answer {
            names = Some((answer.name, answer.sequence_id, answer.protocol));
            result = answer.body;
        }
        if let Some(asked) = asked {
            names = Some((asked.name, asked.sequence_id, asked.protocol));
            arguments = asked.body;
        }
        let (method, sequence_id, protocol) = names.unwrap_or_else(|| {
            let encoding = crate::thrift::Encoding::Binary;
            (Box::default(), 0, Protocol { encoding, is_framed: false })
        });
        Call {
            connection: self.connection.number,
            client: self.connection.address(caller),
            server: self.connection.address(caller.other()),
            method,
            sequence_id,
            protocol,
            outcome,
            ts: first_ts,
            latency,
            request_bytes,
            reply_bytes,
            arguments,
            result,
        }
    }
}

impl Conversation {
    fn messages(&mut self, side: Side) -> &mut Messages {
        match side {
            Side::Initiator => &mut self.initiator,
            Side::Responder => &mut self.responder,
        }
    }
}
