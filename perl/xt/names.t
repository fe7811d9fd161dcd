# Goal: docs/names.md tells every public method of the Perl face, and none that is not there.
# Method: the rows of its section are read, and compared with the packages.
use 5.030;
use warnings;

use Test::More;

use Bytewright;
use Bytewright::ADB;

open(my $file, "<", "$ENV{BYTEWRIGHT_ROOT}/docs/names.md") or die;
my $text = do { local $/; <$file> };
my ($section) = $text =~ /^## Perl\n(.*?)(?=^## )/ms or BAIL_OUT("no section of Perl");
my %named = map { $_ => 1 } $section =~ /`(\w+->\w+)`/g;

sub methods {
    my ($class) = @_;
    no strict "refs";
    return grep { defined(&{"Bytewright::${class}::$_"}) && /\A[a-z]/ && !/\A(?:import|bootstrap|refaddr)\z/ } keys(%{"Bytewright::${class}::"});
}

for my $class (qw(Table TreeTable ADB Scan Snapshot Cursor Transaction Capture Rows Reader Error)) {
    ok($named{"$class->$_"}, "$class->$_ is on the page") for sort(methods($class));
}
for my $name (sort(keys(%named))) {
    my ($class, $method) = split(/->/, $name);
    ok("Bytewright::$class"->can($method), "$name exists");
}

done_testing();
