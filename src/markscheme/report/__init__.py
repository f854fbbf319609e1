"""Results as people read them: tables made once, shown in the terminal or written as text."""
