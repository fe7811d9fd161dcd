package Bytewright::ADB::Iterator;

# Where `iternext` is. In a tree each step looks the next key up, so that what was put in or taken out meanwhile is seen as it
# is; in a hashed table it goes over the keys as they were, without those that went.

use 5.030;
use warnings;

use Bytewright::Range;

sub new {
    my ($class, $table, $is_ordered, $from) = @_;
    return bless { from => $from // "" }, $class if $is_ordered;
    my $self = bless { scan => $table->scan, pushed_back => $from }, $class;
    1 while defined($from) && ($self->{scan}->next)[0] ne $from;
    return $self;
}

sub next {
    my ($self, $table) = @_;
    return $self->_next_in_order($table) if !$self->{scan};
    my $pushed_back = delete($self->{pushed_back});
    return $pushed_back if defined($pushed_back);
    while (my ($key) = $self->{scan}->next) {
        return $key if $table->exists($key);
    }
    return undef;
}

sub _next_in_order {
    my ($self, $table) = @_;
    return undef if !defined($self->{from});
    my ($key) = Bytewright::Range::first($table, from => $self->{from});
    $self->{from} = defined($key) ? "$key\0" : undef;
    return $key;
}

1;
