package github_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/github/githubtest"
)

// hub is a GitHub that a scenario runs on, as a test sees it from behind.
type hub interface {
	Comments(repo string, issue int) []githubtest.Comment
	PullRequests(repo string) []githubtest.PullRequest
	CheckRuns(repo, sha string) []githubtest.CheckRun
	Head(repo, branch string) string
	Files(repo, branch string) []string
	File(repo, branch, path string) (content string, found bool)
	Commit(repo, branch string, files map[string]string) string
	Merge(repo string, number int)
	Requests() []githubtest.Request
	Between(act func(next githubtest.Request))
}

// starter starts a hub for one test and returns it with its address.
type starter func(t *testing.T, seed githubtest.State) (s hub, address string)

// scenario is what clients do and what is there then, on any GitHub.
type scenario struct {
	name string
	run  func(t *testing.T, start starter)
}

// scenarios run on the fake of githubtest, and on emulate.
var scenarios = []scenario{
	{"comment is created then updated", commentIsCreatedThenUpdated},
	{"older runs do not overwrite", olderRunsDoNotOverwrite},
	{"tampered comment is written again", tamperedCommentIsWrittenAgain},
	{"markers of old are upgraded", markersOfOldAreUpgraded},
	{"others' comments are left alone", othersCommentsAreLeftAlone},
	{"comment is found on the second page", commentIsFoundOnTheSecondPage},
	{"duplicates converge on the oldest", duplicatesConvergeOnTheOldest},
	{"two jobs that comment at once converge", twoJobsThatCommentAtOnceConverge},
	{"verified comment survives an old reading", verifiedCommentSurvivesAnOldReading},
	{"worse state is posted anew", worseStateIsPostedAnew},
	{"whose token it is", whoseTokenItIs},
	{"reply is given once", replyIsGivenOnce},
	{"sections are merged", sectionsAreMerged},
	{"check is created then updated", checkIsCreatedThenUpdated},
	{"others' check runs are left alone", othersCheckRunsAreLeftAlone},
	{"annotations go in chunks", annotationsGoInChunks},
	{"annotations out of date need a new run", annotationsOutOfDateNeedANewRun},
	{"check is begun then completed", checkIsBegunThenCompleted},
	{"leftovers are completed", leftoversAreCompleted},
	{"refresh is opened then reused", refreshIsOpenedThenReused},
	{"refresh without changes opens nothing", refreshWithoutChangesOpensNothing},
	{"refresh back to the base closes the pull request", refreshBackToTheBaseClosesThePullRequest},
	{"refresh starts a new branch after the old pull request", refreshStartsANewBranchAfterTheOldPullRequest},
	{"refresh into another base", refreshIntoAnotherBase},
	{"refresh that loses a race is repeated once", refreshThatLosesARaceIsRepeatedOnce},
	{"refresh refuses what is not its own", refreshRefusesWhatIsNotItsOwn},
	{"refresh on a moving base", refreshOnAMovingBase},
	{"refresh after a merge", refreshAfterAMerge},
	{"refresh after a rejection", refreshAfterARejection},
	{"refresh never forces", refreshNeverForces},
	{"labels and reviewers", labelsAndReviewers},
	{"pulls of a head", pullsOfAHead},
	{"permission of somebody", permissionOfSomebody},
	{"a second writer anywhere", aSecondWriterAnywhere},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(t *testing.T, seed githubtest.State) (hub, string) { return githubtest.New(t, seed) })
		})
	}
}
