struct Lists { 1: list cpp_type "std::deque<int>" <i32> before, 2: list cpp_type "a" <i32> cpp_type "b" both }
