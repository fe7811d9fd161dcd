# frozen_string_literal: true

# The test files that do not run while all objects are moved: those about other programs or about documents, those that collect
# all the time by themselves, and those that interrupt at any moment: what watches native calls is Ruby code that runs where
# one returns, so that interrupts come at places where no program has any.
LEFT_OUT_OF_GC = %w[
  command documentation errors figures installed loading names paths pstore_crash pstore_processes pstore_replace signatures
  troubleshooting
  interrupts troubles
  garbage pstore_garbage table_garbage thrift_garbage reader_threads
].freeze
