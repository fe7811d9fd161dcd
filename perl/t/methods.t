# Goal: the methods of tables do what Bytewright::Table, HashTable and TreeTable say.
# Method: each method with tables of all kinds, in memory and in files.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;
use Test::More;

for my $kind (Kinds::all()) {
    my ($name, $class, @options) = @$kind;
    subtest "with $name" => sub {
        my $table = $class->new(@options);
        ok($table->put("a", "one"), "put stores");
        is($table->get("a"), "one", "get reads");
        is($table->get("b"), undef, "a value that is not there is undef");
        ok($table->exists("a") && !$table->exists("b"), "exists tells");
        ok(!$table->create("a", "two"), "create leaves what is there");
        ok($table->create("b", "two"), "and stores what is not");
        $table->append("b", " and more");
        $table->append("c", "from nothing");
        is_deeply([$table->get_many(qw(b none c a))], ["two and more", undef, "from nothing", "one"], "get_many in order");
        is_deeply([$table->get_many], [], "of no keys none");
        is($table->count, 3, "count");

        ok($table->delete("a"), "delete tells whether there was one");
        ok(!$table->delete("a"), "or not");
        ok($table->out("b"), "out is the same");

        is($table->increment("n"), 1, "increment begins at 0");
        is($table->incr("n", 41), 42, "incr is the same");
        is($table->increment("n", -50), -8, "numbers go down, too");
        ok(!eval { $table->increment("c"); 1 }, "what is no number is refused");
        is($@->kind, "argument", "as an argument");
        is($table->get("n"), "-8", "and a number is its digits");

        $table->put_many(x => 1, y => 2, x => 3);
        $table->put_many({ z => 4 });
        is_deeply([$table->get_many(qw(x y z))], [3, 2, 4], "put_many stores all");
        ok(!eval { $table->put_many("odd"); 1 }, "a key needs a value");
        ok(!eval { $table->put_many(p => 1, q => []); 1 }, "where one is wrong");
        ok(!$table->exists("p"), "none is stored");

        is_deeply([sort($table->keys)], [qw(c n x y z)], "keys");
        is_deeply([sort($table->values)], [sort("from nothing", -8, 3, 2, 4)], "values in the order of keys");
        is($table->stat->{records}, 5, "stat counts");
        is_deeply([sort(keys(%{ $table->stat }))],
            [sort(qw(records live_bytes dead_bytes pinned_bytes index_bytes memory_bytes file_bytes))], "and names figures");
        ok($table->sync,    "sync");
        ok($table->compact, "compact");
        my $long = "x" x 200_000;
        $table->put(long => $long);
        is($table->get("long"), $long, "long values are whole");
        is($table->get("x"), 3, "and short ones after them");
        ok($table->clear, "clear");
        is($table->count, 0, "removes all");

        ok(!$table->is_closed, "a table is open");
        $table->close;
        ok($table->is_closed, "until it is closed");
        ok(!eval { $table->get("a"); 1 }, "then nothing works");
        is($@->kind, "closed", "and the error says why");
        $table->close;
        pass("to close it again does nothing");
    };
}

subtest "an option that is not known, or has no use, is refused" => sub {
    for my $case (
        [[fil => "x.bwh"], qr/^expected file with the option fil, found a table in memory at /],
        [[file => Kinds::path(".bwh"), creat => 0], qr/^expected an option \(create, .*\), found creat; did you mean create\? at /],
        [[file => Kinds::path(".bwh"), verify => "yes"], qr/^expected verify to be true or false, found "yes" at /],
        [[file => Kinds::path(".bwh"), sync => "commit\0"], qr/^expected text without a zero byte/],
        [[sync => "never"], qr/^expected file with the option sync, found a table in memory/],
        [[file => Kinds::path(".bwh"), sync => "often"], qr/^expected sync to be interval, commit or never, found "often" at /],
        [[file => "a\0b.bwh"], qr/^expected a path without a zero byte/],
        [[file => ["x"]], qr/^expected a path, found a reference/],
        [[file => undef], qr/^expected a path, found undef/],
    ) {
        my ($options, $text) = @$case;
        ok(!eval { Bytewright::HashTable->new(@$options); 1 }, "refused: " . join(" ", map { $_ // "undef" } @$options));
        like("$@", $text, "with a reason");
        is($@->kind, "argument");
    }
    ok(!eval { Bytewright::Table->new; 1 }, "a table has a kind");
};

subtest "files open as they are asked to" => sub {
    my $file = Kinds::path(".bwh");
    ok(!eval { Bytewright::HashTable->new(file => $file, create => 0); 1 }, "a missing file is an error without create");
    is($@->kind, "io");
    is($@->os_error, 2, "with the system's number");
    my $writer = Bytewright::HashTable->new(file => $file, sync => "commit", exclusive => 1);
    $writer->put(a => 1);
    is(Bytewright::HashTable->new(file => $file, read_only => 1, verify => 1)->get("a"), 1, "one reads beside a writer");
    my $begun = time;
    ok(!eval { Bytewright::HashTable->new(file => $file, timeout => 0.3); 1 }, "a second writer is refused");
    is($@->kind, "lock");
    ok(!eval { Bytewright::TreeTable->new(file => $file, read_only => 1); 1 }, "a file of the other kind is refused");
    $writer->close;
    is(Bytewright::HashTable->new(file => $file)->get("a"), 1, "it opens when the writer has closed");
};

subtest "paths may have any characters" => sub {
    for my $name ("caf\xe9", "\x{263a}", "with space") {
        my $file = Kinds::path("$name.bwh");
        Bytewright::HashTable->new(file => $file)->put(a => 1);
        is(Bytewright::HashTable->new(file => $file, create => 0)->get("a"), 1);
    }
};

subtest "a path is the file that Perl's open opens" => sub {
    my ($bytes, $text) = map { Kinds::path("caf\xe9") . $_ } "", ".utf8";
    utf8::upgrade($text);
    for my $path ($bytes, $text, Kinds::path("caf\xe9\x{263a}"), Kinds::path("caf\xc3\xa9")) {
        my $what = utf8::is_utf8($path) ? "of characters" : "of bytes";
        my $table = Bytewright::TreeTable->new(file => "$path.bwt");
        ok(open(my $file, "<", "$path.bwt"), "a table, $what");
        $table->backup("$path.backup.bwt");
        ok(open($file, "<", "$path.backup.bwt"), "its backup");
        $table->put(a => 1);
        is($table->dump("$path.dump"), 1);
        ok(open($file, "<", "$path.dump"), "its dump");
        is(Bytewright::HashTable->new->load("$path.dump"), 1, "which is loaded");
        my $adb = Bytewright::ADB->new;
        ok($adb->open("$path.bwh"), "an ADB") && $adb->close;
        ok(open($file, "<", "$path.bwh"), "is there, too");
        open($file, ">:raw", "$path.pcap") or die;
        print $file pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1);
        close($file);
        is(eval { Bytewright::Capture->open("$path.pcap")->info->{packets} }, 0, "a capture");
        is(eval { Bytewright::Reader->open("$path.pcap")->u32be }, 0xD4C3B2A1, "a reader");
    }
};

is(Bytewright::version(), $Bytewright::VERSION, "the library has the module's version");

done_testing();
