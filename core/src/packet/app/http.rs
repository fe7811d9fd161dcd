//! Requests and status lines of HTTP/1 (RFC 9112), and two headers of requests, as far as the packet has them.

use crate::batch::Value;
use crate::packet::Field;

/// The longest method of the registry (IANA, "HTTP Method Registry"), which is UPDATEREDIRECTREF.
const METHOD_MAX: usize = 17;

// Bound (Captures): path and user agent of an HTTP request = 255 bytes each; longer ones are cut.
/// Those that are cut end in [`CUT`].
const TEXT_LEN_MAX: usize = 255;

/// The end of a text that was cut.
const CUT: &str = "…";

/// Headers that are read, with the colon behind their names.
const HOST: &[u8] = b"host:";
const USER_AGENT: &[u8] = b"user-agent:";

/// Parts of a message that are read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::packet) enum HttpMessage {
    Request(HttpRequest),
    /// The status code of a response (RFC 9110, section 15).
    Response(u16),
}

/// Parts of a request that are read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::packet) struct HttpRequest {
    method: String,
    /// The request target (RFC 9112, section 3.2), bounded; none where the line has none.
    path: Option<String>,
    host: Option<String>,
    /// Bounded as the path is.
    user_agent: Option<String>,
}

impl HttpMessage {
    /// Reads the message that `payload` begins with; none where its first line is not whole.
    pub(super) fn read(payload: &[u8]) -> Option<HttpMessage> {
        match payload.strip_prefix(b"HTTP/1.") {
            Some(status_line) => status(status_line).map(HttpMessage::Response),
            None => HttpRequest::read(payload).map(HttpMessage::Request),
        }
    }

    /// The value of a field of HTTP; null for others.
    pub(super) fn value(&self, field: Field) -> Value<'_> {
        match (self, field) {
            (HttpMessage::Request(request), field) => request.value(field),
            (HttpMessage::Response(status), Field::HttpStatus) => (*status).into(),
            _ => Value::Null,
        }
    }

    /// Returns true if it is a request that says for which host it is.
    pub(super) fn has_host(&self) -> bool {
        matches!(self, HttpMessage::Request(request) if request.host.is_some())
    }
}

impl HttpRequest {
    fn read(payload: &[u8]) -> Option<HttpRequest> {
        let payload = behind_empty_lines(payload);
        let method_len = payload.iter().take(METHOD_MAX + 1).position(|byte| *byte == b' ')?;
        let (method, _) = payload.split_at_checked(method_len)?;
        let is_name = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_');
        if method.is_empty() || !method.iter().all(is_name) {
            return None;
        }
        let mut lines = payload.split_inclusive(|byte| *byte == b'\n');
        let request = line(lines.next()?)?;
        let version = request.rsplit(|byte| *byte == b' ').next()?;
        if !version.starts_with(b"HTTP/1.") {
            return None;
        }
        let target =
            request.get(method.len()..request.len() - version.len()).map(<[u8]>::trim_ascii);
        // The last line may go on in the next packet, and is no line yet.
        let [host, user_agent] = headers(lines.map_while(line), [HOST, USER_AGENT]);
        Some(HttpRequest {
            method: String::from_utf8_lossy(method).into_owned(),
            path: target.filter(|target| !target.is_empty()).map(bounded),
            host: host.map(|host| String::from_utf8_lossy(&host).into_owned()),
            user_agent: user_agent.map(|agent| bounded(&agent)),
        })
    }

    fn value(&self, field: Field) -> Value<'_> {
        let text = match field {
            Field::HttpMethod => Some(self.method.as_str()),
            Field::HttpPath => self.path.as_deref(),
            Field::HttpHost => self.host.as_deref(),
            Field::HttpUserAgent => self.user_agent.as_deref(),
            _ => None,
        };
        text.map_or(Value::Null, Value::Text)
    }
}

/// The code of a status line, of which `HTTP/1.` is taken off (RFC 9112, section 4). Some servers leave out the space behind it.
fn status(line: &[u8]) -> Option<u16> {
    let [b'0'..=b'9', b' ', code @ ..] = line else { return None };
    let (code, [b' ' | b'\r' | b'\n', ..]) = code.split_first_chunk::<3>()? else { return None };
    let is_number = code.iter().all(u8::is_ascii_digit);
    is_number.then(|| code.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
}

/// The values of the first header of each name, from lines up to the empty one.
fn headers<'a, const N: usize>(
    lines: impl Iterator<Item = &'a [u8]>,
    names: [&[u8]; N],
) -> [Option<Vec<u8>>; N] {
    let mut values = [const { None::<Vec<u8>> }; N];
    // The place of the value that the next line may continue.
    let mut open = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        if let [b' ' | b'\t', ..] = line {
            if let Some(Some(value)) = open.and_then(|place: usize| values.get_mut(place)) {
                unfold(value, line.trim_ascii());
            }
            continue;
        }
        open = None;
        for (place, (name, value)) in names.into_iter().zip(&mut values).enumerate() {
            if value.is_none()
                && let Some(found) = value_of(line, name)
            {
                *value = Some(found.to_vec());
                open = Some(place);
            }
        }
    }
    values
}

/// The value of a header, if it is called so.
fn value_of<'a>(header: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (found, value) = header.split_at_checked(name.len())?;
    found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

/// A server ignores empty lines before a request (RFC 9112, section 2.2): some clients end a body with one too many.
fn behind_empty_lines(mut payload: &[u8]) -> &[u8] {
    while let [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] = payload {
        payload = rest;
    }
    payload
}

/// Adds a line that continues a value; both are parted by a space (RFC 9112, section 5.2).
fn unfold(value: &mut Vec<u8>, more: &[u8]) {
    if !value.is_empty() && !more.is_empty() {
        value.push(b' ');
    }
    value.extend_from_slice(more);
}

/// A line without its end; none where it has no end.
fn line(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.strip_suffix(b"\n")?;
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The text of bytes, in at most [`TEXT_LEN_MAX`] bytes.
fn bounded(bytes: &[u8]) -> String {
    // One byte more is enough to see that there are too many.
    let head = bytes.get(..=TEXT_LEN_MAX).unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(head).into_owned();
    if text.len() > TEXT_LEN_MAX {
        let room = TEXT_LEN_MAX - CUT.len();
        let end = (0..=room).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push_str(CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(payload: &[u8], field: Field) -> Option<String> {
        let message = HttpMessage::read(payload)?;
        message.value(field).text().map(str::to_owned)
    }

    fn host(payload: &[u8]) -> Option<String> {
        value(payload, Field::HttpHost)
    }

    fn status(payload: &[u8]) -> Option<String> {
        let message = HttpMessage::read(payload)?;
        let value = message.value(Field::HttpStatus);
        (!value.is_null()).then(|| value.to_string())
    }

    #[test]
    fn a_request_has_a_method_a_path_a_host_and_a_user_agent() {
        let request = b"POST /a?b=c HTTP/1.1\r\nUser-Agent: curl/8\r\n (x)\r\nHost: example.org\r\nHost: no\r\n no\r\n\r\n";
        for (field, expected) in [
            (Field::HttpMethod, Some("POST")),
            (Field::HttpPath, Some("/a?b=c")),
            (Field::HttpHost, Some("example.org")),
            (Field::HttpUserAgent, Some("curl/8 (x)")),
            (Field::HttpStatus, None),
        ] {
            assert_eq!(value(request, field).as_deref(), expected, "{field:?}");
        }
    }

    #[test]
    fn a_path_is_what_stands_between_method_and_version() {
        for (request, expected) in [
            ("GET / HTTP/1.1\r\n", Some("/")),
            ("OPTIONS * HTTP/1.0\n", Some("*")),
            ("CCM_POST /a HTTP/1.1\r\n", Some("/a")),
            ("CONNECT example.org:443 HTTP/1.1\r\n", Some("example.org:443")),
            ("GET http://example.org/ HTTP/1.1\r\n", Some("http://example.org/")),
            ("GET /a b  HTTP/1.1\r\n", Some("/a b")),
            ("GET HTTP/1.1\r\n", None),
            ("GET  HTTP/1.1\r\n", None),
            ("GET /a HTTP/1.1", None),
            ("GET /a RTSP/1.0\r\n", None),
        ] {
            assert_eq!(
                value(request.as_bytes(), Field::HttpPath).as_deref(),
                expected,
                "{request:?}"
            );
        }
    }

    #[test]
    fn a_status_is_three_digits_of_a_status_line() {
        for (response, expected) in [
            ("HTTP/1.1 200 OK\r\n", Some("200")),
            ("HTTP/1.0 404 Not Fou", Some("404")),
            ("HTTP/1.1 204\r\n", Some("204")),
            ("HTTP/1.1 204\n", Some("204")),
            ("HTTP/1.1 204", None),
            ("HTTP/1.1 2044 OK\r\n", None),
            ("HTTP/1.1 20x OK\r\n", None),
            ("HTTP/1.1  200 OK\r\n", None),
            ("HTTP/2 200 OK\r\n", None),
            ("HTTP/1.x 200 OK\r\n", None),
            ("ICY 200 OK\r\n", None),
            ("\r\nHTTP/1.1 200 OK\r\n", None),
        ] {
            assert_eq!(status(response.as_bytes()).as_deref(), expected, "{response:?}");
        }
        assert_eq!(host(b"HTTP/1.1 200 OK\r\nHost: example.org\r\n\r\n"), None);
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let at_most = format!("/{}", "a".repeat(254));
        let whole = format!("GET {at_most} HTTP/1.1\r\nUser-Agent: {at_most}\r\n\r\n");
        for field in [Field::HttpPath, Field::HttpUserAgent] {
            assert_eq!(value(whole.as_bytes(), field).as_deref(), Some(at_most.as_str()));
        }
        for (long, cut) in [
            (format!("{at_most}b"), format!("/{}…", "a".repeat(251))),
            // A letter is cut as a whole.
            (format!("/{}", "ä".repeat(200)), format!("/{}…", "ä".repeat(125))),
        ] {
            let request = format!("GET {long} HTTP/1.1\r\nUser-Agent: {long}\r\n\r\n");
            for field in [Field::HttpPath, Field::HttpUserAgent] {
                assert_eq!(value(request.as_bytes(), field).as_deref(), Some(cut.as_str()));
            }
        }
        let invalid = [b"GET ", &[0xff; 4000][..], b" HTTP/1.1\r\n"].concat();
        let path = value(&invalid, Field::HttpPath).unwrap_or_default();
        assert_eq!(path, format!("{}…", "\u{fffd}".repeat(84)));
    }

    #[test]
    fn the_host_is_found_whatever_the_case_of_its_name() {
        for (request, expected) in [
            ("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", Some("example.org")),
            (
                "POST /a b HTTP/1.0\nAccept: */*\nhOsT:example.org:8080 \n\nHost: no",
                Some("example.org:8080"),
            ),
            ("GET / HTTP/1.1\r\nAccept: */*\r\n\r\nHost: example.org\r\n", None),
            ("GET / HTTP/1.1\r\nHost: exam", None),
            ("GET / HTTP/2\r\nHost: example.org\r\n\r\n", None),
            ("VERSION-CONTROL / HTTP/1.1\r\nHost: example.org\r\n\r\n", Some("example.org")),
            ("Get / HTTP/1.1\r\nHost: example.org\r\n\r\n", None),
            (" / HTTP/1.1\r\nHost: example.org\r\n\r\n", None),
            ("AMETHODTHATISTOOLONG / HTTP/1.1\r\nHost: example.org\r\n\r\n", None),
            ("GET / HTTP/1.1", None),
            ("", None),
        ] {
            assert_eq!(host(request.as_bytes()).as_deref(), expected, "{request:?}");
        }
    }

    #[test]
    fn empty_lines_before_a_request_are_ignored() {
        for before in ["\r\n", "\n", "\r\n\r\n"] {
            let request = format!("{before}GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
            assert_eq!(host(request.as_bytes()).as_deref(), Some("example.org"), "{request:?}");
        }
        for before in ["\r", "\r\r\n", " \r\n"] {
            let request = format!("{before}GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
            assert_eq!(host(request.as_bytes()), None, "{request:?}");
        }
    }

    #[test]
    fn a_value_goes_on_in_lines_that_begin_with_a_space() {
        for (headers, expected) in [
            ("Host:\r\n example.org\r\n", Some("example.org")),
            ("Host:\r\n\t\r\n  example.org \r\n", Some("example.org")),
            ("Host: example.org\r\n :80\r\nA: b\r\n c\r\n", Some("example.org :80")),
            ("A: b\r\n Host: no\r\nHost: example.org\r\n", Some("example.org")),
            ("A: b\r\n Host: no\r\n", None),
        ] {
            let request = format!("GET / HTTP/1.1\r\n{headers}\r\n");
            assert_eq!(host(request.as_bytes()).as_deref(), expected, "{request:?}");
        }
    }
}
