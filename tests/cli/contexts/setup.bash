scenario=(--set model=llama-3-8b --set hardware=a40 --set steps=4 --set trace=assumed:hit=93%,spread=5%)
figures() { awk '/^system/ || /^(vllm|retroinfer-10pct|flexgen) / || /^ +largest/ || /mixed/'; }
