# Goal: docs/names.md tells every public method of the Perl face, and none that is not there; and every type, option and kind of
# error, in Perl and in C.
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

for my $class (qw(Table TreeTable Cache ADB Scan Snapshot Cursor Transaction Capture FlowStore Rows Reader Writer Error)) {
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

my $header = read_file("c/include/bytewright.h");

# Types and options: what stands in backticks in a column, by the column's title.
sub column {
    my ($title, $name) = @_;
    my ($table) = $text =~ /^## \Q$title\E\n(.*?)(?=^## )/ms or BAIL_OUT("no section $title");
    my ($head, undef, @rows) = map { [map { s/\A +| +\z//gr } split(/\|/, $_, -1)] } grep { /^\|/ } split(/\n/, $table);
    my ($place) = grep { $head->[$_] eq $name } 0 .. $#$head;
    defined($place) or BAIL_OUT("no column $name in $title");
    return map { $_->[$place] =~ /`([^`]+)`/g } @rows;
}

my %types = map { $_ => 1 } column("Types", "Perl");
ok(delete($types{$_}), "the option $_ of a range is on the page") for qw(from to prefix reverse limit);
my @handles = map { "Bytewright::$_" } qw(Table HashTable TreeTable ADB Snapshot Cursor Scan Capture FlowStore Rows Reader Writer Error);
ok($types{$_}, "$_ is on the page") for @handles;
for my $type (sort(keys(%types))) {
    like(read_file("perl/lib/" . $type =~ s{::}{/}gr . ".pm"), qr/^package $type;/m, "$type exists");
}

my %types_of_c = map { $_ => 1 } column("Types", "C");
like($header, qr/\b\Q$_\E(?:;| = \d|\b \{)/, "$_ is in the header") for sort(keys(%types_of_c));
# Handles that a program gets and frees: declared without their fields.
ok($types_of_c{$_}, "the handle $_ is on the page") for $header =~ /^typedef struct (bw_\w+) \1;/mg;

my ($of_files) = read_file("docs/options.md") =~ /^## Opening table files\n(.*?)(?=^## |\z)/ms or BAIL_OUT("no options of table files");
my @of_tables = (qw(file utf8), $of_files =~ /^\| `(\w+)` \|/mg);
is_deeply([sort(column("Options of a table", "Perl"))], [sort(@of_tables)], "the page has the options of a table");

sub options_of_c {
    return map {
        my $struct = $_;
        my ($body) = $header =~ /^typedef struct $struct \{(.*?)^\} $struct;/ms or BAIL_OUT("no $struct");
        map { "$struct.$_" } $body =~ /^  [^*\n]*?\**(\w+);$/mg, $body =~ /^  [^*\/\n]+\*(?:const \*)?(\w+);$/mg;
    } @_;
}
my %known = map { $_ => 1 } read_file("docs/options.md") =~ /^\| `(\w+)` \|/mg;
my %of_c = map { $_ => 1 } qw(named fields), map { s/.*\.//r } column("Options", "C");
for my $option (options_of_c(qw(bw_capture_options bw_live_options bw_flow_options bw_sum_options))) {
    my ($name) = $option =~ /(\w+)\z/;
    ok($known{$name} || $of_c{$name}, "$option is an option of the page");
}
my %found = map { $_ => 1 } options_of_c("bw_open_options");
is_deeply([sort(grep { /\./ } column("Options of a table", "C"))], [sort(keys(%found))], "the page has the options of a table in C");

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

my ($statuses) = $header =~ /^(?:typedef )?enum bw_status.*?\{(.*?)^\}/ms;
my %errors_of_c = map { $_ => 1 } $statuses =~ /^  (BW_STATUS_\w+) =/mg;
delete(@errors_of_c{qw(BW_STATUS_OK BW_STATUS_NONE)});    # no errors
is_deeply([sort(keys(%kind_of))], [sort(keys(%errors_of_c))], "the page has every status of the C header that is an error");

done_testing();
