# Goal: scans, ranges, cursors and snapshots give the entries that they say.
# Method: ranges of random keys against grep over sorted keys (the seed is printed); the rest by hand.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use Test::More;

for my $kind (Kinds::all()) {
    my ($name, $class, @options) = @$kind;
    subtest "a scan and a snapshot of $name are of one moment" => sub {
        my $table = $class->new(@options);
        $table->put_many(map { $_ => "value $_" } qw(a b c));
        my ($scan, $snapshot) = ($table->scan, $table->snapshot);
        $table->delete("a");
        $table->put(b => "changed");
        $table->put(d => "new");
        is_deeply({ $scan->all }, { map { $_ => "value $_" } qw(a b c) }, "the scan");
        is_deeply([$scan->next], [], "is at its end then");
        is_deeply([$scan->all], [], "and stays there");
        is($snapshot->get("b"), "value b", "the snapshot");
        is($snapshot->get("d"), undef);
        ok($snapshot->exists("a") && !$snapshot->exists("d"));
        is($snapshot->count, 3);
        is_deeply([sort($snapshot->scan->keys)], [qw(a b c)]);
        is_deeply([sort($snapshot->scan->values)], ["value a", "value b", "value c"]);
        undef($table);
        is($snapshot->get("c"), "value c", "both outlive the table");
    };
}

my $seed = $ENV{BYTEWRIGHT_SEED} // time;
srand($seed);
note("BYTEWRIGHT_SEED=$seed");

sub random_key { return join("", map { chr(97 + int(rand(3))) } 1 .. rand(5)) }

for my $kind (grep { $_->[1] =~ /Tree/ } Kinds::all()) {
    my ($name, $class, @options) = @$kind;
    subtest "ranges of $name are those of a sorted list" => sub {
        my $table = $class->new(@options);
        my %model = map { random_key() => int(rand(100)) } 1 .. 200;
        $table->put_many(\%model);
        my @sorted   = sort(keys(%model));
        my $snapshot = $table->snapshot;
        for (1 .. 300) {
            my %range = map { rand() < 0.4 ? ($_ => random_key()) : () } qw(from to prefix);
            $range{reverse} = 1                 if rand() < 0.5;
            $range{limit}   = 1 + int(rand(20)) if rand() < 0.3;
            my @expected = grep {
                (!defined($range{from}) || $_ ge $range{from}) && (!defined($range{to}) || $_ le $range{to})
                    && (!defined($range{prefix}) || index($_, $range{prefix}) == 0)
            } @sorted;
            @expected = reverse(@expected) if $range{reverse};
            splice(@expected, $range{limit}) if $range{limit} && @expected > $range{limit};
            for my $entries ($table, $snapshot) {
                my @found = $entries->range(%range)->keys;
                if ("@found" ne "@expected") {
                    fail("seed $seed, " . join(" ", map { "$_=$range{$_}" } sort(keys(%range))));
                    diag("expected @expected, found @found");
                    return;
                }
            }
            my $key = random_key();
            my ($floor) = grep { $_ le $key } reverse(@sorted);
            my ($ceiling) = grep { $_ ge $key } @sorted;
            is(($table->floor($key))[0], $floor, "seed $seed: floor of $key");
            is(($table->ceiling($key))[0], $ceiling, "seed $seed: ceiling of $key");
        }
        is(($table->first)[0], $sorted[0], "first");
        is_deeply([$table->last], [$sorted[-1], $model{ $sorted[-1] }], "last, with its value");
        is_deeply([$table->prefix("ab", limit => 2)->keys], [grep { defined } (grep { /^ab/ } @sorted)[0, 1]], "prefix takes options");
        is_deeply([$snapshot->prefix("b")->keys], [grep { /^b/ } @sorted], "of a snapshot, too");
    };

    subtest "a dump of $name is loaded again" => sub {
        my $table = $class->new(@options);
        my %all = ("" => "empty", a => "", "b\0\n'" => "\xff\\", k => "x" x 300_000);
        my $path = Kinds::path(".dump");
        $table->clear;
        $table->put_many(%all);
        for my $format (qw(db lmdb sql)) {
            is($table->dump($path, format => $format), 4, $format);
            my $other = Bytewright::HashTable->new;
            $other->put(a => "old");
            is($other->load($path), 4);
            is_deeply({ $other->scan->all }, \%all);
        }
        open(my $file, ">", $path) or die;
        print $file "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n a\n 2\n";
        close($file);
        ok(!eval { $table->load($path); 1 });
        like("$@", qr/expected DATA=END, found the end of the input in line 7/);
        is($@->kind, "truncated");
        is_deeply({ $table->scan->all }, \%all, "nothing is changed");
        ok(!eval { $table->dump($path, format => "csv"); 1 } && "$@" =~ /expected the format of a dump to be db, lmdb or sql/);
        ok(!eval { $table->dump($path, replace => 1); 1 } && "$@" =~ /expected format or force as an option, found replace/);
    };

    subtest "ranges of $name are deleted" => sub {
        my $table = $class->new(@options);
        my %all = map { $_ => uc } qw(a b b1 b2 c d);
        $table->clear;
        $table->put_many(%all);
        is($table->delete_range(prefix => "x"), 0, "none");
        is($table->delete_range(from => "c", to => "b"), 0, "nor these");
        my $back = $table->transaction;
        is($table->delete_range(prefix => "b"), 3, "those with a prefix");
        is_deeply([$table->keys], [qw(a c d)]);
        $back->abort;
        is_deeply({ $table->scan->all }, \%all, "a transaction takes them back");
        is($table->delete_range(from => "b1", reverse => 1, limit => 2), 2, "the last two");
        is_deeply([$table->keys], [qw(a b b1 b2)]);
        is($table->delete_range(from => "b", to => "b1"), 2, "both ends");
        is_deeply([$table->keys], [qw(a b2)]);
        ok(!eval { $table->delete_range(below => "b"); 1 });
        like("$@", qr/expected from, to, prefix, reverse or limit as an option, found below/);
        is($table->delete_range, 2, "all");
        is($table->count, 0);
    };

    subtest "a cursor of $name moves both ways" => sub {
        my $table = $class->new(@options);
        $table->clear;
        $table->put_many(map { $_ => uc } qw(a c e));
        my $cursor = $table->cursor;
        is_deeply([$cursor->entry], [], "it begins before the first");
        is($cursor->key, undef);
        ok($cursor->first);
        is_deeply([$cursor->entry], [qw(a A)]);
        ok($cursor->next);
        is($cursor->key, "c");
        is($cursor->value, "C");
        ok($cursor->prev);
        is($cursor->key, "a");
        ok(!$cursor->prev, "and tells when it left");
        ok($cursor->last);
        is($cursor->key, "e");
        ok(!$cursor->next);
        ok($cursor->seek("b"), "seek finds the next key");
        is($cursor->key, "c");
        ok(!$cursor->seek("f"), "or none");
        $table->put(d => "D");
        $cursor->seek("c");
        $cursor->next;
        is($cursor->key, "e", "it is in the table as it was");
    };
}

subtest "wrong ranges are refused" => sub {
    my $tree = Bytewright::TreeTable->new;
    for my $case ([form => "a"], [limit => 0], [limit => -1], [limit => "x"]) {
        ok(!eval { $tree->range(@$case); 1 }, "@$case");
        is($@->kind, "argument");
    }
    ok(!eval { Bytewright::HashTable->new->_cursor; 1 }, "a hashed table has no cursor");
    is($@->kind, "argument");
};

done_testing();
