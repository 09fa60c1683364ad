//! Typed questions as messages. Text of the run enters as data between fence marks, never as template.
