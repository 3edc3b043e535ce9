printf "model x\n" > m.burin; $BURIN build m.burin --weights nowhere; rm m.burin
