$BURIN build model --emit=fortran
