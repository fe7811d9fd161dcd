package CHI::Driver::Bytewright;

use 5.030;
use warnings;

use Bytewright::Cache;
use Moo;

extends "CHI::Driver";

our $VERSION = '0.1.0';

has "file" => (is => "ro");

# The names of namespaces that a file has, each escaped, stand before the keys, with a zero byte between; they are tags, too.
my %ESCAPED = ("\0" => "%00", "%" => "%25");

sub BUILD {
    my ($self, $given) = @_;
    my %options = %{ $self->non_common_constructor_params($given) };
    ($self->{_tag} = $self->namespace) =~ s/([\0%])/$ESCAPED{$1}/g;
    $options{file} = $self->file if defined($self->file);
    $self->{_cache} = Bytewright::Cache->new(%options);
    return;
}

sub _cache { return $_[0]->{_cache} }

sub _key { return "$_[0]->{_tag}\0$_[1]" }

sub fetch { my ($self, $key) = @_; return $self->_cache->get($self->_key($key)) }

sub store {
    my ($self, $key, $data, $expires_in) = @_;
    $self->_cache->set($self->_key($key), $data, expires_in => $expires_in, tag => $self->{_tag});
    return;
}

sub remove { my ($self, $key) = @_; $self->_cache->delete($self->_key($key)); return }

sub clear { my ($self) = @_; $self->_cache->evict($self->{_tag}); return }

sub get_keys {
    my ($self) = @_;
    my $prefix = "$self->{_tag}\0";
    return map { substr($_, length($prefix)) } grep { index($_, $prefix) == 0 } $self->_cache->keys;
}

sub get_namespaces {
    my ($self) = @_;
    my %found = map { substr($_, 0, index($_, "\0")) => 1 } grep { index($_, "\0") >= 0 } $self->_cache->keys;
    my @names = sort(keys(%found));
    s/%(00|25)/chr(hex($1))/ge for @names;
    return @names;
}

1;

__END__

=encoding utf8

=head1 NAME

CHI::Driver::Bytewright - CHI's caches in one file of Bytewright's, or in memory

=head1 SYNOPSIS

    use CHI;

    my $cache = CHI->new(driver => "Bytewright", file => "app.bwc", size_limit => 200_000_000);
    my $user  = $cache->compute("user:ada", "1 hour", sub { { name => "Ada" } });

=head1 DESCRIPTION

A driver of L<CHI> over L<Bytewright::Cache>. All namespaces are in the one file, which processes share; without C<file> each object has
a cache in memory of its own. What the file takes on its disk stays within C<size_limit>, a GiB by default: what is used stays longest.
The other options are those of L<Bytewright::Cache/new>, but C<expires_in>, which is CHI's.

CHI serializes what is no string, by L<Storable> unless C<serializer> says otherwise, and thaws what is in the file: whoever can
write the file can have it thaw what he likes. C<< serializer => "JSON" >> does not have that risk.

CHI expires entries itself, and can give those that have expired (C<get_object>). With C<< expires_on_backend => 1 >> the cache
knows the expiry, too, and takes them out.

=cut
