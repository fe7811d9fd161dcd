# Goal: captures give in Perl what they hold.
# Method: a capture that is written here, packet by packet, and damaged ones.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use File::Temp ();
use IO::Compress::Gzip qw(gzip);
use Kinds;
use Pipes;
use POSIX ();
use Test::More;
use Time::HiRes ();

# A UDP packet in Ethernet, and a frame of another kind.
sub udp {
    my ($source, $port) = @_;
    my $ip = pack("CCnnnCCna4a4", 0x45, 0, 33, 1, 0, 64, 17, 0, pack("C4", 10, 0, 0, $source), pack("C4", 10, 0, 0, 99));
    return pack("H12H12n", "020000000001", "020000000002", 0x0800) . $ip . pack("nnnn", 1000 + $source, $port, 13, 0) . "hello";
}

# Has SIGALRM come after so many seconds, and again after so many; never with 0.
sub set_timer {
    my ($seconds, $again) = @_;
    return Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), $seconds, $again // 0);
}

# A handler that dies, in an eval that has set the timer. No other signal comes then, which would find no handler.
sub give_up { set_timer(0); die "enough\n" }

sub capture_file {
    my (@frames) = @_;
    my $path = Kinds::path(".pcap");
    open(my $file, ">:raw", $path) or die;
    print $file pack("LSSLLLL", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1);
    my $second = 1_700_000_000;
    print $file pack("LLLL", $second++, 5, length($_), length($_)), $_ for @frames;
    close($file);
    return $path;
}

use constant FIELDS => qw(
    ts src_ip dst_ip src_port dst_port proto length caplen vlan ttl tcp_flags payload_len number status link_type ethertype
    ip_version ip_len frag_offset seq ack icmp_type icmp_code arp_op arp_src_ip arp_dst_ip
    src_mac dst_mac interface interface_name dns_query dns_type dns_id dns_is_response dns_rcode dns_answers
    dns_answer_names tls_sni http_host http_method http_path http_user_agent http_status tls_version tls_alpn ja4
);

ok(!$INC{"JSON/PP.pm"}, "the module does not load what only info needs");

my $arp = pack("H12H12n", "ffffffffffff", "020000000001", 0x88b5) . "\0" x 46;
my $path = capture_file(udp(1, 53), $arp, (map { udp(1, 80) } 1 .. 3));
my $capture = Bytewright::Capture->open($path);

subtest "packets come as hashes and as rows" => sub {
    my $first = $capture->next;
    is_deeply([@$first{qw(ts src_ip dst_ip src_port dst_port proto length)}],
        [1_700_000_000_000_005_000, "10.0.0.1", "10.0.0.99", 1001, 53, 17, 47], "fields of a packet");
    is($capture->next->{src_ip}, undef, "what a packet has not is undef");
    my $count = 2;
    $count++ while $capture->next;
    is($count, 5, "next goes through all");
    is($capture->next, undef, "and stays at the end");

    my $rows = $capture->packets("dst_port", "src_ip", { where => "dst_port == 80" });
    is_deeply([$rows->next_row], [80, "10.0.0.1"], "a condition leaves others out");
    ok(!eval { $capture->packets({ were => "dst_port == 80" }); 1 }, "an option that there is not");
    like($@->message, qr/did you mean where\?/);

    $rows = $capture->packets("dst_port", "src_ip");
    is_deeply([$rows->names], [qw(dst_port src_ip)], "fields are those that were named");
    is_deeply([$rows->next_row], [53, "10.0.0.1"]);
    is_deeply([$rows->next_row], [undef, undef]);
    is_deeply($rows->next, { dst_port => 80, src_ip => "10.0.0.1" }, "both ways go on from each other");
    is(scalar(@{ [$rows->next_row] }), 2);
    $rows->next_row;
    is_deeply([$rows->next_row], []);
    ok(!eval { $capture->packets("dst_prt"); 1 }, "a field that there is not");
    is($@->kind, "argument");
};

subtest "columns have the values that rows have" => sub {
    my $columns = $capture->packets("dst_port", "src_ip");
    is_deeply([$columns->next_row], [53, "10.0.0.1"], "they begin behind the rows that came");
    is_deeply([$columns->next_columns], [[undef, 80, 80, 80], [undef, ("10.0.0.1") x 3]]);
    is_deeply([$columns->next_columns], [], "and end");
    is_deeply([$columns->next_row], []);

    # Every field there is, of packets and of flows, and in more than one batch.
    my $many = Bytewright::Capture->open(capture_file(map { $_ % 3 ? udp($_ % 200, $_) : $arp } 1 .. 70_000));
    for my $make (sub { $many->packets(FIELDS) }, sub { $many->flows(max_flows => 500) }) {
        my ($slow, $fast, $count, $wrong) = ($make->(), $make->(), 0, 0);
        while (my @values = $fast->next_columns) {
            for my $row (0 .. $#{ $values[0] }) {
                my @expected = $slow->next_row;
                my @found    = map { $_->[$row] } @values;
                $wrong++ if join("|", map { $_ // "undef" } @found) ne join("|", map { $_ // "undef" } @expected);
                $count++;
            }
        }
        ok(!$wrong && $count > 40_000, "$count rows");
        is_deeply([$slow->next_row], [], "and no other");
    }
};

subtest "flows, counts and what is known of the file" => sub {
    my $flows = $capture->flows(fields => [qw(src_ip dst_port packets bytes)]);
    my @rows;
    while (my @row = $flows->next_row) { push(@rows, join(" ", @row)) }
    is_deeply([sort(@rows)], ["10.0.0.1 53 1 47", "10.0.0.1 80 3 141"]);
    ok($capture->flows->next->{community_id}, "all fields where none is named");
    is_deeply($capture->count_by("dst_port"), { 53 => 1, 80 => 3, "" => 1 });
    is_deeply($capture->count_by("dst_port", where => "dst_port < 80"), { 53 => 1 }, "of packets that meet a condition");
    ok(!eval { $capture->count_by("dst_port", wher => "proto == 17"); 1 } && $@ =~ /did you mean where/, "an option that there is not: $@");
    my $sums = $capture->sum(by => "dst_port", fields => ["length"], where => "proto != 1 and dst_port > 0");
    is_deeply($sums->next, { dst_port => 80, packets => 3, length => 141, groups => 1 });
    is_deeply([$capture->sum(top => 1)->next_row], [5, 1], "all packets are one group");
    ok(!eval { $capture->sum(by => "dst_prot"); 1 } && $@ =~ /did you mean dst_port/, "a field that there is not: $@");
    ok(!eval { $capture->sum(every => -1); 1 } && $@->kind eq "argument", "an interval that is none");
    ok(!eval { $capture->sum(per => 1); 1 } && $@ =~ /found per/, "an option that there is not");
    my $info = $capture->info;
    is_deeply([@$info{qw(format packets damage)}], ["pcap", 5, undef]);
    is(ref($info->{interfaces}), "ARRAY", "nested values are Perl's");
};

# A TCP segment between a client's port and the server's, with its place in the stream.
sub tcp {
    my ($is_reply, $sequence, $payload) = @_;
    my ($from, $to) = $is_reply ? ([99, 9090], [1, 4000]) : ([1, 4000], [99, 9090]);
    my $ip = pack("CCnnnCCna4a4", 0x45, 0, 40 + length($payload), 1, 0, 64, 6, 0, map { pack("C4", 10, 0, 0, $_->[0]) } $from, $to);
    my $header = pack("nnNNCCnnn", $from->[1], $to->[1], $sequence, 1, 0x50, 0x18, 65535, 0, 0);
    return pack("H12H12n", "020000000001", "020000000002", 0x0800) . $ip . $header . $payload;
}

# A message of Thrift's Binary protocol in a frame: its type, name and number, and a struct of one text, or of none. An exception
# has the text in a struct of its own.
sub message {
    my ($type, $name, $number, $field, $text) = @_;
    my $struct = defined($field) ? pack("Cn N/a* x", 11, $field, $text) : "\0";
    $struct = pack("Cn a* x", 12, 1, $struct) if $type == 2 && $field;
    return pack("N/a*", pack("N N/a* N", 0x80010000 | $type, $name, $number) . $struct);
}

# Two calls of which one returns and one throws, and one without an answer.
sub calls_file {
    my @messages = (
        [0, message(1, "find", 1, 1, "pear")], [1, message(2, "find", 1, 0, "green")],
        [0, message(1, "weigh", 2, 1, "plum")], [1, message(2, "weigh", 2, 1, "gone")], [0, message(1, "ping", 3)],
    );
    my @ends = (1, 1);
    return capture_file(map { my ($is_reply, $bytes) = @$_; my $at = $ends[$is_reply]; $ends[$is_reply] += length($bytes); tcp($is_reply, $at, $bytes) } @messages);
}

# All rows that are left, each with blanks between its values.
sub rows_of {
    my ($rows) = @_;
    my @found;
    while (my @row = $rows->next_row) { push(@found, join(" ", map { $_ // "-" } @row)) }
    return \@found;
}

# Returns the capture from all there is to read from but a path.
sub inputs_of {
    my ($file) = @_;
    my $bytes = content($file);
    gzip(\$bytes, \my $compressed) or die;
    open(my $handle, "<", $file) or die;
    require IO::File;
    require Socket;
    socketpair(my $socket, my $end, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0) or die;
    syswrite($end, $bytes) == length($bytes) or die;
    close($end);
    return ("a handle" => $handle, "an IO::File" => IO::File->new($file), "a pipe" => Pipes::with_bytes($bytes, 200), "a socket" => $socket,
        bytes => \$bytes, "compressed bytes" => \$compressed, "a compressed pipe" => Pipes::with_bytes($compressed, 200));
}

subtest "what comes from a handle or from memory is what the file has" => sub {
    my $file = capture_file((map { udp(1 + $_ % 100, 80) } 1 .. 300), $arp);
    my %questions = (
        packets  => sub { return rows_of($_[0]->packets("ts", "src_ip", "length")) },
        flows    => sub { return rows_of($_[0]->flows(fields => ["src_ip", "bytes"])) },
        written  => sub { my $into = Kinds::path(".log"); $_[0]->flows(into => $into, format => "ecs"); return content($into) },
        count_by => sub { return $_[0]->count_by("src_ip") },
        sum      => sub { return rows_of($_[0]->sum(by => "src_ip", fields => ["length"])) },
        next     => sub { my ($own, @found) = @_; while (my $packet = $own->next) { push(@found, $packet) } return \@found },
        frame    => sub { return $_[0]->frame(200) },
        endpoints => sub { return rows_of($_[0]->endpoints) },
        info     => sub { my $info = $_[0]->info; return [@$info{qw(format packets bytes content_id)}] },
    );
    for my $question (sort(keys(%questions))) {
        my $expected = $questions{$question}->(Bytewright::Capture->open($file));
        my %inputs = inputs_of($file);
        for my $name (sort(keys(%inputs))) {
            my $opened = Bytewright::Capture->open($inputs{$name});
            is_deeply($questions{$question}->($opened), $expected, "$question of $name");
            is(eval { $opened->packets->next; 1 } ? "none" : $@->kind, "closed", "once");
        }
    }
    1 while waitpid(-1, 0) > 0;
    my %inputs = inputs_of(calls_file());
    is(scalar(@{ rows_of(Bytewright::Capture->open($inputs{$_})->calls) }), 3, "calls of $_") for sort(keys(%inputs));
    is(scalar(@{ rows_of(Bytewright::Capture->open(\content($file), filter => "udp")->packets) }), 300, "options are taken")
        if eval { Bytewright::Capture->open($file, filter => "udp") };
    1 while waitpid(-1, 0) > 0;
};

subtest "input is there as long as what reads it" => sub {
    my $bytes = content($path);
    my $first = Bytewright::Capture->open(\$bytes);
    $bytes = "";
    is($first->next->{src_ip}, "10.0.0.1", "bytes are copied");
    my $own = $first->{rows};
    undef($first);
    ok(!eval { 1 while $own->next; 1 } && $@->kind eq "closed", "rows that a program takes out of a capture end with it: $@");
    open(my $handle, "<", $path) or die;
    my $rows = Bytewright::Capture->open($handle)->packets("src_ip");
    undef($handle);
    is(scalar(@{ rows_of($rows) }), 5, "a handle is kept open");
    open($handle, "<", $path) or die;
    my $closed = Bytewright::Capture->open($handle);
    close($handle);
    ok(!eval { $closed->packets->next; 1 } && $@->kind eq "io" && $@->os_error == POSIX::EBADF(), "one that the program closes is an error: $@");
    my $in_loop = Bytewright::Capture->open(\content($path));
    $rows = $in_loop->packets("src_ip");
    ok(!eval { while ($rows->next_row) { $in_loop->close } 1 } && $@->kind eq "closed", "a capture may be closed while it is read: $@");
    ok(!eval { $in_loop->info; 1 } && $@->kind eq "closed");
    my $temporary = File::Temp->new;
    print $temporary content($path);
    $temporary->flush;
    is(Bytewright::Capture->open($temporary)->info->{file}, "$temporary", "a file of File::Temp is its path");
};

subtest "wrong input, and damage of it" => sub {
    open(my $in_memory, "<", \content($path)) or die;
    my $cut = substr(content($path), 0, -1);
    for (
        [$in_memory,              "argument",  qr/^expected a handle with a file descriptor, found one without/],
        [\"\x{263a}",             "argument",  qr/^expected bytes as input, found a character above 255/],
        [\\"bytes",              "argument",  qr/^expected a path, found a reference/],
        [\"",                     "truncated", qr/^bytes: /],
        [\"no capture at all, it is text", "format", qr/^bytes: /],
        [\$cut,                   "truncated", qr/^bytes: /],
    ) {
        my ($input, $kind, $text) = @$_;
        my $found = eval { my $opened = Bytewright::Capture->open($input); 1 while $opened->next; 1 } ? "none" : ref($@) ? $@->kind : $@;
        is($found, $kind, "refused: $text");
        like("$@", $text);
    }
    ok(!eval { Bytewright::Capture->open(\content($path), fiter => "tcp"); 1 } && $@ =~ /did you mean filter/, "an option that there is not");
    my $own = capture_file(udp(1, 53));
    my $before = content($own);
    open(my $handle, "<", $own) or die;
    my $opened = Bytewright::Capture->open($handle);
    ok(!eval { $opened->flows(into => $own, format => "ecs", force => 1); 1 } && $@ =~ /expected an output beside the inputs/, "its output is no input: $@");
    is(content($own), $before);
};

subtest "a wait for a pipe lets signal handlers run, which may die" => sub {
    my ($whole, $handled) = (content($path), 0);
    pipe(my $reader, my $writer) or die;
    my $rows = Bytewright::Capture->open($reader)->packets("src_ip");
    syswrite($writer, substr($whole, 0, 200));
    local $SIG{ALRM} = sub { die "enough\n" };
    POSIX::alarm(1);
    my @found;
    ok(!eval { while (my ($address) = $rows->next_row) { push(@found, $address // "-") } 1 }, "who waits for packets");
    is($@, "enough\n", "is called off");
    local $SIG{ALRM} = sub { $handled++; syswrite($writer, substr($whole, 200)); close($writer) };
    POSIX::alarm(1);
    while (my ($address) = $rows->next_row) { push(@found, $address // "-") }
    is_deeply(\@found, ["10.0.0.1", "-", ("10.0.0.1") x 3], "and reads on, of which nothing is lost");
    is($handled, 1, "behind the handler");
};

subtest "questions that read a pipe to its end let handlers run, and go on when they are asked again" => sub {
    my $bytes = content($path);
    for my $dies (0, 1) {
        my ($handled, $child) = (0);
        pipe(my $reader, my $writer) or die;
        pipe(my $told, my $telling) or die;
        if (!($child = fork() // die)) {
            close($reader);
            # The end comes when the handler has run, however slow the machine is.
            syswrite($writer, substr($bytes, 0, 100));
            sysread($told, my $word, 1);
            syswrite($writer, substr($bytes, 100));
            POSIX::_exit(0);
        }
        close($writer);
        my $piped = Bytewright::Capture->open($reader);
        local $SIG{ALRM} = sub { $handled++; syswrite($telling, "x"); die "enough\n" if $dies };
        Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0.05);
        my $found = eval { $piped->count_by("dst_port") };
        is($@, $dies ? "enough\n" : "", "the handler may die");
        is($handled, 1, "and runs");
        $found = $piped->count_by("dst_port") if $dies;
        is_deeply($found, { 53 => 1, 80 => 3, "" => 1 }, "all is counted, once");
        waitpid($child, 0);
    }
};

subtest "Thrift calls come with what became of them" => sub {
    my $calls = Bytewright::Capture->open(calls_file());
    my @fields = qw(method sequence_id outcome latency src_ip dst_port);
    my @expected = ("find 1 returned 1000000 10.0.0.1 9090", "weigh 2 exception 1000000 10.0.0.1 9090", "ping 3 unanswered - 10.0.0.1 9090");
    is_deeply(rows_of($calls->calls(fields => \@fields)), \@expected, "in the order of their answers");
    is_deeply(rows_of($calls->calls(fields => ["method"], where => "latency > 0", method => "weigh")), ["weigh"], "of those that meet a condition");
    my $first = $calls->calls->next;
    is_deeply([@$first{qw(ts protocol request_bytes)}], [1_700_000_000_000_005_000, "framed-binary", length(message(1, "find", 1, 1, "pear"))],
        "all fields where none is named");
    ok(!exists($first->{arguments}), "what they carry takes an IDL file");
    my ($columns, @in_columns) = ($calls->calls(fields => ["method", "outcome"]));
    while (my ($methods, $outcomes) = $columns->next_columns) { push(@in_columns, map { "$methods->[$_] $outcomes->[$_]" } 0 .. $#$methods) }
    is_deeply(\@in_columns, ["find returned", "weigh exception", "ping unanswered"], "as columns");
    is($capture->calls->next, undef, "none in a capture without them");
};

subtest "Thrift calls of a service come with what they carry" => sub {
    my ($folder, $idl) = (Kinds::path(".folder"), Kinds::path(".thrift"));
    mkdir($folder) or die;
    for (["$folder/names.thrift", "typedef string Name"],
        [$idl, 'include "names.thrift" exception Gone { 1: string name } ' . join(" ", map { "service $_ { string find(1: names.Name name), string weigh(1: string name) throws (1: Gone gone) }" } "Store", "Other")]) {
        my ($path, $text) = @$_;
        open(my $file, ">", $path) or die;
        print $file $text;
        close($file);
    }
    my $calls = Bytewright::Capture->open(calls_file());
    my %options = (idl => $idl, service => "Store");
    my $rows = $calls->calls(fields => [qw(method arguments result)], %options, include => ["/missing", $folder]);
    is_deeply(rows_of($rows), ['find {"name":"pear"} {"success":"green"}', 'weigh {"name":"plum"} {"gone":{"name":"gone"}}'],
        "as JSON, and only its methods");
    is(scalar(@{ rows_of($calls->calls(%options, include => $folder, method => "weigh")) }), 1, "one folder needs no list");
    for (
        [[%options],                           "io",       qr/names\.thrift/],
        [[service => "Store"],                 "argument", qr/./],
        [[idl => $idl, include => $folder],    "argument", qr/Store/],
        [[idl => "/missing.thrift"],           "io",       qr/missing\.thrift/],
        [[idl => [$idl]],                      "argument", qr/expected text or a number as idl/],
        [[fields => ["arguments"]],            "argument", qr/arguments/],
        [[fields => ["metod"]],                "argument", qr/did you mean method\?/],
        [[wher => "latency > 1"],              "argument", qr/did you mean where\?/],
        [[where => "latncy > 1"],              "argument", qr/did you mean latency\?/],
    ) {
        my ($wrong, $kind, $text) = @$_;
        is(eval { $calls->calls(@$wrong); 1 } ? "none" : $@->kind, $kind, "refused: @$wrong");
        like("$@", $text);
    }
};

subtest "damage comes after what is before it" => sub {
    my $damaged = capture_file(map { udp($_, 80) } 1 .. 3);
    truncate($damaged, (-s $damaged) - 1);
    my $cut = Bytewright::Capture->open($damaged);
    my $rows = $cut->packets("src_ip");
    my @found;
    ok(!eval { while (my ($address) = $rows->next_row) { push(@found, $address) } 1 }, "the end dies");
    is_deeply(\@found, ["10.0.0.1", "10.0.0.2"], "what is good came");
    is($@->kind, "truncated");
    is($@->file, $damaged);
    ok(defined($@->offset), "with the place");
    ok($cut->info->{damage}, "info tells of it");
};

subtest "damage that is kept ends what is before it" => sub {
    my $whole = capture_file(map { udp($_, 80) } 1 .. 3);
    open(my $file, "<:raw", $whole) or die;
    my $bytes = do { local $/; <$file> };
    for my $size (0 .. length($bytes) - 1) {
        my $damaged = capture_file();
        open(my $out, ">:raw", $damaged) or die;
        print {$out} substr($bytes, 0, $size);
        close($out);
        my ($rows, @expected, @found) = (Bytewright::Capture->open($damaged)->packets("src_ip", "length"));
        my $died = !eval { while (my @row = $rows->next_row) { push(@expected, "@row") } 1 };
        my $error = $@;
        my $kept = Bytewright::Capture->open($damaged, damage => "keep");
        my $before = $kept->damage;
        $rows = $kept->packets("src_ip", "length");
        while (my @row = $rows->next_row) { push(@found, "@row") }
        my ($told) = map { $_ ? $_->message : "" } $kept->damage;
        my $is_right = "@found" eq "@expected" && !defined($before) && $told eq ($died ? $error->message : "");
        my $count = 0;
        $count += $_ for values(%{ $kept->count_by("length") });
        $is_right &&= $count == @expected;
        ok(0, "$size bytes: @found, $told") if !$is_right;
    }
    ok(!eval { Bytewright::Capture->open($whole, damage => "ignore"); 1 } && $@->kind eq "argument", "another value");
    is($@->message, 'expected damage to be raise or keep, found "ignore"');
};

subtest "packets of an interface come until it is stopped" => sub {
    require IO::Socket::INET;
    my $socket = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1", LocalPort => 0);
    my $port = $socket->sockport;
    my $live = eval { Bytewright::Capture->live("lo", filter => "udp dst port $port", snaplen => 44) };
    plan(skip_all => "nothing can be captured here: $@") if !$live && $@->kind =~ /^(?:io|missing_library)$/;
    my $rows = $live->packets("dst_port", "caplen");
    $socket->send("data", 0, $socket->sockname);
    is_deeply([$rows->next_row], [$port, 44], "one that was sent");
    local $SIG{ALRM} = sub { $live->stop };
    alarm(1);
    is_deeply([$rows->next_row], [], "a handler stops it while it waits");
    is_deeply($live->live_counts, { captured => 1, dropped => 0, dropped_by_interface => 0 });
    is(scalar($capture->live_counts), undef, "a file has no such counts");
    ok(!eval { $live->flows(into => Kinds::path(".bwt")); 1 } && $@ =~ /^expected a capture that ends/, "its flows are not merged: $@");
    ok(!eval { $live->write_to(Kinds::path(".pcap")); 1 } && $@ =~ /^expected a capture that ends/, "nor its packets written: $@");
    ok(!eval { Bytewright::Capture->live("no such"); 1 } && $@ =~ /there are /, "an interface that there is not: $@");
};

sub content {
    my ($file) = @_;
    open(my $handle, "<:raw", $file) or return undef;
    local $/;
    return scalar(<$handle>);
}

subtest "flows are written as another program has them" => sub {
    my $into = Kinds::path(".log");
    is($capture->flows(into => $into, format => "ecs"), 2, "the number of flows");
    my @lines = split(/\n/, content($into));
    is(scalar(@lines), 2, "a line for each");
    like($lines[0], qr/"destination":\{[^}]*"port":53/);
    is($capture->flows(into => $into, format => "zeek", where => "dst_port == 80"), 1, "of those that meet a condition");
    like(content($into), qr/^#separator .*\t80\tudp\t/s);
    my $before = content($into);
    my $told = sub {
        my (@options) = @_;
        ok(!eval { $capture->flows(@options); 1 }, "refused: @options");
        return $@->kind . ": " . $@->message;
    };
    like($told->(into => $into, format => "zek"), qr/^argument: .*did you mean zeek\?/);
    is($told->(format => "zeek"), "argument: expected the file of the flows as into, found only their format");
    like($told->(into => $into, format => "zeek", fields => ["bytes"]), qr/expected no fields with into, found fields: a format has its own/);
    like($told->(into => $into, format => "zeek", forced => 1), qr/did you mean force\?/);
    like($told->(into => $path, format => "zeek"), qr/found a packet capture/);
    like($told->(into => $path, format => "zeek", force => 1), qr/found one of them/, "an input never is replaced");
    like($told->(into => "/missing/folder/conn.log", format => "zeek"), qr/^io: /);
    my $damaged = capture_file(map { udp($_, 80) } 1 .. 3);
    truncate($damaged, (-s $damaged) - 1);
    ok(!eval { Bytewright::Capture->open($damaged)->flows(into => $into, format => "ecs"); 1 }, "damage");
    is($@->kind, "truncated");
    is(content($into), $before, "and the older file stays");
    is(Bytewright::Capture->open($damaged, damage => "keep")->flows(into => $into, format => "ecs"), 2, "what is before damage");
    my $closed = Bytewright::Capture->open($path);
    $closed->close;
    ok(!eval { $closed->flows(into => $into, format => "ecs"); 1 } && $@->kind eq "closed", "a closed one");
};

subtest "packets are written to a new capture" => sub {
    my $into = Kinds::path(".pcap");
    my $written = $capture->write_to($into, where => "dst_port == 80", snaplen => 40);
    is_deeply($written, { packets => 3, bytes => 141, late => 0, duplicates => 0, opaque => 0, files => 1, damage => undef });
    is_deeply([Bytewright::Capture->open($into)->packets("dst_port", "caplen")->next_row], [80, 40], "what was asked for");
    is($capture->write_to($into, force => 1, from_time => "1700000003", drop_duplicates => undef)->{packets}, 2, "times are those of a condition");
    is($capture->write_to($into, force => "true", drop_duplicates => 4)->{duplicates}, 2, "one that is there is replaced with force");
    is(Bytewright::Capture->open(\content($path))->write_to("$into.zst")->{packets}, 5, "of bytes in memory, compressed");
    is(Bytewright::Capture->open("$into.zst")->info->{packets}, 5);
    my $before = content($into);
    my $told = sub { my (@call) = @_; return eval { $capture->write_to(@call); 1 } ? "nothing" : $@->kind . ": " . $@->message };
    like($told->($into), qr/found a packet capture/, "another one is not, without");
    like($told->($path, force => 1), qr/found one of them/, "an input never");
    symlink($path, "$into.pcap") or die;
    like($told->("$into.pcap", force => 1), qr/found one of them/, "nor by another name");
    open(my $in, "<:raw", $path) or die;
    ok(!eval { Bytewright::Capture->open($in)->write_to($path, force => 1); 1 } && $@ =~ /found one of them/, "nor a handle's");
    like($told->($into, forced => 1), qr/^argument: .*did you mean force\?/);
    like($told->("/missing/folder/new.pcap"), qr/^io: /);
    like($told->("$into.txt"), qr/^argument: /, "the name says the form");
    like($told->($into, force => 1, where => "no_field == 1"), qr/^argument: /);
    is(content($into), $before, "the older file stays");
    is((stat($path))[7], 24 + 16 * 5 + 47 * 4 + 60, "and the input");
    my $damaged = capture_file(map { udp($_, 80) } 1 .. 3);
    truncate($damaged, (-s $damaged) - 1);
    my $cut = Bytewright::Capture->open($damaged)->write_to($into, force => 1);
    is_deeply([$cut->{packets}, $cut->{damage}->kind, $cut->{damage}->file], [2, "truncated", $damaged], "damage is told beside what is before it");
    is(Bytewright::Capture->open($into)->info->{packets}, 2);
    my $kept = Bytewright::Capture->open($damaged, damage => "keep");
    is($kept->write_to($into, force => 1)->{damage}->kind, "truncated", "so it is if it is kept");
    my $closed = Bytewright::Capture->open($path);
    $closed->close;
    ok(!eval { $closed->write_to($into, force => 1); 1 } && $@->kind eq "closed", "a closed one");
    my $child = fork() // die;
    if (!$child) { POSIX::_exit(eval { $capture->write_to($into, force => 1)->{packets} } // 99) }
    waitpid($child, 0);
    is($? >> 8, 5, "a child writes what its parent opened");
    my $rotated = $capture->write_to("$into-%n.pcap", rotate => "2p");
    is($rotated->{files}, 3, "files one after another");
    unlink("$into.zst", "$into.pcap", glob("$into-*"));
    is_deeply([glob("$into*")], [$into], "nothing is left beside them");
};

subtest "a full disk leaves no capture" => sub {
    plan(skip_all => "no /dev/full") if !-w "/dev/full";
    symlink("/dev/full", my $full = Kinds::path(".pcap")) or die;
    ok(!eval { $capture->write_to($full); 1 }, "it dies");
    is($@->os_error, POSIX::ENOSPC());
};

subtest "writing begins anew after the handler of a signal, and ends where it dies" => sub {
    my ($count, $handled, $into) = (100_000, 0, Kinds::path(".pcap"));
    local $SIG{ALRM} = \&give_up;
    # One that is written before the handler runs is too short for this machine.
    my ($many, $ended);
    do {
        unlink($into);
        $many  = capture_file((udp(1, 80)) x ($count *= 2));
        $ended = eval { set_timer(0.002); Bytewright::Capture->open($many, jobs => 1)->write_to($into); set_timer(0); 1 };
    } while (-e $into && $count < 2_000_000);
    ok(!$ended && $@ eq "enough\n", "a handler dies");
    is_deeply([glob("$into*")], [], "and there is no file");
    $SIG{ALRM} = sub { $handled++ };
    set_timer(0.002, 0.002);
    is(Bytewright::Capture->open($many)->write_to($into)->{packets}, $count, "all packets");
    is($capture->write_to("$into-%n.pcap", rotate => "1p")->{files}, 5, "each file once");
    set_timer(0);
    ok($handled > 0, "beside $handled signals");
    is(scalar(() = glob("$into-*")), 5);
    unlink(glob("$into-*"));
};

subtest "flows go on after the handler of a signal, and are given up where it dies" => sub {
    my ($into, $handled, $input) = (Kinds::path(".log"), 0, content($path));
    my $wait = sub {
        my ($handler) = @_;
        my $fifo = Kinds::path(".fifo");
        POSIX::mkfifo($fifo, 0600) or die;
        my $child = fork() // die;
        if (!$child) {
            open(my $end, ">:raw", $fifo) or POSIX::_exit(1);
            syswrite($end, substr($input, 0, 100));
            select(undef, undef, undef, 0.6);
            syswrite($end, substr($input, 100));
            POSIX::_exit(0);
        }
        my $slow = Bytewright::Capture->open($fifo);
        local $SIG{ALRM} = $handler;
        my $count = eval { set_timer(0.1, 0.1); $slow->flows(into => $into, format => "ecs") };
        my $error = $@;
        set_timer(0);
        undef($slow);
        waitpid($child, 0);
        return $count // $error;
    };
    is($wait->(\&give_up), "enough\n", "a handler dies");
    is(content($into), undef, "and there is no file");
    is($wait->(sub { $handled++ }), 2, "all flows");
    ok($handled > 0, "beside $handled signals");
};

subtest "flows of an interface are written until it is stopped, and kept where a handler dies" => sub {
    require IO::Socket::INET;
    my $socket = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1", LocalPort => 0);
    my $filter = "udp dst port " . $socket->sockport;
    for my $dies (0, 1) {
        my $live = eval { Bytewright::Capture->live("lo", filter => $filter) };
        plan(skip_all => "nothing can be captured here: $@") if !$live && $@->kind =~ /^(?:io|missing_library)$/;
        my $into = Kinds::path(".log");
        local $SIG{ALRM} = sub {
            return $socket->send("data", 0, $socket->sockname) if !$live->live_counts->{captured};
            give_up() if $dies;
            $live->stop;
        };
        my $count = eval { set_timer(0.1, 0.1); $live->flows(into => $into, format => "ecs") };
        my $error = $@;
        set_timer(0);
        is($count // $error, $dies ? "enough\n" : 1);
        is(scalar(() = content($into) =~ /\n/g), 1, "the flow is in the file");
    }
};

subtest "what cannot be opened or used" => sub {
    ok(!eval { Bytewright::Capture->open("/missing.pcap")->info; 1 });
    is($@->kind, "io");
    ok(!eval { Bytewright::Capture->open($path, fiter => "tcp"); 1 });
    like("$@", qr/^expected an option \(filter, flow, label, inner, vxlan_port, jobs, index, index_dir, hash, damage\), found fiter; did you mean filter\?/);
    ok(!eval { $capture->flows(idle => 1); 1 });
    is($@->kind, "argument");
    my $closed = Bytewright::Capture->open($path);
    my $rows = $closed->packets;
    $closed->close;
    ok(!eval { $closed->info; 1 }, "a closed one");
    is($@->kind, "closed");
    undef($closed);
    undef($rows);
    pass("rows and captures end in any order");
    my $kept = Bytewright::Capture->open($path)->packets("src_ip");
    is_deeply([$kept->next_row], ["10.0.0.1"], "rows keep their capture open");
};

done_testing();
