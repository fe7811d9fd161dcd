struct Tree { 1: list<Tree> children, 2: Leaf leaf, 3: Tree & one, 4: optional map<string, Tree> & named }
struct Leaf { 1: Tree & tree, 2: Forest forest }
typedef list<Tree> Forest
union Node { 1: Node & node, 2: Forest forest, 3: Either either }
union Either { 1: Node left, 2: Tree right }
