ask='--set model=smollm2-135m --set hardware=a40 --set trace=smollm2-135m --db notes.db'
