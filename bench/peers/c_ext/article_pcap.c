/*
 * Peer: the extension that one writes to be rid of `unpack`. It reads through libpcap, decodes the
 * headers in C, and gives Ruby one Array of 8 per packet, the addresses as text:
 *
 *   ArticlePcap.each_row(path) { |time_ns, source, destination, source_port, destination_port,
 *                                 protocol, length, tcp_flags| ... }
 *
 * A value is nil where the packet has no such field. Ethernet only.
 */
#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <ruby.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    ETHERNET_BYTES = 14,
    VLAN_BYTES = 4,
    IPV4_BYTES_MIN = 20,
    IPV6_BYTES = 40,
    TCP_BYTES_MIN = 20,
    UDP_BYTES = 8,
    ETHERTYPE_V4 = 0x0800,
    ETHERTYPE_V6 = 0x86dd,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    TCP_FLAGS_OFFSET = 13,
};

typedef struct {
    const uint8_t *at;
    size_t bytes_left;
} Cursor;

typedef struct {
    VALUE source, destination, source_port, destination_port, protocol, tcp_flags;
} Fields;

static uint16_t read_u16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static void skip(Cursor *cursor, size_t count) {
    cursor->at += count;
    cursor->bytes_left -= count;
}

static bool is_vlan(uint16_t ethertype) {
    return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100;
}

/* The ethertype behind all tags, or 0 where the frame ends before it. */
static uint16_t skip_ethernet(Cursor *cursor) {
    if (cursor->bytes_left < ETHERNET_BYTES) return 0;
    uint16_t ethertype = read_u16(cursor->at + 12);
    skip(cursor, ETHERNET_BYTES);
    while (is_vlan(ethertype)) {
        if (cursor->bytes_left < VLAN_BYTES) return 0;
        ethertype = read_u16(cursor->at + 2);
        skip(cursor, VLAN_BYTES);
    }
    return ethertype;
}

static VALUE address_text(int family, const uint8_t *address) {
    char text[INET6_ADDRSTRLEN];
    inet_ntop(family, address, text, sizeof text);
    return rb_str_new_cstr(text);
}

static void decode_transport(Cursor *cursor, uint8_t protocol, Fields *fields) {
    bool is_tcp = protocol == PROTOCOL_TCP && cursor->bytes_left >= TCP_BYTES_MIN;
    bool is_udp = protocol == PROTOCOL_UDP && cursor->bytes_left >= UDP_BYTES;
    if (!is_tcp && !is_udp) return;
    fields->source_port = INT2FIX(read_u16(cursor->at));
    fields->destination_port = INT2FIX(read_u16(cursor->at + 2));
    if (is_tcp) fields->tcp_flags = INT2FIX(cursor->at[TCP_FLAGS_OFFSET]);
}

static void decode_ipv4(Cursor *cursor, Fields *fields) {
    if (cursor->bytes_left < IPV4_BYTES_MIN) return;
    size_t header_bytes = (size_t)(cursor->at[0] & 0x0f) * 4;
    if (header_bytes < IPV4_BYTES_MIN || header_bytes > cursor->bytes_left) return;
    uint8_t protocol = cursor->at[9];
    bool first_fragment = (read_u16(cursor->at + 6) & 0x1fff) == 0;
    fields->protocol = INT2FIX(protocol);
    fields->source = address_text(AF_INET, cursor->at + 12);
    fields->destination = address_text(AF_INET, cursor->at + 16);
    skip(cursor, header_bytes);
    if (first_fragment) decode_transport(cursor, protocol, fields);
}

static void decode_ipv6(Cursor *cursor, Fields *fields) {
    if (cursor->bytes_left < IPV6_BYTES) return;
    uint8_t protocol = cursor->at[6];
    fields->protocol = INT2FIX(protocol);
    fields->source = address_text(AF_INET6, cursor->at + 8);
    fields->destination = address_text(AF_INET6, cursor->at + 24);
    skip(cursor, IPV6_BYTES);
    decode_transport(cursor, protocol, fields);
}

static VALUE row(const struct pcap_pkthdr *header, const uint8_t *frame) {
    Fields fields = {Qnil, Qnil, Qnil, Qnil, Qnil, Qnil};
    Cursor cursor = {frame, header->caplen};
    switch (skip_ethernet(&cursor)) {
    case ETHERTYPE_V4: decode_ipv4(&cursor, &fields); break;
    case ETHERTYPE_V6: decode_ipv6(&cursor, &fields); break;
    }
    /* With nanosecond precision libpcap keeps nanoseconds in tv_usec. */
    int64_t time_ns = (int64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
    return rb_ary_new_from_args(8, LL2NUM(time_ns), fields.source, fields.destination,
                                fields.source_port, fields.destination_port, fields.protocol,
                                UINT2NUM(header->len), fields.tcp_flags);
}

static VALUE yield_rows(VALUE argument) {
    pcap_t *capture = (pcap_t *)argument;
    struct pcap_pkthdr *header;
    const u_char *frame;
    int result;
    while ((result = pcap_next_ex(capture, &header, &frame)) == 1) rb_yield(row(header, frame));
    if (result == PCAP_ERROR) rb_raise(rb_eRuntimeError, "%s", pcap_geterr(capture));
    return Qnil;
}

static VALUE close_capture(VALUE argument) {
    pcap_close((pcap_t *)argument);
    return Qnil;
}

static VALUE each_row(VALUE self, VALUE path) {
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *capture = pcap_open_offline_with_tstamp_precision(
        StringValueCStr(path), PCAP_TSTAMP_PRECISION_NANO, message);
    if (!capture) rb_raise(rb_eRuntimeError, "%s", message);
    rb_ensure(yield_rows, (VALUE)capture, close_capture, (VALUE)capture);
    return self;
}

void Init_article_pcap(void) {
    VALUE module = rb_define_module("ArticlePcap");
    rb_define_singleton_method(module, "each_row", each_row, 1);
}
