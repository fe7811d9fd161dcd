# Goal: docs/names.md tells every public method of the Perl face, and none that is not there; and every kind of error, in Perl
# and in C.
# Method: the rows of its sections are read, and compared with the packages, their sources and the header.
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

# Kinds of errors: what the page has, what the XS answers for a status of C, and what the POD lists.
sub read_file {
    my ($path) = @_;
    open(my $handle, "<", "$ENV{BYTEWRIGHT_ROOT}/$path") or die "$path: $!";
    local $/;
    return scalar(<$handle>);
}

my ($errors) = $text =~ /^## Errors\n(.*?)(?=^## )/ms or BAIL_OUT("no section of errors");
my %kind_of;
for my $row (grep { /^\| `ErrorKind::/ } split(/\n/, $errors)) {
    my ($kind, $status) = $row =~ /\| `(\w+)` \| `(BW_STATUS_\w+)` \|/ or BAIL_OUT("no kind or no status: $row");
    $kind_of{$status} = $kind;
}
my $source = read_file("perl/xs/error.h");
my %answered = $source =~ /case (BW_STATUS_\w+): return "(\w+)";/g;
($answered{BW_STATUS_INTERNAL}) = $source =~ /default: return "(\w+)";/;
is_deeply(\%kind_of, \%answered, "the page has the kind of each status");

my ($listed) = read_file("perl/lib/Bytewright/Error.pm") =~ /^=head2 kind\n(.*?)^=(?:head|cut)/ms;
is_deeply([sort($listed =~ /^    (\w+)  /mg)], [sort(values(%kind_of))], "the POD of kind lists the kinds of the page");

my ($statuses) = read_file("c/include/bytewright.h") =~ /^(?:typedef )?enum bw_status.*?\{(.*?)^\}/ms;
my %errors_of_c = map { $_ => 1 } $statuses =~ /^  (BW_STATUS_\w+) =/mg;
delete(@errors_of_c{qw(BW_STATUS_OK BW_STATUS_NONE)});    # no errors
is_deeply([sort(keys(%kind_of))], [sort(keys(%errors_of_c))], "the page has every status of the C header that is an error");

done_testing();
