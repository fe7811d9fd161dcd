package Bytewright::ADB;

use 5.030;
use warnings;

use parent "Bytewright::Table";

use Bytewright::Error;
use Bytewright::Path;
use Scalar::Util qw(refaddr);
use Time::HiRes ();

# The hot ones are the table's own, which answer a failure here. What the others mean is said in the library, which is asked by
# their names.
*put       = \&Bytewright::Table::put;
*putkeep   = \&Bytewright::Table::create;
*putcat    = \&Bytewright::Table::append;
*get       = \&Bytewright::Table::get;
*out       = \&Bytewright::Table::delete;
*rnum      = \&Bytewright::Table::count;
*tranbegin = \&Bytewright::Table::_tranbegin;

sub new {
    my ($class) = @_;
    my $self = bless {}, $class;
    $self->_attach(1);
    return $self;
}

sub TIEHASH {
    my ($class, $name) = @_;
    my $self = $class->new;
    return $self->open($name) ? $self : undef;
}

sub UNTIE { return $_[0]->close }

sub error { return $_[0]->_failure }

sub open {
    my ($self, $name) = @_;
    return 0 if !$self->is_closed;
    return $self->_try(sub { $self->_open_named($name // ""); return 1 });
}

sub _open_named {
    my ($self, $name) = @_;
    my ($path) = $name =~ /\A([^#]*)/;
    my $is_in_file = $path !~ /\A[*+]\z/;
    my $is_written = $is_in_file && $name !~ /#mode=(?![^#]*w)/i;
    my $bytes = $is_written ? Bytewright::Path::to_write($name) : Bytewright::Path::of($name);
    if (!eval { $self->_open_adb($bytes, $is_in_file); 1 }) {
        my $error = $@;
        # A program that has only the answer to look at would not learn what to do.
        warn $error->message, "\n" if Bytewright::Error::_is($error) && $error->message =~ /bytewright table convert/;
        die $error;
    }
    @$self{qw(path is_in_file)} = ($path, $is_in_file);
    return;
}

sub close {
    my ($self) = @_;
    return 0 if $self->is_closed;
    # Without an answer of its own: what failed is the error that it left.
    my $before = $self->_failure;
    $self->SUPER::close;
    my $after = $self->_failure;
    return defined($after) && (!defined($before) || refaddr($after) != refaddr($before)) ? 0 : 1;
}

sub vsiz {
    my ($self, $key) = @_;
    my $value = $self->get($key);
    return defined($value) ? length($value) : -1;
}

sub iterinit { return _done($_[0]->_call("iterinit")) }
sub iternext { return _only($_[0]->_call("iternext")) }

sub fwmkeys {
    my ($self, $prefix, $max) = @_;
    return $self->_call("fwmkeys", $prefix, defined($max) ? int($max) : ()) // [];
}

sub addint {
    my ($self, $key, $number) = @_;
    my $sum = _only($self->_call("addint", $key, pack("L", int(_number($number)) & 0xFFFFFFFF)));
    return defined($sum) ? unpack("l", $sum) : undef;
}

sub adddouble {
    my ($self, $key, $number) = @_;
    my $sum = _only($self->_call("adddouble", $key, pack("d", _number($number))));
    return defined($sum) ? unpack("d", $sum) : undef;
}

# Returns the number to add, as C makes it of what Perl has, but for the address of a reference.
sub _number {
    my ($number) = @_;
    Bytewright::Error::_refuse("expected a number to add, found a reference")
        if ref($number) && !overload::Method($number, "0+") && !overload::Method($number, '""');
    return $number;
}

sub sync     { return _done($_[0]->_call("sync")) }
sub optimize { return _done($_[0]->_call("optimize")) }
sub vanish   { return _done($_[0]->_call("vanish")) }
sub CLEAR    { return $_[0]->vanish }

sub copy {
    my ($self, $path) = @_;
    return 0 if $self->is_closed || $self->_is_in_transaction;
    return $self->_try(sub { return $self->_run(substr($path, 1)) }) if $path =~ /\A@/;
    return $self->_try(sub { return _done($self->_call("copy", Bytewright::Path::to_write($path))) });
}

# Runs a program while nobody changes the file, without a shell, in which a path could be read as more than that.
sub _run {
    my ($self, $command) = @_;
    my $is_held = $self->tranbegin;
    $self->SUPER::sync if $is_held;
    no warnings "exec";    # the answer tells
    my $status = system({$command} $command, $self->{is_in_file} ? $self->path : "", int(Time::HiRes::time() * 1_000_000));
    $self->trancommit if $is_held;
    return $status == 0 ? 1 : 0;
}

sub trancommit { return $_[0]->_end_transaction(1) }
sub tranabort  { return $_[0]->_end_transaction(0) }

sub _end_transaction {
    my ($self, $is_kept) = @_;
    return 0 if $self->is_closed || !$self->_is_in_transaction;
    return $self->_try(sub { $self->_end($is_kept); return 1 });
}

sub path { my ($self) = @_; return $self->is_closed ? undef : $self->{path} }
sub size { return _only($_[0]->_call("size")) // 0 }

sub misc {
    my ($self, $function, $arguments) = @_;
    my @arguments = @{ $arguments // [] };
    return $self->_try(sub { return $self->_regex(@arguments) }, undef) if $function eq "regex";
    return $self->_try(sub { return $self->_call("misc", $function, $function eq "error" ? $self->_described_error : @arguments) }, undef);
}

# The last error, as the function of that name is told of it.
sub _described_error {
    my $error = $_[0]->error // return;
    return ($error->kind, $error->os_error // 0);
}

# Entries whose keys a pattern of Perl's fits; a star before it ignores case. And how many, 0 for all.
sub _regex {
    my ($self, $pattern, $max) = @_;
    return undef if !defined($pattern) || $self->is_closed;
    my $ignores_case = $pattern =~ s/\A\*//;
    my $regex = eval { $ignores_case ? qr/$pattern/i : qr/$pattern/ };
    if (!defined($regex)) {
        # The handler of a signal or of a warning may die meanwhile, which is another matter.
        die $@ if ref($@) || $@ !~ / in regex/;
        return undef;
    }
    my ($scan, @listed) = ($self->scan);
    $max = int($max // 0);
    while (my ($key, $value) = $scan->next) {
        push(@listed, $key, $value) if $key =~ $regex;
        last if $max > 0 && @listed == 2 * $max;
    }
    return \@listed;
}

# Return the result of a method that gives nothing, and of one that gives one string.
sub _done { return $_[0] ? 1 : 0 }
sub _only { return $_[0] ? $_[0][0] : undef }

# Does the work; where that dies, the answer is this, and `error` says why.
sub _try {
    my ($self, $work, $answer) = (@_, 0);
    my $done;
    return $done if eval { $done = $work->(); 1 };
    die $@ if !Bytewright::Error::_is($@);
    $self->_set_failure($@);
    return $answer;
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::ADB - the methods of TokyoCabinet::ADB over Bytewright's tables

=head1 SYNOPSIS

    use Bytewright::ADB;                          # was: use TokyoCabinet;

    tie(my %tcdb, "Bytewright::ADB", "*");        # was: "TokyoCabinet::ADB"
    $tcdb{sprintf("%08d", $_)} = sprintf("%08d", $_) for 1 .. 1_000_000;

    my $adb = Bytewright::ADB->new;
    $adb->open("casket.bwh") or die $adb->error;  # was: casket.tch
    $adb->put("key", "value");

=head1 DESCRIPTION

A program that was written for C<TokyoCabinet::ADB> runs with this class: change its name, the names of files, and convert files
that there are with C<bytewright table convert casket.tch casket.bwh>.

A method that fails returns what the original's does, with 0, undef, -1 or nothing, and C<error> says why. A reference, or a
character above 255, dies: the original keeps the address of the one and the UTF-8 of the other. Beside these methods it has those
of L<Bytewright::Table>.

C<delete $hash{key}> returns the value that was there, as a hash does; the original returns true.

=head1 METHODS

=head2 new

An object without a table.

=head2 error

The L<Bytewright::Error> of the last method that failed, or undef.

=head2 open

    $adb->open($name)

C<*> is a hashed, C<+> an ordered table in memory; a name that ends in F<.bwh> or F<.bwt> one in a file. Tuning follows, each as
C<#key=value>: C<mode> (C<w> writes, C<r> reads, C<c> creates, C<t> empties, C<f> does not wait for another writer), C<capnum> and
C<capsiz> (entries and bytes that are kept in memory, perhaps with a binary prefix: C<100m>), C<sync> (C<commit>, C<interval>,
C<never>). What else Tokyo Cabinet has (C<bnum>, C<apow>, C<opts>, ...) does nothing. One object of a process has a file open.

=head2 close

Closes it; a transaction is taken back.

=head2 put

    $adb->put($key, $value)

=head2 putkeep

    $adb->putkeep($key, $value)

Puts a value where there is none, and returns whether it did.

=head2 putcat

    $adb->putcat($key, $value)

Puts a value behind the one that is there.

=head2 out

    $adb->out($key)

Removes an entry, and returns whether there was one.

=head2 get

    $adb->get($key)

The value, or undef.

=head2 vsiz

    $adb->vsiz($key)

The bytes of a value, or -1.

=head2 iterinit

Goes to the first key, for C<iternext>.

=head2 iternext

The next key, or undef after the last.

=head2 fwmkeys

    $adb->fwmkeys($prefix, $max)

A reference to an array of the keys that begin with this, at most so many.

=head2 addint

    $adb->addint($key, $number)

Adds to a value that is an int of C (C<pack "l">), or 0 where there is none, and returns the sum, or undef if the value is not one.

=head2 adddouble

    $adb->adddouble($key, $number)

The same with a double (C<pack "d">).

=head2 sync

Returns when all changes survive a power cut.

=head2 optimize

Frees the space of deleted and overwritten entries.

=head2 vanish

Removes all entries.

=head2 copy

    $adb->copy($path)

Writes the entries to a table file of the same kind, all or none; of a table in memory into what C<open> opens by that name. With
C<@command> it runs this program, without a shell, with the path and the time in microseconds as its arguments.

=head2 tranbegin

Begins a transaction in a file.

=head2 trancommit

Keeps its changes.

=head2 tranabort

Takes them back.

=head2 path

The name without its tuning, or undef.

=head2 rnum

The number of entries.

=head2 size

The bytes of the file, or of memory.

=head2 misc

    $adb->misc($function, \@arguments)

A reference to an array, or undef where it fails. Functions are C<put>, C<putkeep>, C<putcat>, C<get>, C<out>, C<putlist>,
C<outlist>, C<getlist>, C<getpart>, C<iterinit>, C<iternext>, C<sync>, C<optimize>, C<vanish>, C<regex> (Perl's patterns), C<range>
of an ordered table, and of files C<error>, C<cacheclear>, C<defrag>. C<putlist> and C<outlist> change all that they list or, where
they fail, nothing.

=cut
