scenario=(--set model=smollm2-135m --set hardware=a40 --set context=3840
          --set 'sweep={system: [retroinfer-10pct, litecache, infinigen], batch: [1, 4, max]}')
