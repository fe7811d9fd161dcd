# Goal: a table that is tied to a hash does what a hash does, but for what Bytewright::Table names.
# Method: each statement of Perl that is about hashes, with tables of all kinds.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;
use Test::More;

for my $kind (Kinds::tied_ones()) {
    my ($name, $class, @options) = @$kind;
    subtest "with $name" => sub {
        my $table = tie(my %hash, $class, @options) or BAIL_OUT("no $name");
        ok(!%hash, "an empty table is false");
        is(scalar(%hash), 0, "and has no entries");

        $hash{pear} = "green";
        $hash{plum} = "blue";
        is($hash{pear}, "green", "a value is what was stored");
        is($hash{fig}, undef, "a value that is not there is undef");
        ok(exists($hash{plum}) && !exists($hash{fig}), "exists tells what is there");
        ok(!exists($hash{fig}), "looking for a key does not make it");
        ok(%hash ? 1 : 0, "a table with entries is true");
        is(scalar(%hash), 2, "scalar counts entries");

        is(delete($hash{pear}), "green", "delete answers the value");
        is(delete($hash{pear}), undef, "or undef without one");
        ok(!exists($hash{pear}), "and the entry is gone");

        @hash{qw(a b c)} = (1, 2, 3);
        is_deeply([@hash{qw(c a none)}], [3, 1, undef], "slices are read and stored");
        is_deeply([delete(@hash{qw(a b)})], [1, 2], "and deleted");
        is_deeply({ map { $_ => $hash{$_} } keys(%hash) }, { plum => "blue", c => 3 }, "keys gives all of them");
        is_deeply([sort(values(%hash))], [3, "blue"], "values, too");
        my %slice = %hash{qw(c plum)};
        is_deeply(\%slice, { c => 3, plum => "blue" }, "a slice of keys with values");

        my %seen;
        while (my ($key, $value) = each(%hash)) { $seen{$key} = $value }
        is_deeply(\%seen, { plum => "blue", c => 3 }, "each gives all entries");
        is_deeply({%hash}, \%seen, "a copy of the table is a hash");

        $hash{c}++;
        $hash{c} .= "!";
        $hash{new} //= "made";
        $hash{new} //= "again";
        $hash{zero} ||= 0;
        is_deeply({%hash}, { plum => "blue", c => "4!", new => "made", zero => 0 }, "values change in place");
        { local $hash{c} = "for now"; is($hash{c}, "for now", "local sets a value") }
        is($hash{c}, "4!", "and puts the old one back");
        for my $value ($hash{c}) { $value = "through an alias" }
        is($hash{c}, "through an alias", "an alias stores");
        is(join(",", map { "$_=$hash{$_}" } grep { /^c/ } sort(keys(%hash))), "c=through an alias", "in a string, too");

        $hash{""} = "";
        is($hash{""}, "", "the empty string is a key and a value");
        $hash{"zero\0byte"} = "\0\xff";
        is($hash{"zero\0byte"}, "\0\xff", "all bytes are kept");
        $hash{7} = 1.5;
        is($hash{"7"}, "1.5", "numbers are their text");

        %hash = (one => 1, two => 2);
        is_deeply({%hash}, { one => 1, two => 2 }, "a list replaces all entries");
        %hash = ();
        is_deeply([keys(%hash)], [], "an empty list removes them");
        $hash{x} = 1;
        undef(%hash);
        is(scalar(%hash), 0, "undef, too");
        is(ref(tied(%hash)), ref($table), "tied gives the object");
        undef($table);
        ok(untie(%hash), "and untie ends it");
        is_deeply([%hash], [], "the hash is one of Perl's again");
    };
}

subtest "what is changed during each is seen as the documents say" => sub {
    for my $kind (Kinds::tied_ones()) {
        my ($name, $class, @options) = @$kind;
        tie(my %hash, $class, @options) or BAIL_OUT("no $name");
        $hash{"key$_"} = $_ for 10 .. 29;
        my $count = 0;
        while (my ($key, $value) = each(%hash)) {
            $count++;
            is($value, substr($key, 3), "$name: the value is there") if $count == 15;
            $hash{"new$count"} = 1;
            delete($hash{$key});
            delete($hash{"key$_"}) for $count == 3 ? 25 .. 29 : ();
        }
        cmp_ok($count, ">=", 15, "$name: entries that are not touched come");
        cmp_ok($count, "<=", 18, "$name: those that went do not, nor those that came");
        is_deeply([grep { /^key/ } keys(%hash)], [], "$name: and all were deleted");
    }
};

subtest "keys of a TreeTable come in the order of their bytes" => sub {
    tie(my %tree, "Bytewright::TreeTable");
    @tree{qw(b a c B 10 9)} = (1) x 6;
    is_deeply([keys(%tree)], [qw(10 9 B a b c)]);
};

subtest "keys of a HashTable come in the order of their last write" => sub {
    tie(my %table, "Bytewright::HashTable");
    $table{$_} = 1 for qw(c a b c);
    is_deeply([keys(%table)], [qw(a b c)]);
};

subtest "a table in a file is there again, for each of the classes" => sub {
    for my $suffix (".bwh", ".bwt") {
        my $file = Kinds::path($suffix);
        my $class = $suffix eq ".bwh" ? "Bytewright::HashTable" : "Bytewright::TreeTable";
        tie(my %first, $class, file => $file);
        $first{kept} = "yes";
        untie(%first);
        tie(my %second, "Bytewright::ADB", $file);
        is($second{kept}, "yes", "$suffix by an ADB");
        untie(%second);
        tie(my %third, $class, file => $file, read_only => 1);
        is($third{kept}, "yes", "$suffix to read");
        ok(!eval { $third{more} = 1; 1 }, "and nobody writes to it");
        isa_ok($@, "Bytewright::Error");
    }
};

subtest "an object outlives its hash" => sub {
    my $table = tie(my %hash, "Bytewright::HashTable");
    $hash{a} = 1;
    { no warnings "untie"; untie(%hash) }
    is($table->get("a"), 1);
};

subtest "untie warns as Perl does while others refer to the object" => sub {
    my @warnings;
    local $SIG{__WARN__} = sub { push(@warnings, @_) };
    for my $class ("Bytewright::HashTable", "Bytewright::TreeTable") {
        my $table = tie(my %hash, $class);
        my $other = $table;
        my $line  = __LINE__ + 1;
        untie(%hash);
        is_deeply(\@warnings, ["untie attempted while 2 inner references still exist at $0 line $line.\n"], "with their number");
        @warnings = ();
        ok(!$table->is_closed, "and leaves the table open");
        tie(%hash, $class);
        untie(%hash);
        tie(%hash, $class);
        { my $object = tied(%hash) }
        untie(%hash);
        is_deeply(\@warnings, [], "without others it does not");
        my $kept = tie(%hash, $class);
        { no warnings "untie"; untie(%hash) }
        is_deeply(\@warnings, [], "nor where the program wants no such warning");
        $kept = tie(%hash, $class);
        { use warnings FATAL => "untie"; ok(!eval { untie(%hash); 1 }, "one that is fatal dies") }
        @warnings = ();
    }
};

done_testing();
