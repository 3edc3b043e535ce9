$BURIN inspect model --stop-after=fuze
