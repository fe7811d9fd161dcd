//! A question to the captures of a run: answers are listed as they come, and errors are told between them.

use std::io;

use bytewright::Error;
use bytewright::ask::{Answer, Answers, Question, Run};
use bytewright::input::{DamagePolicy, PrefetchedCaptures};

use crate::session::Session;

/// The place where answers become rows.
pub(crate) trait Listing {
    /// Takes a piece of the answer.
    fn take(&mut self, answer: &mut Answer, session: &mut Session) -> io::Result<()>;

    /// Returns true if no more is wanted.
    fn is_full(&self) -> bool {
        false
    }

    /// Shows what was taken so far: at the end of a capture, and at once where it comes as it is captured.
    fn flush(&mut self, session: &mut Session) -> io::Result<()>;
}

impl Session {
    /// Asks all captures as one run. Those that are left once enough was taken are opened and not read.
    pub(crate) fn ask(
        &mut self,
        question: Question,
        captures: PrefetchedCaptures,
        listing: &mut dyn Listing,
    ) -> io::Result<()> {
        let run = Run::new(question);
        let mut taker = Taker { listing, session: self, spare: None, is_live: false };
        for reader in captures {
            let ended = match reader {
                Ok(_) if taker.listing.is_full() => Ok(()),
                Ok(mut reader) => {
                    taker.is_live = reader.facts().is_live;
                    match run.read(&mut reader, DamagePolicy::Keep, &mut taker) {
                        Ok(ended) => ended,
                        Err(End::Enough) => Ok(()),
                        Err(End::Failed(error)) => return Err(error),
                    }
                }
                Err(error) => Err(error),
            };
            taker.listing.flush(taker.session)?;
            if let Err(error) = ended {
                taker.session.report(&error)?;
            }
        }
        taker.session.progress.finish();
        match run.finish(&mut taker) {
            Ok(()) | Err(End::Enough) => taker.listing.flush(taker.session),
            Err(End::Failed(error)) => Err(error),
        }
    }
}

/// The reason to end reading.
enum End {
    Enough,
    Failed(io::Error),
}

struct Taker<'s> {
    listing: &'s mut dyn Listing,
    session: &'s mut Session,
    /// A piece that was listed.
    spare: Option<Answer>,
    /// True for a capture that comes as it is captured.
    is_live: bool,
}

impl Answers for Taker<'_> {
    type Error = End;

    fn take(&mut self, mut answer: Answer) -> Result<(), End> {
        self.listing.take(&mut answer, self.session).map_err(End::Failed)?;
        if self.is_live {
            self.listing.flush(self.session).map_err(End::Failed)?;
        }
        self.spare = Some(answer);
        if self.listing.is_full() { Err(End::Enough) } else { Ok(()) }
    }

    fn note_damage(&mut self, damage: Error) -> Result<(), End> {
        let told = self.listing.flush(self.session).and_then(|()| self.session.report(&damage));
        told.map_err(End::Failed)
    }

    fn note_index(&mut self, fault: Error) -> Result<(), End> {
        self.session.complain(&fault.to_string());
        Ok(())
    }

    fn spare(&mut self) -> Option<Answer> {
        self.spare.take()
    }
}
