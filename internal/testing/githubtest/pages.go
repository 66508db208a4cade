package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// GitHub's page sizes. They are in the text of its description only, so the
// contract cannot check them.
const (
	defaultPerPage = 30
	maxPerPage     = 100
)

// paginate returns the page of all that the request asks for, and the Link
// header that leads to the others.
func paginate[T any](c *call, all []T) (page []T, header http.Header) {
	perPage := c.positive("per_page", defaultPerPage)
	perPage = min(perPage, maxPerPage)
	number := c.positive("page", 1)
	last := max(1, (len(all)+perPage-1)/perPage)
	if number <= last {
		page = all[(number-1)*perPage : min(len(all), number*perPage)]
	}
	return page, c.links(number, last)
}

// positive returns a number of the query, or what it is when not given.
func (c *call) positive(name string, otherwise int) int {
	n, err := strconv.Atoi(c.url.Query().Get(name))
	if err != nil || n < 1 {
		return otherwise
	}
	return n
}

// links builds a Link header. GitHub's links name the repository by its id.
func (c *call) links(page, last int) http.Header {
	var links []string
	add := func(rel string, to int) {
		query := c.url.Query()
		query.Set("page", strconv.Itoa(to))
		path := c.repo.pathByID() + strings.TrimPrefix(c.url.EscapedPath(), "/repos/"+c.params["owner"]+"/"+c.params["repo"])
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", c.base, path, query.Encode(), rel))
	}
	if page > 1 {
		add("prev", min(page-1, last))
	}
	if page < last {
		add("next", page+1)
		add("last", last)
	}
	if page > 1 {
		add("first", 1)
	}
	if len(links) == 0 {
		return nil
	}
	return http.Header{"Link": {strings.Join(links, ", ")}}
}
