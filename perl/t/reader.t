# Goal: a reader gives what is in binary input, by values and by records, from wherever it comes.
# Method: random bytes (the seed is printed) against Perl's unpack, from files, handles, memory and gzip; the ends by hand.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use IO::Compress::Gzip qw(gzip);
use Kinds;
use Pipes;
use POSIX ();
use Test::More;

my $seed = $ENV{BYTEWRIGHT_SEED} // time;
srand($seed);
note("BYTEWRIGHT_SEED=$seed");

# Letters by which Perl's unpack reads each number; of those of 24 bits, with a zero byte beside them.
my %LETTERS = (
    u8    => "C",  i8    => "c",  u16le => "S<", u16be => "S>", u32le => "L<", u32be => "L>", u64le => "Q<", u64be => "Q>",
    i16le => "s<", i16be => "s>", i32le => "l<", i32be => "l>", i64le => "q<", i64be => "q>",
    f32le => "f<", f32be => "f>", f64le => "d<", f64be => "d>",
);

sub file_of {
    my ($bytes) = @_;
    my $path = Kinds::path(".bin");
    open(my $file, ">:raw", $path) or die;
    print $file $bytes;
    close($file);
    return $path;
}

# Readers of the same bytes from all there is to read from.
sub readers_of {
    my ($bytes) = @_;
    gzip(\$bytes, \my $compressed) or die;
    my $path = file_of($bytes);
    open(my $handle, "<", $path) or die;
    my %inputs = ("a file" => $path, "a compressed file" => file_of($compressed), "bytes" => \$bytes,
        "a handle" => $handle, "a pipe" => Pipes::with_bytes($bytes, 5000));
    return map { [$_, Bytewright::Reader->open($inputs{$_})] } sort(keys(%inputs));
}

my $bytes = pack("C*", map { rand(256) } 1 .. 200_000);

subtest "options are given by name" => sub {
    gzip(\$bytes, \my $compressed) or die;
    my $path = file_of($compressed);
    open(my $handle, "<", $path) or die;
    for my $input ($path, $handle, \$compressed) {
        is(Bytewright::Reader->open($input, compressed => "none")->read(2), "\x1f\x8b", "bytes as they are");
    }
    is(Bytewright::Reader->open($path, compressed => undef)->read(99), substr($bytes, 0, 99), "undef is not given");
    is(Bytewright::Reader->open($path, compressed => "gzip")->read(99), substr($bytes, 0, 99), "one that is named");
    for (["compresed", "none", qr/found compresed; did you mean compressed\?/], ["compressed", "gzp", qr/did you mean gzip\?/]) {
        my ($name, $value, $message) = @$_;
        for my $input ($path, $handle, \$compressed) {
            my $error = eval { Bytewright::Reader->open($input, $name => $value); 1 } ? "" : $@;
            is($error && $error->kind, "argument", "$name is refused");
            like("$error", $message, "with a hint");
        }
    }
};

subtest "values are those that unpack gives" => sub {
    for (readers_of($bytes)) {
        my ($name, $reader) = @$_;
        my ($place, $wrong) = (0, 0);
        while (!$reader->eof) {
            my $method = (keys(%LETTERS), qw(u24le u24be))[rand(keys(%LETTERS) + 2)];
            my $len    = $method =~ /(\d+)/ ? $1 / 8 : die;
            last if $place + $len > length($bytes);
            my $found = $reader->$method;
            my $next  = substr($bytes, $place, $len);
            my $expected = $method eq "u24le" ? unpack("V", "$next\0") : $method eq "u24be" ? unpack("N", "\0$next")
                : unpack($LETTERS{$method}, $next);
            $wrong++ if "$found" ne "$expected";
            $place += $len;
        }
        is($wrong, 0, "$name, seed $seed");
        is($reader->tell, $place, "to the end");
    }
};

subtest "records are those that unpack gives" => sub {
    my $template = "N s> Q< a3 x C d";
    my $len      = length(pack($template, (0) x 6));
    my @expected = map { join("|", unpack($template, substr($bytes, $_ * $len, $len))) } 0 .. int(length($bytes) / $len) - 1;
    for (readers_of($bytes)) {
        my ($name, $reader) = @$_;
        my @found = (join("|", $reader->unpack($template)));
        my @many  = $reader->unpack($template, 1000);
        push(@found, join("|", splice(@many, 0, 6))) while @many;
        my $rows = $reader->records($template, qw(id small low text byte real));
        is_deeply([$rows->names], [qw(id small low text byte real)]);
        eval {
            while (my @row = $rows->next_row) { push(@found, join("|", @row)) }
            1;
        } or is($@->kind, "truncated", "the last record is cut");
        is_deeply(\@found, \@expected, "$name, seed $seed");
        ok(!eval { $reader->u8; 1 }, "rows have taken the reader over");
        is($@->kind, "closed");
    }
};

subtest "bytes, places and the end" => sub {
    for (readers_of("abcdefghij")) {
        my ($name, $reader) = @$_;
        is($reader->read(3), "abc", $name);
        is($reader->skip(2), 2);
        is($reader->tell, 5);
        is($reader->read, "fghij", "all that is left");
        ok($reader->eof);
        is($reader->read, "", "nothing is left");
        is($reader->read(1), undef, "undef at the end");
        is($reader->read(0), "");
        is($reader->u8,      undef);
        is($reader->varint,  undef);
        is($reader->skip(5), 0);
        is_deeply([$reader->unpack("N")],     []);
        is_deeply([$reader->unpack("C", 9)], []);
        next if $name eq "a pipe" || $name eq "a handle" || $name eq "bytes";
        ok($reader->seek(2));
        is($reader->read(1), "c", "seek goes anywhere");
        $reader->seek(1, 1);
        is($reader->read(1), "e");
        $reader->seek(-1, 2);
        is($reader->read(9), "j");
    }
    my $once = Bytewright::Reader->open(Pipes::with_bytes("abc", 5000));
    $once->u8;
    ok(!eval { $once->seek(0); 1 }, "not backwards in a pipe");
    is($@->os_error, POSIX::ESPIPE());
    is($once->read, "bc", "and nothing is lost");
};

subtest "what the input ends within has a place, and nothing of it is taken" => sub {
    for (readers_of("ab\x01\x02\x03")) {
        my ($name, $reader) = @$_;
        $reader->skip(2);
        for my $call (sub { $reader->u32be }, sub { $reader->unpack("N") }, sub { $reader->f64le }) {
            ok(!eval { $call->(); 1 }, $name);
            is($@->kind,   "truncated");
            is($@->offset, 2);
        }
        is($reader->u24be, 0x010203);
    }
    my $reader = Bytewright::Reader->open(\"\x80\x80");
    ok(!eval { $reader->varint; 1 });
    is($@->kind, "truncated");
    my $endless = Bytewright::Reader->open(\("\xff" x 20));
    ok(!eval { $endless->varint; 1 });
    is($@->kind, "format");
    is_deeply([Bytewright::Reader->open(\"\0\1\0\2\0")->unpack("n", 5)], [1, 2], "what is whole comes before");
};

subtest "varints and zigzags" => sub {
    my @numbers = (0, 1, 127, 128, 300, 2**31, ~0);
    my $written = join("", map { my $n = $_; my $out = ""; do { my $low = $n & 127; $n >>= 7; $out .= chr($low | ($n ? 128 : 0)) } while $n; $out } @numbers);
    my $reader = Bytewright::Reader->open(\$written);
    is($reader->varint, $_) for @numbers;
    my $signed = Bytewright::Reader->open(\"\x00\x01\x02\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    is($signed->zigzag, $_) for 0, -1, 1, -2, -9223372036854775808;
};

subtest "damage of compressed input comes after what is before it" => sub {
    gzip(\$bytes, \my $compressed) or die;
    my $reader = Bytewright::Reader->open(file_of(substr($compressed, 0, length($compressed) - 50_000)));
    my $found  = $reader->read;
    ok(length($found) > 50_000 && substr($bytes, 0, length($found)) eq $found, "what is good is given");
    ok(!eval { $reader->read; 1 }, "then it dies");
    is($@->kind, "truncated");
    ok($@->file, "with the file");
};

subtest "wrong calls" => sub {
    my @cases = (
        [sub { Bytewright::Reader->open("/missing.bin") },         "io",       qr/No such file/],
        [sub { Bytewright::Reader->open([]) },                     "argument", qr/^expected a path, found a reference/],
        [sub { Bytewright::Reader->open(undef) },                  "argument", qr/^expected a path, found undef/],
        [sub { Bytewright::Reader->open(\"\x{263a}") },            "argument", qr/^expected bytes as input, found a character/],
        [sub { Bytewright::Reader->open(\"ab")->read(-1) },        "argument", qr/^expected a whole number of 0 or more/],
        [sub { Bytewright::Reader->open(\"ab")->skip(0.5) },       "argument", qr/^expected a whole number of 0 or more/],
        [sub { Bytewright::Reader->open(\"ab")->seek(0, 3) },      "argument", qr/whence/],
        [sub { Bytewright::Reader->open(\"ab")->unpack("w") },     "argument", qr/./],
        [sub { Bytewright::Reader->open(\"ab")->records("n", "a", "b") }, "argument", qr/./],
        [sub { open(my $in, "<", \"abc"); Bytewright::Reader->open($in) }, "argument", qr/^expected a handle with a file descriptor/],
        [sub { my $reader = Bytewright::Reader->open(\"ab"); $reader->close; $reader->u8 }, "closed", qr/^expected an open reader/],
    );
    for (@cases) {
        my ($work, $kind, $text) = @$_;
        ok(!eval { $work->(); 1 }, $text);
        is($@->kind, $kind);
        like("$@", $text);
    }
};

subtest "a wait for a pipe lets signal handlers run" => sub {
    for my $how ("a handle", "a path") {
        my $path = Kinds::path(".fifo");
        POSIX::mkfifo($path, 0600) or die "mkfifo: $!";
        open(my $fifo, "+<", $path) or die;
        my $reader = Bytewright::Reader->open($how eq "a path" ? $path : $fifo);
        my $handled = 0;
        local $SIG{ALRM} = sub { $handled++; syswrite($fifo, "\0\0\0\7") };
        POSIX::alarm(1);
        is($reader->u32be, 7, "$how: the call goes on after the handler");
        is($handled, 1);
        local $SIG{ALRM} = sub { die "enough\n" };
        POSIX::alarm(1);
        ok(!eval { $reader->u32be; 1 });
        is($@, "enough\n", "which may die");
        syswrite($fifo, "\0\0\0\x8");
        is($reader->u32be, 8, "and nothing was lost");
    }
};

done_testing();
