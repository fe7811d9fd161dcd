# Goal: Bytewright::ADB answers as TokyoCabinet::ADB does.
# Method: t/scripts/adb.pl calls every method and prints what it gets; what it printed with Tokyo Cabinet is kept in
# t/scripts/adb.txt, and compared anew where its module is installed. What it has besides is tested here.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use Kinds;
use Test::More;
use Time::HiRes ();

my $scripts = "$FindBin::Bin/scripts";

sub printed_by {
    my ($library, $class, $name) = @_;
    my $folder = tempdir(CLEANUP => 1);
    my @command = ($^X, (map { "-I$_" } @INC), "$scripts/adb.pl", $library, $class, $name);
    my $child = open(my $out, "-|") // die "fork: $!";
    if (!$child) {
        chdir($folder) or die;
        exec(@command) or die;
    }
    return do { local $/; <$out> } // "";
}

my $recorded = do { open(my $file, "<", "$scripts/adb.txt") or die; local $/; <$file> };
@INC = map { ref($_) || m{\A/} ? $_ : getcwd() . "/$_" } @INC;

for my $name ("*", "+", "casket.bwh", "casket.bwt") {
    # Tokyo Cabinet has transactions in files only.
    my ($expected) = $recorded =~ ($name =~ /bw/ ? qr/^== file\n(.*?)(?=^==)/ms : qr/^== memory\n(.*?)(?=^==)/ms);
    is(printed_by("Bytewright::ADB", "Bytewright::ADB", $name), $expected, "a script prints what it did with Tokyo Cabinet: $name");
}

SKIP: {
    eval { require TokyoCabinet; 1 } or skip("gap: libtokyocabinet-perl is not installed; the record was not checked", 4);
    for my $name ("*", "+", "casket.tch", "casket.tcb") {
        my ($expected) = $recorded =~ ($name =~ /casket/ ? qr/^== file\n(.*?)(?=^==)/ms : qr/^== memory\n(.*?)(?=^==)/ms);
        is(printed_by("TokyoCabinet", "TokyoCabinet::ADB", $name), $expected, "the record is what Tokyo Cabinet prints: $name");
    }
}

subtest "a failure is kept, and does not die" => sub {
    my $adb = Bytewright::ADB->new;
    is($adb->error, undef, "there is none at first");
    ok(!$adb->open(Kinds::path("/missing/x.bwh")), "open answers false");
    is($adb->error->kind, "io", "and error tells why");
    ok(!$adb->open("what.txt"), "a name of no kind");
    like($adb->error->message, qr/^expected \*, \+, a \.bwh or a \.bwt file, found "what\.txt"/);
    my @warnings;
    { local $SIG{__WARN__} = sub { push(@warnings, @_) }; ok(!$adb->open("casket.tch"), "a file of Tokyo Cabinet is not opened") }
    like($warnings[0], qr/convert it with: bytewright table convert casket\.tch casket\.bwh/, "and the warning says what to do");
    ok(!tie(my %hash, "Bytewright::ADB", "what.txt"), "tie answers false");
    ok(!$adb->open("*#sync=often"), "a wrong parameter, too");
    ok($adb->open("*"), "the object can be used again");
    ok(!eval { $adb->put("a", []); 1 }, "a reference dies");
};

subtest "lists are put and taken out all or none" => sub {
    for my $name ("*", "+", "*#capnum=100", Kinds::path(".bwh"), Kinds::path(".bwt")) {
        my $adb = Bytewright::ADB->new;
        $adb->open($name);
        is_deeply($adb->misc("putlist", [a => 1, b => 2, "odd"]), [], "a list without a failure");
        is($adb->misc("putlist", [c => 3, a => 9, d => []]), undef, "$name: one entry of putlist is refused");
        is($adb->error->kind, "argument", "error tells why");
        is($adb->misc("outlist", ["a", "none", {}]), undef, "one key of outlist, too");
        is_deeply({%{ entries_of($adb) }}, { a => 1, b => 2 }, "and nothing changed");
        is_deeply($adb->misc("outlist", ["a", "none"]), [], "a key that is not there is no failure");
        is_deeply(entries_of($adb), { b => 2 });
        next if $name !~ /bw.\z/;
        ok($adb->tranbegin);
        $adb->put("e", 5);
        is($adb->misc("putlist", [f => 6, g => []]), undef, "in a transaction");
        ok($adb->trancommit, "which goes on");
        is_deeply(entries_of($adb), { b => 2, e => 5 });
        ok($adb->close && $adb->open("$name#mode=r"));
        is($adb->misc("putlist", [h => 8]), undef, "nothing is put into a file that is only read");
        is($adb->misc("outlist", ["b"]), undef, "or taken out of it");
    }
};

sub entries_of { my ($adb) = @_; return { map { $_ => $adb->get($_) } @{ $adb->fwmkeys("") } } }

subtest "a table that writes the file is another writer" => sub {
    my $file = Kinds::path(".bwh");
    my $adb = Bytewright::ADB->new;
    my $writer = Bytewright::HashTable->new(file => $file);
    ok(!$adb->open("$file#mode=wf"), "with f it does not wait for a table that writes the file");
    is($adb->error->kind, "lock");
    $writer->put("a", 1);
    ok($adb->open("$file#mode=r") && $adb->get("a") eq 1, "and reads beside it");
};

subtest "a handler of a signal runs while open waits, and may end that" => sub {
    my $file = Kinds::path(".bwt");
    my $writer = Bytewright::TreeTable->new(file => $file);
    my ($adb, $seen) = (Bytewright::ADB->new, 0);
    local $SIG{ALRM} = sub { $seen++ ? die("enough\n") : Time::HiRes::alarm(0.1) };
    Time::HiRes::alarm(0.1);
    ok(!eval { $adb->open($file); 1 }, "open waits");
    is($@, "enough\n");
    $writer->close;
    ok($adb->open($file), "and opens when the file is free");
};

subtest "copy with an at runs a program, without a shell" => sub {
    for my $suffix (".bwh", ".bwt") {
        my $file = Kinds::path($suffix);
        my $adb  = Bytewright::ADB->new;
        $adb->open($file);
        ok($adb->copy("\@true"), "a program runs");
        ok(!$adb->copy("\@false"), "and may fail");
        ok(!$adb->copy("\@true; touch $file.made"), "without a shell");
        ok(!-e "$file.made");
    }
};

subtest "bounds of a table in memory" => sub {
    tie(my %hash, "Bytewright::ADB", "*#capnum=3") or die;
    $hash{$_} = 1 for qw(a b c a d);
    is_deeply([sort(keys(%hash))], [qw(a c d)], "what was not written for longest goes");
    tie(my %small, "Bytewright::ADB", "*#capsiz=100000") or die;
    $small{$_} = "x" x 100 for 1 .. 5000;
    cmp_ok(scalar(%small), "<", 1500, "bytes are bounded, too");
    my $adb = tied(%hash);
    $adb->close;
    ok($adb->open("+") && $adb->misc("putlist", [map { ($_, 1) } "a" .. "e"]));
    is($adb->rnum, 5, "another table has no bounds");
};

subtest "patterns are Perl's" => sub {
    my $adb = Bytewright::ADB->new;
    $adb->open("+");
    $adb->put($_, 1) for qw(a b c d);
    is_deeply($adb->misc("regex", ["*^[AB]", 0]), ["a", 1, "b", 1], "a star ignores case");
    is_deeply($adb->misc("regex", ["^(?!a)", 2]), ["b", 1, "c", 1], "and so many are given");
    is($adb->misc("regex", ["("]), undef, "a wrong pattern fails");
    is($adb->misc("regex", ["x**"]), undef, "and another one");
    {
        local $SIG{__WARN__} = sub { die "meanwhile\n" };
        is(eval { $adb->misc("regex", ["[a-\\d]"]); 1 }, undef, "what a handler dies with while a pattern is compiled is raised");
        is($@, "meanwhile\n", "as it is");
    }
};

done_testing();
