# Goal: each message that docs/guides/troubleshooting.md has for Perl is one that a user sees.
# Method: each trouble is made, and what is said of it is compared with the rows of the section, in which an ellipsis stands for any
# text. A row that nothing says fails, and so does a trouble that has no row.
use 5.030;
use warnings;

use Bytewright;
use Storable ();
use Test::More;

open(my $file, "<:raw", "$ENV{BYTEWRIGHT_ROOT}/docs/guides/troubleshooting.md") or die;
my $page = do { local $/; <$file> };
my ($section) = $page =~ /^## Perl\n(.*?)^## /ms or die "expected a section on Perl, found none";
my @messages = $section =~ /^\| `([^`]+)` \|/mg;

my %troubles = (
    "a wide character" => sub { Bytewright::HashTable->new->put("\x{263a}", 1) },
    "a frozen table"   => sub { Storable::freeze(Bytewright::HashTable->new) },
);
my %told = map { eval { $troubles{$_}->(); 1 } ? die "$_ is no trouble" : ($_ => "$@") } keys(%troubles);
my %patterns = map { my $message = $_; $message => join(".*", map { quotemeta } split(/\xe2\x80\xa6/, $message)) } @messages;

for my $message (@messages) {
    ok(scalar(grep { /$patterns{$message}/s } values(%told)), $message) or diag(explain(\%told));
}
for my $trouble (sort(keys(%told))) {
    ok(scalar(grep { $told{$trouble} =~ /$_/s } values(%patterns)), $trouble) or diag($told{$trouble});
}

done_testing();
