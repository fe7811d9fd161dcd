# frozen_string_literal: true

# Found in place of the original by programs that bytewright/pstore/replace was loaded in, where PStore is
# Bytewright's already.
