"""The commands of `markscheme research`: one file each."""
