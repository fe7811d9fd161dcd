# Goal: forked children, the end of the program and other processes lose nothing and break nothing.
# Method: programs of a few lines, and children of this one.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;
use POSIX ();
use Test::More;

# Runs work in a child, and answers what it returned.
sub in_child {
    my ($work) = @_;
    pipe(my $reader, my $writer) or die;
    my $child = fork() // die "fork: $!";
    if (!$child) {
        close($reader);
        my $answer = eval { $work->() } // "died: $@";
        syswrite($writer, $answer);
        POSIX::_exit(0);
    }
    close($writer);
    my $answer = do { local $/; <$reader> };
    waitpid($child, 0);
    return $answer;
}

# Runs a program, and answers what it printed on both ways, and its status.
sub program {
    my ($source) = @_;
    my $out = Kinds::path(".out");
    my $child = fork() // die "fork: $!";
    if (!$child) {
        open(STDOUT, ">", $out) or die;
        open(STDERR, ">&", \*STDOUT) or die;
        exec($^X, (map { "-I$_" } @INC), "-we", "use Bytewright; use Bytewright::ADB; $source") or POSIX::_exit(127);
    }
    waitpid($child, 0);
    my $status = $?;
    open(my $file, "<", $out) or die;
    return (do { local $/; <$file> }, $status);
}

subtest "a forked child has a copy of a table in memory" => sub {
    for my $class ("Bytewright::HashTable", "Bytewright::TreeTable") {
        my $table = $class->new;
        $table->put_many(a => 1, b => 2);
        is(in_child(sub { $table->put("a", "child"); $table->get("a") . $table->count }), "child2", "which it changes");
        is($table->get("a"), 1, "for itself");
    }
};

subtest "a forked child leaves the file of its parent alone" => sub {
    for my $suffix (".bwh", ".bwt") {
        my $file  = Kinds::path($suffix);
        my $class = $suffix eq ".bwh" ? "Bytewright::HashTable" : "Bytewright::TreeTable";
        my $table = $class->new(file => $file);
        $table->put("a", 1);
        is(in_child(sub { eval { $table->put("a", 2); 1 } ? "wrote" : $@->kind }), "closed", "$suffix: it cannot write");
        is(in_child(sub { undef($table); "ended" }), "ended", "and may end the object");
        my $txn = $table->txn;
        $table->put("b", 2);
        is(in_child(sub { undef($txn); "ended" }), "ended", "and that of a transaction");
        $txn->commit;
        $table->close;
        is($class->new(file => $file)->count, 2, "the parent goes on");
        is(in_child(sub { $class->new(file => $file)->get("b") }), 2, "and a child opens it anew");
    }
};

subtest "the end of a program frees everything, in whatever order" => sub {
    my $file = Kinds::path(".bwt");
    my ($printed, $status) = program(<<~"PROGRAM");
        our \$table = Bytewright::TreeTable->new(file => "$file");
        our \$cycle = { table => \$table }; \$cycle->{self} = \$cycle;
        tie(our %hash, "Bytewright::HashTable"); \$hash{a} = 1; \$hash{b} = 2; my \@first = each(%hash);
        tie(our %adb, "Bytewright::ADB", "+"); \$adb{a} = 1; each(%adb);
        \$table->put("a", 1);
        our \$scan = \$table->scan; our \$snapshot = \$table->snapshot; our \$cursor = \$table->cursor; \$cursor->first;
        our \$txn = \$table->txn; \$table->put("lost", 1);
        our \$reader = Bytewright::Reader->open(\\"abc"); \$reader->u8;
        our \$rows = Bytewright::Reader->open(\\"abc")->records("C"); \$rows->next_row; our \$both = [\$rows, \$reader];
        print "done";
        PROGRAM
    is($printed, "done", "without a word");
    is($status, 0, "and well");
    is_deeply([Bytewright::TreeTable->new(file => $file)->keys], ["a"], "what was committed is there");
};

subtest "exit, die and a signal's end keep what was committed" => sub {
    for my $end ("exit(0)", "die('no')", "kill('KILL', \$\$)", "kill('TERM', \$\$); sleep(5)") {
        my $file = Kinds::path(".bwh");
        program(qq{tie(my %hash, "Bytewright::HashTable", file => "$file"); \$hash{\$_} = 1 for 1 .. 1000; $end});
        tie(my %hash, "Bytewright::HashTable", file => $file);
        is(scalar(%hash), 1000, $end);
    }
};

subtest "a writer is waited for, and signal handlers run meanwhile" => sub {
    my $file  = Kinds::path(".bwh");
    my $table = Bytewright::HashTable->new(file => $file);
    is(in_child(sub {
        local $SIG{ALRM} = sub { die "handled\n" };
        POSIX::alarm(1);
        eval { Bytewright::HashTable->new(file => $file, timeout => 60); 1 } ? "opened" : $@;
    }), "handled\n");
};

done_testing();
