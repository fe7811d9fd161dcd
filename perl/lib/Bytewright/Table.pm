package Bytewright::Table;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";
use Bytewright::Error;
use Bytewright::Named;
use Bytewright::Path;
use Bytewright::Range;
use Bytewright::Transaction;

sub new {
    my ($class, %options) = @_;
    my $self = bless \my($table), $class;
    $self->_attach(0);
    my $is_text = !!delete($options{utf8});
    return $self->_open_file($is_text, delete($options{file}), %options) if exists($options{file});
    my ($useless) = sort(keys(%options));
    Bytewright::Error::_refuse("expected file with the option " . Bytewright::Error::_excerpt($useless) . ", found a table in memory")
        if defined($useless);
    $self->_create($class->_kind, $is_text);
    return $self;
}

sub TIEHASH { goto &new }

sub _kind {
    my $found = Bytewright::Error::_excerpt(ref($_[0]) || $_[0]);
    Bytewright::Error::_refuse("expected Bytewright::HashTable or Bytewright::TreeTable, found $found");
}

sub _open_file {
    my ($self, $is_text, $file, %options) = @_;
    my @named = Bytewright::Named::texts(%options);
    my $reads = grep { /\Aread_only=(?:1|true)\z/ } @named;
    my @how   = ($reads ? Bytewright::Path::of($file) : Bytewright::Path::to_write($file), $self->_kind, $is_text, @named);
    $self->_open(@how);
    return $self;
}

sub UNTIE {
    my ($self, $others) = @_;
    return $self->close if !$others;
    # Perl's own words, which it leaves out where a class has this method.
    warnings::warnif("untie", "untie attempted while $others inner references still exist");
    return;
}

sub put_many {
    my $self = shift;
    return $self->_put_many(%{ $_[0] }) if @_ == 1 && ref($_[0]) eq "HASH";
    Bytewright::Error::_refuse("expected keys with values, found a key without a value") if @_ % 2;
    return $self->_put_many(@_);
}

sub scan   { my $self = shift; return $self->_scan(undef, undef, undef, 0, 0) }
sub keys   { return wantarray ? $_[0]->scan->keys   : $_[0]->count }
sub values { return wantarray ? $_[0]->scan->values : $_[0]->count }

sub backup {
    my ($self, $path, %options) = @_;
    my ($unknown) = sort(grep { $_ ne "replace" } CORE::keys(%options));
    Bytewright::Error::_refuse("expected replace as an option, found " . Bytewright::Error::_excerpt($unknown)) if defined($unknown);
    return $self->_backup(Bytewright::Path::to_write($path), !!$options{replace});
}

sub dump {
    my ($self, $path, %options) = @_;
    my ($unknown) = sort(grep { $_ ne "format" && $_ ne "force" } CORE::keys(%options));
    Bytewright::Error::_refuse("expected format or force as an option, found " . Bytewright::Error::_excerpt($unknown)) if defined($unknown);
    return $self->_dump(Bytewright::Path::to_write($path), $options{format} // "db", !!$options{force});
}

sub changes_since { my ($self, $position) = @_; return $self->_changes_since($position) }

sub load { my ($self, $path) = @_; return $self->_load(Bytewright::Path::of($path)) }

sub txn { goto &transaction }

sub transaction {
    my ($self, $work) = @_;
    my $transaction = Bytewright::Transaction->_begin($self);
    return $transaction if !$work;
    my @answer = wantarray ? $work->($self) : scalar($work->($self));
    $transaction->commit;
    return wantarray ? @answer : $answer[0];
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Table - the methods that hashed and ordered tables have

=head1 SYNOPSIS

    use Bytewright;

    tie my %ages, "Bytewright::HashTable", file => "ages.bwh";
    $ages{ada} = 36;
    my $table = tied(%ages);
    $table->get_many("ada", "bob");     # (36, undef)

=head1 DESCRIPTION

A table keeps strings of bytes by keys that are strings of bytes. L<Bytewright::HashTable> and L<Bytewright::TreeTable> are
its classes. Tied to a hash it does what a hash does, but for this:

=over

=item *

Values are strings. Numbers become their text, undef the empty string with Perl's warning. A reference is refused, as a key
too, unless it is to an object that overloads C<"">: write C<"$_"> for the text of a pattern or of an object, or
C<refaddr($_)> of L<Scalar::Util> to tell objects apart, as in C<< grep { !$seen{refaddr($_)}++ } @objects >>.

=item *

Strings are bytes. One with a character above 255 is refused; with C<< utf8 => 1 >> strings are characters, and the table keeps
them in UTF-8.

=item *

C<each>, C<keys> and C<values> walk the table as it was when they began, without the entries that went since. Changing it
meanwhile is fine. Entries come in the order of their last write from a HashTable, in that of their keys from a TreeTable.

=item *

C<keys(%hash)> walks over all keys, even to count them; C<scalar(%hash)> does not.

=item *

In a file, each change is a commit; C<txn> makes one of many.

=back

=head1 PROCESSES

Any number of processes write a file by turns: a transaction, or a change outside of one, waits up to C<timeout>
seconds for another one, and then dies with an error of the kind C<lock>. Signal handlers run meanwhile, and end the waiting if they die.
C<exclusive> keeps other writers out. Any others read, with C<read_only>.

A forked child has a copy of a table in memory, and may use a file that the parent opened. One that the parent
has for itself it may read: L<Bytewright/"PROCESSES AND THREADS"> says what it may do with each object.

=head1 TAINT MODE

Under C<-T>, keys and values from a file are tainted, as what Perl reads itself, and so are those of a table in memory from when a
tainted one was put into it. A tainted path is refused, but to read: C<read_only>.

=head1 METHODS

All of them die with a L<Bytewright::Error>.

=head2 new

    Bytewright::HashTable->new(%options)

A table in memory, or with C<file> the one in this file. C<tie> takes the same options:

=over

=item file

The path, as Perl's open takes it; a new file is named .bwh (hashed) or .bwt (ordered).

=item utf8

Keys and values are text.

=back

Those of a table in a file alone are

=for generated TABLE by `make generate`, of the core's tables

=over

=item create

Make the file where it is missing. Value: true or false; default: true.

=item read_only

Read beside others who write. Value: true or false; default: false.

=item exclusive

Let nobody else write while it is open. Value: true or false; default: false.

=item sync

When commits are made to survive a power cut: "interval" (within a second, and at the latest when it is closed),
"commit" (before each commit returns) or "never". Value: C<interval>, C<commit>, C<never>; default: interval.

=item timeout

Longest wait in seconds for another writer: to end its transaction, or to close a file that it has for itself. Value: a
number of seconds; default: 10.

=item verify

Check all of the file first. Value: true or false; default: false.

=back

=for generated end

True is 1 or C<true>, false is 0, C<false> or the empty string; anything else is refused. Other writers are waited for in short
steps, so that signal handlers run.

=head2 get

    $table->get($key)

The value, or undef.

=head2 get_many

    $table->get_many(@keys)

The values in the order of the keys, undef for a key without one. In scalar context: how many of the keys have a value.

=head2 exists

    $table->exists($key)

=head2 put

    $table->put($key, $value)

Sets the value of a key.

=head2 put_many

    $table->put_many(%entries)
    $table->put_many(\%entries)

Sets all of them or, on an error, none.

=head2 create

    $table->create($key, $value)

Sets the value of a key that has none, and returns whether it did.

=head2 append

    $table->append($key, $bytes)

Adds bytes to the end of a value.

=head2 increment

    $table->increment($key, $by)

Adds C<$by>, or 1, to a value that is a whole number in decimal digits (0 where there is none), and returns the sum. C<incr> is
the same. C<$by> is a whole number of 64 bits with a sign; what is not, such as 1.9, and a sum that is not, are errors.

=head2 incr

See C<increment>.

=head2 delete

    $table->delete($key)

Removes an entry, and returns whether there was one. C<out> is the same.

=head2 out

See C<delete>.

=head2 clear

Removes all entries.

=head2 count

The number of entries.

=head2 keys

All keys, in the table's order; in scalar context their number, as of Perl's C<keys>, without a walk.

=head2 values

All values, in the order of their keys; in scalar context their number.

=head2 scan

A L<Bytewright::Scan> over all entries as they are now.

=head2 snapshot

A L<Bytewright::Snapshot>: the table as it is now, at a cost that does not depend on its size.

=head2 transaction

    $table->transaction(sub { ... })
    my $txn = $table->transaction;

Calls the function, and keeps its changes when it returns, all of them together; where it dies, or is left in another way, none.
Returns what the function returned. Without a function it returns a L<Bytewright::Transaction>. One inside of another is a
savepoint.

=head2 txn

See C<transaction>.

=head2 sync

Returns when everything committed survives a power cut.

=head2 compact

Frees the space of deleted and overwritten entries.

=head2 backup

    $table->backup($path)
    $table->backup($path, replace => 1)

Writes a copy of the table as it is now to a table file of the same kind, which has its name when it is whole. A table file that
has the name already is an error, or replaced.

=head2 dump

    $table->dump($path)
    $table->dump($path, format => "sql", force => 1)

Writes the entries as they are now as text that other programs read, and returns their number: C<db> for db_load of Berkeley DB,
C<lmdb> for mdb_load of LMDB, or C<sql> for sqlite3. The file has its name when it is whole. The table's own file is never
replaced, and another table, a capture or a store only with C<force>.

=head2 changes_since

    my $changes = $table->changes_since($position);

A L<Bytewright::Changes> over what was committed to a hashed table in a file behind a position that C<position> of earlier changes
gave, up to now. The changes begin with C<clear> and have all entries without a position, and where the log does not go back so
far, because the file was compacted or repaired. Whoever makes them to a copy of the table as it was at the position has the table
as it is now. Other tables have no log, and die with an C<argument> error, as does a position of another table.

=head2 load

    $table->load($path)

Puts the entries of a dump in, all of them or, on an error, none, and returns their number: one of C<dump>, of db_dump or
mdb_dump, or of sqlite3's C<.dump> of a table of two columns, compressed or not.

=head2 stat

A reference to a hash: C<records>, C<live_bytes>, C<dead_bytes>, C<pinned_bytes>, C<index_bytes>, C<memory_bytes>,
C<file_bytes>.

=head2 close

Closes the table; a transaction that is open is taken back. C<untie> does so, too, where nothing else refers to the table, and
so does the end of the object. Where something does, the table stays open, and C<untie> warns as Perl's own does.

=head2 is_closed

Whether it was closed.

=cut
