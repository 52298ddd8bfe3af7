exec 2>&1
small=(--set model=llama-3-8b --set hardware=a40 --set context=32768 --set steps=4 --set warmup=8)
every=(--set trace=ensemble --set 'sweep.system=[litecache, retroinfer-10pct, fullattn]')
