package Bytewright::ADB::Name;

# What `open` is told: "*", "+" or a path, and behind it tuning, each parameter as "#key=value".

use 5.030;
use warnings;

use Bytewright::Error;

my %IN_MEMORY = ("*" => 1, "+" => 2);
my %IN_FILES  = (".bwh" => 1, ".bwt" => 2);
# The files of Tokyo Cabinet that can be converted, and into what.
my %CONVERTIBLE = (".tch" => ".bwh", ".hdb" => ".bwh", ".tcb" => ".bwt", ".bdb" => ".bwt");
my %SYNC_MODES = map { $_ => 1 } qw(commit interval never);

sub new {
    my ($class, $name) = @_;
    my ($path, @tuning) = split(/#/, $name // "", -1);
    $path //= "";
    my %tuning = map { my ($key, $value) = split(/=/, $_, 2); (lc($key // "") => $value // "") } @tuning;
    my ($suffix) = lc($path) =~ /(\.[^.\/]*)\z/;
    my $kind = $IN_MEMORY{$path} // $IN_FILES{ $suffix // "" };
    my $self = bless { path => $path, kind => $kind, tuning => \%tuning }, $class;
    $self->_refuse($suffix // "") if !$kind;
    my $sync = $self->sync;
    Bytewright::Error::_refuse("expected sync to be commit, interval or never, found $sync") if !$SYNC_MODES{$sync};
    return $self;
}

sub _refuse {
    my ($self, $suffix) = @_;
    my $path = $self->{path};
    my $ours = $CONVERTIBLE{$suffix} // Bytewright::Error::_refuse("expected *, +, a .bwh or a .bwt file, found $path");
    my $converted = substr($path, 0, -length($suffix)) . $ours;
    my $error = Bytewright::Error::_new("format",
        "expected a .bwh or .bwt file, found the name of one of Tokyo Cabinet, $path; convert it with: bytewright table convert $path $converted",
        $path);
    # A program that has only the answer to look at would not learn what to do.
    warn $error->message, "\n";
    die $error;
}

sub path         { return $_[0]{path} }
sub kind         { return $_[0]{kind} }
sub is_in_memory { return exists($IN_MEMORY{ $_[0]{path} }) }
sub has_mode     { return index(lc($_[0]{tuning}{mode} // "wc"), $_[1]) >= 0 }
sub sync         { return $_[0]{tuning}{sync} // "interval" }
sub is_bounded   { my ($self) = @_; return $self->is_in_memory && ($self->number("capnum") || $self->number("capsiz")) }

# A parameter that is a number; 0 where nothing is said.
sub number { return ($_[0]{tuning}{ $_[1] } // "") =~ /\A\s*(\d+)/ ? $1 : 0 }

1;
