// The Python that interpreters run, each in a file of that name.
#pragma once

namespace orrery {

// What every interpreter runs first: Record, and the function that evaluates. `_key(name)` is given
// by the program: the JSON text of a key, or None.
extern const char* const kBootstrap;

// Watches over the time of evaluations in an interpreter that is a thread. Its waking up is also
// what lets the other thread notice that it is to be ended.
extern const char* const kWatch;

// The main loop of an interpreter that is a process of its own. Lines of JSON go both ways: a
// request is [source, file, bytes of memory] at first and then [function]; the answer a line; in
// between, "key NAME" asks for a key. They go through a descriptor that nobody else knows: what the
// functions and their children write to standard output goes to standard error, and there is
// nothing to read from standard input.
extern const char* const kProcessLoop;

}  // namespace orrery
