$BURIN build model.ir --start-from=nowhere
