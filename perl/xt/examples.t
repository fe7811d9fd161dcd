# Goal: the programs in examples/perl print what examples/expected has.
# Method: each runs with the arguments that examples/runs.txt gives it, in a folder of its own that holds the samples.
use 5.030;
use warnings;

use Cwd qw(getcwd);
use File::Basename qw(basename);
use File::Temp qw(tempdir);
use Test::More;

my $examples = "$ENV{BYTEWRIGHT_ROOT}/examples";
my %runs = map { /^(\S+) (.*)$/ ? ($1, $2) : () } split(/\n/, content("$examples/runs.txt"));
my $start = getcwd();
# Programs find the library where this one does.
local $ENV{PERL5LIB} = join(":", map { $_ =~ m{^/} ? $_ : "$start/$_" } @INC);

for my $program (glob("$examples/perl/*.pl")) {
    my $name = basename($program, ".pl");
    my $folder = tempdir(CLEANUP => 1);
    symlink("$ENV{BYTEWRIGHT_ROOT}/samples", "$folder/samples") or die;
    chdir($folder) or die;
    open(my $output, "-|", $^X, "-w", $program, split(/ /, $runs{$name})) or die;
    my $printed = do { local $/; <$output> };
    ok(close($output), "$name ends well");
    is($printed, content("$examples/expected/$name.txt"), "$name prints what is expected");
    chdir($start);
}

sub content {
    my ($path) = @_;
    open(my $file, "<", $path) or die("$path: $!");
    local $/;
    return scalar(<$file>);
}

done_testing();
