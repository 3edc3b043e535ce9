$BURIN biuld model
