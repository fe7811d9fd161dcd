# Goal: a signal with a handler harms nothing: the handler runs in Perl's thread, and a die out of it leaves tables and transactions whole.
# Method: a timer of a millisecond beside each kind of work, children that end beside it, and a die at random moments of
# transactions. The seed is printed.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use POSIX ();
use Test::More;
use Time::HiRes qw(setitimer ITIMER_REAL);

my $seed = $ENV{BYTEWRIGHT_SEED} // time();
srand($seed);
note("BYTEWRIGHT_SEED=$seed");

# Bytes of a capture: one UDP packet to each port from 1 on.
sub capture_of {
    my ($count) = @_;
    my $bytes = pack("V v v l V V V", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1);
    for my $port (1 .. $count) {
        my $frame = pack("x12 n C C n n n C C n N N n n n n", 0x0800, 0x45, 0, 28, 0, 0, 64, 17, 0, 0x0a000001, 0x0a000002, 53,
            $port % 65536, 8, 0);
        $bytes .= pack("V4", $port, 0, length($frame), length($frame)) . $frame;
    }
    return $bytes;
}

my $capture = Kinds::path(".pcap");
open(my $file, ">:raw", $capture) or die "$capture: $!";
print $file capture_of(20_000);
close($file) or die "$capture: $!";

my %WORK = (
    "packets of a capture" => sub {
        my $sum  = 0;
        my $rows = Bytewright::Capture->open($capture)->packets("dst_port");
        while (my ($ports) = $rows->next_columns) { $sum += $_ for @$ports }
        return $sum;
    },
    "flows of a capture" => sub {
        my $count = 0;
        my $rows  = Bytewright::Capture->open($capture)->flows;
        while (my @row = $rows->next_row) { $count++ }
        return $count;
    },
    "packets of a handle" => sub {
        open(my $handle, "<", $capture) or die "$capture: $!";
        my $sum  = 0;
        my $rows = Bytewright::Capture->open($handle)->packets("dst_port");
        while (my ($ports) = $rows->next_columns) { $sum += $_ for @$ports }
        return $sum;
    },
    "counts of a pipe" => sub {
        open(my $pipe, "-|", "cat", $capture) or die "cat: $!";
        my $found = Bytewright::Capture->open($pipe)->count_by("dst_port");
        return scalar(keys(%$found));
    },
    "flows that are merged, and their store" => sub {
        my $into  = Kinds::path(".bwt");
        my $merge = Bytewright::Capture->open($capture)->flows(into => $into);
        my $rows  = Bytewright::FlowStore->open($into)->flows(fields => ["packets"]);
        my $sum   = 0;
        while (my ($packets) = $rows->next_row) { $sum += $packets }
        return "$merge->{flows} $sum";
    },
    "calls of a capture" => sub {
        my $count = 0;
        my $rows  = Bytewright::Capture->open($capture)->calls;
        while (my @row = $rows->next_row) { $count++ }
        return $count;
    },
    "counts of a capture" => sub { my $found = Bytewright::Capture->open($capture)->count_by("dst_port"); return scalar(keys(%$found)) },
    "a reader of values" => sub {
        my $reader = Bytewright::Reader->open($capture);
        my $sum    = 0;
        while (defined(my $byte = $reader->u8)) { $sum += $byte }
        return $sum;
    },
    map {
        my ($name, $class, @options) = @$_;
        my $table;
        $name => sub {
            $table //= $class->new(@options);
            $table->txn(sub { $table->put("key $_", $_) for 1 .. 3_000 });
            $table->put("key $_", 2 * $_) for 1 .. 300;
            my $sum = 0;
            $sum += $_ for $table->values;
            $sum += $table->get("key $_") for 1 .. 3_000;
            return $sum;
        }
    } Kinds::all(),
);

# Returns the result of work while the handler of a signal runs each millisecond. It sets the timer again: of a timer
# that repeats, more signals than Perl keeps would wait if a call takes long.
sub with_timer {
    my ($work) = @_;
    my ($count, $is_on) = (0, 1);
    local $SIG{ALRM} = sub { $count++; setitimer(ITIMER_REAL, 0.001) if $is_on };
    setitimer(ITIMER_REAL, 0.001);
    my $answer;
    do { $answer = $work->() } until $count >= 20;
    $is_on = 0;
    setitimer(ITIMER_REAL, 0);
    return $answer;
}

for my $name (sort(keys(%WORK))) {
    my $expected = $WORK{$name}->();
    is(with_timer($WORK{$name}), $expected, "$name, with a signal each millisecond");
}

sub fork_child {
    my $child = fork() // die "fork: $!";
    POSIX::_exit(0) if !$child;
    return;
}

subtest "children that end, with the usual handler" => sub {
    for my $name (sort(keys(%WORK))) {
        my ($expected, $ended) = ($WORK{$name}->(), 0);
        local $SIG{CHLD} = sub {
            local ($!, $?);
            while ((my $pid = waitpid(-1, POSIX::WNOHANG())) > 0) { $ended++; fork_child() if $ended < 20 }
        };
        fork_child() for 1 .. 2;
        is($WORK{$name}->(), $expected, $name);
        Time::HiRes::sleep(0.001) while $ended < 20;
        local $SIG{CHLD} = "DEFAULT";
        1 while waitpid(-1, 0) > 0;
    }
};

for my $kind (Kinds::all()) {
    my ($name, $class, @options) = @$kind;
    @options = (file => Kinds::path($class =~ /Hash/ ? ".bwh" : ".bwt")) if @options;
    subtest "a die out of a handler, at any moment of transactions: $name" => sub {
        my $table = $class->new(@options);
        $table->put_many(a => 0, b => 0);
        my %seen;
        for my $round (1 .. 300) {
            my $is_armed = 1;
            local $SIG{ALRM} = sub { die { round => $round } if $is_armed };
            my $ended = eval {
                setitimer(ITIMER_REAL, 1e-6 + rand(0.0004));
                for my $step (1 .. 20) {
                    $table->txn(sub {
                        $table->put("a", "$round.$step");
                        eval { $table->txn(sub { $table->put("inner", $round); die "inner\n" }) } // die_again($@);
                        my $inner = $table->txn;
                        $table->put("b", "$round.$step");
                        $inner->commit;
                    });
                }
                $is_armed = 0;
                setitimer(ITIMER_REAL, 0);
                1;
            };
            my $error = $@;
            $seen{ $ended ? "whole" : "interrupted" }++;
            is(ref($error) && $error->{round}, $round, "the die of the handler comes out, with BYTEWRIGHT_SEED=$seed") if !$ended;
            ok(!$table->_is_in_transaction, "no transaction is left") or last;
            my ($first, $second) = $table->get_many("a", "b");
            is($first, $second, "both changes or none") or last;
            ok(!$table->exists("inner"), "what was taken back is gone");
            $table->put("last", $round);
        }
        is($table->get("last"), 300, "the table works on");
        my @entries = map { $table->get($_) } qw(a b last);
        if (@options) {
            $table->close;
            $table = $class->new(@options);
            is_deeply([map { $table->get($_) } qw(a b last)], \@entries, "and its file has what it had");
        }
        ok($seen{interrupted}, "some were interrupted");
    };
}

# The handler's die goes on; the one of the test's own does not.
sub die_again {
    my ($error) = @_;
    die $error if ref($error);
    return;
}

# Values that the program allocates where an object that was freed would have been.
sub allocate { my @values = map { "z" x 300 } 1 .. 1000; return scalar(@values) }

for my $end ("close", "drop") {
    for my $work ("u32be", "varint", "unpack", "read") {
        subtest "a handler that ends a reader while $work waits: $end" => sub {
            pipe(my $read, my $write) or die "pipe: $!";
            my $reader = Bytewright::Reader->open($read);
            local $SIG{ALRM} = sub {
                if ($end eq "close") { $reader->close }
                else                 { undef($reader) }
                allocate();
                syswrite($write, "abcdefgh");
            };
            setitimer(ITIMER_REAL, 0.05);
            my @arguments = $work eq "unpack" ? "N" : $work eq "read" ? 4 : ();
            ok(!eval { $reader->$work(@arguments); 1 });
            like($@, $end eq "close" ? qr/expected an open reader, found it closed/ : qr/expected a reader, found no object/);
        };
    }
}

subtest "a handler that drops rows while they wait" => sub {
    pipe(my $told, my $telling) or die "pipe: $!";
    my $child = open(my $pipe, "-|") // die "fork: $!";
    if (!$child) {
        $| = 1;
        binmode(STDOUT);
        my $bytes = capture_of(20_000);
        print(substr($bytes, 0, 500_000));
        # The end comes when the handler has run, however slow the machine is.
        sysread($told, my $word, 1);
        print(substr($bytes, 500_000));
        POSIX::_exit(0);
    }
    my $rows = Bytewright::Capture->open($pipe)->packets("dst_port");
    local $SIG{ALRM} = sub { undef($rows); allocate(); syswrite($telling, "x") };
    my $count = 0;
    setitimer(ITIMER_REAL, 0.15);
    ok(!eval { $count++ while defined($rows->next_row); 1 });
    like($@, qr/undefined value/);
    cmp_ok($count, ">", 0);
    close($pipe);
};

done_testing();
