// How the program ends when it is told to: what it was writing is removed, then the signal does
// what it does to any program.
#pragma once

namespace orrery::cli {

// Removes unfinished files and ends the process by `signal`.
void end_by_signal(int signal);

// For Ctrl-C, the end of the terminal and a plain kill, unless whoever started the program ignores
// them (nohup).
void remove_unfinished_files_on_signals();

}  // namespace orrery::cli
