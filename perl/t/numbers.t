# Goal: a number that a program gives is taken as it is or refused: it is never rounded, cut, wrapped or taken for 0.
# Method: every argument and option that is a number, with what is one and what is not.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;
use Math::BigInt;
use Test::More;

package Unnumbered { sub new { return bless({}, $_[0]) } }

package main;

my $tree    = Bytewright::TreeTable->new;
my $file    = Kinds::path(".bwh");
my $capture = Kinds::path(".pcap");
open(my $out, ">:raw", $capture) or die;
print $out pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1);
close($out);

# Values that are no number, and no whole number, for whatever it is.
my @NO_NUMBERS = ("abc", "", "1x", "nan", [], {}, \1, sub { 1 }, Unnumbered->new);
my @NO_WHOLE   = (@NO_NUMBERS, 1.9, "1.5", 9**9**9);

sub shown { my ($value) = @_; return ref($value) || "'$value'" }

sub is_refused {
    my ($what, $work, @values) = @_;
    for my $value (@values) {
        ok(!eval { $work->($value); 1 }, "$what: " . shown($value)) or next;
        is($@->kind, "argument");
        # The core takes infinity for the most there is.
        my $shown = $value eq 9**9**9 ? qr/\Q$value\E|18446744073709551615/i : qr/\Q$value\E/i;
        my $found = ref($value) ? qr/a reference to \w+/ : $shown;
        # Options of captures are told by the core, all others by the extension.
        my $told = qr/(?:a whole number .*|seconds of 0 or more|text or a number) as \Q$what\E|\Q$what\E (?:to be|of) .*/;
        like("$@", qr/^expected $told, found "?$found"? at \Q$0\E line/);
    }
}

subtest "what is added" => sub {
    for my $kind (Kinds::all()) {
        my ($name, $class, @options) = @$kind;
        my $table = $class->new(@options);
        is_refused("what is added", sub { $table->incr("n", $_[0]) }, @NO_WHOLE, 2**63, "9223372036854775808", ~0, -2**64,
            "-9223372036854775809");
        ok(!eval { $table->incr("n", undef); 1 }, "undef");
        ok(!$table->exists("n"), "$name: nothing was stored");
        my $sum = 0;
        for my $by (1, "7", "1.0", 1e3, "1e3", -3, " 5 ", Math::BigInt->new(12), !!1) {
            $sum += $by;
            is($table->incr("n", $by), $sum, "what is a whole number is taken: " . shown($by));
        }
        is($table->incr("high", "9223372036854775807"), 9223372036854775807, "up to the highest");
        is($table->incr("low", -9223372036854775807 - 1), -9223372036854775807 - 1, "and the lowest");
        ok(!eval { $table->incr("high"); 1 }, "a sum beyond is refused");
        is($table->get("high"), "9223372036854775807", "and changes nothing");
    }
    my $adb = Bytewright::ADB->new;
    $adb->open("*");
    for my $method (qw(addint adddouble)) {
        ok(!eval { $adb->$method("n", $_); 1 }, "a reference is not added by $method") for [], Unnumbered->new;
        ok($adb->$method("$method of an object", Math::BigInt->new(3)) == 3, "but an object that is a number");
    }
};

subtest "options" => sub {
    my $open = sub { Bytewright::Capture->open($capture, @_) };
    my %whole = (
        jobs      => sub { $open->(jobs => $_[0]) },
        snaplen   => sub { Bytewright::Capture->live("none", snaplen => $_[0]) },
        buffer    => sub { Bytewright::Capture->live("none", buffer => $_[0]) },
    );
    is_refused($_, $whole{$_}, @NO_WHOLE, -3, 2**32) for sort(keys(%whole));
    my %counts = (
        max_flows => sub { $open->()->flows(max_flows => $_[0]) },
        top       => sub { $open->()->sum(top => $_[0]) },
        limit     => sub { $tree->range(limit => $_[0]) },
        "a count" => sub { Bytewright::Reader->open(\"ab")->read($_[0]) },
    );
    is_refused($_, $counts{$_}, grep { $_ ne 9**9**9 } @NO_WHOLE, -3) for sort(keys(%counts));
    $counts{$_}->(~0), $counts{$_}->(9**9**9) for sort(keys(%counts));
    my %seconds = (
        timeout        => sub { Bytewright::HashTable->new(file => $file, timeout => $_[0]) },
        idle_timeout   => sub { $open->()->flows(idle_timeout => $_[0]) },
        active_timeout => sub { $open->()->flows(active_timeout => $_[0]) },
        every          => sub { $open->()->sum(every => $_[0]) },
    );
    is_refused($_, $seconds{$_}, @NO_NUMBERS, -1, -0.5) for sort(keys(%seconds));
    ok(!-e $file, "no file was made");
    ok(!eval { $tree->range(limit => "\x{263a}" x 1000); 1 }, "a long one");
    like("$@", qr/, found \x{263a}{100}\x{2026}\x{263a}{99} at /, "is shown in part");
    $seconds{$_}->(1.5) for sort(keys(%seconds));
    is_refused("a place", sub { Bytewright::Reader->open(\"ab")->seek($_[0]) }, @NO_WHOLE, ~0);
    is_refused("whence", sub { Bytewright::Reader->open(\"ab")->seek(0, $_[0]) }, @NO_WHOLE, -1, 3);
};

done_testing();
