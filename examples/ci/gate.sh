# Gates a change: sh ci/gate.sh BRANCH-THAT-THE-CHANGE-GOES-INTO
rm -rf results && mkdir results # of an earlier job
git fetch -q origin "$1" && base=$(git merge-base HEAD FETCH_HEAD) || exit 3
accelgate run --ab "$base" --out results --require-baseline
verdict=$?
accelgate report --format markdown results > results/report.md
accelgate report --format junit results > results/junit.xml
exit $verdict
