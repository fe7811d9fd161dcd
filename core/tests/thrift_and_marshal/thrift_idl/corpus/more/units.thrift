namespace rb More
struct Weight { 1: i32 grams }
