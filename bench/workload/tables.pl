# Tasks for every engine of the tables' benches from Perl, and how they are measured: workload/tables.rb says more. The
# engines stand in ours/tables.pl and peers/tables.pl; each makes a table below a folder, as a reference to a tied hash.
#
#   memory       what storing all records takes, through the hash
#   times        storing and fetching, through the hash
#   methods      the same with the methods put and get of its object
#   many         1,000 values at a time, by get_many or a slice

use 5.030;
use warnings;

use Compress::Raw::Zlib qw(crc32);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my $CHECKED_COUNT_MAX = 20_000;
my $MANY_COUNT        = 1_000;

my %TASKS = (memory => \&memory, times => \&times, methods => \&methods, many => \&many);

my ($engine, $path, $records, $header, $count, $key_len, $value_len);

# Does the task that the command line names, with one of these engines, and prints the answer.
sub run {
    my (%engines) = @_;
    (my $task, my $name, $path) = @ARGV;
    if (!$path || !$TASKS{$task} || !$engines{$name}) {
        my $names = join("|", sort(keys(%engines)));
        die "usage: $0 @{[join('|', sort(keys(%TASKS)))]} $names RECORDS\n";
    }
    # Beside the records, on their disk.
    my $folder = tempdir(DIR => dirname($path), CLEANUP => 1);
    $engine = sub { return $engines{$name}->($folder) };
    open($records, "<:raw", $path) or die "$path: $!\n";
    $header = readline($records);
    ($count, $key_len, $value_len) = split(" ", $header);
    print $TASKS{$task}->(), "\n";
    return;
}

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
    my $table  = $engine->();
    each_record(sub { $table->{$_[0]} = $_[1] });
    my $after = resident_bytes();
    return answer($table, "", {
        grown_bytes     => $after->{Rss} - $before->{Rss},
        anonymous_bytes => $after->{Anonymous} - $before->{Anonymous},
        payload_bytes   => $count * ($key_len + $value_len),
    });
}

# All keys, all values, and the keys in shuffled order.
sub prepared {
    my (@keys, @values);
    each_record(sub { push(@keys, $_[0]); push(@values, $_[1]) });
    my @shuffled = @keys[order($count)];
    return (\@keys, \@values, \@shuffled);
}

sub times {
    my ($keys, $values, $shuffled) = prepared();
    my $table = $engine->();
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $table->{$keys->[$_]} = $values->[$_] for 0 .. $#$keys;
    my $stored      = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    my $value_bytes = 0;
    $value_bytes += length($table->{$_}) for @$shuffled;
    my $got = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    return answer($table, "\"value_bytes\":$value_bytes,",
        { put_s => $stored - $start, get_s => $got - $stored });
}

sub methods {
    my ($keys, $values, $shuffled) = prepared();
    my $table  = $engine->();
    my $object = tied(%$table);
    my $start  = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $object->put($keys->[$_], $values->[$_]) for 0 .. $#$keys;
    my $stored      = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    my $value_bytes = 0;
    $value_bytes += length($object->get($_)) for @$shuffled;
    my $got = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    return answer($table, "\"value_bytes\":$value_bytes,",
        { put_s => $stored - $start, get_s => $got - $stored });
}

sub many {
    my ($keys, $values, $shuffled) = prepared();
    my $table  = $engine->();
    my $object = tied(%$table);
    $table->{$keys->[$_]} = $values->[$_] for 0 .. $#$keys;
    my $value_bytes = 0;
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    for (my $first = 0; $first < @$shuffled; $first += $MANY_COUNT) {
        my $last = $first + $MANY_COUNT - 1;
        $last = $#$shuffled if $last > $#$shuffled;
        my @values = $object ? $object->get_many(@$shuffled[$first .. $last]) : @$table{ @$shuffled[$first .. $last] };
        $value_bytes += length($_) for @values;
    }
    my $got = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    return answer($table, "\"value_bytes\":$value_bytes,", { many_s => $got - $start });
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

1;
