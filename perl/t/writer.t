# Goal: what is written by values and bytes is there, once and in its order, wherever it goes and whatever fails in between.
# Method: random values (the seed is printed) against Perl's pack, to files, handles and pipes; the ends by hand.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use POSIX ();
use Test::More;
use Time::HiRes qw(setitimer ITIMER_REAL);

my $seed = $ENV{BYTEWRIGHT_SEED} // time;
srand($seed);
note("BYTEWRIGHT_SEED=$seed");

sub content {
    my ($path) = @_;
    open(my $file, "<:raw", $path) or return undef;
    local $/;
    return scalar(<$file>);
}

sub failure {
    my ($work) = @_;
    return eval { $work->(); 1 } ? undef : $@;
}

# Runs work in a child, and returns what it ended with.
sub in_child {
    my ($work) = @_;
    my $child = fork() // die "fork: $!";
    if (!$child) { POSIX::_exit(eval { $work->() } // 99) }
    waitpid($child, 0);
    return $? >> 8;
}

# Letters by which Perl's pack writes each number, and how many bits it has.
my %LETTERS = (
    u8    => "C",  i8    => "c",  u16le => "S<", u16be => "S>", u32le => "L<", u32be => "L>", u64le => "Q<", u64be => "Q>",
    i16le => "s<", i16be => "s>", i32le => "l<", i32be => "l>", i64le => "q<", i64be => "q>",
    f32le => "f<", f32be => "f>", f64le => "d<", f64be => "d>",
);

sub random_value {
    my ($method) = @_;
    my ($kind, $bits) = $method =~ /\A(.)(\d+)/;
    return (rand(2) - 1) * 2**int(rand(50)) if $kind eq "f";
    my $number = (int(rand(2**32)) << 32 | int(rand(2**32))) >> int(rand(64));
    return $number >> (64 - $bits) if $kind eq "u";
    use integer;
    return ($number << (64 - $bits)) >> (64 - $bits);
}

# Writes random values, and returns what is to be found.
sub write_values {
    my ($writer) = @_;
    my $expected = "";
    for (1 .. 30_000) {
        my $method = (keys(%LETTERS), "write")[rand(keys(%LETTERS) + 1)];
        my $value  = $method eq "write" ? "\xff" x rand(40) : random_value($method);
        $writer->$method($value);
        $expected .= $method eq "write" ? $value : pack($LETTERS{$method}, $value);
    }
    return $expected;
}

subtest "values are those that pack gives" => sub {
    for my $mode (qw(anew append replace)) {
        my $path   = Kinds::path(".bin");
        my $writer = Bytewright::Writer->open($path, mode => $mode, sync => $mode eq "append");
        my $expected = write_values($writer);
        is($writer->tell, length($expected), "$mode, the place");
        $writer->close;
        ok(content($path) eq $expected, "$mode, seed $seed");
    }
};

subtest "a handle and a pipe get the same" => sub {
    my $path = Kinds::path(".bin");
    open(my $handle, ">:raw", $path) or die;
    print $handle "printed before, ";
    my $writer = Bytewright::Writer->open($handle, sync => 1);
    close($handle) or die;
    my $expected = write_values($writer);
    is($writer->tell, length($expected), "places count from the first byte");
    is(failure(sub { $writer->seek(0) })->os_error, POSIX::ESPIPE(), "which is all that they do");
    $writer->close;
    ok(content($path) eq "printed before, $expected", "a handle, seed $seed");
    for my $how ("a pipe", "a named pipe") {
        my $fifo = Kinds::path(".fifo");
        POSIX::mkfifo($fifo, 0600) or die;
        pipe(my $out, my $in) or die;
        my $child = fork() // die "fork: $!";
        if (!$child) {
            my $there = Bytewright::Writer->open($how eq "a pipe" ? $in : $fifo, sync => 1);
            write_values($there);
            $there->close;
            POSIX::_exit(0);
        }
        close($in);
        open($out, "<:raw", $fifo) or die if $how eq "a named pipe";
        my $found = do { local $/; <$out> };
        waitpid($child, 0);
        is($?, 0);
        # The child drew the numbers that are the next ones here.
        ok($found eq write_values(Bytewright::Writer->open("/dev/null")), "$how, seed $seed");
    }
};

subtest "numbers of 24 bits, varints and zigzags come back" => sub {
    my $path   = Kinds::path(".bin");
    my $writer = Bytewright::Writer->open($path);
    my @numbers = (0, 1, 127, 128, 300, 2**31, ~0, "18446744073709551615");
    my @signed  = (0, -1, 1, -2, 9223372036854775807, -9223372036854775808);
    is($writer->u24le(0x010203)->u24be(0x010203), $writer, "methods return the writer");
    $writer->varint($_) for @numbers;
    $writer->zigzag($_) for @signed;
    $writer->close;
    my $reader = Bytewright::Reader->open($path);
    is($reader->read(6), "\3\2\1\1\2\3");
    is($reader->varint, $_) for @numbers;
    is($reader->zigzag, $_) for @signed;
    ok($reader->eof);
};

subtest "a value that does not fit writes nothing" => sub {
    my $path   = Kinds::path(".bin");
    my $writer = Bytewright::Writer->open($path);
    my @cases = (
        [u8 => 256, qr/^expected a whole number from 0 to 255, found 256/], [u8 => -1, qr/from 0 to 255, found -1/],
        [i8 => 128, qr/from -128 to 127, found 128/], [i8 => -129, qr/found -129/], [u24be => 2**24, qr/from 0 to 16777215/],
        [u64be => 2**64, qr/from 0 to 18446744073709551615/], [u64be => "18446744073709551616", qr/found 18446744073709551616/],
        [u64le => "1e30", qr/found 1e30/], [i64be => 2**63, qr/from -9223372036854775808 to 9223372036854775807/],
        [varint => -1, qr/from 0/], [varint => 9**9**9, qr/found Inf/], [zigzag => ~0, qr/from -9223372036854775808/],
        [u8 => 1.5, qr/found 1\.5/], [u8 => "one", qr/found one/], [u8 => undef, qr/found undef/], [u8 => [], qr/a reference to ARRAY/],
        [f32be => 1e39, qr/^\Q$path\E|fits into 4 bytes/], [f64be => "x", qr/^expected a number, found x/], [f64be => undef, qr/found undef/],
        [write => "\x{263a}", qr/^expected bytes as bytes to write, found a character above 255; encode it at /],
        [write => [], qr/^expected a string as bytes to write, found a reference/],
        [seek => "there", qr/as a place/],
    );
    for (@cases) {
        my ($method, $value, $message) = @$_;
        my $error = failure(sub { $writer->$method($value) });
        is($error && $error->kind, "argument", $method);
        like("$error", $message);
    }
    is($writer->tell, 0, "nothing");
    my $latin = "\xe9";
    utf8::upgrade($latin);
    $writer->u8(255)->i8(-128)->u8("7")->u8(3.0)->f64be("inf")->write($latin)->write("")->close;
    is(content($path), "\xff\x80\7\3\x7f\xf0\0\0\0\0\0\0\xe9", "bounds are taken");
};

subtest "the mode says what becomes of a file" => sub {
    my $path = Kinds::path(".bin");
    Bytewright::Writer->open($path)->write("some text that is longer")->close;
    Bytewright::Writer->open($path)->write("anew")->close;
    is(content($path), "anew");
    my $writer = Bytewright::Writer->open($path, mode => "append");
    is($writer->tell, 4);
    $writer->write(", and more")->sync;
    is(content($path), "anew, and more");
    $writer->close;
    chmod(0640, $path) or die;
    $writer = Bytewright::Writer->open($path, mode => "replace");
    $writer->write("new")->flush;
    is(content($path), "anew, and more", "a file is replaced at the end");
    $writer->discard;
    $writer = Bytewright::Writer->open($path, mode => "replace");
    $writer->write("half");
    undef $writer;
    is(content($path), "anew, and more", "not with the end of the object");
    Bytewright::Writer->open($path, mode => "replace", sync => "true")->write("new")->close;
    is(content($path), "new");
    is((stat($path))[2] & 07777, 0640, "with its permissions");
    is_deeply([glob("$path*")], [$path], "nothing is left beside it");
};

subtest "a length at the beginning is written at the end" => sub {
    my $path   = Kinds::path(".bin");
    my $writer = Bytewright::Writer->open($path);
    $writer->u16be(0)->write("body");
    ok($writer->seek(0));
    $writer->u16be(0x4142);
    $writer->seek(1, 1);
    $writer->write("r");
    $writer->seek(0, 2);
    is($writer->tell, 6);
    is(failure(sub { $writer->seek(-7, 1) })->os_error, POSIX::EINVAL());
    $writer->close;
    is(content($path), "ABbrdy");
};

subtest "what is discarded is not written, and a closed writer writes no more" => sub {
    my $path   = Kinds::path(".bin");
    my $writer = Bytewright::Writer->open($path);
    $writer->write("flushed")->flush->write(", and gathered");
    $writer->discard;
    is(content($path), "flushed");
    for (qw(u8 f64le varint write seek)) { my $method = $_; is(failure(sub { $writer->$method(1) })->kind, "closed", $method) }
    for (qw(tell flush sync)) { my $method = $_; is(failure(sub { $writer->$method })->kind, "closed", $method) }
    is(failure(sub { $writer->close; $writer->discard; $writer->close }), undef, "closing again does nothing");
};

subtest "the end of the object writes what is gathered" => sub {
    my $path = Kinds::path(".bin");
    { Bytewright::Writer->open($path)->write("gathered") }
    is(content($path), "gathered");
    system($^X, "-MBytewright", "-e", 'our $w = Bytewright::Writer->open(IO::File->new(shift, "w")); $w->write("at the end")', $path);
    is(content($path), "at the end", "that of the program, too, with a handle");
};

subtest "a full disk leaves the writer open" => sub {
    plan skip_all => "no /dev/full" if !-w "/dev/full";
    open(my $full, ">", "/dev/full") or die;
    for my $output ("/dev/full", $full) {
        my $writer = Bytewright::Writer->open($output)->write("lost");
        for my $method (qw(flush close close sync)) {
            my $error = failure(sub { $writer->$method });
            is($error && $error->kind, "io", $method);
            is($error->os_error, POSIX::ENOSPC());
            like("$error", qr/No space left on device|bw_write/);
        }
        my $many = failure(sub { $writer->write("x" x 1_000_000) });
        is($many->os_error, POSIX::ENOSPC());
        ok($writer->tell < 1_000_000, "the place says what was taken");
        $writer->discard;
        my @warnings;
        local $SIG{__WARN__} = sub { push(@warnings, @_) };
        { Bytewright::Writer->open($output)->write("lost") }
        like("@warnings", qr/^a writer was left open, and closing it failed: /);
    }
};

subtest "handlers of signals run, and may die, and nothing is lost or doubled" => sub {
    for my $how ("a handle", "a named pipe") {
        my $fifo = Kinds::path(".fifo");
        POSIX::mkfifo($fifo, 0600) or die;
        open(my $both, "+<:raw", $fifo) or die;
        my $writer = Bytewright::Writer->open($how eq "a handle" ? $both : $fifo);
        my ($found, $handled) = ("", 0);
        my $bytes = join("", map { chr(rand(256)) } 1 .. 300_000);
        my $drain = sub { $handled++; sysread($both, $found, 60_000, length($found)); setitimer(ITIMER_REAL, 0.05) };
        local $SIG{ALRM} = sub { $drain->(); $bytes =~ tr/\0-\xff/x/ if $handled == 2 };
        my $expected = $bytes;
        setitimer(ITIMER_REAL, 0.05);
        $writer->write($bytes);
        ok($handled > 2, "$how: the call goes on after handlers, which may change the string");
        $SIG{ALRM} = sub { die "enough\n" };
        setitimer(ITIMER_REAL, 0.05);
        is(failure(sub { $writer->write("y" x 400_000) }), "enough\n", "they may die");
        my $taken = $writer->tell - length($expected);
        ok($taken < 400_000, "the place says what was taken");
        $SIG{ALRM} = $drain;
        setitimer(ITIMER_REAL, 0.05);
        $writer->flush;
        setitimer(ITIMER_REAL, 0);
        while (length($found) < length($expected) + $taken) { sysread($both, $found, 60_000, length($found)) or last }
        ok($found eq $expected . "y" x $taken, "each byte once, seed $seed");
        $SIG{ALRM} = sub { $writer->discard };
        setitimer(ITIMER_REAL, 0.2);
        is(failure(sub { $writer->write("z" x 400_000) })->kind, "closed", "and discard the writer");
    }
    my $fifo = Kinds::path(".fifo");
    POSIX::mkfifo($fifo, 0600) or die;
    local $SIG{ALRM} = sub { die "enough\n" };
    setitimer(ITIMER_REAL, 0.2);
    is(failure(sub { Bytewright::Writer->open($fifo) }), "enough\n", "the wait for somebody who reads ends");
};

subtest "a child writes nothing of its parent's" => sub {
    my $path = Kinds::path(".bin");
    open(my $handle, ">:raw", "$path.handle") or die;
    my @writers = map { Bytewright::Writer->open($_, sync => 1)->write("once") } $path, $handle;
    is(in_child(sub {
        for my $writer (@writers) {
            return 1 if failure(sub { $writer->u8(1) })->kind ne "closed" || failure(sub { $writer->flush })->kind ne "closed";
        }
        $writers[0]->close;
        $writers[1]->close;
        return 7;
    }), 7, "methods die, and close does not");
    is(in_child(sub { @writers = (); return 7 }), 7, "nor does the end of the objects");
    $_->close for @writers;
    is(content($_), "once") for $path, "$path.handle";
    unlink("$path.handle");
};

subtest "the output may be the input" => sub {
    my $path = Kinds::path(".bin");
    Bytewright::Writer->open($path)->write("abc")->close;
    my $reader = Bytewright::Reader->open($path);
    my $writer = Bytewright::Writer->open($path, mode => "replace");
    while (defined(my $byte = $reader->u8)) { $writer->u8($byte + 1) }
    $writer->close;
    is(content($path), "bcd", "with replace");
};

subtest "wrong calls" => sub {
    my $path = Kinds::path(".bin");
    my @cases = (
        [sub { Bytewright::Writer->open("/missing/file") },              "io",       qr/No such file/],
        [sub { Bytewright::Writer->open("/dev") },                       "io",       qr/Is a directory/],
        [sub { Bytewright::Writer->open([]) },                           "argument", qr/^expected a path, found a reference/],
        [sub { Bytewright::Writer->open(undef) },                        "argument", qr/^expected a path, found undef/],
        [sub { Bytewright::Writer->open("a\0b") },                       "argument", qr/^expected a path without a zero byte/],
        [sub { Bytewright::Writer->open($path, mod => "append") },       "argument", qr/^expected mode or sync as an option, found mod /],
        [sub { Bytewright::Writer->open($path, mode => "w") },           "argument", qr/^expected anew, append or replace as mode, found w /],
        [sub { Bytewright::Writer->open($path, sync => "commit") },      "argument", qr/^expected true or false as sync, found commit /],
        [sub { Bytewright::Writer->open(\*STDOUT, mode => "append") },   "argument", qr/^expected no mode with a handle/],
        [sub { open(my $out, ">", \my $text); Bytewright::Writer->open($out) }, "argument", qr/^expected a handle with a file descriptor/],
    );
    for (@cases) {
        my ($work, $kind, $text) = @$_;
        my $error = failure($work);
        is($error && $error->kind, $kind);
        like("$error", $text);
    }
    ok(!-e $path, "nothing was made");
};

done_testing();
