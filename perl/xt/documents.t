# Goal: every Perl example in the documents does what it says.
# Method: the examples of a document run one after another, in a folder of their own. A statement of one line that a comment
# `# => value` follows must have this value as its text, or print it.
use 5.030;
use warnings;

use File::Find qw(find);
use File::Temp qw(tempdir);
use Test::More;

my @documents = ("$ENV{BYTEWRIGHT_ROOT}/README.md");
find({ no_chdir => 1, wanted => sub { push(@documents, $_) if /\.md\z/ } }, "$ENV{BYTEWRIGHT_ROOT}/docs");
my $folder = tempdir(CLEANUP => 1);
chdir($folder) or die;
symlink("$ENV{BYTEWRIGHT_ROOT}/samples", "samples") or die;

for my $document (sort(@documents)) {
    open(my $file, "<:raw", $document) or die "$document: $!";
    my $text = do { local $/; <$file> };
    my @examples = $text =~ /^```perl\n(.*?)^```/msg or next;
    my ($source, $count) = ("use strict; use warnings; no warnings 'void';\n", 0);
    for my $line (map { split(/^/) } @examples) {
        $count++ if $line =~ s/^(?:print )?(\S.*);\s+# => (.*)$/main::has_value(scalar($1), q\0$2\0, q\0$1\0);/;
        $source .= $line;
    }
    subtest $document => sub {
        ok($count, "an example says what comes out");
        eval "package Example; $source; 1" or fail("it runs: $@");
    };
    chdir("/");
    chdir($folder);
}

sub has_value {
    my ($found, $expected, $statement) = @_;
    is($found, $expected, $statement);
}

done_testing();
