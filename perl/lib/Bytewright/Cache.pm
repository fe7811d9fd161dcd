package Bytewright::Cache;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";
use Bytewright::Error;
use Bytewright::Named;
use Bytewright::Path;

# Options of the objects, which the library does not see. Each is the object's own: a handle has no data of Perl's.
use Hash::Util::FieldHash ();
Hash::Util::FieldHash::fieldhashes(\my (%lifetime, %walk));

sub new {
    my ($class, %options) = @_;
    my $self = bless \my($cache), $class;
    $self->_attach;
    my $lifetime = delete($options{expires_in});
    my $path     = delete($options{file});
    my $on_damage = delete($options{on_damage}) // "raise";
    Bytewright::Error::_refuse("expected on_damage to be raise or clear, found " . Bytewright::Error::_excerpt($on_damage))
        if $on_damage !~ /\A(?:raise|clear)\z/;
    my @named = Bytewright::Named::texts(%options);
    $path = grep({ /\Aread_only=(?:1|true)\z/ } @named) ? Bytewright::Path::of($path) : Bytewright::Path::to_write($path) if defined($path);
    $self->_open($path, $on_damage eq "clear", @named);
    $lifetime{$self} = $lifetime;
    return $self;
}

sub TIEHASH { goto &new }

sub set   { my ($self, $key, $value, %how) = @_; return $self->_set_as(0, $key, $value, \%how) }
sub add   { my ($self, $key, $value, %how) = @_; return $self->_set_as(1, $key, $value, \%how) }
sub STORE { my ($self, $key, $value) = @_;       return $self->_set($key, $value, $lifetime{$self}, undef, 0) }

sub _set_as {
    my ($self, $only_new, $key, $value, $how) = @_;
    my ($unknown) = sort(grep { $_ ne "expires_in" && $_ ne "tag" } CORE::keys(%$how));
    Bytewright::Error::_refuse("expected expires_in or tag as an option, found " . Bytewright::Error::_excerpt($unknown)) if defined($unknown);
    my $lifetime = CORE::exists($how->{expires_in}) ? $how->{expires_in} : $lifetime{$self};
    return $self->_set($key, $value, $lifetime, $how->{tag}, $only_new);
}

sub compute {
    my $self = shift;
    my $key  = shift;
    my $work = pop;
    Bytewright::Error::_refuse("expected a function that makes the value, found none") if ref($work) ne "CODE";
    my $found = $self->get($key);
    return $found if defined($found);
    my $made = $work->();
    $self->set($key, $made, @_);
    return $made;
}

sub expires_at { my ($self, $key) = @_; return $self->_expires_at($key) }

sub keys { return wantarray ? @{ $_[0]->_keys } : $_[0]->count }

sub FIRSTKEY { my ($self) = @_; $walk{$self} = $self->_keys; return shift(@{ $walk{$self} }) }

sub NEXTKEY {
    my ($self) = @_;
    while (defined(my $key = shift(@{ $walk{$self} // [] }))) {
        return $key if $self->exists($key);
    }
    delete($walk{$self});
    return;
}

sub UNTIE {
    my ($self, $others) = @_;
    return $self->close if !$others;
    warnings::warnif("untie", "untie attempted while $others inner references still exist");
    return;
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Cache - results that are gone after a while, or when there are too many, in memory or in a file

=head1 SYNOPSIS

    use Bytewright;

    my $cache = Bytewright::Cache->new(file => "results.bwc", size_limit => 200_000_000, expires_in => 3600);
    $cache->set("answer", 42, expires_in => 60, tag => "books");
    my $page = $cache->compute("page", sub { "made once an hour" });
    $cache->evict("books");

    tie my %seen, "Bytewright::Cache", file => "seen.bwc", expires_in => 86_400;
    $seen{"10.0.0.1"} = 1;

=head1 DESCRIPTION

A cache keeps scalars by keys that are text. What has expired is never given. What is over C<size_limit> or C<count_limit> is evicted
before it is written: the entries that were set first, but one that was read since gets another turn, up to three. Processes share
the file: they write by turns, and read without waiting for anybody.

Values are strings, numbers and undef, and come back as they were: text as characters, bytes as bytes. A reference is refused: encode
what it refers to, or use CHI, which does so (L<CHI::Driver::Bytewright>). Nothing is ever thawed or evaluated here. Values of other
languages that Perl does not have, such as dicts of Python's, are an error of the kind C<argument>; C<bytewright cache get> shows them.

With L<Memoize>:

    use Memoize;
    tie my %results, "Bytewright::Cache", file => "results.bwc", expires_in => 3600;
    memoize("slow", SCALAR_CACHE => [HASH => \%results]);

=head1 METHODS

All of them die with a L<Bytewright::Error>.

=head2 new

    Bytewright::Cache->new(%options)

A cache in memory, or with C<file> the one in this file, which is made where it is missing. C<tie> takes the same options:

=over

=item file

The path, as Perl's open takes it; a new file is named .bwc.

=item expires_in

Seconds that entries are kept which are set without C<expires_in> of their own. None is for ever.

=item on_damage

C<raise>, the default, has a file that is damaged be an error of the kind C<corrupt>. C<clear> goes on with an empty one, for all processes
that have it open, and warns (of the category C<io>), also where that is met while it is used.

=back

Those of caches in all languages are

=for generated CACHE by `make generate`, of the core's tables

=over

=item size_limit

Bytes that the file of the cache, or its memory, may take: what is over is evicted. Value: integer from 1048576;
default: 1073741824.

=item count_limit

Entries that the cache may have. Value: integer from 1; default: any number.

=item create

Make the file where it is missing. Value: true or false; default: true.

=item read_only

Read beside others who write. Value: true or false; default: false.

=item exclusive

Let nobody else write while it is open. Value: true or false; default: false.

=item sync

When commits are made to survive a power cut: "interval" (within a second, and at the latest when it is closed),
"commit" (before each commit returns) or "never". Value: C<interval>, C<commit>, C<never>; default: never.

=item timeout

Longest wait in seconds for another writer: to end its transaction, or to close a file that it has for itself. Value: a
number of seconds; default: 10.

=item verify

Check all of the file first. Value: true or false; default: false.

=back

=for generated end

=head2 get

    $cache->get($key)

The value, or undef.

=head2 set

    $cache->set($key, $value, expires_in => $seconds, tag => $tag)

Sets the value of a key. C<expires_in> of undef is for ever.

=head2 add

The same for a key that has no value; whether it had none.

=head2 compute

    $cache->compute($key, expires_in => $seconds, sub { ... })

The value, or what the function returns, which is set. Two processes may both call it. An undef is computed again.

=head2 exists

    $cache->exists($key)

=head2 expires_at

    $cache->expires_at($key)

Seconds since 1970 at which an entry expires, or undef.

=head2 touch

    $cache->touch($key, $seconds)

Lets an entry expire so many seconds from now, or never; whether there is one.

=head2 increment

    $cache->increment($key, $by)

Adds C<$by>, or 1, to an integer, which begins with 0 and keeps its expiry, and returns the sum.

=head2 take

    $cache->take($key)

Takes an entry out, and returns its value, or undef.

=head2 delete

    $cache->delete($key)

Takes an entry out; whether there was one.

=head2 evict

    $cache->evict($tag)

Takes all entries of a tag out, and returns their number.

=head2 expire

Takes all entries out that have expired, and returns their number.

=head2 clear

Takes all entries out, and returns their number.

=head2 keys

The keys of what has not expired, in the order in which they were set; in scalar context C<count>.

=head2 count

The number of entries, with those that have expired and were not taken out yet.

=head2 volume

The bytes of its limit that it takes.

=head2 close

Closes it, as the end of the object does.

=head2 is_closed

Whether it was closed.

=cut
