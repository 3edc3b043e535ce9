# Beside the rules of examples/boards: an image of HOST, with MODEL as sentence.a.
include Makefile

.PRECIOUS: $(OUT)/%/sentence.a
$(OUT)/%/sentence.a: FORCE
	@mkdir -p $(@D)
	$(BURIN) build "$(MODEL)" $($*) -o $@

$(OUT)/sentence-%.elf: $(OUT)/%/sentence.a
	$(CC) $(FLAGS) $($*-cc) -I. -DTOKENS='"$(OUT)/tokens.inc"' $(HOST) start.c $< $(LINK) $($*-ld) -o $@

# Of the model of texts (text.a)
$(OUT)/misuse-%.elf: $(OUT)/%/text.a
	$(CC) $(FLAGS) $($*-cc) -I. $(HOST) start.c $< $(LINK) $($*-ld) -o $@
