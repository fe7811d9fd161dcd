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

# Perl learns of a class whether it overloads anything when that is first used: so each call has a class of its own.
my $classes = 0;
sub object_of_a_new_class { my $class = "Plain" . ++$classes; return bless({ @_ }, $class) }

sub is_refused_from_the_first {
    my ($class, @options) = @_;
    my $table = tie(my %hash, $class, map { s/(\.bw.)\z/-objects$1/r } @options);
    my %calls = (
        put      => sub { $table->put("a", $_[0]) },           "put of a key" => sub { $table->put($_[0], "a") },
        put_many => sub { $table->put_many(a => $_[0]) },      get_many       => sub { my @all = $table->get_many($_[0]) },
        create   => sub { $table->create("a", $_[0]) },        append         => sub { $table->append("a", $_[0]) },
        incr     => sub { $table->incr($_[0]) },               delete         => sub { delete($hash{ $_[0] }) },
        store    => sub { $hash{a} = $_[0] },                  grep           => sub { grep { !$hash{$_}++ } $_[0] },
    );
    for my $name (sort(keys(%calls))) {
        ok(!eval { $calls{$name}->(object_of_a_new_class()); 1 }, "the first object of a class: $name");
        like("$@", qr/^expected a string as a (?:key|value), found a reference to HASH; write /);
    }
    my $partly = eval "package OnlyAdds" . ++$classes . "; use overload '+' => sub { 1 }; bless({})";
    ok(!eval { $hash{a} = $partly; 1 }, "an object that overloads, but no text");
    is($table->count, 0, "nothing was stored");
}

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
            ok(!eval { $table->put("r", $reference); 1 }, "a reference is refused");
            like("$@", qr/^expected a string as a value, found a reference to \w+; write "\$value" for its text, or encode what/);
            ok(!eval { $table->exists($reference); 1 }, "as a key, too");
            like("$@", qr/^expected a string as a key, found a reference to \w+; write "\$key" for its text, or refaddr\(\$key\) of Sc/);
        }
        ok(!$table->exists("r"), "and nothing was stored");
        is_refused_from_the_first($class, @options);

        my $object = bless { name => "shown" }, "Named";
        $table->put($object, $object);
        is($table->get("shown"), "shown", "an object that overloads strings is its string");
        my $numeric = eval "package Numeric" . ++$classes . "; use overload '0+' => sub { 7 }, fallback => 1; bless({})";
        my $nested = bless { name => bless({ name => "inside" }, "Named") }, "Named";
        $table->put_many($numeric => $nested);
        is($table->get("7"), "inside", "as Perl makes it, through numbers and objects");
        my ($first, $second) = map { bless({}, "Named") } 1 .. 2;
        ($first->{name}, $second->{name}) = ($second, $first);
        ok(!eval { $table->put("round", $first); 1 }, "but not round and round");
        delete($first->{name});

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
