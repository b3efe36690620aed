"""Writers: each turns the same tree into the files of a stack."""
