//! The messages of both directions of a connection: calls with their answers.

use super::call::{Call, Framing, Outcome, Protocol};
use super::ledger::{ByteCounts, Ledger};
use super::message::{KnownProtocol, RpcMessage};
use super::messages::DirectionMessages;
use super::waiting::{Waiting, WaitingCalls};
use crate::packet::Packet;
use crate::tcp::{Connection, ConnectionId, Event, EvictionQueue, Reassembler, Side, TcpOptions};
use crate::thrift::{Encoding, MessageForm, MessageKind};

// Bound (Flows): calls that wait for answers = 1,024 for each connection, 262,144 in all.
const WAITING_MAX: usize = 1024;

/// Messages that make sure that a connection is Thrift, where one is no proof.
const MESSAGES_FOR_PROOF: u32 = 2;

/// Options of the search for calls, with the bounds of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcOptions {
    /// Options of the reassembly of connections.
    pub tcp: TcpOptions,
    /// True if calls keep the structs of their messages.
    pub keeps_messages: bool,
    /// Bytes of a struct that a call has; one that is longer is left out.
    pub message_max: usize,
    /// Memory for structs in all connections together: of messages that are not over, and of calls that wait for
    /// answers. One that does not fit is left out.
    pub messages_total_max: usize,
    /// Calls that wait for answers in all connections together. One more ends the wait of one that has waited for long.
    pub waiting_total_max: usize,
}

impl Default for RpcOptions {
    fn default() -> Self {
        RpcOptions {
            tcp: TcpOptions::default(),
            keeps_messages: false,
            // Bound (Flows): structs of calls = none unless asked for; 1 MiB each, 64 MiB of those that come in or
            // wait.
            message_max: 1 << 20,
            messages_total_max: 64 << 20,
            waiting_total_max: 1 << 18,
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

/// State that all connections share.
#[derive(Debug)]
struct Used {
    ledger: Ledger,
    /// Calls that wait, and the memory of them without their structs.
    waiting: usize,
    waiting_bytes: usize,
    /// Memory of their structs.
    waiting_structs: usize,
    /// Messages so far.
    messages: u64,
    /// Connections in which calls wait.
    queue: EvictionQueue,
    /// Connections to queue after their event, and since when calls wait in them.
    joining: Vec<(ConnectionId, u64)>,
    /// The messages that an event has told, empty in between.
    told: Vec<RpcMessage>,
}

/// State of one connection.
#[derive(Debug, Default)]
struct Conversation {
    initiator: DirectionMessages,
    responder: DirectionMessages,
    /// The protocol, once it is sure that there is one.
    proven: Option<Protocol>,
    /// Messages seen before that.
    unproven: u32,
    /// The calls without an answer.
    waiting: WaitingCalls,
    is_queued: bool,
    /// An answer without a call, whose call may stand behind it in the capture; with who sent it.
    early: Option<Box<(Side, RpcMessage)>>,
    /// A call that is over before the connection is proven.
    held: Option<Box<Call>>,
}

impl Rpc {
    /// Nothing seen yet.
    pub fn new(options: RpcOptions) -> Self {
        let used = Used {
            ledger: Ledger::new(options.messages_total_max),
            waiting: 0,
            waiting_bytes: 0,
            waiting_structs: 0,
            messages: 0,
            queue: EvictionQueue::default(),
            joining: Vec::new(),
            told: Vec::new(),
        };
        Rpc { tcp: Reassembler::new(options.tcp), options, used }
    }

    /// Takes a packet with its captured bytes, and tells `each` the calls that are over by it.
    pub fn add(&mut self, packet: &Packet, captured: &[u8], each: &mut impl FnMut(Call)) {
        let Rpc { tcp, options, used } = self;
        tcp.add(packet, captured, &mut |connection, conversation, event| {
            Hearing { connection, options, used, each }.hear(conversation, event);
        });
        for (id, since) in used.joining.drain(..) {
            used.queue.push(id, since, |id| waits_since(tcp, id));
        }
        while self.is_short() && self.give_up_oldest(each) {}
    }

    /// Returns true if too many calls wait, or their structs leave too little room for others.
    fn is_short(&self) -> bool {
        let (used, options) = (&self.used, &self.options);
        used.waiting > options.waiting_total_max
            || used.waiting_structs > options.messages_total_max / 2
    }

    /// Ends the wait of the call that has waited longest, if there is one.
    fn give_up_oldest(&mut self, each: &mut impl FnMut(Call)) -> bool {
        let Rpc { tcp, options, used } = self;
        let oldest = used.queue.oldest(|id| waits_since(tcp, id));
        let given_up = oldest.and_then(|id| {
            tcp.visit(id, |connection, conversation| {
                Hearing { connection, options, used, each }.give_up_first(conversation);
            })
        });
        given_up.is_some()
    }

    /// Ends all connections, and tells the calls that wait. Answers where the bytes of all went.
    pub fn finish(self, each: &mut impl FnMut(Call)) -> ByteCounts {
        let Rpc { tcp, options, mut used } = self;
        tcp.finish(&mut |connection, conversation, event| {
            Hearing { connection, options: &options, used: &mut used, each }
                .hear(conversation, event);
        });
        debug_assert_eq!(used.waiting_bytes + used.ledger.memory_bytes(), 0, "all is told");
        used.ledger.counts
    }

    /// Returns the counts of the bytes of connections so far.
    pub fn byte_counts(&self) -> ByteCounts {
        self.used.ledger.counts
    }

    /// TCP connections that were seen so far.
    pub fn connections(&self) -> u64 {
        self.tcp.connections()
    }

    /// TCP segments so far that brought nothing new: see [`Reassembler::repeated_segments`].
    pub fn repeated_segments(&self) -> u64 {
        self.tcp.repeated_segments()
    }

    /// TCP segments so far that filled a gap: see [`Reassembler::filling_segments`].
    pub fn filling_segments(&self) -> u64 {
        self.tcp.filling_segments()
    }

    /// Memory for what waits: bytes for others in front of them, structs for their ends and for the answers of their
    /// calls, and these calls.
    pub fn waiting_bytes(&self) -> usize {
        self.tcp.pending_bytes() + self.used.ledger.memory_bytes() + self.used.waiting_bytes
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
        let known = self.known(conversation);
        let mut told = std::mem::take(&mut self.used.told);
        let ledger = &mut self.used.ledger;
        match event {
            Event::Bytes { from, bytes, ts } => {
                conversation.messages(from).bytes(bytes, ts, known, ledger, &mut told);
                self.messages(conversation, from, &mut told);
            }
            Event::Gap { from, len } => {
                conversation.messages(from).gap(len, known, ledger, &mut told);
                self.messages(conversation, from, &mut told);
                conversation.waiting.note_gap(from);
            }
            Event::End => {
                for from in [Side::Initiator, Side::Responder] {
                    let ledger = &mut self.used.ledger;
                    conversation.messages(from).end(known, ledger, &mut told);
                    self.messages(conversation, from, &mut told);
                }
                self.end(conversation);
            }
        }
        self.used.told = told;
    }

    fn known(&self, conversation: &Conversation) -> KnownProtocol {
        let keep_max = if self.options.keeps_messages { self.options.message_max } else { 0 };
        KnownProtocol { protocol: conversation.proven, keep_max }
    }

    fn messages(
        &mut self,
        conversation: &mut Conversation,
        from: Side,
        told: &mut Vec<RpcMessage>,
    ) {
        for message in told.drain(..) {
            self.message(conversation, from, message);
        }
    }

    fn message(&mut self, conversation: &mut Conversation, from: Side, message: RpcMessage) {
        self.used.messages += 1;
        self.prove(conversation, &message);
        match message.kind {
            MessageKind::CALL => {
                if let Some(answer) = self.answer_before(conversation, from, &message) {
                    let call = self.call(from, Some(message), Some(answer));
                    return self.tell(conversation, call);
                }
                self.wait(conversation, from, message);
            }
            MessageKind::ONEWAY => {
                self.answer_before(conversation, from, &message);
                let call = self.call(from, Some(message), None);
                self.tell(conversation, call);
            }
            _ => match self.asked(conversation, from.other(), &message) {
                Some(asked) => {
                    let call = self.call(from.other(), Some(asked), Some(message));
                    self.tell(conversation, call);
                }
                None => {
                    self.tell_early(conversation);
                    conversation.early = Some(Box::new((from, message)));
                }
            },
        }
    }

    /// The answer that stands before its call in the capture, as recorders may write the packets of two processors in
    /// another order. By its time it belongs to no later call, so that one ends the wait for its call.
    fn answer_before(
        &mut self,
        conversation: &mut Conversation,
        caller: Side,
        asked: &RpcMessage,
    ) -> Option<RpcMessage> {
        let (from, answer) = conversation.early.as_deref()?;
        if *from == caller {
            return None;
        }
        let is_later = asked.first_ts.zip(answer.first_ts).is_none_or(|(asked, at)| asked > at);
        if is_later {
            self.tell_early(conversation);
            return None;
        }
        if asked.kind != MessageKind::CALL || !asked.is_like(answer) {
            return None;
        }
        conversation.early.take().map(|early| early.1)
    }

    /// Tells an answer whose call is not in the capture.
    fn tell_early(&mut self, conversation: &mut Conversation) {
        if let Some(early) = conversation.early.take() {
            let (from, answer) = *early;
            let call = self.call(from.other(), None, Some(answer));
            self.tell(conversation, call);
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
        answer: &RpcMessage,
    ) -> Option<RpcMessage> {
        loop {
            let (first, is_only) = conversation.waiting.position(from, answer)?;
            let is_answered = is_only || !conversation.waiting.may_be_answered(first);
            let asked = self.taken(conversation, |waiting| waiting.remove(first))?.message;
            if is_answered {
                return Some(asked);
            }
            let call = self.call(from, Some(asked), None);
            self.tell(conversation, call);
        }
    }

    /// Takes a message as a sign that the connection is Thrift. A frame of the right length, or the fixed bits
    /// of Binary, are a proof; Compact alone has few of them, and takes two messages.
    fn prove(&mut self, conversation: &mut Conversation, message: &RpcMessage) {
        if conversation.proven.is_some() || !message.is_checked {
            return;
        }
        conversation.unproven += 1;
        let protocol = message.protocol;
        let is_framed = protocol.framing != Framing::Unframed;
        let is_proof = is_framed || protocol.form != MessageForm::Packed(Encoding::Compact);
        if is_proof || conversation.unproven >= MESSAGES_FOR_PROOF {
            conversation.proven = Some(protocol);
            if let Some(call) = conversation.held.take() {
                self.give(*call);
            }
        }
    }

    fn wait(&mut self, conversation: &mut Conversation, from: Side, message: RpcMessage) {
        if conversation.waiting.len() >= WAITING_MAX {
            self.give_up_first(conversation);
        }
        let since = self.used.messages;
        let before = conversation.waiting.memory_bytes();
        self.used.waiting_structs += message.body.as_ref().map_or(0, Vec::capacity);
        conversation.waiting.push(Waiting { from, message, since, may_be_answered: false });
        self.used.waiting += 1;
        self.used.waiting_bytes += conversation.waiting.memory_bytes() - before;
        if !conversation.is_queued {
            conversation.is_queued = true;
            self.used.joining.push((self.connection.id(), since));
        }
    }

    /// Takes a call from those that wait.
    fn taken(
        &mut self,
        conversation: &mut Conversation,
        take: impl FnOnce(&mut WaitingCalls) -> Option<Waiting>,
    ) -> Option<Waiting> {
        let before = conversation.waiting.memory_bytes();
        let waiting = take(&mut conversation.waiting)?;
        let less = before - conversation.waiting.memory_bytes();
        let structs = waiting.message.body.as_ref().map_or(0, Vec::capacity);
        self.used.waiting_structs = self.used.waiting_structs.saturating_sub(structs);
        self.used.waiting = self.used.waiting.saturating_sub(1);
        self.used.waiting_bytes = self.used.waiting_bytes.saturating_sub(less);
        Some(waiting)
    }

    /// Tells the call that has waited for the longest time as one without an answer.
    fn give_up_first(&mut self, conversation: &mut Conversation) {
        if let Some(waiting) = self.taken(conversation, WaitingCalls::pop) {
            let call = self.call(waiting.from, Some(waiting.message), None);
            self.tell(conversation, call);
        }
    }

    /// Tells a call, or keeps it until it is sure that it is one.
    fn tell(&mut self, conversation: &mut Conversation, call: Call) {
        if conversation.proven.is_some() {
            return self.give(call);
        }
        if let Some(other) = conversation.held.replace(Box::new(call)) {
            self.hand_over(&other);
        }
    }

    /// Hands a call over, whose structs are not ours any more.
    fn give(&mut self, call: Call) {
        self.hand_over(&call);
        (self.each)(call);
    }

    fn hand_over(&mut self, call: &Call) {
        for kept in [&call.arguments, &call.result] {
            self.used.ledger.hand_over(kept.as_ref());
        }
    }

    fn end(&mut self, conversation: &mut Conversation) {
        self.tell_early(conversation);
        while conversation.waiting.len() > 0 {
            self.give_up_first(conversation);
        }
        let room = std::mem::take(&mut conversation.waiting).memory_bytes();
        self.used.waiting_bytes = self.used.waiting_bytes.saturating_sub(room);
        if let Some(call) = conversation.held.take() {
            self.hand_over(&call);
        }
    }

    /// A call by what was asked and what was answered, one of which is there.
    fn call(&self, caller: Side, asked: Option<RpcMessage>, answer: Option<RpcMessage>) -> Call {
        let outcome = match (&asked, &answer) {
            (_, Some(answer)) if answer.kind == MessageKind::EXCEPTION => Outcome::Failure,
            (_, Some(answer)) => match answer.first_field {
                Some(0) => Outcome::Returned,
                Some(_) => Outcome::Exception,
                None => Outcome::Cut,
            },
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
            let form = Encoding::Binary.into();
            (Box::default(), 0, Protocol { form, framing: Framing::Unframed })
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

/// Since which message a call waits in a queued connection; the connection leaves the queue if no call waits.
fn waits_since(tcp: &mut Reassembler<Conversation>, id: ConnectionId) -> Option<u64> {
    let waits = |conversation: &mut Conversation| {
        let since = conversation.waiting.since();
        conversation.is_queued = since.is_some();
        since
    };
    tcp.visit(id, |_, conversation| waits(conversation)).flatten()
}

impl Conversation {
    fn messages(&mut self, side: Side) -> &mut DirectionMessages {
        match side {
            Side::Initiator => &mut self.initiator,
            Side::Responder => &mut self.responder,
        }
    }
}
