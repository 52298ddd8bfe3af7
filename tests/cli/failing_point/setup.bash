cat >scenario.yaml <<'END'
model: smollm2-135m
hardware: a40
system: fullattn
context: 1024
sweep: {batch: [1, 2, 100000000000, 4]}
END
