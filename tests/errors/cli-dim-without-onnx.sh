$BURIN inspect examples/austen --dim=batch=1
