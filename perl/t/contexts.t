# Goal: a method that returns a list answers in scalar context as Perl's own functions do: a number, a key, or the first value.
# Method: each such method in scalar context.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use Test::More;

for my $kind (Kinds::all()) {
    my ($name, $class, @options) = @$kind;
    subtest "with $name" => sub {
        my $table = $class->new(@options);
        is(scalar($table->keys), 0, "an empty table has no keys");
        ok(!defined($table->scan->next), "and no next one");
        $table->put_many(map { ($_ => "value $_") } qw(a b c d e));
        is(scalar($table->keys),   5, "keys are counted");
        is(scalar($table->values), 5, "values, too");
        is(scalar($table->get_many(qw(a none b c))), 3, "get_many counts what it found");
        ok(!$table->get_many("none"), "which is false where that is nothing");
        for my $method (qw(keys values all)) {
            my $scan = $table->scan;
            is(scalar($scan->next), "a", "next is the key, as of each");
            is(scalar($scan->$method), 4, "$method counts what is left");
            is_deeply([$scan->$method], [], "and goes over it");
        }
        my @found;
        my $scan = $table->scan;
        while (my $key = $scan->next) { push(@found, $key) }
        is_deeply(\@found, [qw(a b c d e)], "so a loop over keys is one");
        return if $class !~ /Tree/;
        is(scalar($table->first),        "a", "the first");
        is(scalar($table->last),         "e", "the last");
        is(scalar($table->floor("bb")),  "b", "floor");
        is(scalar($table->ceiling("bb")), "c", "and ceiling are keys");
        ok(!defined($table->ceiling("x")), "or undef");
        my $cursor = $table->cursor;
        ok(!defined($cursor->entry), "a cursor at no entry has none");
        $cursor->first;
        is(scalar($cursor->entry), "a", "else its key");
        is(scalar($cursor->value), "value a", "and its value where that is asked for");
    };
}

subtest "rows and records" => sub {
    my $rows = sub { return Bytewright::Reader->open(\pack("(n C)*", 1 .. 6))->records("n C") };
    is(scalar($rows->()->names), 2, "names are counted");
    my ($one, $count) = ($rows->(), 0);
    while (my $fields = $one->next_row) { $count += $fields }
    is($count, 6, "the fields of a row");
    ok(!defined($one->next_row), "and none after the last");
    is(scalar($rows->()->next_columns), 2, "columns, too");
    my $reader = Bytewright::Reader->open(\pack("(n C)*", 1 .. 6));
    is(scalar($reader->unpack("n C")), scalar(unpack("n C", pack("n C", 1, 2))), "unpack gives the first value, as Perl's");
    is(scalar($reader->unpack("n C", 2)), 3, "of many records, too");
    ok(!defined($reader->unpack("n C")), "or undef at the end");
};

done_testing();
