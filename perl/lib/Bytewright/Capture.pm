package Bytewright::Capture;

use 5.030;
use warnings;

use Bytewright ();
use Bytewright::Error;
use Bytewright::FlowStore;
use parent qw(Bytewright::Handle Bytewright::Questions);
use Bytewright::Input;
use Bytewright::Named;
use Bytewright::Path;
use overload ();

# Members that `info`, and what tells of a merge, have as text in JSON.
my @NESTED = qw(interfaces link_types damage);

sub open {
    my ($class, $path, %options) = @_;
    my $self = bless {}, $class;
    my @named = Bytewright::Named::texts(%options);
    # Files of File::Temp are handles, and have their paths as texts.
    my $input = overload::Method($path, '""') ? undef : Bytewright::Input::of($path);
    if   ($input) { $self->_open_input($input, @named) }
    else          { $self->_open(Bytewright::Path::of($path), @named) }
    # The core knows which file a path leads to, and not which one a handle has.
    $self->{file} = join(" ", (stat($path))[0, 1]) if $input && ref($path) ne "SCALAR";
    return $self;
}

sub live {
    my ($class, $interface, %options) = @_;
    my $self = bless {}, $class;
    my @live = map { $_ => delete($options{$_}) } grep { exists($options{$_}) } qw(snaplen buffer promiscuous);
    $self->_live($interface, [Bytewright::Named::texts(@live)], [Bytewright::Named::texts(%options)]);
    return $self;
}

sub live_counts {
    my ($self) = @_;
    my %counts;
    @counts{qw(captured dropped dropped_by_interface)} = $self->_live_counts or return;
    return \%counts;
}

sub next {
    my ($self) = @_;
    $self->{rows} //= $self->_own_packets([], []);
    return $self->{rows}->next;
}

sub packets {
    my ($self, @fields) = @_;
    my %options = ref($fields[-1]) eq "HASH" ? %{ pop(@fields) } : ();
    return $self->_packets(\@fields, [Bytewright::Named::texts(%options)]);
}

sub frame {
    my ($self, $number) = @_;
    return undef unless $number =~ /\A[1-9][0-9]{0,18}\z/a;
    return $self->packets({ numbers => $number })->next;
}

sub flows {
    my ($self, %options) = @_;
    my ($fields, $into, $format) = delete(@options{qw(fields into format)});
    my $named = [Bytewright::Named::texts(%options)];
    return $self->_flows($fields // [], $named) if !defined($into) && !defined($format);
    Bytewright::Error::_refuse("expected the file of the flows as into, found only their format") if !defined($into);
    my $what = defined($format) ? "a format has its own" : "a store has its own";
    Bytewright::Error::_refuse("expected no fields with into, found fields: $what") if defined($fields);
    $self->_refuse_own($into);
    return $self->_log_flows(Bytewright::Path::to_write($into), $format, $named) if defined($format);
    my $store = Bytewright::FlowStore::_to_merge($into);
    my $merge = _decoded($self->_merge_flows($store, $named)->next);
    $store->close;
    return $merge;
}

# In the words of the core.
sub _refuse_own {
    my ($self, $into) = @_;
    my @there = stat($into) or return;
    return if -c _ || ($self->{file} // "") ne join(" ", @there[0, 1]);
    Bytewright::Error::_refuse("$into: expected an output beside the inputs, found one of them; write to another name");
}

# Keys that tell of packets that were written, in the order of the extension.
my @WRITTEN = qw(packets bytes late duplicates opaque files damage);

sub write_to {
    my ($self, $path, %options) = @_;
    my $named = [Bytewright::Named::texts(%options)];
    my $to    = Bytewright::Path::to_write($path);
    $self->_refuse_own($to);
    # Files one after another, and a pipe, cannot be begun anew.
    my $is_once = defined($options{rotate}) || -e $to && !-f _;
    my %written;
    @written{@WRITTEN} = $self->_write_to($to, $named, $is_once);
    return \%written;
}

sub calls {
    my ($self, %options) = @_;
    my $fields = delete($options{fields}) // [];
    return $self->_calls($fields, [Bytewright::Named::texts(%options)]);
}

sub count_by {
    my ($self, $field, %options) = @_;
    my ($rows, %packets) = ($self->_count_by($field, [Bytewright::Named::texts(%options)]));
    while (my ($value, $count) = $rows->next_row) { $packets{ $value // "" } = $count }
    return \%packets;
}

sub sum {
    my ($self, %options) = @_;
    my $fields = delete($options{fields}) // [];
    return $self->_sum(ref($fields) ? $fields : [$fields], [Bytewright::Named::texts(%options)]);
}

sub info {
    my ($self) = @_;
    return _decoded($self->_info->next);
}

sub _decoded {
    my ($row) = @_;
    # Not loaded with the module: that takes longer than all else of it together.
    require JSON::PP;
    defined($row->{$_}) and $row->{$_} = JSON::PP->new->decode($row->{$_}) for @NESTED;
    return $row;
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Capture - packets, flows, Thrift calls and counts of a packet capture

=head1 SYNOPSIS

    use Bytewright;

    my $capture = Bytewright::Capture->open("web.pcap.gz", filter => "tcp port 80");
    my $packets = $capture->packets("src_ip", "length");
    while (my ($address, $length) = $packets->next_row) { ... }
    my $count = $capture->count_by("dst_port")->{80};
    my $slow = $capture->calls(where => "latency > 1e6");
    my $piped = Bytewright::Capture->open(\*STDIN)->flows;

=head1 DESCRIPTION

A capture in pcap or pcapng, plain, gzip or zstd. Each question reads a file anew. F<docs/names.md> lists the fields: times are
nanoseconds since 1970-01-01 00:00 UTC, durations microseconds, addresses text; a field that a packet does not have is undef.
Damage dies with a L<Bytewright::Error> after all that is before it, unless C<damage> is C<keep>.

L<Bytewright::Questions> has more methods, which add packets up to a table: C<endpoints> and others.

Under C<-T>, all values are tainted; those of bytes in memory, where these are.

=head1 METHODS

=head2 open

    Bytewright::Capture->open($path, %options)
    Bytewright::Capture->open(\*STDIN, %options)
    Bytewright::Capture->open(\$bytes, %options)

A file, a handle of a file, a pipe or a socket, or bytes in memory. Of a handle the system's is read, from where that is: what Perl has
read ahead of it is not seen. It stays open as long as the capture. An object whose text is a path, such as that of a L<File::Temp>, is
taken for the path.

A handle and bytes can be read once: a second question dies with an error of the kind C<closed>. While a pipe is waited for, handlers
of signals run, and may die. C<count_by>, C<sum>, C<info> and merges go on when the same call is made again.

The options are

=for generated CAPTURE by `make generate`, of the core's tables

=over

=item filter

Only packets that match this libpcap expression, such as "tcp port 443". Needs libpcap. Value: text; default: none.

=item flow

Only packets of this conversation, in both directions: a Community ID, or ends such as "10.0.0.1:5000-10.0.0.2:443".
Value: text; default: none.

=item label

A file that gives networks labels, for the fields src_label and dst_label: lines such as "10.0.0.0/8,office", or a
database in MaxMind's format. The smallest network counts. Value: a path; default: none.

=item inner

Follow tunnels such as GRE, VXLAN, GENEVE and GTP-U, and report the innermost IP header. Value: true or false; default:
false.

=item vxlan_port

A UDP port of VXLAN beside 4789 and 8472. Value: integer from 1; default: none.

=item jobs

Threads that work in parallel. The results are the same. Value: integer from 1; default: one for each core, or as the
guide says.

=item index

Make the index of a capture as it is read to its end, so that later questions about a time, or packets by their numbers,
read only the parts that have them. Value: true or false; default: false.

=item index_dir

The folder of the indexes of captures. Value: a path; default: BYTEWRIGHT_INDEX_DIR, or beside the capture.

=item hash

Hash the file as it is read, so that info tells its SHA-256. No index is used then. Value: true or false; default:
false.

=item damage

"raise" for an error behind the rows before the damage, or "keep" for the rows alone, and a warning. A file that is no
capture is an error in any case. Value: C<raise>, C<keep>; default: raise.

=back

=for generated end

True is 1 or C<true>, false is 0, C<false> or the empty string. Perl is not warned of damage that is kept: C<damage> tells it.

=head2 live

    Bytewright::Capture->live($interface, %options)

The options are those of C<open> and

=for generated LIVE by `make generate`, of the core's tables

=over

=item snaplen

Bytes that are kept of each packet at most. Value: integer from 1; default: 262144.

=item buffer

Bytes of packets that the system holds until they are read; what finds no room is dropped. Value: integer from 1;
default: 16777216.

=item promiscuous

Take packets to other hosts, too. Value: true or false; default: false.

=back

=for generated end

Captures from a network interface, through libpcap, with the right to capture. C<packets>, C<next>, C<flows> and C<calls> give
what comes from then on, and wait for it; handlers of signals run meanwhile. C<count_by>, C<sum> and C<info> read to the end, which an
interface does not have.

=head2 damage

The L<Bytewright::Error> of the damage that the latest question has kept what is before, as C<< damage => "keep" >> asks, or undef.
Rows tell it when they have ended.

=head2 index_fault

The L<Bytewright::Error> for which the index of the capture was not used, or could not be made beside another answer, or undef.

=head2 stop

Ends the rows of packets, flows and calls of an interface, after those that came before: call it from the handler of a signal.

=head2 live_counts

A reference to a hash with the packets that an interface had: C<captured>, C<dropped>, C<dropped_by_interface>. Undef for a file.

=head2 packets

    $capture->packets(@fields)
    $capture->packets(@fields, { where => "dst_port == 80" })

L<Bytewright::Rows> with these fields of each packet, or twelve where none is named. The options are

=for generated PACKETS by `make generate`, of the core's tables

=over

=item rows

Packets in a batch of columns at most. Value: integer from 1; default: 65536.

=item where

Only packets that meet this condition, such as "dst_port == 443 and length > 1e3". Value: text; default: all.

=item numbers

Only packets with these numbers, such as "1000-1999" or "5,17,9000-"; the capture is read up to the last of them. Value:
text; default: all.

=back

=for generated end

=head2 frame

    my $packet = $capture->frame(1000);

The packet with this number, from 1, with twelve fields as a reference to a hash, or undef where there is none. The capture is read up
to there, or only a part of it where it has an index: see C<index> of L<Bytewright::Questions>.

=head2 next

The next packet with twelve fields as a reference to a hash, or undef after the last.

=head2 flows

    $capture->flows(fields => \@fields, idle_timeout => 60, active_timeout => 1800, max_flows => 100_000)

L<Bytewright::Rows> with these fields of each flow, or all. The options are C<fields> and

=for generated FLOWS by `make generate`, of the core's tables

=over

=item idle_timeout

Seconds without a packet after which a flow has ended. Value: a number of seconds; default: none, and 60 with the
command's --interface.

=item active_timeout

Seconds after which a flow has ended, even if it goes on; the rest is another flow. Value: a number of seconds; default:
none.

=item max_flows

Flows that are open at one time; above it the quietest end early. Value: integer from 0; default: 1000000.

=item features

Features of each flow beside its sums and those that fields ask for. Value: C<none>, C<tcp>, C<lengths>, C<names>,
C<bytes>, C<labels>, C<all>; default: none.

=item where

A condition on flows, in the words of the command's --where; others are left out. Value: text; default: all.

=back

=for generated end

    my $merge = $capture->flows(into => "week.bwt");

With C<into>, the flows are merged into that table file, in one transaction, and added to those that it has: L<Bytewright::FlowStore>
reads it. A capture that was counted before, by whatever name, is not counted again. Answers a reference to a hash: C<added>, C<packets>,
C<packets_without_flow>, C<flows>, C<new_flows>, C<counted_as> (the name that it was counted by before), C<content_id>, C<file>, and
C<damage>, up to which the capture was read. While somebody else writes the file, it dies with an error of the kind C<lock>; so it does
of an interface, with C<argument>. Where the handler of a signal dies, nothing is added. The options are those above but C<where> and
C<features>.

    my $count = $capture->flows(into => "conn.log", format => "zeek");

With C<into> and C<format>, the flows are written to that file as another program has them, and their number is returned: C<zeek> (its
conn.log), C<zeek-json>, C<ecs> (the Elastic Common Schema) or C<ipfix>. The file has its name when it is complete. It replaces a
capture, a table or a store only with C<< force => 1 >>, and the capture itself never. Of an interface, it has the flows until C<stop>;
where the handler of a signal dies, or reading fails, those so far are kept. The options are those above and C<force>.

=head2 write_to

    my $written = $capture->write_to("https.pcapng.zst", where => "dst_port == 443", snaplen => 96);

Writes packets to a new capture. The name says the form: .pcap or .pcapng, with .gz or .zst behind it to compress it. The file has
its name when it is whole; where it dies, an older one stays. It never replaces the capture that is read. F<docs/cut.md> says what
is kept. The options are

=for generated CUT by `make generate`, of the core's tables

=over

=item where

Only packets that meet this condition, such as "dst_port == 443 and length > 1e3". Value: text; default: all.

=item from_time

Only packets of this time or later, such as "2026-11-21T10:00Z", or 1795255200 for seconds since 1970. Value: a time;
default: none.

=item to_time

Only packets before this time. Value: a time; default: none.

=item snaplen

Bytes that are kept of each packet at most. Value: integer from 1; default: all.

=item drop_duplicates

Leave out a packet whose bytes one of so many packets before it had. Value: integer from 1; default: none.

=item every_nth

Only the first of so many packets that are left. Value: integer from 1; default: 1.

=item shift

Time that is added to the time of each packet, such as 1h, -90s or 0.5 (seconds). Value: text; default: 0s.

=item anonymize

Change MAC and IP addresses by this key, networks staying networks; random for a key that nobody knows. Value: text;
default: none.

=item payload

With anonymize: bytes behind the last known header are overwritten, cut off, or kept as they are. Value: C<zero>,
C<cut>, C<keep>; default: zero.

=item rotate

Write files one after another, each up to an interval, a length or a number of packets, such as 1h,100MB or 50000p; %Y
%m %d %H %M %S in the name are the time of its first packet (UTC), %n its number. Value: text; default: none.

=item keep

With rotate: keep so many of the files, the newest ones. Value: integer from 1; default: all.

=item stop_after

End after an interval, a length or a number of packets that were written, such as 60s,1GB or 50000p; of an interface,
the interval begins at once. Value: text; default: none.

=item force

Replace a file that is a capture, a table or a store, too. An input never is. Value: true or false; default: false.

=back

=for generated end

A reference to a hash: C<packets>; C<bytes>, of them on the wire; C<late>, packets that are earlier than one before them;
C<duplicates>, which C<drop_duplicates> left out; C<opaque>, packets without a known header, with C<anonymize>; C<files>, which
C<rotate> makes several; and C<damage>, the L<Bytewright::Error> that ended the capture, with all before it written, or undef.

After the handler of a signal it begins anew; with C<rotate>, and from or to what is no file, handlers run at the end. An interface is
refused: write its packets with the command C<bytewright cut>.

=head2 calls

    $capture->calls(fields => ["method", "outcome", "latency"], where => "latency > 1000")

L<Bytewright::Rows> with these fields, or all, of each Thrift call in the TCP connections, on any port, when its answer has come. With
an IDL file, only calls of its service come, with two fields more: C<arguments> and C<result>, which are text in JSON.
F<docs/rpc.md> tells what is found. The options are C<fields> and

=for generated CALLS by `make generate`, of the core's tables

=over

=item idl

IDL file of the service; only calls of its methods are taken then, with their arguments and results. Value: a path;
default: none.

=item service

Name of the service, where the IDL file has several. Value: text; default: the only one.

=item include

Folders to search for files that the IDL file includes. Value: a list of paths; default: none.

=item where

A condition on calls, in the words of the command's --where; others are left out. Value: text; default: all.

=item method

Name of a method, without its service; calls of others are left out. Value: text; default: all.

=back

=for generated end

A list is a reference to an array.

=head2 count_by

    $capture->count_by($field, where => "ttl < 64")

A reference to a hash with the number of packets for each value of the field; those without it are counted under the empty
string. The options are

=for generated COUNTS by `make generate`, of the core's tables

=over

=item where

Only packets that meet this condition, such as "dst_port == 443 and length > 1e3". Value: text; default: all.

=item numbers

Only packets with these numbers, such as "1000-1999" or "5,17,9000-"; the capture is read up to the last of them. Value:
text; default: all.

=back

=for generated end

=head2 sum

    $capture->sum(fields => ["length"], by => ["dst_port"], every => 60, top => 10, where => "proto == 6")

L<Bytewright::Rows> with a row for each group of packets, the largest first: the beginning of the interval of C<every> seconds as
C<ts>, the fields of C<by>, C<packets>, the sums of C<fields>, and C<groups>, which is above 1 in the row of those that were too many
to be told apart. Every option may be left out: without C<by>, all packets are one group. The options are C<fields> and

=for generated SUMS by `make generate`, of the core's tables

=over

=item by

What packets are grouped by: fields, host and port for both sides of each, networks such as src_ip/24. Value: a list of
texts; default: none.

=item every

Seconds of the intervals that packets are grouped by. Value: a number of seconds; default: none.

=item top

Groups at most, the largest by the first sum or measure, or else by packets. Value: integer from 0; default: all.

=item where

Only packets that meet this condition, such as "dst_port == 443 and length > 1e3". Value: text; default: all.

=item numbers

Only packets with these numbers, such as "1000-1999" or "5,17,9000-"; the capture is read up to the last of them. Value:
text; default: all.

=back

=for generated end

=head2 info

A reference to a hash: C<format>, C<packets>, C<bytes>, C<first_ts>, C<last_ts>, C<interfaces>, C<damage> and others;
of a capture that was opened with C<hash>, also C<sha256>.

=head2 close

Closes it; what still reads it fails then.

=cut
