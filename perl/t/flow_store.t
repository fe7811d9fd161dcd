# Goal: the flows of many captures add up in a file, each capture once, and are read from there.
# Method: captures that are written here; a second store and other processes beside the first; alarms.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use POSIX ();
use Test::More;
use Time::HiRes ();

# A capture of UDP packets from these addresses, each the last number of one, to port 53.
sub capture_of {
    my (@sources) = @_;
    my ($second, $bytes) = (1_700_000_000, pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1));
    for my $source (@sources) {
        my $frame = pack("x12 n C2 n3 C2 n C8 n4", 0x0800, 0x45, 0, 28, 0, 0, 64, 17, 0, 10, 0, 0, $source, 10, 0, 0, 99, 1000, 53, 8, 0);
        $bytes .= pack("V4", $second++, 0, length($frame), length($frame)) . $frame;
    }
    return \$bytes;
}

sub file_of {
    my ($bytes) = @_;
    my $path = Kinds::path(".pcap");
    open(my $file, ">:raw", $path) or die;
    print $file $$bytes;
    close($file);
    return $path;
}

sub merge { my ($input, $into, @options) = @_; return Bytewright::Capture->open($input)->flows(into => $into, @options) }

# All rows that are left, each with blanks between its values.
sub rows_of {
    my ($rows) = @_;
    my @found;
    while (my @row = $rows->next_row) { push(@found, join(" ", map { $_ // "-" } @row)) }
    return \@found;
}

sub stored { my ($path) = @_; return rows_of(Bytewright::FlowStore->open($path)->flows(fields => ["src_ip", "packets"])) }

sub content {
    my ($path) = @_;
    open(my $file, "<:raw", $path) or die "$path: $!";
    local $/;
    return scalar(<$file>);
}

# The kind of the error of a work, or "done".
sub kind_of { my ($work) = @_; return eval { $work->(); 1 } ? "done" : ref($@) ? $@->kind : $@ }

my ($monday, $tuesday) = (file_of(capture_of(1, 1, 2)), file_of(capture_of(2, 3)));

subtest "captures add up, and each counts once" => sub {
    my $into = Kinds::path(".bwt");
    my $merge = merge($monday, $into);
    is_deeply([@$merge{qw(file packets packets_without_flow flows new_flows counted_as damage)}], [$monday, 3, 0, 2, 2, undef, undef], "what became of it");
    ok($merge->{added}, "added");
    my $again = merge(file_of(capture_of(1, 1, 2)), $into);
    ok(!$again->{added}, "a copy is not");
    is_deeply([@$again{qw(counted_as new_flows content_id)}], [$monday, 0, $merge->{content_id}], "and is known");
    is(merge($tuesday, $into)->{new_flows}, 1, "of the next one, what is new");
    my $store = Bytewright::FlowStore->open($into);
    is($store->count, 3, "flows");
    is_deeply(stored($into), ["10.0.0.1 2", "10.0.0.2 2", "10.0.0.3 1"], "in the order of addresses");
    my $flow = $store->flows->next;
    is_deeply([@$flow{qw(dst_ip dst_port proto packets bytes ts)}], ["10.0.0.99", 53, 17, 2, 84, 1_700_000_000_000_000_000], "all fields where none is named");
    my ($addresses, $bytes) = $store->flows(fields => ["src_ip", "bytes"])->next_columns;
    is_deeply([$addresses, $bytes], [["10.0.0.1", "10.0.0.2", "10.0.0.3"], [84, 84, 42]], "as columns");
    my $kept = Bytewright::FlowStore->open($into)->flows;
    is(scalar(@{ rows_of($kept) }), 3, "rows keep their store open");
};

subtest "input of all kinds is merged" => sub {
    my $into = Kinds::path(".bwt");
    open(my $handle, "<", $monday) or die;
    ok(merge($handle, $into)->{added}, "a handle");
    ok(!merge(capture_of(1, 1, 2), $into)->{added}, "the same in memory");
    ok(merge(capture_of(1, 2), $into)->{added}, "another one");
    is_deeply(stored($into), ["10.0.0.1 3", "10.0.0.2 2"]);
};

subtest "a store is read while flows are added" => sub {
    my $into = Kinds::path(".bwt");
    merge($monday, $into);
    my $store = Bytewright::FlowStore->open($into);
    my $rows  = $store->flows(fields => ["src_ip"]);
    is_deeply([$rows->next_row], ["10.0.0.1"]);
    merge($tuesday, $into);
    is_deeply(rows_of($rows), ["10.0.0.2"], "by rows that were begun, as it was");
    is($store->count, 3, "and anew, as it is");
    is(scalar(@{ rows_of($store->flows) }), 3);
    my $child = fork() // die "fork: $!";
    POSIX::_exit(kind_of(sub { merge(capture_of(4), $into) }) eq "done" && $store->count == 4 ? 0 : 1) if !$child;
    waitpid($child, 0);
    is($?, 0, "a child adds, and reads the store of its parent");
    is($store->count, 4, "which reads on");
};

subtest "damage ends a capture, and not what is before it" => sub {
    my ($into, $bytes) = (Kinds::path(".bwt"), capture_of(1, 2, 3));
    my $cut = substr($$bytes, 0, -1);
    my $merge = merge(\$cut, $into);
    is_deeply([@$merge{qw(packets flows)}], [2, 2], "up to it");
    ok($merge->{damage}, "and what became of it tells");
    is_deeply(stored($into), ["10.0.0.1 1", "10.0.0.2 1"]);
};

subtest "what is refused makes no file, and changes none" => sub {
    my ($new, $into) = (Kinds::path(".bwt"), Kinds::path(".bwt"));
    merge($monday, $into);
    my ($store, $before) = (Bytewright::FlowStore->open($into), stored($into));
    for (
        [sub { merge($monday, $new, where => "proto == 17") }, "argument", qr/expected no condition on flows that are merged/],
        [sub { merge($monday, $new, fields => ["bytes"]) },    "argument", qr/expected no fields with into/],
        [sub { merge($monday, $new, idle => 1) },              "argument", qr/found idle/],
        [sub { merge(\"no capture, but text", $new) },         "format",   qr/./],
        [sub { merge("/missing.pcap", $new) },                 "io",       qr/missing/],
        [sub { merge($monday, "/missing/folder/f.bwt") },      "io",       qr/missing/],
        [sub { merge($monday, $tuesday) },                     "format",   qr/\Q$tuesday\E/],
        [sub { merge($monday, $monday) },                      "format",   qr/\Q$monday\E/],
        [sub { merge($into, $into) },                          "format",   qr/expected a pcap/],
        [sub { open(my $own, "<", $into) or die; merge($own, $into) }, "argument", qr/expected an output beside the inputs/],
        [sub { Bytewright::FlowStore->open($new) },            "io",       qr/No such file/],
        [sub { Bytewright::FlowStore->open($monday) },         "format",   qr/./],
        [sub { Bytewright::FlowStore->open(undef) },           "argument", qr/expected a path, found undef/],
        [sub { Bytewright::FlowStore->open($into, read_only => 1) }, "argument", qr/has no options/],
        [sub { $store->flows(fields => ["byts"]) },            "argument", qr/did you mean bytes\?/],
        [sub { $store->flows(where => "bytes > 1") },          "argument", qr/expected an option \(fields\), found where/],
        [sub { Bytewright::FlowStore::count(bless({}, "Bytewright::FlowStore")) }, "argument", qr/expected a store of flows/],
    ) {
        my ($work, $kind, $text) = @$_;
        is(kind_of($work), $kind, "refused: $text");
        like("$@", $text);
    }
    ok(!-e $new, "no file");
    is_deeply(stored($into), $before, "and the store as it was");
    ok(-s $monday, "nor a capture that is another file");
};

subtest "a store that is closed, also in a loop over it" => sub {
    my $into = Kinds::path(".bwt");
    merge(capture_of(map { $_ % 250 } 1 .. 1000), $into);
    my ($store, $count) = (Bytewright::FlowStore->open($into), 0);
    my $rows = $store->flows;
    is(kind_of(sub { while ($rows->next_row) { $store->close if !$count++ } }), "closed", "ends its rows");
    ok($count >= 1, "behind those that came: $count");
    is(kind_of(sub { $store->$_ }), "closed", "$_ of a closed one") for qw(count flows);
    is(kind_of(sub { $store->close }), "done", "it may be closed again");
    is(Bytewright::FlowStore->open($into)->count, 250, "and opened");
};

subtest "a second writer is refused, and the handler of a signal may die" => sub {
    my ($into, $input) = (Kinds::path(".bwt"), content($tuesday));
    merge($monday, $into);
    my $wait = sub {
        my ($handler) = @_;
        my $fifo = Kinds::path(".fifo");
        POSIX::mkfifo($fifo, 0600) or die;
        pipe(my $told, my $telling) or die;
        my $child = fork() // die;
        if (!$child) {
            open(my $end, ">:raw", $fifo) or POSIX::_exit(1);
            syswrite($end, substr($input, 0, 50));
            # The end comes when the handler has run, or the merge has ended, however slow the machine is.
            sysread($told, my $word, 1);
            syswrite($end, substr($input, 50));
            POSIX::_exit(0);
        }
        my $slow = Bytewright::Capture->open($fifo);
        local $SIG{ALRM} = sub { $handler->(); syswrite($telling, "x") };
        Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0.2);
        my $merge = eval { $slow->flows(into => $into) };
        my $error = $@;
        Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0);
        undef($slow);
        syswrite($telling, "x");
        waitpid($child, 0);
        return $merge // $error;
    };
    my $handled = 0;
    is($wait->(sub { $handled++ })->{new_flows} . $handled, "11", "it is added, and the handler runs");
    is_deeply(stored($into), ["10.0.0.1 2", "10.0.0.2 2", "10.0.0.3 1"]);
    $into = Kinds::path(".bwt");
    is($wait->(sub { die "enough\n" }), "enough\n", "a handler dies");
    ok(!-e $into, "and nothing is added");
    merge($tuesday, $into);
    is_deeply(stored($into), ["10.0.0.2 1", "10.0.0.3 1"], "which the next call does");
    my $locked = Bytewright::TreeTable->new(file => $into);
    my $txn    = $locked->txn;
    is(kind_of(sub { merge(capture_of(9), $into) }), "lock", "while another one writes, it is refused");
    $txn->abort;
    $locked->close;
    ok(merge(capture_of(9), $into)->{added}, "and not behind that");
};

done_testing();
