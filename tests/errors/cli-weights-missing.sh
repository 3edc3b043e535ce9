printf "model x\n" > m.burin; $BURIN build m.burin --weights nowhere; s=$?; rm m.burin; exit $s
