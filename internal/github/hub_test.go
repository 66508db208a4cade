package github_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
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
	name      string
	run       func(t *testing.T, start starter)
	checks    bool // writes check runs, which people's tokens may not
	ownTokens bool // names its tokens itself
}

// scenarios run on the fake of githubtest, and on emulate.
var scenarios = []scenario{
	{name: "comment is created then updated", run: commentIsCreatedThenUpdated},
	{name: "older runs do not overwrite", run: olderRunsDoNotOverwrite},
	{name: "tampered comment is written again", run: tamperedCommentIsWrittenAgain},
	{name: "markers of old are upgraded", run: markersOfOldAreUpgraded},
	{name: "others' comments are left alone", run: othersCommentsAreLeftAlone},
	{name: "comment is found on the second page", run: commentIsFoundOnTheSecondPage},
	{name: "duplicates converge on the newest", run: duplicatesConvergeOnTheNewest},
	{name: "invented runs suppress nothing", run: inventedRunsSuppressNothing},
	{name: "two jobs that comment at once converge", run: twoJobsThatCommentAtOnceConverge},
	{name: "worse state is posted anew", run: worseStateIsPostedAnew},
	{name: "configurations share a comment", run: configurationsShareAComment},
	{name: "sections follow their own runs", run: sectionsFollowTheirOwnRuns},
	{name: "hostile sections stay", run: hostileSectionsStay},
	{name: "two configurations at once", run: twoConfigurationsAtOnce},
	{name: "left over sections are joined", run: leftOverSectionsAreJoined},
	{name: "worst section comes first", run: worstSectionComesFirst},
	{name: "worse section is posted anew", run: worseSectionIsPostedAnew},
	{name: "whose token it is", run: whoseTokenItIs, ownTokens: true},
	{name: "reply is given once", run: replyIsGivenOnce},
	{name: "check is created then updated", run: checkIsCreatedThenUpdated, checks: true},
	{name: "others' check runs are left alone", run: othersCheckRunsAreLeftAlone, checks: true},
	{name: "annotations go in chunks", run: annotationsGoInChunks, checks: true},
	{name: "annotations out of date need a new run", run: annotationsOutOfDateNeedANewRun, checks: true},
	{name: "check is begun then completed", run: checkIsBegunThenCompleted, checks: true},
	{name: "leftovers are completed", run: leftoversAreCompleted, checks: true},
	{name: "refresh is opened then reused", run: refreshIsOpenedThenReused},
	{name: "refresh without changes opens nothing", run: refreshWithoutChangesOpensNothing},
	{name: "refresh back to the base closes the pull request", run: refreshBackToTheBaseClosesThePullRequest},
	{name: "refresh starts a new branch after the old pull request", run: refreshStartsANewBranchAfterTheOldPullRequest},
	{name: "refresh into another base", run: refreshIntoAnotherBase},
	{name: "refresh that loses a race is repeated once", run: refreshThatLosesARaceIsRepeatedOnce},
	{name: "refresh refuses what is not its own", run: refreshRefusesWhatIsNotItsOwn},
	{name: "refresh on a moving base", run: refreshOnAMovingBase},
	{name: "refresh after a merge", run: refreshAfterAMerge},
	{name: "refresh after a rejection", run: refreshAfterARejection},
	{name: "refresh never forces", run: refreshNeverForces},
	{name: "labels and reviewers", run: labelsAndReviewers},
	{name: "pulls of a head", run: pullsOfAHead},
	{name: "permission of somebody", run: permissionOfSomebody},
	{name: "a second writer anywhere", run: aSecondWriterAnywhere, checks: true},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(t *testing.T, seed githubtest.State) (hub, string) { return githubtest.New(t, seed) })
		})
	}
}
