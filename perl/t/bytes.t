# Goal: strings go in and out as Perl people expect, and nothing is changed in silence.
# Method: bytes, texts, numbers, undef, references, overloading and magic as keys and values of all kinds of tables.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use Test::More;

package Named { use overload '""' => sub { $_[0]{on_use}->() if $_[0]{on_use}; return $_[0]{name} }, fallback => 1 }
package Counted { sub TIESCALAR { my $count = 0; bless \$count } sub FETCH { "fetched " . ++${ $_[0] } } }

package main;

for my $kind (Kinds::all()) {
    my ($name, $class, @options) = @$kind;
    subtest "with $name" => sub {
        my $table = $class->new(@options);
        my $all = join("", map { chr } 0 .. 255);
        $table->put($all => $all);
        is($table->get($all), $all, "all bytes are kept");
        ok(!utf8::is_utf8($table->get($all)), "and come out as bytes");

        my $upgraded = "caf\xe9";
        utf8::upgrade($upgraded);
        $table->put($upgraded => $upgraded);
        is($table->get("caf\xe9"), "caf\xe9", "how Perl keeps a string does not matter");
        ok(utf8::is_utf8($upgraded), "and is left as it was");

        for my $wide (["\x{263a}", "x"], ["x", "\x{263a}"]) {
            ok(!eval { $table->put(@$wide); 1 }, "a wide character is refused");
            like("$@", qr/^expected bytes as a (?:key|value), found a character above 255; encode it, or open with utf8 => 1 at \Q$0\E line/);
            is($@->kind, "argument");
        }
        ok(!eval { $table->get("\x{263a}"); 1 }, "also to look for");

        for my $reference ([], {}, \"x", sub { }, qr/x/) {
            next if ref($reference) eq "Regexp";    # it has a text
            ok(!eval { $table->put("r", $reference); 1 }, "a reference is refused");
            like("$@", qr/^expected a string as a value, found a reference to /);
            ok(!eval { $table->exists($reference); 1 }, "as a key, too");
        }
        ok(!$table->exists("r"), "and nothing was stored");

        my $object = bless { name => "shown" }, "Named";
        $table->put($object, $object);
        is($table->get("shown"), "shown", "an object that overloads strings is its string");

        my @warnings;
        {
            local $SIG{__WARN__} = sub { push(@warnings, @_) };
            $table->put("undef", undef);
        }
        is($table->get("undef"), "", "undef is the empty string");
        is(scalar(@warnings), 1, "with Perl's warning");
        like($warnings[0], qr/^Use of uninitialized value/);

        tie(my $counted, "Counted");
        $table->put("magic", $counted);
        is($table->get("magic"), "fetched 1", "magic is asked once");
        my $number = 12;
        $table->put($number, $number);
        is($table->get("12") + 0, 12, "numbers are their text");
        $table->put("captured", $1) if "key=value" =~ /=(.*)/;
        is($table->get("captured"), "value", "what a pattern found is a string");
        $table->put("part", substr("abcdef", 2, 2));
        is($table->get("part"), "cd");
    };
}

subtest "with utf8 a table keeps texts" => sub {
    for my $kind (Kinds::all()) {
        my ($name, $class, @options) = @$kind;
        tie(my %texts, $class, @options, utf8 => 1);
        $texts{""} = "";
        is_deeply({%texts}, { "" => "" }, "$name: empty ones, of a table that has no other");
        delete($texts{""});
        $texts{"sm\x{ef}le \x{263a}"} = "\x{263a}";
        is($texts{"sm\x{ef}le \x{263a}"}, "\x{263a}", "$name: characters go in and out");
        is_deeply([keys(%texts)], ["sm\x{ef}le \x{263a}"], "as keys");
        $texts{"\xe9"} = "\xe9";
        is($texts{"\xe9"}, "\xe9", "those below 256, too");
        is(length($texts{"\xe9"}), 1);
        my $table = tied(%texts);
        is_deeply([$table->get_many("\x{e9}")], ["\xe9"]);
        my $snapshot = $table->snapshot;
        is($snapshot->get("\xe9"), "\xe9", "in a snapshot");
        is_deeply([$table->prefix("sm\xef")->values], ["\x{263a}"], "in a range") if $class =~ /Tree/;
    }
    my $file = Kinds::path(".bwh");
    Bytewright::HashTable->new(file => $file)->put_many(good => "\xc3\xa9", bad => "a\xff");
    my $texts = Bytewright::HashTable->new(file => $file, utf8 => 1);
    is($texts->get("good"), "\xe9", "the file has UTF-8");
    ok(!eval { $texts->get("bad"); 1 }, "what is not UTF-8 is an error");
    is($@->kind, "format");
    like("$@", qr/^expected UTF-8, found the byte 0xFF after 1 bytes of a key or value; open without utf8 at/);
};

subtest "code that runs while arguments are read cannot hurt" => sub {
    my $table = Bytewright::HashTable->new;
    my $key   = "k" x 100;
    my $value = bless { name => "v", on_use => sub { $key = "other" } }, "Named";
    $table->put($key, $value);
    is($table->count, 1, "a value whose text changes the key");
    my $closing = bless { name => "v", on_use => sub { $table->close } }, "Named";
    ok(!eval { $table->put("a", $closing); 1 }, "or closes the table");
    is($@->kind, "closed");
    my $gone = Bytewright::HashTable->new;
    my $ending = bless { name => "v", on_use => sub { undef($gone) } }, "Named";
    ok(!eval { $gone->put("a", $ending); 1 }, "or ends its object");
    my $dying = Bytewright::HashTable->new;
    ok(!eval { $dying->get_many("a", bless({ on_use => sub { die("no\n") } }, "Named")); 1 }, "or dies");
    is($@, "no\n");
    $dying->put("still", "good");
    is($dying->get("still"), "good", "leaves the table usable");
};

done_testing();
