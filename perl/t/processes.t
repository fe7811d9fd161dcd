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

subtest "a forked child leaves a file alone that its parent has for itself" => sub {
    for my $suffix (".bwh", ".bwt") {
        my $file  = Kinds::path($suffix);
        my $class = $suffix eq ".bwh" ? "Bytewright::HashTable" : "Bytewright::TreeTable";
        my $table = $class->new(file => $file, exclusive => 1);
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

# Returns the outcome of each of the works: what it returned, or the kind of its error.
sub outcomes {
    my (%works) = @_;
    my $kind = sub { my ($work) = @_; my $made = eval { $work->() }; return $@ ? ref($@) ? $@->kind : $@ : $made // "undef" };
    my $told = in_child(sub { join(",", map { "$_=" . $kind->($works{$_}) } sort(keys(%works))) });
    return { map { split(/=/, $_, 2) } split(/,/, $told) };
}

subtest "a forked child may use what it inherited as the documents say" => sub {
    for my $kind (Kinds::all()) {
        my ($name, $class, @options) = @$kind;
        my $table = $class->new(@options, @options ? (exclusive => 1) : ());
        $table->put_many(map { $_ => "v$_" } 1 .. 1000);
        my ($scan, $snapshot, $txn) = ($table->scan, $table->snapshot, $table->txn);
        $table->put(1 => "parent's");
        my $is_file = @options > 0;
        my $found = outcomes(
            get => sub { $table->get(2) }, count => sub { $table->count }, scan => sub { scalar($table->scan->keys) },
            snapshot => sub { $table->snapshot->get(2) }, put => sub { $table->put(3, "child's") }, commit => sub { $txn->commit },
            "old scan" => sub { scalar($scan->keys) }, "old snapshot" => sub { $snapshot->get(2) },
            "to end" => sub { undef($_) for $scan, $snapshot, $txn; $table->close; "ended" },
        );
        is_deeply($found, {
            get => "v2", count => 1000, scan => 1000, snapshot => "v2", "to end" => "ended",
            map { my ($what, $in_memory) = @$_; $what => $is_file ? "closed" : $in_memory }
                [put => 1], [commit => 1], ["old scan" => 1000], ["old snapshot" => "v2"],
        }, $name);
        $txn->commit;
        is_deeply([$table->get_many(1, 3)], ["parent's", "v3"], "and the parent goes on");
    }
};

subtest "a forked child reads captures anew" => sub {
    my $path = Kinds::path(".pcap");
    open(my $out, ">:raw", $path) or die;
    print $out pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1);
    print $out pack("V4 a14", $_, 0, 14, 14, "") for 1 .. 3;
    close($out);
    my $capture = Bytewright::Capture->open($path);
    my $begun   = $capture->packets("length");
    $begun->next_row;
    my $left  = sub { my ($rows, $count) = (@_, 0); $count++ while $rows->next_row; return $count };
    my $found = outcomes(begun => sub { $left->($begun) }, anew => sub { $left->($capture->packets("length")) },
        info => sub { $capture->info->{packets} }, calls => sub { $left->($capture->calls) });
    is_deeply($found, { begun => "closed", anew => 3, info => 3, calls => 0 }, "and not the rows of its parent");
    is($left->($begun), 2, "who reads on");
    open(my $handle, "<", $path) or die;
    my $of_handle = Bytewright::Capture->open($handle);
    is_deeply(outcomes(packets => sub { $left->($of_handle->packets("length")) }), { packets => 3 }, "a child may read a handle");
    open($handle, "<", $path) or die;
    $of_handle = Bytewright::Capture->open($handle);
    $begun     = $of_handle->packets("length");
    $begun->next_row;
    is_deeply(outcomes(begun => sub { $left->($begun) }, anew => sub { $of_handle->info }), { begun => "closed", anew => "closed" },
        "that its parent has not begun");
    is($left->($begun), 2, "which reads on");
};

subtest "the end of a program frees everything, in whatever order" => sub {
    my ($file, $stored) = (Kinds::path(".bwt"), Kinds::path(".bwt"));
    my ($printed, $status) = program(<<~"PROGRAM");
        our \$table = Bytewright::TreeTable->new(file => "$file");
        our \$cycle = { table => \$table }; \$cycle->{self} = \$cycle;
        tie(our %hash, "Bytewright::HashTable"); \$hash{a} = 1; \$hash{b} = 2; my \@first = each(%hash);
        tie(our %adb, "Bytewright::ADB", "+"); \$adb{a} = 1; each(%adb);
        \$table->put("a", 1);
        our \$scan = \$table->scan; our \$snapshot = \$table->snapshot; our \$cursor = \$table->cursor; \$cursor->first;
        our \$txn = \$table->txn; \$table->put("lost", 1);
        our \$reader = Bytewright::Reader->open(\\"abc"); \$reader->u8;
        our \$capture = Bytewright::Capture->open(\\pack("V v2 V4 V4 a14", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 1, 0, 14, 14, "")); \$capture->next;
        our \$packets = Bytewright::Capture->open(\\*STDIN)->packets; our \$round = { packets => \$packets }; \$round->{self} = \$round;
        Bytewright::Capture->open(\\pack("V v2 V4 V4 a14", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 1, 0, 14, 14, ""))->flows(into => "$stored");
        our \$store = Bytewright::FlowStore->open("$stored"); our \$stored = \$store->flows; \$stored->next;
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
    my $table = Bytewright::HashTable->new(file => $file, exclusive => 1);
    is(in_child(sub {
        local $SIG{ALRM} = sub { die "handled\n" };
        POSIX::alarm(1);
        eval { Bytewright::HashTable->new(file => $file, timeout => 60); 1 } ? "opened" : $@;
    }), "handled\n");
};

done_testing();
