# Peers: Perl's hash, and Tokyo Cabinet's hash in memory tied to one.
#
#   perl tables.pl memory|times hash|tc-hash RECORDS
#
# workload/tables.rb says what the tasks are.

use strict;
use warnings;

use Compress::Raw::Zlib qw(crc32);
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my $CHECKED_COUNT_MAX = 20_000;

my %ENGINES = (
    "hash"    => sub { return {} },
    "tc-hash" => sub {
        require TokyoCabinet;
        tie(my %table, "TokyoCabinet::ADB", "*") or die "* does not open\n";
        return \%table;
    },
);
my %TASKS = (memory => \&memory, times => \&times);

my ($task, $engine, $path) = @ARGV;
if (!$path || !$TASKS{$task} || !$ENGINES{$engine}) {
    die "usage: tables.pl memory|times hash|tc-hash RECORDS\n";
}

open(my $records, "<:raw", $path) or die "$path: $!\n";
my $header = readline($records);
my ($count, $key_len, $value_len) = split(" ", $header);
print $TASKS{$task}->(), "\n";

# Calls $take with each key and value.
sub each_record {
    my ($take) = @_;
    seek($records, length($header), 0);
    for (1 .. $count) {
        read($records, my $key,   $key_len);
        read($records, my $value, $value_len);
        $take->($key, $value);
    }
}

# The first numbers of the shuffled ones.
sub order {
    my ($count_max) = @_;
    seek($records, length($header) + $count * ($key_len + $value_len), 0);
    read($records, my $numbers, 4 * ($count < $count_max ? $count : $count_max));
    return unpack("V*", $numbers);
}

sub key_at {
    my ($number) = @_;
    seek($records, length($header) + $number * ($key_len + $value_len), 0);
    read($records, my $key, $key_len);
    return $key;
}

sub resident_bytes {
    open(my $rollup, "<", "/proc/self/smaps_rollup") or die "smaps_rollup: $!\n";
    my %bytes = map { /^(\w+): +(\d+) kB/ ? ($1 => $2 * 1024) : () } <$rollup>;
    return \%bytes;
}

sub memory {
    my $before = resident_bytes();
    my $table  = $ENGINES{$engine}->();
    each_record(sub { $table->{$_[0]} = $_[1] });
    my $after = resident_bytes();
    return answer($table, "", {
        grown_bytes     => $after->{Rss} - $before->{Rss},
        anonymous_bytes => $after->{Anonymous} - $before->{Anonymous},
        payload_bytes   => $count * ($key_len + $value_len),
    });
}

sub times {
    my (@keys, @values);
    each_record(sub { push(@keys, $_[0]); push(@values, $_[1]) });
    my @shuffled = @keys[order($count)];
    my $table    = $ENGINES{$engine}->();
    my $start    = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $table->{$keys[$_]} = $values[$_] for 0 .. $#keys;
    my $stored      = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    my $value_bytes = 0;
    $value_bytes += length($table->{$_}) for @shuffled;
    my $got = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    return answer($table, "\"value_bytes\":$value_bytes,",
        { put_s => $stored - $start, get_s => $got - $stored });
}

sub answer {
    my ($table, $rest, $figures) = @_;
    my $crc = 0;
    for my $number (order($CHECKED_COUNT_MAX)) {
        my $value = $table->{key_at($number)};
        $crc = crc32($value, $crc);
    }
    my $size    = keys(%$table);
    my $numbers = join(",", map { "\"$_\":$figures->{$_}" } sort(keys(%$figures)));
    return "{\"records\":$size,\"crc\":$crc,$rest\"figures\":{$numbers}}";
}
