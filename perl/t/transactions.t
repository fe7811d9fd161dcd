# Goal: changes of a transaction are kept together or not at all, whatever way it is left.
# Method: each way to leave one, nested ones too, with tables of all kinds.
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
        $table->put("before", 1);
        is($table->txn(sub { my ($inside) = @_; $inside->put("a", 1); $inside->delete("before"); "answer" }), "answer",
            "it answers what the function does");
        is_deeply([$table->transaction(sub { (1, 2, 3) })], [1, 2, 3], "a list, too");
        is_deeply([$table->get_many(qw(a before))], [1, undef], "and keeps the changes");

        ok(!eval { $table->txn(sub { $table->put("a", 2); $table->clear; die { code => 7 } }); 1 });
        is($@->{code}, 7, "die goes on as it was");
        is($table->get("a"), 1, "and takes the changes back");

        for my $pass (1) { no warnings "exiting"; $table->txn(sub { $table->put("a", 3); next }) }
        is($table->get("a"), 1, "so does leaving by next");

        {
            my $txn = $table->txn;
            $table->put("a", 4);
        }
        is($table->get("a"), 1, "and the end of its object");
        my $txn = $table->txn;
        $table->put("a", 5);
        ok($txn->commit, "commit keeps");
        is($table->get("a"), 5);
        ok(!eval { $txn->commit; 1 }, "and ends it");
        is($@->kind, "argument");
        $txn = $table->txn;
        $table->put("a", 6);
        ok($txn->abort, "abort takes back");
        is($table->get("a"), 5);

        $table->txn(sub {
            $table->put("outer", 1);
            eval { $table->txn(sub { $table->put("inner", 1); die "inner\n" }) };
            $table->txn(sub { $table->put("second", 1) });
        });
        is_deeply([$table->get_many(qw(outer inner second))], [1, undef, 1], "one inside is a savepoint");

        my $outer = $table->txn;
        my $inner = $table->txn;
        $table->put("x", 1);
        ok(!eval { $outer->commit; 1 }, "the outer one waits for the inner one");
        like("$@", qr/^expected the innermost transaction of the table, found one that has others inside/);
        undef($outer);
        ok(!eval { $inner->commit; 1 }, "which ends with it");
        ok(!$table->exists("x"), "and its changes, too");
        ok(!$table->_is_in_transaction, "none is left");

        my $left = $table->txn;
        $table->put("y", 1);
        $table->close;
        undef($left);
        ok($table->is_closed, "closing takes back what is open");
    };
}

done_testing();
