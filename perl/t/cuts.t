# Goal: a file that another program cuts, moves or removes under open ordered tables is an error or changes nothing.
# Method: one handle reads and another writes, in this process or another one, while the file is cut to half or to nothing.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Kinds;
use POSIX ();
use Test::More;

my %entries = map { sprintf("key%05d", $_) => "$_." x ($_ % 20 + 1) } 0 .. 2999;
$entries{long}   = "l" x 50_000;
$entries{longer} = "m" x 300_000;
my $count = keys(%entries);

my %cuts = (
    "half"        => sub { int($_[0] / 2) },
    "half a page" => sub { int($_[0] / 8192) * 4096 + 1000 },
    "nothing"     => sub { 0 },
);

sub new_file {
    my $file  = Kinds::path(".bwt");
    my $table = Bytewright::TreeTable->new(file => $file, sync => "never");
    $table->put_many(\%entries);
    $table->close;
    return $file;
}

sub reader { return Bytewright::TreeTable->new(file => $_[0], read_only => 1) }

sub cut { my ($file, $how) = @_; truncate($file, $cuts{$how}->(-s $file)) or die "truncate: $!" }

# Returns what the work returns, or undef if the file is damaged.
sub told {
    my ($work) = @_;
    my $found = eval { $work->() // "undef" };
    die $@ if $@ && !(ref($@) && $@->kind =~ /\A(?:corrupt|format|io)\z/);
    return $found;
}

# Counts the keys whose value can be read; the others are to be errors.
sub answers {
    my ($table) = @_;
    my $right = 0;
    while (my ($key, $value) = each(%entries)) {
        my $found = told(sub { $table->get($key) }) // next;
        $found eq $value ? $right++ : fail("the value of $key");
    }
    return $right;
}

# Puts entries as far as that works.
sub put_some {
    my ($writer) = @_;
    told(sub { $writer->put("new$_", "n" x ($_ * 100)); 1 }) for 1 .. 100;
}

for my $how (sort(keys(%cuts))) {
    for my $is_read (0, 1) {
        subtest "a file cut to $how is an error" . ($is_read ? " after it was read" : "") => sub {
            my $file = new_file();
            my ($reader, $writer) = (reader($file), Bytewright::TreeTable->new(file => $file));
            $is_read and is(answers($_), $count, "all is there") for $reader, $writer;
            cut($file, $how);
            for my $table ($reader, $writer) {
                cmp_ok(answers($table), "<", $count, "not all is there");
                my $len = told(sub { $table->count });
                ok(!defined($len) || $len == $count, "the count");
                my $all = told(sub { +{ $table->scan->all } });
                ok(!defined($all), "a scan fails");
            }
            put_some($writer);
            cmp_ok(answers($reader), "<", $count);
            told(sub { $writer->close; 1 });
            told(sub { $reader->close; 1 });
            my $again = told(sub { +{ reader($file)->scan->all } });
            ok(!defined($again), "and is damaged when it is opened again");
        };
    }

    subtest "a file cut to $how ends no process that reads or writes it" => sub {
        my $file   = new_file();
        my $reader = reader($file);
        is(answers($reader), $count);
        pipe(my $from_child,  my $to_parent) or die;
        pipe(my $from_parent, my $to_child)  or die;
        my $child = fork() // die "fork: $!";
        if (!$child) {
            my $writer = Bytewright::TreeTable->new(file => $file, sync => "interval");
            syswrite($to_parent, "o");
            sysread($from_parent, my $word, 1);
            put_some($writer);
            answers($writer);
            told(sub { $writer->close; 1 });
            POSIX::_exit(7);
        }
        sysread($from_child, my $word, 1);
        cut($file, $how);
        syswrite($to_child, "c");
        cmp_ok(answers($reader), "<", $count, "the reader goes on");
        waitpid($child, 0);
        is($?, 7 << 8, "the writer ends as it wants to");
        cmp_ok(answers($reader), "<", $count);
    };
}

subtest "a scan and a snapshot end with an error where the file is cut" => sub {
    my $file     = new_file();
    my $reader   = reader($file);
    my $snapshot = $reader->snapshot;
    my $scan     = $snapshot->scan;
    my @sorted   = sort(keys(%entries));
    my $walked   = 0;
    my $ended    = told(sub {
        while (my ($key, $value) = $scan->next) {
            is($key . $value, $sorted[$walked] . $entries{ $sorted[$walked] }) if $walked % 100 == 0;
            cut($file, "half") if ++$walked == 10;
        }
        1;
    });
    ok(!defined($ended) && $walked >= 9 && $walked < $count, "after $walked entries");
    cmp_ok(answers($snapshot), "<", $count, "the snapshot");
};

subtest "a file that is moved and removed goes on" => sub {
    my $file = new_file();
    my ($reader, $writer) = (reader($file), Bytewright::TreeTable->new(file => $file));
    my $moved = Kinds::path(".bwt");
    rename($file, $moved) or die "rename: $!";
    $writer->put(moved => 1);
    is($reader->get("moved"), 1);
    unlink($moved) or die "unlink: $!";
    $writer->put(removed => "2" x 10_000);
    $writer->compact;
    for my $table ($reader, $writer) {
        is_deeply({ $table->scan->all }, { %entries, moved => 1, removed => "2" x 10_000 });
    }
    $_->close for $writer, $reader;
    ok(!-e $moved && !-e $file, "nothing comes back");
};

done_testing();
