#!/bin/sh
# recurrent.sh with all its models.
MODELS="lstm lstm-begins gru rnn convolution convolution-both shift shift-begins mixed" exec tests/e2e/recurrent.sh
