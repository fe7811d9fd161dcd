# Goal: handles and processes write one table file by turns, and who waits for its turn can be called off.
# Method: two handles of one file, of which one has a transaction open; alarms; forked children that count.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use POSIX ();
use Test::More;
use Time::HiRes ();

my @BY_TURNS = (["Bytewright::HashTable", ".bwh"], ["Bytewright::TreeTable", ".bwt"]);

my %CHANGES = (
    put         => sub { $_[0]->put("a", 2) },
    create      => sub { $_[0]->create("c", 2) },
    append      => sub { $_[0]->append("a", 2) },
    increment   => sub { $_[0]->increment("n") },
    delete      => sub { $_[0]->delete("a") },
    DELETE      => sub { $_[0]->DELETE("a") },
    put_many    => sub { $_[0]->put_many(a => 2, b => 3) },
    clear       => sub { $_[0]->clear },
    compact     => sub { $_[0]->compact },
    transaction => sub { my $txn = $_[0]->txn; $_[0]->put("a", 2); $txn->commit },
);

# The kind of the error of a work, or "done".
sub kind_of { my ($work) = @_; return eval { $work->(); 1 } ? "done" : ref($@) ? $@->kind : $@ }

for my $kind (@BY_TURNS) {
    my ($class, $suffix) = @$kind;
    for my $name (sort(keys(%CHANGES))) {
        subtest "$class: $name waits for another writer as long as it may, and can be called off" => sub {
            my $file = Kinds::path($suffix);
            my ($one, $other) = ($class->new(file => $file), $class->new(file => $file, timeout => 0.02));
            my $patient = $class->new(file => $file, timeout => 60);
            $one->put("a", 1);
            my $txn = $one->txn;
            $one->put("a", "held");
            is(kind_of(sub { $CHANGES{$name}->($other) }), "lock", "it is refused after its time");
            like($@->message, qr/another object of this process has it.*timeout/, "and says who writes");
            my $called_off = kind_of(sub {
                local $SIG{ALRM} = sub { die "alarm\n" };
                Time::HiRes::alarm(0.1);
                $CHANGES{$name}->($patient);
            });
            is($called_off, "alarm\n", "an alarm ends its waiting");
            is($_->get("a") . $_->count, "11", "nothing is changed") for $other, $patient;
            $txn->commit;
            is(kind_of(sub { $CHANGES{$name}->($_) }), "done", "then it is done") for $other, $patient;
        };
    }

    subtest "$class: a handler that closes the table ends the waiting" => sub {
        my $file = Kinds::path($suffix);
        my ($one, $other) = ($class->new(file => $file), $class->new(file => $file, timeout => 60));
        my $txn = $one->txn;
        local $SIG{ALRM} = sub { $other->close };
        Time::HiRes::alarm(0.1);
        is(kind_of(sub { $other->put("a", 1) }), "closed", "and the change");
        $txn->abort;
        is($one->count, 0, "nothing was put");
    };

    subtest "$class: processes lose no change of each other" => sub {
        my $file  = Kinds::path($suffix);
        my $table = $class->new(file => $file);
        my $count = sub {
            my ($own) = @_;
            for (1 .. 100) {
                $own->increment("single");
                my $txn = $own->txn;
                $own->put("read", ($own->get("read") // 0) + 1);
                $txn->commit;
            }
        };
        my @children = map {
            my $is_inherited = $_ % 2;
            my $child        = fork() // die "fork: $!";
            if (!$child) {
                my $is_done = eval { $count->($is_inherited ? $table : $class->new(file => $file)); 1 };
                print STDERR $@ if !$is_done;
                POSIX::_exit($is_done ? 0 : 1);
            }
            $child;
        } 1 .. 3;
        $count->($table);
        is((waitpid($_, 0), $?)[1], 0, "a child has counted") for @children;
        is($table->get("single") . "," . $table->get("read"), "400,400", "all counted");
    };
}

done_testing();
