# Goal: every public method of the module has its POD, and POD names nothing that is not there.
# Method: Pod::Checker over each file; the subroutines of each package against the headings of its page.
use 5.030;
use warnings;

use File::Find qw(find);
use Pod::Checker;
use Test::More;

use Bytewright;
use Bytewright::ADB;

my $lib = "$ENV{BYTEWRIGHT_ROOT}/perl/lib";
my @files;
find({ no_chdir => 1, wanted => sub { push(@files, $_) if /\.pm\z/ } }, $lib);

# Methods that Perl itself calls are documented by perltie and perlobj.
sub is_of_perl { return $_[0] =~ /\A(?:[A-Z_]+|import|unimport)\z/ || $_[0] =~ /\A\(/ }

sub methods {
    my ($package) = @_;
    no strict "refs";
    my @names = grep { defined(&{"${package}::$_"}) && !/\A_/ && !is_of_perl($_) && $_ ne "bootstrap" } keys(%{"${package}::"});
    # Imported functions are another's.
    require B;
    return grep { B::svref_2object(\&{"${package}::$_"})->GV->STASH->NAME =~ /\ABytewright/ } @names;
}

for my $file (sort(@files)) {
    open(my $source, "<", $file) or die "$file: $!";
    my $text = do { local $/; <$source> };
    my ($package) = $text =~ /^package (\S+);/m;
    if ($text !~ /^=head1 NAME/m) {
        like($text, qr/^# \S/m, "$package is internal, and a comment says what it is for");
        next;
    }
    my $checker = Pod::Checker->new(-warnings => 1);
    open(my $told, ">", \my $complaints) or die;
    $checker->parse_from_file($file, $told);
    is($checker->num_errors + $checker->num_warnings, 0, "$package: the POD is well formed") or diag($complaints);
    my %headings = map { $_ => 1 } map { split } $text =~ /^=head2 (\w+(?: \w+)*)/mg;
    for my $method (sort(methods($package))) {
        ok($headings{$method}, "$package: $method is documented");
    }
    ok($package->can($_), "$package: $_ exists") for sort(keys(%headings));
}

done_testing();
