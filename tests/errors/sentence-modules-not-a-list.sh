cp -R $SHARED/data/families/bert m; chmod -R u+w m; mkdir m/1; echo '{}' > m/modules.json; $BURIN build m -o out; s=$?; rm -rf m; exit $s
