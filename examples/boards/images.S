@ The 64 images of examples/digits, behind the header of their file.
.section .rodata
.global images
.balign 64
images:
.incbin "../digits/images.npy", 128
