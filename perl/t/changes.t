# Goal: whoever makes the changes since a position to a copy of a table has the table as it is now, whoever changed it.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use Test::More;

sub all_of {
    my ($changes) = @_;
    my @all;
    while (my @change = $changes->next) { push(@all, \@change) }
    return \@all;
}

sub follow {
    my ($table, $copy, $position) = @_;
    my $changes = $table->changes_since($position);
    while (my ($change, $key, $value) = $changes->next) {
        if    ($change eq "put")    { $copy->{$key} = $value }
        elsif ($change eq "delete") { delete($copy->{$key}) }
        else                        { %$copy = () }
    }
    return $changes->position;
}

subtest "changes begin with all entries and go on from a position" => sub {
    my $table = Bytewright::HashTable->new(file => Kinds::path(".bwh"));
    $table->put_many(a => 1);
    $table->put_many(b => 2);
    my $first = $table->changes_since;
    is_deeply(all_of($first), [["clear"], ["put", "a", 1], ["put", "b", 2]], "all entries");
    is_deeply([$first->next], [], "which end");
    is_deeply(all_of($table->changes_since($first->position)), [], "nothing since");
    $table->delete("a");
    $table->put(c => 3);
    is_deeply(all_of($table->changes_since($first->position)), [["delete", "a"], ["put", "c", 3]], "what came since");
    my $changes = $table->changes_since;
    is(scalar($changes->next), "clear", "the name alone in scalar context");
};

subtest "a copy follows what other handles and processes do" => sub {
    my $path  = Kinds::path(".bwh");
    my $table = Bytewright::HashTable->new(file => $path);
    my ($position, %copy);
    for my $round (1 .. 20) {
        $table->put(own => $round);
        Bytewright::HashTable->new(file => $path)->put("other " . $round % 3 => $round);
        my $pid = fork // die;
        if (!$pid) { $table->delete("other " . ($round + 1) % 3); require POSIX; POSIX::_exit(0) }
        waitpid($pid, 0);
        is($?, 0, "the child");
        $table->compact if $round == 10;
        $table->clear   if $round == 15;
        $position = follow($table, \%copy, $position);
        is_deeply(\%copy, { $table->scan->all }, "round $round");
    }
};

subtest "tables without a log and positions of others are refused" => sub {
    my $table = Bytewright::HashTable->new(file => Kinds::path(".bwh"));
    my $other = Bytewright::HashTable->new(file => Kinds::path(".bwh"));
    ok(!eval { $table->changes_since($other->changes_since->position); 1 });
    is($@->kind, "argument");
    like($@, qr/expected a position of this table, found one of another/);
    ok(!eval { $table->changes_since("x"); 1 });
    like($@, qr/expected a position .*found x/);
    ok(!eval { Bytewright::HashTable->new->changes_since; 1 });
    like($@, qr/expected a HashTable in a file/);
    ok(!eval { Bytewright::TreeTable->new(file => Kinds::path(".bwt"))->changes_since; 1 });
};

subtest "changes outlive the table" => sub {
    my $table   = Bytewright::HashTable->new(file => Kinds::path(".bwh"));
    $table->put(a => 1);
    my $changes = $table->changes_since;
    $table->close;
    is_deeply(all_of($changes), [["clear"], ["put", "a", 1]]);
};

done_testing();
