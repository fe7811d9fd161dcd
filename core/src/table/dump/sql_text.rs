//! The statements that `.dump` of `sqlite3` writes of a table of two columns.

use super::decoder::{EntryInText, EntryPart, TextPlace};
use super::sql_token::{SqlToken, SqlTokens};
use crate::error::{Result, excerpt_of_bytes};

/// Place in the statements.
#[derive(Debug, Default)]
pub(super) struct SqlText {
    tokens: SqlTokens,
    statements: SqlStatements,
}

impl SqlText {
    pub(super) fn push(
        &mut self,
        byte: u8,
        entry: &mut EntryInText,
        place: TextPlace,
    ) -> Result<()> {
        let SqlText { tokens, statements } = self;
        tokens.push(byte, place, &mut |token, word| statements.take(token, word, entry, place))
    }

    /// Returns what is missing where the text ends here; None where it may.
    pub(super) fn expected_at_end(&self) -> Option<&'static str> {
        let may_end = self.statements.state == SqlState::Ended && self.tokens.may_end();
        (!may_end).then_some("COMMIT;")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum SqlState {
    /// Before a statement.
    #[default]
    Statement,
    /// In one that says nothing about entries.
    Skipped,
    /// Behind CREATE.
    Table,
    /// Before the name of the table.
    TableName,
    /// Behind INSERT.
    Into,
    /// Before the name of the table that entries go into.
    IntoName,
    Values,
    /// Before the parenthesis of an entry.
    Open,
    /// Before a key or a value.
    Part(EntryPart),
    /// In one.
    Literal(EntryPart),
    /// Behind one.
    Behind(EntryPart),
    /// Behind the parenthesis of an entry.
    EntryEnd,
    /// Behind COMMIT.
    Committed,
    Ended,
}

/// Place in the grammar of the statements.
#[derive(Debug, Default)]
struct SqlStatements {
    state: SqlState,
    table: Option<Vec<u8>>,
}

impl SqlStatements {
    fn take(
        &mut self,
        token: SqlToken,
        word: &[u8],
        entry: &mut EntryInText,
        place: TextPlace,
    ) -> Result<()> {
        use EntryPart::{Key, Value};
        self.state = match (self.state, token) {
            (SqlState::Literal(part), SqlToken::Byte(byte)) => {
                return entry.add(part, byte, place);
            }
            (SqlState::Literal(part), SqlToken::LiteralEnd) => SqlState::Behind(part),
            (SqlState::Part(part), SqlToken::Literal) => SqlState::Literal(part),
            (SqlState::Behind(Key), SqlToken::Symbol(b',')) => SqlState::Part(Value),
            (SqlState::Behind(Value), SqlToken::Symbol(b')')) => {
                entry.end();
                SqlState::EntryEnd
            }
            (SqlState::Open, SqlToken::Symbol(b'(')) => SqlState::Part(Key),
            (SqlState::EntryEnd, SqlToken::Symbol(b',')) => SqlState::Open,
            (SqlState::EntryEnd | SqlState::Skipped, SqlToken::Symbol(b';')) => SqlState::Statement,
            (SqlState::Committed, SqlToken::Symbol(b';')) => SqlState::Ended,
            (SqlState::Skipped, _) => SqlState::Skipped,
            (_, SqlToken::Word { is_quoted }) => match self.after_word(word, is_quoted) {
                Some(state) => state,
                None => {
                    let found = excerpt_of_bytes(word);
                    return Err(place.wrong(&self.expected(), &found));
                }
            },
            (_, SqlToken::Literal) => return Err(place.wrong(&self.expected(), "a literal")),
            (_, SqlToken::Symbol(byte)) => {
                return Err(place.wrong_byte(&self.expected(), byte));
            }
            (state, SqlToken::Byte(_) | SqlToken::LiteralEnd) => state,
        };
        Ok(())
    }

    /// Returns the state behind a word; None where it cannot be here.
    fn after_word(&mut self, word: &[u8], is_quoted: bool) -> Option<SqlState> {
        let is = |keyword: &str| !is_quoted && word.eq_ignore_ascii_case(keyword.as_bytes());
        match self.state {
            SqlState::Statement if is("PRAGMA") || is("BEGIN") => Some(SqlState::Skipped),
            SqlState::Statement if is("CREATE") && self.table.is_none() => Some(SqlState::Table),
            SqlState::Statement if is("INSERT") => Some(SqlState::Into),
            SqlState::Statement if is("COMMIT") => Some(SqlState::Committed),
            SqlState::Table if is("TABLE") => Some(SqlState::TableName),
            SqlState::TableName if is("IF") || is("NOT") || is("EXISTS") => {
                Some(SqlState::TableName)
            }
            SqlState::TableName => {
                self.table = Some(word.to_ascii_lowercase());
                Some(SqlState::Skipped)
            }
            SqlState::Into if is("INTO") => Some(SqlState::IntoName),
            SqlState::IntoName if self.table.as_ref() == Some(&word.to_ascii_lowercase()) => {
                Some(SqlState::Values)
            }
            SqlState::Values if is("VALUES") => Some(SqlState::Open),
            SqlState::Committed if is("TRANSACTION") => Some(SqlState::Committed),
            _ => None,
        }
    }

    #[cold]
    fn expected(&self) -> String {
        let expected = match self.state {
            SqlState::Statement if self.table.is_none() => "CREATE TABLE, BEGIN or PRAGMA",
            SqlState::Statement => "INSERT or COMMIT for one table alone",
            SqlState::Table => "TABLE",
            SqlState::TableName => "the name of a table",
            SqlState::Into => "INTO",
            SqlState::IntoName => match &self.table {
                Some(table) => return format!("the table {:?}", excerpt_of_bytes(table)),
                None => "CREATE TABLE before INSERT",
            },
            SqlState::Values => "VALUES",
            SqlState::Open => "(",
            SqlState::Part(EntryPart::Key) => "a key as X'..' or '..'",
            SqlState::Part(EntryPart::Value) => "a value as X'..' or '..'",
            SqlState::Behind(EntryPart::Key) => ", and a value",
            SqlState::Behind(EntryPart::Value) => ") behind a key and a value",
            SqlState::EntryEnd | SqlState::Committed => ";",
            SqlState::Ended => "the end behind COMMIT;",
            SqlState::Skipped | SqlState::Literal(_) => "a statement",
        };
        expected.to_owned()
    }
}
