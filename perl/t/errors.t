# Goal: what fails dies with a Bytewright::Error that says what, where and on which line; whatever dies leaves all usable.
# Method: each way to fail, and die in every place where a program's code runs.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use Test::More;

subtest "an error is an object that reads as a message" => sub {
    my $file = Kinds::path("/missing/x.bwh");
    my $line = __LINE__ + 1;
    ok(!eval { Bytewright::HashTable->new(file => $file); 1 });
    my $error = $@;
    isa_ok($error, "Bytewright::Error");
    is($error->kind, "io");
    like($error->file, qr/\Q$file\E/);
    is($error->os_error, 2);
    is($error->offset, undef);
    like($error->message, qr/No such file or directory$/);
    is("$error", $error->message . " at $0 line $line.\n", "with the line of the program");
    ok($error, "it is true");
    ok($error eq "$error", "and compares as its text");
    { no warnings; like("in a text: $error", qr/^in a text: /) }
    my $again = eval { die $error; 1 } ? undef : $@;
    is($again, $error, "it can be thrown again");
};

subtest "damage has a place" => sub {
    my $file = Kinds::path(".bwh");
    open(my $handle, ">:raw", $file) or die;
    print $handle "no table " x 100;
    close($handle);
    ok(!eval { Bytewright::HashTable->new(file => $file); 1 });
    is($@->kind, "format");
    is($@->file, $file);
    like($@->message, qr/^\Q$file\E: /);
};

subtest "objects of other classes are refused" => sub {
    for my $self (undef, "text", {}, [], \my $scalar, bless({}, "Bytewright::HashTable")) {
        ok(!eval { Bytewright::Table::get($self, "a"); 1 });
        is($@->kind, "argument");
        like("$@", qr/^expected a table, found /);
    }
    my $snapshot = Bytewright::HashTable->new->snapshot;
    ok(!eval { Bytewright::Table::get($snapshot, "a"); 1 }, "a snapshot is no table");
    ok(!eval { Bytewright::Cursor::first($snapshot); 1 }, "and no cursor");
    like("$@", qr/^expected a cursor, found Bytewright::Snapshot/);
};

subtest "a change of the object in Perl changes no handle" => sub {
    my $table = Bytewright::HashTable->new;
    $$table = 42;
    $table->put("a", 1);
    is($table->get("a"), 1);
};

subtest "die inside of a walk leaves the table usable" => sub {
    for my $kind (Kinds::all()) {
        my ($name, $class, @options) = @$kind;
        my $table = tie(my %hash, $class, @options);
        @hash{1 .. 9} = (1) x 9;
        for (1 .. 50) {
            eval { while (my ($key) = each(%hash)) { die "in each\n" if $key > 3 } };
            is($@, "in each\n") if $_ == 50;
            my $scan = $table->scan;
            eval { while (my ($key) = $scan->next) { die "in scan\n" } };
            eval { $table->transaction(sub { $hash{new} = 1; die "in a transaction\n" }) };
        }
        is(scalar(%hash), 9, "$name: what was not committed is gone");
        is(scalar(keys(%hash)), 9, "and walks begin anew");
        $hash{new} = 2;
        is($hash{new}, 2);
    }
};

subtest "handlers see the error, and may die" => sub {
    local $SIG{__DIE__} = sub { die "handled: " . $_[0]->kind . "\n" };
    ok(!eval { Bytewright::HashTable->new->put("a", []); 1 });
    is($@, "handled: argument\n");
    local $SIG{__WARN__} = sub { die "warned\n" };
    local $SIG{__DIE__};
    my $table = Bytewright::HashTable->new;
    ok(!eval { $table->put("a", undef); 1 });
    is($@, "warned\n", "also for a warning");
    is($table->count, 0);
};

subtest "failing again and again takes no memory" => sub {
    plan(skip_all => "no /proc") if !-r "/proc/self/statm";
    my $table = Bytewright::TreeTable->new;
    my $work  = sub {
        for (1 .. 5_000) {
            eval { $table->put("a", []) };
            eval { $table->range(limit => "x") };
            eval { Bytewright::HashTable->new->_cursor };
            eval { Bytewright::HashTable->new(file => "/missing/x.bwh") };
            my ($scan, $cursor, $snapshot) = ($table->scan, $table->cursor, $table->snapshot);
            my @values = $table->get_many("a" .. "e");
        }
    };
    $work->();
    my $before = pages();
    $work->();
    cmp_ok(pages() - $before, "<", 512, "below 2 MB");
};

sub pages { open(my $file, "<", "/proc/self/statm") or die; return (split(" ", <$file>))[1] }

done_testing();
