package Bytewright::Transaction;

use 5.030;
use warnings;

use Bytewright::Error;

# It ends with its object, so that a die, a return or a `last` out of the block takes its changes back.
sub _begin {
    my ($class, $table) = @_;
    return bless { table => $table, depth => $table->_begin }, $class;
}

sub commit { return $_[0]->_end(1) }
sub abort  { return $_[0]->_end(0) }

sub _end {
    my ($self, $is_kept) = @_;
    my $table = delete($self->{table})
        // Bytewright::Error::_refuse("expected a transaction that is open, found one that has ended");
    my $depth = $table->_depth;
    if ($depth != $self->{depth}) {
        $self->{table} = $table if $depth > $self->{depth};
        Bytewright::Error::_refuse("expected the innermost transaction of the table, found one that has others inside")
            if $depth > $self->{depth};
        Bytewright::Error::_refuse("expected the innermost transaction of the table, found one that ended with the one around it");
    }
    $table->_end($is_kept);
    return 1;
}

sub DESTROY {
    my ($self) = @_;
    my $table = delete($self->{table}) or return;
    return if ${^GLOBAL_PHASE} eq "DESTRUCT";
    local ($@, $!);
    # With it go those inside. In a forked child, the transaction of a file is the parent's.
    return if eval { $table->_end(0) while !$table->is_closed && $table->_depth >= $self->{depth}; 1 };
    warn $@ if $@->kind ne "closed";
    return;
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Transaction - changes of a table that are kept together, or not at all

=head1 SYNOPSIS

    my $txn = $table->txn;
    $table->put("a", "1");
    $txn->commit;

=head1 DESCRIPTION

Made by C<txn> of a L<Bytewright::Table>. Where its object ends before C<commit>, the changes are taken back.

=head1 METHODS

=head2 commit

Keeps the changes.

=head2 abort

Takes them back.

=cut
