package Bytewright::ADB::Functions;

# What `misc` can do, by name. A function gives a reference to an array, or undef where it fails.

use 5.030;
use warnings;

use Bytewright::Range;
use Scalar::Util qw(refaddr);

# What `error` says, in Tokyo Cabinet's words.
my %MESSAGES = (
    closed => "2: invalid operation", format => "5: invalid meta data", corrupt => "5: invalid meta data",
    truncated => "5: invalid meta data", lock => "16: lock error",
);
my %SYSTEM = (2 => "3: file not found", 13 => "4: no permission");

my %FUNCTIONS = (
    put      => sub { my ($adb, @pair) = @_; return @pair > 1 && $adb->put(@pair[0, 1])     ? [] : undef },
    putkeep  => sub { my ($adb, @pair) = @_; return @pair > 1 && $adb->putkeep(@pair[0, 1]) ? [] : undef },
    putcat   => sub { my ($adb, @pair) = @_; return @pair > 1 && $adb->putcat(@pair[0, 1])  ? [] : undef },
    out      => sub { my ($adb, @keys) = @_; return @keys     && $adb->out($keys[0])        ? [] : undef },
    sync     => sub { return $_[0]->sync     ? [] : undef },
    vanish   => sub { return $_[0]->vanish   ? [] : undef },
    optimize => sub { return $_[0]->optimize ? [] : undef },
    iterinit => sub { return $_[0]->_iterate_from($_[1]) ? [] : undef },
    get => \&_get, putlist => \&_putlist, outlist => \&_outlist, getlist => \&_getlist, getpart => \&_getpart,
    iternext => \&_iternext, regex => \&_regex, range => \&_range, error => \&_error,
    cacheclear => \&_nothing, defrag => \&_nothing,
);

sub call {
    my ($adb, $name, @arguments) = @_;
    my $function = $FUNCTIONS{$name} // return undef;
    return $function->($adb, @arguments);
}

sub _get {
    my ($adb, @keys) = @_;
    my $value = @keys ? $adb->get($keys[0]) : undef;
    return defined($value) ? [$value] : undef;
}

sub _putlist {
    my ($adb, @entries) = @_;
    pop(@entries) if @entries % 2;
    return _all_or_none($adb, sub {
        while (my ($key, $value) = splice(@entries, 0, 2)) { $adb->put($key, $value) or return }
    });
}

sub _outlist {
    my ($adb, @keys) = @_;
    return _all_or_none($adb, sub { $adb->out($_) for @keys });
}

# Does the work in a transaction, which is taken back where any part of it fails.
sub _all_or_none {
    my ($adb, $work) = @_;
    my ($transaction, $before) = ($adb->transaction, $adb->error);
    $work->();
    return undef if (refaddr($adb->error) // 0) != (refaddr($before) // 0);
    $transaction->commit;
    return [];
}

sub _getlist {
    my ($adb, @keys) = @_;
    my @values = $adb->get_many(@keys);
    return [map { defined($values[$_]) ? ($keys[$_], $values[$_]) : () } 0 .. $#keys];
}

# A part of a value: its key, the offset, and the length, which is negative for all of the rest.
sub _getpart {
    my ($adb, $key, $offset, $len) = @_;
    my $value = defined($key) ? $adb->get($key) : undef;
    $offset = int($offset // 0);
    $offset = 0 if $offset < 0;
    return undef if !defined($value) || $offset >= length($value);
    return [defined($len) && $len >= 0 ? substr($value, $offset, int($len)) : substr($value, $offset)];
}

sub _iternext {
    my ($adb) = @_;
    my $key = $adb->iternext;
    return defined($key) ? [$key, $adb->get($key) // ()] : undef;
}

# Entries whose keys a pattern fits; a star before it ignores case. And how many, 0 for all.
sub _regex {
    my ($adb, $pattern, $max) = @_;
    return undef if !defined($pattern);
    my $ignores_case = $pattern =~ s/\A\*//;
    my $regex = eval { $ignores_case ? qr/$pattern/i : qr/$pattern/ } // return undef;
    return _listed($adb->scan, $max, sub { return $_[0] =~ $regex });
}

# Entries from a key, as many as the second says (0 for all), to before the third.
sub _range {
    my ($adb, $from, $max, $to) = @_;
    return undef if !$adb->_is_ordered;
    my $scan = Bytewright::Range::scan($adb, from => $from, to => $to);
    return _listed($scan, $max, sub { return !defined($to) || $_[0] lt $to });
}

sub _listed {
    my ($scan, $max, $fits) = @_;
    my @listed;
    $max = int($max // 0);
    while (my ($key, $value) = $scan->next) {
        next if !$fits->($key);
        push(@listed, $key, $value);
        last if $max > 0 && @listed == 2 * $max;
    }
    return \@listed;
}

sub _error {
    my ($adb) = @_;
    return undef if $adb->_name->is_in_memory;
    my $error = $adb->error // return ["0: success"];
    return [$MESSAGES{ $error->kind } // $SYSTEM{ $error->os_error // 0 } // "9999: miscellaneous error"];
}

# There is no cache, and no fragment.
sub _nothing { return $_[0]->_name->is_in_memory ? undef : [] }

1;
