#!perl -T
# Goal: under -T, what comes from outside is tainted, and no tainted path is written to, as with Perl's own functions.
# Method: Scalar::Util's tainted of all that each method gives, from files and from memory.
use 5.030;
use warnings;

use Bytewright;
use Bytewright::ADB;
use File::Temp qw(tempdir);
use Scalar::Util qw(tainted);
use Test::More;

plan(skip_all => "this perl has no taint mode") if !${^TAINT};

my $empty = substr($^X, 0, 0);    # what is in $^X came from outside
BAIL_OUT("nothing is tainted") if !tainted($empty);
my ($folder) = tempdir(CLEANUP => 1) =~ /(.*)/;
my $count = 0;
sub path { return "$folder/" . ++$count . $_[0] }

# All strings and numbers inside of values.
sub leaves { return map { ref($_) eq "ARRAY" ? leaves(@$_) : ref($_) eq "HASH" ? leaves(values(%$_)) : $_ } @_ }

sub are_tainted {
    my ($what, @values) = @_;
    my @leaves = grep { defined } leaves(@values);
    ok(@leaves && !(grep { !tainted($_) } @leaves), "tainted: $what");
}

sub are_clean {
    my ($what, @values) = @_;
    my @leaves = grep { defined } leaves(@values);
    ok(@leaves && !(grep { tainted($_) } @leaves), "clean: $what");
}

# Returns the results of each method on a table that is tied to a hash.
sub found {
    my ($hash) = @_;
    my $table = tied(%$hash);
    my @each = each(%$hash);
    keys(%$hash);
    my %found = (
        get => [$table->get("a")], get_many => [$table->get_many("a")], fetch => [$hash->{a}], slice => [@$hash{"a", "b"}],
        keys => [keys(%$hash)], values => [values(%$hash)], each => \@each, scan => [$table->scan->all],
        snapshot => [$table->snapshot->get("a"), $table->snapshot->scan->all], incr => [$table->incr("n")],
        delete => [delete($hash->{b})],
    );
    $hash->{b} = "2";
    if ($table->isa("Bytewright::TreeTable")) {
        my $cursor = $table->cursor;
        $cursor->first;
        $found{cursor} = [$cursor->entry, $cursor->key, $cursor->value];
        $found{first} = [$table->first, scalar($table->first)];
    }
    return \%found;
}

for my $class ("Bytewright::HashTable", "Bytewright::TreeTable") {
    subtest "with $class" => sub {
        my $suffix = $class =~ /Hash/ ? ".bwh" : ".bwt";
        tie(my %file, $class, file => path($suffix));
        %file = (a => 1, b => 2);
        my $found = found(\%file);
        are_tainted("$_ of a file", @{ $found->{$_} }) for sort(keys(%$found));
        for my $put (
            sub { $_[0]{t} = "tainted$empty" },         sub { tied(%{ $_[0] })->put_many(t => "x", u => "tainted$empty") },
            sub { $_[0]{"tainted$empty"} = "1" },       sub { tied(%{ $_[0] })->append("t", "tainted$empty") },
        ) {
            tie(my %memory, $class);
            %memory = (a => 1, b => 2);
            $found = found(\%memory);
            are_clean("$_ of a table in memory", @{ $found->{$_} }) for sort(keys(%$found));
            $put->(\%memory);
            $found = found(\%memory);
            are_tainted("$_ when one is", @{ $found->{$_} }) for sort(keys(%$found));
        }
        my $path = path($suffix);
        my $refused = qr/^Insecure dependency in open while running with -T switch at \Q$0\E line/;
        ok(!eval { $class->new(file => $path . $empty); 1 }, "a tainted path is refused");
        like("$@", $refused);
        like((eval { open(my $file, ">", $path . $empty) } // $@), $refused, "in the words of open");
        is($@->kind, "argument") if ref($@);
        ok(!-e $path, "and no file is made");
        $class->new(file => $path)->put(a => 1);
        my $reader = $class->new(file => $path . $empty, read_only => 1);
        is($reader->get("a"), 1, "to read, it is opened");
        ok(!eval { $reader->backup(path($suffix) . $empty); 1 } && "$@" =~ $refused, "a backup has no tainted path");
        ok(!eval { $reader->dump(path($suffix) . $empty); 1 } && "$@" =~ $refused, "a dump neither");
        $reader->dump("$path.dump");
        my $loaded = $class->new;
        is($loaded->load("$path.dump" . $empty), 1, "to read, it is loaded");
        ok(tainted($loaded->get("a")), "and what it has is tainted");
        for my $value ("false", 2) {
            my $opened = eval { $class->new(file => $path . $empty, read_only => $value); 1 };
            ok(!$opened && "$@" =~ $refused, "to write it is not, whatever else is true of read_only in Perl: $value");
        }
        my $adb = Bytewright::ADB->new;
        ok(!$adb->open($path . $empty), "an ADB neither");
        like($adb->error . "", $refused);
        ok($adb->open("$path#mode=r$empty"), "but to read");
        are_tainted("of an ADB", $adb->get("a"), $adb->fwmkeys(""), $adb->misc("get", ["a"]));
        ok($adb->close && $adb->open($path), "with a clean path it is written");
        ok(!$adb->copy(path($suffix) . $empty), "and copied to such ones only");
    };
}

subtest "captures and readers" => sub {
    my $path = path(".pcap");
    open(my $out, ">:raw", $path) or die;
    print $out pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), pack("V4", 1, 2, 14, 14), "\1" x 12, "\x08\x00";
    close($out);
    my $open = sub { return Bytewright::Capture->open($path . $empty) };
    are_tainted("a packet",  $open->()->next);
    are_tainted("a row",     $open->()->packets("ts", "length")->next_row);
    are_tainted("columns",   $open->()->packets("ts", "length")->next_columns);
    are_tainted("sums",      $open->()->sum(fields => ["length"])->next_row);
    are_tainted("a count",   $open->()->count_by("length"));
    my $bytes = do { open(my $in, "<:raw", $path) or die; local $/; <$in> };
    my $clean_bytes = pack("V v2 V4 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 1, 2, 14, 14) . "\1" x 12 . "\x08\x00";
    are_tainted("a packet of bytes from outside", Bytewright::Capture->open(\$bytes)->next);
    are_clean("a packet of the program's bytes", Bytewright::Capture->open(\$clean_bytes)->packets("ts", "length")->next_row);
    are_clean("a count of them", Bytewright::Capture->open(\$clean_bytes)->sum(fields => ["length"])->next_row);
    open(my $in, "<:raw", $path) or die;
    are_tainted("a packet of a handle", Bytewright::Capture->open($in)->packets("ts", "length")->next_row);
    my $udp = pack("V v2 V4 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 1, 2, 42, 42)
        . pack("x12 n C2 n3 C2 n N2 n4", 0x0800, 0x45, 0, 28, 0, 0, 64, 17, 0, 1, 2, 3, 4, 8, 0);
    my $into = path(".bwt");
    my $merging = Bytewright::Capture->open(\$udp);
    ok(!eval { $merging->flows(into => $into . $empty); 1 } && $@ =~ /Insecure dependency/, "a store at a tainted path is not written");
    is($merging->flows(into => $into)->{flows}, 1, "at a clean one it is");
    are_tainted("a flow of a store", Bytewright::FlowStore->open($into . $empty)->flows(fields => ["src_ip", "bytes"])->next_row);
    my %readers = (
        path   => sub { Bytewright::Reader->open($path) },
        handle => sub { open(my $in, "<:raw", $path) or die; Bytewright::Reader->open($in) },
        bytes  => sub { Bytewright::Reader->open(\("12345678" x 8 . $empty)) },
    );
    for my $name (sort(keys(%readers))) {
        my $reader = $readers{$name}->();
        are_tainted("numbers of a $name", $reader->u8, $reader->u16be, $reader->i32le, $reader->f32le, $reader->varint);
        are_tainted("strings", $reader->read(2), $reader->unpack("a2 n"), $readers{$name}->()->read);
        are_tainted("records", $reader->records("n C")->next_row);
    }
    my $output = path(".bin");
    ok(!eval { Bytewright::Writer->open($output . $empty); 1 } && $@ =~ /Insecure dependency/, "a writer at a tainted path is refused");
    ok(!-e $output && eval { Bytewright::Writer->open($output)->write("a$empty")->close; 1 }, "at a clean one it takes any bytes");
    my $clean = Bytewright::Reader->open(\("12345678" x 8));
    are_clean("bytes of the program", $clean->u8, $clean->read(2), $clean->unpack("a2 n"), $clean->records("n")->next_row);
};

done_testing();
