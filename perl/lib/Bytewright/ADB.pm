package Bytewright::ADB;

use 5.030;
use warnings;

use parent "Bytewright::Table";

use Bytewright::ADB::Functions;
use Bytewright::ADB::Iterator;
use Bytewright::ADB::Name;
use Bytewright::Error;
use Bytewright::Range;
use Scalar::Util qw(refaddr);
use Time::HiRes ();

# Seconds to wait for another process that writes the file: Tokyo Cabinet waits as long as it takes.
my $FOR_EVER = 1e9;
my $INT_MIN  = -2**31;

# The hot ones are the table's own, which answer a failure here.
*put     = \&Bytewright::Table::put;
*putkeep = \&Bytewright::Table::create;
*putcat  = \&Bytewright::Table::append;
*get     = \&Bytewright::Table::get;
*out     = \&Bytewright::Table::delete;
*rnum    = \&Bytewright::Table::count;

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
    return $self->_try(sub {
        $name = Bytewright::ADB::Name->new($name);
        if ($name->is_in_memory) { $self->_create($name->kind, "") }
        else                     { $self->_open_named($name) }
        $self->{name} = $name;
        bless $self, ref($self) . "::Bounded" if $name->is_bounded;
        return 1;
    });
}

sub _open_named {
    my ($self, $name) = @_;
    my $writes = $name->has_mode("w");
    $self->_open_file(
        file => $name->path, kind => $name->kind, sync => $name->sync, create => $writes && $name->has_mode("c"),
        read_only => !$writes, timeout => $name->has_mode("f") ? 0 : $FOR_EVER,
    );
    $self->clear if $writes && $name->has_mode("t");
    return;
}

sub close {
    my ($self) = @_;
    return 0 if $self->is_closed;
    delete(@$self{qw(iterator)});
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

sub iterinit {
    my ($self) = @_;
    return $self->_iterate_from(undef);
}

sub _iterate_from {
    my ($self, $key) = @_;
    return 0 if $self->is_closed;
    return $self->_try(sub {
        return 0 if defined($key) && !$self->_is_ordered && !$self->exists($key);
        $self->{iterator} = Bytewright::ADB::Iterator->new($self, $self->_is_ordered, $key);
        return 1;
    });
}

sub iternext {
    my ($self) = @_;
    my $iterator = $self->{iterator};
    return undef if !$iterator || $self->is_closed;
    return $self->_try(sub { return $iterator->next($self) }, undef);
}

sub fwmkeys {
    my ($self, $prefix, $max) = @_;
    return [] if $self->is_closed;
    $max = defined($max) && $max >= 0 ? int($max) : undef;
    return [] if defined($max) && $max == 0;
    return $self->_try(sub {
        return [Bytewright::Range::scan($self, prefix => $prefix, limit => $max)->keys] if $self->_is_ordered;
        my ($scan, @found) = ($self->scan);
        while (my ($key) = $scan->next) {
            next if substr($key, 0, length($prefix)) ne $prefix;
            push(@found, $key);
            last if defined($max) && @found == $max;
        }
        return \@found;
    }, []);
}

sub addint {
    my ($self, $key, $number) = @_;
    my $sum = $self->_add($key, "l", int(_number($number)));
    return defined($sum) && $sum != $INT_MIN ? $sum : undef;
}

sub adddouble {
    my ($self, $key, $number) = @_;
    my $sum = $self->_add($key, "d", _number($number));
    return defined($sum) && $sum == $sum ? $sum : undef;
}

# What is added, as C makes it of what Perl has, but for the address of a reference.
sub _number {
    my ($number) = @_;
    Bytewright::Error::_refuse("expected a number to add, found a reference")
        if ref($number) && !overload::Method($number, "0+") && !overload::Method($number, '""');
    return $number;
}

# Adds to a number of this format, and gives the sum, or undef if the value is not one.
sub _add {
    my ($self, $key, $format, $number) = @_;
    return undef if $self->is_closed;
    return $self->_try(sub {
        my $zero = pack($format, 0);
        return $self->transaction(sub {
            my $old = $self->get($key) // $zero;
            return undef if length($old) != length($zero);
            # Of an int 32 bits are kept, as C does.
            my $sum = unpack($format, $old) + $number;
            my $new = $format eq "l" ? pack("L", $sum & 0xFFFFFFFF) : pack($format, $sum);
            return $self->put($key, $new) ? unpack($format, $new) : undef;
        });
    }, undef);
}

sub sync     { my ($self) = @_; return $self->_is_changeable ? $self->SUPER::sync    : 0 }
sub optimize { my ($self) = @_; return $self->_is_changeable ? $self->SUPER::compact : 0 }
sub vanish   { my ($self) = @_; return $self->_is_in_transaction ? 0 : $self->SUPER::clear }
sub CLEAR    { return $_[0]->vanish }

sub _is_changeable {
    my ($self) = @_;
    return !$self->is_closed && !$self->_is_in_transaction && ($self->_name->is_in_memory || $self->_name->has_mode("w"));
}

sub copy {
    my ($self, $path) = @_;
    return 0 if $self->is_closed || $self->_is_in_transaction;
    return $self->_try(sub { return $self->_run(substr($path, 1)) }) if $path =~ /\A@/;
    return $self->_try(sub {
        if   ($self->_name->is_in_memory) { $self->_copy_into($path) }
        else                              { $self->backup($path, replace => 1) }
        return 1;
    });
}

# Puts the entries of a table in memory into the one that a name stands for, all or none.
sub _copy_into {
    my ($self, $path) = @_;
    my $name = Bytewright::ADB::Name->new($path);
    Bytewright::Error::_refuse("expected the name of a file, found $path") if $name->is_in_memory;
    my $class = $name->kind == 2 ? "Bytewright::TreeTable" : "Bytewright::HashTable";
    my $copy  = $class->new(file => $name->path, sync => "never");
    $copy->transaction(sub {
        my $scan = $self->scan;
        while (my ($key, $value) = $scan->next) { $copy->put($key, $value) }
    });
    return $copy->close;
}

# Runs a program while nobody changes the file, without a shell, in which a path could be read as more than that.
sub _run {
    my ($self, $command) = @_;
    my $is_held = $self->_is_changeable && !$self->_name->is_in_memory;
    my $held = $is_held ? $self->transaction : undef;
    $self->SUPER::sync if $is_held;
    my $path = $self->_name->is_in_memory ? "" : $self->_name->path;
    no warnings "exec";    # the answer tells
    my $status = system({$command} $command, $path, int(Time::HiRes::time() * 1_000_000));
    $held->commit if $held;
    return $status == 0 ? 1 : 0;
}

sub tranbegin {
    my ($self) = @_;
    return 0 if $self->is_closed || $self->_is_in_transaction || $self->_name->is_in_memory;
    return $self->_try(sub { return $self->_begin ? 1 : 0 });
}

sub trancommit { return $_[0]->_end_transaction(1) }
sub tranabort  { return $_[0]->_end_transaction(0) }

sub _end_transaction {
    my ($self, $is_kept) = @_;
    return 0 if $self->is_closed || !$self->_is_in_transaction;
    return $self->_try(sub { $self->_end($is_kept); return 1 });
}

sub path { my ($self) = @_; return $self->is_closed ? undef : $self->_name->path }

sub size {
    my ($self) = @_;
    return 0 if $self->is_closed;
    return $self->_try(sub { return $self->stat->{$self->_name->is_in_memory ? "memory_bytes" : "file_bytes"} }, 0);
}

sub misc {
    my ($self, $function, $arguments) = @_;
    return undef if $self->is_closed;
    return $self->_try(sub { return Bytewright::ADB::Functions::call($self, $function, @{ $arguments // [] }) }, undef);
}

sub _name       { return $_[0]{name} }
sub _is_ordered { return $_[0]{name}->kind == 2 }

# Does the work; where that dies, the answer is this, and `error` says why.
sub _try {
    my ($self, $work, $answer) = (@_, 0);
    my $done;
    return $done if eval { $done = $work->(); 1 };
    die $@ if !Bytewright::Error::_is($@);
    $self->_set_failure($@);
    return $answer;
}

# One that keeps within the tuning "capnum", entries, and "capsiz", bytes: what comes first in the table's order goes first,
# which of a hashed table is what was not written for longest.
package Bytewright::ADB::Bounded;

our @ISA = ("Bytewright::ADB");

# Between this many changes the bytes are counted, which takes longer than a change.
my $CHANGES_BETWEEN_COUNTS = 256;

sub put     { my $self = shift; return $self->_kept($self->SUPER::put(@_)) }
sub putkeep { my $self = shift; return $self->_kept($self->SUPER::putkeep(@_)) }
sub putcat  { my $self = shift; return $self->_kept($self->SUPER::putcat(@_)) }
sub STORE   { goto &put }

sub close {
    my ($self) = @_;
    my $is_closed = $self->SUPER::close;
    bless $self, ref($self) =~ s/::Bounded\z//r;
    return $is_closed;
}

sub _kept {
    my ($self, $answer) = @_;
    my ($capnum, $capsiz) = ($self->_name->number("capnum"), $self->_name->number("capsiz"));
    $self->_remove_first while $capnum && $self->count > $capnum;
    return $answer if !$capsiz || ++$self->{changes} % $CHANGES_BETWEEN_COUNTS;
    $self->_remove_first while $self->count && $self->_bytes > $capsiz;
    return $answer;
}

sub _remove_first { my ($self) = @_; return $self->delete(($self->scan->next)[0]) }
sub _bytes        { my $stat = $_[0]->stat; return $stat->{live_bytes} + $stat->{index_bytes} }

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
C<capsiz> (entries and bytes that are kept in memory), C<sync> (C<commit>, C<interval>, C<never>). What else Tokyo Cabinet has
(C<bnum>, C<apow>, C<opts>, ...) does nothing.

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
