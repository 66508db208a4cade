# Four shards of one load on Slurm, in a folder that all nodes share.
export START=$(($(date +%s) + 60))
srun --ntasks 4 sh -c 'accelgate bench run suite.yaml --concurrency 256 --shard $((SLURM_PROCID + 1))/$SLURM_NTASKS --start-at $START --out shards/$SLURM_PROCID'
accelgate bench merge shards/*
