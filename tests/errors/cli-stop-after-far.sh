$BURIN inspect model --stop-after=everything
