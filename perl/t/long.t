# Goal: no error is as long as what a program hands in.
# Method: a megabyte, as a text and as the name of a class, in each place where an error repeats it.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;
use Storable ();
use Test::More;

my $LONG   = "x" x 1_000_000;
my $object = bless({}, $LONG);
my $file   = Kinds::path(".bwh");
my $tree   = Bytewright::TreeTable->new;

my $path = Kinds::path(".pcap");
open(my $out, ">:raw", $path) or die;
print $out pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1);
close($out);
my $capture = Bytewright::Capture->open($path);

{
    no strict "refs";
    @{"${LONG}::ISA"}  = ("Bytewright::HashTable");
    @{"${LONG}y::ISA"} = ("Bytewright::Table");
}

my %cases = (
    "an option of a table in memory" => sub { Bytewright::HashTable->new($LONG => 1) },
    "an option of a table"           => sub { Bytewright::HashTable->new(file => $file, $LONG => 1) },
    "the value of an option"         => sub { Bytewright::HashTable->new(file => $file, sync => $LONG) },
    "an object as an option"         => sub { Bytewright::HashTable->new(file => $file, sync => $object) },
    "an object as a long option"     => sub { Bytewright::HashTable->new(file => $file, $LONG => $object) },
    "seconds"                        => sub { Bytewright::HashTable->new(file => $file, timeout => $LONG) },
    "a path"                         => sub { Bytewright::HashTable->new(file => "/$LONG.bwh") },
    "a class without a kind"         => sub { "${LONG}y"->new },
    "an object of another class"     => sub { Bytewright::Table::get($object, "a") },
    "an option of a range"           => sub { $tree->range($LONG => 1) },
    "the limit of a range"           => sub { $tree->range(limit => $LONG) },
    "an option of a backup"          => sub { $tree->backup($file, $LONG => 1) },
    "the path of a backup"           => sub { $tree->backup("/$LONG.bwt") },
    "an option of a dump"            => sub { $tree->dump($file, $LONG => 1) },
    "the format of a dump"           => sub { $tree->dump($file, format => $LONG) },
    "the path of a dump"             => sub { $tree->dump("/$LONG") },
    "the path of what is loaded"     => sub { $tree->load("/$LONG") },
    "what is added"                  => sub { $tree->increment("a", $LONG) },
    "what is added, as digits"       => sub { $tree->increment("a", "1" x 1_000_000) },
    "an object that is stored"       => sub { Storable::dclone($LONG->new) },
    "an option of a capture"         => sub { Bytewright::Capture->open($path, $LONG => 1) },
    "the path of a capture"          => sub { Bytewright::Capture->open("/$LONG") },
    "an interface"                   => sub { Bytewright::Capture->live($LONG) },
    "a field"                        => sub { $capture->packets($LONG) },
    "a field of flows"               => sub { $capture->flows(fields => [$LONG]) },
    "an option of flows"             => sub { $capture->flows($LONG => 1) },
    "a field of counts"              => sub { $capture->count_by($LONG) },
    "a condition of counts"          => sub { $capture->count_by("proto", where => $LONG) },
    "a field of sums"                => sub { $capture->sum(by => [$LONG]) },
    "a condition of sums"            => sub { $capture->sum(where => $LONG) },
    "the path of a reader"           => sub { Bytewright::Reader->open("/$LONG") },
    "a count of a reader"            => sub { Bytewright::Reader->open(\"ab")->read($LONG) },
    "a database"                     => sub { my $adb = Bytewright::ADB->new; die $adb->error if !$adb->open($LONG) },
    "a database of Tokyo Cabinet"    => sub { my $adb = Bytewright::ADB->new; die $adb->error if !$adb->open("$LONG.tch") },
    "how a database is synced"       => sub { my $adb = Bytewright::ADB->new; die $adb->error if !$adb->open("*#sync=$LONG") },
);
# The name of a file of Tokyo Cabinet is warned of, too.
local $SIG{__WARN__} = sub { cmp_ok(length($_[0]), "<", 1024, "a short warning") };
for my $name (sort(keys(%cases))) {
    ok(!eval { $cases{$name}->(); 1 }, "$name is refused");
    my $error = $@;
    isa_ok($error, "Bytewright::Error", $name);
    my $text = "$error";
    utf8::encode($text);
    cmp_ok(length($text), "<", 1024, "$name: in few words");
  SKIP: {
        skip("gap: libpcap is not installed; what is said of $name was not checked", 1) if $error->kind eq "missing_library";
        like("$error", qr/x\x{2026}x|1\x{2026}1/, "$name: the beginning and the end");
    }
}
is(Bytewright::Error::_excerpt("x" x 200), "x" x 200, "what is short is whole");

done_testing();
