# Goal: a cache gives what was set, as it was, until it expires, is evicted or taken out; in memory, in a file, and tied to a hash.
# Method: the same over both; what has expired is made so by an expiry in the past.
use 5.030;
use warnings;
use utf8;

use Bytewright;
use File::Temp qw(tempdir);
use Memoize ();
use POSIX ();
use Test::More;

binmode(Test::More->builder->$_, ":encoding(UTF-8)") for qw(output failure_output todo_output);

my $folder = tempdir(CLEANUP => 1);
my $path   = "$folder/c.bwc";

sub refused { my ($work) = @_; eval { $work->(); 1 } and return "nothing"; return "$@" }

for my $where ([], [file => $path]) {
    subtest @$where ? "in a file" : "in memory" => sub {
        my $cache = Bytewright::Cache->new(@$where);
        for my $value ("text", "", "é€", "\xff\0", 42, -7, 1.5, undef, "18446744073709551615") {
            my $shown = $value // "undef";
            ok($cache->set("k", $value), "$shown is set");
            is_deeply([$cache->get("k")], [$value], "and comes back as it was");
        }
        ok($cache->exists("k") && !$cache->exists("none"), "exists tells what is there");
        is($cache->get("none"), undef, "what is not there is undef");
        $cache->set("\xe9", 1);
        is($cache->get("é"), 1, "a key is its characters");
        ok(!$cache->add("k", 2), "add leaves what is there");
        ok($cache->add("new", 2, expires_in => 60), "and sets what is not");
        cmp_ok(abs($cache->expires_at("new") - time() - 60), "<", 30, "with its expiry");
        is($cache->expires_at("k"), undef, "without one it stays");
        ok($cache->touch("new", -1) && !$cache->exists("new"), "touch lets it expire");
        is($cache->expire, 1, "and expire takes it out");
        is($cache->increment("sum", 40) + $cache->increment("sum"), 81, "integers are added to");
        is($cache->take("sum"), 41, "take gives what it takes out");
        is($cache->take("sum"), undef, "once");
        $cache->set($_, $_, tag => "books") for qw(a b);
        is($cache->evict("books"), 2, "a tag is evicted");
        is_deeply([$cache->keys], ["k", "é"], "keys are there in their order");
        my $made = 0;
        is($cache->compute("c", expires_in => 9, sub { "made " . ++$made }), "made 1", "compute makes a value")
            for 1 .. 2;
        ok($cache->volume > 0, "it tells its size");
        is($cache->clear, 3, "clear takes all out");
        like(refused(sub { $cache->set("r", [1]) }), qr/expected a string as a value, found a reference to ARRAY/, "a reference is refused");
        like(refused(sub { $cache->set("r", 1, expire => 1) }), qr/expected expires_in or tag as an option, found expire/, "as is another option");
        like(refused(sub { $cache->set("r", 1, expires_in => "soon") }), qr/expected a number of seconds as expires_in, found soon/, "and another time");
        like(refused(sub { $cache->increment("t") if $cache->set("t", "text") }), qr/expected an integer to add to/, "text is not added to");
        like(refused(sub { $cache->compute("c") }), qr/expected a function that makes the value/, "compute needs a function");
        $cache->clear;
        $cache->close;
        ok($cache->is_closed, "it is closed");
        like(refused(sub { $cache->get("k") }), qr/expected an open cache/, "and says so");
    };
}

subtest "over its limits" => sub {
    my $cache = Bytewright::Cache->new(file => "$folder/l.bwc", size_limit => 1 << 20);
    $cache->set($_, "x" x 1000) for 1 .. 3000;
    ok($cache->count > 300 && $cache->count < 1049, "entries are evicted");
    is($cache->get(3000), "x" x 1000, "the first that were set first");
    like(refused(sub { $cache->set("much", "x" x 300_000) }), qr/a cache.s entry of at most/, "what is too long is refused");
    like(refused(sub { Bytewright::Cache->new(size_limit => 1) }), qr/size_limit/, "as is a limit that no cache can keep");
};

subtest "tied to a hash" => sub {
    tie my %hash, "Bytewright::Cache", file => $path, expires_in => 60 or BAIL_OUT("no cache");
    @hash{qw(a b)} = (1, undef);
    is_deeply({%hash}, { a => 1, b => undef }, "it does what a hash does");
    ok(exists($hash{b}) && !exists($hash{c}) && scalar(%hash) == 2, "exists and scalar, too");
    cmp_ok(tied(%hash)->expires_at("a"), ">", time(), "what is stored has the lifetime of the hash");
    is(delete($hash{a}), 1, "delete gives the value");
    keys(%hash);
    my $seen = 0;
    while (my ($key) = each(%hash)) { $hash{"n" . $seen++} = 1 }
    is($seen, 1, "a walk is over what was there when it began");
    %hash = ();
    ok(!%hash, "and clearing clears");
    untie(%hash);
};

subtest "of a function" => sub {
    tie my %results, "Bytewright::Cache", file => $path, expires_in => 60;
    my $calls = 0;
    my $slow  = Memoize::memoize(sub { $calls++; return $_[0]**2 }, SCALAR_CACHE => [HASH => \%results], LIST_CACHE => "FAULT");
    is(scalar($slow->(12)) + scalar($slow->(12)), 288, "results are kept");
    is($calls, 1, "and made once");
};

subtest "of several processes" => sub {
    my $cache = Bytewright::Cache->new(file => $path);
    $cache->clear;
    my @children = map {
        my $child = fork() // BAIL_OUT("no child: $!");
        if (!$child) {
            $cache->increment("sum") for 1 .. 200;
            POSIX::_exit(0);
        }
        $child;
    } 1 .. 4;
    is(waitpid($_, 0) && $?, 0, "a child has ended well") for @children;
    is($cache->get("sum"), 800, "all have added");
};

# Changes bytes of all frames and records, which are behind the first 69,632 bytes of a file.
sub spoil {
    my ($file) = @_;
    open(my $handle, "+<:raw", $file) or die "$file: $!";
    for (my $at = 69_632; $at < -s $file; $at += 64) {
        seek($handle, $at, 0);
        print {$handle} "\xaa";
    }
    close($handle) or die "$file: $!";
    return;
}

subtest "that is damaged" => sub {
    for my $use ([get => 7], [take => 7], [exists => 7]) {
        my ($method, @arguments) = @$use;
        my $file = "$folder/damaged $method.bwc";
        my ($raises, $clears, $other) = map { Bytewright::Cache->new(file => $file, on_damage => $_) } "raise", "clear", "clear";
        $raises->set($_, "x" x 1000) for 1 .. 200;
        spoil($file);
        is(eval { $raises->$method(@arguments); 1 } ? "none" : $@->kind, "corrupt", "$method is an error");
        my @told;
        local $SIG{__WARN__} = sub { push(@told, @_) };
        ok(!$clears->$method(@arguments), "or goes on with an empty cache");
        is(scalar(@told), 1, "which it tells");
        like($told[0], qr/\Aa damaged cache was cleared at \S+cache\.t line \d+\.\n\z/, "of the line");
        $clears->set("a", 1);
        is_deeply([$other->keys], ["a"], "and all have the same");
        is(scalar(@told), 1, "told once");
    }
    like(refused(sub { Bytewright::Cache->new(on_damage => "keep") }), qr/expected on_damage to be raise or clear, found keep/, "nothing else is done");
};

subtest "of something else" => sub {
    my $table = Bytewright::HashTable->new(file => "$folder/t.bwh");
    $table->put("a", 1);
    like(refused(sub { Bytewright::Cache->new(file => "$folder/t.bwh") }), qr/cache/, "a table is no cache");
    is($table->get("a"), 1, "and stays as it was");
};

done_testing();
