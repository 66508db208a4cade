# Gates a change: sh ci/gate.sh BRANCH-THAT-THE-CHANGE-GOES-INTO
git fetch -q origin "$1" # the branch that the change goes into
accelgate run --ab "$(git merge-base HEAD FETCH_HEAD)" --out results --require-baseline
verdict=$?
accelgate report --format markdown results > results/report.md
accelgate report --format junit results > results/junit.xml
exit $verdict
