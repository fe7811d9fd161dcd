//! The Host header of an HTTP/1 request (RFC 9112), as far as the packet has it.

/// The longest method of the registry (IANA, "HTTP Method Registry"), which is UPDATEREDIRECTREF.
const METHOD_MAX: usize = 17;

/// The host that the request that `payload` begins with is for.
pub(super) fn host(payload: &[u8]) -> Option<String> {
    let payload = behind_empty_lines(payload);
    let method_len = payload.iter().take(METHOD_MAX + 1).position(|byte| *byte == b' ')?;
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'-';
    if method_len == 0 || !payload.iter().take(method_len).all(is_name) {
        return None;
    }
    let mut lines = payload.split_inclusive(|byte| *byte == b'\n');
    let request = line(lines.next()?)?;
    let version = request.rsplit(|byte| *byte == b' ').next()?;
    if !version.starts_with(b"HTTP/1.") {
        return None;
    }
    // The last line may go on in the next packet, and is no line yet.
    let mut headers = lines.map_while(line).take_while(|header| !header.is_empty());
    let mut value = headers.by_ref().find_map(host_of)?.to_vec();
    for more in headers.take_while(|header| matches!(header, [b' ' | b'\t', ..])) {
        unfold(&mut value, more.trim_ascii());
    }
    Some(String::from_utf8_lossy(&value).into_owned())
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

/// The value of a header that is called Host.
fn host_of(header: &[u8]) -> Option<&[u8]> {
    let (name, value) = header.split_at_checked(b"host:".len())?;
    name.eq_ignore_ascii_case(b"host:").then(|| value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

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
